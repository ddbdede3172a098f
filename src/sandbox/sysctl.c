/* Writes sysctls, before the pod's containers see /proc/sys read-only. */

#include "sandbox/sysctl.h"

#include "sys/sys.h"

#include <fcntl.h>
#include <stdio.h>

int warden_sysctl_set(const struct warden_list *settings, struct err *e)
{
    for (size_t i = 0; i < settings->n; i++) {
        char path[PATH_MAX];
        str value = str_of(settings->at[i]);
        str name = str_cut(&value, '=');
        snprintf(path, sizeof(path), "/proc/sys/%" PRI_STR, STR_ARG(name));
        if (sys_write_file(AT_FDCWD, path, value.p ? value.p : "") < 0)
            return err_sys(e, "set sysctl %" PRI_STR, STR_ARG(name));
    }
    return 0;
}
