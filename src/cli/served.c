/* Discovery in its aggregated form: two requests tell of everything. */

#include "cli/served.h"

#include "base/nearest.h"
#include "cli/jobs.h"

#define DISCOVERY(v) "application/json;g=apidiscovery.k8s.io;v=" v ";as=APIGroupDiscoveryList"

static const struct served_resource *add(struct session *s, str group, str version, jv r)
{
    struct served_resource *f = ARENA_NEW(s->a, struct served_resource);
    str kind = jv_str(jv_at(r, "responseKind", "kind"), STR_NONE);

    f->res = (struct kube_resource){
        .group = arena_z(s->a, group),
        .version = arena_z(s->a, version),
        .plural = arena_z(s->a, jv_str(jv_at(r, "resource"), STR_NONE)),
        .kind = arena_z(s->a, kind),
        .cluster_wide = str_eqz(jv_str(jv_at(r, "scope"), STR_NONE), "Cluster"),
    };
    f->singular = jv_str(jv_at(r, "singularResource"), STR_NONE);
    return f;
}

static bool has_text(jv list, str word)
{
    JV_EACH (it, list)
        if (str_eq(jv_str(it.value, STR_NONE), word))
            return true;
    return false;
}

struct wish {
    str name;
    str rest; /* after the first dot: "apps", "v1.apps"; empty: any group */
    str kind; /* not empty: by kind, group and version instead */
    str group;
    str version;
};

static bool is_meant(const struct wish *w, str group, str version, jv r)
{
    str plural = jv_str(jv_at(r, "resource"), STR_NONE);
    str singular = jv_str(jv_at(r, "singularResource"), STR_NONE);
    str kind = jv_str(jv_at(r, "responseKind", "kind"), STR_NONE);

    if (w->kind.n)
        return str_eq(w->kind, kind) && str_eq(w->group, group) && str_eq(w->version, version);
    if (!str_eq_nocase(w->name, plural) && !(singular.n && str_eq_nocase(w->name, singular)) &&
        !str_eq_nocase(w->name, kind) && !has_text(jv_at(r, "shortNames"), w->name))
        return false;
    if (!w->rest.n || str_eq(w->rest, group))
        return true;
    return w->rest.n == version.n + 1 + group.n && str_starts(w->rest, version) &&
           w->rest.p[version.n] == '.' && str_ends(w->rest, group);
}

static const struct served_resource *search(struct session *s, jv list, const struct wish *w)
{
    JV_EACH (g, jv_at(list, "items")) {
        str group = meta_name(g.value);
        JV_EACH (v, jv_at(g.value, "versions")) {
            str version = jv_str(jv_at(v.value, "version"), STR_NONE);
            JV_EACH (r, jv_at(v.value, "resources"))
                if (is_meant(w, group, version, r.value))
                    return add(s, group, version, r.value);
        }
    }
    return NULL;
}

static int find(struct session *s, const struct wish *w, const struct served_resource **out)
{
    static const char accept[] = DISCOVERY("v2") "," DISCOVERY("v2beta1");

    *out = NULL;
    if (!s->served[0].done) {
        s->served[0] = (struct ask){ .path = S("/api"), .req.accept = accept };
        s->served[1] = (struct ask){ .path = S("/apis"), .req.accept = accept };
        int code = session_ask(s, s->served, 2);
        if (code >= 0)
            return code;
    }
    for (size_t i = 0; i < 2; i++) {
        struct ask *q = &s->served[i];
        if (q->err.code)
            return session_fail(s, q, "discover the served resources");
        if (!str_eqz(jv_str(jv_at(q->obj, "kind"), STR_NONE), "APIGroupDiscoveryList"))
            return command_fail(EXIT_FAILED,
                                "%s is older than Kubernetes 1.26 and does not say what it serves "
                                "in a way understood here",
                                s->config.server);
        if (!*out)
            *out = search(s, q->obj, w);
    }
    return -1;
}

int served_find(struct session *s, str word, const struct served_resource **out)
{
    ptrdiff_t dot = str_find(word, '.');
    struct wish w = { .name = dot < 0 ? word : str_sub(word, 0, (size_t)dot) };

    if (dot >= 0)
        w.rest = str_sub(word, (size_t)dot + 1, word.n);
    return find(s, &w, out);
}

static void try_all(struct nearest *n, jv list)
{
    JV_EACH (g, jv_at(list, "items"))
        JV_EACH (v, jv_at(g.value, "versions"))
            JV_EACH (r, jv_at(v.value, "resources")) {
                nearest_try(n, jv_str(jv_at(r.value, "resource"), STR_NONE));
                nearest_try(n, jv_str(jv_at(r.value, "singularResource"), STR_NONE));
            }
}

str served_guess(struct session *s, str word)
{
    struct nearest n = nearest_to(word);

    for (size_t i = 0; i < 2; i++)
        try_all(&n, s->served[i].obj);
    return n.best.n ? arena_printf(s->a, "; did you mean \"%" PRI_STR "\"?", STR_ARG(n.best))
                    : STR_NONE;
}

int served_find_kind(struct session *s, str api_version, str kind,
                     const struct served_resource **out)
{
    ptrdiff_t slash = str_find(api_version, '/');
    struct wish w = { .kind = kind, .version = api_version };

    if (slash >= 0) {
        w.group = str_sub(api_version, 0, (size_t)slash);
        w.version = str_sub(api_version, (size_t)slash + 1, api_version.n);
    }
    return find(s, &w, out);
}
