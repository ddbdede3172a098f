/* What a pod needs now: init containers in order, sidecars beside them, then the others; restarts
 * with back-off; stops with hooks and grace. PURE. */

#include "node/life.h"

#include "base/time.h"
#include "kube/meta.h"

#include <signal.h>
#include <stdio.h>

enum {
    BACKOFF_FORGET_MS = 10 * 60 * 1000, /* of running, after which it starts anew */
    LEAST_AFTER_HOOK_MS = 2 * 1000,     /* what kubelet leaves to a container after preStop */
    DEFAULT_GRACE_S = 30,
};

static const str deadline_text =
    S_INIT("Pod was active on the node longer than the specified deadline");

static str policy_of(const struct life *l)
{
    return jv_str(jv_at(l->pod, "spec", "restartPolicy"), S("Always"));
}

static bool life_restarts(const struct life *l, const struct life_container *c)
{
    str policy = policy_of(l);

    if (c->kind == LIFE_EPHEMERAL)
        return false;
    if (c->kind == LIFE_SIDECAR || c->again)
        return true;
    if (str_eq(policy, S("Never")))
        return false;
    return c->end.code != 0 || (c->kind == LIFE_MAIN && str_eq(policy, S("Always")));
}

int64_t life_grace_ms(const struct life *l)
{
    int64_t spec = jv_int(jv_at(l->pod, "spec", "terminationGracePeriodSeconds"), DEFAULT_GRACE_S);

    return seconds_ms(jv_int(jv_at(l->pod, "metadata", "deletionGracePeriodSeconds"), spec));
}

static bool is_alive(const struct life_container *c)
{
    return c->state == LIFE_STARTING || c->state == LIFE_RUNNING;
}

/* ---- starting */

/* Kubelet's: the first restart is at once, later ones wait since the end of the run before. */
static bool is_held_back(struct life_container *c, int64_t now_ms)
{
    if (!c->end.is || !c->backoff_ms || c->again)
        return false;
    if (c->end.finished_ms - c->backoff_at_ms > BACKOFF_FORGET_MS) {
        c->backoff_ms = 0;
        return false;
    }
    return now_ms - c->end.finished_ms < c->backoff_ms;
}

static void hold_back(const struct life *l, struct life_container *c, struct life_out *out)
{
    str pod =
        arena_printf(out->a, "%" PRI_STR "_%" PRI_STR "(%" PRI_STR ")", STR_ARG(meta_name(l->pod)),
                     STR_ARG(meta_namespace(l->pod)), STR_ARG(meta_uid(l->pod)));
    char delay[TIME_BYTES];

    life_wake(out, c->end.finished_ms + c->backoff_ms);
    if (c->backs_off)
        return;
    c->backs_off = true;
    duration_print(delay, c->backoff_ms * 1000000);
    snprintf(c->waiting, sizeof(c->waiting), "CrashLoopBackOff");
    buf_clear(&c->waiting_message);
    buf_printf(&c->waiting_message,
               "back-off %s restarting failed container=%" PRI_STR " pod=%" PRI_STR, delay,
               STR_ARG(c->name), STR_ARG(pod));
    life_tell(out, c, true, "BackOff",
              arena_printf(out->a,
                           "Back-off restarting failed container %" PRI_STR " in pod %" PRI_STR,
                           STR_ARG(c->name), STR_ARG(pod)));
}

/* Kubelet starts containers in turn, postStart included: nothing starts beside such a hook. */
static bool hook_runs(const struct life *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct life_container *c = &l->at[i];
        if (c->post_busy ||
            (c->state == LIFE_STARTING && jv_is(jv_at(c->spec, "lifecycle", "postStart"), JV_OBJ)))
            return true;
    }
    return false;
}

static void start(struct life *l, size_t i, int64_t now_ms, struct life_out *out)
{
    struct life_container *c = &l->at[i];

    if (is_alive(c) || hook_runs(l))
        return;
    if (now_ms < c->retry_ms) {
        life_wake(out, c->retry_ms);
        return;
    }
    if (is_held_back(c, now_ms)) {
        hold_back(l, c, out);
        return;
    }
    c->state = LIFE_STARTING;
    c->retry_ms = 0;
    life_act(out, (struct life_action){
                      .what = LIFE_START, .c = i, .attempt = c->was_started ? c->attempt + 1 : 0 });
}

/* ---- stopping */

void life_stop(struct life *l, struct life_container *c, int64_t now_ms, int64_t grace_ms, str why,
               struct life_out *out)
{
    bool told = c->stopping;

    (void)l;
    if (!is_alive(c) || (told && c->stop_by_ms <= now_ms + grace_ms))
        return;
    c->stopping = true;
    c->stop_by_ms = now_ms + grace_ms;
    if (c->term_sent && c->kill_at_ms > c->stop_by_ms)
        c->kill_at_ms = c->stop_by_ms;
    if (!told)
        life_tell(out, c, false, "Killing", why);
}

static int stop_signal(const struct life_container *c)
{
    static const struct {
        const char *name;
        int signo;
    } names[] = {
        { "SIGHUP", SIGHUP },   { "SIGINT", SIGINT },   { "SIGQUIT", SIGQUIT },
        { "SIGKILL", SIGKILL }, { "SIGUSR1", SIGUSR1 }, { "SIGUSR2", SIGUSR2 },
        { "SIGTERM", SIGTERM }, { "SIGABRT", SIGABRT }, { "SIGWINCH", SIGWINCH },
    };
    str name = jv_str(jv_at(c->spec, "lifecycle", "stopSignal"), S(""));

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eqz(name, names[i].name))
            return names[i].signo;
    return SIGTERM;
}

static void go_on_stopping(struct life_container *c, size_t i, int64_t now_ms, struct life_out *out)
{
    bool has_hook = jv_is(jv_at(c->spec, "lifecycle", "preStop"), JV_OBJ);

    if (!c->stopping || c->state != LIFE_RUNNING)
        return;
    if (has_hook && !c->pre_asked && now_ms < c->stop_by_ms) {
        c->pre_asked = c->pre_busy = true;
        life_act(out, (struct life_action){
                          .what = LIFE_HOOK, .c = i, .attempt = c->attempt, .stop = true });
    }
    if (c->pre_busy && now_ms < c->stop_by_ms) {
        life_wake(out, c->stop_by_ms);
        return;
    }
    if (!c->term_sent) {
        int64_t least = now_ms + (c->pre_asked ? LEAST_AFTER_HOOK_MS : 0);
        c->term_sent = true;
        c->kill_at_ms = c->stop_by_ms > least ? c->stop_by_ms : least;
        life_act(out, (struct life_action){ .what = LIFE_SIGNAL, .c = i, .signo = stop_signal(c) });
    }
    if (c->kill_sent)
        return;
    if (now_ms < c->kill_at_ms) {
        life_wake(out, c->kill_at_ms);
        return;
    }
    c->kill_sent = true;
    life_act(out, (struct life_action){ .what = LIFE_SIGNAL, .c = i, .signo = SIGKILL });
}

static void stop_one(struct life *l, struct life_container *c, int64_t now_ms, struct life_out *out)
{
    life_stop(l, c, now_ms, l->end_by_ms > now_ms ? l->end_by_ms - now_ms : 0,
              arena_printf(out->a, "Stopping container %" PRI_STR, STR_ARG(c->name)), out);
}

/* Sidecars stop after all others have, the last one first. */
static void stop_all(struct life *l, int64_t now_ms, struct life_out *out)
{
    bool others = false;

    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].kind != LIFE_SIDECAR) {
            stop_one(l, &l->at[i], now_ms, out);
            others |= is_alive(&l->at[i]);
        }
    if (others && now_ms < l->end_by_ms)
        life_wake(out, l->end_by_ms);
    for (size_t i = l->n_init; i-- > 0 && (!others || now_ms >= l->end_by_ms);)
        if (l->at[i].kind == LIFE_SIDECAR && is_alive(&l->at[i])) {
            stop_one(l, &l->at[i], now_ms, out);
            if (now_ms < l->end_by_ms) {
                life_wake(out, l->end_by_ms);
                return;
            }
        }
}

/* ---- the pod */

static void look_at_deadline(struct life *l, int64_t now_ms, struct life_out *out)
{
    int64_t s = jv_int(jv_at(l->pod, "spec", "activeDeadlineSeconds"), 0);

    if (s <= 0 || l->failed || l->deleted || !l->start_ms)
        return;
    if (now_ms < l->start_ms + seconds_ms(s)) {
        life_wake(out, l->start_ms + seconds_ms(s));
        return;
    }
    life_fail(l, S("DeadlineExceeded"), deadline_text);
    life_tell(out, NULL, false, "DeadlineExceeded", deadline_text);
}

bool life_is_over(const struct life *l)
{
    bool over = true;

    for (size_t i = 0; i < l->n; i++) {
        const struct life_container *c = &l->at[i];
        bool ended_for_good = c->state == LIFE_ENDED && !life_restarts(l, c);
        if (c->kind == LIFE_INIT && ended_for_good && c->end.code != 0)
            return true;
        if (c->kind == LIFE_MAIN)
            over &= ended_for_good;
    }
    return over;
}

/* Init containers in order; whether all of them are done and sidecars have started. */
static bool initialize(struct life *l, int64_t now_ms, struct life_out *out)
{
    for (size_t i = 0; i < l->n_init; i++) {
        struct life_container *c = &l->at[i];
        if (c->kind == LIFE_SIDECAR) {
            start(l, i, now_ms, out);
            if (!l->initialized && !life_has_started(c))
                return false;
        } else if (!l->initialized && (c->state != LIFE_ENDED || c->end.code != 0 || c->again)) {
            start(l, i, now_ms, out);
            return false;
        }
    }
    return true;
}

static void run(struct life *l, int64_t now_ms, struct life_out *out)
{
    if (l->box == LIFE_BOX_NONE) {
        if (now_ms < l->box_retry_ms) {
            life_wake(out, l->box_retry_ms);
            return;
        }
        l->box = LIFE_BOX_ASKED;
        life_act(out, (struct life_action){ .what = LIFE_SANDBOX });
    }
    if (l->box != LIFE_BOX_UP)
        return;
    for (size_t i = l->n_own; i < l->n;
         i++) /* at any time: it may be an init container that hangs */
        if (l->at[i].state == LIFE_WAITING)
            start(l, i, now_ms, out);
    if (!initialize(l, now_ms, out))
        return;
    for (size_t i = l->n_init; i < l->n_own; i++)
        if (l->at[i].state == LIFE_WAITING ||
            (l->at[i].state == LIFE_ENDED && life_restarts(l, &l->at[i])))
            start(l, i, now_ms, out);
}

static void finish(struct life *l, struct life_out *out)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].state == LIFE_RUNNING ||
            (l->at[i].state == LIFE_STARTING && l->box == LIFE_BOX_UP))
            return;
    if (l->box == LIFE_BOX_UP || l->box == LIFE_BOX_ASKED) {
        l->box = LIFE_BOX_ENDING;
        life_act(out, (struct life_action){ .what = LIFE_END_BOX });
    }
    if (l->box == LIFE_BOX_NONE)
        l->box = LIFE_BOX_GONE;
    l->done = l->box == LIFE_BOX_GONE;
}

static void end(struct life *l, int64_t now_ms, struct life_out *out)
{
    int64_t by = now_ms + life_grace_ms(l);

    if (!l->ending || by < l->end_by_ms) /* a second delete may leave it less */
        l->end_by_ms = by;
    l->ending = true;
    stop_all(l, now_ms, out);
}

void life_step(struct life *l, int64_t now_ms, struct life_out *out)
{
    out->wake_ms = INT64_MAX;
    if (!l->start_ms)
        l->start_ms = now_ms;
    if (!l->done) {
        look_at_deadline(l, now_ms, out);
        bool over = l->deleted || l->failed || life_is_over(l);
        if (over)
            end(l, now_ms, out);
        else
            run(l, now_ms, out);
        for (size_t i = 0; i < l->n; i++) {
            go_on_stopping(&l->at[i], i, now_ms, out);
            life_probes(l, &l->at[i], now_ms, out);
        }
        if (over)
            finish(l, out);
    }
    if (l->done && l->deleted && !l->remove_told) {
        l->remove_told = true;
        life_act(out, (struct life_action){ .what = LIFE_REMOVE });
    }
}
