/* JSONPath, against what k8s.io/client-go/util/jsonpath gives. */

#include "kube/jsonpath.h"
#include "tap.h"

static const char doc[] =
    "{'spec': {'n': 3, 'd.e': 5, 'null': null, 'name': 'x', 'f': 1.5, 'list': [1, 2, 3, {'c': 'y'}]},"
    " 'conditions': [{'type': 'Ready', 'status': 'True', 'v': 3},"
    " {'type': 'Other', 'status': 'False', 'v': 5, 'ok': true}, {'type': 'x )', 'v': -1}]}";

static str eval(struct arena *a, const char *path, jv root)
{
    AUTO(buf) struct buf b = { 0 };
    struct jv_list found = { 0 };
    const struct jsonpath *p = jsonpath_compile(a, str_of(path));

    if (!p)
        return S("no path");
    if (jsonpath_eval(p, a, root, &found) < 0)
        return S("error");
    for (size_t i = 0; i < found.n; i++) {
        if (i)
            buf_addc(&b, ' ');
        buf_add(&b, jsonpath_print(a, found.at[i]));
    }
    return arena_str(a, buf_str(&b));
}

static void paths_find_what_kubectl_finds(void)
{
    static const struct {
        const char *path;
        const char *found;
    } rows[] = {
        { ".spec.n", "3" },
        { "{.spec.n}", "3" },
        { "$.spec.name", "x" },
        { ".spec.f", "1.5" },
        { ".spec.null", "null" },
        { ".spec.none", "" },
        { ".spec.none.deeper", "" },
        { ".spec.name.deeper", "" },
        { ".spec.d\\.e", "5" },
        { ".spec['d\\.e']", "5" },
        { ".spec['d.e']", "" }, /* two steps, odd as it looks */
        { "['spec']['n']", "3" },
        { ".spec.list[0]", "1" },
        { ".spec.list[-1]", "{\"c\":\"y\"}" },
        { ".spec.list[0:2]", "1 2" },
        { ".spec.list[1:]", "2 3 {\"c\":\"y\"}" },
        { ".spec.list[:2]", "1 2" },
        { ".spec.list[::2]", "1 3" },
        { ".spec.list[0:-2]", "1 2" },
        { ".spec.list[*]", "1 2 3 {\"c\":\"y\"}" },
        { ".spec.list[0,2]", "1 3" },
        { ".spec['n', 'name']", "3 x" },
        { ".spec.null[0]", "" },
        { ".conditions[*].type", "Ready Other x )" },
        { ".conditions[?(@.type==\"Ready\")].status", "True" },
        { ".conditions[?(@.type=='Other')].v", "5" },
        { ".conditions[?(@.type==\"x )\")].v", "-1" },
        { ".conditions[?(@.type!=\"Ready\")].type", "Other x )" },
        { ".conditions[?(@.v>3)].type", "Other" },
        { ".conditions[?(@.v<=3)].type", "Ready x )" },
        { ".conditions[?(3<@.v)].type", "Other" },
        { ".conditions[?(@.ok==true)].type", "Other" },
        { ".conditions[?(@.ok)].type", "Other" },
        { ".conditions[?(@.status<\"G\")].type", "Other" },
        { "..c", "y" },
        { "..type", "Ready Other x )" },
        { ".spec.*", "3 5 null x 1.5 [1,2,3,{\"c\":\"y\"}]" },
        { ".a~", "" }, /* part of the name */
        { ".spec.list[4]", "error" },
        { ".spec.list[-5]", "error" },
        { ".spec.list[3:1]", "error" },
        { ".spec.list[0:3:0]", "error" },
        { ".spec[0]", "error" },
        { ".conditions[?(@.v>1.5)]", "error" },
        { ".conditions[?(@.v==\"3\")]", "error" },
        { ".conditions[?(@.ok>false)]", "error" },
    };
    AUTO(jdoc) struct jdoc *d = J(doc);

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        is_str(eval(a, rows[i].path, jdoc_root(d)), str_of(rows[i].found), rows[i].path);
    }
}

static void wrong_paths_do_not_compile(void)
{
    static const char *const rows[] = {
        ".a[",     ".a[x]", ".a[1:2:3:4]", ".a[?(@.b",     ".a[?(@.b)", ".a[?(@.b=~1)]",
        "......a", ".a['b", "\"abc",       "range .items", "~",         "1.2.3",
    };
    AUTO(jdoc) struct jdoc *d = J(doc);

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        is_str(eval(a, rows[i], jdoc_root(d)), S("no path"), rows[i]);
    }
}

static void hostile_paths_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(doc);
    AUTO(buf) struct buf deep = { 0 };
    AUTO(buf) struct buf wide = { 0 };

    for (int i = 0; i < 400; i++)
        buf_add(&deep, S("[?("));
    for (int i = 0; i < 400; i++)
        buf_add(&deep, S(")]"));
    buf_addc(&deep, 0);
    is_str(eval(a, deep.p, jdoc_root(d)), S("no path"), "deep filters");
    for (int i = 0; i < 40; i++)
        buf_add(&wide, S("[:,:,:]"));
    buf_addc(&wide, 0);
    AUTO(jdoc) struct jdoc *nested = J("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]");
    is_str(eval(a, wide.p, jdoc_root(nested)), S("error"), "unions that multiply");
    ok(arena_size(a) < 100000000, "within bounds");
}

int main(void)
{
    paths_find_what_kubectl_finds();
    wrong_paths_do_not_compile();
    hostile_paths_end();
    return tap_done();
}
