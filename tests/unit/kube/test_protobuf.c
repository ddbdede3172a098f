/* What the wire may do besides what Kubernetes' own encoder does; that is in builtin/test_wire.c.
 */

#include "builtin/types/types.h"
#include "builtin/wire.h"
#include "kube/protobuf.h"
#include "tap.h"

#define BYTES(lit) ((str){ (lit), sizeof(lit) - 1 })

static void reads(const struct schema *s, str bytes, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    is_json(protobuf_decode(a, s, bytes, &builtin_wire, &e), want, what);
}

static void refuses(const struct schema *s, str bytes, const char *why, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    ok(!jv_exists(protobuf_decode(a, s, bytes, &builtin_wire, &e)), "%s is refused", what);
    is_str(str_of(e.msg), str_of(why), "and why is told");
}

static void an_envelope_says_what_it_holds(void)
{
    struct protobuf_body b = { 0 };
    struct err e = { 0 };

    is_int(protobuf_open(BYTES("k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
                               "ConfigMap\x12\x02xy\x1a\x00\x22\x00"),
                         &b, &e),
           0, "an envelope opens");
    is_str(b.kind, S("ConfigMap"), "it has a kind");
    is_str(b.api_version, S("v1"), "and a version");
    is_str(b.raw, S("xy"), "and the object");
}

static void what_is_no_envelope_is_refused(void)
{
    static const struct {
        str bytes;
        const char *why;
    } cases[] = {
        { S_INIT(""), "empty data" },
        { S_INIT("k8s"), "provided data does not appear to be a protobuf message, expected prefix "
                         "[107 56 115 0]" },
        { S_INIT("k8s\0"), "empty body" },
        { S_INIT("k8s\0garbage"), "proto: illegal wireType 7" },
        { S_INIT("k8s\0\x0a\x05"), "unexpected EOF" },
        { S_INIT("k8s\0\x0a"), "unexpected EOF" },
        { S_INIT("k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "proto: integer overflow" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct protobuf_body b = { 0 };
        struct err e = { 0 };
        is_int(protobuf_open(cases[i].bytes, &b, &e), -1, "it does not open");
        is_str(str_of(e.msg), str_of(cases[i].why), "in kube-apiserver's words");
    }
}

static void lists_come_packed_or_one_by_one(void)
{
    /* PodSecurityContext.supplementalGroups is 4, inside PodSpec 14, Pod 2 */
    reads(&core_Pod, BYTES("\x12\x09\x72\x07\x22\x02\x01\x02\x20\xac\x02"),
          "{'spec':{'securityContext':{'supplementalGroups':[1,2,300]}}}", "both in one list");
    reads(&core_Pod, BYTES("\x0a\x0a\x72\x01z\x0a\x01n\x72\x02yx"),
          "{'metadata':{'finalizers':['z','yx'],'name':'n'}}", "a list need not lie together");
}

static void the_last_of_a_key_counts(void)
{
    reads(&core_ConfigMap,
          BYTES("\x12\x06\x0a\x01z\x12\x01"
                "1\x12\x06\x0a\x01"
                "a\x12\x01"
                "2\x12\x06\x0a\x01z\x12\x01"
                "3\x12\x03\x0a\x01k"),
          "{'data':{'a':'2','k':'','z':'3'}}", "maps are in order, and hold each key once");
}

static void what_is_unknown_is_skipped(void)
{
    reads(&core_ConfigMap, BYTES("\x78\x01\x82\x01\x02xx\x8d\x01wwww\x91\x01wwwwwwww\x20\x01"),
          "{'immutable':true}", "fields without a name");
}

static void what_cannot_be_is_refused(void)
{
    refuses(&core_ConfigMap, BYTES("\x0a\x03\x0a\x01\xff"),
            "proto: text is not UTF-8 at byte 4 of the object", "bytes that are no text");
    refuses(&core_ConfigMap, BYTES("\x12\x03\x0a\x01\xff"),
            "proto: text is not UTF-8 at byte 4 of the object", "or no key");
    refuses(&core_ConfigMap, BYTES("\x08\x01"), "proto: wrong wireType = 0 for field metadata",
            "a number for a message");
    refuses(&core_ConfigMap, BYTES("\x0a\x03\x0a\x01"), "unexpected EOF", "half an object");
    refuses(&core_ConfigMap, BYTES("\x0a\x00\x0a\x00"), "proto: a message that comes in parts",
            "a message in two parts");
    refuses(&core_ConfigMap, BYTES("\x0b"), "proto: illegal wireType 3", "a group");
    refuses(&core_ConfigMap, BYTES("\x02\x00"), "proto: illegal tag 0 (wire type 2)", "field 0");
}

static void nesting_has_an_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str v = S("");
    struct err e = { 0 };

    /* JSONSchemaProps.not is 28: two bytes of tag, then a length of one to three bytes */
    for (int i = 0; i < 600; i++)
        v = v.n < 128
                ? arena_printf(a, "\xe2\x01%c%.*s", (int)v.n, STR_ARG(v))
                : arena_cat(
                      a, arena_printf(a, "\xe2\x01%c%c", (int)(v.n & 127) | 128, (int)(v.n >> 7)),
                      v);
    ok(!jv_exists(protobuf_decode(a, &apiext_JSONSchemaProps, v, &builtin_wire, &e)),
       "600 levels are too many");
    is_str(str_of(e.msg), S("proto: exceeded max depth"), "and why is told");
}

int main(void)
{
    an_envelope_says_what_it_holds();
    what_is_no_envelope_is_refused();
    lists_come_packed_or_one_by_one();
    the_last_of_a_key_counts();
    what_is_unknown_is_skipped();
    what_cannot_be_is_refused();
    nesting_has_an_end();
    return tap_done();
}
