/* JSON Patch: the operations, and the answers that a kube-apiserver v1.34 gave to the same. */

#include "base/limits.h"
#include "kube/patch_json.h"
#include "tap.h"

static const char doc_text[] = "{'data': {'a': '1', 'b': '2'}, 'list': [1, 2, 3], 'n': null,"
                               " 'labels': {'a/c': 'x', 't~': 'y'}}";
static const char refused[] = "the server rejected our request due to an error in our request";

static const struct {
    const char *patch;
    const char *want; /* a document, or NULL: refused with 422 */
} cases[] = {
    { "[]", "{'data':{'a':'1'}}" },
    { "null", "{'data':{'a':'1'}}" },
    { "[{'op':'test','path':'/data/a','value':'1'}]", "{'data':{'a':'1'}}" },
    { "[{'op':'test','path':'/data/a','value':'9'}]", NULL },
    { "[{'op':'test','path':'/data/zz','value':'9'}]", NULL },
    { "[{'op':'test','path':'/data/zz','value':null}]", "{'data':{'a':'1'}}" },
    { "[{'op':'test','path':'/data/zz'}]", NULL }, /* there the connection breaks */
    { "[{'op':'test','path':'/nope/zz','value':null}]", NULL },
    { "[{'op':'test','path':'','value':{'data':{'a':'1'}}}]", "{'data':{'a':'1'}}" },
    { "[{'op':'test','path':'','value':{}}]", NULL },
    { "[{'op':'test','path':'/data','value':{'a':'1','c':null}}]", NULL },
    { "[{'op':'test','path':'/data/a','value':1}]", NULL },
    { "[{'op':'remove','path':'/data/a'}]", "{'data':{}}" },
    { "[{'op':'remove','path':'/data/zz'}]", NULL },
    { "[{'op':'remove','path':'/zz/y'}]", NULL },
    { "[{'op':'remove','path':''}]", NULL },
    { "[{'op':'replace','path':'/data/zz','value':'1'}]", "{'data':{'a':'1','zz':'1'}}" },
    { "[{'op':'replace','path':'/zz/y','value':'1'}]", NULL },
    { "[{'op':'replace','path':'/data/a'}]", "{'data':{'a':null}}" },
    { "[{'op':'replace','path':'','value':{'x':1}}]", "{'x':1}" },
    { "[{'op':'replace','path':'','value':1}]", "{'data':{'a':'1'}}" },
    { "[{'op':'add','path':'/zz/y','value':'1'}]", NULL },
    { "[{'op':'add','path':'/data/a/b','value':'1'}]", NULL },
    { "[{'op':'add','path':'/data/c'}]", "{'data':{'a':'1','c':null}}" },
    { "[{'op':'add','path':'','value':{}}]", NULL },
    { "[{'op':'add','path':'data/c','value':'1'}]", "{'data':{'a':'1'},'c':'1'}" },
    { "[{'op':'add','value':'1'}]", NULL },
    { "[{'op':'move','from':'/data/a','path':'/data/b'}]", "{'data':{'b':'1'}}" },
    { "[{'op':'move','from':'/data/a','path':'/data/a'}]", "{'data':{'a':'1'}}" },
    { "[{'op':'move','from':'/data','path':'/data/x'}]", NULL },
    { "[{'op':'move','from':'/data/zz','path':'/data/c'}]", NULL },
    { "[{'op':'move','path':'/data/c'}]", NULL },
    { "[{'op':'copy','from':'/data/a','path':'/data/b'}]", "{'data':{'a':'1','b':'1'}}" },
    { "[{'op':'copy','from':'/data','path':'/data/b'}]", "{'data':{'a':'1','b':{'a':'1'}}}" },
    { "[{'op':'copy','from':'/data/zz','path':'/data/c'}]", "{'data':{'a':'1','c':null}}" },
    { "[{'op':'copy','from':'/qq/zz','path':'/data/c'}]", NULL },
    { "[{'op':'copy','from':'/data/a','path':'/qq/c'}]", NULL },
    { "[{'op':'bogus','path':'/data/a'}]", NULL },
    { "[{'op':'TEST','path':'/data/a','value':'1'}]", NULL },
    { "[{'path':'/data/a'}]", NULL },
    { "[null]", NULL },
};

static void operations_answer_as_kube_apiserver_does(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *doc = J("{'data': {'a': '1'}}");
        AUTO(jdoc) struct jdoc *patch = J(cases[i].patch);
        struct err e = { 0 };
        jv got = patch_json(a, jdoc_root(doc), jdoc_root(patch), &e);

        if (cases[i].want) {
            is_json(got, cases[i].want, cases[i].patch);
        } else {
            ok(!jv_exists(got) && e.code == ERR_INVALID && str_eqz(str_of(refused), e.msg),
               "refused: %s", cases[i].patch);
        }
        is_json(jdoc_root(doc), "{'data':{'a':'1'}}", "the document itself stays");
    }
}

static const struct {
    const char *patch;
    const char *list; /* what becomes of [1, 2, 3]; NULL: refused */
} list_cases[] = {
    { "[{'op':'add','path':'/list/-','value':9}]", "[1,2,3,9]" },
    { "[{'op':'add','path':'/list/3','value':9}]", "[1,2,3,9]" },
    { "[{'op':'add','path':'/list/4','value':9}]", NULL },
    { "[{'op':'add','path':'/list/0','value':9}]", "[9,1,2,3]" },
    { "[{'op':'add','path':'/list/-1','value':9}]", "[1,2,3,9]" },
    { "[{'op':'add','path':'/list/-2','value':9}]", "[1,2,9,3]" },
    { "[{'op':'add','path':'/list/-5','value':9}]", NULL },
    { "[{'op':'add','path':'/list/01','value':9}]", "[1,9,2,3]" },
    { "[{'op':'add','path':'/list/x','value':9}]", NULL },
    { "[{'op':'add','path':'/list/99999999999999999999','value':9}]", NULL },
    { "[{'op':'remove','path':'/list/1'}]", "[1,3]" },
    { "[{'op':'remove','path':'/list/-1'}]", "[1,2]" },
    { "[{'op':'remove','path':'/list/3'}]", NULL },
    { "[{'op':'remove','path':'/list/-'}]", NULL },
    { "[{'op':'replace','path':'/list/2','value':9}]", "[1,2,9]" },
    { "[{'op':'replace','path':'/list/3','value':9}]", NULL },
    { "[{'op':'replace','path':'/list/-','value':9}]", NULL },
    { "[{'op':'test','path':'/list/1','value':2}]", "[1,2,3]" },
    { "[{'op':'test','path':'/list/7','value':2}]", NULL },
    { "[{'op':'test','path':'/list','value':[1,2,3]}]", "[1,2,3]" },
    { "[{'op':'add','path':'/list/-','value':9},{'op':'test','path':'/list','value':[1,2,3,9]}]",
      "[1,2,3,9]" },
    { "[{'op':'move','from':'/list/0','path':'/list/2'}]", "[2,3,1]" },
    { "[{'op':'copy','from':'/list/0','path':'/list/-'}]", "[1,2,3,1]" },
};

static void lists_take_indices_as_go_reads_them(void)
{
    for (size_t i = 0; i < COUNT(list_cases); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *doc = J(doc_text);
        AUTO(jdoc) struct jdoc *patch = J(list_cases[i].patch);
        jv got = patch_json(a, jdoc_root(doc), jdoc_root(patch), NULL);

        if (list_cases[i].list)
            is_json(jv_at(got, "list"), list_cases[i].list, list_cases[i].patch);
        else
            ok(!jv_exists(got), "refused: %s", list_cases[i].patch);
    }
}

static void pointers_unescape(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *doc = J(doc_text);
    AUTO(jdoc)
    struct jdoc *patch = J("[{'op':'add','path':'/labels/a~1c','value':'1'},"
                           "{'op':'remove','path':'/labels/t~0'},"
                           "{'op':'add','path':'/labels/a~2','value':'2'}]");

    jv got = patch_json(a, jdoc_root(doc), jdoc_root(patch), NULL);
    is_json(jv_at(got, "labels"), "{'a/c':'1','a~2':'2'}", "~1 is /, ~0 is ~, ~2 is itself");
}

static void what_is_no_patch_is_a_bad_request(void)
{
    static const struct {
        const char *patch;
        const char *msg;
    } bad[] = {
        { "{'op':'add'}", "error decoding patch: json: cannot unmarshal object into Go value of "
                          "type []handlers.jsonPatchOp" },
        { "'x'", "error decoding patch: json: cannot unmarshal string into Go value of type "
                 "[]handlers.jsonPatchOp" },
        { "[1]", "error decoding patch: json: cannot unmarshal number into Go value of type "
                 "handlers.jsonPatchOp" },
        { "[{'op':1,'path':'/data/a'}]", "error decoding patch: json: cannot unmarshal number into "
                                         "Go struct field jsonPatchOp.op of type string" },
        { "[{'op':'add','path':1}]", "error decoding patch: json: cannot unmarshal number into Go "
                                     "struct field jsonPatchOp.path of type string" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *patch = J(bad[i].patch);
        struct err e = { 0 };

        ok(!jv_exists(patch_json(a, JV_EMPTY_OBJ, jdoc_root(patch), &e)), "%s", bad[i].patch);
        is_int(e.code, ERR_BAD_REQUEST, "is a bad request");
        is_str(str_of(e.msg), str_of(bad[i].msg), "and says why");
    }
}

static jv many(struct arena *a, size_t n, const char *op)
{
    AUTO(jdoc) struct jdoc *d = J(op);
    jv one = jv_copy(a, jdoc_root(d));
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b, one);
    return jb_done(&b);
}

static void sizes_are_bounded(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *doc = J("{'a': {'x': ['0123456789', '0123456789']}}");
    struct err e = { 0 };

    jv got = patch_json(a, jdoc_root(doc), many(a, 10001, "{'op':'test','path':'','value':1}"), &e);
    ok(!jv_exists(got) && e.code == ERR_TOO_LARGE, "10001 operations are too many");
    is_str(str_of(e.msg),
           S("Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
             "got 10001"),
           "and the answer says so");

    /* each doubles the list: 2^40 bytes if let */
    got = patch_json(a, jdoc_root(doc), many(a, 40, "{'op':'copy','from':'/a/x','path':'/a/x/-'}"),
                     &e);
    ok(!jv_exists(got) && e.code == ERR_INVALID, "copies of copies stop at the limit");
    ok(arena_size(a) < (size_t)64 << 20, "before they eat memory");

    struct jbuild b = jb_arr(a);
    for (int i = 0; i < 1000; i++) {
        AUTO(jdoc)
        struct jdoc *d = J("[{'op':'add','path':'/t','value':{}},"
                           "{'op':'move','from':'/a','path':'/t/a'},"
                           "{'op':'move','from':'/t','path':'/a'}]");
        JV_EACH (it, jv_copy(a, jdoc_root(d)))
            jb_push(&b, it.value);
    }
    got = patch_json(a, jdoc_root(doc), jb_done(&b), &e);
    ok(!jv_exists(got), "what gets too deep is refused");
}

static void many_operations_on_a_large_list_are_cheap(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild list = jb_arr(a);
    struct jbuild obj = jb_obj(a);

    for (int i = 0; i < 20000; i++)
        jb_push(&list, jint(a, i));
    jb_add(&obj, S("list"), jb_done(&list));
    jv got = patch_json(a, jb_done(&obj), many(a, 10000, "{'op':'add','path':'/list/-','value':1}"),
                        NULL);
    is_int((int64_t)jv_len(jv_at(got, "list")), 30000, "ten thousand are added");
    ok(arena_size(a) < (size_t)64 << 20, "without a copy of the list each");
}

static void note(void *ctx, str path)
{
    struct buf *b = ctx;

    buf_add(b, path);
    buf_addc(b, ' ');
}

static void unknown_members_of_operations_are_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf told = { 0 };
    AUTO(jdoc)
    struct jdoc *patch =
        J("[{'op':'test','path':'/a','value':1,'from':'x'},{'op':'add','extra':3}]");

    patch_json_unknown(a, jdoc_root(patch), &(struct schema_report){ note, &told });
    is_str(buf_str(&told), S("[1].extra "), "by index and name");
}

int main(void)
{
    operations_answer_as_kube_apiserver_does();
    lists_take_indices_as_go_reads_them();
    pointers_unescape();
    what_is_no_patch_is_a_bad_request();
    sizes_are_bounded();
    many_operations_on_a_large_list_are_cheap();
    unknown_members_of_operations_are_told();
    return tap_done();
}
