/* The table of nodes. */

#include "builtin/cells/internal.h"

const struct kind_column node_columns[] = {
    NAME_COLUMN,
    COLUMN("Status", "string", "Whether it is ready, and takes pods."),
    COLUMN("Roles", "string", "Roles told by its labels."),
    AGE_COLUMN,
    COLUMN("Version", "string", "Version of its kubelet."),
    WIDE_COLUMN("Internal-IP", "string", "Address within the cluster."),
    WIDE_COLUMN("External-IP", "string", "Address from outside."),
    WIDE_COLUMN("OS-Image", "string", "Operating system."),
    WIDE_COLUMN("Kernel-Version", "string", "Version of the kernel."),
    WIDE_COLUMN("Container-Runtime", "string", "Container runtime and its version."),
};

/* The last condition of a type counts here. */
static str readiness(jv node)
{
    str word = S("Unknown");

    JV_EACH (it, jv_at(node, "status", "conditions"))
        if (str_eqz(jv_str(jv_at(it.value, "type"), S("")), "Ready"))
            word = str_eqz(jv_str(jv_at(it.value, "status"), S("")), "True") ? S("Ready")
                                                                             : S("NotReady");
    return word;
}

static jv roles(const struct kind_ctx *c, jv node)
{
    static const str prefix = S_INIT("node-role.kubernetes.io/");
    jv labels = jv_at(node, "metadata", "labels");
    str *found = ARENA_ARRAY(c->a, str, jv_len(labels) + 1);
    size_t n = 0;

    JV_EACH (it, labels) {
        if (str_starts(it.key, prefix))
            found[n] = str_sub(it.key, prefix.n, it.key.n);
        else if (str_eqz(it.key, "kubernetes.io/role"))
            found[n] = jv_str(it.value, S(""));
        n += found[n].n > 0;
    }
    return cell_or(c, jstr(c->a, join_set(c->a, found, n)), "<none>");
}

static jv address(const struct kind_ctx *c, jv node, const char *type)
{
    JV_EACH (it, jv_at(node, "status", "addresses"))
        if (str_eqz(jv_str(jv_at(it.value, "type"), S("")), type))
            return cell_text(c, jv_at(it.value, "address"));
    return jstrz(c->a, "<none>");
}

jv node_cells(const struct kind_ctx *c, jv obj)
{
    jv info = jv_at(obj, "status", "nodeInfo");
    str status = readiness(obj);

    if (jv_bool(jv_at(obj, "spec", "unschedulable"), false))
        status = arena_cat(c->a, status, S(",SchedulingDisabled"));
    return jarr(c->a, cell_name(c, obj), jstr(c->a, status), roles(c, obj), cell_age(c, obj),
                cell_text(c, jv_at(info, "kubeletVersion")), address(c, obj, "InternalIP"),
                address(c, obj, "ExternalIP"), cell_or(c, jv_at(info, "osImage"), "<unknown>"),
                cell_or(c, jv_at(info, "kernelVersion"), "<unknown>"),
                cell_or(c, jv_at(info, "containerRuntimeVersion"), "<unknown>"));
}
