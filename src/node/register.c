/* The Node object and its Lease: made, kept, and renewed at a modest rate. */

#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "node/internal.h"
#include "plan/planner.h"

enum {
    LEASE_S = 40,
    RENEW_MS = 10 * 1000,
    STATUS_MS = 5 * 60 * 1000,
    GPUS_MS = 1000,
    RETRY_MS = 1000,
};

static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };

struct registration {
    struct node *n;
    struct kube_call *call;       /* on the node */
    struct kube_call *lease_call; /* on the lease */
    struct loop_timer *timer, *lease_timer, *gpu_timer;
    char uid[64];
    bool done, told;
    bool stale; /* it is to be written once more */
};

/* ---- what is told */

static jv condition(struct arena *a, jv old, const char *type, bool is, const char *reason,
                    const char *message, int64_t now)
{
    str status = is ? S("True") : S("False");
    jv since = JV_ABSENT, at = jstr(a, time_text(a, now));

    JV_EACH (it, jv_at(old, "status", "conditions"))
        if (str_eqz(jv_str(jv_at(it.value, "type"), S("")), type) &&
            str_eq(jv_str(jv_at(it.value, "status"), S("")), status))
            since = jv_at(it.value, "lastTransitionTime");
    return jobj(a, { "type", jstr(a, str_of(type)) }, { "status", jstr(a, status) },
                { "lastHeartbeatTime", at },
                { "lastTransitionTime", jv_exists(since) ? since : at },
                { "reason", jstr(a, str_of(reason)) }, { "message", jstr(a, str_of(message)) });
}

/* There are device files that others may use. */
static bool watches_gpus(const struct node *n)
{
    return jv_len(jv_at(jdoc_root(n->machine), "gpus")) > 0;
}

static jv conditions(struct arena *a, const struct node *n, jv old)
{
    int64_t now = node_now(n);
    struct jbuild b = jb_arr(a);

    jb_push(&b, condition(a, old, "MemoryPressure", false, "KubeletHasSufficientMemory",
                          "kubelet has sufficient memory available", now));
    jb_push(&b, condition(a, old, "DiskPressure", false, "KubeletHasNoDiskPressure",
                          "kubelet has no disk pressure", now));
    jb_push(&b, condition(a, old, "PIDPressure", false, "KubeletHasSufficientPID",
                          "kubelet has sufficient PID available", now));
    jb_push(&b, condition(a, old, "Ready", true, "KubeletReady", "kubelet is posting ready status",
                          now));
    if (names_limits(n->names))
        jb_push(&b, condition(a, old, "SharedNetwork", true, "PodsShareTheMachinesNetwork",
                              names_limits(n->names), now));
    if (watches_gpus(n)) {
        str text = devices_elsewhere_text(a, &n->gpus);
        jb_push(&b, condition(a, old, NODE_GPUS_ELSEWHERE, text.n, text.n ? "InUse" : "NotInUse",
                              text.n ? arena_z(a, text) : "no GPU is in use by others", now));
    }
    if (n->offer.was_told)
        jb_push(&b,
                condition(a, old, NODE_RESOURCES_CONDITION, str_eqz(offer_reason(n), "Declared"),
                          offer_reason(n).p, arena_z(a, offer_message(n)), now));
    JV_EACH (it, n->o.conditions)
        jb_push(&b, it.value);
    return jb_done(&b);
}

static jv status_json(struct arena *a, const struct node *n, jv old)
{
    jv machine = jdoc_root(n->machine), capacity = jv_at(machine, "capacity");
    size_t elsewhere = devices_elsewhere(&n->gpus);
    jv free = elsewhere ? jv_with_key(a, capacity, S("nvidia.com/gpu"),
                                      jstr(a, arena_printf(a, "%zu", n->gpus.n - elsewhere)))
                        : capacity;
    jv name = jstr(a, n->o.name);

    return jobj(
        a, { "capacity", capacity }, { "allocatable", free },
        { "conditions", conditions(a, n, old) },
        { "addresses",
          jarr(a, jobj(a, { "type", jstrz(a, "InternalIP") }, { "address", jstr(a, n->o.host_ip) }),
               jobj(a, { "type", jstrz(a, "Hostname") }, { "address", name })) },
        { "nodeInfo", jv_at(machine, "info") });
}

static jv labels_json(struct arena *a, const struct node *n)
{
    jv info = jv_at(jdoc_root(n->machine), "info");
    str isolation = n->o.isolation;

    return jobj(a, { "kubernetes.io/hostname", jstr(a, n->o.name) },
                { "kubernetes.io/os", jv_at(info, "operatingSystem") },
                { "kubernetes.io/arch", jv_at(info, "architecture") },
                { "beta.kubernetes.io/os", jv_at(info, "operatingSystem") },
                { "beta.kubernetes.io/arch", jv_at(info, "architecture") },
                { "muster.dev/isolation", isolation.n ? jstr(a, isolation) : JV_ABSENT });
}

/* Below which directories hostPath volumes are allowed, for who wants to know before he asks. */
static jv roots_json(struct arena *a, const struct node *n)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, jv_at(n->o.hidden, "host_roots"))
        buf_printf(&b, "%s%" PRI_STR, b.n ? "," : "", STR_ARG(jv_str(it.value, S(""))));
    return b.n ? jstr(a, arena_str(a, buf_str(&b))) : JV_ABSENT;
}

jv registration_allocatable(const struct registration *r)
{
    return jv_at(jdoc_root(r->n->machine), "capacity");
}

/* ---- the node */

static void get_node(void *arg);

static void node_later(struct registration *r, int64_t ms)
{
    loop_timer_stop(r->timer);
    r->timer = loop_timer_start(r->n->o.loop, ms, 0, get_node, r);
}

static bool trouble(struct registration *r, const struct kube_answer *ans)
{
    if (ans->err.code == ERR_OK)
        return false;
    log_warn("cannot write node status, retrying", KVZ("error", ans->err.msg));
    node_later(r, RETRY_MS);
    return true;
}

static void renew(void *arg);

static void on_status(void *ctx, const struct kube_answer *ans)
{
    struct registration *r = ctx;
    str uid = meta_uid(ans->obj);

    r->call = NULL;
    if (trouble(r, ans))
        return;
    memcpy(r->uid, uid.p, uid.n < sizeof(r->uid) ? uid.n : sizeof(r->uid) - 1);
    r->done = true;
    node_later(r, r->stale ? 0 : STATUS_MS);
    if (!r->told) {
        struct node_event w = {
            .obj = ans->obj, .res = &nodes, .reason = "Starting", .message = S("Starting kubelet.")
        };
        r->told = true;
        node_events_send(r->n->events, &w);
        renew(r);
    }
}

/* The patch merges: null removes an amount that is offered no more. */
static jv without_old(struct arena *a, jv amounts, jv old)
{
    JV_EACH (it, old)
        if (!jv_exists(jv_get(amounts, it.key)))
            amounts = jv_with_key(a, amounts, it.key, JV_NULL_V);
    return amounts;
}

static jv with_amounts(struct arena *a, jv status, jv node)
{
    static const char *const fields[] = { "capacity", "allocatable" };

    for (size_t i = 0; i < COUNT(fields); i++)
        status = jv_with(a, status,
                         without_old(a, jv_at(status, fields[i]), jv_at(node, "status", fields[i])),
                         fields[i]);
    return status;
}

/* Without the conditions that an earlier process wrote. */
static jv first_status(struct arena *a, jv status)
{
    struct jbuild b = jb_arr(a);

    jb_push(&b, jobj(a, { "$patch", jstrz(a, "replace") }));
    JV_EACH (it, jv_at(status, "conditions"))
        jb_push(&b, it.value);
    return jv_with(a, status, jb_done(&b), "conditions");
}

static void patch_status(struct registration *r, jv node)
{
    AUTO(arena) struct arena *a = arena_new();
    jv status = with_amounts(a, status_json(a, r->n, node), node);
    struct kube_request q = { .verb = KUBE_PATCH,
                              .patch = KUBE_PATCH_STRATEGIC,
                              .res = &nodes,
                              .name = r->n->o.name,
                              .sub = S("status"),
                              .body = jobj(
                                  a, { "status", r->told ? status : first_status(a, status) }) };

    r->call = kube_send(r->n->o.api, &q, on_status, r);
}

static void on_made(void *ctx, const struct kube_answer *ans)
{
    struct registration *r = ctx;

    r->call = NULL;
    if (!trouble(r, ans))
        patch_status(r, ans->obj);
}

static void on_got(void *ctx, const struct kube_answer *ans)
{
    AUTO(arena) struct arena *a = arena_new();
    struct registration *r = ctx;
    bool none = ans->err.code == ERR_NOT_FOUND;

    r->call = NULL;
    if (!none && trouble(r, ans))
        return;
    offer_read(r->n, ans->obj); /* before anything of the machine is read */
    jv labels = labels_json(a, r->n), roots = roots_json(a, r->n);
    jv there = jv_at(meta_annotations(ans->obj), NODE_ROOTS_ANNOTATION);
    bool same = !none && jv_equal(roots, there);
    if (jv_exists(there) && !jv_exists(roots))
        roots = JV_NULL_V; /* taken away */
    jv meta = jobj(a, { "labels", labels },
                   { "annotations",
                     jv_exists(roots) ? jobj(a, { NODE_ROOTS_ANNOTATION, roots }) : JV_ABSENT });
    JV_EACH (it, labels)
        same &= jv_equal(jv_get(meta_labels(ans->obj), it.key), it.value);
    if (same) {
        patch_status(r, ans->obj);
        return;
    }
    jv body = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Node") },
                   { "metadata", jv_with(a, meta, jstr(a, r->n->o.name), "name") });
    struct kube_request q = { .verb = none ? KUBE_CREATE : KUBE_PATCH,
                              .res = &nodes,
                              .name = none ? STR_NONE : r->n->o.name,
                              .body = none ? body : jobj(a, { "metadata", meta }) };
    r->call = kube_send(r->n->o.api, &q, on_made, r);
}

static void get_node(void *arg)
{
    struct registration *r = arg;
    struct kube_request q = { .verb = KUBE_GET, .res = &nodes, .name = r->n->o.name };

    loop_timer_stop(r->timer);
    r->timer = NULL;
    r->stale = false;
    r->call = kube_send(r->n->o.api, &q, on_got, r);
}

void registration_refresh(struct registration *r)
{
    r->stale = !r->done || r->call;
    if (!r->stale)
        node_later(r, 0);
}

static void look_at_gpus(void *arg)
{
    struct registration *r = arg;

    if (devices_look(&r->n->gpus, r->n->o.root ? r->n->o.root : "") || r->stale)
        registration_refresh(r);
}

/* ---- the lease */

static jv lease_spec(struct arena *a, const struct registration *r)
{
    return jobj(a, { "holderIdentity", jstr(a, r->n->o.name) },
                { "leaseDurationSeconds", jint(a, LEASE_S) },
                { "renewTime", jstr(a, time_text_micro(a, node_now(r->n) * 1000)) });
}

static void lease_later(struct registration *r, int64_t ms)
{
    loop_timer_stop(r->lease_timer);
    r->lease_timer = loop_timer_start(r->n->o.loop, ms, 0, renew, r);
}

static void on_lease(void *ctx, const struct kube_answer *ans)
{
    struct registration *r = ctx;

    r->lease_call = NULL;
    lease_later(r, ans->err.code == ERR_OK ? RENEW_MS : RETRY_MS);
}

static void on_renewed(void *ctx, const struct kube_answer *ans)
{
    AUTO(arena) struct arena *a = arena_new();
    struct registration *r = ctx;

    if (ans->err.code != ERR_NOT_FOUND) {
        on_lease(r, ans);
        return;
    }
    jv owner = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Node") },
                    { "name", jstr(a, r->n->o.name) }, { "uid", jstr(a, str_of(r->uid)) });
    struct kube_request q = {
        .verb = KUBE_CREATE,
        .res = &kube_leases,
        .ns = S("kube-node-lease"),
        .body = jobj(a, { "apiVersion", jstrz(a, "coordination.k8s.io/v1") },
                     { "kind", jstrz(a, "Lease") },
                     { "metadata", jobj(a, { "name", jstr(a, r->n->o.name) },
                                        { "ownerReferences", jarr(a, owner) }) },
                     { "spec", lease_spec(a, r) }),
    };
    r->lease_call = kube_send(r->n->o.api, &q, on_lease, r);
}

static void renew(void *arg)
{
    AUTO(arena) struct arena *a = arena_new();
    struct registration *r = arg;
    struct kube_request q = { .verb = KUBE_PATCH,
                              .res = &kube_leases,
                              .ns = S("kube-node-lease"),
                              .name = r->n->o.name,
                              .body = jobj(a, { "spec", lease_spec(a, r) }) };

    loop_timer_stop(r->lease_timer);
    r->lease_timer = NULL;
    r->lease_call = kube_send(r->n->o.api, &q, on_renewed, r);
}

/* ---- */

struct registration *registration_new(struct node *n)
{
    struct registration *r = mem_new(sizeof(*r));

    r->n = n;
    return r;
}

void registration_start(struct registration *r)
{
    /* Pods of a server before this one are not ours until they are found. */
    if (watches_gpus(r->n) && !jv_len(jdoc_root(r->n->known)))
        devices_look(&r->n->gpus, r->n->o.root ? r->n->o.root : "");
    if (watches_gpus(r->n))
        r->gpu_timer = loop_timer_start(r->n->o.loop, GPUS_MS, GPUS_MS, look_at_gpus, r);
    get_node(r);
}

bool registration_is_done(const struct registration *r)
{
    return r->done;
}

void registration_free(struct registration *r)
{
    if (!r)
        return;
    if (r->call)
        kube_cancel(r->n->o.api, r->call);
    if (r->lease_call)
        kube_cancel(r->n->o.api, r->lease_call);
    loop_timer_stop(r->timer);
    loop_timer_stop(r->lease_timer);
    loop_timer_stop(r->gpu_timer);
    free(r);
}
