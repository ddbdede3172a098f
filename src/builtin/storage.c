/* storage.k8s.io: classes, drivers, attachments. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/resources.h"
#include "builtin/volume.h"

enum { MAX_PARAMETERS = 512, MAX_PARAMETER_BYTES = 256 * 1024, MAX_NODE_ID = 256, LOOK_BACK = 512 };

static void default_bool(struct edit *e, str key, bool value)
{
    if (jv_is_null(edit_get(e, key)))
        edit_set(e, key, value ? JV_TRUE : JV_FALSE);
}

/* ---- StorageClass and VolumeAttributesClass */

jv storageclass_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_default(&e, S("reclaimPolicy"), LSTR("Delete"));
    edit_default(&e, S("volumeBindingMode"), LSTR("Immediate"));
    return edit_done(&e);
}

static void driver_check(struct problems *ps, const struct path *p, str name)
{
    if (!name.n)
        problem_required(ps, p, "%s", "");
    else
        name_check(ps, p, name_lower(ps->a, name), name_qualified);
}

static void parameters_check(struct problems *ps, const struct path *p, jv parameters,
                             bool allow_empty)
{
    size_t total = 0;

    if (jv_len(parameters) > MAX_PARAMETERS) {
        too_long(ps, p, MAX_PARAMETERS);
        return;
    }
    JV_EACH (it, parameters) {
        if (!it.key.n)
            problem_invalid(ps, p, LSTR(""), "field can not be empty.");
        total += it.key.n + jv_str(it.value, S("")).n;
    }
    if (total > MAX_PARAMETER_BYTES)
        too_long(ps, p, MAX_PARAMETER_BYTES);
    if (!allow_empty && !jv_len(parameters))
        problem_required(ps, p, "must contain at least one key/value pair");
}

static void topology_check(struct problems *ps, const struct path *p, jv term)
{
    jv list = FIELD(term, "matchLabelExpressions");

    JV_EACH (it, list) {
        const struct path *q = ATI(AT(p, "matchLabelExpressions"), it.i - 1);
        jv values = FIELD(it.value, "values");
        if (!jv_len(values))
            problem_required(ps, AT(q, "values"), "%s", "");
        JV_EACH (v, values)
            for (size_t i = v.i > LOOK_BACK ? v.i - LOOK_BACK : 0; i + 1 < v.i; i++)
                if (jv_equal(jv_index(values, i), v.value))
                    problem_duplicate(ps, ATI(AT(q, "values"), v.i - 1), v.value);
        label_key_check(ps, AT(q, "key"), FIELD_STR(it.value, "key"));
        if (seen_before(list, it.i - 1, S("key"), FIELD_STR(it.value, "key")))
            problem_duplicate(ps, AT(q, "key"), FIELD(it.value, "key"));
    }
}

void storageclass_validate(struct problems *ps, jv obj)
{
    static const char *const reclaim[] = { "Delete", "Retain", NULL };
    static const char *const modes[] = { "Immediate", "WaitForFirstConsumer", NULL };

    driver_check(ps, ROOT("provisioner"), FIELD_STR(obj, "provisioner"));
    parameters_check(ps, ROOT("parameters"), FIELD(obj, "parameters"), true);
    enum_optional(ps, ROOT("reclaimPolicy"), FIELD(obj, "reclaimPolicy"), reclaim);
    enum_optional(ps, ROOT("volumeBindingMode"), FIELD(obj, "volumeBindingMode"), modes);
    JV_EACH (it, FIELD(obj, "allowedTopologies"))
        topology_check(ps, ATI(ROOT("allowedTopologies"), it.i - 1), it.value);
}

static void forbid_change(struct problems *ps, jv obj, jv old, const char *field)
{
    if (!jv_equal_semantic(jv_get(obj, str_of(field)), jv_get(old, str_of(field))))
        problem_forbidden(ps, ATZ(NULL, field), "updates to %s are forbidden.", field);
}

void storageclass_validate_update(struct problems *ps, jv obj, jv old)
{
    forbid_change(ps, obj, old, "parameters");
    forbid_change(ps, obj, old, "provisioner");
    forbid_change(ps, obj, old, "reclaimPolicy");
    immutable_check(ps, ROOT("volumeBindingMode"), FIELD(obj, "volumeBindingMode"),
                    FIELD(old, "volumeBindingMode"));
}

void volumeattributesclass_validate(struct problems *ps, jv obj)
{
    driver_check(ps, ROOT("driverName"), FIELD_STR(obj, "driverName"));
    parameters_check(ps, ROOT("parameters"), FIELD(obj, "parameters"), false);
}

void volumeattributesclass_validate_update(struct problems *ps, jv obj, jv old)
{
    forbid_change(ps, obj, old, "driverName");
    forbid_change(ps, obj, old, "parameters");
}

/* ---- CSIDriver */

jv csidriver_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    default_bool(&spec, S("attachRequired"), true);
    default_bool(&spec, S("podInfoOnMount"), false);
    default_bool(&spec, S("storageCapacity"), false);
    default_bool(&spec, S("requiresRepublish"), false);
    default_bool(&spec, S("seLinuxMount"), false);
    edit_default(&spec, S("fsGroupPolicy"), LSTR("ReadWriteOnceWithFSType"));
    if (!jv_len(edit_get(&spec, S("volumeLifecycleModes"))))
        edit_set(&spec, S("volumeLifecycleModes"), jarr(c->a, LSTR("Persistent")));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

static void token_requests_check(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        jv seconds = FIELD(it.value, "expirationSeconds");
        if (seen_before(list, it.i - 1, S("audience"), FIELD_STR(it.value, "audience"))) {
            problem_duplicate(ps, AT(q, "audience"), shown(ps->a, FIELD(it.value, "audience")));
            continue;
        }
        if (!jv_is_null(seconds) && jv_int(seconds, 0) < 600)
            problem_invalid(ps, AT(q, "expirationSeconds"), seconds,
                            "may not specify a duration less than 10 minutes");
        if (jv_int(seconds, 0) > INT64_C(1) << 32)
            problem_invalid(ps, AT(q, "expirationSeconds"), seconds,
                            "may not specify a duration larger than 2^32 seconds");
    }
}

void csidriver_validate(struct problems *ps, jv obj)
{
    static const char *const policies[] = { "File", "None", "ReadWriteOnceWithFSType", NULL };
    static const char *const modes[] = { "Persistent", "Ephemeral", NULL };
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    enum_optional(ps, AT(p, "fsGroupPolicy"), FIELD(spec, "fsGroupPolicy"), policies);
    token_requests_check(ps, AT(p, "tokenRequests"), FIELD(spec, "tokenRequests"));
    JV_EACH (it, FIELD(spec, "volumeLifecycleModes"))
        enum_check(ps, AT(p, "volumeLifecycleModes"), it.value, modes);
}

void csidriver_validate_update(struct problems *ps, jv obj, jv old)
{
    const struct path *p = ROOT("spec");

    immutable_check(ps, AT(p, "attachedRequired"), FIELD(FIELD(obj, "spec"), "attachRequired"),
                    FIELD(FIELD(old, "spec"), "attachRequired"));
    immutable_check(ps, AT(p, "volumeLifecycleModes"),
                    FIELD(FIELD(obj, "spec"), "volumeLifecycleModes"),
                    FIELD(FIELD(old, "spec"), "volumeLifecycleModes"));
}

/* ---- CSINode, VolumeAttachment, CSIStorageCapacity */

void csinode_validate(struct problems *ps, jv obj)
{
    jv drivers = FIELD(FIELD(obj, "spec"), "drivers");

    JV_EACH (it, drivers) {
        const struct path *p = ATI(AT(ROOT("spec"), "drivers"), it.i - 1);
        str node = FIELD_STR(it.value, "nodeID");
        csi_driver_name_check(ps, AT(p, "name"), FIELD_STR(it.value, "name"));
        if (!node.n)
            problem_required(ps, AT(p, "nodeID"), "%s", "");
        if (node.n > MAX_NODE_ID)
            problem_invalid(ps, AT(p, "nodeID"), FIELD(it.value, "nodeID"),
                            "must be %d characters or less", MAX_NODE_ID);
        nonnegative_check(ps, AT(AT(p, "allocatable"), "count"),
                          FIELD(FIELD(it.value, "allocatable"), "count"));
        if (seen_before(drivers, it.i - 1, S("name"), FIELD_STR(it.value, "name")))
            problem_duplicate(ps, AT(p, "name"), FIELD(it.value, "name"));
        JV_EACH (key, FIELD(it.value, "topologyKeys"))
            name_check(ps, p, jv_str(key.value, S("")), name_qualified);
    }
}

void volumeattachment_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv source = FIELD(spec, "source");
    jv name = FIELD(source, "persistentVolumeName");
    const struct path *p = ROOT("spec");
    static const char one[] =
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

    required_check(ps, AT(p, "attacher"), FIELD(spec, "attacher"));
    if (jv_is_null(FIELD(source, "inlineVolumeSpec")) && jv_is_null(name))
        problem_required(ps, AT(p, "source"), one);
    else if (!jv_is_null(FIELD(source, "inlineVolumeSpec")) && !jv_is_null(name))
        problem_forbidden(ps, AT(p, "source"), one);
    else if (!jv_is_null(name) && !jv_str(name, S("")).n)
        problem_required(ps, AT(AT(p, "source"), "persistentVolumeName"),
                         "must specify non empty persistentVolumeName");
    name_check(ps, AT(p, "nodeName"), FIELD_STR(spec, "nodeName"), name_dns1123_subdomain);
    if (ps->is_update)
        return;
    csi_driver_name_check(ps, ROOT("spec.attacher"), FIELD_STR(spec, "attacher"));
    if (!jv_is_null(name))
        name_check(ps, ROOT("spec.source.persistentVolumeName"), jv_str(name, S("")),
                   name_dns1123_subdomain);
}

void volumeattachment_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("spec"), FIELD(obj, "spec"), FIELD(old, "spec"));
}

void csistoragecapacity_validate(struct problems *ps, jv obj)
{
    label_selector_check(ps, ROOT("nodeTopology"), FIELD(obj, "nodeTopology"));
    name_check(ps, ROOT("storageClassName"), FIELD_STR(obj, "storageClassName"),
               name_dns1123_subdomain);
    if (!jv_is_null(FIELD(obj, "capacity")))
        quantity_nonnegative_check(ps, ROOT("capacity"), FIELD(obj, "capacity"));
}

void csistoragecapacity_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("nodeTopology"), FIELD(obj, "nodeTopology"),
                    FIELD(old, "nodeTopology"));
    immutable_check(ps, ROOT("storageClassName"), FIELD(obj, "storageClassName"),
                    FIELD(old, "storageClassName"));
}
