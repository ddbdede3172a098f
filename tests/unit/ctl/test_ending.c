/* Where nothing can be made: in a namespace that is being deleted, or beyond a quota. */

#include "kube/meta.h"
#include "loop/log.h"
#include "tap.h"
#include "toy.h"
#include "world.h"

#include <unistd.h>

static unsigned events_refused;
static struct jdoc *status;

static bool ends(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    if (r->verb != KUBE_CREATE)
        return false;
    events_refused += r->res == &kube_events;
    *ans = (struct kube_answer){ .status = 403, .obj = jdoc_root(status), .message = S("no") };
    err_set(&ans->err, ERR_FORBIDDEN, "no");
    return true;
}

static bool over_quota(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    if (r->verb != KUBE_CREATE || r->res == &kube_events)
        return false;
    *ans = (struct kube_answer){ .status = 403, .message = S("exceeded quota") };
    err_set(&ans->err, ERR_FORBIDDEN, "exceeded quota");
    return true;
}

static void what_must_wait_costs_nothing(void)
{
    struct world *w = world_new(2);

    w->opts.limits.backoff_max_ms = 60000;
    w->f->refuse = over_quota;
    put_toy(w, "a", "mnist", 50);
    world_start(w);
    run_for(w, 1500); /* some waits are over by then, others are not */
    ok(settle(w), "it comes to rest");
    int64_t passes = sum_of(w, "controller_runtime_reconcile_total");
    ok(passes > 3 && passes < 100, "after %d passes", (int)passes);
    w->f->refuse = NULL;
    ok(wait_pods(w, 50), "and all is made when there is room");
    is_int(world_free(w), 0, "no rule was broken");
}

static void a_namespace_that_ends_is_no_fault(void)
{
    struct world *w = world_new(1);
    char said[256] = "";
    int pipes[2];
    int saved = dup(2);

    status = J("{'kind': 'Status', 'details': {'causes': [{'reason': 'NamespaceTerminating'}]}}");
    if (pipe(pipes) < 0 || dup2(pipes[1], 2) < 0)
        return;
    log_setup(LOG_WARN, LOG_LOGFMT);
    w->opts.limits.backoff_max_ms = 60000;
    w->f->refuse = ends;
    put_toy(w, "a", "mnist", 50);
    world_start(w);
    run_for(w, 300);
    ok(settle(w), "all is tried");
    unsigned tried = w->f->count[KUBE_CREATE];
    ok(tried > 0 && tried <= 16, "of a hundred objects %u", tried);
    is_int(events_refused, 0, "no event is tried: it would be refused as well");
    is_int(sum_of(w, "controller_runtime_reconcile_errors_total"), 0, "it is no error");
    dup2(saved, 2);
    close(saved);
    close(pipes[1]);
    ssize_t n = read(pipes[0], said, sizeof(said) - 1);
    close(pipes[0]);
    is_str((str){ said, n > 0 ? (size_t)n : 0 }, S(""), "and nothing is logged");
    w->f->refuse = NULL;
    ok(wait_pods(w, 50), "were it an error all the same, work goes on");
    is_int(world_free(w), 0, "no rule was broken");
    jdoc_unref(status);
}

int main(void)
{
    a_namespace_that_ends_is_no_fault();
    log_setup(LOG_ERROR, LOG_LOGFMT);
    what_must_wait_costs_nothing();
    return tap_done();
}
