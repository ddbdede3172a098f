/* Definitions that a server is to have, and further rules for their objects. */

#include "box.h"

#include "kube/problem.h"

static const struct kube_resource crds = { "apiextensions.k8s.io", "v1",
                                           "customresourcedefinitions", "CustomResourceDefinition",
                                           true };
static const struct kube_resource things = { "example.com", "v1", "things", "Thing", false };

/* scope and the type of spec.size vary */
static jv definition(struct arena *a, const char *scope, const char *type)
{
    jv size = jobj(a, { "type", jstr(a, str_of(type)) });
    jv names = box_value(a, "{'kind':'Thing','plural':'things'}");
    jv version = box_value(
        a,
        "{'name':'v1','served':true,'storage':true,'subresources':{'status':{},'scale':"
        "{'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'}},"
        "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"
        "'properties':{'color':{'type':'string','default':'red'},'replicas':{'type':'integer',"
        "'minimum':0},'parts':{'type':'object','additionalProperties':{'type':'object',"
        "'properties':{'size':{'type':'integer','minimum':0}}}}}},'status':{'type':'object','properties':{'replicas':{'type':'integer'}}}"
        "}}}}");

    version = jv_with(a, version, size, "schema", "openAPIV3Schema", "properties", "spec",
                      "properties", "size");
    return jobj(
        a, { "apiVersion", jstrz(a, "apiextensions.k8s.io/v1") },
        { "kind", jstrz(a, "CustomResourceDefinition") },
        { "metadata", jobj(a, { "name", jstrz(a, "things.example.com") }) },
        { "spec", jobj(a, { "group", jstrz(a, "example.com") }, { "names", names },
                       { "scope", jstr(a, str_of(scope)) }, { "versions", jarr(a, version) }) });
}

static struct kube_request make(struct arena *a, const char *name, const char *spec)
{
    jv obj = jobj(a, { "apiVersion", jstrz(a, "example.com/v1") }, { "kind", jstrz(a, "Thing") },
                  { "metadata", jobj(a, { "name", jstr(a, str_of(name)) }) },
                  { "spec", box_value(a, spec) });

    return (struct kube_request){
        .verb = KUBE_CREATE, .res = &things, .ns = S("default"), .body = obj
    };
}

static jv stored_definition(struct box *b, struct arena *a)
{
    struct kube_request r = { .verb = KUBE_GET, .res = &crds, .name = S("things.example.com") };

    return box_ask(b, a, &r).obj;
}

static str version_of(jv obj)
{
    return jv_str(jv_at(obj, "metadata", "resourceVersion"), STR_NONE);
}

/* ---- definitions */

static void every_word_of_a_schema_counts(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = make(a, "x", "{'replicas':-1}");

    is_str(box_ask(b, a, &r).message,
           S("Thing.example.com \"x\" is invalid: [spec.replicas: Invalid value: -1: spec.replicas "
             "in body should be greater than or equal to 0, .spec.replicas: Invalid value: -1: "
             "should be a non-negative integer]"),
           "what a schema says twice of a field is told twice");
}

static void open_with(struct box *b, const char *path, jv def)
{
    struct api_opts o = { .definitions = &def, .n_definitions = 1 };

    box_open(b, path, &o);
}

static void they_are_there_and_up_to_date(const char *path)
{
    AUTO(arena) struct arena *a = arena_new();
    struct box b;

    open_with(&b, path, definition(a, "Namespaced", "integer"));
    jv first = stored_definition(&b, a);
    ok(meta_condition_is(first, S("Established"), S("True")), "it is served when all is ready");
    struct kube_request r = make(a, "one", "{'size':1}");
    is_int(box_ask(&b, a, &r).status, 201, "so that objects can be made at once");
    every_word_of_a_schema_counts(&b);
    box_close(&b);

    open_with(&b, path, definition(a, "Namespaced", "integer"));
    jv again = stored_definition(&b, a);
    is_str(version_of(again), version_of(first), "what is right is not written again");
    r = (struct kube_request){ .verb = KUBE_LIST, .res = &things };
    is_int((int64_t)jv_len(jv_at(box_ask(&b, a, &r).obj, "items")), 1, "objects are there");
    r = make(a, "two", "{'size':'two'}");
    is_int(box_ask(&b, a, &r).status, 422, "and its schema holds");
    box_close(&b);

    open_with(&b, path, definition(a, "Namespaced", "string"));
    jv changed = stored_definition(&b, a);
    is_int(jv_int(jv_at(changed, "metadata", "generation"), 0), 2, "a newer one replaces it");
    is_str(jv_str(jv_at(changed, "metadata", "uid"), STR_NONE),
           jv_str(jv_at(first, "metadata", "uid"), STR_NONE), "in place");
    is_int(box_ask(&b, a, &r).status, 201, "and holds from now on");
    box_close(&b);

    open_with(&b, path, definition(a, "Cluster", "string"));
    is_str(version_of(stored_definition(&b, a)), version_of(changed),
           "one that may not replace it does not keep the server from starting");
    box_close(&b);
}

/* ---- what others may bring, too */

static void open_with_loan(struct box *b, const char *path, jv def, jv objects)
{
    struct api_opts o = { .loans = &def, .n_loans = 1, .objects = objects };

    box_open(b, path, &o);
}

static void loans_are_there_with_their_objects(const char *path)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct kube_resource cluster_things = { "example.com", "v1", "things", "Thing",
                                                         true };
    jv objects = jarr(a, make(a, "one", "{'color':'red','size':1}").body);
    struct kube_request get = { .verb = KUBE_GET, .res = &cluster_things, .name = S("one") };
    struct box b;

    open_with_loan(&b, path, definition(a, "Cluster", "integer"), objects);
    is_int(box_ask(&b, a, &get).status, 200, "an object is there with its kind");
    box_close(&b);
    open_with_loan(&b, path, definition(a, "Cluster", "number"), objects);
    jv ours = stored_definition(&b, a);
    is_int(jv_int(jv_at(ours, "metadata", "generation"), 0), 2, "ours follows the program");
    is_int(box_ask(&b, a, &get).status, 200, "with its objects");
    box_close(&b);
}

/* ---- rules */

static void no_large_red_ones(void *ctx, struct problems *ps, jv obj, jv old)
{
    struct path spec = path_field(NULL, S("spec"));
    struct path color = path_field(&spec, S("color"));
    struct path replicas = path_field(&spec, S("replicas"));
    struct path parts = path_field(&spec, S("parts"));
    struct path big = path_key(&parts, S("Big"));
    struct path size = path_field(&big, S("size"));
    int *asked = ctx;

    (*asked)++;
    if (jv_int(jv_at(obj, "spec", "parts", "Big", "size"), 0) < 0)
        problem_invalid(ps, &size, jv_at(obj, "spec", "parts", "Big", "size"), "too little of it");
    if (jv_exists(old) && jv_equal(jv_at(obj, "spec"), jv_at(old, "spec")))
        return;
    if (jv_int(jv_at(obj, "spec", "size"), 0) > 10 &&
        str_eq(jv_str(jv_at(obj, "spec", "color"), STR_NONE), S("red")))
        problem_invalid(ps, &color, jv_at(obj, "spec", "color"), "too much of it");
    if (jv_int(jv_at(obj, "spec", "replicas"), 0) < 0 ||
        jv_int(jv_at(obj, "spec", "replicas"), 0) > 5)
        problem_invalid(ps, &replicas, jv_at(obj, "spec", "replicas"), "not so many");
}

static void objects_are_checked(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv def = definition(a, "Namespaced", "integer");
    int asked = 0;
    struct api_check checks[] = {
        { "example.com", "others", no_large_red_ones, NULL, &asked },
        { "example.com", "things", no_large_red_ones, NULL, &asked },
    };
    struct api_opts o = {
        .definitions = &def, .n_definitions = 1, .checks = checks, .n_checks = COUNT(checks)
    };
    struct box b;

    box_open(&b, NULL, &o);
    struct kube_request r = make(a, "x", "{'size':11,'replicas':6}");
    struct kube_answer ans = box_ask(&b, a, &r);
    is_int(ans.status, 422, "refused");
    is_str(ans.message,
           S("Thing.example.com \"x\" is invalid: [spec.color: Invalid value: \"red\": too much of "
             "it, spec.replicas: Invalid value: 6: not so many]"),
           "with all that is wrong, defaults too");
    r = make(a, "x", "{'size':'large','replicas':-1}");
    ans = box_ask(&b, a, &r);
    is_str(ans.message,
           S("Thing.example.com \"x\" is invalid: [spec.replicas: Invalid value: -1: not so many, "
             "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: "
             "\"string\"]"),
           "and what its schema says, but once a field");
    r = make(a, "x", "{'parts':{'Big':{'size':-1}}}");
    is_str(box_ask(&b, a, &r).message,
           S("Thing.example.com \"x\" is invalid: spec.parts[Big].size: Invalid value: -1: too "
             "little of it"),
           "however it writes the field");
    r = make(a, "x", "{'size':3,'replicas':2}");
    is_int(box_ask(&b, a, &r).status, 201, "a good one");
    asked = 0;

    static const struct {
        enum kube_patch type;
        const char *sub, *body, *what;
        int status;
    } rows[] = {
        { KUBE_PATCH_MERGE, "", "{'spec':{'size':12}}", "a merge patch", 422 },
        { KUBE_PATCH_JSON, "", "[{'op':'add','path':'/spec/size','value':12}]", "a JSON patch",
          422 },
        { KUBE_PATCH_APPLY, "",
          "{'apiVersion':'example.com/v1','kind':'Thing','metadata':{'name':'x'},'spec':{'size':12}"
          "}",
          "an apply", 422 },
        { KUBE_PATCH_MERGE, "scale", "{'spec':{'replicas':6}}", "scaling", 422 },
        { KUBE_PATCH_MERGE, "scale", "{'spec':{'replicas':5}}", "not so far", 200 },
        { KUBE_PATCH_MERGE, "", "{'metadata':{'labels':{'a':'b'}}}", "a label", 200 },
    };
    r = (struct kube_request){
        .verb = KUBE_PATCH, .res = &things, .ns = S("default"), .name = S("x")
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        r.patch = rows[i].type;
        r.sub = str_of(rows[i].sub);
        r.body = box_value(a, rows[i].body);
        is_int(box_ask(&b, a, &r).status, rows[i].status, rows[i].what);
    }
    is_int(asked, (int64_t)COUNT(rows), "each was asked about");
    r.sub = S("status");
    r.patch = KUBE_PATCH_MERGE;
    r.body = box_value(a, "{'status':{'replicas':9}}");
    is_int(box_ask(&b, a, &r).status, 200, "status is written");
    is_int(asked, (int64_t)COUNT(rows), "without a question");
    box_close(&b);
}

int main(void)
{
    char dir[] = "/tmp/muster-definitions-XXXXXX", lent[] = "/tmp/muster-definitions-XXXXXX";

    if (!mkdtemp(dir) || !mkdtemp(lent))
        return 1;
    they_are_there_and_up_to_date(box_path(dir));
    objects_are_checked();
    box_remove(dir);
    loans_are_there_with_their_objects(box_path(lent));
    box_remove(lent);
    return tap_done();
}
