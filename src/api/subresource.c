/* Subresources by name. What a node runtime has to answer is 501 until there is one. */

#include "api/subresource.h"

#include "api/auth/tokens.h"

static const struct kind_sub *find(const struct resource *res, str sub)
{
    for (const struct kind_sub *s = res->builtin ? res->builtin->subs : NULL; s && s->name; s++)
        if (str_eqz(sub, s->name))
            return s;
    return NULL;
}

bool subresource_exists(const struct resource *res, str sub)
{
    if (res->crdv)
        return (str_eqz(sub, "status") && res->has_status) ||
               (str_eqz(sub, "scale") && res->has_scale);
    return find(res, sub) != NULL;
}

static bool allows(const struct resource *res, str sub, str verb)
{
    const struct kind_sub *s = find(res, sub);
    str verbs = s ? str_of(s->verbs) : S("get,patch,update");

    while (verbs.p)
        if (str_eq(str_trim(str_cut(&verbs, ',')), verb))
            return true;
    return false;
}

static void run_object(struct api_req *r)
{
    run_verb(r); /* update and patch look at r->sub themselves */
}

/* 501 with the reason, of an object that is there. */
static void refuse(struct api_req *r, const char *why)
{
    struct store_obj *o = store_get(r->res->coll, resource_key(r->a, r->res, r->ns, r->name));

    if (!o)
        fail_not_found(r, r->res, r->name);
    else
        fail_code(r, ERR_NOT_IMPLEMENTED, "%" PRI_STR "/%" PRI_STR " %s", STR_ARG(r->res->plural),
                  STR_ARG(r->sub), why);
}

void subresource_no_runtime(struct api_req *r)
{
    refuse(r, "needs a node that runs pods, and this server has none");
}

/* Its name is [SCHEME:]NAME[:PORT]. */
static void proxy_run(struct api_req *r)
{
    str rest = r->name, part = str_cut(&rest, ':'), next = rest.p ? str_cut(&rest, ':') : STR_NONE;

    r->name = rest.p ? next : part;
    refuse(r, "is not served here; pods/portforward is");
}

static void resize_run(struct api_req *r)
{
    if (r->api->o.pods &&
        r->verb != VERB_GET) /* a status that says it was done would not be true */
        refuse(r, "is not served here: containers keep the resources they began with");
    else
        run_object(r);
}

static void exec_run(struct api_req *r)
{
    pod_when_found(r, pod_exec_run);
}

static void forward_run(struct api_req *r)
{
    pod_when_found(r, pod_forward_run);
}

void subresource_run(struct api_req *r)
{
    static const struct {
        const char *sub;
        void (*run)(struct api_req *r);
    } rows[] = {
        { "status", run_object },
        { "ephemeralcontainers", run_object },
        { "resize", resize_run },
        { "finalize", run_object },
        { "scale", scale_run },
        { "binding", pod_binding_run },
        { "eviction", pod_eviction_run },
        { "log", pod_log_run },
        { "exec", exec_run },
        { "attach", exec_run },
        { "portforward", forward_run },
        { "proxy", proxy_run },
        { "token", token_request_run },
    };

    if (!allows(r->res, r->sub, str_of(verb_name(r->verb)))) {
        fail_method(r);
        return;
    }
    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz(r->sub, rows[i].sub)) {
            rows[i].run(r);
            return;
        }
    fail_unknown_resource(r);
}
