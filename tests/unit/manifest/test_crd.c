/* The definitions of the job kinds: as they are written (golden files), and what they do to jobs.
 * Usage: test_crd FOLDER; with GOLDEN_WRITE=1 the files in it are written anew. */

#include "base/yaml.h"
#include "builtin/types/types.h"
#include "crd/crd.h"
#include "manifest/crd.h"
#include "manifest/groups.h"
#include "slurp.h"

static bool spit(const char *path, str text)
{
    FILE *f = fopen(path, "w");
    bool fine = f && fwrite(text.p, 1, text.n, f) == text.n;

    return f && fclose(f) == 0 && fine;
}

static void is_as_written(const char *path, jv crd)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };

    yaml_print(&b, crd);
    if (getenv("GOLDEN_WRITE"))
        ok(spit(path, buf_str(&b)), "%s is written anew", path);
    else
        ok(str_eq(slurp(a, path), buf_str(&b)), "%s is as written", path);
}

static void is_sound(jv written)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    jv crd = crd_definition_defaults(a, written);

    crd_definition_validate(&ps, crd);
    ok(ps.n == 0, "%" PRI_STR ": nothing is wrong with the definition", STR_ARG(meta_name(crd)));
    for (size_t p = 0; p < ps.n; p++)
        printf("# %" PRI_STR ": %" PRI_STR "\n", STR_ARG(ps.at[p].field),
               STR_ARG(ps.at[p].message));
    is_json(crd_definition_warnings(a, crd, JV_ABSENT), "[]", "and there are no warnings");
    is_json(crd_cel_rules(a, crd), "[]", "and we can run every rule");
    ok(json_text(a, crd).n < 150000, "and it is small");
}

static void definitions_are_as_written(const char *folder)
{
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; job_kind_at(i); i++) {
        const struct job_kind *k = job_kind_at(i);
        jv crd = manifest_crd(a, k);
        is_as_written(arena_printf(a, "%s/%s.yaml", folder, k->planner.res->plural).p, crd);
        is_sound(crd);
    }
    for (size_t i = 0; i < manifest_n_groups(); i++) {
        jv crd = manifest_group_crd(a, i);
        is_as_written(arena_printf(a, "%s/%" PRI_STR ".yaml", folder, STR_ARG(meta_name(crd))).p,
                      crd);
        is_sound(crd);
    }
}

/* ---- what becomes of jobs */

#define POD "'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': 'i'}]}}"

static const struct row {
    const char *claim;
    const char *old;      /* spec; NULL: a new job */
    const char *now;      /* spec; NULL: without one */
    const char *problems; /* one a line, sorted as found */
} rows[] = {
    { "a job can be small", NULL, "{'tfReplicaSpecs': {'Worker': {" POD "}}}", "" },
    { "types can be any", NULL, "{'tfReplicaSpecs': {'worker': {" POD "}, 'Odd': {" POD "}}}", "" },
    { "a job has a spec", NULL, NULL, "spec.tfReplicaSpecs: Required value: must be required\n" },
    { "no spec can stay so", "null", NULL, "" },
    { "a spec cannot go", "{'tfReplicaSpecs': {'Worker': {" POD "}}}", NULL,
      "spec.tfReplicaSpecs: Required value: must be required\n" },
    { "a job has replica specs", NULL, "{}",
      "spec.tfReplicaSpecs: Required value\n"
      "<nil>: Invalid value: null: some validation rules were not checked because the object was "
      "invalid; correct the existing errors to complete validation\n" },
    { "a job has some replica", NULL, "{'tfReplicaSpecs': {}}",
      "spec.tfReplicaSpecs: Required value: must be required\n" },
    { "parity Q16: no replica can stay so", "{'tfReplicaSpecs': {}}",
      "{'tfReplicaSpecs': {}, 'runPolicy': {'suspend': true}}", "" },
    { "a replica has containers", NULL, "{'tfReplicaSpecs': {'Worker': {}}}",
      "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must be specified\n" },
    { "parity Q38: a list of none is none", NULL,
      "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': []}}}}}",
      "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must be specified\n" },
    { "one has the name of the kind, all have images", NULL,
      "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'x'}, "
      "{'name': 'y', 'image': ''}]}}}}}",
      "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least "
      "one container with name tensorflow\n"
      "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image: Required value: must be "
      "required\n"
      "spec.tfReplicaSpecs[Worker].template.spec.containers[1].image: Required value: must be "
      "required\n" },
    { "names of containers are unique", NULL,
      "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'tensorflow', "
      "'image': 'i'}, {'name': 'tensorflow', 'image': 'i'}]}}}}}",
      "spec.tfReplicaSpecs[Worker].template.spec.containers[1]: Duplicate value: "
      "{\"name\":\"tensorflow\"}\n" },
    { "chief and master are one", NULL,
      "{'tfReplicaSpecs': {'Chief': {" POD "}, 'Master': {" POD "}}}",
      "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role\n" },
    { "parity Q38: replicas are not negative", NULL,
      "{'tfReplicaSpecs': {'PS': {'replicas': -1, " POD "}}}",
      "spec.tfReplicaSpecs[PS].replicas: Invalid value: \"integer\": must be greater than or equal "
      "to 0\n" },
    { "negative replicas can stay so", "{'tfReplicaSpecs': {'PS': {'replicas': -1, " POD "}}}",
      "{'tfReplicaSpecs': {'PS': {'replicas': -1, 'restartPolicy': 'Never', " POD "}}}", "" },
    { "parity Q30: restart policies are known", NULL,
      "{'tfReplicaSpecs': {'Worker': {'restartPolicy': 'Often', " POD "}}}",
      "spec.tfReplicaSpecs.Worker.restartPolicy: Unsupported value: \"Often\": supported values: "
      "\"Always\", \"ExitCode\", \"Never\", \"OnFailure\", \"\"\n"
      "<nil>: Invalid value: null: some validation rules were not checked because the object was "
      "invalid; correct the existing errors to complete validation\n" },
    { "an unknown one can stay so",
      "{'tfReplicaSpecs': {'Worker': {'restartPolicy': 'Often', " POD "}}}",
      "{'tfReplicaSpecs': {'Worker': {'restartPolicy': 'Often', 'replicas': 2, " POD "}}}", "" },
    { "an empty one is none", NULL,
      "{'runPolicy': {'cleanPodPolicy': ''}, 'tfReplicaSpecs': {'Worker': {'restartPolicy': '', " POD
      "}}}",
      "" },
    { "parity Q30: clean-up policies are known", NULL,
      "{'runPolicy': {'cleanPodPolicy': 'Some'}, 'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "spec.runPolicy.cleanPodPolicy: Unsupported value: \"Some\": supported values: \"All\", "
      "\"None\", \"Running\", \"\"\n"
      "<nil>: Invalid value: null: some validation rules were not checked because the object was "
      "invalid; correct the existing errors to complete validation\n" },
    { "limits are not negative", NULL,
      "{'runPolicy': {'backoffLimit': -1, 'ttlSecondsAfterFinished': -2, 'activeDeadlineSeconds': "
      "-3}, 'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "spec.runPolicy.backoffLimit: Invalid value: \"integer\": must be greater than or equal to 0\n"
      "spec.runPolicy.ttlSecondsAfterFinished: Invalid value: \"integer\": must be greater than or "
      "equal to 0\n"
      "spec.runPolicy.activeDeadlineSeconds: Invalid value: \"integer\": must be greater than or "
      "equal to 0\n" },
    { "managers are known", NULL,
      "{'runPolicy': {'managedBy': ''}, 'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "spec.runPolicy.managedBy: Unsupported value: \"\": supported values: "
      "\"kubeflow.org/training-operator\", \"kueue.x-k8s.io/multikueue\"\n"
      "<nil>: Invalid value: null: some validation rules were not checked because the object was "
      "invalid; correct the existing errors to complete validation\n" },
    { "a manager cannot come later", "{'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "{'runPolicy': {'managedBy': 'kueue.x-k8s.io/multikueue'}, 'tfReplicaSpecs': {'Worker': {" POD
      "}}}",
      "spec.runPolicy.managedBy: Invalid value: \"object\": field is immutable\n" },
    { "nor go",
      "{'runPolicy': {'managedBy': 'kueue.x-k8s.io/multikueue'}, 'tfReplicaSpecs': {'Worker': {" POD
      "}}}",
      "{'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "spec.runPolicy.managedBy: Invalid value: \"object\": field is immutable\n" },
    { "queues cannot change",
      "{'runPolicy': {'schedulingPolicy': {'queue': 'a'}}, 'tfReplicaSpecs': {'Worker': {" POD
      "}}}",
      "{'runPolicy': {'schedulingPolicy': {'queue': 'b'}}, 'tfReplicaSpecs': {'Worker': {" POD
      "}}}",
      "spec.runPolicy.schedulingPolicy.queue: Invalid value: \"string\": "
      "spec.runPolicy.schedulingPolicy.queue is immutable\n" },
    { "but come and go",
      "{'runPolicy': {'schedulingPolicy': {'queue': 'a'}}, 'tfReplicaSpecs': {'Worker': {" POD
      "}}}",
      "{'runPolicy': {'schedulingPolicy': {}}, 'tfReplicaSpecs': {'Worker': {" POD "}}}", "" },
    { "quantities are numbers or texts", NULL,
      "{'runPolicy': {'schedulingPolicy': {'minResources': {'cpu': 2, 'memory': '1Gi', 'x': 'much'}}}, "
      "'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "spec.runPolicy.schedulingPolicy.minResources.x: Invalid value: \"much\": "
      "spec.runPolicy.schedulingPolicy.minResources.x in body should match "
      "'^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+("
      "\\.[0-9]*)?)|(\\.[0-9]+))))?$'\n" },
    { "suspend is a boolean", NULL,
      "{'runPolicy': {'suspend': 'yes'}, 'tfReplicaSpecs': {'Worker': {" POD "}}}",
      "spec.runPolicy.suspend: Invalid value: \"string\": spec.runPolicy.suspend in body must be of "
      "type boolean: \"string\"\n"
      "<nil>: Invalid value: null: some validation rules were not checked because the object was "
      "invalid; correct the existing errors to complete validation\n" },
};

static jv job_of(struct arena *a, const struct crd_version *v, const char *name, jv spec, jv status)
{
    jv job = jobj(a, { "apiVersion", jstrz(a, "kubeflow.org/v1") }, { "kind", jstrz(a, "TFJob") },
                  { "metadata", jobj(a, { "name", jstr(a, str_of(name)) }) }, { "spec", spec },
                  { "status", status });

    return crd_default(a, v, crd_prune(a, v, job, NULL, NULL));
}

static str problems_of(struct arena *a, const struct crd_version *v, jv job, jv old)
{
    AUTO(buf) struct buf b = { 0 };
    struct problems ps = { .a = a };

    crd_validate(&ps, v, job, old);
    for (size_t i = 0; i < ps.n; i++)
        buf_add(&b, arena_printf(a, "%" PRI_STR ": %" PRI_STR "\n", STR_ARG(ps.at[i].field),
                                 STR_ARG(ps.at[i].message)));
    return arena_str(a, buf_str(&b));
}

static void wrong_jobs_are_refused(const struct crd_version *v)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *now = J(rows[i].now ? rows[i].now : "null");
        AUTO(jdoc) struct jdoc *old = J(rows[i].old ? rows[i].old : "null");
        /* a stored job has a status, which updates keep */
        jv status = rows[i].old ? JV_EMPTY_OBJ : JV_ABSENT;
        jv before = rows[i].old ? job_of(a, v, "mnist", jdoc_root(old), status) : JV_ABSENT;
        is_str(problems_of(a, v, job_of(a, v, "mnist", jdoc_root(now), status), before),
               str_of(rows[i].problems), rows[i].claim);
    }
}

static void names_must_serve_services(const struct crd_version *v)
{
    static const struct {
        const char *name;
        const char *spec;
        const char *problems;
    } names[] = {
        { "a-1", "{'tfReplicaSpecs': {'Worker': {" POD "}}}", "" },
        { "1a", "{'tfReplicaSpecs': {'Worker': {" POD "}}}",
          "metadata.name: Invalid value: \"object\": should match: a DNS-1035 label must consist of "
          "lower case alphanumeric characters or '-', start with an alphabetic character, and end "
          "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
          "is '[a-z]([-a-z0-9]*[a-z0-9])?')\n" },
        /* 54 bytes: with -worker-0 it has 63 */
        { "a2345678901234567890123456789012345678901234567890123z",
          "{'tfReplicaSpecs': {'Worker': {'replicas': 10, " POD "}}}", "" },
        { "a2345678901234567890123456789012345678901234567890123z",
          "{'tfReplicaSpecs': {'PS': {" POD "}, 'Worker': {'replicas': 11, " POD "}}}",
          "metadata.name: Invalid value: \"object\": should match: the name "
          "\"<name>-<type>-<index>\" derived from it must be no more than 63 characters\n" },
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *spec = J(names[i].spec);
        jv job = job_of(a, v, names[i].name, jdoc_root(spec), JV_ABSENT);
        is_str(problems_of(a, v, job, JV_ABSENT), str_of(names[i].problems), names[i].name);
        jv stored = job_of(a, v, names[i].name, jdoc_root(spec), JV_EMPTY_OBJ);
        is_str(problems_of(a, v, stored, stored), S(""), "parity Q21: a stored one can be edited");
    }
}

static void jobs_are_pruned_and_completed(const struct crd_version *v)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J(
        "{'tfReplicaSpecs': {'PS': null, 'Worker': {'odd': 1, 'template': {'metadata': {'name': 'n',"
        " 'labels': {'a': 'b'}, 'uid': 'u', 'creationTimestamp': null}, 'spec': {'odd': 1,"
        " 'containers': [{'name': 'tensorflow', 'image': null, 'ports': [{'containerPort': 1}],"
        " 'envFrom': [{'secretRef': {}}]}], 'imagePullSecrets': [{}]}}}}}");

    is_json(jv_at(job_of(a, v, "a", jdoc_root(d), JV_ABSENT), "spec"),
            "{'tfReplicaSpecs': {'Worker': {'template': {'metadata': {'name': 'n',"
            " 'labels': {'a': 'b'}}, 'spec': {"
            "'containers': [{'name': 'tensorflow', 'ports': [{'containerPort': 1, 'protocol': "
            "'TCP'}],"
            " 'envFrom': [{'secretRef': {'name': ''}}]}], 'imagePullSecrets': [{'name': ''}]}}}},"
            " 'runPolicy': {'suspend': false}}",
            "parity Q31: jobs get a run policy, and lose what there is no such thing of");
}

/* ---- what becomes of groups and queues */

static const struct group_row {
    size_t kind; /* of manifest_group_crd */
    const char *obj;
    const char *stored;   /* without apiVersion, kind and metadata */
    const char *problems; /* as above */
} group_rows[] = {
    { 0, "{'spec': {'minMember': 6, 'minResources': {'nvidia.com/gpu': 4}}}",
      "{'spec': {'minMember': 6, 'minResources': {'nvidia.com/gpu': 4}, 'queue': 'default'}}", "" },
    { 0, "{'spec': {'odd': 1, 'subGroupPolicy': [{'a': 1}], 'networkTopology': {'mode': 'hard'}}}",
      "{'spec': {'subGroupPolicy': [{'a': 1}], 'networkTopology': {'mode': 'hard'}, "
      "'queue': 'default'}}",
      "" },
    { 0, "{'status': {'phase': 'Pending', 'odd': 1, 'conditions': [{'transitionID': '1'}]}}",
      "{'status': {'phase': 'Pending', 'conditions': [{'transitionID': '1'}]}}", "" },
    { 0, "{'spec': {'minMember': -1}}", NULL,
      "spec.minMember: Invalid value: -1: spec.minMember in body should be greater than or equal to "
      "0\n" },
    { 1, "{'spec': {}}", "{'spec': {'weight': 1}}", "" },
    { 1, "{'spec': {'weight': 0}}", NULL,
      "spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1\n" },
    { 1, "{'spec': {'weight': 65536}}", NULL,
      "spec.weight: Invalid value: 65536: spec.weight in body should be less than or equal to "
      "65535\n" },
    { 1, "{'spec': {'dequeueStrategy': 'lifo'}}", NULL,
      "spec.dequeueStrategy: Unsupported value: \"lifo\": supported values: \"fifo\", "
      "\"traverse\", \"\"\n" },
    { 2, "{'spec': {'minMember': 1, 'queue': 'a'}}", "{'spec': {'minMember': 1}}", "" },
    { 3, "{'spec': {'schedulingPolicy': {'gang': {'minCount': 1, 'odd': 1}}}}",
      "{'spec': {'schedulingPolicy': {'gang': {'minCount': 1}}}}", "" },
    { 3, "{'spec': {'schedulingPolicy': {'basic': {}}, 'queue': 'a'}}",
      "{'spec': {'schedulingPolicy': {'basic': {}}}}", "" },
    { 3, "{'spec': {'schedulingPolicy': {}}}", NULL,
      "spec: Invalid value: \"object\": exactly one of schedulingPolicy.basic and gang must be "
      "set\n" },
    { 3, "{'spec': {'schedulingPolicy': {'basic': {}, 'gang': {'minCount': 1}}}}", NULL,
      "spec: Invalid value: \"object\": exactly one of schedulingPolicy.basic and gang must be "
      "set\n" },
    { 3, "{'spec': {'schedulingPolicy': {'gang': {'minCount': 0}}}}", NULL,
      "spec: Invalid value: \"object\": schedulingPolicy.gang.minCount must be greater than or "
      "equal to 1\n" },
    { 2, "{'spec': {'minMember': 0}}", NULL,
      "spec.minMember: Invalid value: 0: spec.minMember in body should be greater than or equal to "
      "1\n" },
};

static void groups_are_checked_and_completed(void)
{
    for (size_t i = 0; i < COUNT(group_rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        const struct group_row *r = &group_rows[i];
        AUTO(jdoc) struct jdoc *d = J(r->obj);
        AUTO(crd)
        struct crd *c = crd_compile(manifest_group_crd(a, r->kind), &meta_ObjectMeta, NULL);
        jv obj = crd_default(a, c->storage, crd_prune(a, c->storage, jdoc_root(d), NULL, NULL));
        is_str(problems_of(a, c->storage, obj, JV_ABSENT), str_of(r->problems), r->obj);
        if (r->stored)
            is_json(obj, r->stored, "pruned and completed");
    }
}

static void only_one_is_of_kubernetes(void)
{
    for (size_t i = 0; i < manifest_n_groups(); i++)
        is_int(manifest_group_is_of_kubernetes(i), i == 3, "the PodGroup of 1.36 alone is gated");
}

static void its_spec_is_immutable(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(crd) struct crd *c = crd_compile(manifest_group_crd(a, 3), &meta_ObjectMeta, NULL);
    AUTO(jdoc) struct jdoc *old = J("{'spec': {'schedulingPolicy': {'gang': {'minCount': 2}}}}");
    AUTO(jdoc) struct jdoc *now = J("{'spec': {'schedulingPolicy': {'gang': {'minCount': 1}}}}");

    is_str(problems_of(a, c->storage, jdoc_root(old), jdoc_root(old)), S(""), "it may stay");
    is_str(problems_of(a, c->storage, jdoc_root(now), jdoc_root(old)),
           S("spec: Invalid value: \"object\": field is immutable\n"), "it cannot change");
}

/* Each name costs an amount of every node. */
static void lists_of_groups_are_short(void)
{
    static const struct {
        size_t kind;
        const char *member;
    } lists[] = {
        { 0, "minResources" }, { 0, "minTaskMember" }, { 1, "capability" }, { 2, "minResources" }
    };

    for (size_t i = 0; i < COUNT(lists); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(crd)
        struct crd *c = crd_compile(manifest_group_crd(a, lists[i].kind), &meta_ObjectMeta, NULL);
        struct jbuild b = jb_obj(a);
        for (int n = 0; n < 65; n++)
            jb_add(&b, arena_printf(a, "x.dev/%d", n), jint(a, 1));
        jv obj = jobj(a, { "spec", jobj(a, { lists[i].member, jb_done(&b) }) });
        ok(str_contains(problems_of(a, c->storage, obj, JV_ABSENT),
                        S("must have at most 64 items")),
           "%s is short", lists[i].member);
    }
}

static void queues_are_sound(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(crd) struct crd *c = crd_compile(manifest_group_crd(a, 1), &meta_ObjectMeta, NULL);

    JV_EACH (it, manifest_queues(a)) {
        is_str(problems_of(a, c->storage, it.value, JV_ABSENT), S(""), "a queue is valid");
        ok(jv_equal(it.value, crd_prune(a, c->storage, it.value, NULL, NULL)), "and whole");
    }
}

int main(int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    AUTO(crd)
    struct crd *c = crd_compile(manifest_crd(a, job_kind_at(0)), &meta_ObjectMeta, &e);

    definitions_are_as_written(argc > 1 ? argv[1] : ".");
    groups_are_checked_and_completed();
    only_one_is_of_kubernetes();
    its_spec_is_immutable();
    lists_of_groups_are_short();
    queues_are_sound();
    if (ok(c != NULL, "the definition of TFJob compiles")) {
        wrong_jobs_are_refused(c->storage);
        names_must_serve_services(c->storage);
        jobs_are_pruned_and_completed(c->storage);
    }
    return tap_done();
}
