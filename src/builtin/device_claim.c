/* resource.k8s.io: DeviceClass, ResourceClaim, ResourceClaimTemplate. Expressions that select
 * devices are stored as they are: nothing here allocates devices. */

#include "builtin/device.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/resources.h"
#include "builtin/volume.h"

enum {
    MAX_REQUESTS = 32,
    MAX_ALTERNATIVES = 8,
    MAX_SELECTORS = 32,
    MAX_CONSTRAINTS = 32,
    MAX_CONFIG = 32,
    MAX_RESERVED = 256,
    MAX_CONDITIONS = 8,
    MAX_EXPRESSION_BYTES = 10 * 1024,
    MAX_PARAMETER_BYTES = 10 * 1024,
    MAX_ADDRESSES = 16,
};

/* ---- defaults, and fields that kube-apiserver has turned off */

static jv toleration_defaults(struct arena *a, jv toleration)
{
    struct edit e = edit(a, toleration);

    edit_default(&e, S("operator"), LSTR("Equal"));
    return edit_done(&e);
}

static jv one_request_defaults(struct arena *a, jv request)
{
    struct edit e = edit(a, request);

    edit_default(&e, S("allocationMode"), LSTR("ExactCount"));
    if (str_eqz(jv_str(edit_get(&e, S("allocationMode")), STR_NONE), "ExactCount"))
        edit_default_zero(&e, S("count"), 1);
    edit_each(&e, S("tolerations"), toleration_defaults);
    return edit_done(&e);
}

static jv request_defaults(struct arena *a, jv request)
{
    struct edit e = edit(a, request);

    edit_in(&e, S("exactly"), one_request_defaults);
    edit_each(&e, S("firstAvailable"), one_request_defaults);
    return edit_done(&e);
}

static jv devices_defaults(struct arena *a, jv devices)
{
    struct edit e = edit(a, devices);

    edit_each(&e, S("requests"), request_defaults);
    return edit_done(&e);
}

static jv device_spec_defaults(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    edit_in(&e, S("devices"), devices_defaults);
    return edit_done(&e);
}

static jv result_defaults(struct arena *a, jv result)
{
    struct edit e = edit(a, result);

    edit_each(&e, S("tolerations"), toleration_defaults);
    return edit_done(&e);
}

static jv results_defaults(struct arena *a, jv devices)
{
    struct edit e = edit(a, devices);

    edit_each(&e, S("results"), result_defaults);
    return edit_done(&e);
}

static jv allocation_defaults(struct arena *a, jv allocation)
{
    struct edit e = edit(a, allocation);

    edit_in(&e, S("devices"), results_defaults);
    return edit_done(&e);
}

static jv claim_status_defaults(struct arena *a, jv status)
{
    struct edit e = edit(a, status);

    edit_in(&e, S("allocation"), allocation_defaults);
    return edit_done(&e);
}

jv resourceclaim_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_in(&e, S("spec"), device_spec_defaults);
    edit_in(&e, S("status"), claim_status_defaults);
    return edit_done(&e);
}

static jv template_defaults(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    edit_in(&e, S("spec"), device_spec_defaults);
    return edit_done(&e);
}

jv resourceclaimtemplate_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_in(&e, S("spec"), template_defaults);
    return edit_done(&e);
}

static jv without_capacity(struct arena *a, jv request)
{
    return jv_without(a, request, "capacity");
}

static jv request_without_capacity(struct arena *a, jv request)
{
    struct edit e = edit(a, request);

    edit_in(&e, S("exactly"), without_capacity);
    edit_each(&e, S("firstAvailable"), without_capacity);
    return edit_done(&e);
}

static jv devices_without_capacity(struct arena *a, jv devices)
{
    struct edit e = edit(a, devices);

    edit_each(&e, S("requests"), request_without_capacity);
    return edit_done(&e);
}

static jv spec_without_capacity(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    edit_in(&e, S("devices"), devices_without_capacity);
    return edit_done(&e);
}

jv resourceclaim_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, status_is_the_servers(c, obj, old));

    edit_in(&e, S("spec"), spec_without_capacity);
    return edit_done(&e);
}

static jv template_without_capacity(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    edit_in(&e, S("spec"), spec_without_capacity);
    return edit_done(&e);
}

jv resourceclaimtemplate_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    (void)old;
    edit_in(&e, S("spec"), template_without_capacity);
    return edit_done(&e);
}

static jv without_extended_name(struct arena *a, jv spec)
{
    return jv_without(a, spec, "extendedResourceName");
}

jv deviceclass_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    (void)old;
    edit_in(&e, S("spec"), without_extended_name);
    return edit_done(&e);
}

/* ---- one request */

static void selectors_check(struct problems *ps, const struct path *p, jv selectors)
{
    JV_EACH (it, selectors) {
        const struct path *q = AT(EACH_AT(p, it), "cel");
        jv cel = FIELD(it.value, "cel");
        if (jv_is_null(cel))
            problem_required(ps, q, "%s", "");
        else if (FIELD_STR(cel, "expression").n > MAX_EXPRESSION_BYTES)
            too_long(ps, AT(q, "expression"), MAX_EXPRESSION_BYTES);
    }
    device_list_size_check(ps, p, selectors, MAX_SELECTORS);
}

static void label_value_check(struct problems *ps, const struct path *p, jv value)
{
    name_check(ps, p, jv_str(value, S("")), name_label_value);
}

static void toleration_check(struct problems *ps, const struct path *p, jv toleration)
{
    static const char *const effects[] = { "NoExecute", "NoSchedule", NULL };
    static const char *const operators[] = { "Equal", "Exists", NULL };
    jv value = FIELD(toleration, "value");
    jv op = FIELD(toleration, "operator");

    if (FIELD_STR(toleration, "key").n)
        label_key_check(ps, AT(p, "key"), FIELD_STR(toleration, "key"));
    if (!enum_required(ps, AT(p, "operator"), op, operators))
        ;
    else if (str_eqz(jv_str(op, STR_NONE), "Equal"))
        label_value_check(ps, AT(p, "value"), value);
    else if (jv_str(value, S("")).n)
        problem_invalid(ps, AT(p, "value"), value, "must be empty for operator `Exists`");
    if (FIELD_STR(toleration, "effect").n)
        enum_check(ps, AT(p, "effect"), FIELD(toleration, "effect"), effects);
}

static void mode_check(struct problems *ps, const struct path *p, jv request)
{
    static const char *const modes[] = { "All", "ExactCount", NULL };
    jv mode = FIELD(request, "allocationMode");
    int64_t count = FIELD_INT(request, "count");

    if (!enum_check(ps, AT(p, "allocationMode"), mode, modes))
        return;
    if (str_eqz(jv_str(mode, STR_NONE), "ExactCount")) {
        if (count <= 0)
            problem_invalid(ps, AT(p, "count"), LINT(count), "must be greater than zero");
    } else if (count) {
        problem_invalid(ps, AT(p, "count"), LINT(count),
                        "must not be specified when allocationMode is 'All'");
    }
}

/* The part that "exactly" and the elements of "firstAvailable" share. */
static void one_request_check(struct problems *ps, const struct path *p, jv request)
{
    const struct path *tolerations = AT(p, "tolerations");

    name_required(ps, AT(p, "deviceClassName"), FIELD_STR(request, "deviceClassName"),
                  name_dns1123_subdomain);
    selectors_check(ps, AT(p, "selectors"), FIELD(request, "selectors"));
    mode_check(ps, p, request);
    JV_EACH (it, FIELD(request, "tolerations"))
        toleration_check(ps, EACH_AT(tolerations, it), it.value);
}

static void request_check(struct problems *ps, const struct path *p, jv request)
{
    static const char one[] = "exactly one of `exactly` or `firstAvailable` is required";
    const struct path *first = AT(p, "firstAvailable");
    jv alternatives = FIELD(request, "firstAvailable");
    jv exactly = FIELD(request, "exactly");

    name_check(ps, AT(p, "name"), FIELD_STR(request, "name"), name_dns1123_label);
    JV_EACH (it, alternatives) {
        const struct path *q = EACH_AT(first, it);
        name_check(ps, AT(q, "name"), FIELD_STR(it.value, "name"), name_dns1123_label);
        one_request_check(ps, q, it.value);
    }
    device_list_size_check(ps, first, alternatives, MAX_ALTERNATIVES);
    device_unique_check(ps, first, alternatives, "name");
    if (!jv_is_null(exactly))
        one_request_check(ps, AT(p, "exactly"), exactly);
    if (jv_is_null(exactly) && !jv_len(alternatives))
        problem_required(ps, p, one);
    else if (!jv_is_null(exactly) && jv_len(alternatives))
        problem_invalid(ps, p, JV_ABSENT, "%s, but multiple fields are set", one);
}

/* ---- references to requests */

static bool has_request(jv requests, str name)
{
    ptrdiff_t slash = str_find(name, '/');
    str request = slash < 0 ? name : str_sub(name, 0, (size_t)slash);
    bool found = false;

    /* Of several with one name kube-apiserver sees the last. */
    JV_EACH (it, requests) {
        jv alternatives = FIELD(it.value, "firstAvailable");
        if (!str_eq(FIELD_STR(it.value, "name"), request))
            continue;
        found = slash < 0 || seen_before(alternatives, jv_len(alternatives), S("name"),
                                         str_sub(name, (size_t)slash + 1, name.n));
    }
    return found;
}

static void reference_check(struct problems *ps, const struct path *p, jv ref, jv requests)
{
    static const char unknown[] = "must be the name of a request in the claim or the name of a "
                                  "request and a subrequest separated by '/'";
    str name = jv_str(ref, S(""));
    ptrdiff_t slash = str_find(name, '/');

    if (slash >= 0 && str_rfind(name, '/') != slash) {
        problem_invalid(ps, p, jstr(ps->a, name), unknown);
        return;
    }
    name_check(ps, p, slash < 0 ? name : str_sub(name, 0, (size_t)slash), name_dns1123_label);
    if (slash >= 0)
        name_check(ps, p, str_sub(name, (size_t)slash + 1, name.n), name_dns1123_label);
    if (!has_request(requests, name))
        problem_invalid(ps, p, jstr(ps->a, name), unknown);
}

static void references_check(struct problems *ps, const struct path *p, jv refs, jv requests)
{
    JV_EACH (it, refs)
        reference_check(ps, EACH_AT(p, it), it.value, requests);
    device_list_size_check(ps, p, refs, MAX_REQUESTS);
    device_unique_check(ps, p, refs, "");
}

/* ---- configuration */

/* Any JSON object. */
static void raw_check(struct problems *ps, const struct path *p, jv v, size_t max)
{
    if (jv_is_null(v)) {
        problem_required(ps, p, "%s", "");
        return;
    }
    AUTO(buf) struct buf text = { 0 };
    json_print(&text, v);
    if (text.n > max)
        too_long(ps, p, (int64_t)max);
    else if (!jv_is(v, JV_OBJ))
        problem_invalid(ps, p, LSTR("<value omitted>"), "must be a valid JSON object");
}

static void opaque_check(struct problems *ps, const struct path *p, jv config)
{
    const struct path *q = AT(p, "opaque");
    jv opaque = FIELD(config, "opaque");

    if (jv_is_null(opaque)) {
        problem_required(ps, q, "%s", "");
        return;
    }
    csi_driver_name_check(ps, AT(q, "driver"), FIELD_STR(opaque, "driver"));
    raw_check(ps, AT(q, "parameters"), FIELD(opaque, "parameters"), MAX_PARAMETER_BYTES);
}

static void attribute_check(struct problems *ps, const struct path *p, jv attribute)
{
    str name = jv_str(attribute, S(""));

    device_qualified_name_check(ps, p, name);
    if (name.n && str_find(name, '/') < 0)
        problem_invalid(ps, p, attribute, "must include a domain");
}

static void constraint_check(struct problems *ps, const struct path *p, jv constraint, jv requests)
{
    jv match = FIELD(constraint, "matchAttribute");
    jv distinct = FIELD(constraint, "distinctAttribute");

    references_check(ps, AT(p, "requests"), FIELD(constraint, "requests"), requests);
    if (!jv_is_null(match))
        attribute_check(ps, AT(p, "matchAttribute"), match);
    else if (!jv_is_null(distinct))
        attribute_check(ps, AT(p, "distinctAttribute"), distinct);
    else
        problem_required(ps, AT(p, "matchAttribute"), "%s", "");
}

static void claimed_devices_check(struct problems *ps, const struct path *p, jv devices)
{
    const struct path *q = AT(p, "requests"), *r = AT(p, "constraints"), *s = AT(p, "config");
    jv requests = FIELD(devices, "requests");
    jv constraints = FIELD(devices, "constraints");
    jv config = FIELD(devices, "config");

    if (jv_len(requests) > MAX_REQUESTS) { /* each is compared with each below */
        too_many(ps, q, jv_len(requests), MAX_REQUESTS);
        return;
    }
    JV_EACH (it, requests)
        request_check(ps, EACH_AT(q, it), it.value);
    device_unique_check(ps, q, requests, "name");
    device_list_size_check(ps, r, constraints, MAX_CONSTRAINTS);
    device_list_size_check(ps, s, config, MAX_CONFIG);
    if (jv_len(constraints) > MAX_CONSTRAINTS || jv_len(config) > MAX_CONFIG)
        return;
    JV_EACH (it, constraints)
        constraint_check(ps, EACH_AT(r, it), it.value, requests);
    JV_EACH (it, config) {
        const struct path *at = EACH_AT(s, it);
        references_check(ps, AT(at, "requests"), FIELD(it.value, "requests"), requests);
        opaque_check(ps, at, it.value);
    }
}

/* ---- the kinds */

void resourceclaim_validate(struct problems *ps, jv obj)
{
    claimed_devices_check(ps, ROOT("spec.devices"), FIELD(FIELD(obj, "spec"), "devices"));
}

void resourceclaim_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("spec"), FIELD(obj, "spec"), FIELD(old, "spec"));
}

void resourceclaimtemplate_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");

    annotations_check(ps, ROOT("spec.metadata.annotations"), meta_annotations(spec));
    labels_check(ps, ROOT("spec.metadata.labels"), meta_labels(spec));
    claimed_devices_check(ps, ROOT("spec.spec.devices"), FIELD(FIELD(spec, "spec"), "devices"));
}

void deviceclass_validate(struct problems *ps, jv obj)
{
    const struct path *p = ROOT("spec.config");
    jv spec = FIELD(obj, "spec");

    selectors_check(ps, ROOT("spec.selectors"), FIELD(spec, "selectors"));
    JV_EACH (it, FIELD(spec, "config"))
        opaque_check(ps, EACH_AT(p, it), it.value);
    device_list_size_check(ps, p, FIELD(spec, "config"), MAX_CONFIG);
}

/* ---- the status of a claim */

static void consumer_check(struct problems *ps, const struct path *p, jv ref)
{
    required_check(ps, AT(p, "resource"), FIELD(ref, "resource"));
    required_check(ps, AT(p, "name"), FIELD(ref, "name"));
    required_check(ps, AT(p, "uid"), FIELD(ref, "uid"));
}

static void device_name_check(struct problems *ps, const struct path *p, jv device)
{
    csi_driver_name_check(ps, AT(p, "driver"), FIELD_STR(device, "driver"));
    device_pool_name_check(ps, AT(p, "pool"), FIELD_STR(device, "pool"));
    name_check(ps, AT(p, "device"), FIELD_STR(device, "device"), name_dns1123_label);
}

static bool same_device(jv x, jv y)
{
    return jv_equal(FIELD(x, "driver"), FIELD(y, "driver")) &&
           jv_equal(FIELD(x, "pool"), FIELD(y, "pool")) &&
           jv_equal(FIELD(x, "device"), FIELD(y, "device"));
}

static void device_status_check(struct problems *ps, const struct path *p, jv device, jv results)
{
    bool allocated = false;
    jv data = FIELD(device, "data");

    device_name_check(ps, p, device);
    for (struct jv_iter it = jv_iter(results); !allocated && jv_next(&it);)
        allocated = same_device(device, it.value);
    if (!allocated)
        problem_invalid(ps, p,
                        jstr(ps->a, arena_printf(ps->a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR,
                                                 STR_ARG(FIELD_STR(device, "driver")),
                                                 STR_ARG(FIELD_STR(device, "pool")),
                                                 STR_ARG(FIELD_STR(device, "device")))),
                        "must be an allocated device in the claim");
    device_list_size_check(ps, AT(p, "conditions"), FIELD(device, "conditions"), MAX_CONDITIONS);
    conditions_check(ps, AT(p, "conditions"), FIELD(device, "conditions"));
    if (!jv_is_null(data))
        raw_check(ps, AT(p, "data"), data, MAX_PARAMETER_BYTES);
    device_list_size_check(ps, AT(AT(p, "networkData"), "ips"),
                           FIELD(FIELD(device, "networkData"), "ips"), MAX_ADDRESSES);
}

static void allocation_check(struct problems *ps, const struct path *p, jv allocation, jv requests)
{
    static const char *const sources[] = { "FromClaim", "FromClass", NULL };
    const struct path *q = AT(AT(p, "devices"), "results"), *r = AT(AT(p, "devices"), "config");
    jv results = FIELD(FIELD(allocation, "devices"), "results");
    jv config = FIELD(FIELD(allocation, "devices"), "config");

    JV_EACH (it, results) {
        const struct path *at = EACH_AT(q, it);
        reference_check(ps, AT(at, "request"), FIELD(it.value, "request"), requests);
        device_name_check(ps, at, it.value);
    }
    JV_EACH (it, config) {
        const struct path *at = EACH_AT(r, it);
        enum_required(ps, AT(at, "source"), FIELD(it.value, "source"), sources);
        references_check(ps, AT(at, "requests"), FIELD(it.value, "requests"), requests);
        opaque_check(ps, at, it.value);
    }
    if (!jv_is_null(FIELD(allocation, "nodeSelector")))
        node_selector_check(ps, AT(p, "nodeSelector"), FIELD(allocation, "nodeSelector"));
}

static bool allocation_is_short(struct problems *ps, const struct path *p, jv allocation)
{
    size_t n = ps->n;
    jv devices = FIELD(allocation, "devices");

    device_list_size_check(ps, AT(AT(p, "devices"), "results"), FIELD(devices, "results"),
                           MAX_REQUESTS);
    device_list_size_check(ps, AT(AT(p, "devices"), "config"), FIELD(devices, "config"),
                           (size_t)2 * MAX_CONFIG);
    return ps->n == n;
}

static void reserved_check(struct problems *ps, jv obj, jv old)
{
    const struct path *p = ROOT("status.reservedFor");
    jv reserved = FIELD(FIELD(obj, "status"), "reservedFor");
    jv before = FIELD(FIELD(old, "status"), "reservedFor");

    if (!jv_len(reserved))
        return;
    if (jv_is_null(FIELD(FIELD(obj, "status"), "allocation"))) {
        problem_forbidden(ps, p, "may not be specified when `allocated` is not set");
        return;
    }
    if (!meta_being_deleted(obj))
        return;
    JV_EACH (it, reserved) {
        if (seen_before(before, jv_len(before), S("uid"), FIELD_STR(it.value, "uid")))
            continue;
        problem_forbidden(ps, p,
                          "new entries may not be added while `deallocationRequested` or "
                          "`deletionTimestamp` are set");
        return;
    }
}

void resourceclaim_validate_status(struct problems *ps, jv obj, jv old)
{
    const struct path *p = ROOT("status.reservedFor"), *q = ROOT("status.devices");
    const struct path *r = ROOT("status.allocation");
    jv status = FIELD(obj, "status");
    jv now = FIELD(status, "allocation"), before = FIELD(FIELD(old, "status"), "allocation");
    jv requests = FIELD(FIELD(FIELD(obj, "spec"), "devices"), "requests");

    device_list_size_check(ps, p, FIELD(status, "reservedFor"), MAX_RESERVED);
    if (jv_len(FIELD(status, "reservedFor")) > MAX_RESERVED || !allocation_is_short(ps, r, now))
        return;
    JV_EACH (it, FIELD(status, "reservedFor"))
        consumer_check(ps, EACH_AT(p, it), it.value);
    device_unique_check(ps, p, FIELD(status, "reservedFor"), "uid");
    JV_EACH (it, FIELD(status, "devices"))
        device_status_check(ps, EACH_AT(q, it), it.value, FIELD(FIELD(now, "devices"), "results"));
    reserved_check(ps, obj, old);
    if (!jv_is_null(now) && !jv_is_null(before))
        immutable_check(ps, r, now, before);
    else if (!jv_is_null(now))
        allocation_check(ps, r, now, requests);
}
