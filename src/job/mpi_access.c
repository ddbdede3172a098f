/* The launcher's account, and the Role that lets it see pods and run commands in its workers, by
 * name. Made before the pods, kept current, and left alone when the job has ended: they go with it.
 *
 * The RoleBinding waits for the Role to be ours: else whoever may create jobs could be given what a
 * Role of that name allows. */

#include "job/mpi.h"
#include "job/others.h"
#include "job/steps.h"

#define RBAC "rbac.authorization.k8s.io"

static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount",
                                               false };
static const struct kube_resource roles = { RBAC, "v1", "roles", "Role", false };
static const struct kube_resource bindings = { RBAC, "v1", "rolebindings", "RoleBinding", false };

const struct planner_owned mpi_owned[] = { { &accounts, "get create" },
                                           { &kube_configmaps, "get create patch" },
                                           { &roles, "get create patch" },
                                           { &bindings, "get create" },
                                           { 0 } };

const struct planner_grant mpi_grants[] = { { &kube_pods, "", "list watch" },
                                            { &kube_pods, "exec", "get create" },
                                            { 0 } };

static jv object(struct arena *a, const struct job *j, const struct kube_resource *res, str name)
{
    str version =
        *res->group ? arena_printf(a, "%s/%s", res->group, res->version) : str_of(res->version);

    return jobj(a, { "apiVersion", jstr(a, version) }, { "kind", jstr(a, str_of(res->kind)) },
                { "metadata", job_other_meta(a, j, name, &j->name) });
}

static jv rules_of(struct arena *a, const struct job *j)
{
    const struct job_role *workers = job_role_find(j, S("worker"));
    struct jbuild names = jb_arr(a);
    jv core = jarr(a, jstrz(a, ""));
    jv see = jobj(a, { "apiGroups", core }, { "resources", jarr(a, jstrz(a, "pods")) },
                  { "verbs", jarr(a, jstrz(a, "get"), jstrz(a, "list"), jstrz(a, "watch")) });

    for (int64_t i = 0; workers && i < workers->replicas; i++)
        jb_push(&names, jstr(a, mpi_worker_name(a, j, i)));
    if (!names.n) /* no names at all would mean all pods */
        return jarr(a, see);
    /* muster asks by WebSocket, which is a GET; kubectl may ask by POST */
    jv run = mpi_agent(j) == AGENT_KUBECTL ? jarr(a, jstrz(a, "create"))
                                           : jarr(a, jstrz(a, "get"), jstrz(a, "create"));
    return jarr(a, see,
                jobj(a, { "apiGroups", core }, { "resources", jarr(a, jstrz(a, "pods/exec")) },
                     { "verbs", run }, { "resourceNames", jb_done(&names) }));
}

static struct plan_step *create(struct job *j, struct plan *p, unsigned stage,
                                const struct kube_resource *res, str name)
{
    struct plan_step *s = job_other_step(j, p, PLAN_CREATE, stage, res, name);

    s->obj = object(j->a, j, res, name);
    s->taken_reason = j->kind->taken_reason;
    return s;
}

/* Whoever made it: one that is there is used as it is. */
static void plan_account(struct job *j, struct plan *p)
{
    str name = mpi_account_name(j->a, j);

    if (jv_exists(job_other_find(j, &accounts, name)))
        return;
    struct plan_step *s = create(j, p, STAGE_FIRST, &accounts, name);
    s->shared = true;
    s->basis = true;
    s->fail_reason = "FailedCreateServiceAccount";
}

static void plan_role(struct job *j, struct plan *p, str name)
{
    jv there = job_other_find(j, &roles, name), rules = rules_of(j->a, j);

    if (!jv_exists(there) || !job_owns(j, there)) {
        struct plan_step *s = create(j, p, STAGE_FIRST, &roles, name);
        s->obj = jv_with_key(j->a, s->obj, S("rules"), rules);
        s->basis = true;
        s->fail_reason = "FailedCreateRole";
    } else if (!jv_equal(jv_get(there, S("rules")), rules)) {
        struct plan_step *s = job_other_step(j, p, PLAN_PATCH, STAGE_FIRST, &roles, name);
        s->patch = KUBE_PATCH_MERGE;
        s->obj = jobj(j->a, { "rules", rules });
        s->fail_reason = "FailedUpdateRole";
    }
}

static void plan_binding(struct job *j, struct plan *p, str name)
{
    struct arena *a = j->a;
    jv subject = jobj(a, { "kind", jstrz(a, "ServiceAccount") },
                      { "name", jstr(a, mpi_account_name(a, j)) }, { "namespace", jstr(a, j->ns) });
    jv role = jobj(a, { "apiGroup", jstrz(a, RBAC) }, { "kind", jstrz(a, "Role") },
                   { "name", jstr(a, name) });

    if (job_owns(j, job_other_find(j, &bindings, name)))
        return;
    struct plan_step *s = create(j, p, STAGE_CHANGE, &bindings, name);
    s->obj = jv_with_key(a, s->obj, S("subjects"), jarr(a, subject));
    s->obj = jv_with_key(a, s->obj, S("roleRef"), role);
    s->basis = true;
    s->fail_reason = "FailedCreateRoleBinding";
}

void mpi_extras(struct job *j, struct plan *p, bool wanted)
{
    str name = mpi_launcher_name(j->a, j);

    if (!wanted)
        return;
    plan_account(j, p);
    mpi_plan_config(j, p);
    plan_role(j, p, name);
    plan_binding(j, p, name);
}
