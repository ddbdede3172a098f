/* Checks that the API server itself makes, on every cluster, with the words that the operator has
 * for the same mistakes. The operator checks again (job/validate.c) what gets past.
 *
 * Jobs that are stored must stay editable, however they got there. So a rule stands at the very
 * member that may be wrong, where servers since 1.30 let pass what did not change; and what is said
 * of the whole object holds for new ones only: they have no status yet. */

#include "manifest/rules.h"

#include "base/buf.h"
#include "job/mpi.h"
#include "job/pytorch.h"

#include <assert.h>

#define NEW_ONLY "has(self.status) || "
#define NAME     "self.metadata.name"
#define IS_LABEL NAME ".matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"
#define IS_SHORT NAME ".size() <= 63"
#define LABEL_WORDS                                                                               \
    "a DNS-1035 label must consist of lower case alphanumeric characters or \\'-\\', start with " \
    "an alphabetic character, and end with an alphanumeric character (e.g. \\'my-name\\',  or "   \
    "\\'abc-123\\', regex used for validation is \\'[a-z]([-a-z0-9]*[a-z0-9])?\\')"
/* The last Service of type t is called NAME-t-INDEX. Only its length is counted: servers reckon
 * with keys of megabytes, and with numbers whose text has no end. */
#define REPLICAS       "self.spec.$map[t].replicas"
#define INDEX          "string(has(" REPLICAS ") && " REPLICAS " > 1 ? " REPLICAS " - 1 : 0)"
#define LENGTH         NAME ".size() + t.size() + " INDEX ".size() + 2"
#define MOST           "self.spec.elasticPolicy.maxReplicas"
#define REQUIRED       "FieldValueRequired"
#define FORBIDDEN      "FieldValueForbidden"
#define CLEAN_POLICIES "[\"All\",\"None\",\"Running\",\"\"]"
#define AT_LEAST_0     "must be greater than or equal to 0"

/* Places: names of members, `*` for the values of a map, `[]` for the elements of a list. In texts
 * $map is the member that holds the replica specs, $main the name of the main container and $told
 * how it is told, $types all types there are, $role the one at hand. */
struct rule {
    const char *place;
    const char *rule;
    const char *message;
    const char *words; /* messageExpression */
    const char *field; /* fieldPath */
    const char *reason;
    job_rule *with;                            /* for kinds that check this; NULL: for all ... */
    bool (*applies)(const struct job_kind *k); /* ... of which this is so; NULL: likewise */
    bool (*role)(const struct role_row *r);    /* once for each such type */
};

static bool has_services(const struct job_kind *k)
{
    return !k->no_services;
}

static bool cleans_in_spec(const struct job_kind *k)
{
    return k->clean_in_spec;
}

static bool is_elastic(const struct job_kind *k)
{
    for (size_t i = 0; k->own && i < k->own->n_fields; i++)
        if (str_eqz(k->own->fields[i].name, "elasticPolicy"))
            return true;
    return false;
}

static bool has_role(const struct job_kind *k, const char *name)
{
    for (size_t i = 0; i < MANY_ROLES && k->roles[i].name; i++)
        if (strcmp(k->roles[i].name, name) == 0)
            return true;
    return false;
}

static bool has_two_chiefs(const struct job_kind *k)
{
    return has_role(k, "Chief") && has_role(k, "Master");
}

static bool is_one(const struct role_row *r)
{
    return r->one;
}

static bool is_some(const struct role_row *r)
{
    return r->least == 1;
}

static bool is_single(const struct role_row *r)
{
    return r->single;
}

static bool is_needed(const struct role_row *r)
{
    return r->needed;
}

static const struct rule rules[] = {
    { .place = "",
      .rule = NEW_ONLY "(" IS_SHORT " && " IS_LABEL ")",
      .words = "'should match: ' + (" IS_SHORT
               " ? '' : 'must be no more than 63 characters') + (" IS_SHORT " || " IS_LABEL
               " ? '' : ',') + (" IS_LABEL " ? '' : '" LABEL_WORDS "')",
      .message = "should match: a DNS-1035 label",
      .field = ".metadata.name",
      .with = rule_name },
    { .place = "",
      .rule = NEW_ONLY IS_SHORT,
      .message = "MPIJob name is not valid: must be no more than 63 characters",
      .field = ".metadata.name",
      .with = rule_mpi_name },
    { .place = "",
      .rule = NEW_ONLY "!has(self.spec) || self.spec.$map.all(t, " LENGTH " <= 63)",
      .message =
          "should match: the name \"<name>-<type>-<index>\" derived from it must be no more than 63 characters",
      .field = ".metadata.name",
      .applies = has_services },
    { .place = "",
      .rule = NEW_ONLY "!has(self.spec) || !has(self.spec.elasticPolicy) || "
                       "!has(" MOST ") || " NAME ".size() + 8 + string(" MOST " - 1).size() <= 63",
      .message =
          "should match: the name \"<name>-worker-<index>\" derived from it must be no more than 63 characters",
      .field = ".metadata.name",
      .applies = is_elastic },
    { .place = "",
      .rule = NEW_ONLY "has(self.spec)",
      .message = "must be required",
      .field = ".spec.$map",
      .reason = REQUIRED,
      .with = rule_map },
    { .place = "",
      .rule = "has(self.spec) || !has(oldSelf.spec)",
      .message = "must be required",
      .field = ".spec.$map",
      .reason = REQUIRED,
      .with = rule_map },
    { .place = "",
      .rule = NEW_ONLY "has(self.spec)",
      .message = "MPIReplicaSpecs is not valid",
      .field = ".spec.$map",
      .reason = REQUIRED,
      .with = rule_mpi },
    { .place = "",
      .rule = "has(self.spec) || !has(oldSelf.spec)",
      .message = "MPIReplicaSpecs is not valid",
      .field = ".spec.$map",
      .reason = REQUIRED,
      .with = rule_mpi },
    { .place = "spec.runPolicy",
      .rule = "has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || "
              "self.managedBy == oldSelf.managedBy)",
      .message = "field is immutable",
      .field = ".managedBy" },
    { .place = "spec.runPolicy.backoffLimit", .rule = "self >= 0", .message = AT_LEAST_0 },
    { .place = "spec.runPolicy.ttlSecondsAfterFinished",
      .rule = "self >= 0",
      .message = AT_LEAST_0 },
    { .place = "spec.runPolicy.activeDeadlineSeconds", .rule = "self >= 0", .message = AT_LEAST_0 },
    { .place = "spec.runPolicy.schedulingPolicy.queue",
      .rule = "self == oldSelf",
      .message = "spec.runPolicy.schedulingPolicy.queue is immutable" },
    { .place = "spec.$map",
      .rule = "self.size() > 0",
      .message = "must be required",
      .reason = REQUIRED,
      .with = rule_map },
    { .place = "spec.$map",
      .rule = "!('Chief' in self && 'Master' in self)",
      .message = "must not have more than 1 Chief or Master role",
      .reason = FORBIDDEN,
      .applies = has_two_chiefs },
    { .place = "spec.$map",
      .rule = "self.all(t, t in [$types])",
      .message = "supported values: $types",
      .with = rule_types },
    { .place = "spec",
      .rule = "'$role' in self.$map",
      .message = "must be present",
      .field = ".$map.$role",
      .reason = REQUIRED,
      .with = rule_needed,
      .role = is_needed },
    { .place = "spec",
      .rule = "!('$role' in self.$map) || has(self.$map['$role'].replicas) && "
              "self.$map['$role'].replicas == 1",
      .message = "must be 1",
      .field = ".$map.$role.replicas",
      .reason = FORBIDDEN,
      .with = rule_counts,
      .role = is_one },
    /* Later a job may be scaled to nothing, which ends it. */
    { .place = "",
      .rule = NEW_ONLY "!has(self.spec) || !('$role' in self.spec.$map) || "
                       "!has(self.spec.$map['$role'].replicas) || "
                       "self.spec.$map['$role'].replicas >= 1",
      .message = "must be at least 1",
      .field = ".spec.$map.$role.replicas",
      .reason = FORBIDDEN,
      .with = rule_counts,
      .role = is_some },
    { .place = "spec",
      .rule = "!has(self.elasticPolicy) || 'Worker' in self.$map",
      .message = "must be configured if elastic policy is used",
      .field = ".$map.Worker",
      .reason = REQUIRED,
      .with = rule_elastic_worker },
    { .place = "spec",
      .rule = "!has(self.nprocPerNode) || !has(self.elasticPolicy) || "
              "!has(self.elasticPolicy.nProcPerNode)",
      .message = "must not be used with spec.nprocPerNode",
      .field = ".elasticPolicy.nProcPerNode",
      .reason = FORBIDDEN,
      .with = rule_one_processes },
    { .place = "spec.nprocPerNode",
      .rule = "!self.matches('^(-[0-9]+|[+]?0+)$')",
      .message = "must be at least 1",
      .with = rule_processes },
    { .place = "spec.elasticPolicy",
      .rule = "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= "
              "self.maxReplicas",
      .message = "must not be greater than maxReplicas",
      .field = ".minReplicas",
      .with = rule_bounds },
    { .place = "spec.$map.*.replicas", .rule = "self >= 0", .message = AT_LEAST_0 },
    { .place = "spec.$map.*",
      .rule = "has(self.template) && has(self.template.spec)",
      .message = "must be specified",
      .field = ".template.spec.containers",
      .reason = REQUIRED,
      .with = rule_containers },
    { .place = "spec.$map.*.template.spec.containers",
      .rule = "self.size() > 0",
      .message = "must be specified",
      .reason = REQUIRED,
      .with = rule_containers },
    { .place = "spec.$map.*.template.spec.containers",
      .rule = "self.size() == 0 || self.exists(c, c.name == '$main')",
      .message = "must have at least one container with name $told",
      .reason = REQUIRED,
      .with = rule_containers },
    { .place = "spec.$map.*.template.spec.containers.[]",
      .rule = "has(self.image) && self.image != ''",
      .message = "must be required",
      .field = ".image",
      .reason = REQUIRED,
      .with = rule_containers },
    { .place = "spec.$map.*",
      .rule = "has(self.template) && has(self.template.spec)",
      .message = "MPIReplicaSpecs is not valid: containers definition expected",
      .field = ".template.spec.containers",
      .reason = REQUIRED,
      .with = rule_mpi },
    { .place = "spec.$map.*.template.spec.containers",
      .rule = "self.size() > 0",
      .message = "MPIReplicaSpecs is not valid: containers definition expected",
      .reason = REQUIRED,
      .with = rule_mpi },
    { .place = "spec.$map",
      .rule = "self.all(t, t in [$types])",
      .words = "'MPIReplicaType is ' + self.filter(t, !(t in [$types]))[0] + "
               "' but must be one of [Launcher Worker]'",
      .message = "MPIReplicaType must be one of [Launcher Worker]",
      .with = rule_mpi },
    { .place = "spec.$map.*.template.spec.containers.[]",
      .rule = "has(self.image) && self.image != ''",
      .message = "MPIReplicaSpec is not valid: Image is undefined in the container",
      .field = ".image",
      .reason = REQUIRED,
      .with = rule_mpi },
    { .place = "spec.$map.*.template.spec.containers.[]",
      .rule = "self.name != ''",
      .message = "MPIReplicaSpec is not valid: ImageName is undefined in the container",
      .field = ".name",
      .reason = REQUIRED,
      .with = rule_mpi },
    { .place = "spec",
      .rule = "!('$role' in self.$map) || !has(self.$map['$role'].replicas) || "
              "self.$map['$role'].replicas == 1",
      .message = "MPIReplicaSpec is not valid: There must be only 1 launcher replica",
      .field = ".$map.$role.replicas",
      .reason = FORBIDDEN,
      .with = rule_mpi,
      .role = is_single },
    { .place = "spec",
      .rule = "'$role' in self.$map",
      .message = "MPIReplicaSpec is not valid: Master ReplicaSpec must be present",
      .field = ".$map.$role",
      .reason = REQUIRED,
      .with = rule_mpi,
      .role = is_needed },
};

/* Other keywords. The bounds on sizes are there for the rules below them: a server refuses rules
 * that could take too long on the largest job it can imagine. Empty values come last, so that what
 * it says of the others reads as the operator says it. */
static const struct {
    const char *place;
    const char *keyword;
    const char *value; /* JSON text */
    bool (*applies)(const struct job_kind *k);
} keywords[] = {
    { "spec.runPolicy", "default", "{}", NULL },
    { "spec.runPolicy.cleanPodPolicy", "enum", CLEAN_POLICIES, NULL },
    { "spec.cleanPodPolicy", "enum", CLEAN_POLICIES, cleans_in_spec },
    { "spec.runPolicy.managedBy", "enum",
      "[\"kubeflow.org/training-operator\",\"kueue.x-k8s.io/multikueue\"]", NULL },
    { "spec.$map", "maxProperties", "64", NULL },
    { "spec.$map.*.restartPolicy", "enum", "[\"Always\",\"ExitCode\",\"Never\",\"OnFailure\",\"\"]",
      NULL },
    { "spec.$map.*.template.spec.containers", "maxItems", "256", NULL },
};

_Static_assert(MANY_TYPES == 64, "the definition says so, too");

static str types_of(struct arena *a, const struct job_kind *k)
{
    str out = STR_NONE;

    for (size_t i = 0; i < MANY_ROLES && k->roles[i].name; i++)
        out =
            arena_printf(a, "%" PRI_STR "%s\"%s\"", STR_ARG(out), i ? ", " : "", k->roles[i].name);
    return out;
}

struct subject { /* of a text */
    const struct job_kind *kind;
    const struct role_row *role;
};

static str expanded(struct arena *a, struct subject of, const char *text)
{
    const struct job_kind *k = of.kind;
    const struct {
        str name;
        str value;
    } names[] = { { S("$map"), str_of(k->specs) },
                  { S("$main"), str_of(k->container) },
                  { S("$told"), str_of(k->container_told ? k->container_told : k->container) },
                  { S("$types"), types_of(a, k) },
                  { S("$role"), str_of(of.role ? of.role->name : "") } };
    AUTO(buf) struct buf b = { 0 };

    for (str rest = str_of(text); rest.n;) {
        size_t i = 0;
        while (i < COUNT(names) && !str_starts(rest, names[i].name))
            i++;
        buf_add(&b, i < COUNT(names) ? names[i].value : str_sub(rest, 0, 1));
        rest = str_sub(rest, i < COUNT(names) ? names[i].name.n : 1, rest.n);
    }
    return arena_str(a, buf_str(&b));
}

enum { MANY_STEPS = 32 };

/* The steps through a schema to a keyword at a place. */
static void path_to(struct arena *a, struct subject of, const char *place, const char *keyword,
                    const char **steps)
{
    size_t n = 0;

    for (str rest = *place ? expanded(a, of, place) : STR_NONE; rest.p;) {
        str name = str_cut(&rest, '.');
        assert(n + 4 <= MANY_STEPS);
        if (str_eq(name, S("*"))) {
            steps[n++] = "additionalProperties";
        } else if (str_eq(name, S("[]"))) {
            steps[n++] = "items";
        } else {
            steps[n++] = "properties";
            steps[n++] = arena_z(a, name);
        }
    }
    steps[n++] = keyword;
    steps[n] = NULL;
}

static jv text(struct arena *a, struct subject of, const char *z)
{
    return z ? jstr(a, expanded(a, of, z)) : JV_ABSENT;
}

static jv rule_added(struct arena *a, struct subject of, const struct rule *r, jv schema)
{
    const char *steps[MANY_STEPS];
    jv rule = jobj(a, { "rule", text(a, of, r->rule) }, { "message", text(a, of, r->message) },
                   { "messageExpression", text(a, of, r->words) },
                   { "fieldPath", text(a, of, r->field) }, { "reason", text(a, of, r->reason) });

    path_to(a, of, r->place, "x-kubernetes-validations", steps);
    jv there = jv_path(schema, steps);
    jv all = jv_with_index(a, jv_exists(there) ? there : JV_EMPTY_ARR, jv_len(there), rule);
    return jv_with_path(a, schema, all, steps);
}

static bool applies(const struct rule *r, const struct job_kind *k)
{
    bool checked = !r->with;

    for (size_t i = 0; i < MANY_RULES && k->rules[i]; i++)
        checked = checked || k->rules[i] == r->with;
    return checked && (!r->applies || r->applies(k));
}

jv rules_added(struct arena *a, const struct job_kind *k, jv schema)
{
    const char *steps[MANY_STEPS];

    for (size_t i = 0; i < COUNT(keywords); i++) {
        if (keywords[i].applies && !keywords[i].applies(k))
            continue;
        path_to(a, (struct subject){ k, NULL }, keywords[i].place, keywords[i].keyword, steps);
        schema =
            jv_with_path(a, schema, json_parse(a, str_of(keywords[i].value), NULL, NULL), steps);
    }
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (!applies(&rules[i], k))
            continue;
        if (!rules[i].role)
            schema = rule_added(a, (struct subject){ k, NULL }, &rules[i], schema);
        for (const struct role_row *r = k->roles; rules[i].role && r->name; r++)
            if (rules[i].role(r))
                schema = rule_added(a, (struct subject){ k, r }, &rules[i], schema);
    }
    return schema;
}
