/* What is known of a pod, and how facts change it. PURE. */

#include "node/life.h"

#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"

#include <stdio.h>

enum { BACKOFF_FIRST_MS = 10 * 1000, BACKOFF_MAX_MS = 5 * 60 * 1000 };

static void copy(char *to, size_t n, str s)
{
    str_clip_z(to, n, s);
}

static void set_buf(struct buf *b, str s)
{
    buf_clear(b);
    buf_add(b, s);
}

/* ---- what goes out */

void life_out_done(struct life_out *out)
{
    vec_done(&out->acts);
    vec_done(&out->tells);
}

void life_act(struct life_out *out, struct life_action act)
{
    vec_push(&out->acts, act);
}

void life_tell(struct life_out *out, const struct life_container *c, bool warning,
               const char *reason, str message)
{
    struct life_tell t = { .warning = warning,
                           .reason = reason,
                           .message = arena_str(out->a, message),
                           .container = c ? c->name : STR_NONE };

    vec_push(&out->tells, t);
}

void life_wake(struct life_out *out, int64_t at_ms)
{
    if (at_ms < out->wake_ms)
        out->wake_ms = at_ms;
}

/* ---- ends of runs */

static void end_move(struct life_end *to, struct life_end *from)
{
    buf_done(&to->message);
    *to = *from;
    *from = (struct life_end){ 0 };
}

static int64_t time_of(jv v)
{
    int64_t us;

    return time_parse(jv_str(v, S("")), &us, NULL) < 0 ? 0 : us / 1000;
}

static void end_load(struct life_end *e, jv terminated, int64_t attempt)
{
    if (jv_is_null(terminated))
        return;
    e->is = true;
    e->attempt = attempt;
    e->code = jv_int(jv_at(terminated, "exitCode"), 0);
    e->started_ms = time_of(jv_at(terminated, "startedAt"));
    e->finished_ms = time_of(jv_at(terminated, "finishedAt"));
    copy(e->reason, sizeof(e->reason), jv_str(jv_at(terminated, "reason"), S("")));
    set_buf(&e->message, jv_str(jv_at(terminated, "message"), S("")));
}

/* ---- making one */

static jv status_named(jv list, str name)
{
    JV_EACH (it, list)
        if (str_eq(jv_str(jv_at(it.value, "name"), S("")), name))
            return it.value;
    return JV_ABSENT;
}

static void keep_text(str *to, str s)
{
    char *p = mem_room(s.n + 1);

    memcpy(p, s.p ? s.p : "", s.n);
    p[s.n] = '\0';
    free((char *)(uintptr_t)to->p);
    *to = (str){ p, s.n };
}

static void container_load(struct life_container *c, jv st)
{
    jv running = jv_at(st, "state", "running");
    int64_t restarts = jv_int(jv_at(st, "restartCount"), 0);

    c->attempt = restarts;
    keep_text(&c->image_id, jv_str(jv_at(st, "imageID"), S("")));
    end_load(&c->last, jv_at(st, "lastState", "terminated"), restarts - 1);
    end_load(&c->end, jv_at(st, "state", "terminated"), restarts);
    if (!jv_is_null(running)) {
        c->state = LIFE_RUNNING;
        c->started_ms = time_of(jv_at(running, "startedAt"));
    } else if (c->end.is) {
        c->state = LIFE_ENDED;
        c->started_ms = c->end.started_ms;
    } else if (c->last.is) { /* backed off: the run that is last by now */
        end_move(&c->end, &c->last);
        c->end.attempt = restarts;
        c->state = LIFE_ENDED;
    }
    c->was_started = c->state != LIFE_WAITING;
    if (jv_bool(jv_at(st, "started"), false))
        c->probes[LIFE_STARTUP].result = 1;
    if (jv_bool(jv_at(st, "ready"), false))
        c->probes[LIFE_READINESS].result = 1;
}

static void add_containers(struct life *l, size_t at, jv list, jv statuses, enum life_kind kind)
{
    for (struct jv_iter it = jv_iter(list); jv_next(&it); at++) {
        struct life_container *c = &l->at[at];
        bool always = str_eq(jv_str(jv_at(it.value, "restartPolicy"), S("")), S("Always"));
        c->spec = it.value;
        c->name = jv_str(jv_at(it.value, "name"), S(""));
        c->kind = kind == LIFE_INIT && always ? LIFE_SIDECAR : kind;
        container_load(c, status_named(statuses, c->name));
    }
}

struct life *life_new(struct jdoc *doc)
{
    struct life *l = mem_new(sizeof(*l));
    jv pod = jdoc_root(doc), init = jv_at(pod, "spec", "initContainers");
    jv main = jv_at(pod, "spec", "containers"), st = jv_at(pod, "status");
    jv more = jv_at(pod, "spec", "ephemeralContainers");
    str phase = jv_str(jv_at(st, "phase"), S(""));

    l->doc = jdoc_ref(doc);
    l->pod = pod;
    l->n_init = jv_len(init);
    l->n_own = l->n_init + jv_len(main);
    l->n = l->n_own + jv_len(more);
    l->at = mem_array(l->n ? l->n : 1, sizeof(*l->at));
    add_containers(l, 0, init, jv_at(st, "initContainerStatuses"), LIFE_INIT);
    add_containers(l, l->n_init, main, jv_at(st, "containerStatuses"), LIFE_MAIN);
    add_containers(l, l->n_own, more, jv_at(st, "ephemeralContainerStatuses"), LIFE_EPHEMERAL);
    for (size_t i = l->n_init; i < l->n_own; i++)
        l->initialized |= l->at[i].was_started;
    l->start_ms = time_of(jv_at(st, "startTime"));
    l->deleted = meta_being_deleted(pod);
    copy(l->ip, sizeof(l->ip), jv_str(jv_at(st, "podIP"), S("")));
    copy(l->reason, sizeof(l->reason), jv_str(jv_at(st, "reason"), S("")));
    set_buf(&l->message, jv_str(jv_at(st, "message"), S("")));
    if (str_eq(phase, S("Failed")) || str_eq(phase, S("Succeeded"))) {
        l->failed = l->reason[0] != '\0';
        l->ending = true;
        l->box = LIFE_BOX_GONE;
        l->done = true;
    }
    return l;
}

void life_free(struct life *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++) {
        struct life_container *c = &l->at[i];
        buf_done(&c->end.message);
        buf_done(&c->last.message);
        buf_done(&c->waiting_message);
        free((char *)(uintptr_t)c->image_id.p);
    }
    buf_done(&l->message);
    buf_done(&l->stall_message);
    free(l->at);
    jdoc_unref(l->doc);
    free(l);
}

/* Ephemeral containers only ever come. */
static void make_room(struct life *l, size_t n)
{
    struct life_container *at = mem_array(n ? n : 1, sizeof(*at));

    memcpy(at, l->at, l->n * sizeof(*at));
    free(l->at);
    l->at = at;
    for (; l->n < n; l->n++)
        l->at[l->n].kind = LIFE_EPHEMERAL;
}

void life_update(struct life *l, struct jdoc *doc)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    size_t at = 0;
    jv pod = jdoc_root(doc);
    size_t n = l->n_own + jv_len(jv_at(pod, "spec", "ephemeralContainers"));

    if (jv_len(jv_at(pod, "spec", "initContainers")) != l->n_init ||
        jv_len(jv_at(pod, "spec", "containers")) != l->n_own - l->n_init || n < l->n)
        return; /* never: the server keeps it so */
    struct jdoc *old = l->doc;
    l->doc = jdoc_ref(doc);
    l->pod = pod;
    if (n > l->n)
        make_room(l, n);
    for (size_t i = 0; i < COUNT(lists); i++)
        for (struct jv_iter it = jv_iter(jv_at(pod, "spec", lists[i])); jv_next(&it); at++) {
            l->at[at].spec = it.value;
            l->at[at].name = jv_str(jv_at(it.value, "name"), S(""));
        }
    l->deleted |= meta_being_deleted(pod);
    jdoc_unref(old);
}

struct life_container *life_find(struct life *l, str name)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->at[i].name, name))
            return &l->at[i];
    return NULL;
}

/* ---- facts */

void life_on_box_up(struct life *l, str ip)
{
    copy(l->ip, sizeof(l->ip), ip);
    if (l->box == LIFE_BOX_ASKED || l->box == LIFE_BOX_NONE)
        l->box = LIFE_BOX_UP;
    if (!l->failed) /* it was lost once, and lives again */
        l->reason[0] = '\0';
}

void life_on_box_failed(struct life *l, int64_t retry_ms)
{
    l->box = LIFE_BOX_NONE;
    l->box_retry_ms = retry_ms;
}

/* A run begins: the one before it becomes the last state. */
static void begin(struct life_container *c, int64_t attempt, int64_t at_ms)
{
    struct life_container fresh = {
        .spec = c->spec,
        .name = c->name,
        .kind = c->kind,
        .state = LIFE_RUNNING,
        .was_started = true,
        .attempt = attempt,
        .started_ms = at_ms,
        .end = c->end,
        .last = c->last,
        .waiting_message = c->waiting_message,
        .backoff_ms = c->backoff_ms,
        .backoff_at_ms = c->backoff_at_ms,
        .image_id = c->image_id,
        /* asked to stop before it had started */
        .stopping = c->stopping,
        .stop_by_ms = c->stop_by_ms,
    };

    if (fresh.end.is && !c->again) { /* the next restart waits longer */
        int64_t twice = c->backoff_ms ? c->backoff_ms * 2 : BACKOFF_FIRST_MS;
        fresh.backoff_ms = twice < BACKOFF_MAX_MS ? twice : BACKOFF_MAX_MS;
        fresh.backoff_at_ms = at_ms;
    }
    if (fresh.end.is)
        end_move(&fresh.last, &fresh.end);
    buf_clear(&fresh.waiting_message);
    *c = fresh;
}

static int64_t next_attempt(const struct life_container *c)
{
    return c->was_started ? c->attempt + 1 : 0;
}

void life_on_started(struct life *l, size_t i, int64_t at_ms, struct life_out *out)
{
    struct life_container *c = &l->at[i];

    if (c->state != LIFE_STARTING)
        return;
    begin(c, next_attempt(c), at_ms);
    if (c->kind == LIFE_MAIN)
        l->initialized = true;
    life_tell(out, c, false, "Started",
              arena_printf(out->a, "Started container %" PRI_STR, STR_ARG(c->name)));
    if (jv_is(jv_at(c->spec, "lifecycle", "postStart"), JV_OBJ) && !c->stopping) {
        c->post_busy = true;
        life_act(out, (struct life_action){ .what = LIFE_HOOK, .c = i, .attempt = c->attempt });
    }
}

static void end_run(struct life_container *c, int64_t code, str reason, str message, int64_t at_ms)
{
    if (c->end.is)
        end_move(&c->last, &c->end);
    c->state = LIFE_ENDED;
    c->end.is = true;
    c->end.code = code;
    c->end.attempt = c->attempt;
    c->end.started_ms = c->started_ms;
    c->end.finished_ms = at_ms > c->started_ms ? at_ms : c->started_ms;
    copy(c->end.reason, sizeof(c->end.reason), reason);
    set_buf(&c->end.message, message);
    c->stopping = c->term_sent = c->kill_sent = false;
    c->post_busy = c->pre_busy = c->pre_asked = false;
    c->backs_off = c->again = false;
    c->retry_ms = 0;
    memset(c->probes, 0, sizeof(c->probes));
}

void life_on_exited(struct life *l, size_t i, const struct life_exit *x)
{
    struct life_container *c = &l->at[i];
    int64_t code = x->code >= 0 ? x->code : 128 + x->signo;

    if (c->state != LIFE_RUNNING)
        return;
    end_run(c, x->oom ? 137 : code,
            x->oom ? S("OOMKilled")
            : code ? S("Error")
                   : S("Completed"),
            x->message, x->at_ms);
}

void life_on_failed(struct life *l, size_t i, int64_t code, str reason, str message, int64_t now)
{
    struct life_container *c = &l->at[i];

    if (c->state != LIFE_STARTING)
        return;
    begin(c, next_attempt(c), now);
    end_run(c, code, reason, message, now);
}

void life_on_box_refused(struct life *l, str reason, str message)
{
    for (size_t i = 0; i < l->n; i++) {
        struct life_container *c = &l->at[i];
        if (c->state != LIFE_WAITING)
            continue;
        copy(c->waiting, sizeof(c->waiting), reason);
        set_buf(&c->waiting_message, message);
    }
}

void life_on_cannot(struct life *l, size_t i, str reason, str message, int64_t retry_ms)
{
    struct life_container *c = &l->at[i];

    if (c->state != LIFE_STARTING)
        return;
    c->state = c->end.is ? LIFE_ENDED : LIFE_WAITING;
    copy(c->waiting, sizeof(c->waiting), reason);
    set_buf(&c->waiting_message, message);
    c->retry_ms = retry_ms;
}

void life_retry(struct life *l)
{
    for (size_t i = 0; i < l->n; i++)
        l->at[i].retry_ms = 0;
    l->box_retry_ms = 0;
}

void life_on_hook(struct life *l, size_t i, int64_t attempt, bool stop, bool fine, int64_t now_ms,
                  struct life_out *out)
{
    struct life_container *c = &l->at[i];

    if (c->state != LIFE_RUNNING || c->attempt != attempt)
        return;
    if (stop) {
        c->pre_busy = false;
        if (!fine)
            life_tell(out, c, true, "FailedPreStopHook", S("PreStopHook failed"));
        return;
    }
    c->post_busy = false;
    if (fine)
        return;
    life_tell(out, c, true, "FailedPostStartHook", S("PostStartHook failed"));
    life_stop(l, c, now_ms, life_grace_ms(l), S("FailedPostStartHook"), out);
}

void life_on_known(struct life *l, size_t i, int64_t attempt, int64_t started_ms,
                   const struct life_exit *x)
{
    struct life_container *c = &l->at[i];

    if (c->was_started && attempt < c->attempt)
        return;
    if (!c->was_started || attempt > c->attempt || (c->state == LIFE_ENDED && !x)) {
        if (c->state == LIFE_RUNNING) /* its end was never seen */
            end_run(c, 137, S("ContainerStatusUnknown"), S(""), started_ms);
        begin(c, attempt, started_ms);
    }
    if (c->kind == LIFE_MAIN)
        l->initialized = true;
    if (c->state == LIFE_RUNNING && started_ms)
        c->started_ms = started_ms;
    if (x)
        life_on_exited(l, i, x);
}

void life_on_box_gone(struct life *l, int64_t now_ms, str reason, str message)
{
    bool expected = l->box == LIFE_BOX_ENDING || l->ending;

    for (size_t i = 0; i < l->n; i++) {
        struct life_container *c = &l->at[i];
        if (c->state == LIFE_STARTING)
            c->state = c->end.is ? LIFE_ENDED : LIFE_WAITING;
        if (c->state == LIFE_RUNNING)
            end_run(c, 137, expected ? S("Error") : S("ContainerStatusUnknown"),
                    expected ? S("") : message, now_ms);
        if (!expected && c->kind == LIFE_INIT && c->end.is && c->end.code == 0)
            c->again = true;
    }
    l->box = expected ? LIFE_BOX_GONE : LIFE_BOX_NONE;
    if (expected)
        return;
    l->initialized = false;
    if (!l->reason[0]) {
        copy(l->reason, sizeof(l->reason), reason);
        set_buf(&l->message, message);
    }
}

void life_fail(struct life *l, str reason, str message)
{
    if (l->failed || l->done)
        return;
    l->failed = true;
    copy(l->reason, sizeof(l->reason), reason);
    set_buf(&l->message, message);
}
