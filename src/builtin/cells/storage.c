/* Tables of volumes, claims, classes and drivers. */

#include "builtin/cells/internal.h"

const struct kind_column persistentvolume_columns[] = {
    NAME_COLUMN,
    COLUMN("Capacity", "string", "How much it holds."),
    COLUMN("Access Modes", "string", "How it can be mounted."),
    COLUMN("Reclaim Policy", "string", "What becomes of it after its claim."),
    COLUMN("Status", "string", "Whether it is free, bound or released."),
    COLUMN("Claim", "string", "The claim it is bound to."),
    COLUMN("StorageClass", "string", "Its storage class."),
    COLUMN("VolumeAttributesClass", "string", "Its volume attributes class."),
    COLUMN("Reason", "string", "Why it failed, in a word."),
    AGE_COLUMN,
    WIDE_COLUMN("VolumeMode", "string", "Filesystem or Block."),
};

const struct kind_column persistentvolumeclaim_columns[] = {
    NAME_COLUMN,
    COLUMN("Status", "string", "Whether it is bound, waits, or lost its volume."),
    COLUMN("Volume", "string", "The volume it is bound to."),
    COLUMN("Capacity", "string", "How much that holds."),
    COLUMN("Access Modes", "string", "How that can be mounted."),
    COLUMN("StorageClass", "string", "The storage class asked for."),
    COLUMN("VolumeAttributesClass", "string", "The volume attributes class asked for."),
    AGE_COLUMN,
    WIDE_COLUMN("VolumeMode", "string", "Filesystem or Block."),
};

const struct kind_column storageclass_columns[] = {
    NAME_COLUMN,
    COLUMN("Provisioner", "string", "Who makes its volumes."),
    COLUMN("ReclaimPolicy", "string", "What becomes of volumes after their claims."),
    COLUMN("VolumeBindingMode", "string", "Whether claims are bound at once or when first used."),
    COLUMN("AllowVolumeExpansion", "string", "Whether claims may grow."),
    AGE_COLUMN,
};

const struct kind_column csidriver_columns[] = {
    NAME_COLUMN,
    COLUMN("AttachRequired", "boolean", "Whether volumes are attached before they are mounted."),
    COLUMN("PodInfoOnMount", "boolean", "Whether the driver gets information about the pod."),
    COLUMN("StorageCapacity", "boolean", "Whether it says how much room there is."),
    COLUMN("TokenRequests", "string", "Audiences of the pod's tokens it is given."),
    COLUMN("RequiresRepublish", "boolean", "Whether it is called again and again."),
    COLUMN("Modes", "string", "Lives of volumes it knows."),
    AGE_COLUMN,
};

const struct kind_column csinode_columns[] = {
    NAME_COLUMN,
    COLUMN("Drivers", "integer", "Drivers on the node."),
    AGE_COLUMN,
};

const struct kind_column volumeattachment_columns[] = {
    NAME_COLUMN,
    { "Attacher", "string", "name", 0, "The driver that attaches." },
    COLUMN("PV", "string", "The volume."),
    COLUMN("Node", "string", "The node."),
    COLUMN("Attached", "boolean", "Whether it is done."),
    AGE_COLUMN,
};

const struct kind_column volumeattributesclass_columns[] = {
    NAME_COLUMN,
    COLUMN("DriverName", "string", "The driver it is for."),
    AGE_COLUMN,
};

static jv annotation(jv obj, const char *key)
{
    return jv_at(obj, "metadata", "annotations", key);
}

/* "RWO,ROX": each once, in this order */
static jv access_modes(const struct kind_ctx *c, jv modes)
{
    static const struct {
        const char *mode;
        const char *letters;
    } rows[] = {
        { "ReadWriteOnce", "RWO" },
        { "ReadOnlyMany", "ROX" },
        { "ReadWriteMany", "RWX" },
        { "ReadWriteOncePod", "RWOP" },
    };
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        bool has = false;
        JV_EACH (it, modes)
            has = has || str_eqz(jv_str(it.value, S("")), rows[i].mode);
        if (has)
            join(&b, ",", str_of(rows[i].letters));
    }
    return cell_take(c, &b);
}

static jv phase(const struct kind_ctx *c, jv obj)
{
    if (!jv_is_null(jv_at(obj, "metadata", "deletionTimestamp")))
        return jstrz(c->a, "Terminating");
    return cell_text(c, jv_at(obj, "status", "phase"));
}

/* An annotation older than the field comes first. */
static jv class(const struct kind_ctx *c, jv obj)
{
    jv old = annotation(obj, "volume.beta.kubernetes.io/storage-class");

    return cell_text(c, jv_exists(old) ? old : jv_at(obj, "spec", "storageClassName"));
}

static jv claim(const struct kind_ctx *c, jv ref)
{
    if (!jv_is(ref, JV_OBJ))
        return jstrz(c->a, "");
    str namespace = jv_str(jv_at(ref, "namespace"), S(""));
    str name = jv_str(jv_at(ref, "name"), S(""));
    return jstr(c->a,
                arena_printf(c->a, "%" PRI_STR "/%" PRI_STR, STR_ARG(namespace), STR_ARG(name)));
}

jv persistentvolume_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");

    return jarr(c->a, cell_name(c, obj), quantity_cell(c, jv_at(spec, "capacity", "storage")),
                access_modes(c, jv_at(spec, "accessModes")),
                cell_text(c, jv_at(spec, "persistentVolumeReclaimPolicy")), phase(c, obj),
                claim(c, jv_at(spec, "claimRef")), class(c, obj),
                cell_set(c, jv_at(spec, "volumeAttributesClassName"), "<unset>"),
                cell_text(c, jv_at(obj, "status", "reason")), cell_age(c, obj),
                cell_set(c, jv_at(spec, "volumeMode"), "<unset>"));
}

jv persistentvolumeclaim_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");
    jv status = jv_at(obj, "status");
    jv volume = cell_text(c, jv_at(spec, "volumeName"));
    bool bound = jv_str(volume, S("")).n > 0;

    return jarr(c->a, cell_name(c, obj), phase(c, obj), volume,
                bound ? quantity_cell(c, jv_at(status, "capacity", "storage")) : jstrz(c->a, ""),
                access_modes(c, bound ? jv_at(status, "accessModes") : JV_ABSENT), class(c, obj),
                cell_set(c, jv_at(spec, "volumeAttributesClassName"), "<unset>"), cell_age(c, obj),
                cell_set(c, jv_at(spec, "volumeMode"), "<unset>"));
}

static bool is_default(jv obj)
{
    jv now = annotation(obj, "storageclass.kubernetes.io/is-default-class");
    jv beta = annotation(obj, "storageclass.beta.kubernetes.io/is-default-class");

    return str_eqz(jv_str(now, S("")), "true") || str_eqz(jv_str(beta, S("")), "true");
}

static jv name_or_default(const struct kind_ctx *c, jv obj)
{
    jv name = cell_name(c, obj);

    return is_default(obj) ? jstr(c->a, arena_cat(c->a, jv_str(name, S("")), S(" (default)")))
                           : name;
}

jv storageclass_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, name_or_default(c, obj), cell_text(c, jv_at(obj, "provisioner")),
                cell_set(c, jv_at(obj, "reclaimPolicy"), "Delete"),
                cell_set(c, jv_at(obj, "volumeBindingMode"), "Immediate"),
                jbool(jv_bool(jv_at(obj, "allowVolumeExpansion"), false)), cell_age(c, obj));
}

jv csidriver_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");
    jv tokens = jv_at(spec, "tokenRequests");

    return jarr(c->a, cell_name(c, obj), jbool(jv_bool(jv_at(spec, "attachRequired"), true)),
                jbool(jv_bool(jv_at(spec, "podInfoOnMount"), false)),
                jbool(jv_bool(jv_at(spec, "storageCapacity"), false)),
                jv_is_null(tokens) ? jstrz(c->a, "<unset>") : cell_joined(c, tokens, "audience"),
                jbool(jv_bool(jv_at(spec, "requiresRepublish"), false)),
                cell_or(c, cell_joined(c, jv_at(spec, "volumeLifecycleModes"), NULL), "<none>"),
                cell_age(c, obj));
}

jv csinode_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_count(c, jv_at(obj, "spec", "drivers")),
                cell_age(c, obj));
}

jv volumeattachment_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");

    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(spec, "attacher")),
                cell_text(c, jv_at(spec, "source", "persistentVolumeName")),
                cell_text(c, jv_at(spec, "nodeName")),
                jbool(jv_bool(jv_at(obj, "status", "attached"), false)), cell_age(c, obj));
}

jv volumeattributesclass_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(obj, "driverName")), cell_age(c, obj));
}
