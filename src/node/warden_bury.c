/* The end of a pod whose keeper is dead: what that left is cleared away in a thread (L1), since to
 * look for it is to read all of /proc; then GONE is told. */

#include "base/mem.h"
#include "loop/watchdog.h"
#include "node/warden_internal.h"
#include "node/warden_record.h"
#include "sandbox/state.h"
#include "sys/record.h"
#include "sys/sys.h"

#include <fcntl.h>

static void tell_gone(struct runtime_pod *p, jv state, str why)
{
    if (p->gone)
        return;
    p->gone = true;
    warden_calls_end(p, true);
    warden_pod_tell(p, &(struct runtime_event){ .what = RUNTIME_GONE, .why = why, .state = state });
}

struct burial {
    uv_work_t work;
    struct runtime_pod *p; /* which has a handle for it */
    struct arena *a;
    const char *why;
    str state;
};

static void clear_away(uv_work_t *w)
{
    struct burial *b = w->data;
    AUTO(sys_fd) int dirfd = open(b->p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    b->state = dirfd < 0 ? STR_NONE : warden_state_read(b->a, dirfd, NULL);
    if (dirfd >= 0 && !*record_get(b->state, "ended_ms")) { /* the keeper had no time to */
        sys_kill_pod_strays(str_of(b->p->uid));
        b->state = warden_state_bury(b->a, dirfd, sys_now_ms(), str_of(b->why));
    }
}

static void on_cleared(uv_work_t *w, int status)
{
    LOOP_TURN();
    struct burial *b = w->data;
    struct runtime_pod *p = b->p;
    AUTO(arena) struct arena *a = b->a;
    const char *why = b->why;
    str st = b->state;

    (void)status;
    free(b);
    p->handles--;
    if (p->dropped) {
        warden_pod_maybe_free(p);
        return;
    }
    if (!p->strange && *record_get(st, "why"))
        why = record_get(st, "why");
    tell_gone(p, warden_record_state(a, st), str_of(why));
}

void warden_pod_bury(struct runtime_pod *p, const char *why)
{
    struct burial *b = mem_new(sizeof(*b));

    b->p = p;
    b->a = arena_new();
    b->why = arena_z(b->a, str_of(why));
    b->work.data = b;
    p->handles++;
    if (uv_queue_work(loop_uv(p->rt->loop), &b->work, clear_away, on_cleared) != 0)
        abort();
}
