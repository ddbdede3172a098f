/* PersistentVolumeClaim and PersistentVolume. */

#include "base/time.h"
#include "builtin/changed_fields.h"
#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/resources.h"
#include "builtin/volume.h"

static const char *const volume_modes[] = { "Block", "Filesystem", NULL };

/* ---- claims */

static void access_modes_check(struct problems *ps, const struct path *p, jv modes)
{
    static const char *const supported[] = { "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                             "ReadWriteOncePod", NULL };
    bool pod_only = false;
    bool others = false;

    JV_EACH (it, modes) {
        bool single = str_eq(jv_str(it.value, S("")), S("ReadWriteOncePod"));
        bool fine = enum_check(ps, p, it.value, supported);
        pod_only = pod_only || single;
        others = others || (fine && !single);
    }
    if (pod_only && others)
        problem_forbidden(ps, p, "may not use ReadWriteOncePod with other access modes");
}

static void data_source_check(struct problems *ps, const struct path *p, jv source)
{
    str group = FIELD_STR(source, "apiGroup");

    if (jv_is_null(source))
        return;
    required_check(ps, AT(p, "name"), FIELD(source, "name"));
    required_check(ps, AT(p, "kind"), FIELD(source, "kind"));
    if (!group.n && !str_eq(FIELD_STR(source, "kind"), S("PersistentVolumeClaim")))
        problem_invalid(ps, p, shown(ps->a, FIELD(source, "kind")),
                        "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    if (group.n)
        name_check(ps, AT(p, "apiGroup"), group, name_dns1123_subdomain);
    if (FIELD_STR(source, "namespace").n)
        name_check(ps, AT(p, "namespace"), FIELD_STR(source, "namespace"), name_dns1123_label);
}

void claim_spec_check(struct problems *ps, const struct path *p, jv spec)
{
    jv storage = FIELD(FIELD(FIELD(spec, "resources"), "requests"), "storage");
    const struct path *storage_at = ATK(AT(p, "resources"), S("storage"));

    if (!jv_len(FIELD(spec, "accessModes")))
        problem_required(ps, AT(p, "accessModes"), "at least 1 access mode is required");
    label_selector_check(ps, AT(p, "selector"), FIELD(spec, "selector"));
    access_modes_check(ps, AT(p, "accessModes"), FIELD(spec, "accessModes"));
    size_t before = ps->n;
    if (!jv_exists(storage))
        problem_required(ps, storage_at, "%s", "");
    else
        quantity_positive_check(ps, storage_at, storage);
    if (ps->n == before)
        resource_amount_check(ps, storage_at, S("storage"), storage);
    if (FIELD_STR(spec, "storageClassName").n)
        name_check(ps, AT(p, "storageClassName"), FIELD_STR(spec, "storageClassName"),
                   name_dns1123_subdomain);
    enum_optional(ps, AT(p, "volumeMode"), FIELD(spec, "volumeMode"), volume_modes);
    data_source_check(ps, AT(p, "dataSource"), FIELD(spec, "dataSource"));
    data_source_check(ps, AT(p, "dataSourceRef"), FIELD(spec, "dataSourceRef"));
    if (FIELD_STR(spec, "volumeAttributesClassName").n)
        name_check(ps, AT(p, "volumeAttributesClassName"),
                   FIELD_STR(spec, "volumeAttributesClassName"), name_dns1123_subdomain);
}

static jv claim_status_defaults(struct arena *a, jv status)
{
    struct edit e = edit(a, status);

    edit_default(&e, S("phase"), LSTR("Pending"));
    return edit_done(&e);
}

/* What dataSource may name; anything else is dropped from it, though not from dataSourceRef. */
static bool is_old_source(jv source)
{
    str group = FIELD_STR(source, "apiGroup");
    str kind = FIELD_STR(source, "kind");

    return (!group.n && str_eq(kind, S("PersistentVolumeClaim"))) ||
           (str_eq(group, S("snapshot.storage.k8s.io")) && str_eq(kind, S("VolumeSnapshot")));
}

/* dataSource and dataSourceRef name the same thing; the one that is there fills the other. */
static jv data_sources_agree(struct arena *a, jv spec)
{
    jv old_way = FIELD(spec, "dataSource");
    jv new_way = FIELD(spec, "dataSourceRef");

    if (!jv_is_null(old_way) && !is_old_source(old_way)) {
        spec = jv_without(a, spec, "dataSource");
        old_way = JV_ABSENT;
    }
    if (jv_is_null(new_way) && !jv_is_null(old_way))
        return jv_with(a, spec, old_way, "dataSourceRef");
    if (jv_is_null(old_way) && !jv_is_null(new_way) && !FIELD_STR(new_way, "namespace").n)
        return jv_with(a, spec, jv_without(a, new_way, "namespace"), "dataSource");
    return spec;
}

jv persistentvolumeclaim_defaults(const struct kind_ctx *c, jv obj)
{
    jv v = edit_member(c->a, obj, S("spec"), claim_spec_defaults);

    return edit_member(c->a, v, S("status"), claim_status_defaults);
}

jv persistentvolumeclaim_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    if (jv_exists(old)) {
        edit_set(&e, S("status"), FIELD(old, "status"));
        return edit_done(&e);
    }
    edit_set(&e, S("spec"), data_sources_agree(c->a, FIELD(obj, "spec")));
    edit_set(&e, S("status"), jobj(c->a, { "phase", LSTR("Pending") }));
    return edit_done(&e);
}

void persistentvolumeclaim_validate(struct problems *ps, jv obj)
{
    claim_spec_check(ps, ROOT("spec"), FIELD(obj, "spec"));
}

/* What may change: the volume is bound, a bound claim grows, a class is set where none was. */
static jv with_allowed_changes(struct arena *a, jv spec, jv obj, jv before)
{
    if (!FIELD_STR(before, "volumeName").n)
        spec = jv_with(a, spec, FIELD(before, "volumeName"), "volumeName");
    if (jv_is_null(FIELD(before, "storageClassName")) &&
        !jv_is_null(FIELD(spec, "storageClassName")))
        spec = jv_without(a, spec, "storageClassName");
    if (str_eq(FIELD_STR(FIELD(obj, "status"), "phase"), S("Bound"))) {
        spec = jv_with(a, spec, jv_at(before, "resources", "requests", "storage"), "resources",
                       "requests", "storage");
        spec = jv_with(a, spec, FIELD(before, "volumeAttributesClassName"),
                       "volumeAttributesClassName");
    }
    return spec;
}

void persistentvolumeclaim_validate_update(struct problems *ps, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");
    struct quantity size = quantity_of_jv(jv_at(spec, "resources", "requests", "storage"));
    struct quantity was = quantity_of_jv(jv_at(before, "resources", "requests", "storage"));
    struct quantity has = quantity_of_jv(jv_at(old, "status", "capacity", "storage"));

    jv allowed = with_allowed_changes(ps->a, spec, obj, before);

    if (!jv_equal_semantic(allowed, before))
        problem_forbidden(ps, ROOT("spec"),
                          "spec is immutable after creation except resources.requests and "
                          "volumeAttributesClassName for bound claims; %" PRI_STR,
                          STR_ARG(changed_fields(ps->a, before, allowed)));
    if (quantity_cmp(&size, &was) < 0 && quantity_cmp(&size, &has) <= 0)
        problem_forbidden(ps, AT(AT(AT(ROOT("spec"), "resources"), "requests"), "storage"),
                          "field can not be less than status.capacity");
    immutable_check(ps, ROOT("volumeMode"), FIELD(spec, "volumeMode"), FIELD(before, "volumeMode"));
}

static void capacity_check(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list) {
        struct quantity q = quantity_of_jv(it.value);
        if (quantity_value(&q) < 0)
            problem_invalid(ps, ATK(p, it.key), LINT(quantity_value(&q)),
                            "must be a valid resource quantity");
    }
}

void persistentvolumeclaim_validate_status(struct problems *ps, jv obj, jv old)
{
    (void)old;
    if (!jv_len(FIELD(FIELD(obj, "spec"), "accessModes")))
        problem_required(ps, AT(ROOT("Spec"), "accessModes"), "%s", "");
    capacity_check(ps, AT(ROOT("status"), "capacity"), FIELD(FIELD(obj, "status"), "capacity"));
}

/* ---- volumes */

static jv pv_spec_defaults(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    edit_default(&e, S("persistentVolumeReclaimPolicy"), LSTR("Retain"));
    edit_default(&e, S("volumeMode"), LSTR("Filesystem"));
    if (jv_is(FIELD(spec, "hostPath"), JV_OBJ))
        edit_set(&e, S("hostPath"), FIELD(volume_defaults(a, spec), "hostPath"));
    return edit_done(&e);
}

static jv pv_status_defaults(struct arena *a, jv status)
{
    struct edit e = edit(a, status);

    edit_default(&e, S("phase"), LSTR("Pending"));
    return edit_done(&e);
}

jv persistentvolume_defaults(const struct kind_ctx *c, jv obj)
{
    jv v = edit_member(c->a, obj, S("spec"), pv_spec_defaults);

    return edit_member(c->a, v, S("status"), pv_status_defaults);
}

jv persistentvolume_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    if (jv_exists(old))
        edit_set(&e, S("status"), FIELD(old, "status"));
    else
        edit_set(&e, S("status"),
                 jobj(c->a, { "phase", LSTR("Pending") },
                      { "lastPhaseTransitionTime", jstr(c->a, time_text(c->a, c->now_ms)) }));
    return edit_done(&e);
}

static void pv_capacity_check(struct problems *ps, const struct path *p, jv capacity)
{
    static const char *const supported[] = { "storage", NULL };

    if (!jv_len(capacity))
        problem_required(ps, p, "%s", "");
    if (!jv_exists(FIELD(capacity, "storage")) || jv_len(capacity) > 1)
        problem_not_supported(ps, p, jv_len(capacity) ? capacity : JV_ABSENT, supported);
    JV_EACH (it, capacity) {
        capacity_check(ps, p, capacity);
        quantity_positive_check(ps, ATK(p, it.key), it.value);
    }
}

void persistentvolume_validate(struct problems *ps, jv obj)
{
    static const char *const reclaim[] = { "Delete", "Recycle", "Retain", NULL };
    jv spec = FIELD(obj, "spec");
    jv affinity = FIELD(spec, "nodeAffinity");
    const struct path *p = ROOT("spec");

    required_check(ps, AT(p, "accessModes"), FIELD(spec, "accessModes"));
    access_modes_check(ps, AT(p, "accessModes"), FIELD(spec, "accessModes"));
    pv_capacity_check(ps, AT(p, "capacity"), FIELD(spec, "capacity"));
    if (FIELD_STR(spec, "persistentVolumeReclaimPolicy").n)
        enum_check(ps, AT(p, "persistentVolumeReclaimPolicy"),
                   FIELD(spec, "persistentVolumeReclaimPolicy"), reclaim);
    if (!jv_is_null(affinity) && jv_is_null(FIELD(affinity, "required")))
        problem_required(ps, AT(AT(p, "nodeAffinity"), "required"),
                         "must specify required node constraints");
    else if (!jv_is_null(affinity))
        node_selector_check(ps, AT(AT(p, "nodeAffinity"), "required"), FIELD(affinity, "required"));
    volume_source_check(ps, p, spec, pv_sources, pv_sources_n);
    if (!jv_is_null(FIELD(spec, "local")) && jv_is_null(affinity))
        problem_required(ps, AT(p, "nodeAffinity"), "Local volume requires node affinity");
    if (str_eq(FIELD_STR(FIELD(spec, "hostPath"), "path"), S("/")) &&
        str_eq(FIELD_STR(spec, "persistentVolumeReclaimPolicy"), S("Recycle")))
        problem_forbidden(ps, AT(p, "persistentVolumeReclaimPolicy"),
                          "may not be 'recycle' for a hostPath mount of '/'");
    if (FIELD_STR(spec, "storageClassName").n)
        name_check(ps, AT(p, "storageClassName"), FIELD_STR(spec, "storageClassName"),
                   name_dns1123_subdomain);
    enum_optional(ps, AT(p, "volumeMode"), FIELD(spec, "volumeMode"), volume_modes);
}

void persistentvolume_validate_update(struct problems *ps, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");

    for (size_t i = 0; i < pv_sources_n; i++) {
        str name = str_of(pv_sources[i].name);
        if (jv_equal_semantic(jv_get(spec, name), jv_get(before, name)))
            continue;
        problem_forbidden(ps, AT(ROOT("spec"), "persistentvolumesource"),
                          "spec.persistentvolumesource is immutable after creation; %" PRI_STR,
                          STR_ARG(changed_fields(ps->a, before, spec)));
        break;
    }
    immutable_check(ps, ROOT("volumeMode"), FIELD(spec, "volumeMode"), FIELD(before, "volumeMode"));
    if (!jv_is_null(FIELD(before, "nodeAffinity")))
        immutable_check(ps, ROOT("nodeAffinity"), FIELD(spec, "nodeAffinity"),
                        FIELD(before, "nodeAffinity"));
}
