/* The pod's state on disk: read after a death, and finished for the dead. */

#include "sandbox/state.h"

#include "sandbox/spec.h"
#include "sys/msgsock.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

jv warden_state_read(struct arena *a, int dirfd, struct err *e)
{
    struct stat s;

    if (fstatat(dirfd, "state.json", &s, 0) < 0) {
        err_sys(e, "state.json");
        return JV_ABSENT;
    }
    if (s.st_size < 0 || s.st_size > MSGSOCK_LINE_BYTES) {
        err_set(e, ERR_TOO_LARGE, "state.json is too large");
        return JV_ABSENT;
    }
    char *text = arena_alloc(a, (size_t)s.st_size + 1);
    ssize_t n = sys_read_file(dirfd, "state.json", text, (size_t)s.st_size + 1);
    if (n < 0) {
        err_sys(e, "state.json");
        return JV_ABSENT;
    }
    return json_parse(a, (str){ text, (size_t)n }, NULL, e);
}

str warden_boot_id(struct arena *a)
{
    char id[64];
    ssize_t n = sys_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", id, sizeof(id));

    return n <= 0 ? STR_NONE : arena_str(a, str_trim((str){ id, (size_t)n }));
}

static jv bury(struct arena *a, jv c, int64_t now_ms, str why)
{
    if (jv_exists(jv_at(c, "finished_ms")))
        return c;
    c = jv_with(a, c, jint(a, now_ms), "finished_ms");
    if (!jv_exists(jv_at(c, "started_ms")))
        return jv_with(a, c, jstr(a, why), "failed");
    c = jv_with(a, c, jint(a, -1), "code");
    c = jv_with(a, c, jint(a, SIGKILL), "signal");
    return jv_with(a, c, jstr(a, why), "lost");
}

jv warden_state_bury(struct arena *a, int dirfd, int64_t now_ms, str why)
{
    struct err e = { 0 };
    jv st = warden_state_read(a, dirfd, &e);

    if (jv_exists(jv_at(st, "ended_ms")))
        return st;
    str boot = warden_boot_id(a);
    if (jv_exists(st) && !str_eq(jv_str(jv_at(st, "boot_id"), boot), boot))
        why = S("the machine was restarted");
    struct jbuild boxes = jb_obj(a);
    JV_EACH (it, jv_at(st, "containers"))
        jb_add(&boxes, it.key, bury(a, it.value, now_ms, why));
    struct jbuild b = jb_from(a, st);
    jb_set(&b, S("containers"), jb_done(&boxes));
    jb_set(&b, S("ended_ms"), jint(a, now_ms));
    jb_set(&b, S("why"), jstr(a, why));
    st = jb_done(&b);
    sys_replace_file(dirfd, "state.json", json_text(a, st), NULL); /* full disk: the reader knows */
    return st;
}
