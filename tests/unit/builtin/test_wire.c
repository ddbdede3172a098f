/* The numbers of wire.c, and protobuf read and written by them: golden/protobuf/cases.txt has
 * objects of every kind as Kubernetes' own encoder wrote them, and what its decoder made of that,
 * as JSON. */

#include "builtin/kind.h"
#include "builtin/types/types.h"
#include "builtin/wire.h"

#include "base/base64.h"
#include "slurp.h"

/* Bodies that are no kinds of their own. */
static const struct other {
    const char *type;
    const struct schema *schema;
} others[] = {
    { "v1 Binding", &core_Binding },
    { "v1 DeleteOptions", &meta_DeleteOptions },
    { "autoscaling/v1 Scale", &autoscaling1_Scale },
    { "policy/v1 Eviction", &policy_Eviction },
    { "authentication.k8s.io/v1 TokenRequest", &authn_TokenRequest },
};

static const struct schema *schema_of(struct arena *a, str type)
{
    for (size_t i = 0; i < COUNT(others); i++)
        if (str_eqz(type, others[i].type))
            return others[i].schema;
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (str_eq(type, arena_printf(a, "%s%s%s %s", k->group, k->group[0] ? "/" : "", k->version,
                                      k->kind)))
            return k->schema;
    }
    return NULL;
}

static void the_table_is_in_order(void)
{
    bool in_order = true;

    for (size_t i = 1; i < builtin_wire.n; i++)
        in_order =
            in_order && strcmp(builtin_wire.types[i - 1].name, builtin_wire.types[i].name) < 0;
    ok(in_order, "types are found by a search that needs them in order");
}

/* One line: type, base64, JSON, with tabs between. */
static bool is_read_as_go_does(str line)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    str type = str_cut(&line, '\t');
    str text = str_cut(&line, '\t');
    str bytes = STR_NONE;
    const struct schema *s = schema_of(a, type);
    jv want = json_parse(a, line, NULL, &e);

    if (!s || !jv_exists(want) || base64_decode(a, text, &bytes, &e) < 0) {
        printf("# %" PRI_STR ": %s\n", STR_ARG(type), s ? e.msg : "no such kind");
        return false;
    }
    jv raw = protobuf_decode(a, s, bytes, &builtin_wire, &e);
    jv have = jv_exists(raw) ? schema_decode(a, s, raw, NULL, &e) : raw;
    if (jv_equal(have, want))
        return true;
    printf("# %" PRI_STR "\n# want %" PRI_STR "\n# have %" PRI_STR "%s\n", STR_ARG(type),
           STR_ARG(json_text(a, want)), STR_ARG(jv_exists(have) ? json_text(a, have) : S("")),
           e.msg);
    return false;
}

static void objects_are_read_as_go_does(str cases)
{
    size_t n = 0;
    size_t wrong = 0;

    while (cases.n) {
        str line = str_cut(&cases, '\n');
        n++;
        wrong += !is_read_as_go_does(line);
    }
    ok(n >= 300, "there are objects to read");
    is_int((int64_t)wrong, 0, "all of them are read as Go reads them");
}

/* ---- writing */

enum written { WRITTEN, REFUSED, WRONG };

/* What is written is, when it is read, the same again. */
static enum written write_again(struct arena *a, const struct schema *s, str type, jv v)
{
    AUTO(buf) struct buf b = { 0 };
    struct protobuf_body body;
    struct err e = { 0 };
    str version = str_cut(&type, ' ');
    jv whole = jv_with(a, v, jstr(a, type), "kind");

    whole = jv_with(a, whole, jstr(a, version), "apiVersion");
    if (protobuf_encode(a, s, whole, &builtin_wire, &b, &e) < 0) {
        printf("# %" PRI_STR ": %s\n", STR_ARG(type), e.msg);
        return b.n || e.code != ERR_INVALID ? WRONG : REFUSED;
    }
    if (protobuf_open(arena_str(a, buf_str(&b)), &body, &e) < 0)
        return WRONG;
    jv raw = protobuf_decode(a, s, body.raw, &builtin_wire, &e);
    jv have = jv_exists(raw) ? schema_decode(a, s, raw, NULL, &e) : raw;
    if (str_eq(body.kind, type) && str_eq(body.api_version, version) &&
        jv_equal(have, schema_decode(a, s, v, NULL, NULL)))
        return WRITTEN;
    printf("# %" PRI_STR "\n# want %" PRI_STR "\n# have %" PRI_STR "%s\n", STR_ARG(type),
           STR_ARG(json_text(a, v)), STR_ARG(jv_exists(have) ? json_text(a, have) : S("")), e.msg);
    return WRONG;
}

/* As one creates it: nothing in it that only the server writes. */
static jv as_created(struct arena *a, jv v)
{
    static const char *const servers[] = { "creationTimestamp", "deletionTimestamp",
                                           "managedFields" };

    for (size_t i = 0; i < COUNT(servers); i++)
        v = jv_with_path(a, v, JV_ABSENT, (const char *const[]){ "metadata", servers[i], NULL });
    return jv_with(a, v, JV_EMPTY_OBJ, "status");
}

static void objects_are_written_as_they_are_read(str cases)
{
    size_t n[3] = { 0 };
    size_t created = 0, refused = 0;

    while (cases.n) {
        AUTO(arena) struct arena *a = arena_new();
        str line = str_cut(&cases, '\n');
        str type = str_cut(&line, '\t');
        const struct schema *s = schema_of(a, type);
        str_cut(&line, '\t');
        jv v = json_parse(a, line, NULL, NULL);
        n[write_again(a, s, type, v)]++;
        if (s != &core_Pod && s != &core_Service)
            continue;
        created++;
        refused += write_again(a, s, type, as_created(a, v)) != WRITTEN;
    }
    is_int((int64_t)n[WRONG], 0, "what is written is read as the same again");
    ok(n[WRITTEN] >= 100, "of many kinds: %zu, and %zu are not written", n[WRITTEN], n[REFUSED]);
    ok(created >= 14, "there are pods and services");
    is_int((int64_t)refused, 1, "written as one creates them, but for one with a time in a volume");
}

static void refuses(const struct schema *s, const char *quoted, const char *why)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(quoted);
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    is_int(protobuf_encode(a, s, jdoc_root(d), &builtin_wire, &b, &e), -1, quoted);
    is_str(str_of(e.msg), str_of(why), "and says why");
    is_int((int64_t)b.n, 0, "and adds nothing");
}

static void what_json_says_otherwise_is_not_written(void)
{
    refuses(&core_Pod, "{'spec':{'fresh':1}}",
            "io.k8s.api.core.v1.PodSpec: has a field that is not known");
    refuses(&core_Pod, "{'spec':{'nodeName':1}}", "nodeName: is no text");
    refuses(&core_Pod, "{'spec':{'hostPID':'x'}}", "hostPID: is neither true nor false");
    refuses(&core_Pod, "{'spec':{'priority':2147483648}}", "priority: is no integer of that size");
    refuses(&core_Pod, "{'spec':{'priority':1.5}}", "priority: is no integer of that size");
    refuses(&core_Pod, "{'spec':{'containers':[]}}", "containers: is no list, or empty");
    refuses(&core_Pod, "{'spec':{'containers':[null]}}", "containers: is no object");
    refuses(&core_Pod, "{'metadata':{'labels':{}}}", "labels: is no map, or empty");
    refuses(&core_Pod, "{'metadata':{'labels':{'a':null}}}", "labels: is no text");
    refuses(&core_Pod, "{'spec':{'overhead':{'cpu':'4 pounds'}}}", "overhead: is no quantity");
    refuses(&core_Pod, "{'metadata':{'creationTimestamp':'2020-01-01T00:00:00Z'}}",
            "creationTimestamp: has a type that protobuf output does not support");
    refuses(&core_Service, "{'spec':{'ports':[{'targetPort':true}]}}",
            "targetPort: is neither a text nor an int32");
    refuses(&core_Pod, "{'spec':'x'}", "spec: is no object");
    refuses(&core_Pod, "{'spec':{'containers':[{'livenessProbe':{'exec':{},'x':0}}]}}",
            "io.k8s.api.core.v1.Probe: has a field that is not known");
}

static void null_is_what_is_not_there(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'n',"
                       "'creationTimestamp':null},'spec':null}");
    AUTO(buf) struct buf b = { 0 };

    is_int(protobuf_encode(a, &core_Pod, jdoc_root(d), &builtin_wire, &b, NULL), 0, "is written");
    ok(str_eq(buf_str(&b), S("k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x05\x0a\x03\x0a\x01n")),
       "as nothing");
}

int main(int argc, char **argv)
{
    the_table_is_in_order();
    what_json_says_otherwise_is_not_written();
    null_is_what_is_not_there();
    if (argc > 1) {
        AUTO(arena) struct arena *a = arena_new();
        str cases = slurp(a, argv[1]);
        objects_are_read_as_go_does(cases);
        objects_are_written_as_they_are_read(cases);
    }
    return tap_done();
}
