/* What callers do with pods beyond the hooks: priorities, bindings, ephemeral containers; and that
 * hostile pods cost little. */

#include "builtin/kind.h"
#include "builtin/pod_admission.h"
#include "tap.h"

static const char *const plain = "{'metadata':{'name':'p','uid':'u'},'spec':{'containers':[]}}";

static void a_class_gives_its_priority(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J(plain);
    AUTO(jdoc)
    struct jdoc *class = J("{'metadata':{'name':'high'},'value':7,'preemptionPolicy':'Never'}");
    struct err e = { 0 };
    jv out = JV_ABSENT;

    is_int(pod_resolve_priority(a, jdoc_root(pod), jdoc_root(class), &out, &e), 0, "resolved");
    is_json(jv_get(out, S("spec")),
            "{'containers':[],'priorityClassName':'high','priority':7,'preemptionPolicy':'Never'}",
            "with name, value and policy");
    is_int(pod_resolve_priority(a, jdoc_root(pod), JV_ABSENT, &out, &e), 0, "no class at all");
    is_json(jv_get(out, S("spec")),
            "{'containers':[],'priority':0,'preemptionPolicy':'PreemptLowerPriority'}", "means 0");
}

static void a_pod_may_not_choose_its_priority(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J("{'spec':{'priority':5}}");
    struct err e = { 0 };
    jv out = JV_ABSENT;

    is_int(pod_resolve_priority(a, jdoc_root(pod), JV_ABSENT, &out, &e), -1, "5 is not 0");
    is_str(str_of(e.msg),
           S("the integer value of priority (5) must not be provided in pod spec; priority "
             "admission controller computed 0 from the given PriorityClass name"),
           "and is told so");
    is_int(e.code, ERR_FORBIDDEN, "as forbidden");
}

static void binding_names_the_node_and_the_time(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J(plain);
    AUTO(jdoc)
    struct jdoc *binding =
        J("{'metadata':{'annotations':{'a':'b'}},'target':{'kind':'Node','name':'n'}}");
    struct kind_ctx c = { .a = a, .now_ms = 0 };
    jv out = JV_ABSENT;

    ok(!pod_bind(&c, jdoc_root(pod), jdoc_root(binding), &out).n, "bound");
    is_str(jv_str(jv_at(out, "spec", "nodeName"), S("")), S("n"), "to the node");
    is_json(jv_at(out, "status", "conditions"),
            "[{'type':'PodScheduled','status':'True','lastProbeTime':null,"
            "'lastTransitionTime':'1970-01-01T00:00:00Z'}]",
            "scheduled since now");
    is_json(jv_at(out, "metadata", "annotations"), "{'a':'b'}", "annotations are taken over");
}

static void not_every_pod_can_be_bound(void)
{
    static const struct {
        const char *pod, *binding, *why;
    } rows[] = {
        { "{'metadata':{'name':'p'},'spec':{'nodeName':'n'}}", "{}",
          "pod p is already assigned to node \"n\"" },
        { "{'metadata':{'name':'p','deletionTimestamp':'2025-01-01T00:00:00Z'},"
          "'spec':{'nodeName':'n'}}",
          "{}", "pod p is being deleted, cannot be assigned to a host" },
        { "{'metadata':{'name':'p'},'spec':{'schedulingGates':[{'name':'g'}]}}", "{}",
          "pod p has non-empty .spec.schedulingGates" },
        { "{'metadata':{'name':'p','uid':'1'},'spec':{}}", "{'metadata':{'uid':'2'}}",
          "Precondition failed: UID in precondition: 2, UID in object meta: 1" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *pod = J(rows[i].pod), *binding = J(rows[i].binding);
        struct kind_ctx c = { .a = a };
        jv out = JV_ABSENT;

        is_str(pod_bind(&c, jdoc_root(pod), jdoc_root(binding), &out), str_of(rows[i].why),
               rows[i].why);
    }
}

static void a_reason_to_wait_gives_way_to_the_node_in_its_place(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod = J("{'metadata':{'name':'p'},'spec':{},'status':{'conditions':"
                         "[{'type':'PodScheduled','status':'False','reason':'Unschedulable'},"
                         "{'type':'Mine','status':'True'}]}}");
    AUTO(jdoc) struct jdoc *binding = J("{'target':{'name':'n'}}");
    struct kind_ctx c = { .a = a, .now_ms = 0 };
    jv out = JV_ABSENT;

    pod_bind(&c, jdoc_root(pod), jdoc_root(binding), &out);
    is_json(jv_at(out, "status", "conditions"),
            "[{'type':'PodScheduled','status':'True','lastProbeTime':null,"
            "'lastTransitionTime':'1970-01-01T00:00:00Z'},{'type':'Mine','status':'True'}]",
            "without the reason");
}

static void binding_bodies_are_checked(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J("{'target':{'kind':'Pod'}}");
    struct problems ps = { .a = a };

    binding_check(&ps, jdoc_root(d));
    is_str(problems_text(a, &ps),
           S("[target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\", "
             "target.name: Required value]"),
           "kind and name");
}

static void ephemeral_containers_only_come(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *old = J("{'spec':{'ephemeralContainers':[{'name':'a','image':'x'},"
                         "{'name':'b','image':'x'}]}}");
    AUTO(jdoc)
    struct jdoc *now = J("{'spec':{'ephemeralContainers':[{'name':'a','image':'x'},"
                         "{'name':'c','image':'x'}]}}");
    struct problems ps = { .a = a };

    pod_ephemeral_check(&ps, jdoc_root(now), jdoc_root(old));
    is_str(problems_text(a, &ps),
           S("spec.ephemeralContainers: Forbidden: existing ephemeral containers \"b\" may not be "
             "removed\n"),
           "one went");
}

/* A list of n elements made by a format that takes a number. */
static void add_many(struct buf *b, const char *key, int n, const char *before, const char *after)
{
    buf_printf(b, "\"%s\":[", key);
    for (int i = 0; i < n; i++)
        buf_printf(b, "%s%s%d%s", i ? "," : "", before, i, after);
    buf_addc(b, ']');
}

static void long_lists_find_their_duplicates(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    const struct builtin_kind *k = builtin_find(S(""), S("v1"), S("pods"));
    struct kind_ctx c = { .a = a };
    struct problems ps = { .a = a };
    struct err e = { 0 };

    buf_add(&b, S("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                  "\"image\":\"x\","));
    add_many(&b, "ports", 20000, "{\"containerPort\":1,\"name\":\"p", "\"}");
    buf_addc(&b, ',');
    add_many(&b, "volumeMounts", 20000, "{\"name\":\"v", "\",\"mountPath\":\"/x\"}");
    buf_add(&b, S("}],"));
    add_many(&b, "volumes", 20000, "{\"name\":\"v", "\"}");
    buf_add(&b, S("}}"));
    jv pod = json_parse(a, buf_str(&b), NULL, &e);
    pod = k->defaults(&c, pod);
    k->validate(&ps, pod);
    is_int((int64_t)ps.n, 1000, "as many problems as are told, and no more");
    is_str(ps.at[0].field, S("spec.containers[0].volumeMounts[1].mountPath"),
           "ports and volumes have names of their own, mounts share a path");
}

/* What is wrong with a pod whose term selects n values of a label, n times. */
static str wrong_with_affinity(struct arena *a, int terms, int values)
{
    static const char before[] = "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"affinity\":{"
                                 "\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuring"
                                 "Execution\":[";
    AUTO(buf) struct buf b = { 0 };
    const struct builtin_kind *k = builtin_find(S(""), S("v1"), S("pods"));
    struct kind_ctx c = { .a = a };
    struct problems ps = { .a = a };
    struct err e = { 0 };

    buf_add(&b, str_of(before));
    for (int i = 0; i < terms; i++) {
        buf_printf(&b,
                   "%s{\"topologyKey\":\"zone\",\"labelSelector\":{\"matchExpressions\":[{"
                   "\"key\":\"k\",\"operator\":\"In\",",
                   i ? "," : "");
        add_many(&b, "values", values, "\"v", "\"");
        buf_add(&b, S("}]}}"));
    }
    buf_add(&b, S("]}},\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}"));
    jv pod = json_parse(a, buf_str(&b), NULL, &e);
    k->validate(&ps, k->defaults(&c, pod));
    for (size_t i = 0; i < ps.n; i++)
        if (str_eqz(ps.at[i].field, "spec.affinity"))
            return ps.at[i].message;
    return S("");
}

static void affinity_has_a_limit(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(wrong_with_affinity(a, 250, 2), S(""), "250 terms, each with two values of a label");
    is_str(wrong_with_affinity(a, 251, 2), S("Too many: 1004: must have at most 1000 items"),
           "one more");
    is_str(wrong_with_affinity(a, 1, 999), S("Too many: 1001: must have at most 1000 items"),
           "the values count, too");
}

/* Those of a RuntimeClass are compared with each other. */
static void many_tolerations_take_little_room(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    const struct builtin_kind *k = builtin_find(S("node.k8s.io"), S("v1"), S("runtimeclasses"));
    struct problems ps = { .a = a };
    struct err e = { 0 };

    buf_add(&b, S("{\"metadata\":{\"name\":\"c\"},\"handler\":\"h\",\"scheduling\":{"));
    add_many(&b, "tolerations", 4000,
             "{\"operator\":\"Exists\",\"effect\":\"NoExecute\","
             "\"tolerationSeconds\":5,\"key\":\"k",
             "\"}");
    buf_add(&b, S("}}"));
    jv class = json_parse(a, buf_str(&b), NULL, &e);
    k->validate(&ps, class);
    is_int((int64_t)ps.n, 0, "4000 tolerations");
    ok(arena_size(a) < (size_t)32 << 20, "are compared in less than 32 MB");
}

int main(void)
{
    a_class_gives_its_priority();
    a_pod_may_not_choose_its_priority();
    binding_names_the_node_and_the_time();
    not_every_pod_can_be_bound();
    a_reason_to_wait_gives_way_to_the_node_in_its_place();
    binding_bodies_are_checked();
    ephemeral_containers_only_come();
    long_lists_find_their_duplicates();
    affinity_has_a_limit();
    many_tolerations_take_little_room();
    return tap_done();
}
