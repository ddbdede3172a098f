/* A seventh kind: one file (toy_kind.c) and one row (here, in a table linked instead of the
 * program's). Planned, checked, defined and found by what the other six have. */

#include "builtin/types/types.h"
#include "crd/crd.h"
#include "manifest/crd.h"
#include "tap.h"
#include "world.h"

extern const struct job_kind jax_job, mpi_job, paddle_job, pytorch_job, relay_job, tf_job,
    xgboost_job;
const struct job_kind *const job_kinds[] = {
    &tf_job, &pytorch_job, &xgboost_job, &mpi_job, &paddle_job, &jax_job, &relay_job, NULL,
};

#define POD "{'spec':{'containers':[{'name':'relay','image':'i'}]}}"
#define ROLES(more) \
    "{'Starter':{'replicas':1,'template':" POD "},'Runner':{" more "'template':" POD "}}"
#define JOB(spec) \
    "{'apiVersion':'example.com/v1','kind':'RelayJob','metadata':{'name':'j'},'spec':{" spec "}}"

static struct world world_of(struct arena *a, const char *job)
{
    AUTO(jdoc) struct jdoc *j = J(job);
    AUTO(jdoc) struct jdoc *seen = J("{'now':'2025-01-01T10:00:00Z'}");
    struct world w = { .a = a };
    struct err e = { 0 };

    ok(world_read(&w, jv_copy(a, jdoc_root(j)), jv_copy(a, jdoc_root(seen)), &e) == 0,
       "its jobs are known");
    return w;
}

static void pass(struct world *w)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    const struct plan *p = world_plan(w, a, &e);

    ok(p && world_apply(w, p, &e) == 0, "a pass is planned and carried out%s", e.msg);
}

static void set_phase(struct world *w, const char *name, const char *phase)
{
    for (size_t i = 0; i < jv_len(w->pods); i++)
        if (str_eqz(meta_name(jv_index(w->pods, i)), name))
            w->pods = jv_with_index(
                w->a, w->pods, i,
                jv_with(w->a, jv_index(w->pods, i), jstr(w->a, str_of(phase)), "status", "phase"));
}

static str variable(const struct world *w, const char *pod, const char *name)
{
    JV_EACH (p, w->pods) {
        jv containers = jv_at(p.value, "spec", "containers");
        if (!str_eqz(meta_name(p.value), pod))
            continue;
        JV_EACH (v, jv_at(jv_index(containers, 0), "env"))
            if (str_eqz(jv_str(jv_get(v.value, S("name")), S("")), name))
                return jv_str(jv_get(v.value, S("value")), S(""));
    }
    return S("(none)");
}

static str last_condition(const struct world *w, const char *member)
{
    jv all = jv_at(w->job, "status", "conditions");

    return jv_str(jv_get(jv_index(all, jv_len(all) - 1), str_of(member)), S(""));
}

static void it_lives_as_the_others_do(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world w = world_of(a, JOB("'laps':3,'relayReplicaSpecs':" ROLES("")));

    pass(&w);
    is_int((int64_t)jv_len(w.pods), 5, "a starter and, by default, four runners");
    is_int((int64_t)jv_len(w.services), 5, "with a service each");
    is_str(variable(&w, "j-runner-3", "RELAY_NEXT"), S("j-runner-0"), "its own environment");
    is_str(variable(&w, "j-runner-1", "RELAY_STARTER"), S("j-starter-0"), "of what it knows");
    is_str(variable(&w, "j-starter-0", "RELAY_LAPS"), S("3"), "and was told");
    is_str(variable(&w, "j-starter-0", "RELAY_NUMBER"), S("(none)"), "by role");
    set_phase(&w, "j-starter-0", "Running");
    pass(&w);
    is_str(last_condition(&w, "message"), S("RelayJob j is running."), "its leader runs");
    set_phase(&w, "j-runner-2", "Failed");
    pass(&w);
    is_str(last_condition(&w, "message"),
           S("RelayJob j is restarting because 1 Runner replica(s) failed."), "a runner stumbles");
    pass(&w);
    is_int((int64_t)jv_len(w.pods), 5, "and is replaced");
    set_phase(&w, "j-starter-0", "Succeeded");
    pass(&w);
    is_str(last_condition(&w, "reason"), S("RelayJobSucceeded"), "its leader ends it");
    world_done(&w);
}

static void is_refused(const char *job, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(job);
    struct problems ps = { .a = a };

    job_validate(&relay_job, &ps, jdoc_root(d), JV_ABSENT);
    is_str(problems_text(a, &ps), str_of(want), what);
}

static void it_is_checked_as_the_others_are(void)
{
    is_refused(JOB("'relayReplicaSpecs':" ROLES("'replicas':2,")), "", "a sound one");
    is_refused(JOB("'laps':0,'relayReplicaSpecs':" ROLES("")),
               "spec.laps: Invalid value: 0: must be at least 1", "by its own rule");
    is_refused(JOB("'relayReplicaSpecs':{'Runner':{'template':" POD "}}"),
               "spec.relayReplicaSpecs[Starter]: Required value: must be present", "by its row");
    is_refused(JOB("'runPolicy':{'backoffLimit':-1},'relayReplicaSpecs':" ROLES("")),
               "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
               "by what all have");
}

static void it_has_a_definition(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    jv crd = manifest_crd(a, &relay_job);
    AUTO(crd) struct crd *c = crd_compile(crd, &meta_ObjectMeta, &e);
    jv version = jv_index(jv_at(crd, "spec", "versions"), 0);
    jv spec = jv_at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties");

    ok(c != NULL, "which compiles%s", e.msg);
    is_str(meta_name(crd), S("relayjobs.example.com"), "by its name");
    is_str(jv_str(jv_at(jv_get(spec, S("laps")), "type"), S("")), S("integer"), "with its field");
    ok(jv_exists(jv_at(jv_get(spec, S("relayReplicaSpecs")), "additionalProperties")),
       "and its types");
}

int main(void)
{
    ok(job_kind_find(S("relayjob")) == &relay_job && job_kind_at(6) == &relay_job &&
           !job_kind_at(7),
       "one row, and it is among the kinds");
    it_lives_as_the_others_do();
    it_is_checked_as_the_others_are();
    it_has_a_definition();
    return tap_done();
}
