/* From a definition to its compiled form. */

#include "crd/rules.h"
#include "kube/version.h"

#include <stdatomic.h>

struct owned { /* what crd_compile allocates */
    struct crd crd;
    atomic_uint refs;
    struct arena *arena;
};

static str text_at(jv obj, const char *key)
{
    return jv_str(jv_get(obj, str_of(key)), S(""));
}

static const str *texts(struct arena *a, jv list, size_t *n)
{
    str *out = ARENA_ARRAY(a, str, jv_len(list));

    *n = 0;
    JV_EACH (it, list)
        out[(*n)++] = jv_str(it.value, S(""));
    return out;
}

/* ".spec.replicas" to its steps. */
static const char *const *steps(struct arena *a, str path)
{
    const char **out = ARENA_ARRAY(a, const char *, path.n + 2);
    size_t n = 0;

    if (!path.n)
        return NULL;
    if (path.p[0] == '.')
        path = path.n > 1 ? str_sub(path, 1, path.n) : S("");
    while (path.p)
        out[n++] = arena_z(a, str_cut(&path, '.'));
    return out;
}

static struct crd_scale scale_of(struct arena *a, jv scale)
{
    str spec = text_at(scale, "specReplicasPath");
    str status = text_at(scale, "statusReplicasPath");
    str selector = text_at(scale, "labelSelectorPath");

    if (!spec.n || !status.n)
        return (struct crd_scale){ 0 };
    return (struct crd_scale){
        .on = true,
        .spec_replicas = steps(a, spec),
        .status_replicas = steps(a, status),
        .selector = steps(a, selector),
        .spec_path = spec,
        .status_path = status,
        .selector_path = selector,
    };
}

static const str *selectable_of(struct arena *a, jv list, size_t *n)
{
    str *out = ARENA_ARRAY(a, str, jv_len(list));

    *n = 0;
    JV_EACH (it, list) {
        str path = text_at(it.value, "jsonPath");
        out[(*n)++] = path.n && path.p[0] == '.' ? str_sub(path, 1, path.n) : path;
    }
    return out;
}

/* The version to use instead of a deprecated one; empty: there is none that is newer. */
static str successor_of(jv versions, str deprecated)
{
    str best = deprecated;

    JV_EACH (it, versions) {
        str name = text_at(it.value, "name");
        if (jv_bool(jv_at(it.value, "served"), false) &&
            !jv_bool(jv_at(it.value, "deprecated"), false) && version_compare(name, best) < 0)
            best = name;
    }
    return str_eq(best, deprecated) ? STR_NONE : best;
}

static str warning_of(struct arena *a, const struct crd *c, jv versions, jv version)
{
    str name = text_at(version, "name");

    if (!jv_bool(jv_at(version, "deprecated"), false))
        return STR_NONE;
    if (jv_is(jv_at(version, "deprecationWarning"), JV_STR))
        return text_at(version, "deprecationWarning");
    str said = arena_printf(a, "%" PRI_STR "/%" PRI_STR " %" PRI_STR " is deprecated",
                            STR_ARG(c->group), STR_ARG(name), STR_ARG(c->kind));
    str next = successor_of(versions, name);
    return next.n ? arena_printf(a, "%" PRI_STR "; use %" PRI_STR "/%" PRI_STR " %" PRI_STR,
                                 STR_ARG(said), STR_ARG(c->group), STR_ARG(next), STR_ARG(c->kind))
                  : said;
}

static void version_init(struct arena *a, struct crd_version *v, const struct crd *c, jv json)
{
    jv sub = jv_at(json, "subresources");

    v->crd = c;
    v->name = text_at(json, "name");
    v->api_version = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(c->group), STR_ARG(v->name));
    v->served = jv_bool(jv_at(json, "served"), false);
    v->storage = jv_bool(jv_at(json, "storage"), false);
    v->deprecated = jv_bool(jv_at(json, "deprecated"), false);
    v->has_status = !jv_is_null(jv_at(sub, "status"));
    v->scale = scale_of(a, jv_at(sub, "scale"));
    v->selectable = selectable_of(a, jv_at(json, "selectableFields"), &v->n_selectable);
    v->columns = columns_of(a, jv_at(json, "additionalPrinterColumns"), &v->n_columns);
}

static void version_compile(struct arena *a, struct crd_version *v, jv json,
                            const struct schema *object_meta)
{
    v->schema_json = jv_at(json, "schema", "openAPIV3Schema");
    v->schema = schema_build(a, v->schema_json, object_meta);
    v->has_cel = (v->schema->rules->below & BELOW_CEL) != 0;
}

static bool is_established(jv crd)
{
    JV_EACH (it, jv_at(crd, "status", "conditions"))
        if (str_eq(text_at(it.value, "type"), S("Established")))
            return str_eq(text_at(it.value, "status"), S("True"));
    return false;
}

/* The names it is served under: those that were accepted, or, while it has none, those it asks for.
 */
static void names_init(struct arena *a, struct crd *c, jv crd)
{
    jv accepted = jv_at(crd, "status", "acceptedNames");
    jv names = text_at(accepted, "plural").n ? accepted : jv_at(crd, "spec", "names");

    c->plural = text_at(names, "plural");
    c->singular = text_at(names, "singular");
    c->kind = text_at(names, "kind");
    c->list_kind = text_at(names, "listKind");
    c->short_names = texts(a, jv_at(names, "shortNames"), &c->n_short_names);
    c->categories = texts(a, jv_at(names, "categories"), &c->n_categories);
}

/* copy: of the definition, in a, which it takes. versions: room for each of its versions. */
static struct crd *build(struct arena *a, jv copy, struct crd_version *at, struct err *e)
{
    struct owned *o = ARENA_NEW(a, struct owned);
    struct crd *c = &o->crd;
    jv versions = jv_at(copy, "spec", "versions");

    atomic_init(&o->refs, 1);
    o->arena = a;
    c->name = jv_str(jv_at(copy, "metadata", "name"), S(""));
    c->group = jv_str(jv_at(copy, "spec", "group"), S(""));
    c->namespaced = str_eq(jv_str(jv_at(copy, "spec", "scope"), S("")), S("Namespaced"));
    c->established = is_established(copy);
    names_init(a, c, copy);
    JV_EACH (it, versions) {
        struct crd_version *v = &at[c->n_versions++];
        version_init(a, v, c, it.value);
        v->warning = warning_of(a, c, versions, it.value);
        if (v->storage)
            c->storage = v;
    }
    c->versions = at;
    if (!c->storage) {
        err_set(e, ERR_INVALID, "CustomResourceDefinition %" PRI_STR " has no storage version",
                STR_ARG(c->name));
        arena_free(a);
        return NULL;
    }
    return c;
}

static struct crd_version *room_for(struct arena *a, jv definition)
{
    return ARENA_ARRAY(a, struct crd_version, jv_len(jv_at(definition, "spec", "versions")));
}

struct crd *crd_compile(jv crd, const struct schema *object_meta, struct err *e)
{
    struct arena *a = arena_new();
    jv copy = jv_copy(a, crd);
    struct crd_version *at = room_for(a, copy);
    struct crd *c = build(a, copy, at, e);

    if (!c)
        return NULL; /* and the copy is gone */
    JV_EACH (it, jv_at(copy, "spec", "versions"))
        version_compile(a, &at[it.i - 1], it.value, object_meta);
    return c;
}

struct crd *crd_outline(jv crd, struct err *e)
{
    struct arena *a = arena_new();
    AUTO(arena) struct arena *tmp = arena_new();
    struct jbuild versions = jb_arr(tmp);

    JV_EACH (it, jv_at(crd, "spec", "versions"))
        jb_push(&versions, jv_without(tmp, it.value, "schema"));
    jv copy = jv_copy(a, jv_with(tmp, crd, jb_done(&versions), "spec", "versions"));
    return build(a, copy, room_for(a, copy), e);
}

struct crd *crd_ref(struct crd *c)
{
    if (c)
        atomic_fetch_add_explicit(&((struct owned *)c)->refs, 1, memory_order_relaxed);
    return c;
}

void crd_unref(struct crd *c)
{
    struct owned *o = (struct owned *)c;

    if (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1)
        arena_free(o->arena);
}

const struct crd_version *crd_version_find(const struct crd *c, str name)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_eq(c->versions[i].name, name))
            return &c->versions[i];
    return NULL;
}
