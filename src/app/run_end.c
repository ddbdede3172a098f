/* How a run ends: what was begun is stopped, what is still to come is awaited, and all is told. */

#include "app/run_internal.h"

#include "base/terminal.h"
#include "cli/fold.h"

#include <inttypes.h>
#include <unistd.h>

enum {
    SETTLE_MS = 300,     /* for the last words of pods, once their job is over */
    LOGS_MS = 20 * 1000, /* without a byte of the logs that are still read */
    GRACE_S = 30,        /* that a pod is granted unless it says otherwise */
    DAY_S = 24 * 3600,   /* and no more than this is waited for, whatever it says */
    LATE_MS = 10 * 1000, /* for what has to be done besides, after all grace */
    GONE_MS = 60 * 1000, /* for those that are killed */
};

/* ---- waiting */

struct limit {
    struct loop *loop;
    struct loop_timer *timer;
    bool passed;
};

static void on_limit(void *arg)
{
    struct limit *l = arg;

    l->passed = true;
    loop_wake(l->loop);
}

static struct limit *limit_start(struct run *r, int64_t ms)
{
    struct limit *l = ARENA_NEW(r->a, struct limit);

    l->loop = r->s.loop;
    l->timer = loop_timer_start(l->loop, ms, 0, on_limit, l);
    return l;
}

/* Until cond, the limit, or one more signal. */
static void wait_while(struct run *r, bool (*cond)(const struct run *r), int64_t ms)
{
    struct limit *l = limit_start(r, ms);
    int signals = r->s.signals;

    while (cond(r) && !l->passed && r->s.signals == signals && !follow_failed(r->follow))
        loop_turn(r->s.loop);
    loop_timer_stop(l->timer);
}

static bool is_live(const struct run *r)
{
    return run_state_is_live(&r->state);
}

/* Of those that we began, that is: another's job is not ours to wait for. */
static bool is_to_go(const struct run *r)
{
    for (size_t i = 0; i < r->state.jobs.n; i++) {
        const struct run_job *j = r->state.jobs.at[i];
        for (size_t k = 0; j->created && k < j->replicas.n; k++)
            if (j->replicas.at[k].live)
                return true;
    }
    return false;
}

static bool is_lingering(const struct run *r)
{
    return run_state_lingering(&r->state) > 0;
}

static bool is_being_read(const struct run *r)
{
    return tails_are_open(follow_tails(r->follow));
}

/* The logs of replicas that have ended come to an end, however long they are and however slow the
 * server is. */
static void read_rest(struct run *r)
{
    const struct tails *t = follow_tails(r->follow);
    int signals = r->s.signals;
    uint64_t before;

    do {
        before = tails_bytes(t);
        wait_while(r, is_being_read, LOGS_MS);
    } while (is_being_read(r) && tails_bytes(t) != before && r->s.signals == signals);
}

/* ---- stopping */

/* How long those that are told to go may take. Without an end to it, a server that can write no
 * more (a full disk) would be waited for until somebody comes. */
static int64_t grace_ms(const struct run *r)
{
    int64_t most_s = 0;

    for (size_t i = 0; i < r->state.jobs.n; i++) {
        const struct run_job *j = r->state.jobs.at[i];
        jv spec = jv_at(jdoc_root(j->obj), "spec");
        int64_t own_s = jv_int(jv_at(spec, "terminationGracePeriodSeconds"), GRACE_S);
        if (!j->kind && own_s > most_s)
            most_s = own_s;
        JV_EACH (k, j->kind ? jv_at(spec, j->kind->specs) : JV_ABSENT) {
            int64_t s = jv_int(jv_at(k.value, "template", "spec", "terminationGracePeriodSeconds"),
                               GRACE_S);
            if (s > most_s)
                most_s = s;
        }
    }
    return (most_s < DAY_S ? most_s : DAY_S) * 1000 + LATE_MS;
}

static void suspend_jobs(struct run *r)
{
    struct session *s = &r->s;
    struct ask *all = ARENA_ARRAY(s->a, struct ask, r->state.jobs.n + 1);
    jv body =
        jobj(s->a, { "spec", jobj(s->a, { "runPolicy", jobj(s->a, { "suspend", JV_TRUE }) }) });
    size_t n = 0;

    for (size_t i = 0; i < r->state.jobs.n; i++) {
        const struct run_job *j = r->state.jobs.at[i];
        if (!j->created || j->over)
            continue;
        all[n] = (struct ask){ .req = { .verb = j->kind ? KUBE_PATCH : KUBE_DELETE,
                                        .res = j->kind ? j->kind->planner.res : &kube_pods,
                                        .ns = j->ns,
                                        .name = j->name } };
        if (j->kind)
            all[n].req.body = body;
        n++;
    }
    s->interrupted = false;
    session_ask(s, all, n);
}

static void say(struct run *r, const char *text)
{
    r->note = str_of(text);
    if (!r->live)
        screen_say(r->screen, arena_printf(r->a, "muster: %s\n", text));
    screen_touch(r->screen);
}

/* Whether any was heard; if none, why is told. */
static bool were_heard(struct run *r, const struct ask *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].done && (!all[i].err.code || all[i].err.code == ERR_NOT_FOUND))
            return true;
    if (n)
        say(r, arena_printf(r->a, "cannot kill: %s", all[0].err.msg).p);
    return false;
}

/* grace_s 0: forgotten at once, with nobody left to tell how they ended. False: of no use. */
static bool kill_pods(struct run *r, int64_t grace_s)
{
    struct session *s = &r->s;
    jv body = jobj(s->a, { "gracePeriodSeconds", jint(s->a, grace_s) });
    bool heard = false;

    for (size_t i = 0; i < r->state.jobs.n; i++) {
        const struct run_job *j = r->state.jobs.at[i];
        struct ask *all = ARENA_ARRAY(s->a, struct ask, j->replicas.n + 1);
        size_t n = 0;
        for (size_t k = 0; j->created && k < j->replicas.n; k++) {
            const struct run_replica *x = &j->replicas.at[k];
            str pod = j->kind ? arena_printf(s->a, "%" PRI_STR "-%" PRI_STR, STR_ARG(j->name),
                                             STR_ARG(x->name))
                              : j->name;
            if (x->live)
                all[n++] = (struct ask){ .req = { .verb = KUBE_DELETE,
                                                  .res = &kube_pods,
                                                  .ns = j->ns,
                                                  .name = pod,
                                                  .body = body } };
        }
        s->interrupted = false;
        session_ask(s, all, n);
        heard |= were_heard(r, all, n);
    }
    return heard;
}

static bool is_anothers(const struct run *r)
{
    for (size_t i = 0; i < r->state.jobs.n; i++)
        if (r->state.jobs.at[i]->created)
            return false;
    return true;
}

static void stop_all(struct run *r, enum run_end how)
{
    int signals = r->s.signals;

    if (is_anothers(r)) {
        if (how != RUN_OVER)
            say(r, "it existed before, and continues");
        if (!r->f->keep)
            submit_undo(&r->submit); /* what came with it */
        return;
    }
    if (how != RUN_OVER)
        say(r, how == RUN_TIMED_OUT ? "time is up: stopping; Ctrl-C kills at once"
                                    : "stopping; Ctrl-C again kills at once");
    for (size_t i = 0; i < r->state.jobs.n; i++)
        r->state.jobs.at[i]->stopping = true;
    if (r->f->keep)
        suspend_jobs(r);
    else
        submit_undo(&r->submit);
    wait_while(r, is_to_go, grace_ms(r));
    if (is_to_go(r)) {
        say(r, r->s.signals == signals ? "they do not stop: killing" : "killing");
        if (kill_pods(r, 1)) {
            wait_while(r, is_to_go, GONE_MS);
            if (is_to_go(r) && kill_pods(r, 0))
                wait_while(r, is_to_go, GONE_MS);
        }
    }
    read_rest(r);
}

/* Replicas that a job that succeeded leaves running get to finish. In a server that stays they do
 * so without us. */
static void linger(struct run *r)
{
    int64_t ms = r->f->linger_ms;

    if (r->f->timeout_ms) {
        int64_t left = r->began_ms + r->f->timeout_ms - wall_now_ms();
        ms = left < ms ? left : ms;
    }
    if (!is_lingering(r) || ms <= 0 || (r->f->keep && !r->embedded))
        return;
    int64_t n = run_state_lingering(&r->state);
    say(r,
        arena_printf(r->a, "succeeded; waiting up to %" PRI_STR " for %" PRId64 " replica%s to end",
                     STR_ARG(time_short(r->a, ms)), n, n == 1 ? "" : "s")
            .p);
    wait_while(r, is_lingering, ms);
}

void run_stop(struct run *r, enum run_end how)
{
    bool leave = r->f->keep || r->is_private; /* what has ended may stay, or goes with the rest */

    if (how == RUN_LOST)
        return;
    if (how == RUN_OVER) {
        wait_while(r, is_live, SETTLE_MS);
        linger(r);
        if (run_state_is_live(&r->state))
            wait_while(r, is_being_read, SETTLE_MS);
        else
            read_rest(r);
    }
    if (how != RUN_OVER || !leave || (!r->f->keep && run_state_is_live(&r->state)))
        stop_all(r, how);
}

int run_code(const struct run *r, enum run_end how)
{
    if (how == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (how == RUN_TIMED_OUT)
        return EXIT_TIMEOUT;
    for (size_t i = 0; i < r->state.jobs.n; i++)
        if (r->state.jobs.at[i]->failed)
            return EXIT_FAILED;
    return how == RUN_LOST ? EXIT_FAILED : EXIT_DONE;
}

/* ---- telling */

static str logs_of(void *ctx, const struct run_job *j)
{
    const struct run *r = ctx;

    if (!r->dir) /* on another cluster */
        return STR_NONE;
    str path = arena_printf(r->a, "%s/logs/%" PRI_STR "/%" PRI_STR, r->dir, STR_ARG(j->ns),
                            STR_ARG(j->name));
    /* a job whose pods never started has none */
    return access(arena_z(r->a, path), F_OK) == 0 ? path : STR_NONE;
}

static str tail_of(void *ctx, const struct run_job *j, str replica)
{
    const struct run *r = ctx;
    AUTO(buf) struct buf b = { 0 };
    str rest = tails_last(follow_tails(r->follow), r->a, j, replica);

    while (rest.n) {
        terminal_line(&b, fold_long(r->a, str_cut(&rest, '\n')), r->color);
        buf_addc(&b, '\n');
    }
    return arena_str(r->a, buf_str(&b));
}

/* What stays of its claims. */
static void find_claims(struct run *r, struct summary_opts *o)
{
    struct run_claim *all = NULL;

    o->run = str_of(r->name ? r->name : "");
    o->n_claims = r->claims && !r->f->rm ? run_claims_list(r->a, r->claims, &all) : 0;
    o->claims = all;
}

int run_report(struct run *r, int code)
{
    struct summary_opts o = { .ms = wall_now_ms() - r->began_ms,
                              .code = code,
                              .color = r->color,
                              .logs = logs_of,
                              .tail = tail_of,
                              .ctx = r };
    AUTO(buf) struct buf b = { 0 };

    r->note = STR_NONE;
    find_claims(r, &o);
    screen_last(r->screen, summary_text(r->a, &r->state, &o));
    o.color = r->color = false;
    jv v = run_record(r, &o);
    run_record_write(r, v);
    if (!r->f->output)
        return code;
    screen_free(TAKE(r->screen)); /* all that goes before */
    if (strcmp(r->f->output, "yaml") == 0) {
        yaml_print(&b, v);
    } else {
        json_print_indent(&b, v, 4);
        buf_addc(&b, '\n');
    }
    return command_print(buf_str(&b)) < 0 && code == EXIT_DONE ? EXIT_FAILED : code;
}
