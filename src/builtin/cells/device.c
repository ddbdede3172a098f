/* Tables of claims to devices, the slices that offer them, and runtime classes. */

#include "builtin/cells/internal.h"

#include "kube/meta.h"

const struct kind_column deviceclass_columns[] = { NAME_COLUMN, AGE_COLUMN };

const struct kind_column resourceclaim_columns[] = {
    NAME_COLUMN,
    COLUMN("State", "string", "Whether it has devices, and pods that use them."),
    AGE_COLUMN,
};

const struct kind_column resourceslice_columns[] = {
    NAME_COLUMN,
    COLUMN("Node", "string", "The node that has the devices."),
    COLUMN("Driver", "string", "The driver that offers the devices."),
    COLUMN("Pool", "string", "The pool that the devices belong to."),
    AGE_COLUMN,
};

const struct kind_column runtimeclass_columns[] = {
    NAME_COLUMN,
    COLUMN("Handler", "string", "The name by which nodes know it."),
    AGE_COLUMN,
};

jv deviceclass_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_age(c, obj));
}

jv resourceclaim_cells(const struct kind_ctx *c, jv obj)
{
    AUTO(buf) struct buf state = { 0 };
    bool deleted = meta_being_deleted(obj);

    if (deleted)
        join(&state, ",", S("deleted"));
    if (!jv_is_null(jv_at(obj, "status", "allocation"))) {
        join(&state, ",", S("allocated"));
        if (jv_len(jv_at(obj, "status", "reservedFor")))
            join(&state, ",", S("reserved"));
    } else if (!deleted) {
        join(&state, ",", S("pending"));
    }
    return jarr(c->a, cell_name(c, obj), cell_take(c, &state), cell_age(c, obj));
}

jv resourceslice_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");

    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(spec, "nodeName")),
                cell_text(c, jv_at(spec, "driver")), cell_text(c, jv_at(spec, "pool", "name")),
                cell_age(c, obj));
}

jv runtimeclass_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(obj, "handler")), cell_age(c, obj));
}
