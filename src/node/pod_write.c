/* A pod's status to the server: only what changed, one write at a time, and not the states that
 * pass within the blink of an eye; then its removal. */

#include "kube/meta.h"
#include "loop/log.h"
#include "node/internal.h"
#include "plan/planner.h"

#include <malloc.h>

enum {
    START_WAIT_MS = 100, /* longest wait for a pod that has not started yet */
    RETRY_MS = 200,
    RETRY_MAX_MS = 10 * 1000,
    QUIET_MS = 1500,
    TRIM_AFTER = 50, /* writes */
};

static jv changed(struct arena *a, jv now, jv before)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, now)
        if (!jv_equal_semantic(it.value, jv_get(before, it.key)))
            jb_set(&b, it.key, it.value);
    static const char *const may_go[] = { "reason", "message", "podIP", "podIPs" };
    for (size_t i = 0; i < COUNT(may_go); i++) {
        str key = str_of(may_go[i]);
        if (jv_exists(jv_get(before, key)) && !jv_exists(jv_get(now, key)))
            jb_set(&b, key, JV_NULL_V);
    }
    return b.n ? jb_done(&b) : JV_ABSENT;
}

/* Conditions are merged by type: what is no longer said must be taken back. */
static jv conditions_patch(struct arena *a, jv now, jv before)
{
    static const char *const may_go[] = { "reason", "message" };
    struct jbuild b = jb_arr(a);

    JV_EACH (it, now) {
        jv one = it.value;
        JV_EACH (old, before)
            for (size_t i = 0; i < COUNT(may_go); i++) {
                str key = str_of(may_go[i]);
                if (jv_equal(jv_at(old.value, "type"), jv_at(one, "type")) &&
                    jv_exists(jv_get(old.value, key)) && !jv_exists(jv_get(one, key)))
                    one = jv_with_key(a, one, key, JV_NULL_V);
            }
        jb_push(&b, one);
    }
    return jb_done(&b);
}

/* Addresses are merged, too: one that a pod had before its sandbox was made anew must go. */
static jv addresses_patch(struct arena *a, jv now, jv before)
{
    struct jbuild b = jb_from(a, now);

    JV_EACH (old, before) {
        bool kept = false;
        JV_EACH (it, now)
            kept |= jv_equal(jv_at(it.value, "ip"), jv_at(old.value, "ip"));
        if (!kept)
            jb_push(&b,
                    jobj(a, { "ip", jv_at(old.value, "ip") }, { "$patch", jstrz(a, "delete") }));
    }
    return jb_done(&b);
}

/* Conditions of others, such as readiness gates, stay: they are merged by type. */
static jv own_conditions(struct arena *a, jv before, jv now)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, now)
        JV_EACH (old, before)
            if (str_eq(jv_str(jv_at(old.value, "type"), S("")),
                       jv_str(jv_at(it.value, "type"), S(""))))
                jb_push(&b, old.value);
    return jb_done(&b);
}

static void on_timer(void *arg)
{
    struct pod *p = arg;

    loop_timer_stop(p->write_timer);
    p->write_timer = NULL;
    p->write_waits = false;
    pod_write(p);
}

/* What the server took and did not keep is told again, now and then. */
static void on_insist(void *arg)
{
    struct pod *p = arg;

    p->wrote = 0;
    on_timer(p);
}

/* The server may quote a whole object before it says what is wrong with it. */
static str without_the_middle(struct arena *a, str text)
{
    enum { HEAD = 60, TAIL = 160 };

    if (text.n <= HEAD + TAIL)
        return text;
    return arena_printf(a, "%.*s ... %.*s", HEAD, text.p, TAIL, text.p + text.n - TAIL);
}

static void again_later(struct pod *p, const struct kube_answer *ans)
{
    AUTO(arena) struct arena *a = arena_new();
    jv pod = jdoc_root(p->doc);
    str why = ans->message.n ? ans->message : str_of(ans->err.msg);
    int64_t ms = (int64_t)RETRY_MS << (p->write_failures < 6 ? p->write_failures : 6);

    p->write_failures++;
    p->wrote = 0;
    p->write_waits = true;
    if (ms > RETRY_MAX_MS)
        ms = RETRY_MAX_MS;
    log_warn("cannot write pod status, retrying", KV("namespace", meta_namespace(pod)),
             KV("pod", meta_name(pod)), KVZ("uid", p->uid),
             KV("error", without_the_middle(a, why)));
    loop_timer_stop(p->write_timer);
    p->write_timer = loop_timer_start(p->n->o.loop, ms, 0, on_timer, p);
}

static void on_written(void *ctx, const struct kube_answer *ans)
{
    struct pod *p = ctx;

    p->call = NULL;
    if (ans->err.code == ERR_OK) {
        p->write_failures = 0;
        mirror_learn(p->n->pod_mirror, ans->obj); /* comes back through pod_update, unless the
                                                     watch was quicker */
        pod_write(p);
        return;
    }
    if (ans->err.code != ERR_NOT_FOUND && ans->err.code != ERR_CONFLICT)
        again_later(p, ans);
}

static void on_removed(void *ctx, const struct kube_answer *ans)
{
    struct pod *p = ctx;

    p->call = NULL;
    if (ans->err.code != ERR_OK && ans->err.code != ERR_NOT_FOUND && ans->err.code != ERR_CONFLICT)
        again_later(p, ans);
}

static void remove_it(struct pod *p, struct arena *a)
{
    struct kube_request r = {
        .verb = KUBE_DELETE,
        .res = &kube_pods,
        .ns = meta_namespace(jdoc_root(p->doc)),
        .name = meta_name(jdoc_root(p->doc)),
        .body = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "DeleteOptions") },
                     { "gracePeriodSeconds", jint(a, 0) },
                     { "preconditions", jobj(a, { "uid", jstr(a, str_of(p->uid)) }) }),
    };

    p->call = kube_send(p->n->o.api, &r, on_removed, p);
}

static bool is_urgent(const struct pod *p, jv diff)
{
    if (p->life->deleted || p->life->done || !jv_exists(jv_at(diff, "containerStatuses")))
        return true;
    for (size_t i = 0; i < p->life->n; i++)
        if (p->life->at[i].was_started || p->life->at[i].waiting[0])
            return true;
    return false;
}

/* What a hundred pods take to start is not needed again. Looked at when nothing has been written
 * for a while. */
static void on_quiet(void *arg)
{
    struct node *n = arg;
    bool quiet = n->writes == n->trim_writes;

    loop_timer_stop(TAKE(n->trim));
    n->trim_writes = n->writes;
    if (quiet)
        malloc_trim(0);
    else
        n->trim = loop_timer_start(n->o.loop, QUIET_MS, 0, on_quiet, n);
}

static void count_write(struct node *n)
{
    if (++n->writes - n->trim_writes >= TRIM_AFTER && !n->trim)
        n->trim = loop_timer_start(n->o.loop, QUIET_MS, 0, on_quiet, n);
}

void pod_write(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    struct life_where w = { .host_ip = p->n->o.host_ip, .node = p->n->o.name };
    jv pod = jdoc_root(p->doc), before = jv_at(pod, "status");

    if (p->call || p->vanished || p->adopting || p->write_waits)
        return;
    jv st = life_status(a, p->life, &w, node_now(p->n));
    jv now =
        jv_with(a, before, own_conditions(a, jv_at(before, "conditions"), jv_at(st, "conditions")),
                "conditions");
    jv diff = changed(a, st, now);
    if (!jv_exists(diff)) {
        if (p->remove)
            remove_it(p, a);
        return;
    }
    if (!is_urgent(p, diff) && node_now(p->n) - p->life->start_ms < START_WAIT_MS) {
        if (!p->write_timer)
            p->write_timer = loop_timer_start(p->n->o.loop, START_WAIT_MS, 0, on_timer, p);
        return;
    }
    if (jv_exists(jv_at(diff, "conditions")))
        diff = jv_with(a, diff,
                       conditions_patch(a, jv_at(st, "conditions"), jv_at(before, "conditions")),
                       "conditions");
    if (jv_is(jv_at(diff, "podIPs"), JV_ARR))
        diff = jv_with(a, diff, addresses_patch(a, jv_at(diff, "podIPs"), jv_at(before, "podIPs")),
                       "podIPs");
    uint64_t hash = str_hash(json_text(a, diff));
    if (hash == p->wrote && p->remove) { /* it differs for ever: not a reason to stay for ever */
        remove_it(p, a);
        return;
    }
    if (hash == p->wrote) { /* the server took it and it still differs: no use to insist at once */
        if (!p->write_timer)
            p->write_timer = loop_timer_start(p->n->o.loop, RETRY_MAX_MS, 0, on_insist, p);
        return;
    }
    loop_timer_stop(TAKE(p->write_timer));
    p->wrote = hash;
    struct kube_request r = {
        .verb = KUBE_PATCH,
        .patch = KUBE_PATCH_STRATEGIC,
        .res = &kube_pods,
        .ns = meta_namespace(pod),
        .name = meta_name(pod),
        .sub = S("status"),
        .body = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, str_of(p->uid)) }) },
                     { "status", diff }),
    };
    count_write(p->n);
    p->call = kube_send(p->n->o.api, &r, on_written, p);
}
