/* Reading a job, and the small questions everybody asks of it. */

#include "job/job.h"
#include "base/time.h"
#include "job/kind.h"

static const char our_name[] = "kubeflow.org/training-operator";

struct job *job_read(struct arena *a, const struct job_kind *kind, jv obj,
                     const struct observed *seen)
{
    struct job *j = ARENA_NEW(a, struct job);

    j->a = a;
    j->kind = kind;
    j->seen = seen;
    j->obj = obj;
    j->spec = jv_get(obj, S("spec"));
    j->policy = jv_get(j->spec, S("runPolicy"));
    j->status = jv_get(obj, S("status"));
    if (!jv_is(j->status, JV_OBJ))
        j->status = JV_EMPTY_OBJ;
    j->name = meta_name(obj);
    j->ns = meta_namespace(obj);
    j->uid = meta_uid(obj);
    j->now = time_text(a, seen ? seen->now_ms : 0);
    j->owner = job_owner_ref(a, j);
    job_read_roles(j);
    return j;
}

struct job_role *job_role_find(const struct job *j, str label)
{
    for (size_t i = 0; i < j->n_roles; i++)
        if (str_eq(j->roles[i].label, label))
            return &j->roles[i];
    return NULL;
}

const struct job_role *job_leader(const struct job *j)
{
    for (size_t i = 0; i < j->n_roles; i++)
        if (j->roles[i].row && j->roles[i].row->leads)
            return &j->roles[i];
    return NULL;
}

bool job_leads(const struct job *j, const struct job_role *r)
{
    const struct job_role *leader = job_leader(j);

    if (!leader || r == leader)
        return leader;
    return r->row && r->row->beside && strcmp(r->row->beside, leader->row->name) == 0;
}

bool job_is_master(const struct job *j, const struct job_role *r, int64_t index)
{
    return job_leads(j, r) && (index == 0 || !str_eqz(r->type, "Worker"));
}

int64_t job_port(const struct job *j, const struct job_role *r)
{
    JV_EACH (p, jv_get(r->main, S("ports")))
        if (str_eqz(jv_str(jv_get(p.value, S("name")), S("")), j->kind->port_name))
            return jv_int(jv_get(p.value, S("containerPort")), j->kind->port);
    return j->kind->port;
}

enum clean_policy job_clean_policy(const struct job *j)
{
    jv said = jv_get(j->policy, S("cleanPodPolicy"));

    if (jv_is_null(said) && j->kind->clean_in_spec)
        said = jv_get(j->spec, S("cleanPodPolicy"));
    str policy = jv_str(said, S(""));
    if (policy.n == 0 || str_eq(policy, S("None")))
        return CLEAN_NONE;
    return str_eq(policy, S("Running")) ? CLEAN_RUNNING : CLEAN_ALL;
}

bool job_suspended(const struct job *j)
{
    return jv_bool(jv_get(j->policy, S("suspend")), false);
}

bool job_is_mine(const struct job *j)
{
    jv by = jv_get(j->policy, S("managedBy"));

    return jv_is_null(by) || str_eqz(jv_str(by, S("")), our_name);
}

int64_t job_total(const struct job *j)
{
    int64_t sum = 0;

    for (size_t i = 0; i < j->n_roles; i++)
        sum += j->roles[i].replicas;
    return sum;
}

int64_t job_time(jv v)
{
    int64_t us = 0;

    if (!jv_is(v, JV_STR) || time_parse(jv_str(v, S("")), &us, NULL) < 0)
        return -1;
    return us / 1000;
}

bool job_has_started(const struct job *j)
{
    return job_time(jv_get(j->status, S("startTime"))) >= 0;
}

void job_note(struct job *j, struct plan_note note)
{
    if (j->n_notes < COUNT(j->notes))
        j->notes[j->n_notes++] = note;
}

str job_reason(const struct job *j, const char *suffix)
{
    return arena_printf(j->a, "%s%s", j->kind->planner.res->kind, suffix);
}
