/* Strategic merge patch: patches of a pod's spec and of finalizers, each with the answer that a
 * kube-apiserver v1.34 gave (on a deployment's template, defaults left out here). */

#include "kube/patch_strategic.h"
#include "mini_schema.h"
#include "tap.h"

static const char pod[] =
    "{'metadata':{'name':'s','labels':{'a':'1','b':'2'}},'spec':{'volumes':[{'name':'v',"
    "'emptyDir':{}}],'containers':[{'name':'a','image':'i','ports':[{'containerPort':80,"
    "'protocol':'TCP'},{'containerPort':81,'protocol':'UDP'}],'env':[{'name':'X','value':'1'},"
    "{'name':'Y','value':'2'}]},{'name':'b','image':'j'},{'name':'c','image':'k'}],"
    "'tolerations':[{'key':'k','operator':'Exists'}]}}";

#define A_PORTS \
    "'ports':[{'containerPort':80,'protocol':'TCP'},{'containerPort':81,'protocol':'UDP'}]"
#define A_ENV "'env':[{'name':'X','value':'1'},{'name':'Y','value':'2'}]"
#define A     "{'name':'a','image':'i'," A_PORTS "," A_ENV "}"
#define B     "{'name':'b','image':'j'}"
#define C     "{'name':'c','image':'k'}"

static const struct {
    const char *patch; /* of spec */
    const char *field;
    const char *want; /* that field afterwards */
} good[] = {
    { "{'containers':[{'name':'a','image':'z'}]}", "containers",
      "[{'name':'a','image':'z'," A_PORTS "," A_ENV "}," B "," C "]" },
    { "{'containers':[{'name':'n','image':'z'},{'name':'a','image':'y'}]}", "containers",
      "[{'name':'n','image':'z'},{'name':'a','image':'y'," A_PORTS "," A_ENV "}," B "," C "]" },
    { "{'containers':[{'name':'a','$patch':'delete'}]}", "containers", "[" B "," C "]" },
    { "{'containers':[{'$patch':'replace'},{'name':'q','image':'q'}]}", "containers",
      "[{'name':'q','image':'q'}]" },
    { "{'containers':[{'$patch':'replace'}]}", "containers", "[]" },
    { "{'containers':[{'name':'a','image':'k','$patch':'replace'}]}", "containers", "[]" },
    { "{'containers':[]}", "containers", "[" A "," B "," C "]" },
    { "{'containers':'x'}", "containers", "'x'" },
    { "{'$patch':'replace','containers':[{'name':'q','image':'q'}]}", "containers",
      "[{'name':'q','image':'q'}]" },
    { "{'$setElementOrder/containers':[{'name':'c'},{'name':'a'}]}", "containers",
      "[" B "," C "," A "]" },
    { "{'$setElementOrder/containers':[{'name':'c'},{'name':'a'}],"
      "'containers':[{'name':'a','image':'z'}]}",
      "containers", "[" B "," C ",{'name':'a','image':'z'," A_PORTS "," A_ENV "}]" },
    { "{'$setElementOrder/containers':[{'name':'n'},{'name':'b'},{'name':'a'}],"
      "'containers':[{'name':'n','image':'z'}]}",
      "containers", "[{'name':'n','image':'z'}," B "," A "," C "]" },
    { "{'tolerations':[{'key':'z','operator':'Exists'}]}", "tolerations",
      "[{'key':'z','operator':'Exists'}]" },
    { "{'bogus':{'x':1}}", "bogus", "{'x':1}" },
    { "{'containers':[{'name':'b','env':[{'name':'Z','value':null},{'$patch':'delete','name':'q'}]"
      "}]}",
      "containers", "[" A ",{'name':'b','image':'j','env':[{'name':'Z'}]}," C "]" },
    { "{'containers':[{'name':'a','env':[{'name':'Y','value':'5'},{'name':'Z','value':'6'}]}]}",
      "containers",
      "[{'name':'a','image':'i'," A_PORTS ",'env':[{'name':'X','value':'1'},{'name':'Y','value':"
      "'5'},{'name':'Z','value':'6'}]}," B "," C "]" },
    { "{'containers':[{'name':'a','env':[{'name':'Y','$patch':'delete'}]}]}", "containers",
      "[{'name':'a','image':'i'," A_PORTS ",'env':[{'name':'X','value':'1'}]}," B "," C "]" },
    { "{'containers':[{'name':'a','ports':[{'containerPort':81,'name':'w'}]}]}", "containers",
      "[{'name':'a','image':'i','ports':[{'containerPort':80,'protocol':'TCP'},"
      "{'containerPort':81,'protocol':'UDP','name':'w'}]," A_ENV "}," B "," C "]" },
    { "{'containers':[{'name':'a','ports':[{'containerPort':81.0,'name':'w'}]}]}", "containers",
      "[{'name':'a','image':'i','ports':[{'containerPort':81.0,'name':'w'},{'containerPort':80,"
      "'protocol':'TCP'},{'containerPort':81,'protocol':'UDP'}]," A_ENV "}," B "," C "]" },
    { "{'volumes':[{'name':'v','emptyDir':null,'hostPath':{'path':'/x'}}]}", "volumes",
      "[{'name':'v','hostPath':{'path':'/x'}}]" },
    { "{'volumes':[{'name':'v','$retainKeys':['name','hostPath'],'hostPath':{'path':'/x'}}]}",
      "volumes", "[{'name':'v','hostPath':{'path':'/x'}}]" },
    { "{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}", "volumes",
      "[{'name':'v','emptyDir':{},'hostPath':{'path':'/x'}}]" },
    { "{'restartPolicy':{'$patch':'delete'},'nodeName':'n'}", "nodeName", "'n'" },
};

static void patches_of_a_spec_merge_as_on_kube_apiserver(void)
{
    int left = 0;

    for (size_t i = 0; i < COUNT(good); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *doc = J(pod);
        AUTO(jdoc) struct jdoc *spec = J(good[i].patch);
        struct err e = { 0 };
        jv got =
            patch_strategic(a, &mini_pod, jdoc_root(doc), jobj(a, { "spec", jdoc_root(spec) }), &e);

        is_json(jv_at(got, "spec", good[i].field), good[i].want, good[i].patch);
        if (!jv_exists(got))
            printf("# %s\n", e.msg);
        is_json(jdoc_root(doc), pod, "the document itself stays");
        JV_EACH (it, jv_at(got, "spec"))
            left += str_starts(it.key, S("$"));
    }
    is_int(left, 0, "no word of a patch becomes a field");
}

static const struct {
    const char *patch;
    enum err_code code;
    const char *msg;
} bad[] = {
    { "{'containers':[{'image':'z'}]}", ERR_UNKNOWN,
      "map: map[image:z] does not contain declared merge key: name" },
    { "{'containers':[{'$patch':'delete'}]}", ERR_UNKNOWN,
      "map: map[$patch:delete] does not contain declared merge key: name" },
    { "{'containers':[{'name':'a','$patch':'merge'}]}", ERR_UNKNOWN,
      "merging lists cannot yet be specified in the patch" },
    { "{'containers':[{'name':'a','$patch':'bogus'}]}", ERR_UNKNOWN,
      "unknown patch type: bogus in map: map[$patch:bogus name:a]" },
    { "{'containers':[{'name':'a','$patch':1}]}", ERR_UNKNOWN,
      "unknown patch type: %!s(int64=1) in map: map[$patch:1 name:a]" },
    { "{'tolerations':[],'containers':[{'name':'a','ports':[{'name':'w'}]}]}", ERR_UNKNOWN,
      "map: map[name:w] does not contain declared merge key: containerPort" },
    { "{'$patch':'merge'}", ERR_UNKNOWN, "unknown patch type: merge in map: map[$patch:merge]" },
    { "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'b','image':'z'}]}",
      ERR_UNKNOWN,
      "The order in patch list:\n[map[image:z name:b]]\n doesn't match $setElementOrder list:\n"
      "[map[name:a]]\n" },
    { "{'$setElementOrder/containers':'x'}", ERR_UNKNOWN,
      "expected a []interface {}, but received a string" },
    { "{'$setElementOrder/containers':['x']}", ERR_UNKNOWN, "value for key 0 is not a map" },
    { "{'$setElementOrder/':[{'name':'x'}]}", ERR_UNKNOWN,
      "unable to find api field in struct PodSpec for the json field \"\"" },
    { "{'$setElementOrder':[{'name':'x'}]}", ERR_BAD_REQUEST,
      "invalid patch format of setElementOrder list" },
    { "{'$setElementOrder/bogus':[{'name':'x'}],'bogus':[{'name':'x'}]}", ERR_UNKNOWN,
      "unable to find api field in struct PodSpec for the json field \"bogus\"" },
    { "{'volumes':[{'name':'v','$retainKeys':['name'],'hostPath':{'path':'/x'}}]}", ERR_BAD_REQUEST,
      "invalid patch format of retainKeys" },
    { "{'volumes':[{'name':'v','$retainKeys':'name','hostPath':{'path':'/x'}}]}", ERR_BAD_REQUEST,
      "invalid patch format of retainKeys" },
};

static void mistakes_are_named_as_kube_apiserver_names_them(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *doc = J(pod);
        AUTO(jdoc) struct jdoc *spec = J(bad[i].patch);
        struct err e = { 0 };

        ok(!jv_exists(patch_strategic(a, &mini_pod, jdoc_root(doc),
                                      jobj(a, { "spec", jdoc_root(spec) }), &e)),
           "%s", bad[i].patch);
        is_int(e.code, bad[i].code, "has its code");
        is_str(str_of(e.msg), str_of(bad[i].msg), "and its text");
    }
}

static const struct {
    const char *before;
    const char *patch; /* of metadata */
    const char *after; /* a list, or a message */
} finalizers[] = {
    { "['a','b']", "{'finalizers':['c','a']}", "['c','a','b']" },
    { "['a','b','c']", "{'$deleteFromPrimitiveList/finalizers':['b']}", "['a','c']" },
    { "['a','b','c']", "{'$deleteFromPrimitiveList/finalizers':['b'],'finalizers':['d']}",
      "['d','a','c']" },
    { "['a','b','c']",
      "{'$deleteFromPrimitiveList/finalizers':['b'],'$setElementOrder/finalizers':['c','d','a'],"
      "'finalizers':['d']}",
      "['c','d','a']" },
    { "['a','b','c']", "{'$deleteFromPrimitiveList/finalizers':'x'}", "['a','b','c']" },
    { "['a','b','c']", "{'$deleteFromPrimitiveList':['x']}",
      "invalid patch format of primitive list" },
    { "['a','b','c']", "{'$deleteFromPrimitiveList/':['x']}", "['a','b','c']" },
    { "['a','b','c']", "{'$setElementOrder/finalizers':['c','d','a']}", "['b','c','a']" },
    { "['a','b','c']", "{'$setElementOrder/finalizers':['c','a'],'finalizers':['d']}",
      "The order in patch list:\n[d]\n doesn't match $setElementOrder list:\n[c a]\n" },
    { "['a','b','c']", "{'finalizers':[]}", "['a','b','c']" },
    { "['a','b','c']", "{'finalizers':[1]}",
      "list element types are not identical: [[a b c] [1]]" },
    { "['a','b','c']", "{'finalizers':[{'a':1}]}",
      "list element types are not identical: [[a b c] [map[a:1]]]" },
    { "['a','b','c']", "{'finalizers':['c','a','c']}", "['b','c','a']" },
    { "['a','b','c']", "{'finalizers':['d','b']}", "['d','a','b','c']" },
    { "['a','b','c']", "{'finalizers':['c','e','a','d']}", "['b','c','e','a','d']" },
    { "['a','b','c']", "{'finalizers':['c',['x']]}",
      "list element types are not identical: [[a b c] [c [x]]]" },
};

static void lists_of_primitives_merge_as_on_kube_apiserver(void)
{
    for (size_t i = 0; i < COUNT(finalizers); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *before = J(finalizers[i].before);
        AUTO(jdoc) struct jdoc *meta = J(finalizers[i].patch);
        struct err e = { 0 };
        jv doc = jobj(a, { "metadata", jobj(a, { "finalizers", jdoc_root(before) }) });
        jv got = patch_strategic(a, &mini_pod, doc, jobj(a, { "metadata", jdoc_root(meta) }), &e);

        if (jv_exists(got))
            is_json(jv_at(got, "metadata", "finalizers"), finalizers[i].after, finalizers[i].patch);
        else
            is_str(str_of(e.msg), str_of(finalizers[i].after), finalizers[i].patch);
    }
}

static void maps_and_nulls(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *doc = J(pod);
    AUTO(jdoc) struct jdoc *one = J("{'metadata':{'labels':{'a':null,'zz':null,'c':'1'}}}");
    AUTO(jdoc) struct jdoc *two = J("{'metadata':{'labels':{'$patch':'replace','z':'1'}}}");
    AUTO(jdoc) struct jdoc *three = J("{'spec':null}");
    struct err e = { 0 };

    is_json(jv_at(patch_strategic(a, &mini_pod, jdoc_root(doc), jdoc_root(one), NULL), "metadata",
                  "labels"),
            "{'b':'2','c':'1'}", "null removes a label");
    is_json(jv_at(patch_strategic(a, &mini_pod, jdoc_root(doc), jdoc_root(two), NULL), "metadata",
                  "labels"),
            "{'z':'1'}", "a map can be replaced");
    ok(!jv_exists(
           jv_at(patch_strategic(a, &mini_pod, jdoc_root(doc), jdoc_root(three), NULL), "spec")),
       "null removes an object");
    ok(!jv_exists(patch_strategic(a, &mini_pod, jdoc_root(doc), JV_EMPTY_ARR, &e)),
       "a list is no patch");
    is_str(str_of(e.msg),
           S("json: cannot unmarshal array into Go value of type map[string]interface {}"),
           "which is said as Go says it");
    ok(jv_equal(patch_strategic(a, &mini_pod, jdoc_root(doc), JV_NULL_V, NULL), jdoc_root(doc)),
       "null as a patch changes nothing");
}

static void large_lists_merge_in_linear_time(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild doc = jb_arr(a);
    struct jbuild patch = jb_arr(a);

    for (int i = 0; i < 20000; i++) {
        jb_push(&doc, jobj(a, { "name", jstr(a, arena_printf(a, "n%d", i)) }));
        jb_push(&patch, jobj(a, { "name", jstr(a, arena_printf(a, "n%d", i + 10000)) }));
    }
    jv got =
        patch_strategic(a, &mini_pod, jobj(a, { "spec", jobj(a, { "containers", jb_done(&doc) }) }),
                        jobj(a, { "spec", jobj(a, { "containers", jb_done(&patch) }) }), NULL);
    is_int((int64_t)jv_len(jv_at(got, "spec", "containers")), 30000, "half of them are new");
}

int main(void)
{
    patches_of_a_spec_merge_as_on_kube_apiserver();
    mistakes_are_named_as_kube_apiserver_names_them();
    lists_of_primitives_merge_as_on_kube_apiserver();
    maps_and_nulls();
    large_lists_merge_in_linear_time();
    return tap_done();
}
