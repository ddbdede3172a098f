/* Asks the cluster whether we may write what we will have to (a SelfSubjectAccessReview for each
 * verb and resource), so that a right that is missing is told at the start and not when the first
 * job needs it. Lists and watches are not asked for: they find out by themselves. Single objects
 * are read when a name turns out to be taken. Asks again until all is granted. */

#include "app/operator_internal.h"

#include "base/mem.h"
#include "job/gang.h"
#include "loop/log.h"

#include <stdio.h>

enum { ASK_AGAIN_MS = 5000, RIGHTS_MAX = 96 };

static const struct kube_resource reviews = { "authorization.k8s.io", "v1",
                                              "selfsubjectaccessreviews", "SelfSubjectAccessReview",
                                              true };

struct right {
    struct access *x;
    char verb[16];
    const struct kube_resource *res;
    const char *sub;
    struct kube_call *call;
    bool settled; /* granted, or there is no telling */
    bool told;    /* that it is missing */
};

struct access {
    struct loop *loop;
    struct kube_api *api;
    const char *ns;
    struct right rights[RIGHTS_MAX];
    size_t n;
    size_t under_way;
    struct loop_timer *again;
    char trouble[200];
};

static void right_name(const struct right *r, char *out, size_t n)
{
    snprintf(out, n, "%s%s%s%s%s", r->res->plural, *r->sub ? "/" : "", r->sub,
             *r->res->group ? "." : "", r->res->group);
}

static void ask_all(void *arg);

static void sum_up(struct access *x)
{
    x->trouble[0] = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct right *r = &x->rights[i];
        char name[128];
        if (r->settled)
            continue;
        right_name(r, name, sizeof(name));
        snprintf(x->trouble, sizeof(x->trouble), "%s %s %s",
                 r->told ? "may not" : "cannot find out yet whether the operator may", r->verb,
                 name);
        x->again = loop_timer_start(x->loop, ASK_AGAIN_MS, 0, ask_all, x);
        return;
    }
}

static void on_review(void *ctx, const struct kube_answer *ans)
{
    struct right *r = ctx;
    struct access *x = r->x;
    char name[128];

    right_name(r, name, sizeof(name));
    r->call = NULL;
    if (ans->err.code == ERR_OK) {
        r->settled = jv_bool(jv_at(ans->obj, "status", "allowed"), false);
        if (r->settled && r->told)
            log_info("permission granted", KVZ("verb", r->verb), KVZ("resource", name));
        if (!r->settled && !r->told)
            log_warn("permission missing, checking again", KVZ("verb", r->verb),
                     KVZ("resource", name), KVZ("namespace", *x->ns ? x->ns : "(all)"),
                     KVI("retry_ms", ASK_AGAIN_MS));
        r->told = !r->settled;
    } else if (ans->status == 403 || ans->status == 404 || ans->status == 405) {
        log_debug("cannot ask for permissions", KVZ("error", ans->err.msg));
        r->settled = true;
    }
    if (--x->under_way == 0)
        sum_up(x);
}

static void ask(struct right *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct access *x = r->x;
    struct kube_request q = { .verb = KUBE_CREATE, .res = &reviews };
    jv on =
        jobj(a, { "verb", jstr(a, str_of(r->verb)) }, { "group", jstr(a, str_of(r->res->group)) },
             { "resource", jstr(a, str_of(r->res->plural)) },
             { "subresource", *r->sub ? jstr(a, str_of(r->sub)) : JV_ABSENT },
             { "namespace", *x->ns ? jstr(a, str_of(x->ns)) : JV_ABSENT });

    q.body = jobj(a, { "apiVersion", jstrz(a, "authorization.k8s.io/v1") },
                  { "kind", jstrz(a, "SelfSubjectAccessReview") },
                  { "spec", jobj(a, { "resourceAttributes", on }) });
    x->under_way++;
    r->call = kube_send(x->api, &q, on_review, r);
}

static void ask_all(void *arg)
{
    struct access *x = arg;

    loop_timer_stop(TAKE(x->again));
    for (size_t i = 0; i < x->n; i++)
        if (!x->rights[i].settled)
            ask(&x->rights[i]);
}

/* verbs: in one string, with a space between them. */
static void need(struct access *x, const struct kube_resource *res, const char *sub,
                 const char *verbs)
{
    for (str rest = str_of(verbs); rest.p && x->n < RIGHTS_MAX;) {
        struct right *r = &x->rights[x->n++];
        str verb = str_cut(&rest, ' ');
        *r = (struct right){ .x = x, .res = res, .sub = sub };
        snprintf(r->verb, sizeof(r->verb), "%" PRI_STR, STR_ARG(verb));
    }
}

struct access *access_start(struct loop *l, struct kube_api *api,
                            const struct operator_flags *flags)
{
    struct access *x = mem_new(sizeof(*x));

    *x = (struct access){ .loop = l, .api = api, .ns = flags->ns };
    for (size_t i = 0; i < flags->n_kinds; i++) {
        need(x, flags->kinds[i]->res, "", "get patch delete");
        need(x, flags->kinds[i]->res, "status", "patch");
        for (const struct planner_owned *o = flags->kinds[i]->owned; o && o->res; o++)
            need(x, o->res, "", o->verbs);
        for (const struct planner_grant *g = flags->kinds[i]->grants; g && g->res; g++)
            need(x, g->res, g->sub, g->verbs);
    }
    for (const struct planner_needed *n = gang_needed(flags->settings.gang); n && n->res; n++)
        if (n->verbs)
            need(x, n->res, "", n->verbs);
    need(x, &kube_pods, "", "get create delete");
    need(x, &kube_services, "", "get create delete patch");
    need(x, &kube_events, "", "create");
    snprintf(x->trouble, sizeof(x->trouble), "permissions are being asked for");
    ask_all(x);
    return x;
}

void access_free(struct access *x)
{
    if (!x)
        return;
    loop_timer_stop(x->again);
    for (size_t i = 0; i < x->n; i++)
        if (x->rights[i].call)
            kube_cancel(x->api, x->rights[i].call);
    free(x);
}

const char *access_trouble(const struct access *x)
{
    return x->trouble[0] ? x->trouble : NULL;
}
