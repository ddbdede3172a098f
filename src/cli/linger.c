/* Which replicas of a job that succeeded are worth waiting for: those that do work of their own and
 * come to an end by themselves. */

#include "cli/runstate.h"

static const struct job_role *role_named(const struct job *job, str label)
{
    for (size_t i = 0; i < job->n_roles; i++)
        if (str_eq(job->roles[i].label, label))
            return &job->roles[i];
    return NULL;
}

static bool ends_by_itself(const struct job_role *role)
{
    return role && role->row && !role->row->serves && role->policy != RESTART_ALWAYS;
}

/* A job that failed, or that is told to stop, has nothing to lose; one that was there before goes
 * on without us. */
static int64_t count(const struct run_job *j)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t n = 0;

    if (!j->kind || !j->created || !j->over || j->failed || j->gone || j->stopping)
        return 0;
    const struct job *job = job_read(a, j->kind, jdoc_root(j->obj), NULL);
    for (size_t i = 0; i < j->replicas.n; i++) {
        const struct run_replica *r = &j->replicas.at[i];
        n += r->live && str_eqz(r->state, "Running") && ends_by_itself(role_named(job, r->role));
    }
    return n;
}

int64_t run_state_lingering(const struct run_state *s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->jobs.n; i++)
        n += count(s->jobs.at[i]);
    return n;
}
