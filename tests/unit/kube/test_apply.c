/* Server-side apply: what is refused, and in which words. The texts are kube-apiserver v1.34's. */

#include "builtin/kind.h"
#include "kube/apply.h"
#include "tap.h"

static struct managed_write by(const char *manager)
{
    return (struct managed_write){
        .schema = builtin_find_kind(S(""), S("v1"), S("ConfigMap"))->schema,
        .kind = S("ConfigMap"),
        .api_version = S("v1"),
        .manager = str_of(manager),
        .now_ms = 1000,
    };
}

#define CM        "'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}"
#define META(...) "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'," __VA_ARGS__ "}}"
#define TYPED     "failed to create typed patch object (/a; /v1, Kind=ConfigMap): "

static const struct {
    const char *config;
    enum err_code code;
    const char *message;
} bad[] = {
    { "{'kind':'ConfigMap','metadata':{'name':'a'}}", ERR_BAD_REQUEST,
      "invalid object type: /, Kind=ConfigMap" },
    { "{'apiVersion':'v1','metadata':{'name':'a'}}", ERR_BAD_REQUEST,
      "invalid object type: /v1, Kind=" },
    { "{'apiVersion':'apps/v1','kind':'Pod'}", ERR_BAD_REQUEST,
      "invalid object type: apps/v1, Kind=Pod" },
    { META("'managedFields':[]"), ERR_BAD_REQUEST, "metadata.managedFields must be nil" },
    { META("'managedFields':[{'manager':'x'}]"), ERR_BAD_REQUEST,
      "metadata.managedFields must be nil" },
    { "{" CM ",'bogus':1}", ERR_UNKNOWN, TYPED ".bogus: field not declared in schema" },
    { "{" CM ",'data':1}", ERR_UNKNOWN, TYPED ".data: expected map, got &{1}" },
    { "{" CM ",'data':['x']}", ERR_UNKNOWN, TYPED ".data: expected map, got &{[x]}" },
    { "{" CM ",'data':{'x':1}}", ERR_UNKNOWN,
      TYPED ".data.x: expected string, got &value.valueUnstructured{Value:1}" },
    { "{" CM ",'immutable':'x'}", ERR_UNKNOWN, TYPED ".immutable: expected boolean, got &{x}" },
    { META("'finalizers':['a.io/x','a.io/x']"), ERR_UNKNOWN,
      TYPED ".metadata.finalizers: duplicate entries for key [=\"a.io/x\"]" },
    { META("'ownerReferences':[{'uid':'1'},{'uid':'1'}]"), ERR_UNKNOWN,
      TYPED ".metadata.ownerReferences: duplicate entries for key [uid=\"1\"]" },
    { "{" CM ",'data':{'x':1},'immutable':2}", ERR_UNKNOWN,
      TYPED "errors:\n  .data.x: expected string, got &value.valueUnstructured{Value:1}\n"
            "  .immutable: expected boolean, got &{2}" },
};

static void what_cannot_be_applied_is_refused(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *config = J(bad[i].config);
        struct managed_write w = by("m");
        struct apply_failure why = { 0 };
        struct err e = { 0 };

        ok(!jv_exists(apply_patch(a, &w, JV_ABSENT, jdoc_root(config), true, &why, &e)), "%s",
           bad[i].config);
        is_int(e.code, bad[i].code, "has its code");
        is_str(why.message, str_of(bad[i].message), "and its text");
    }
}

static jv apply(struct arena *a, jv live, const char *manager, const char *data, bool force,
                struct apply_failure *why)
{
    AUTO(jdoc) struct jdoc *d = J(data);
    struct managed_write w = by(manager);
    jv config = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "ConfigMap") },
                     { "metadata", jobj(a, { "name", jstrz(a, "a") }) },
                     { "data", jv_copy(a, jdoc_root(d)) });

    return apply_patch(a, &w, live, config, force, why, NULL);
}

static void one_owner_after_another(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct apply_failure why = { 0 };

    jv live = apply(a, JV_ABSENT, "m1", "{'x':'1','y':'2'}", false, NULL);
    is_json(jv_at(live, "metadata", "managedFields"),
            "[{'manager':'m1','operation':'Apply','apiVersion':'v1','time':'1970-01-01T00:00:01Z',"
            "'fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:x':{},'f:y':{}}}}]",
            "who applies owns what it says, and not the map around it");
    ok(jv_equal(apply(a, live, "m1", "{'x':'1','y':'2'}", false, NULL), live),
       "saying it again changes nothing");

    jv both = apply(a, live, "m2", "{'x':'1'}", false, NULL);
    ok(!jv_exists(jv_at(jv_index(jv_at(both, "metadata", "managedFields"), 0), "time")),
       "who agrees gets an entry without a time");

    ok(!jv_exists(apply(a, both, "m2", "{'x':'3'}", false, &why)), "who does not has a conflict");
    is_str(why.message, S("Apply failed with 1 conflict: conflict with \"m1\": .data.x"),
           "told so");
    ok(!jv_exists(apply(a, both, "m3", "{'x':'3','y':'4'}", false, &why)), "or several");
    is_str(why.message,
           S("Apply failed with 3 conflicts: conflicts with \"m1\":\n- .data.x\n- .data.y\n"
             "conflicts with \"m2\":\n- .data.x"),
           "told by manager");
    is_int((int64_t)why.n, 3, "and each by itself");
    is_str(why.conflicts[0].message, S("conflict with \"m1\""), "with whom");
    is_str(why.conflicts[0].field, S(".data.x"), "and about what");

    jv forced = apply(a, both, "m2", "{'x':'3'}", true, NULL);
    is_json(jv_at(forced, "data"), "{'x':'3','y':'2'}", "force takes the field");
    jv dropped = apply(a, forced, "m2", "{}", false, NULL);
    is_json(jv_at(dropped, "data"), "{'y':'2'}", "what its only owner leaves out goes");
    jv shared = apply(a, both, "m2", "{}", false, NULL);
    is_json(jv_at(shared, "data"), "{'x':'1','y':'2'}", "what another owns too stays");
}

static void updates_are_in_the_way_by_version_and_subresource(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct managed_write w = by("u");
    struct apply_failure why = { 0 };
    jv live = apply(a, JV_ABSENT, "m1", "{'x':'1'}", false, NULL);
    jv after =
        jv_with(a, jv_without(a, live, "metadata", "managedFields"), jstrz(a, "2"), "data", "x");

    jv updated = managed_update(a, &w, live, after, JV_ABSENT);
    apply(a, updated, "m1", "{'x':'1'}", false, &why);
    is_str(why.message, S("Apply failed with 1 conflict: conflict with \"u\" using v1: .data.x"),
           "with its version");
    w.subresource = S("status");
    updated = managed_update(a, &w, live, after, JV_ABSENT);
    apply(a, updated, "m1", "{'x':'1'}", false, &why);
    is_str(why.message,
           S("Apply failed with 1 conflict: conflict with \"u\" with subresource \"status\" using "
             "v1: .data.x"),
           "and its subresource");
}

static void objects_from_before_have_an_owner_too(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *live = J("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','uid':'u'},"
                          "'data':{'x':'1','z':'1'}}");
    struct apply_failure why = { 0 };

    ok(!jv_exists(apply(a, jdoc_root(live), "m1", "{'x':'2'}", false, &why)), "which conflicts");
    is_str(why.message,
           S("Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: "
             ".data.x"),
           "under a name of its own");
    jv got = apply(a, jdoc_root(live), "m1", "{'x':'2'}", true, NULL);
    is_json(jv_at(jv_index(jv_at(got, "metadata", "managedFields"), 1), "fieldsV1"),
            "{'f:data':{'.':{},'f:z':{}}}", "and keeps the rest");
}

#define LAST "kubectl.kubernetes.io/last-applied-configuration"

static void what_kubectl_applied_itself_is_not_in_its_way(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *obj = J("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                         "'annotations':{'" LAST "':'{\\'apiVersion\\':\\'v1\\',"
                         "\\'kind\\':\\'ConfigMap\\',\\'data\\':{\\'x\\':\\'1\\'}}'}},"
                         "'data':{'x':'1'}}");
    struct managed_write w = by("kubectl-client-side-apply");
    struct apply_failure why = { 0 };
    jv live = managed_update(a, &w, JV_ABSENT, jdoc_root(obj), JV_ABSENT);

    ok(!jv_exists(apply(a, live, "m1", "{'x':'2'}", false, &why)), "others conflict");
    jv got = apply(a, live, "kubectl", "{'x':'2'}", false, NULL);
    is_json(jv_at(got, "data"), "{'x':'2'}", "kubectl does not");
    is_str(jv_str(jv_at(got, "metadata", "annotations", LAST), S("")),
           S("{\"apiVersion\":\"v1\",\"data\":{\"x\":\"2\"},\"kind\":\"ConfigMap\","
             "\"metadata\":{\"name\":\"a\"}}\n"),
           "and its annotation is kept right");
    jv other = jv_with(a, live, jstrz(a, "7"), "data", "x");
    ok(!jv_exists(apply(a, other, "kubectl", "{'x':'2'}", false, NULL)),
       "unless somebody changed it since");
}

int main(void)
{
    what_cannot_be_applied_is_refused();
    one_owner_after_another();
    updates_are_in_the_way_by_version_and_subresource();
    objects_from_before_have_an_owner_too();
    what_kubectl_applied_itself_is_not_in_its_way();
    return tap_done();
}
