/* CustomResourceDefinitions of PodGroups and Queues, and the queues there always are. */

#include "manifest/groups.h"

#include "manifest/shape.h"
#include "manifest/types.h"

enum { MANY_COLUMNS = 8, MANY_WORDS = 4, MANY_KEYWORDS = 6 };
#define MANY_NAMES "64" /* each costs an amount of every node */

struct column {
    const char *name, *path, *type;
    bool wide;
};

struct keyword { /* of spec ("") or of one of its members */
    const char *member;
    const char *name;
    const char *value; /* JSON text */
};

static const struct group_kind {
    const char *group, *version, *plural, *singular, *kind;
    const char *words; /* what kubectl explain says of it */
    const char *short_names[MANY_WORDS];
    bool of_cluster;
    bool has_status;    /* as a subresource */
    bool of_kubernetes; /* its API server serves it, behind a gate */
    const char *seal;   /* Kubernetes' own groups need one */
    const struct schema *spec, *status;
    struct column columns[MANY_COLUMNS];
    struct keyword keywords[MANY_KEYWORDS];
} kinds[] = {
    { "scheduling.volcano.sh",
      "v1beta1",
      "podgroups",
      "podgroup",
      "PodGroup",
      "PodGroup is a set of pods that start together or not at all.",
      { "pg", "podgroup-v1beta1" },
      .spec = &group_VolcanoSpec,
      .status = &group_VolcanoStatus,
      .columns = { { "STATUS", ".status.phase", "string" },
                   { "minMember", ".spec.minMember", "integer" },
                   { "RUNNINGS", ".status.running", "integer" },
                   { "AGE", ".metadata.creationTimestamp", "date" },
                   { "QUEUE", ".spec.queue", "string", true } },
      .keywords = { { "minMember", "minimum", "0" },
                    { "minResources", "maxProperties", MANY_NAMES },
                    { "minTaskMember", "maxProperties", MANY_NAMES },
                    { "queue", "default", "\"default\"" } } },
    { "scheduling.volcano.sh",
      "v1beta1",
      "queues",
      "queue",
      "Queue",
      "Queue limits what the groups in it use together.",
      { "q", "queue-v1beta1" },
      .of_cluster = true,
      .has_status = true,
      .spec = &group_QueueSpec,
      .status = &group_QueueStatus,
      .columns = { { "PARENT", ".spec.parent", "string" } },
      .keywords = { { "capability", "maxProperties", MANY_NAMES },
                    { "weight", "default", "1" },
                    { "weight", "minimum", "1" },
                    { "weight", "maximum", "65535" },
                    { "dequeueStrategy", "enum", "[\"fifo\",\"traverse\",\"\"]" } } },
    { "scheduling.x-k8s.io",
      "v1alpha1",
      "podgroups",
      "podgroup",
      "PodGroup",
      "PodGroup is a set of pods that start together or not at all.",
      { "pgs" } /* "pg" is Volcano's */,
      .has_status = true,
      .seal = "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50",
      .spec = &group_PluginsSpec,
      .status = &group_PluginsStatus,
      .columns = { { "Phase", ".status.phase", "string" },
                   { "MinMember", ".spec.minMember", "integer" },
                   { "Running", ".status.running", "integer" },
                   { "Succeeded", ".status.succeeded", "integer" },
                   { "Failed", ".status.failed", "integer" },
                   { "Age", ".metadata.creationTimestamp", "date" } },
      .keywords = { { "minMember", "minimum", "1" },
                    { "minResources", "maxProperties", MANY_NAMES } } },
    { "scheduling.k8s.io", "v1alpha2", "podgroups", "podgroup", "PodGroup",
      "PodGroup is a set of pods that start together or not at all.", .has_status = true,
      .of_kubernetes = true, .seal = "https://kep.k8s.io/4671", .spec = &group_KubeSpec,
      .status = &group_KubeStatus,
      .columns = { { "MinCount", ".spec.schedulingPolicy.gang.minCount", "integer" },
                   { "Workload", ".spec.podGroupTemplateRef.workload.workloadName", "string" },
                   { "Status", ".status.conditions[?(@.type==\"PodGroupScheduled\")].reason",
                     "string" },
                   { "Age", ".metadata.creationTimestamp", "date" } },
      .keywords = { { "disruptionMode", "enum", "[\"Pod\",\"PodGroup\"]" },
                    { "", "x-kubernetes-validations",
                      "[{\"rule\":\"self == oldSelf\",\"message\":\"field is immutable\"},"
                      "{\"rule\":\"has(self.schedulingPolicy.basic) != "
                      "has(self.schedulingPolicy.gang)\","
                      "\"message\":\"exactly one of schedulingPolicy.basic and gang must be set\"},"
                      "{\"rule\":\"!has(self.schedulingPolicy.gang) || "
                      "self.schedulingPolicy.gang.minCount >= 1\",\"message\":"
                      "\"schedulingPolicy.gang.minCount must be greater than or equal to 1\"}]" } } },
};

static jv text(struct arena *a, const char *z)
{
    return jstr(a, str_of(z));
}

static jv documented(struct arena *a, const struct schema *s)
{
    return shape_documented(a, shape_of(a, s, true), s->doc);
}

static jv string_of(struct arena *a, const char *doc)
{
    return shape_documented(a, jobj(a, { "type", jstrz(a, "string") }), doc);
}

static jv object_schema(struct arena *a, const struct group_kind *k)
{
    jv spec = documented(a, k->spec);

    for (const struct keyword *w = k->keywords; w->member; w++) {
        jv value = json_parse(a, str_of(w->value), NULL, NULL);
        spec = *w->member ? jv_with(a, spec, value, "properties", w->member, w->name)
                          : jv_with(a, spec, value, w->name);
    }
    jv members =
        jobj(a, { "apiVersion", string_of(a, "The group and version that the object is in.") },
             { "kind", string_of(a, "The kind of the object, in CamelCase.") },
             { "metadata", jobj(a, { "type", jstrz(a, "object") }) }, { "spec", spec },
             { "status", documented(a, k->status) });

    return jobj(a, { "type", jstrz(a, "object") }, { "description", text(a, k->words) },
                { "properties", members },
                { "required", k->of_kubernetes ? jarr(a, jstrz(a, "spec")) : JV_ABSENT });
}

static jv columns(struct arena *a, const struct group_kind *k)
{
    struct jbuild b = jb_arr(a);

    for (const struct column *c = k->columns; c->name; c++)
        jb_push(&b, jobj(a, { "jsonPath", text(a, c->path) }, { "name", text(a, c->name) },
                         { "type", text(a, c->type) },
                         { "priority", c->wide ? jint(a, 1) : JV_ABSENT }));
    return jb_done(&b);
}

static jv names(struct arena *a, const struct group_kind *k)
{
    struct jbuild words = jb_arr(a);

    for (size_t i = 0; k->short_names[i]; i++)
        jb_push(&words, text(a, k->short_names[i]));
    return jobj(a, { "kind", text(a, k->kind) },
                { "listKind", jstr(a, arena_printf(a, "%sList", k->kind)) },
                { "plural", text(a, k->plural) }, { "singular", text(a, k->singular) },
                { "shortNames", words.n ? jb_done(&words) : JV_ABSENT });
}

size_t manifest_n_groups(void)
{
    return COUNT(kinds);
}

bool manifest_group_is_of_kubernetes(size_t i)
{
    return kinds[i].of_kubernetes;
}

jv manifest_group_crd(struct arena *a, size_t i)
{
    const struct group_kind *k = &kinds[i];
    jv seal = k->seal ? jobj(a, { "api-approved.kubernetes.io", text(a, k->seal) }) : JV_ABSENT;
    jv version =
        jobj(a, { "name", text(a, k->version) }, { "served", JV_TRUE }, { "storage", JV_TRUE },
             { "additionalPrinterColumns", columns(a, k) },
             { "subresources", jobj(a, { "status", k->has_status ? JV_EMPTY_OBJ : JV_ABSENT }) },
             { "schema", jobj(a, { "openAPIV3Schema", object_schema(a, k) }) });

    return jobj(
        a, { "apiVersion", jstrz(a, "apiextensions.k8s.io/v1") },
        { "kind", jstrz(a, "CustomResourceDefinition") },
        { "metadata", jobj(a, { "name", jstr(a, arena_printf(a, "%s.%s", k->plural, k->group)) },
                           { "annotations", seal }) },
        { "spec", jobj(a, { "group", text(a, k->group) }, { "names", names(a, k) },
                       { "scope", text(a, k->of_cluster ? "Cluster" : "Namespaced") },
                       { "versions", jarr(a, version) }) });
}

static jv queue(struct arena *a, const char *name, const char *parent)
{
    return jobj(a, { "apiVersion", jstrz(a, "scheduling.volcano.sh/v1beta1") },
                { "kind", jstrz(a, "Queue") }, { "metadata", jobj(a, { "name", text(a, name) }) },
                { "spec", jobj(a, { "weight", jint(a, 1) },
                               { "parent", parent ? text(a, parent) : JV_ABSENT }) });
}

jv manifest_queues(struct arena *a)
{
    return jarr(a, queue(a, "root", NULL), queue(a, "default", "root"));
}
