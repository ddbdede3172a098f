/* What holds a namespace that is being deleted, in the words of Kubernetes' namespace controller.
 */

#include "api/control/namespace_content.h"

#include "api/strategy.h"
#include "base/vec.h"
#include "kube/meta.h"

struct tally {
    struct {
        VEC(str);
    } parts;
    struct map counts; /* of objects, by finalizer */
    struct arena *a;
};

static void tally_object(struct tally *t, const struct value *v)
{
    jv obj = json_parse(t->a, value_text(t->a, v), NULL, NULL);

    JV_EACH (it, jv_at(obj, "metadata", "finalizers")) {
        str name = jv_str(it.value, STR_NONE);
        size_t *count = map_get(&t->counts, name);
        if (!count) {
            count = ARENA_NEW(t->a, size_t);
            *count = 0;
            map_put(&t->counts, name, count);
        }
        ++*count;
    }
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* Takes the parts, in order and with a head; empty when there are none. */
static str tally_text(struct tally *t, const char *head)
{
    AUTO(buf) struct buf b = { 0 };

    if (t->parts.n)
        qsort(t->parts.at, t->parts.n, sizeof(str), by_text);
    for (size_t i = 0; i < t->parts.n; i++)
        buf_printf(&b, "%s%" PRI_STR, i ? ", " : head, STR_ARG(t->parts.at[i]));
    t->parts.n = 0;
    return arena_str(t->a, buf_str(&b));
}

struct namespace_left namespace_left_in(struct api *api, struct arena *a, str name)
{
    struct tally t = { .a = a };
    struct namespace_left left;
    str prefix = arena_printf(a, "%" PRI_STR "/", STR_ARG(name));

    for (struct store_coll *c = NULL; (c = store_coll_next(api->store, c));) {
        struct resource *res = registry_of_coll(&api->registry, c);
        struct store_snapshot snap;
        if (!res || !res->namespaced ||
            store_snapshot(c, a, 0, prefix, STR_NONE, &snap, NULL) < 0 || !snap.n)
            continue;
        for (size_t i = 0; i < snap.n; i++)
            tally_object(&t, snap.items[i].value);
        vec_push(&t.parts, arena_printf(a, "%" PRI_STR ".%" PRI_STR " has %zu resource instances",
                                        STR_ARG(res->plural), STR_ARG(res->group), snap.n));
    }
    left.content = tally_text(&t, "Some resources are remaining: ");
    MAP_EACH (s, &t.counts)
        vec_push(&t.parts, arena_printf(a, "%" PRI_STR " in %zu resource instances",
                                        STR_ARG(s->key), *(size_t *)s->value));
    left.finalizers = tally_text(&t, "Some content in the namespace has finalizers remaining: ");
    vec_done(&t.parts);
    map_done(&t.counts);
    return left;
}

/* ---- told in the namespace's status */

struct condition {
    const char *type;
    bool holds;
    const char *reason;
    str message;
};

/* The old one while it says the same, so that nothing is written twice. */
static jv condition_value(struct arena *a, jv ns, const struct condition *c, int64_t now_ms)
{
    jv old = meta_condition(ns, str_of(c->type));
    const char *status = c->holds ? "True" : "False";

    if (str_eq(jv_str(jv_at(old, "message"), STR_NONE), c->message) &&
        str_eqz(jv_str(jv_at(old, "status"), STR_NONE), status))
        return old;
    return jobj(a, { "type", jstr(a, str_of(c->type)) }, { "status", jstr(a, str_of(status)) },
                { "lastTransitionTime", time_value(a, now_ms) },
                { "reason", jstr(a, str_of(c->reason)) }, { "message", jstr(a, c->message) });
}

jv namespace_with_conditions(struct arena *a, jv ns, const struct namespace_left *left,
                             int64_t now_ms)
{
    bool held = left->finalizers.n > 0;
    const struct condition all[] = {
        { "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
          S("All resources successfully discovered") },
        { "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
          S("All legacy kube types successfully parsed") },
        { "NamespaceDeletionContentFailure", false, "ContentDeleted",
          S("All content successfully deleted, may be waiting on finalization") },
        { "NamespaceContentRemaining", true, "SomeResourcesRemain", left->content },
        { "NamespaceFinalizersRemaining", held,
          held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
          held ? left->finalizers : S("All content-preserving finalizers finished") },
    };
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        jb_push(&b, condition_value(a, ns, &all[i], now_ms));
    return jv_with(a, ns, jb_done(&b), "status", "conditions");
}
