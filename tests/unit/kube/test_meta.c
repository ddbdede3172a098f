/* ObjectMeta: every rule and its text. */

#include "kube/meta.h"
#include "tap.h"

static str problems_of_new(struct arena *a, jv obj, bool namespaced)
{
    struct problems ps = { .a = a };

    meta_check(&ps, obj, namespaced, NULL);
    return problems_text(a, &ps);
}

static const struct {
    const char *obj;
    bool namespaced;
    const char *want;
} creates[] = {
    { "{'metadata':{'name':'a','namespace':'b','labels':{'k':'v'}}}", true, "" },
    { "{'metadata':{'namespace':'b'}}", true,
      "metadata.name: Required value: name or generateName is required" },
    { "{'metadata':{'name':'a'}}", true, "metadata.namespace: Required value" },
    { "{'metadata':{'name':'a','namespace':'b'}}", false,
      "metadata.namespace: Forbidden: not allowed on this type" },
    { "{'metadata':{'name':'a','generation':-1}}", false,
      "metadata.generation: Invalid value: -1: must be greater than or equal to 0" },
    { "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1'}]}}", false,
      "[metadata.ownerReferences.kind: Invalid value: \"\": must not be empty, "
      "metadata.ownerReferences.name: Invalid value: \"\": must not be empty, "
      "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty]" },
    { "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'','kind':'K','name':'n','uid':'u'"
      "}]}}",
      false,
      "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty" },
    { "{'metadata':{'name':'a','ownerReferences':["
      "{'apiVersion':'v1','kind':'K','name':'n','uid':'u','controller':true},"
      "{'apiVersion':'v1','kind':'K','name':'m','uid':'w','controller':true}]}}",
      false,
      "metadata.ownerReferences: Invalid value: "
      "[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\",\"controller\":true},"
      "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"m\",\"uid\":\"w\",\"controller\":true}]: "
      "Only one reference can have Controller set to true. Found \"true\" in references for K/n "
      "and K/m" },
    { "{'metadata':{'name':'a','finalizers':['orphan','foregroundDeletion']}}", false,
      "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan "
      "and foregroundDeletion cannot be both set" },
    { "{'metadata':{'name':'a','annotations':{'A.B/c':'x'}}}", false, "" },
};

static void new_metadata_is_checked(void)
{
    for (size_t i = 0; i < COUNT(creates); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(creates[i].obj);
        is_str(problems_of_new(a, jdoc_root(d), creates[i].namespaced), str_of(creates[i].want),
               creates[i].obj);
    }
}

static const struct {
    const char *obj;
    const char *old;
    const char *want;
} updates[] = {
    { "{'metadata':{'name':'a','uid':'u','resourceVersion':'1'}}",
      "{'metadata':{'name':'a','uid':'u','resourceVersion':'9'}}", "" },
    { "{'metadata':{'name':'a'}}", "{'metadata':{'name':'a'}}",
      "metadata.resourceVersion: Invalid value: \"\": must be specified for an update" },
    { "{'metadata':{'name':'b','uid':'v','resourceVersion':'1'}}",
      "{'metadata':{'name':'a','uid':'u'}}",
      "[metadata.name: Invalid value: \"b\": field is immutable, metadata.uid: Invalid value: "
      "\"v\": field is immutable]" },
    { "{'metadata':{'name':'a','resourceVersion':'1','deletionTimestamp':'2020-01-01T00:00:00Z',"
      "'finalizers':['x/a','x/c','x/b']}}",
      "{'metadata':{'name':'a','deletionTimestamp':'2020-01-01T00:00:00Z','finalizers':['x/a']}}",
      "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
      "deleted, found new finalizers []string{\"x/b\", \"x/c\"}" },
    { "{'metadata':{'name':'a','resourceVersion':'1','generation':1}}",
      "{'metadata':{'name':'a','generation':2}}",
      "metadata.generation: Invalid value: 1: must not be decremented" },
};

static void changed_metadata_is_checked(void)
{
    for (size_t i = 0; i < COUNT(updates); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(updates[i].obj);
        AUTO(jdoc) struct jdoc *old = J(updates[i].old);
        struct problems ps = { .a = a };
        meta_check_update(&ps, jdoc_root(d), jdoc_root(old));
        is_str(problems_text(a, &ps), str_of(updates[i].want), updates[i].obj);
    }
}

static void annotations_have_a_total_size(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    size_t n = 262144;
    char *big = arena_zalloc(a, n);

    memset(big, 'x', n);
    annotations_check(&ps, NULL, jobj(a, { "k", jstr(a, (str){ big, n }) }));
    is_str(problems_text(a, &ps), S(": Too long: may not be more than 262144 bytes"),
           "one byte too many");
}

static void selectors_are_checked(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'matchExpressions':[{'key':'a','operator':'In'},"
                       "{'key':'a','operator':'Exists','values':['x']},"
                       "{'key':'a','operator':'Foo'}]}");
    struct path p = path_field(NULL, S("selector"));
    struct problems ps = { .a = a };

    label_selector_check(&ps, &p, jdoc_root(d));
    is_str(problems_text(a, &ps),
           S("[selector.matchExpressions[0].values: Required value: must be specified when "
             "`operator` is 'In' or 'NotIn', selector.matchExpressions[1].values: Forbidden: may "
             "not be specified when `operator` is 'Exists' or 'DoesNotExist', "
             "selector.matchExpressions[2].operator: Invalid value: \"Foo\": not a valid selector "
             "operator]"),
           "selector requirements");
}

static void readers_find_their_parts(void)
{
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata':{'name':'a','finalizers':['x'],'ownerReferences':[{'name':'n'},{'name':'m',"
          "'controller':true}]},'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    jv obj = jdoc_root(d);

    is_str(meta_name(obj), S("a"), "name");
    is_str(meta_namespace(obj), S(""), "no namespace");
    ok(meta_has_finalizer(obj, S("x")) && !meta_has_finalizer(obj, S("y")), "finalizers");
    is_str(jv_str(jv_get(meta_controller(obj), S("name")), S("")), S("m"), "controller");
    ok(meta_condition_is(obj, S("Ready"), S("True")), "conditions");
    ok(!meta_being_deleted(obj), "not being deleted");
}

int main(void)
{
    new_metadata_is_checked();
    changed_metadata_is_checked();
    annotations_have_a_total_size();
    selectors_are_checked();
    readers_find_their_parts();
    return tap_done();
}
