/* Reads and sets the capabilities of a process. */

#include "sandbox/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names of capabilities; the index is the kernel's number. */
static const char *const names[] = {
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
};

static const int usual[] = {
    CAP_CHOWN,       CAP_DAC_OVERRIDE, CAP_FOWNER,     CAP_FSETID,           CAP_KILL,
    CAP_SETGID,      CAP_SETUID,       CAP_SETPCAP,    CAP_SETFCAP,          CAP_MKNOD,
    CAP_AUDIT_WRITE, CAP_NET_RAW,      CAP_SYS_CHROOT, CAP_NET_BIND_SERVICE,
};

uint64_t warden_caps_default(void)
{
    uint64_t set = 0;

    for (size_t i = 0; i < COUNT(usual); i++)
        set |= UINT64_C(1) << usual[i];
    return set;
}

uint64_t warden_caps_named(str name)
{
    if (str_starts(name, S("CAP_")))
        name = str_sub(name, 4, name.n);
    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eqz(name, names[i]))
            return UINT64_C(1) << i;
    return 0;
}

void warden_caps_bound(uint64_t keep)
{
    for (int cap = 0; cap <= 63; cap++)
        if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno == EINVAL)
            break; /* past the last one that this kernel has */
}

int warden_caps_set(uint64_t keep, uint64_t ambient, struct err *e)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { 0 };

    if (syscall(SYS_capget, &head, data) < 0)
        return err_sys(e, "read capabilities");
    for (int i = 0; i < 2; i++) {
        data[i].permitted &= (uint32_t)(keep >> 32 * i);
        data[i].effective = data[i].permitted;
        data[i].inheritable = data[i].permitted & (uint32_t)(ambient >> 32 * i);
    }
    if (syscall(SYS_capset, &head, data) < 0)
        return err_sys(e, "set capabilities");
    for (int cap = 0; cap <= 63; cap++) {
        if (!(data[cap / 32].inheritable >> cap % 32 & 1))
            continue;
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
            return err_sys(e, "keep capability %s", names[cap]);
    }
    return 0;
}
