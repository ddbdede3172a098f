/* CustomResourceDefinitions of the job kinds. */

#include "manifest/crd.h"

#include "builtin/types/types.h"
#include "manifest/rules.h"
#include "manifest/shape.h"
#include "manifest/types.h"

static jv text(struct arena *a, const char *z)
{
    return jstr(a, str_of(z));
}

static jv string_of(struct arena *a, const char *doc)
{
    return shape_documented(a, jobj(a, { "type", text(a, "string") }), doc);
}

static jv spec_schema(struct arena *a, const struct job_kind *k)
{
    struct jbuild members = jb_obj(a);
    jv own = k->own ? jv_at(shape_of(a, k->own, true), "properties") : JV_ABSENT;
    jv replicas = jobj(a, { "type", text(a, "object") },
                       { "additionalProperties", shape_of(a, &job_ReplicaSpec, true) });

    JV_EACH (it, own)
        jb_add(&members, it.key, it.value);
    jb_add(&members, S("runPolicy"),
           shape_documented(a, shape_of(a, &job_RunPolicy, true), job_RunPolicy.doc));
    jb_add(&members, str_of(k->specs),
           shape_documented(a, replicas,
                            "What to run: for each type of replica how many, and what they are."));
    return jobj(a, { "type", text(a, "object") }, { "description", text(a, "The desired state.") },
                { "properties", jb_done(&members) }, { "required", jarr(a, text(a, k->specs)) });
}

static jv object_schema(struct arena *a, const struct job_kind *k)
{
    jv schema = jobj(
        a, { "type", text(a, "object") },
        { "description",
          jstr(a, arena_printf(a, "%s runs a training job: pods of some types that work together.",
                               k->planner.res->kind)) },
        { "properties",
          jobj(a,
               { "apiVersion",
                 string_of(a, "The group and version that the object is written in.") },
               { "kind", string_of(a, "The kind of the object, in CamelCase.") },
               /* named so that rules can point to it, and bounded as names are */
               { "metadata",
                 jobj(a, { "type", text(a, "object") },
                      { "properties", jobj(a, { "name", jv_with(a, string_of(a, NULL), jint(a, 253),
                                                                "maxLength") }) }) },
               { "spec", spec_schema(a, k) },
               { "status",
                 shape_documented(a, shape_of(a, &job_JobStatus, true), job_JobStatus.doc) }) });

    return rules_added(a, k, schema);
}

static jv columns(struct arena *a, const struct job_kind *k)
{
    jv state = jobj(a, { "jsonPath", text(a, ".status.conditions[-1:].type") },
                    { "name", text(a, "State") }, { "type", text(a, "string") });
    jv age = jobj(a, { "jsonPath", text(a, ".metadata.creationTimestamp") },
                  { "name", text(a, "Age") }, { "type", text(a, "date") });

    return k->age_first ? jarr(a, age, state) : jarr(a, state, age);
}

static jv subresources(struct arena *a, const struct job_kind *k)
{
    jv scale = JV_ABSENT;

    if (k->scale)
        scale = jobj(
            a,
            { "specReplicasPath", jstr(a, arena_printf(a, ".spec.%s.Worker.replicas", k->specs)) },
            { "statusReplicasPath", text(a, ".status.replicaStatuses.Worker.active") },
            { "labelSelectorPath",
              k->selector ? text(a, ".status.replicaStatuses.Worker.selector") : JV_ABSENT });
    return jobj(a, { "status", JV_EMPTY_OBJ }, { "scale", scale });
}

jv manifest_crd(struct arena *a, const struct job_kind *k)
{
    jv version = jobj(a, { "name", text(a, k->planner.res->version) }, { "served", JV_TRUE },
                      { "storage", JV_TRUE }, { "additionalPrinterColumns", columns(a, k) },
                      { "subresources", subresources(a, k) },
                      { "schema", jobj(a, { "openAPIV3Schema", object_schema(a, k) }) });
    jv names =
        jobj(a, { "kind", text(a, k->planner.res->kind) },
             { "listKind", jstr(a, arena_printf(a, "%sList", k->planner.res->kind)) },
             { "plural", text(a, k->planner.res->plural) }, { "singular", text(a, k->singular) });

    return jobj(
        a, { "apiVersion", text(a, "apiextensions.k8s.io/v1") },
        { "kind", text(a, "CustomResourceDefinition") },
        { "metadata", jobj(a, { "name", jstr(a, arena_printf(a, "%s.%s", k->planner.res->plural,
                                                             k->planner.res->group)) }) },
        { "spec", jobj(a, { "group", text(a, k->planner.res->group) }, { "names", names },
                       { "scope", text(a, "Namespaced") }, { "versions", jarr(a, version) }) });
}
