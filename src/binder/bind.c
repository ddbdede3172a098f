/* Bindings: of one pod, or of those that start together. These need our own server: a cluster binds
 * pods one by one, and part of a gang could run. */

#include "base/limits.h"
#include "binder/internal.h"
#include "loop/log.h"

void pod_tell(struct pod *p, bool warning, const char *reason, str message)
{
    static const char component[] = "default-scheduler";
    struct plan_note note = { .warning = warning,
                              .reason = str_of(reason),
                              .message = message,
                              .once = warning ? message : STR_NONE };

    binder_tell(p->b, p->h.obj, &kube_pods, component, &p->budget, &note);
}

static void bound_one(struct pod *p, const struct kube_answer *ans)
{
    AUTO(arena) struct arena *a = arena_new();

    p->busy = false;
    if (ans->err.code == ERR_OK) {
        str node = p->node ? str_of(p->node) : p->p.node;
        pod_tell(p, false, "Scheduled",
                 arena_printf(a, "Successfully assigned %s to %" PRI_STR, p->h.key, STR_ARG(node)));
    } else if (p->state == POD_BINDING && ans->err.code != ERR_NOT_FOUND) {
        log_warn("cannot bind pod, retrying", KVZ("pod", p->h.key), KVZ("error", ans->err.msg));
        pod_unplace(p);
        p->b->place_due = false;
        binder_retry(p->b);
    }
}

static void on_bound(struct binder *b, str key, const struct kube_answer *ans)
{
    struct pod *p = map_get(&b->pods.items, key);

    if (p)
        bound_one(p, ans);
}

static jv binding_of(struct arena *a, const struct pod *p)
{
    jv meta = jobj(a, { "name", jstr(a, p->p.name) }, { "namespace", jstr(a, p->p.ns) },
                   { "uid", jstr(a, p->p.uid) });
    jv target = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Node") },
                     { "name", jstr(a, str_of(p->node)) });

    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Binding") },
                { "metadata", meta }, { "target", target });
}

void bind_one(struct binder *b, struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_CREATE,
                              .res = &kube_pods,
                              .ns = p->p.ns,
                              .name = p->p.name,
                              .sub = S("binding"),
                              .body = binding_of(a, p) };

    p->busy = true;
    p->state = POD_BINDING;
    send_write(b, &r, on_bound, str_of(p->h.key));
}

/* ---- together */

/* keys: of the pods, with a space between. */
static void on_all_bound(struct binder *b, str keys, const struct kube_answer *ans)
{
    for (str rest = keys; rest.p;) {
        struct pod *p = map_get(&b->pods.items, str_cut(&rest, ' '));
        if (!p)
            continue;
        if (ans->err.code == ERR_NOT_FOUND && p->state == POD_BINDING) {
            p->busy = false; /* one of the others is gone: the pods' watch says which */
            pod_unplace(p);
            b->place_due = false;
            binder_retry(b);
        } else {
            bound_one(p, ans);
        }
    }
}

void bind_together(struct binder *b, struct pod *const *pods, size_t n)
{
    static const struct kube_resource bindings = { "", "v1", "bindings", "Binding", false };
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild items = jb_arr(a);
    AUTO(buf) struct buf keys = { 0 };

    if (n == 1 || n > LIMIT_BINDINGS) {
        for (size_t i = 0; i < n; i++)
            bind_one(b, pods[i]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        pods[i]->busy = true;
        pods[i]->state = POD_BINDING;
        jb_push(&items, binding_of(a, pods[i]));
        buf_printf(&keys, "%s%s", i ? " " : "", pods[i]->h.key);
    }
    struct kube_request r = { .verb = KUBE_CREATE,
                              .res = &bindings,
                              .ns = pods[0]->p.ns,
                              .body = jobj(a, { "apiVersion", jstrz(a, "v1") },
                                           { "kind", jstrz(a, "BindingList") },
                                           { "items", jb_done(&items) }) };
    send_write(b, &r, on_all_bound, buf_str(&keys));
}
