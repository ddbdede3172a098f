/* JSON Merge Patch: the RFC's own cases, and what kube-apiserver v1.34 says to what is none. */

#include "kube/patch_merge.h"
#include "tap.h"

static const struct {
    const char *doc;
    const char *patch;
    const char *want;
} cases[] = {
    /* RFC 7386, appendix A, as far as it speaks of objects */
    { "{'a':'b'}", "{'a':'c'}", "{'a':'c'}" },
    { "{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}" },
    { "{'a':'b'}", "{'a':null}", "{}" },
    { "{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}" },
    { "{'a':['b']}", "{'a':'c'}", "{'a':'c'}" },
    { "{'a':'c'}", "{'a':['b']}", "{'a':['b']}" },
    { "{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}" },
    { "{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}" },
    { "{'e':null}", "{'a':1}", "{'e':null,'a':1}" },
    { "{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}" },
    /* beyond it */
    { "{'a':1}", "{'b':[null,{'c':null,'d':1}]}", "{'a':1,'b':[null,{'d':1}]}" },
    { "{'a':{'x':1}}", "{'a':[{'c':null}]}", "{'a':[{'c':null}]}" },
    { "{'a':null}", "{'a':{'b':null}}", "{'a':{}}" },
};

static void patches_merge(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *doc = J(cases[i].doc);
        AUTO(jdoc) struct jdoc *patch = J(cases[i].patch);

        is_json(patch_merge(a, jdoc_root(doc), jdoc_root(patch), NULL), cases[i].want,
                cases[i].patch);
    }
}

static void what_is_no_object_is_a_bad_request(void)
{
    static const struct {
        const char *patch;
        const char *msg;
    } bad[] = {
        { "null", "Invalid JSON Patch" },
        { "[1]", "error decoding patch: json: cannot unmarshal array into Go value of type "
                 "map[string]interface {}" },
        { "true", "error decoding patch: json: cannot unmarshal bool into Go value of type "
                  "map[string]interface {}" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *patch = J(bad[i].patch);
        struct err e = { 0 };

        ok(!jv_exists(patch_merge(a, JV_EMPTY_OBJ, jdoc_root(patch), &e)), "%s", bad[i].patch);
        is_str(str_of(e.msg), str_of(bad[i].msg), "says why");
    }
}

static void large_objects_merge_in_linear_time(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild doc = jb_obj(a);
    struct jbuild patch = jb_obj(a);

    for (int i = 0; i < 100000; i++) {
        jb_add(&doc, arena_printf(a, "k%d", i), JV_TRUE);
        jb_add(&patch, arena_printf(a, "k%d", i + 50000), JV_FALSE);
    }
    jv got = patch_merge(a, jb_done(&doc), jb_done(&patch), NULL);
    is_int((int64_t)jv_len(got), 150000, "half of them are new");
}

int main(void)
{
    patches_merge();
    what_is_no_object_is_a_bad_request();
    large_objects_merge_in_linear_time();
    return tap_done();
}
