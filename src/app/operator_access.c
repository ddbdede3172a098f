/* Asks the cluster whether we may write what we will have to (a SelfSubjectAccessReview for each
 * verb and resource), so that a right that is missing is told at the start and not when the first
 * job needs it. Lists and watches are not asked for: they find out by themselves. Single objects
 * are read when a name turns out to be taken. Asks again until all is granted. */

#include "app/operator_internal.h"

#include "base/mem.h"
#include "job/rights.h"
#include "loop/log.h"

#include <stdio.h>

enum { ASK_AGAIN_MS = 5000, QUESTIONS_MAX = 96 };

static const struct kube_resource reviews = { "authorization.k8s.io", "v1",
                                              "selfsubjectaccessreviews", "SelfSubjectAccessReview",
                                              true };

struct question {
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
    struct question rights[QUESTIONS_MAX];
    size_t n;
    size_t under_way;
    struct loop_timer *again;
    char trouble[200];
};

static void right_name(const struct question *r, char *out, size_t n)
{
    snprintf(out, n, "%s%s%s%s%s", r->res->plural, *r->sub ? "/" : "", r->sub,
             *r->res->group ? "." : "", r->res->group);
}

static void ask_all(void *arg);

static void sum_up(struct access *x)
{
    x->trouble[0] = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct question *r = &x->rights[i];
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
    struct question *r = ctx;
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

static void ask(struct question *r)
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

static void need(struct access *x, const struct right *right)
{
    for (str rest = str_of(right->verbs); rest.n && x->n < QUESTIONS_MAX;) {
        struct question *q = &x->rights[x->n++];
        str verb = str_cut(&rest, ' ');
        *q = (struct question){ .x = x, .res = right->res, .sub = right->sub };
        snprintf(q->verb, sizeof(q->verb), "%" PRI_STR, STR_ARG(verb));
    }
}

struct access *access_start(struct loop *l, struct kube_api *api,
                            const struct operator_flags *flags)
{
    struct access *x = mem_new(sizeof(*x));
    struct right rights[RIGHTS_MAX];
    size_t n = rights_of(rights, flags->kinds, flags->n_kinds, flags->settings.gang);

    *x = (struct access){ .loop = l, .api = api, .ns = flags->ns };
    for (size_t i = 0; i < n; i++)
        need(x, &rights[i]);
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
