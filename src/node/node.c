/* The node: its pods, what they refer to, and itself. */

#include "node/node.h"

#include "base/mem.h"
#include "base/quantity.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "node/internal.h"
#include "node/logs.h"
#include "node/volumes.h"
#include "plan/planner.h"
#include "sys/trash.h"

static const struct kube_resource referred[NODE_KINDS] = {
    [NODE_SERVICES] = { "", "v1", "services", "Service", false },
    [NODE_ENDPOINTS] = { "", "v1", "endpoints", "Endpoints", false },
    [NODE_SLICES] = { "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", false },
    [NODE_CONFIGS] = { "", "v1", "configmaps", "ConfigMap", false },
    [NODE_SECRETS] = { "", "v1", "secrets", "Secret", false },
    [NODE_CLAIMS] = { "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", false },
    [NODE_VOLUMES] = { "", "v1", "persistentvolumes", "PersistentVolume", true },
};

int64_t node_now(const struct node *n)
{
    return n->o.wall_ms();
}

/* ---- pods */

static void on_pod(void *ctx, struct jdoc *doc, struct jdoc *old)
{
    struct node *n = ctx;
    struct pod *p = map_get(&n->pods, meta_uid(jdoc_root(doc)));

    if (n->ending)
        return;
    if (p)
        pod_update(p, doc, old);
    else
        pod_new(n, doc);
}

static void on_pod_gone(void *ctx, struct jdoc *doc)
{
    struct node *n = ctx;
    struct pod *p = map_get(&n->pods, meta_uid(jdoc_root(doc)));

    if (p)
        pod_vanish(p);
}

/* Sandboxes of pods that are no more, from before we started: they end and are cleared away. */
struct orphan {
    struct node *n;
    struct runtime_pod *rt;
    struct orphan *next;
    char *uid;
};

static void orphan_clear(struct node *n, const char *uid)
{
    AUTO(arena) struct arena *a = arena_new();
    str dir = arena_printf(a, "%" PRI_STR "/pods/%s", STR_ARG(n->o.data), uid);

    if (n->o.net)
        n->o.net->detach(n->o.net->ctx, str_of(uid));
    if (n->o.runtime->ops->forget)
        n->o.runtime->ops->forget(n->o.runtime, str_of(uid));
    tree_trash_put(n->trash, dir.p);
    log_info("removed an orphaned pod", KVZ("pod", uid));
}

static void orphan_free(struct node *n, struct orphan *o)
{
    for (struct orphan **at = &n->orphans; *at; at = &(*at)->next)
        if (*at == o) {
            *at = o->next;
            break;
        }
    n->o.runtime->ops->drop(o->rt);
    free(o->uid);
    free(o);
}

static void on_orphan(void *ctx, const struct runtime_event *ev)
{
    struct orphan *o = ctx;
    struct node *n = o->n;

    if (ev->what == RUNTIME_HELLO)
        n->o.runtime->ops->end(o->rt, 0);
    if (ev->what != RUNTIME_GONE)
        return;
    char *uid = TAKE(o->uid);
    orphan_free(n, o);
    orphan_clear(n, uid);
    free(uid);
    node_check_over(n);
}

static void look_for_orphans(struct node *n)
{
    JV_EACH (it, jdoc_root(n->known)) {
        str uid = jv_str(it.value, S(""));
        if (map_get(&n->pods, uid))
            continue;
        struct orphan *o = mem_new(sizeof(*o));
        struct runtime_sink sink = { .on_event = on_orphan, .ctx = o };
        o->n = n;
        o->uid = mem_or_abort(strndup(uid.p, uid.n));
        o->rt = n->o.runtime->ops->adopt(n->o.runtime, uid, &sink);
        if (o->rt) {
            o->next = n->orphans;
            n->orphans = o;
            continue;
        }
        orphan_clear(n, o->uid);
        free(o->uid);
        free(o);
    }
}

static void on_pods_listed(void *ctx)
{
    struct node *n = ctx;

    if (n->listed || n->ending)
        return;
    n->listed = true;
    names_listed(n->names);
    look_for_orphans(n);
}

/* ---- what pods refer to; when it goes, what is mounted stays as it was, as kubelet leaves it */

static void each_pod(struct node *n, str ns, void (*fn)(struct pod *p))
{
    MAP_EACH (s, &n->pods) {
        struct pod *p = s->value;
        if (!ns.n || str_eq(meta_namespace(jdoc_root(p->doc)), ns))
            fn(p);
    }
}

static void look_again(struct pod *p)
{
    if (p->life->done || p->adopting || p->n->ending)
        return;
    if (p->life->box == LIFE_BOX_UP)
        pod_refresh_volumes(p, true);
    for (size_t i = 0; i < p->life->n; i++)
        if (p->life->box == LIFE_BOX_NONE || p->life->at[i].retry_ms) {
            pod_retry(p);
            return;
        }
}

static void on_referred(void *ctx, struct jdoc *doc, struct jdoc *old)
{
    struct node *n = ctx;

    (void)old;
    if (n->listed)
        each_pod(n, meta_namespace(jdoc_root(doc)), look_again);
}

static void on_service(void *ctx, struct jdoc *doc, struct jdoc *old)
{
    struct node *n = ctx;

    (void)old;
    names_changed(n->names, meta_namespace(jdoc_root(doc)));
}

static void on_service_gone(void *ctx, struct jdoc *doc)
{
    on_service(ctx, doc, NULL);
}

static void on_referred_listed(void *ctx)
{
    struct node *n = ctx;

    names_listed(n->names);
    each_pod(ctx, STR_NONE, look_again);
}

/* ---- making one */

static void mirrors_new(struct node *n)
{
    AUTO(arena) struct arena *a = arena_new();
    struct mirror_opts o = {
        .loop = n->o.loop,
        .api = n->o.api,
        .res = &kube_pods,
        .fields = arena_printf(a, "spec.nodeName=%" PRI_STR, STR_ARG(n->o.name)),
        .put = on_pod,
        .gone = on_pod_gone,
        .listed = on_pods_listed,
        .ctx = n,
    };

    n->pod_mirror = mirror_new(&o);
    for (size_t i = 0; i < NODE_KINDS; i++) {
        struct mirror_opts r = { .loop = n->o.loop,
                                 .api = n->o.api,
                                 .res = &referred[i],
                                 .put = i <= NODE_SLICES ? on_service : on_referred,
                                 .gone = i <= NODE_SLICES ? on_service_gone : NULL,
                                 .listed = on_referred_listed,
                                 .ctx = n };
        n->mirrors[i] = mirror_new(&r);
    }
}

static void copy_opts(struct node *n, const struct node_opts *o)
{
    struct arena *a = n->a;

    n->o = *o;
    n->o.name = arena_str(a, o->name);
    n->o.host_ip = arena_str(a, o->host_ip);
    n->o.data = arena_str(a, o->data);
    n->o.resources = arena_str(a, o->resources);
    n->o.claims = o->claims.n ? arena_str(a, o->claims)
                              : arena_printf(a, "%" PRI_STR "/volumes", STR_ARG(o->data));
    n->o.path = arena_str(a, o->path);
    n->o.isolation = arena_str(a, o->isolation);
    n->o.api_ip = arena_str(a, o->api_ip);
    n->o.ca = arena_str(a, o->ca);
    n->root_ca = jobj(a, { "data", jobj(a, { "ca.crt", jstr(a, n->o.ca) }) });
    if (str_eq(n->o.isolation, S("shared")))
        n->common = arena_printf(a, "%" PRI_STR "/pods/.common", STR_ARG(n->o.data));
    n->o.env = jv_copy(a, o->env);
    n->o.conditions = jv_copy(a, o->conditions);
    n->o.groups = jv_copy(a, o->groups);
    n->o.files = jv_copy(a, o->files);
    n->o.hidden = jv_copy(a, o->hidden);
    if (!o->wall_ms)
        n->o.wall_ms = wall_now_ms;
}

int node_new(struct node **out, const struct node_opts *o, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new();
    struct images *images = NULL;
    const char *data = arena_z(tmp, o->data);

    if (images_load(&images, arena_printf(tmp, "%s/images.yaml", data).p, e) < 0)
        return -1;
    struct node *n = mem_new(sizeof(*n));
    n->a = arena_new();
    copy_opts(n, o);
    n->images = images;
    if (offer_set(n, STR_NONE, e) < 0) {
        images_free(images);
        arena_free(n->a);
        free(n);
        return -1;
    }
    struct arena *known = arena_new();
    n->known = jdoc_of(known, jv_copy(known, o->runtime->ops->list(o->runtime, known)));
    n->trash = tree_trash_new(o->loop, arena_printf(tmp, "%s/pods/.trash", data).p);
    n->events = node_events_new(o->loop, o->api, n->o.wall_ms, n->o.name);
    n->reg = registration_new(n);
    mirrors_new(n);
    n->names = node_names_new(n);
    *out = n;
    return 0;
}

void node_start(struct node *n)
{
    log_sweep_start(n->o.loop, n->o.data);
    registration_start(n->reg);
    offer_start(n);
    mirror_start(n->mirrors[NODE_SERVICES]);
    if (n->names) {
        mirror_start(n->mirrors[NODE_ENDPOINTS]);
        mirror_start(n->mirrors[NODE_SLICES]);
    }
    mirror_start(n->pod_mirror);
    names_start(n->names);
}

bool node_is_ready(const struct node *n)
{
    return n->listed && registration_is_done(n->reg);
}

str node_name(const struct node *n)
{
    return n->o.name;
}

size_t node_count_pods(const struct node *n)
{
    return n->pods.n;
}

uint64_t node_count_writes(const struct node *n)
{
    return n->writes;
}

void node_free(struct node *n)
{
    if (!n)
        return;
    MAP_EACH (s, &n->pods)
        pod_free(s->value);
    while (n->orphans)
        orphan_free(n, n->orphans);
    map_done(&n->pods);
    names_free(n->names);
    mirror_free(n->pod_mirror);
    for (size_t i = 0; i < NODE_KINDS; i++)
        mirror_free(n->mirrors[i]);
    loop_timer_stop(n->over_due);
    loop_timer_stop(n->trim);
    evict_free(n);
    usage_free(n);
    stall_free(n);
    offer_free(n);
    registration_free(n->reg);
    node_events_free(n->events);
    tree_trash_free(n->trash);
    images_free(n->images);
    jdoc_unref(n->machine);
    jdoc_unref(n->known);
    arena_free(n->a);
    free(n);
}
