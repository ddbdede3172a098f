/* The registry: built-in kinds at start, CRDs as they come and go. */

#include "api/resource.h"

#include "builtin/types/types.h"

#include <stdio.h>

static str store_name(struct arena *a, str group, str plural)
{
    return group.n ? arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(group), STR_ARG(plural))
                   : arena_str(a, plural);
}

static struct resource *resource_new(str group, str version, str kind, str plural)
{
    struct arena *a = arena_new();
    struct resource *r = ARENA_NEW(a, struct resource);

    r->a = a;
    r->refs = 1;
    r->group = arena_str(a, group);
    r->error_group = r->group;
    r->version = arena_str(a, version);
    r->kind = arena_str(a, kind);
    r->plural = arena_str(a, plural);
    r->api_version =
        group.n ? arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(group), STR_ARG(version))
                : r->version;
    r->group_resource =
        group.n ? arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(plural), STR_ARG(group))
                : r->plural;
    r->list_kind = arena_printf(a, "%" PRI_STR "List", STR_ARG(kind));
    r->key = arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR, STR_ARG(group),
                          STR_ARG(version), STR_ARG(plural));
    r->open = arena_printf(a, "{\"kind\":\"%" PRI_STR "\",\"apiVersion\":\"%" PRI_STR "\",",
                           STR_ARG(kind), STR_ARG(r->api_version));
    return r;
}

static str kind_key(struct arena *a, str group, str version, str kind)
{
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR, STR_ARG(group), STR_ARG(version),
                        STR_ARG(kind));
}

static void put(struct registry *g, struct resource *r)
{
    map_put(&g->by_path, r->key, r);
    map_put(&g->by_kind, kind_key(r->a, r->group, r->version, r->kind), r);
    g->changes++;
}

static void add_builtin(struct registry *g, const struct builtin_kind *k)
{
    struct resource *r =
        resource_new(str_of(k->group), str_of(k->version), str_of(k->kind), str_of(k->plural));

    r->builtin = k;
    r->schema = k->schema;
    r->singular = str_of(k->singular);
    r->namespaced = k->flags & KIND_NAMESPACED;
    r->has_status = k->flags & KIND_STATUS;
    r->has_scale = k->flags & KIND_SCALE;
    if (k->conversion) {
        const struct kind_conversion *to = k->conversion;
        r->stored_as = builtin_find(str_of(to->group), str_of(to->version), str_of(to->plural));
        r->error_group = str_of(to->group);
    }
    r->raw = !k->conversion;
    if (!(k->flags & (KIND_REVIEW | KIND_MEASURED)))
        r->coll = store_coll(g->store, store_name(r->a, r->error_group, r->plural));
    put(g, r);
}

void registry_init(struct registry *g, struct store *s)
{
    *g = (struct registry){ .store = s };
    for (size_t i = 0; i < builtin_kinds_n; i++)
        add_builtin(g, &builtin_kinds[i]);
}

void registry_add_metrics(struct registry *g)
{
    for (size_t i = 0; i < METRICS_KINDS; i++)
        add_builtin(g, &metrics_kinds[i]);
}

void registry_group_pods(struct registry *g)
{
    registry_find(g, STR_NONE, S("v1"), S("pods"))->schema = &core_PodOfGroups;
}

bool resource_is_measured(const struct resource *r)
{
    return r->builtin && (r->builtin->flags & KIND_MEASURED);
}

struct resource *resource_ref(struct resource *r)
{
    r->refs++;
    return r;
}

void resource_unref(struct resource *r)
{
    if (!r || --r->refs)
        return;
    crd_unref(r->crd);
    definition_unref(r->definition);
    arena_free(r->a);
}

bool resource_is_one_of(const struct resource *r, const char *const *names)
{
    for (; *names; names++)
        if (r->builtin && str_eqz(r->group_resource, *names))
            return true;
    return false;
}

void registry_done(struct registry *g)
{
    MAP_EACH (s, &g->by_path)
        resource_unref(s->value);
    map_done(&g->by_path);
    map_done(&g->by_kind);
}

static struct resource *find(const struct map *m, str group, str version, str last)
{
    char key[1024];
    size_t n = group.n + version.n + last.n + 2;

    if (n > sizeof(key))
        return NULL;
    char *p = key;
    p = mempcpy(p, group.n ? group.p : "", group.n);
    *p++ = '/';
    p = mempcpy(p, version.n ? version.p : "", version.n);
    *p++ = '/';
    mempcpy(p, last.n ? last.p : "", last.n);
    return map_get(m, (str){ key, n });
}

struct resource *registry_find(struct registry *g, str group, str version, str plural)
{
    return find(&g->by_path, group, version, plural);
}

static struct resource *registry_find_kind(struct registry *g, str group, str version, str kind)
{
    return find(&g->by_kind, group, version, kind);
}

struct resource *registry_find_owner(struct registry *g, str api_version, str kind)
{
    str rest = api_version;
    str first = str_cut(&rest, '/');

    return rest.p ? registry_find_kind(g, first, rest, kind)
                  : registry_find_kind(g, STR_NONE, first, kind);
}

bool registry_is_builtin_group(str group)
{
    for (size_t i = 0; i < builtin_kinds_n; i++)
        if (str_eqz(group, builtin_kinds[i].group))
            return true;
    return false;
}

bool registry_has_group(struct registry *g, str group, str version)
{
    MAP_EACH (s, &g->by_path) {
        const struct resource *r = s->value;
        if (str_eq(r->group, group) && (!version.n || str_eq(r->version, version)))
            return true;
    }
    return false;
}

struct resource *registry_of_coll(struct registry *g, const struct store_coll *c)
{
    struct resource *found = NULL;

    MAP_EACH (s, &g->by_path) {
        struct resource *r = s->value;
        if (r->coll == c && !r->stored_as)
            found = !found || (r->crdv && r->crdv->storage) ? r : found;
    }
    return found;
}

static void add_crd_version(struct registry *g, struct crd *crd, const struct crd_version *v,
                            struct definition *d, bool changed)
{
    struct resource *r = resource_new(crd->group, v->name, crd->kind, crd->plural);

    r->crd = crd_ref(crd);
    r->crdv = v;
    r->definition = definition_ref(d);
    r->singular = crd->singular;
    r->list_kind = crd->list_kind;
    r->namespaced = crd->namespaced;
    r->has_status = v->has_status;
    r->has_scale = v->scale.on;
    r->coll = store_coll(g->store, store_name(r->a, crd->group, crd->plural));
    r->raw = crd->n_versions == 1 && !changed;
    r->open = arena_printf(r->a, "{\"apiVersion\":\"%" PRI_STR "\",\"kind\":\"%" PRI_STR "\",",
                           STR_ARG(r->api_version), STR_ARG(r->kind));
    r->stamp = g->changes + 1;
    put(g, r);
}

void registry_set_crd(struct registry *g, str group, str plural, struct crd *crd,
                      struct value *stored, bool changed)
{
    struct definition *d = crd ? definition_new(stored) : NULL;

    MAP_EACH (s, &g->by_path) {
        struct resource *r = s->value;
        if (!r->crd || !str_eq(r->group, group) || !str_eq(r->plural, plural))
            continue;
        map_remove(&g->by_kind, kind_key(r->a, r->group, r->version, r->kind));
        map_remove(&g->by_path, r->key);
        resource_unref(r);
        g->changes++;
    }
    for (size_t i = 0; crd && i < crd->n_versions; i++)
        if (crd->versions[i].served)
            add_crd_version(g, crd, &crd->versions[i], d, changed);
    definition_unref(d);
}

const struct crd_version *resource_rules(const struct resource *r)
{
    return crd_version_find(definition_crd(r->definition), r->version);
}

const struct schema *resource_schema(const struct resource *r)
{
    return r->crdv ? resource_rules(r)->schema : r->schema;
}

str resource_key(struct arena *a, const struct resource *r, str ns, str name)
{
    return r->namespaced ? arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(ns), STR_ARG(name))
                         : name;
}

/* In the shape of the schema: what Go leaves out when it is empty is out, all else is there. */
static jv shaped(struct arena *a, const struct schema *schema, jv obj)
{
    jv full = schema_decode(a, schema, obj, NULL, NULL);

    return jv_exists(full) ? full : obj;
}

static void unref_blob(void *b)
{
    blob_unref(b);
}

jv resource_parse(struct arena *a, const struct resource *r, struct blob *stored)
{
    jv v = json_parse(a, blob_str(stored), NULL, NULL);

    if (!jv_is(v, JV_OBJ))
        return JV_ABSENT;
    arena_defer(a, unref_blob, blob_ref(stored));
    if (r->stored_as)
        v = shaped(a, r->schema, r->builtin->conversion->from_stored(a, v));
    struct jbuild b = jb_obj(a);
    jb_add(&b, r->builtin ? S("kind") : S("apiVersion"),
           jstr(a, r->builtin ? r->kind : r->api_version));
    jb_add(&b, r->builtin ? S("apiVersion") : S("kind"),
           jstr(a, r->builtin ? r->api_version : r->kind));
    JV_EACH (it, v)
        jb_add(&b, it.key, it.value);
    v = jb_done(&b);
    if (r->crdv && !r->raw) {
        /* defaults are those of the stored version: other versions show them as far as they can */
        const struct crd_version *stored_as = definition_crd(r->definition)->storage;
        v = crd_default(a, stored_as, crd_prune(a, stored_as, v, NULL, NULL));
        if (!r->crdv->storage)
            v = crd_prune(a, resource_rules(r), v, NULL, NULL);
    }
    return v;
}

jv resource_parse_value(struct arena *a, const struct resource *r, const struct value *stored)
{
    AUTO(blob) struct blob *b = value_blob(stored);

    return resource_parse(a, r, b);
}

/* A member of an object that is being printed. */
static void print_key(struct buf *b, str key)
{
    if (b->n && b->p[b->n - 1] != '{')
        buf_addc(b, ',');
    json_print_str(b, key);
    buf_addc(b, ':');
}

static void print_meta(struct encoding *out, jv meta)
{
    struct buf *b = &out->text;

    buf_addc(b, '{');
    JV_EACH (it, meta) {
        print_key(b, it.key);
        if (str_eqz(it.key, "resourceVersion"))
            out->revision = b->n;
        else
            json_print(b, it.value);
    }
    if (!out->revision) {
        print_key(b, S("resourceVersion"));
        out->revision = b->n;
    }
    buf_addc(b, '}');
}

void resource_encode(struct arena *a, const struct resource *r, jv obj, struct encoding *out)
{
    if (r->stored_as)
        obj = shaped(a, r->stored_as->schema, r->builtin->conversion->to_stored(a, obj));
    if (r->crdv && !r->crdv->storage)
        obj = crd_prune(a, definition_crd(r->definition)->storage, obj, NULL, NULL);
    buf_addc(&out->text, '{');
    JV_EACH (it, obj) {
        if (str_eqz(it.key, "kind") || str_eqz(it.key, "apiVersion"))
            continue;
        print_key(&out->text, it.key);
        if (str_eqz(it.key, "metadata"))
            print_meta(out, it.value);
        else
            json_print(&out->text, it.value);
    }
    buf_addc(&out->text, '}');
}

struct blob *encoding_blob(const struct encoding *e, int64_t rev)
{
    char text[24], *room = NULL;
    size_t n = (size_t)snprintf(text, sizeof(text), "\"%lld\"", (long long)rev);
    struct blob *b = blob_new_room(e->text.n + n, &room);

    room = mempcpy(room, e->text.p, e->revision);
    room = mempcpy(room, text, n);
    memcpy(room, e->text.p + e->revision, e->text.n - e->revision);
    return b;
}
