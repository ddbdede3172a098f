/* Rules that look at other objects or at who asks, met by users with few rights. */

#include "rights.h"

#include "base/limits.h"

#define NS   "/api/v1/namespaces/default"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/default"

static void says(struct box *b, const char *user, const char *head, const char *quoted, int status,
                 const char *words)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(reply) struct reply r = ask(b, user, head, json_text(a, box_value(a, quoted)));

    is_int(r.status, status, words);
    if (!ok(str_contains(buf_str(&r.body), str_of(words)), "and says so"))
        printf("# %.*s\n", (int)r.body.n, r.body.p);
}

static void nobody_hands_on_more_than_they_have(struct box *b)
{
    static const char more[] =
        "{'metadata':{'name':'more'},'rules':[{'verbs':['get'],'apiGroups':[''],"
        "'resources':['secrets']}]}";
    static const char own[] =
        "{'metadata':{'name':'own'},'rules':[{'verbs':['get'],'apiGroups':[''],"
        "'resources':['pods']}]}";
    static const char bind[] =
        "{'metadata':{'name':'b'},'subjects':[{'kind':'User','name':'granter','apiGroup':"
        "'rbac.authorization.k8s.io'}],'roleRef':{'kind':'ClusterRole','name':'cluster-admin',"
        "'apiGroup':'rbac.authorization.k8s.io'}}";

    rights_give(b, "granter", "'create','update','patch','get'", "rbac.authorization.k8s.io",
                "'roles','rolebindings'");
    rights_give(b, "granter", "'get'", "", "'pods'");
    says(b, "granter", "POST " RBAC "/roles", more, 403,
         "is attempting to grant RBAC permissions not currently held");
    says(b, "granter", "POST " RBAC "/roles", own, 201, "\"kind\":\"Role\"");
    says(b, "granter", "PATCH " RBAC "/roles/own\ncontent-type: application/merge-patch+json",
         "{'rules':[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]}", 403,
         "not currently held");
    says(b, "granter", "POST " RBAC "/rolebindings", bind, 403, "not currently held");
    is_int(ask_status(b, "granter", "GET " NS "/secrets", ""), 403, "nothing was gained");
}

static void namespaces_that_end_take_nothing_new(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();

    rights_give_all(b, "maker", "'create'", "", "'configmaps'", "");
    rights_post(b, a, "/api/v1/namespaces", "{'metadata':{'name':'gone','finalizers':['x.io/y']}}");
    says(b, "maker", "POST /api/v1/namespaces/gone/configmaps", "{'metadata':{'name':'a'}}", 201,
         "ConfigMap");
    is_int(ask_status(b, "admin,system:masters", "DELETE /api/v1/namespaces/gone", ""), 200,
           "it ends");
    says(b, "maker", "POST /api/v1/namespaces/gone/configmaps", "{'metadata':{'name':'b'}}", 403,
         "because it is being terminated");
    says(b, "maker", "POST /api/v1/namespaces/nowhere/configmaps", "{'metadata':{'name':'b'}}", 404,
         "namespaces \\\"nowhere\\\" not found");
}

static void quotas_and_limits_hold_for_all(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char big[] =
        "{'metadata':{'name':'big'},'spec':{'containers':[{'name':'c','image':'i','resources':"
        "{'limits':{'cpu':'5'}}}]}}";

    rights_give(b, "user", "'create'", "", "'pods','configmaps'");
    rights_post(b, a, NS "/limitranges",
                "{'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container','max':{'cpu':'2'}}]"
                "}}");
    says(b, "user", "POST " NS "/pods", big, 403, "maximum cpu usage per Container is 2");
    rights_post(b, a, NS "/resourcequotas",
                "{'metadata':{'name':'q'},'spec':{'hard':{'count/configmaps':'1'}}}");
    says(b, "user", "POST " NS "/configmaps", "{'metadata':{'name':'one'}}", 201, "ConfigMap");
    says(b, "user", "POST " NS "/configmaps", "{'metadata':{'name':'two'}}", 403, "exceeded quota");
}

static void owners_are_counted_once(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char twice[] = "{'metadata':{'name':'owned','ownerReferences':["
                                "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'1'},"
                                "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'1'}]}}";

    rights_give(b, "owner", "'create'", "coordination.k8s.io", "'leases'");
    AUTO(reply)
    struct reply r = ask(b, "owner", "POST /apis/coordination.k8s.io/v1/namespaces/default/leases",
                         json_text(a, box_value(a, twice)));
    jv v = json_parse(a, buf_str(&r.body), NULL, NULL);
    is_int((int64_t)jv_len(jv_at(v, "metadata", "ownerReferences")), 1, "the second is dropped");
}

#define BIND(meta, node) "{'metadata':{'name':'p'" meta "},'target':{'name':" node "}}"
#define LIST(items)      "{'kind':'BindingList','items':[" items "]}"

/* Nothing that no pod may hold gets into one on this way. */
static void lists_of_bindings_are_read_as_bindings(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf many = { 0 };
    static const char post[] = "POST " NS "/bindings";

    rights_give(b, "binder", "'create'", "", "'bindings','pods/binding'");
    rights_post(b, a, NS "/pods",
                "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    says(b, "binder", post, LIST(BIND(",'annotations':{'a':3}", "'n'")), 400,
         "items[0]: json: cannot unmarshal number");
    says(b, "binder", post, LIST(BIND("", "['n']")), 400, "items[0]: json: cannot unmarshal array");
    says(b, "binder", post, LIST(BIND("", "'n'") ",7"), 400, "items[1]: json: cannot unmarshal");
    says(b, "binder", post, LIST("{'metadata':{'name':'p\\u0000'},'target':{'name':'n'}}"), 400,
         "metadata must name a pod");
    buf_add(&many, S("{'kind':'BindingList','items':["));
    for (int i = 0; i <= LIMIT_BINDINGS; i++)
        buf_printf(&many, "%s{}", i ? "," : "");
    buf_add(&many, S("]}"));
    buf_addc(&many, '\0');
    says(b, "binder", post, many.p, 400, "at most 1000 Bindings");
    says(b, "user", post, LIST(BIND("", "'n'")), 403, "cannot create resource");
    says(b, "binder", post, LIST(BIND("", "'n'")), 201, "Success");
}

int main(void)
{
    struct box b;

    box_open(&b, NULL, NULL);
    nobody_hands_on_more_than_they_have(&b);
    namespaces_that_end_take_nothing_new(&b);
    owners_are_counted_once(&b);
    quotas_and_limits_hold_for_all(&b);
    lists_of_bindings_are_read_as_bindings(&b);
    box_close(&b);
    return tap_done();
}
