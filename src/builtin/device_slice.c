/* resource.k8s.io: ResourceSlice, the devices that a driver offers. */

#include "builtin/device.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/volume.h"

/* ---- fields that kube-apiserver has turned off */

static jv without_policy(struct arena *a, jv capacity)
{
    struct edit e = edit(a, capacity);

    JV_EACH (it, capacity)
        if (jv_exists(FIELD(it.value, "requestPolicy")))
            edit_set(&e, it.key, jv_without(a, it.value, "requestPolicy"));
    return edit_done(&e);
}

static jv device_prepare(struct arena *a, jv device)
{
    static const char *const off[] = {
        "taints",
        "consumesCounters",
        "nodeName",
        "nodeSelector",
        "allNodes",
        "bindsToNode",
        "bindingConditions",
        "bindingFailureConditions",
        "allowMultipleAllocations",
    };
    struct edit e = edit(a, device);

    for (size_t i = 0; i < COUNT(off); i++)
        if (jv_exists(edit_get(&e, str_of(off[i]))))
            edit_set(&e, str_of(off[i]), JV_ABSENT);
    edit_in(&e, S("capacity"), without_policy);
    return edit_done(&e);
}

static jv spec_prepare(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    if (jv_exists(edit_get(&e, S("sharedCounters"))))
        edit_set(&e, S("sharedCounters"), JV_ABSENT);
    if (jv_exists(edit_get(&e, S("perDeviceNodeSelection"))))
        edit_set(&e, S("perDeviceNodeSelection"), JV_ABSENT);
    edit_each(&e, S("devices"), device_prepare);
    return edit_done(&e);
}

jv resourceslice_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    (void)old;
    edit_in(&e, S("spec"), spec_prepare);
    return edit_done(&e);
}

/* ---- devices */

static void attribute_check(struct problems *ps, const struct path *p, jv attribute)
{
    static const char one[] = "exactly one value must be specified";

    if (FIELD_STR(attribute, "string").n > MAX_ATTRIBUTE_BYTES)
        too_long(ps, AT(p, "string"), MAX_ATTRIBUTE_BYTES);
    if (FIELD_STR(attribute, "version").n > MAX_ATTRIBUTE_BYTES)
        too_long(ps, AT(p, "version"), MAX_ATTRIBUTE_BYTES);
    if (!jv_len(attribute))
        problem_required(ps, p, one);
    else if (jv_len(attribute) > 1)
        problem_invalid(ps, p, attribute, one);
}

static void device_check(struct problems *ps, const struct path *p, jv device)
{
    jv attributes = FIELD(device, "attributes");
    jv capacity = FIELD(device, "capacity");
    size_t n = jv_len(attributes) + jv_len(capacity);

    name_check(ps, AT(p, "name"), FIELD_STR(device, "name"), name_dns1123_label);
    if (n > MAX_ATTRIBUTES)
        problem_invalid(ps, p, LINT((int64_t)n),
                        "the total number of attributes and capacities must not exceed %d",
                        MAX_ATTRIBUTES);
    JV_EACH (it, attributes) {
        const struct path *q = ATK(AT(p, "attributes"), it.key);
        device_qualified_name_check(ps, q, it.key);
        attribute_check(ps, q, it.value);
    }
    JV_EACH (it, capacity)
        device_qualified_name_check(ps, ATK(AT(p, "capacity"), it.key), it.key);
}

/* ---- the slice */

static void node_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char one[] = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                              "`perDeviceNodeSelection` is required";
    jv name = FIELD(spec, "nodeName");
    jv selector = FIELD(spec, "nodeSelector");
    jv all = FIELD(spec, "allNodes");
    const struct path *q = AT(p, "nodeSelector");
    struct str_list {
        const char *at[3];
        size_t n;
    } set = { .n = 0 };

    if (jv_str(name, S("")).n) {
        set.at[set.n++] = "`nodeName`";
        name_check(ps, AT(p, "nodeName"), jv_str(name, S("")), name_dns1123_subdomain);
    } else if (!jv_is_null(name)) {
        problem_invalid(ps, AT(p, "nodeName"), name,
                        "must be either unset or set to a non-empty string");
    }
    if (!jv_is_null(selector)) {
        set.at[set.n++] = "`nodeSelector`";
        node_selector_check(ps, q, selector);
        if (jv_len(FIELD(selector, "nodeSelectorTerms")) != 1)
            problem_invalid(ps, AT(q, "nodeSelectorTerms"), FIELD(selector, "nodeSelectorTerms"),
                            "must have exactly one node selector term");
    }
    if (jv_bool(all, false))
        set.at[set.n++] = "`allNodes`";
    else if (!jv_is_null(all))
        problem_invalid(ps, AT(p, "allNodes"), all, "must be either unset or set to true");
    if (set.n == 0)
        problem_required(ps, p, one);
    if (set.n > 1)
        problem_invalid(
            ps, p,
            jstr(ps->a, arena_printf(ps->a, "{%s, %s%s%s}", set.at[0], set.at[1],
                                     set.n > 2 ? ", " : "", set.n > 2 ? set.at[2] : "")),
            "%s, but multiple fields are set", one);
}

static void pool_check(struct problems *ps, const struct path *p, jv pool)
{
    int64_t slices = FIELD_INT(pool, "resourceSliceCount");
    int64_t generation = FIELD_INT(pool, "generation");

    device_pool_name_check(ps, AT(p, "name"), FIELD_STR(pool, "name"));
    if (slices <= 0)
        problem_invalid(ps, AT(p, "resourceSliceCount"), LINT(slices), "must be greater than zero");
    if (generation < 0)
        problem_invalid(ps, AT(p, "generation"), LINT(generation),
                        "must be greater than or equal to zero");
}

void resourceslice_validate(struct problems *ps, jv obj)
{
    const struct path *p = ROOT("spec"), *q = AT(p, "devices");
    jv spec = FIELD(obj, "spec");
    jv devices = FIELD(spec, "devices");

    csi_driver_name_check(ps, AT(p, "driver"), FIELD_STR(spec, "driver"));
    pool_check(ps, AT(p, "pool"), FIELD(spec, "pool"));
    node_check(ps, p, spec);
    if (jv_len(devices) > MAX_DEVICES) {
        too_many(ps, q, jv_len(devices), MAX_DEVICES);
        return;
    }
    JV_EACH (it, devices)
        device_check(ps, EACH_AT(q, it), it.value);
    device_unique_check(ps, q, devices, "name");
}

void resourceslice_validate_update(struct problems *ps, jv obj, jv old)
{
    const struct path *p = ROOT("spec");
    jv now = FIELD(obj, "spec"), before = FIELD(old, "spec");

    immutable_check(ps, AT(AT(p, "pool"), "name"), FIELD(FIELD(now, "pool"), "name"),
                    FIELD(FIELD(before, "pool"), "name"));
    immutable_check(ps, AT(p, "driver"), FIELD(now, "driver"), FIELD(before, "driver"));
    immutable_check(ps, AT(p, "nodeName"), FIELD(now, "nodeName"), FIELD(before, "nodeName"));
}
