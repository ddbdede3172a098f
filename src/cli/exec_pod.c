/* Finding a pod, and waiting for one that is not ready yet: a list, then a watch from there, and
 * again when that ends. Nothing is said meanwhile. */

#include "cli/exec.h"

#include "base/mem.h"
#include "kube/meta.h"

enum { AGAIN_MS = 1000 };

static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };

struct exec_pod {
    struct loop *loop;
    struct kube_api *api;
    struct arena *a;
    str ns, name;
    int64_t absent_ms;
    void (*done)(void *ctx, jv pod, const struct err *e);
    void *ctx;
    struct kube_call *call;
    struct loop_timer *again;
    struct loop_timer *absent; /* while it is not seen */
    struct err last;           /* what the server said last, if it said no */
};

static void look(void *arg);

void exec_pod_free(struct exec_pod *p)
{
    if (!p)
        return;
    if (p->call)
        kube_cancel(p->api, p->call);
    loop_timer_stop(p->again);
    loop_timer_stop(p->absent);
    arena_free(p->a);
    free(p);
}

/* May free p. */
static void give(struct exec_pod *p, jv pod, const struct err *e)
{
    if (p->call)
        kube_cancel(p->api, TAKE(p->call));
    loop_timer_stop(TAKE(p->again));
    loop_timer_stop(TAKE(p->absent));
    p->done(p->ctx, pod, e);
}

static void on_absent(void *arg)
{
    struct exec_pod *p = arg;
    struct err e = p->last;

    if (e.code == ERR_OK)
        err_set(&e, ERR_NOT_FOUND, "there is no pod %" PRI_STR " in namespace %" PRI_STR,
                STR_ARG(p->name), STR_ARG(p->ns));
    give(p, JV_ABSENT, &e);
}

static void is_absent(struct exec_pod *p)
{
    if (!p->absent)
        p->absent = loop_timer_start(p->loop, p->absent_ms, 0, on_absent, p);
}

static bool has_ended(struct exec_pod *p, jv pod, struct err *e)
{
    str phase = jv_str(jv_at(pod, "status", "phase"), S(""));

    if (!str_eq(phase, S("Succeeded")) && !str_eq(phase, S("Failed")))
        return false;
    err_set(e, ERR_CONFLICT, "pod %" PRI_STR " has ended: its phase is %" PRI_STR, STR_ARG(p->name),
            STR_ARG(phase));
    return true;
}

/* Whether that settles it; then p may be gone. */
static bool judge(struct exec_pod *p, jv pod)
{
    struct err e = { 0 };

    loop_timer_stop(TAKE(p->absent));
    p->last = (struct err){ 0 };
    if (has_ended(p, pod, &e)) {
        give(p, JV_ABSENT, &e);
        return true;
    }
    if (!meta_condition_is(pod, S("Ready"), S("True")) || meta_being_deleted(pod))
        return false;
    give(p, pod, NULL);
    return true;
}

static void look_again(struct exec_pod *p, int64_t ms)
{
    if (!p->again)
        p->again = loop_timer_start(p->loop, ms, 0, look, p);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct exec_pod *p = ctx;

    if (type == KUBE_DELETED)
        is_absent(p);
    else if (type != KUBE_BOOKMARK && str_eq(meta_name(obj), p->name))
        judge(p, obj);
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    struct exec_pod *p = ctx;

    p->call = NULL;
    look_again(p, retry_after_ms > AGAIN_MS ? retry_after_ms : e ? AGAIN_MS : 0);
}

static void on_list(void *ctx, const struct kube_answer *ans)
{
    struct exec_pod *p = ctx;
    struct kube_watcher w = { .on_event = on_event, .on_end = on_end, .ctx = p };
    struct kube_request r = { .verb = KUBE_WATCH, .res = &pods, .ns = p->ns };

    p->call = NULL;
    if (ans->err.code != ERR_OK) { /* rights may come late, too */
        p->last = ans->err;
        is_absent(p);
        look_again(p, ans->retry_after_ms > AGAIN_MS ? ans->retry_after_ms : AGAIN_MS);
        return;
    }
    jv found = jv_index(jv_at(ans->obj, "items"), 0);
    if (jv_exists(found) && judge(p, found))
        return;
    if (!jv_exists(found)) {
        p->last = (struct err){ 0 };
        is_absent(p);
    }
    AUTO(arena) struct arena *a = arena_new();
    r.fields = arena_printf(a, "metadata.name=%" PRI_STR, STR_ARG(p->name));
    r.version = meta_resource_version(ans->obj);
    p->call = kube_watch(p->api, &r, &w);
}

static void look(void *arg)
{
    struct exec_pod *p = arg;
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_LIST, .res = &pods, .ns = p->ns };

    loop_timer_stop(TAKE(p->again));
    r.fields = arena_printf(a, "metadata.name=%" PRI_STR, STR_ARG(p->name));
    p->call = kube_send(p->api, &r, on_list, p);
}

static void on_got(void *ctx, const struct kube_answer *ans)
{
    struct exec_pod *p = ctx;
    struct err e = ans->err;

    p->call = NULL;
    if (e.code == ERR_OK)
        has_ended(p, ans->obj, &e);
    give(p, e.code == ERR_OK ? ans->obj : JV_ABSENT, e.code == ERR_OK ? NULL : &e);
}

struct exec_pod *exec_pod_find(struct loop *l, struct kube_api *api, const struct exec_wanted *w,
                               void (*done)(void *ctx, jv pod, const struct err *e), void *ctx)
{
    struct exec_pod *p = mem_new(sizeof(*p));

    *p = (struct exec_pod){ .loop = l, .api = api, .a = arena_new(), .done = done, .ctx = ctx };
    p->ns = arena_str(p->a, w->ns);
    p->name = arena_str(p->a, w->name);
    p->absent_ms = w->absent_ms;
    if (w->ready) {
        look(p);
    } else {
        struct kube_request r = { .verb = KUBE_GET, .res = &pods, .ns = p->ns, .name = p->name };
        p->call = kube_send(api, &r, on_got, p);
    }
    return p;
}
