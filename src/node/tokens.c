/* Tokens of a pod's service account, for its projected volumes: asked of the API, bound to the pod,
 * and asked for anew when most of their time is over. */

#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"
#include "node/internal.h"

enum { DEFAULT_S = 3600, RETRY_MS = 1000, RETRY_MAX_MS = 60 * 1000, LEAST_MS = 60 * 1000 };

static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount",
                                               false };

struct pod_token {
    struct pod_token *next;
    struct pod *pod;
    char *audience; /* empty: the API's own */
    int64_t seconds;
    struct buf text; /* empty: not had yet */
    struct kube_call *call;
    struct loop_timer *again;
    unsigned failures;
};

static void ask(struct pod_token *t);

static void on_again(void *arg)
{
    struct pod_token *t = arg;

    loop_timer_stop(TAKE(t->again));
    ask(t);
}

static void ask_later(struct pod_token *t, int64_t ms)
{
    t->again = loop_timer_start(t->pod->n->o.loop, ms, 0, on_again, t);
}

static void failed(struct pod_token *t, const struct kube_answer *ans)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t wait = (int64_t)RETRY_MS << (t->failures < 6 ? t->failures : 6);
    str why = ans->message.n ? ans->message : str_of(ans->err.msg);

    if (t->failures++ == 0 && !t->text.n)
        pod_event(t->pod, true, "FailedMount", STR_NONE,
                  arena_printf(a, "failed to fetch token: %" PRI_STR, STR_ARG(why)));
    ask_later(t, wait < RETRY_MAX_MS ? wait : RETRY_MAX_MS);
}

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct pod_token *t = ctx;
    struct pod *p = t->pod;
    jv status = jv_at(ans->obj, "status");
    str token = jv_str(jv_at(status, "token"), STR_NONE);
    int64_t until_us = 0;

    t->call = NULL;
    if (ans->err.code || !token.n) {
        failed(t, ans);
        return;
    }
    bool first = !t->text.n;
    t->failures = 0;
    buf_clear(&t->text);
    buf_add(&t->text, token);
    int64_t left = t->seconds * 1000;
    if (time_parse(jv_str(jv_at(status, "expirationTimestamp"), STR_NONE), &until_us, NULL) == 0)
        left = until_us / 1000 - node_now(p->n);
    ask_later(t, left * 8 / 10 > LEAST_MS ? left * 8 / 10 : LEAST_MS);
    if (p->volumes || p->life->box == LIFE_BOX_UP)
        pod_refresh_volumes(p, false);
    if (first)        /* also a container of a pod from before our time, which needs it to start */
        pod_retry(p); /* may free it, and so us */
}

static void ask(struct pod_token *t)
{
    AUTO(arena) struct arena *a = arena_new();
    jv pod = jdoc_root(t->pod->doc);
    str audience = str_of(t->audience);
    jv ref = jobj(a, { "kind", jstrz(a, "Pod") }, { "apiVersion", jstrz(a, "v1") },
                  { "name", jstr(a, meta_name(pod)) }, { "uid", jstr(a, meta_uid(pod)) });
    jv spec = jobj(a, { "audiences", audience.n ? jarr(a, jstr(a, audience)) : JV_EMPTY_ARR },
                   { "expirationSeconds", jint(a, t->seconds) }, { "boundObjectRef", ref });
    struct kube_request r = {
        .verb = KUBE_CREATE,
        .res = &accounts,
        .ns = meta_namespace(pod),
        .name = jv_str(jv_at(pod, "spec", "serviceAccountName"), S("default")),
        .sub = S("token"),
        .body = jobj(a, { "kind", jstrz(a, "TokenRequest") },
                     { "apiVersion", jstrz(a, "authentication.k8s.io/v1") },
                     { "metadata", JV_EMPTY_OBJ }, { "spec", spec }),
    };

    t->call = kube_send(t->pod->n->o.api, &r, on_answer, t);
}

static struct pod_token *find(const struct pod *p, jv source)
{
    str audience = jv_str(jv_at(source, "audience"), S(""));
    int64_t seconds = jv_int(jv_at(source, "expirationSeconds"), DEFAULT_S);

    for (struct pod_token *t = p->tokens; t; t = t->next)
        if (str_eqz(audience, t->audience) && t->seconds == seconds)
            return t;
    return NULL;
}

static struct pod_token *want(struct pod *p, jv source)
{
    str audience = jv_str(jv_at(source, "audience"), S(""));
    struct pod_token *t = find(p, source);

    if (t)
        return t;
    t = mem_new(sizeof(*t));
    t->pod = p;
    t->audience = mem_or_abort(strndup(audience.p, audience.n));
    t->seconds = jv_int(jv_at(source, "expirationSeconds"), DEFAULT_S);
    t->next = p->tokens;
    p->tokens = t;
    ask(t);
    return t;
}

bool pod_tokens_are_here(struct pod *p)
{
    bool all = true;

    JV_EACH (v, jv_at(p->life->pod, "spec", "volumes"))
        JV_EACH (s, jv_at(v.value, "projected", "sources")) {
            jv source = jv_at(s.value, "serviceAccountToken");
            if (jv_is(source, JV_OBJ) && !want(p, source)->text.n)
                all = false;
        }
    return all;
}

str pod_token(void *ctx, jv source)
{
    const struct pod_token *t = find(ctx, source);

    return t ? buf_str(&t->text) : STR_NONE;
}

void pod_tokens_free(struct pod *p)
{
    while (p->tokens) {
        struct pod_token *t = p->tokens;
        p->tokens = t->next;
        if (t->call)
            kube_cancel(p->n->o.api, t->call);
        loop_timer_stop(t->again);
        buf_done(&t->text);
        free(t->audience);
        free(t);
    }
}
