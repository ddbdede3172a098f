/* Homes of this machine, and how well they are kept from pods. */

#include "app/up_files.h"

#include "app/up_net.h"
#include "loop/log.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

struct homes {
    jv at[4];
    size_t n;
};

static void add(struct arena *a, struct homes *h, const char *path)
{
    char real[PATH_MAX];

    if (!path || !realpath(path, real) || strcmp(real, "/") == 0)
        return;
    for (size_t i = 0; i < h->n; i++)
        if (str_eqz(jv_str(h->at[i], STR_NONE), real))
            return;
    h->at[h->n++] = jstr(a, arena_str(a, str_of(real)));
}

jv up_files_homes(struct arena *a)
{
    struct homes h = { 0 };
    struct passwd *me = NULL, row;
    char text[1 << 14];

    if (geteuid() == 0) {
        add(a, &h, "/root");
        add(a, &h, "/home");
    }
    getpwuid_r(geteuid(), &row, text, sizeof(text), &me);
    add(a, &h, me ? me->pw_dir : NULL);
    add(a, &h, getenv("HOME"));
    return jarr_n(a, h.at, h.n);
}

jv up_files_json(struct arena *a, const struct warden_ground *g)
{
    return jobj(a, { "disk", jbool(!g->disk.msg[0]) }, { "homes", up_files_homes(a) });
}

/* What is kept from pods' changes. An ordinary user has no overlay over all of the system, most of
 * which he could not change anyway. */
static const char *kept(void)
{
    return geteuid() == 0
               ? "what pods change of the system and of homes is their own"
               : "what pods change of this user's home and of /var/tmp (not of what else "
                 "he may write to) is their own";
}

jv up_files_condition(struct arena *a, const struct warden_ground *g)
{
    if (g->over.msg[0]) {
        log_warn("pods write to real home directories", KVZ("why", g->over.msg));
        return up_condition(
            a, "PrivateFiles", false, "NoOverlays",
            arena_printf(a, "pods write to real home directories: %s", g->over.msg));
    }
    if (g->disk.msg[0]) {
        log_info("private file changes of pods are kept in memory", KVZ("why", g->disk.msg));
        return up_condition(a, "PrivateFiles", true, "InMemory",
                            arena_printf(a, "%s, in memory: %s", kept(), g->disk.msg));
    }
    return up_condition(a, "PrivateFiles", true, "OnDisk", arena_printf(a, "%s, on disk", kept()));
}

jv up_files_shared(struct arena *a)
{
    return up_condition(a, "PrivateFiles", false, "Shared",
                        S("Pods see this machine's files and processes as they are, and may change "
                          "and signal what their user may. Mount paths are links that everybody "
                          "sees, volumes in memory are on disk, and readOnly keeps nobody from "
                          "writing."));
}
