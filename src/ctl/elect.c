/* An election: at most one request under way, and one timer for the next thing that is due. Each
 * answer leads to the next request or to waiting. Updates carry the resourceVersion they are made
 * from, so of two that take the same lease one fails. */

#include "ctl/elect.h"

#include "base/mem.h"
#include "base/time.h"
#include "loop/log.h"
#include "plan/planner.h"

#include <stdio.h>

enum elect_doing { DOING_NOTHING, DOING_GET, DOING_CREATE, DOING_UPDATE };

struct elect {
    struct elect_opts o;
    struct arena *a;
    struct jdoc *lease; /* as last seen or written; NULL: not known, or there is none */
    int64_t seen_ms;    /* since when its spec is what it is, for us */
    struct loop_timer *timer;
    struct kube_call *call;
    enum elect_doing doing;
    int64_t sent_ms;  /* when the request under way was sent */
    int64_t due_ms;   /* next try */
    int64_t until_ms; /* held until then */
    bool leads;
    bool lost;
    bool stale; /* the lease may have changed since: read it first */
    bool reached;
    bool started;
    bool releasing;
    bool released;
    void (*on_released)(void *arg);
    void *released_arg;
    char trouble[300];
    char told[300]; /* the trouble that was logged last */
    char holder[256];
    char waited_for[256]; /* the holder that was told last */
};

struct elect *elect_new(const struct elect_opts *o)
{
    struct elect *e = mem_new(sizeof(*e));

    e->o = *o;
    e->a = arena_new();
    e->o.ns = arena_str(e->a, o->ns);
    e->o.name = arena_str(e->a, o->name);
    e->o.identity = arena_str(e->a, o->identity);
    e->o.lease_ms = o->lease_ms ? o->lease_ms : 15000;
    e->o.renew_ms = o->renew_ms ? o->renew_ms : 10000;
    e->o.retry_ms = o->retry_ms ? o->retry_ms : 2000;
    e->o.now_ms = o->now_ms ? o->now_ms : boot_now_ms;
    e->stale = true;
    return e;
}

void elect_free(struct elect *e)
{
    if (!e)
        return;
    if (e->call)
        kube_cancel(e->o.api, e->call);
    loop_timer_stop(e->timer);
    jdoc_unref(e->lease);
    arena_free(e->a);
    free(e);
}

/* ---- what others see of it */

bool elect_leads(const struct elect *e)
{
    return e->leads;
}

bool elect_holds(const struct elect *e)
{
    return e->leads && e->o.now_ms() < e->until_ms;
}

str elect_holder(const struct elect *e)
{
    return str_of(e->holder);
}

str elect_trouble(const struct elect *e)
{
    return str_of(e->trouble);
}

bool elect_is_reached(const struct elect *e)
{
    return e->reached;
}

/* ---- time */

static void on_timer(void *arg)
{
    struct elect *e = arg;

    loop_timer_stop(TAKE(e->timer));
    elect_tick(e);
}

/* A request that takes longer than half of what a renewal may take is given up: another one may
 * still come through. */
static int64_t request_timeout_ms(const struct elect *e)
{
    return e->o.renew_ms / 2;
}

static void arm(struct elect *e)
{
    int64_t at = e->doing == DOING_NOTHING ? e->due_ms : e->sent_ms + request_timeout_ms(e);
    int64_t now = e->o.now_ms();

    if (!e->started || e->lost || e->released)
        return;
    if (e->leads && e->until_ms < at)
        at = e->until_ms;
    loop_timer_stop(e->timer);
    e->timer = loop_timer_start(e->o.loop, at > now ? at - now : 0, 0, on_timer, e);
}

/* Those who stand by do not all come at once. */
static void wait_a_while(struct elect *e)
{
    uint32_t chance = 0;

    e->due_ms = e->o.now_ms() + e->o.retry_ms;
    if (e->leads)
        return;
    random_bytes(&chance, sizeof(chance));
    e->due_ms += (int64_t)chance % (e->o.retry_ms / 4 + 1);
}

/* ---- the record */

static void keep(struct elect *e, jv lease)
{
    struct arena *a = arena_new();
    jv spec = jv_at(lease, "spec");
    str holder = jv_str(jv_at(spec, "holderIdentity"), S(""));

    if (!e->lease || !jv_equal(spec, jv_at(jdoc_root(e->lease), "spec")))
        e->seen_ms = e->o.now_ms();
    snprintf(e->holder, sizeof(e->holder), "%" PRI_STR, STR_ARG(holder));
    jdoc_unref(e->lease);
    e->lease = jdoc_of(a, jv_copy(a, lease));
    e->stale = false;
    e->reached = true;
}

static jv spec_of(const struct elect *e)
{
    return e->lease ? jv_at(jdoc_root(e->lease), "spec") : JV_ABSENT;
}

static bool is_mine(const struct elect *e)
{
    return str_eq(jv_str(jv_at(spec_of(e), "holderIdentity"), S("")), e->o.identity);
}

/* Another holds it, as far as one can know from here. */
static bool is_taken(const struct elect *e)
{
    jv spec = spec_of(e);
    int64_t lease_ms = jv_int(jv_at(spec, "leaseDurationSeconds"), 0) * 1000;

    if (!jv_str(jv_at(spec, "holderIdentity"), S("")).n || is_mine(e))
        return false;
    return e->o.now_ms() < e->seen_ms + (lease_ms > 0 ? lease_ms : e->o.lease_ms);
}

/* The lease as we want it: all that others put there stays. */
static jv wanted(struct elect *e, struct arena *a)
{
    jv old = e->lease ? jdoc_root(e->lease) : JV_ABSENT;
    jv spec = spec_of(e);
    jv now = jstr(a, time_text_micro(a, wall_now_us()));
    int64_t changes = jv_int(jv_at(spec, "leaseTransitions"), 0);
    struct jbuild b = jb_from(a, spec);

    jb_set(&b, S("holderIdentity"), jstr(a, e->releasing ? S("") : e->o.identity));
    jb_set(&b, S("leaseDurationSeconds"), jint(a, e->releasing ? 1 : e->o.lease_ms / 1000));
    if (!is_mine(e) || e->releasing)
        jb_set(&b, S("acquireTime"), now);
    jb_set(&b, S("renewTime"), now);
    jb_set(&b, S("leaseTransitions"), jint(a, e->lease && !is_mine(e) ? changes + 1 : changes));
    if (e->lease)
        return jv_with(a, old, jb_done(&b), "spec");
    return jobj(
        a, { "apiVersion", jstrz(a, "coordination.k8s.io/v1") }, { "kind", jstrz(a, "Lease") },
        { "metadata", jobj(a, { "name", jstr(a, e->o.name) }, { "namespace", jstr(a, e->o.ns) }) },
        { "spec", jb_done(&b) });
}

/* ---- requests */

static void on_answer(void *ctx, const struct kube_answer *ans);

static void request(struct elect *e, enum elect_doing doing)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .res = &kube_leases, .ns = e->o.ns, .name = e->o.name };

    r.verb = doing == DOING_GET ? KUBE_GET : doing == DOING_CREATE ? KUBE_CREATE : KUBE_UPDATE;
    r.timeout_ms = request_timeout_ms(e);
    if (doing == DOING_CREATE)
        r.name = STR_NONE;
    if (doing != DOING_GET)
        r.body = wanted(e, a);
    e->doing = doing;
    e->sent_ms = e->o.now_ms();
    e->call = kube_send(e->o.api, &r, on_answer, e);
}

static const char *const verbs[] = {
    [DOING_NOTHING] = "", [DOING_GET] = "get", [DOING_CREATE] = "create", [DOING_UPDATE] = "update"
};

static void end_release(struct elect *e)
{
    e->leads = false;
    e->released = true;
    loop_timer_stop(TAKE(e->timer));
    loop_defer(e->o.loop, e->on_released, e->released_arg);
}

static void failed(struct elect *e, enum elect_doing doing, const char *why)
{
    snprintf(e->trouble, sizeof(e->trouble),
             "cannot %s leases.coordination.k8s.io \"%" PRI_STR "\" in namespace \"%" PRI_STR
             "\": %s",
             verbs[doing], STR_ARG(e->o.name), STR_ARG(e->o.ns), why);
    e->stale = true;
    wait_a_while(e);
    if (e->releasing && !e->leads) {
        log_warn("lease not released", KVZ("why", e->trouble));
        end_release(e);
        return;
    }
    if (strcmp(e->told, e->trouble) != 0)
        log_warn("leader election: waiting", KVZ("why", e->trouble),
                 KVI("retry_ms", e->o.retry_ms));
    snprintf(e->told, sizeof(e->told), "%s", e->trouble);
}

static void well(struct elect *e)
{
    if (e->told[0])
        log_info("leader election: continuing", KV("lease", e->o.name));
    e->trouble[0] = e->told[0] = 0;
}

/* ---- what comes of them */

static void lose(struct elect *e, const char *why)
{
    if (e->call)
        kube_cancel(e->o.api, TAKE(e->call));
    e->doing = DOING_NOTHING;
    if (e->releasing) { /* nobody acts any more, and it runs out by itself */
        log_warn("lease not released", KVZ("why", why));
        end_release(e);
        return;
    }
    e->leads = false;
    e->lost = true;
    loop_timer_stop(TAKE(e->timer));
    e->o.on_lost(e->o.ctx, why);
}

static void stand_by(struct elect *e)
{
    wait_a_while(e);
    if (strcmp(e->waited_for, e->holder) == 0)
        return;
    snprintf(e->waited_for, sizeof(e->waited_for), "%s", e->holder);
    log_info("standing by", KV("lease", e->o.name), KV("namespace", e->o.ns),
             KVZ("holder", e->holder));
}

static void on_read(struct elect *e)
{
    if (e->releasing && !is_mine(e)) {
        end_release(e);
        return;
    }
    if (e->leads && !is_mine(e) && e->holder[0]) {
        lose(e, "another holds the lease");
        return;
    }
    if (is_taken(e)) {
        stand_by(e);
        return;
    }
    request(e, DOING_UPDATE);
}

static void on_written(struct elect *e)
{
    bool first = !e->leads;

    if (e->releasing && is_mine(e)) { /* taken just before it was to be let go */
        request(e, DOING_UPDATE);
        return;
    }
    if (e->releasing) {
        log_info("lease released", KV("lease", e->o.name));
        end_release(e);
        return;
    }
    e->until_ms = e->sent_ms + e->o.renew_ms;
    e->due_ms = e->o.now_ms() + e->o.retry_ms;
    if (e->until_ms <= e->o.now_ms()) {
        if (!first)
            lose(e, "the lease was renewed too late");
        return; /* taken, but the answer came too late to act on: as if it had not come */
    }
    e->leads = true;
    if (first)
        log_info("lease taken", KV("lease", e->o.name), KV("namespace", e->o.ns),
                 KV("identity", e->o.identity));
    e->o.on_held(e->o.ctx, e->until_ms);
}

/* Not there. Who saw it held a moment ago leaves its holder the time it was promised. */
static void on_missing(struct elect *e)
{
    e->reached = true;
    if (is_taken(e) && !e->leads) {
        wait_a_while(e);
        return;
    }
    jdoc_unref(TAKE(e->lease));
    e->holder[0] = 0;
    if (e->releasing)
        end_release(e);
    else
        request(e, DOING_CREATE);
}

/* Or an answer of ours was lost on its way. */
static bool somebody_was_faster(enum err_code code)
{
    return code == ERR_CONFLICT || code == ERR_EXISTS || code == ERR_NOT_FOUND;
}

static void advance(struct elect *e, enum elect_doing did, const struct kube_answer *ans)
{
    bool good = ans->err.code == ERR_OK && jv_is(ans->obj, JV_OBJ);

    if (good) {
        well(e);
        keep(e, ans->obj);
        if (did == DOING_GET)
            on_read(e);
        else
            on_written(e);
    } else if (did == DOING_GET && ans->err.code == ERR_NOT_FOUND && ans->status == 404) {
        well(e);
        on_missing(e);
    } else if (did != DOING_GET && somebody_was_faster(ans->err.code)) {
        e->stale = true;
        request(e, DOING_GET);
    } else {
        failed(e, did, ans->err.code == ERR_OK ? "an answer without an object" : ans->err.msg);
    }
}

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct elect *e = ctx;
    enum elect_doing did = e->doing;

    e->call = NULL;
    e->doing = DOING_NOTHING;
    if (e->leads && e->o.now_ms() >= e->until_ms) {
        lose(e, "the lease could not be renewed in time");
        return;
    }
    advance(e, did, ans);
    arm(e);
}

void elect_tick(struct elect *e)
{
    int64_t now = e->o.now_ms();

    assert_on_loop(e->o.loop);
    if (e->lost || e->released)
        return;
    if (e->leads && now >= e->until_ms) {
        lose(e, "the lease could not be renewed in time");
        return;
    }
    if (e->doing != DOING_NOTHING && now >= e->sent_ms + request_timeout_ms(e)) {
        kube_cancel(e->o.api, TAKE(e->call));
        enum elect_doing did = e->doing;
        e->doing = DOING_NOTHING;
        failed(e, did, "no answer");
    }
    if (e->doing == DOING_NOTHING && now >= e->due_ms)
        request(e, e->leads && !e->stale && e->lease ? DOING_UPDATE : DOING_GET);
    arm(e);
}

void elect_start(struct elect *e)
{
    e->started = true;
    elect_tick(e);
}

void elect_release(struct elect *e, void (*done)(void *arg), void *arg)
{
    assert(!e->releasing);
    e->releasing = true;
    e->on_released = done;
    e->released_arg = arg;
    /* Who is about to take it waits for the answer: else nobody would have it for its duration. */
    if (!e->leads && !e->lost && (e->doing == DOING_CREATE || e->doing == DOING_UPDATE))
        return;
    if (e->call) {
        kube_cancel(e->o.api, TAKE(e->call));
        e->doing = DOING_NOTHING;
        e->stale = true; /* it may have been done all the same */
    }
    if (!e->leads || e->lost) {
        end_release(e);
        return;
    }
    e->o.on_held(e->o.ctx, 0);
    request(e, e->stale ? DOING_GET : DOING_UPDATE);
    arm(e);
}
