/* The pod's state on disk: read after a death, and finished for the dead. */

#include "sandbox/state.h"

#include "sys/record.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <signal.h>

str warden_state_read(struct arena *a, int dirfd, struct err *e)
{
    return record_read(a, dirfd, "state", e);
}

str warden_boot_id(struct arena *a)
{
    char id[64];
    ssize_t n = sys_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", id, sizeof(id));

    return n <= 0 ? STR_NONE : arena_str(a, str_trim((str){ id, (size_t)n }));
}

struct box { /* what was read of a container */
    bool named;
    bool started;
    bool finished;
};

static void bury_box(struct buf *b, const struct box *box, int64_t now_ms, str why)
{
    if (!box->named || box->finished)
        return;
    record_put(b, { "container.finished_ms", .number = now_ms },
               { "container.code", .number = -1, .none = !box->started },
               { "container.signal", .number = SIGKILL, .none = !box->started });
    record_add(b, box->started ? "container.lost" : "container.failed", why);
}

str warden_state_bury(struct arena *a, int dirfd, int64_t now_ms, str why)
{
    AUTO(buf) struct buf b = { 0 };
    struct box box = { 0 };
    str state = warden_state_read(a, dirfd, NULL);

    if (*record_get(state, "ended_ms"))
        return state;
    if (state.n && !str_eqz(warden_boot_id(a), record_get(state, "boot_id")))
        why = S("the machine was restarted");
    record_int(&b, "ended_ms", now_ms);
    record_add(&b, "why", why);
    RECORD_EACH(it, state)
    {
        if (strcmp(it.key, "container") == 0) {
            bury_box(&b, &box, now_ms, why);
            box = (struct box){ .named = true };
        }
        box.started |= strcmp(it.key, "container.started_ms") == 0;
        box.finished |= strcmp(it.key, "container.finished_ms") == 0;
        record_add(&b, it.key, str_of(it.value));
    }
    bury_box(&b, &box, now_ms, why);
    sys_replace_file(dirfd, "state", buf_str(&b), NULL); /* full disk: the reader knows */
    return arena_str(a, buf_str(&b));
}
