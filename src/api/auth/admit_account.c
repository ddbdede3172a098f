/* The ServiceAccount plugin: a pod runs as an account that is there, and gets its token mounted. */

#include "api/admit.h"
#include "api/strategy.h"
#include "api/write.h"
#include "kube/meta.h"

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

enum { TOKEN_SECONDS = 3607 };

/* ---- the account every namespace has: made with it, or when it is first needed */

struct making {
    struct change_op op;
    struct arena *a;
    jv obj;
};

static int decide(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct making *m = op->ctx;

    (void)a;
    if (!jv_exists(live))
        *out = (struct change){ CHANGE_PUT, m->obj };
    return 0;
}

static void done(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e)
{
    struct making *m = op->ctx;

    (void)kind;
    (void)stored;
    (void)e; /* tried again with the next pod, whose token will not be had, and that is told */
    arena_free(m->a);
}

static void make_default(struct api *api, struct resource *res, str ns)
{
    struct arena *a = arena_new();
    struct making *m = ARENA_NEW(a, struct making);
    struct problems ps = { .a = a };
    struct write_ctx w = {
        .a = a, .api = api, .res = res, .manager = S("muster"), .now_ms = wall_now_ms()
    };
    jv obj = jobj(a, { "metadata", jobj(a, { "name", jstrz(a, "default") }) });

    m->a = a;
    m->obj = strategy_create(&w, strategy_fill(&w, arena_str(a, ns), obj), &ps);
    m->op = (struct change_op){ .api = api,
                                .res = res,
                                .key = resource_key(a, res, arena_str(a, ns), S("default")),
                                .decide = decide,
                                .done = done,
                                .ctx = m };
    change_start(&m->op);
}

static struct resource *accounts(struct api *api)
{
    return registry_find(&api->registry, S(""), S("v1"), S("serviceaccounts"));
}

void accounts_on_event(struct api *api, const struct store_coll *c, const struct store_event *ev)
{
    if (api->o.account_key.n && !ev->prev && str_find(ev->key, '/') < 0 &&
        c == registry_find(&api->registry, S(""), S("v1"), S("namespaces"))->coll)
        make_default(api, accounts(api), ev->key);
}

/* ---- the volume */

static jv with_mount(struct arena *a, jv container, str volume)
{
    jv mounts = jv_at(container, "volumeMounts");
    struct jbuild b = jb_arr(a);

    JV_EACH (it, mounts) {
        if (str_eqz(jv_str(jv_at(it.value, "mountPath"), STR_NONE), TOKEN_PATH))
            return container;
        jb_push(&b, it.value);
    }
    jb_push(&b, jobj(a, { "name", jstr(a, volume) }, { "readOnly", JV_TRUE },
                     { "mountPath", jstrz(a, TOKEN_PATH) }));
    return jv_with(a, container, jb_done(&b), "volumeMounts");
}

static jv volume(struct arena *a, str name)
{
    jv token =
        jobj(a, { "expirationSeconds", jint(a, TOKEN_SECONDS) }, { "path", jstrz(a, "token") });
    jv ca =
        jobj(a, { "name", jstrz(a, "kube-root-ca.crt") },
             { "items",
               jarr(a, jobj(a, { "key", jstrz(a, "ca.crt") }, { "path", jstrz(a, "ca.crt") })) });
    jv field =
        jobj(a, { "apiVersion", jstrz(a, "v1") }, { "fieldPath", jstrz(a, "metadata.namespace") });
    jv ns = jobj(
        a, { "items", jarr(a, jobj(a, { "path", jstrz(a, "namespace") }, { "fieldRef", field })) });
    jv sources = jarr(a, jobj(a, { "serviceAccountToken", token }), jobj(a, { "configMap", ca }),
                      jobj(a, { "downwardAPI", ns }));

    return jobj(a, { "name", jstr(a, name) },
                { "projected", jobj(a, { "sources", sources }, { "defaultMode", jint(a, 0644) }) });
}

static jv with_token(struct arena *a, jv pod)
{
    static const char *const lists[] = { "initContainers", "containers" };
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char dice[5];
    bool used = false;
    AUTO(buf) struct buf name = { 0 };

    random_bytes(dice, sizeof(dice));
    buf_add(&name, S("kube-api-access-"));
    for (size_t i = 0; i < sizeof(dice); i++)
        buf_addc(&name, letters[dice[i] % (sizeof(letters) - 1)]);
    str called = arena_str(a, buf_str(&name));
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct jbuild b = jb_arr(a);
        if (!jv_len(jv_at(pod, "spec", lists[i])))
            continue;
        JV_EACH (it, jv_at(pod, "spec", lists[i])) {
            jv c = with_mount(a, it.value, called);
            used = used || c.node != it.value.node;
            jb_push(&b, c);
        }
        pod = jv_with(a, pod, jb_done(&b), "spec", lists[i]);
    }
    if (!used)
        return pod;
    struct jbuild volumes = jb_arr(a);
    JV_EACH (it, jv_at(pod, "spec", "volumes"))
        jb_push(&volumes, it.value);
    jb_push(&volumes, volume(a, called));
    return jv_with(a, pod, jb_done(&volumes), "spec", "volumes");
}

int admit_account(struct api_req *r, jv *pod)
{
    struct resource *res = accounts(r->api);
    str name = jv_str(jv_at(*pod, "spec", "serviceAccountName"), STR_NONE);
    jv account = JV_ABSENT;

    if (!r->api->o.account_key.n)
        return 0;
    if (!name.n)
        name = S("default");
    struct store_obj *o = store_get(res->coll, resource_key(r->a, res, r->ns, name));
    if (o) {
        account = resource_parse_value(r->a, res, o->value);
    } else if (str_eqz(name, "default")) {
        if (!r->q.dry_run)
            make_default(r->api, res, r->ns);
    } else {
        fail_forbidden(r, meta_name(*pod),
                       "error looking up service account %" PRI_STR "/%" PRI_STR
                       ": serviceaccount \"%" PRI_STR "\" not found",
                       STR_ARG(r->ns), STR_ARG(name), STR_ARG(name));
        return -1;
    }
    *pod = jv_with(r->a, *pod, jstr(r->a, name), "spec", "serviceAccountName");
    *pod = jv_with(r->a, *pod, jstr(r->a, name), "spec", "serviceAccount");
    if (!jv_len(jv_at(*pod, "spec", "imagePullSecrets")) &&
        jv_len(jv_at(account, "imagePullSecrets")))
        *pod = jv_with(r->a, *pod, jv_at(account, "imagePullSecrets"), "spec", "imagePullSecrets");
    jv own = jv_at(*pod, "spec", "automountServiceAccountToken");
    jv theirs = jv_at(account, "automountServiceAccountToken");
    if (jv_bool(jv_is(own, JV_BOOL) ? own : theirs, true))
        *pod = with_token(r->a, *pod);
    return 0;
}
