/* Create and update as kube-apiserver's registries do them, by the rows of builtin/ and crd/. */

#include "api/strategy.h"

#include "base/limits.h"
#include "base/time.h"
#include "builtin/pod_admission.h"
#include "kube/managed.h"
#include "kube/meta.h"

enum { NAME_MAX_LEN = 63, SUFFIX_LEN = 5 };

jv time_value(struct arena *a, int64_t now_ms)
{
    return jstr(a, time_text(a, now_ms));
}

static str random_suffix(struct arena *a)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789"; /* no words, no look-alikes */
    unsigned char dice[SUFFIX_LEN];
    char text[SUFFIX_LEN];

    random_bytes(dice, sizeof(dice));
    for (size_t i = 0; i < SUFFIX_LEN; i++)
        text[i] = letters[dice[i] % (sizeof(letters) - 1)];
    return arena_str(a, (str){ text, SUFFIX_LEN });
}

static jv set_system_fields(const struct write_ctx *w, str ns, jv obj)
{
    struct arena *a = w->a;
    struct jbuild m = jb_from(a, jv_at(obj, "metadata"));
    str name = jv_str(jb_get(&m, S("name")), STR_NONE);
    str base = jv_str(jb_get(&m, S("generateName")), STR_NONE);
    char uid[37];

    random_uuid(uid);
    if (!name.n && base.n)
        jb_set(&m, S("name"),
               jstr(a, arena_cat(a, str_clip(base, NAME_MAX_LEN - SUFFIX_LEN), random_suffix(a))));
    jb_set(&m, S("namespace"), w->res->namespaced ? jstr(a, ns) : JV_ABSENT);
    jb_set(&m, S("uid"), jstr(a, arena_str(a, str_of(uid))));
    jb_set(&m, S("creationTimestamp"), time_value(a, w->now_ms));
    jb_set(&m, S("resourceVersion"), JV_ABSENT);
    jb_set(&m, S("deletionTimestamp"), JV_ABSENT);
    jb_set(&m, S("deletionGracePeriodSeconds"), JV_ABSENT);
    jb_set(&m, S("selfLink"), JV_ABSENT);
    if (w->res->crdv || (w->res->builtin->flags & KIND_GENERATION))
        jb_set(&m, S("generation"), jint(a, 1));
    return jv_with_key(a, obj, S("metadata"), jb_done(&m));
}

/* ---- subresources: how a write through one differs from one of the object itself */

struct sub_rule {
    const char *sub;
    const char *reset[2]; /* the field that such a write cannot change, and so does not own */
    /* What of obj is taken over into old; NULL: all but status. */
    jv (*narrow)(const struct write_ctx *w, jv obj, jv old);
    void (*check)(struct problems *ps, jv obj, jv old); /* instead of the kind's own */
    bool is_status; /* the kind checks it apart, and no generation is counted */
    bool is_scale;
    bool is_unprepared; /* the kind does not prepare it */
};

static jv only_status(const struct write_ctx *w, jv obj, jv old);
static jv only_ephemeral(const struct write_ctx *w, jv obj, jv old);
static jv only_resources(const struct write_ctx *w, jv obj, jv old);

static void check_resize(struct problems *ps, jv obj, jv old)
{
    (void)old;
    pod_resize_check(ps, obj);
}

static const struct sub_rule sub_rules[] = {
    { .sub = "", .reset = { "status" } },
    { .sub = "status", .reset = { "spec" }, .narrow = only_status, .is_status = true },
    { .sub = "ephemeralcontainers", .narrow = only_ephemeral, .check = pod_ephemeral_check },
    { .sub = "resize", .narrow = only_resources, .check = check_resize },
    { .sub = "scale", .is_scale = true },
    { .sub = "finalize", .is_unprepared = true },
};

static const struct sub_rule *sub_rule_of(const struct write_ctx *w)
{
    for (size_t i = 1; i < COUNT(sub_rules); i++)
        if (str_eqz(w->sub, sub_rules[i].sub))
            return &sub_rules[i];
    return &sub_rules[0];
}

struct managed_write managed_write_of(const struct write_ctx *w)
{
    static const char *const none[] = { NULL };
    const struct sub_rule *d = sub_rule_of(w);
    bool scale = d->is_scale; /* kube-apiserver loses its time */

    return (struct managed_write){ .schema = resource_schema(w->res),
                                   .kind = w->res->kind,
                                   .api_version = w->res->api_version,
                                   .manager = w->manager,
                                   .subresource = w->sub,
                                   .now_ms = scale ? 0 : w->now_ms,
                                   .reset = w->res->has_status ? d->reset : none };
}

static const char *const *count_steps(const struct resource *res)
{
    static const char *const steps[] = { "spec", "replicas", NULL };

    return res->crdv ? res->crdv->scale.spec_replicas : steps;
}

/* Whether anybody owns the number of replicas. */
static bool count_is_owned(struct arena *a, const struct resource *res, jv obj)
{
    JV_EACH (it, jv_at(obj, "metadata", "managedFields")) {
        jv at = jv_at(it.value, "fieldsV1");
        for (const char *const *s = count_steps(res); *s; s++)
            at = jv_get(at, arena_printf(a, "f:%s", *s));
        if (jv_exists(at))
            return true;
    }
    return false;
}

static jv without_scale_entries(struct arena *a, jv obj)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(obj, "metadata", "managedFields"))
        if (!str_eqz(jv_str(jv_at(it.value, "subresource"), STR_NONE), "scale"))
            jb_push(&b, it.value);
    return jv_with(a, obj, jb_done(&b), "metadata", "managedFields");
}

/* A Scale has the owners of the count alone: without any, writing it is not tracked, and of none,
 * which it does not show, nobody is the owner. */
static jv with_scale_managed(const struct write_ctx *w, const struct managed_write *m, jv obj,
                             jv old)
{
    jv count = obj;

    if (!count_is_owned(w->a, w->res, old))
        return obj;
    obj = managed_update(w->a, m, old, obj, JV_ABSENT);
    for (const char *const *s = count_steps(w->res); *s; s++)
        count = jv_get(count, str_of(*s));
    return jv_int(count, 0) ? obj : without_scale_entries(w->a, obj);
}

/* Defaults repeated in long lists. It will be refused; until then nobody is to walk through it. */
static bool is_huge(const struct write_ctx *w, jv obj)
{
    return w->res->crdv && !json_fits(obj, (size_t)2 * LIMIT_OBJECT_BYTES);
}

static jv with_managed(const struct write_ctx *w, jv obj, jv old)
{
    struct managed_write m = managed_write_of(w);

    if (!w->manager.n || w->is_apply || is_huge(w, obj))
        return obj;
    if (sub_rule_of(w)->is_scale)
        return with_scale_managed(w, &m, obj, old);
    return managed_update(w->a, &m, old, obj, w->sent_managed);
}

static bool is_crd_kind(const struct resource *res)
{
    return res->builtin && str_eqz(res->kind, "CustomResourceDefinition");
}

/* Built-in kinds want finalizers to say whose they are. */
static void check_finalizers(struct problems *ps, jv obj)
{
    static const struct path meta = { NULL, S_INIT("metadata"), -1 };

    JV_EACH (it, jv_at(obj, "metadata", "finalizers")) {
        str name = jv_str(it.value, STR_NONE);
        if (str_find(name, '/') < 0 && !str_eqz(name, "kubernetes") && !str_eqz(name, "orphan") &&
            !str_eqz(name, "foregroundDeletion"))
            problem_invalid(ps, EACH_AT(AT(&meta, "finalizers"), it), it.value,
                            "name is neither a standard finalizer name nor is it fully qualified");
    }
}

/* By its schema and by those who know what it means: who both object to a field are told in the
 * latter's words. */
static void check_custom(const struct write_ctx *w, struct problems *ps, jv obj, jv old)
{
    const struct api_opts *o = &w->api->o;
    struct problems schema = { .a = ps->a, .waived = ps->waived, .brief = ps->brief };
    size_t own = ps->n;

    for (size_t i = 0; i < o->n_checks; i++)
        if (str_eqz(w->res->group, o->checks[i].group) &&
            str_eqz(w->res->plural, o->checks[i].resource))
            o->checks[i].check(o->checks[i].ctx, ps, obj, old);
    crd_validate(&schema, resource_rules(w->res), obj, old);
    problems_join(ps, own, &schema);
    ps->cut = ps->cut || schema.cut;
}

static void check(const struct write_ctx *w, struct problems *ps, jv obj, jv old)
{
    const struct builtin_kind *k = w->res->builtin;
    const struct sub_rule *d = sub_rule_of(w);

    ps->is_update = jv_exists(old);
    if (is_huge(w, obj))
        return;
    meta_check(ps, obj, w->res->namespaced, k ? k->check_name : NULL);
    if (k)
        check_finalizers(ps, obj);
    if (jv_exists(old))
        meta_check_update(ps, obj, old);
    if (w->res->crdv) {
        if (d->is_status)
            crd_validate_status(ps, resource_rules(w->res), obj, old);
        else
            check_custom(w, ps, obj, old);
        return;
    }
    if (d->is_status) {
        if (k->validate_status)
            k->validate_status(ps, obj, old);
        return;
    }
    if (is_crd_kind(w->res)) {
        if (jv_exists(old))
            crd_definition_validate_update(ps, obj, old);
        else
            crd_definition_validate(ps, obj);
        crd_definition_check_served(ps, obj);
        return;
    }
    if (k->validate)
        k->validate(ps, obj);
    if (d->check)
        d->check(ps, obj, old);
    else if (jv_exists(old) && k->validate_update)
        k->validate_update(ps, obj, old);
}

static jv with_defaults(const struct write_ctx *w, jv obj)
{
    struct kind_ctx c = { .a = w->a, .now_ms = w->now_ms };

    if (w->res->crdv)
        return crd_default(w->a, resource_rules(w->res), obj);
    if (is_crd_kind(w->res))
        return crd_definition_defaults(w->a, obj);
    return w->res->builtin->defaults ? w->res->builtin->defaults(&c, obj) : obj;
}

/* What Go writes even when it is empty, such as status: {} or replicas: 0. */
static jv with_zero_values(const struct write_ctx *w, jv obj)
{
    jv full = w->res->builtin ? schema_decode(w->a, w->res->schema, obj, NULL, NULL) : obj;

    return jv_exists(full) ? full : obj;
}

jv strategy_fill(const struct write_ctx *w, str ns, jv obj)
{
    return with_managed(w, set_system_fields(w, ns, with_defaults(w, obj)), JV_ABSENT);
}

jv strategy_create(const struct write_ctx *w, jv obj, struct problems *ps)
{
    const struct builtin_kind *k = w->res->builtin;
    struct kind_ctx c = { .a = w->a, .now_ms = w->now_ms };

    if (w->res->has_status && (w->res->crdv || !k->prepare))
        obj = jv_without(w->a, obj, "status");
    if (is_crd_kind(w->res))
        obj = crd_definition_for_create(w->a, obj);
    else if (k && k->prepare)
        obj = k->prepare(&c, obj, JV_ABSENT);
    obj = with_zero_values(w, obj);
    check(w, ps, obj, JV_ABSENT);
    return obj;
}

/* What clients may leave out, or cannot change whatever they send. */
static jv keep_system_fields(const struct write_ctx *w, jv obj, jv old)
{
    static const str kept[] = { S_INIT("uid"),
                                S_INIT("creationTimestamp"),
                                S_INIT("generation"),
                                S_INIT("deletionTimestamp"),
                                S_INIT("deletionGracePeriodSeconds"),
                                S_INIT("resourceVersion") };
    jv before = jv_at(old, "metadata");
    struct jbuild m = jb_from(w->a, jv_at(obj, "metadata"));

    for (size_t i = 0; i < COUNT(kept); i++)
        jb_set(&m, kept[i], jv_get(before, kept[i]));
    str uid = meta_uid(obj);
    if (uid.n)
        jb_set(&m, S("uid"), jstr(w->a, uid)); /* another one is told so */
    jb_set(&m, S("selfLink"), JV_ABSENT);
    jb_set(&m, S("namespace"), jv_get(before, S("namespace")));
    return jv_with_key(w->a, obj, S("metadata"), jb_done(&m));
}

/* Through the status subresource only status changes, and of metadata what the kind allows. */
static jv only_status(const struct write_ctx *w, jv obj, jv old)
{
    struct arena *a = w->a;
    jv out = jv_with_key(a, old, S("status"), jv_at(obj, "status"));
    jv managed = jv_at(obj, "metadata", "managedFields");
    bool is_loose = w->res->builtin && !w->res->group.n &&
                    (str_eqz(w->res->plural, "pods") || str_eqz(w->res->plural, "nodes"));

    out = jv_with(a, out, managed, "metadata", "managedFields");
    if (is_loose) {
        out = jv_with(a, out, jv_at(obj, "metadata", "labels"), "metadata", "labels");
        out = jv_with(a, out, jv_at(obj, "metadata", "annotations"), "metadata", "annotations");
    }
    if (is_loose && !jv_exists(jv_at(obj, "status", "qosClass")))
        out = jv_with(a, out, jv_at(old, "status", "qosClass"), "status", "qosClass");
    return out;
}

/* Of a pod only these parts change. */
static jv only_ephemeral(const struct write_ctx *w, jv obj, jv old)
{
    jv managed = jv_at(obj, "metadata", "managedFields");
    jv out = jv_with(w->a, old, managed, "metadata", "managedFields");

    return jv_with(w->a, out, jv_at(obj, "spec", "ephemeralContainers"), "spec",
                   "ephemeralContainers");
}

static jv only_resources(const struct write_ctx *w, jv obj, jv old)
{
    struct arena *a = w->a;
    jv managed = jv_at(obj, "metadata", "managedFields");
    jv out = jv_with(a, old, managed, "metadata", "managedFields");
    struct jbuild list = jb_arr(a);
    JV_EACH (it, jv_at(old, "spec", "containers")) {
        jv now = JV_ABSENT;
        JV_EACH (n, jv_at(obj, "spec", "containers"))
            if (jv_equal(jv_at(n.value, "name"), jv_at(it.value, "name")))
                now = n.value;
        jv c = jv_with(a, it.value, jv_at(now, "resources"), "resources");
        jb_push(&list, jv_with(a, c, jv_at(now, "resizePolicy"), "resizePolicy"));
    }
    return jv_with(a, out, jb_done(&list), "spec", "containers");
}

/* Of a built-in kind the spec, or what those without one have in its place. Of a custom one
 * everything but metadata and (where it has its own door) status. */
static bool spec_changed(struct arena *a, const struct resource *res, jv obj, jv old)
{
    static const char *const counted[] = { "spec", "template", "webhooks", "endpoints", "ports" };
    jv x = jv_without(a, obj, "metadata");
    jv y = jv_without(a, old, "metadata");

    for (size_t i = 0; res->builtin && i < COUNT(counted); i++)
        if (!jv_equal_semantic(jv_get(obj, str_of(counted[i])), jv_get(old, str_of(counted[i]))))
            return true;
    if (res->builtin)
        return false;
    if (res->has_status) {
        x = jv_without(a, x, "status");
        y = jv_without(a, y, "status");
    }
    return !jv_equal(x, y);
}

static jv count_generation(const struct write_ctx *w, jv obj, jv old)
{
    int64_t now = jv_int(jv_at(old, "metadata", "generation"), 0);
    bool counts = w->res->crdv || (w->res->builtin->flags & KIND_GENERATION);

    bool annotated = w->res->builtin && (w->res->builtin->flags & KIND_ANNOTATIONS_COUNT) &&
                     !jv_equal_semantic(jv_at(obj, "metadata", "annotations"),
                                        jv_at(old, "metadata", "annotations"));

    if (!counts || !(annotated || spec_changed(w->a, w->res, obj, old)))
        return obj;
    return jv_with(w->a, obj, jint(w->a, now + 1), "metadata", "generation");
}

jv strategy_update(const struct write_ctx *w, jv obj, jv old, struct problems *ps)
{
    const struct builtin_kind *k = w->res->builtin;
    struct kind_ctx c = { .a = w->a, .now_ms = w->now_ms };
    const struct sub_rule *d = sub_rule_of(w);

    obj = keep_system_fields(w, obj, old);
    obj = with_managed(w, with_defaults(w, obj), old);
    if (d->narrow) {
        obj = d->narrow(w, obj, old);
    } else {
        if (w->res->has_status)
            obj = jv_with_key(w->a, obj, S("status"), jv_at(old, "status"));
        if (is_crd_kind(w->res))
            obj = crd_definition_for_update(w->a, obj, old);
        else if (k && k->prepare && !d->is_unprepared)
            obj = k->prepare(&c, obj, old);
    }
    if (!d->is_status)
        obj = count_generation(w, obj, old);
    obj = with_zero_values(w, obj);
    check(w, ps, obj, old);
    return managed_keep_times(w->a, old, obj);
}
