/* metrics.k8s.io over something that knows what pods and a node use. */

#include "ask.h"

#define ADMIN   "root,system:masters"
#define METRICS "/apis/metrics.k8s.io/v1beta1"
#define TABLE   "\naccept: application/json;as=Table;v=v1;g=meta.k8s.io"
#define PARTS   "\naccept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

static struct box box;
static struct arena *all;
static str uid; /* of pod a/one */
static bool is_late, fails;
static api_usage_done *waiting;
static void *waiting_arg;
static int asked;

static void tell(api_usage_done *done, void *arg)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    str text = arena_printf(
        a,
        "{'node': 'n1', 'at_ms': 1700000000000, 'window_ms': 15011, 'cpu_nano': 1234567890,"
        " 'memory_bytes': 3146751, 'pods': {"
        " 'a/one': {'uid': '%" PRI_STR "', 'at_ms': 1700000000000, 'window_ms': 15011,"
        "  'containers': [{'name': 'c', 'cpu_nano': 250000000, 'memory_bytes': 1048576},"
        "                 {'name': 'd', 'cpu_nano': 1327512, 'memory_bytes': 2049}]},"
        " 'a/two': {'uid': 'of-an-older-one', 'at_ms': 0, 'window_ms': 1, 'containers': []},"
        " 'b/gone': {'uid': 'x', 'at_ms': 0, 'window_ms': 1, 'containers': []}}}",
        STR_ARG(uid));

    err_set(&e, ERR_UNAVAILABLE, "the node is stopping");
    if (fails)
        done(arg, JV_ABSENT, &e);
    else
        done(arg, box_value(a, text.p), NULL);
}

static void usage(void *ctx, api_usage_done *done, void *arg)
{
    (void)ctx;
    asked++;
    waiting = done;
    waiting_arg = arg;
    if (!is_late)
        tell(done, arg);
}

static const struct api_pods hooks = { .usage = usage };

static jv answer(struct arena *a, const char *user, const char *head, int status)
{
    AUTO(reply) struct reply r = ask(&box, user, head, STR_NONE);

    if (r.status != status)
        ok(false, "%s: %d, not %d: %.*s", head, r.status, status, STR_ARG(buf_str(&r.body)));
    return json_parse(a, arena_str(a, buf_str(&r.body)), NULL, NULL);
}

static void is_text(jv v, const char *want, const char *what)
{
    is_str(jv_str(v, S("(none)")), str_of(want), what);
}

static void one_pod(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv p = answer(a, ADMIN, "GET " METRICS "/namespaces/a/pods/one", 200);
    jv c = jv_index(jv_at(p, "containers"), 0), d = jv_index(jv_at(p, "containers"), 1);

    is_text(jv_at(p, "kind"), "PodMetrics", "its kind");
    is_text(jv_at(p, "apiVersion"), "metrics.k8s.io/v1beta1", "its version");
    is_text(jv_at(p, "metadata", "namespace"), "a", "its namespace");
    is_text(jv_at(p, "metadata", "labels", "app"), "x", "the labels of the pod");
    is_text(jv_at(p, "timestamp"), "2023-11-14T22:13:20Z", "when it was measured");
    is_text(jv_at(p, "window"), "15.011s", "over which time");
    is_text(jv_at(c, "usage", "cpu"), "250m", "CPU as a quantity");
    is_text(jv_at(d, "usage", "cpu"), "1327512n", "in billionths where it must be");
    is_text(jv_at(c, "usage", "memory"), "1Mi", "memory as a quantity");
    is_text(jv_at(d, "usage", "memory"), "2Ki", "in whole KiB");
    ok(!jv_exists(jv_at(p, "usage")), "a pod has no usage besides its containers'");
}

static void pods_that_have_none(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv two = answer(a, ADMIN, "GET " METRICS "/namespaces/a/pods/two", 404);

    is_text(jv_at(two, "message"), "podmetrics.metrics.k8s.io \"a/two\" not found",
            "figures of an older pod of that name are not told");
    int before = asked;
    jv none = answer(a, ADMIN, "GET " METRICS "/namespaces/a/pods/none", 404);
    is_text(jv_at(none, "message"), "pods \"none\" not found", "a pod that is not there");
    is_int(asked, before, "is not measured");
    jv node = answer(a, ADMIN, "GET " METRICS "/nodes/n2", 404);
    is_text(jv_at(node, "message"), "nodemetrics.metrics.k8s.io \"n2\" not found",
            "nor is a node of another machine");
}

static size_t listed(const char *head)
{
    AUTO(arena) struct arena *a = arena_new();

    return jv_len(jv_at(answer(a, ADMIN, head, 200), "items"));
}

static void lists(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv l = answer(a, ADMIN, "GET " METRICS "/pods", 200);

    is_text(jv_at(l, "kind"), "PodMetricsList", "a list");
    is_int((int64_t)jv_len(jv_at(l, "items")), 1, "of the pods that are there");
    ok(!jv_exists(jv_at(jv_index(jv_at(l, "items"), 0), "kind")), "items do not tell their kind");
    is_int((int64_t)listed("GET " METRICS "/namespaces/b/pods"), 0, "of a namespace");
    is_int((int64_t)listed("GET " METRICS "/namespaces/a/pods?labelSelector=app%3Dx"), 1,
           "by labels");
    is_int((int64_t)listed("GET " METRICS "/pods?labelSelector=app%3Dy"), 0, "by other labels");
    is_int((int64_t)listed("GET " METRICS "/pods?fieldSelector=metadata.name%3Done"), 1, "by name");
    is_int((int64_t)listed("GET " METRICS "/pods?fieldSelector=metadata.name!%3Done"), 0,
           "by another name");
    int before = asked;
    answer(a, ADMIN, "GET " METRICS "/pods?fieldSelector=spec.nodeName%3Dn1", 400);
    is_int(asked, before, "a field that cannot be selected by is refused at once");
    jv n = jv_index(jv_at(answer(a, ADMIN, "GET " METRICS "/nodes", 200), "items"), 0);
    is_text(jv_at(n, "usage", "cpu"), "1234567890n", "the node's CPU");
    is_text(jv_at(n, "usage", "memory"), "3Mi", "the node's memory");
    is_text(jv_at(n, "metadata", "labels", "zone"), "z", "the node's labels");
}

static void other_forms(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv t = answer(a, ADMIN, "GET " METRICS "/pods" TABLE, 200);
    jv cells = jv_at(jv_index(jv_at(t, "rows"), 0), "cells");

    is_text(jv_at(t, "kind"), "Table", "a table");
    is_int((int64_t)jv_len(jv_at(t, "columnDefinitions")), 4, "of four columns");
    is_text(jv_index(cells, 0), "one", "the name");
    is_text(jv_index(cells, 1), "251327512n", "CPU of all containers");
    is_text(jv_index(cells, 2), "1026Ki", "memory of all containers");
    is_text(jv_index(cells, 3), "15.011s", "the window");
    t = answer(a, ADMIN, "GET " METRICS "/nodes/n1" TABLE, 200);
    is_text(jv_index(jv_at(jv_index(jv_at(t, "rows"), 0), "cells"), 2), "3Mi", "and of a node");
    t = answer(a, ADMIN, "GET " METRICS "/pods" PARTS, 200);
    is_text(jv_at(t, "kind"), "PartialObjectMetadataList", "metadata alone");
}

static void what_is_not_served(void)
{
    AUTO(arena) struct arena *a = arena_new();

    answer(a, ADMIN, "GET " METRICS "/pods?watch=true", 405);
    answer(a, ADMIN, "GET " METRICS "/watch/pods", 405);
    answer(a, ADMIN, "DELETE " METRICS "/namespaces/a/pods/one", 405);
    answer(a, ADMIN, "DELETE " METRICS "/namespaces/a/pods", 405);
    answer(a, ADMIN, "POST " METRICS "/namespaces/a/pods", 405);
    answer(a, ADMIN, "PUT " METRICS "/nodes/n1", 405);
    answer(a, ADMIN, "PATCH " METRICS "/nodes/n1", 405);
    answer(a, ADMIN, "GET " METRICS "/namespaces/a/pods/one/log", 404);
    answer(a, ADMIN, "GET " METRICS "/pods/one", 404);
    ok(true, "nothing but get and list");
}

static void rights(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char role[] =
        "{\"roleRef\": {\"apiGroup\": \"rbac.authorization.k8s.io\", \"kind\": \"ClusterRole\","
        " \"name\": \"view\"}, \"metadata\": {\"name\": \"x\"}, \"subjects\": [{\"kind\": \"User\","
        " \"name\": \"vera\"}]}";

    answer(a, "vera", "GET " METRICS "/namespaces/a/pods", 403);
    is_int(ask_status(&box, ADMIN,
                      "POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings\n"
                      "content-type: application/json",
                      role),
           201, "vera may view namespace a");
    answer(a, "vera", "GET " METRICS "/namespaces/a/pods", 200);
    answer(a, "vera", "GET " METRICS "/namespaces/b/pods", 403);
    answer(a, "vera", "GET " METRICS "/nodes", 403);
    ok(true, "and so see its metrics, and no others");
}

static void discovery(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv list = jv_at(answer(a, ADMIN, "GET " METRICS, 200), "resources");
    jv groups = jv_at(answer(a, ADMIN, "GET /apis", 200), "groups");

    is_int((int64_t)jv_len(list), 2, "two resources");
    is_text(jv_at(jv_index(list, 0), "kind"), "NodeMetrics", "nodes");
    ok(jv_bool(jv_at(jv_index(list, 1), "namespaced"), false), "and pods of namespaces");
    is_text(jv_at(jv_index(list, 1), "singularName"), "", "whose word is not \"pod\"");
    is_text(jv_at(jv_index(groups, jv_len(groups) - 1), "name"), "metrics.k8s.io",
            "the last group");
    jv doc = answer(a, ADMIN, "GET /openapi/v3/apis/metrics.k8s.io/v1beta1", 200);
    ok(jv_exists(jv_at(doc, "paths", METRICS "/nodes/{name}", "get")), "OpenAPI has its paths");
    ok(!jv_exists(jv_at(doc, "paths", METRICS "/nodes/{name}", "put")), "those that are served");
    ok(jv_exists(jv_at(doc, "components", "schemas",
                       "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics")),
       "and its types");
}

static void who_asks_late(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct box_answer w = { .a = a };
    static const struct kube_resource pods = { "metrics.k8s.io", "v1beta1", "pods", "PodMetrics",
                                               false };
    struct kube_request r = { .verb = KUBE_LIST, .res = &pods };

    is_late = true;
    kube_send(box.kube, &r, box_on_answer, &w);
    for (int i = 0; i < 100; i++)
        box_turn(&box);
    ok(!w.done, "an answer may take its time");
    tell(waiting, waiting_arg);
    box_until(&box, &w.done);
    is_int(w.ans.status, 200, "and comes");
    int before = asked;
    struct kube_call *c = kube_send(box.kube, &r, box_on_answer, &w);
    while (asked == before)
        box_turn(&box);
    kube_cancel(box.kube, c);
    tell(waiting, waiting_arg);
    ok(true, "whoever has gone meanwhile does no harm");
    is_late = false;
    fails = true;
    answer(a, ADMIN, "GET " METRICS "/pods", 503);
    fails = false;
}

static void make(const char *path, const char *obj)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(obj);
    str head = arena_printf(a, "POST %s\ncontent-type: application/json", path);
    AUTO(reply) struct reply r = ask(&box, ADMIN, head.p, json_text(a, jdoc_root(d)));
    jv made = json_parse(a, buf_str(&r.body), NULL, NULL);

    if (r.status != 201)
        printf("Bail out! %.*s\n", STR_ARG(buf_str(&r.body)));
    if (str_eqz(meta_name(made), "one"))
        uid = arena_str(all, meta_uid(made));
}

static void without_anything_that_measures(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct api_pods none = { .usage = NULL };

    box_open(&box, NULL, &(struct api_opts){ .pods = &none });
    answer(a, ADMIN, "GET " METRICS "/pods", 404);
    answer(a, ADMIN, "GET /apis/metrics.k8s.io", 404);
    answer(a, ADMIN, "GET /openapi/v3/apis/metrics.k8s.io/v1beta1", 404);
    jv rules = jv_at(
        answer(a, ADMIN, "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/view", 200), "rules");
    bool named = false;
    JV_EACH (it, rules)
        named = named ||
                str_eqz(jv_str(jv_index(jv_at(it.value, "apiGroups"), 0), S("")), "metrics.k8s.io");
    ok(!named, "nothing is served and no role tells of it");
    box_close(&box);
}

int main(void)
{
    all = arena_new();
    box_open(&box, NULL, &(struct api_opts){ .pods = &hooks });
    make("/api/v1/namespaces", "{'metadata': {'name': 'a'}}");
    make("/api/v1/nodes", "{'metadata': {'name': 'n1', 'labels': {'zone': 'z'}}}");
    make("/api/v1/nodes", "{'metadata': {'name': 'n2'}}");
    make("/api/v1/namespaces/a/pods",
         "{'metadata': {'name': 'one', 'labels': {'app': 'x'}}, 'spec': {'nodeName': 'n1',"
         " 'containers': [{'name': 'c', 'image': 'i'}, {'name': 'd', 'image': 'i'}]}}");
    make("/api/v1/namespaces/a/pods", "{'metadata': {'name': 'two'}, 'spec': {'containers':"
                                      " [{'name': 'c', 'image': 'i'}]}}");
    one_pod();
    pods_that_have_none();
    lists();
    other_forms();
    what_is_not_served();
    rights();
    discovery();
    who_asks_late();
    box_close(&box);
    without_anything_that_measures();
    arena_free(all);
    return tap_done();
}
