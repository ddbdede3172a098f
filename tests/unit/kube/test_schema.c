#include "kube/schema.h"
#include "tap.h"

/* A small type of each sort; the real tables are tried in tests/unit/builtin. */
static const struct schema_field port_fields[] = {
    { .name = S_INIT("name"), .schema = &schema_string },
    { .name = S_INIT("port"), .schema = &schema_int32, .flags = FIELD_REQUIRED | FIELD_KEEP_EMPTY },
    { .name = S_INIT("target"), .schema = &schema_int_or_string, .flags = FIELD_POINTER },
};
static const struct schema port = {
    .type = SCHEMA_OBJECT, .go_name = "v1.Port", .fields = port_fields, .n_fields = 3
};
static const struct schema ports = { .type = SCHEMA_LIST, .items = &port };
static const struct schema labels = { .type = SCHEMA_MAP, .items = &schema_string };
static const struct schema amounts = { .type = SCHEMA_MAP,
                                       .items = &schema_quantity,
                                       .go_name = "v1.ResourceList" };
static const struct schema bytes_map = { .type = SCHEMA_MAP, .items = &schema_bytes };
static const struct schema any_or_port = { .type = SCHEMA_ANY, .items = &port };
static const struct schema_field thing_fields[] = {
    { .name = S_INIT("ports"), .schema = &ports, .flags = FIELD_KEEP_EMPTY },
    { .name = S_INIT("labels"), .schema = &labels },
    { .name = S_INIT("limits"), .schema = &amounts },
    { .name = S_INIT("since"), .schema = &schema_time },
    { .name = S_INIT("renew"), .schema = &schema_micro_time, .flags = FIELD_POINTER },
    { .name = S_INIT("data"), .schema = &bytes_map },
    { .name = S_INIT("on"), .schema = &schema_bool },
    { .name = S_INIT("maybe"), .schema = &schema_bool, .flags = FIELD_POINTER },
    { .name = S_INIT("count"), .schema = &schema_int64 },
    { .name = S_INIT("ratio"), .schema = &schema_double, .flags = FIELD_POINTER },
    { .name = S_INIT("raw"), .schema = &schema_raw, .flags = FIELD_POINTER },
    { .name = S_INIT("first"), .schema = &port, .flags = FIELD_POINTER },
    { .name = S_INIT("or"), .schema = &any_or_port, .flags = FIELD_POINTER },
};
static const struct schema thing = { .type = SCHEMA_OBJECT,
                                     .go_name = "v1.Thing",
                                     .fields = thing_fields,
                                     .n_fields = COUNT(thing_fields) };

static void decodes(const char *in, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(in);
    struct err e = { 0 };
    jv got = schema_decode(a, &thing, jdoc_root(d), NULL, &e);

    if (!jv_exists(got))
        ok(false, "%s: %s", what, e.msg);
    else
        is_json(got, want, what);
}

static void fails(const char *in, const char *want)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(in);
    struct err e = { 0 };

    ok(!jv_exists(schema_decode(a, &thing, jdoc_root(d), NULL, &e)), "fails: %s", in);
    is_str(str_of(e.msg), str_of(want), "with Go's words");
    is_int(e.code, ERR_BAD_REQUEST, "as a bad request");
}

static void what_does_not_change_is_shared(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'ports': [{'name': 'a', 'port': 1, 'target': 'x'}], 'labels': {'a': 'b'},"
                       " 'limits': {'cpu': '1'}, 'since': '2020-01-02T03:04:05Z',"
                       " 'ratio': 1.5}");
    size_t before = arena_size(a);

    ok(schema_decode(a, &thing, jdoc_root(d), NULL, NULL).node == jdoc_root(d).node,
       "a canonical object is itself");
    is_int((int64_t)arena_size(a), (int64_t)before, "and takes no memory");
}

static void values_become_canonical(void)
{
    decodes("{'ports': [], 'limits': {'cpu': '1000m', 'memory': 1, 'x': '1024Mi'}}",
            "{'ports': [], 'limits': {'cpu': '1', 'memory': '1', 'x': '1Gi'}}", "quantities");
    decodes("{'ports': [], 'since': '2020-01-02T03:04:05.6+01:00'}",
            "{'ports': [], 'since': '2020-01-02T02:04:05Z'}", "times");
    decodes("{'ports': [], 'since': '0001-01-01T00:00:00Z'}", "{'ports': []}", "the zero time");
    decodes("{'ports': [], 'renew': '2020-01-02T03:04:05.000000+01:00'}",
            "{'ports': [], 'renew': '2020-01-02T02:04:05.000000Z'}", "times with a fraction");
    decodes("{'ports': [], 'data': {'a': 'aG\\nk=', 'b': [104, 105], 'c': null}}",
            "{'ports': [], 'data': {'a': 'aGk=', 'b': 'aGk=', 'c': null}}", "bytes");
    decodes("{'ports': [], 'ratio': 1.50}", "{'ports': [], 'ratio': 1.5}", "fractions");
    decodes("{'ports': [], 'ratio': 2.0}", "{'ports': [], 'ratio': 2}", "whole fractions");
    decodes("{'ports': [], 'ratio': 1e3}", "{'ports': [], 'ratio': 1000}", "exponents");
    decodes("{'ports': [], 'ratio': 0.00000012}", "{'ports': [], 'ratio': 1.2e-7}", "small ones");
    decodes("{'ports': [], 'ratio': 123456.789}", "{'ports': [], 'ratio': 123456.789}", "digits");
    decodes("{'ports': [], 'ratio': 1e300}", "{'ports': [], 'ratio': 1e+300}", "large ones");
}

static void empty_values_go_unless_kept(void)
{
    decodes("{}", "{'ports': null}", "a missing list that Go prints");
    decodes("{'ports': null, 'labels': null, 'since': null, 'maybe': null}", "{'ports': null}",
            "null is like missing");
    decodes("{'ports': [], 'labels': {}, 'on': false, 'count': 0}", "{'ports': []}",
            "zero values of omitempty");
    decodes("{'ports': [], 'maybe': false, 'first': {}}",
            "{'ports': [], 'maybe': false, 'first': {'port': 0}}", "pointers to zero values");
    decodes("{'ports': [null, {'name': ''}], 'labels': {'a': null}}",
            "{'ports': [{'port': 0}, {'port': 0}], 'labels': {'a': ''}}",
            "null within lists and maps");
    decodes("{'ports': [], 'raw': {'a': null, 'b': {}}}",
            "{'ports': [], 'raw': {'a': null, 'b': {}}}", "free values are left alone");
    decodes("{'ports': [], 'or': {'x': 1}}", "{'ports': [], 'or': {'port': 0}}",
            "an object where a type may stand");
    decodes("{'ports': [], 'or': [true, {'x': 1}]}", "{'ports': [], 'or': [true, {'port': 0}]}",
            "or in a list there");
    decodes("{'ports': [], 'or': true}", "{'ports': [], 'or': true}", "or something else");
}

static void wrong_types_are_told_as_go_does(void)
{
#define JSON_ERR "json: cannot unmarshal "
    fails("{'ports': 'x'}", JSON_ERR "string into Go struct field Thing.ports of type []v1.Port");
    fails("{'ports': [5]}", JSON_ERR "number into Go struct field Thing.ports of type v1.Port");
    fails("{'ports': [{'port': '5'}]}",
          JSON_ERR "string into Go struct field Port.ports.port of type int32");
    fails("{'ports': [{'port': 5.5}]}",
          JSON_ERR "number 5.5 into Go struct field Port.ports.port of type int32");
    fails("{'ports': [{'port': 8000000000}]}",
          JSON_ERR "number 8000000000 into Go struct field Port.ports.port of type int32");
    fails("{'ports': [{'target': true}]}",
          JSON_ERR "bool into Go struct field Port.ports.target of type int32");
    fails("{'ports': [{'target': 1.5}]}",
          JSON_ERR "number 1.5 into Go struct field Port.ports.target of type int32");
    fails("{'labels': {'a': 1}}",
          JSON_ERR "number into Go struct field Thing.labels of type string");
    fails("{'labels': []}",
          JSON_ERR "array into Go struct field Thing.labels of type map[string]string");
    fails("{'limits': 'x'}",
          JSON_ERR "string into Go struct field Thing.limits of type v1.ResourceList");
    fails("{'since': 5}", JSON_ERR "number into Go struct field Thing.since of type string");
    fails("{'data': {'a': 5}}", JSON_ERR "number into Go struct field Thing.data of type []uint8");
    fails("{'data': {'a': [300]}}",
          JSON_ERR "number 300 into Go struct field Thing.data of type uint8");
    fails("{'or': {'name': 5}}", JSON_ERR "number into Go struct field Thing.or of type string");
    fails("[]", JSON_ERR "array into Go value of type v1.Thing");
    fails("{'since': 'x'}",
          "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"");
    fails("{'data': {'a': 'b!'}}", "illegal base64 data at input byte 1");
    fails("{'limits': {'cpu': {}}}", "quantities must match the regular expression "
                                     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

static void the_first_error_wins_but_for_own_readers(void)
{
    fails("{'ports': 1, 'labels': 2}",
          JSON_ERR "number into Go struct field Thing.ports of type []v1.Port");
    fails("{'ports': 1, 'data': {'a': '!'}}",
          JSON_ERR "number into Go struct field Thing.ports of type []v1.Port");
    fails("{'ports': 1, 'limits': {'a': 'x'}, 'since': 'x'}",
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

static void add_line(void *ctx, str path)
{
    buf_add(ctx, path);
    buf_addc(ctx, ' ');
}

static void unknown_fields_are_dropped_and_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    AUTO(jdoc)
    struct jdoc *d = J("{'Ports': 1, 'ports': [{'port': 1}, {'port': 2, 'x': 3}],"
                       " 'first': {'port': 1, 'nAme': 2}, 'z': {'y': 1}}");
    const struct schema_report report = { add_line, &b };
    jv got = schema_decode(a, &thing, jdoc_root(d), &report, NULL);

    is_json(got, "{'ports': [{'port': 1}, {'port': 2}], 'first': {'port': 1}}", "dropped");
    is_str(buf_str(&b), S("Ports ports[1].x first.nAme z "), "and told by path");
    ok(jv_at(got, "first").node != jv_at(jdoc_root(d), "first").node, "in a changed copy");
    ok(jv_index(jv_at(got, "ports"), 0).node->u.items ==
           jv_index(jv_at(jdoc_root(d), "ports"), 0).node->u.items,
       "that shares the rest");
}

static void members_are_found_by_name(void)
{
    ok(schema_member(&thing, S("ports")) == &ports, "a field");
    ok(schema_member(&labels, S("any")) == &schema_string, "a key of a map");
    ok(!schema_member(&thing, S("Ports")) && !schema_member(NULL, S("x")), "nothing else");
    ok(schema_field(&port, S("port"))->flags & FIELD_REQUIRED, "with its flags");
}

int main(void)
{
    what_does_not_change_is_shared();
    values_become_canonical();
    empty_values_go_unless_kept();
    wrong_types_are_told_as_go_does();
    the_first_error_wins_but_for_own_readers();
    unknown_fields_are_dropped_and_told();
    members_are_found_by_name();
    return tap_done();
}
