/* Pods: which are missing, which must go, and what a new one looks like. */

#include "job/classify.h"
#include "job/gang.h"
#include "job/kind.h"
#include "job/stall.h"
#include "job/steps.h"
#include "job/whole_restart.h"

#include <inttypes.h>

static const char *const kubelet_policies[] = {
    [RESTART_NEVER] = "Never",
    [RESTART_ON_FAILURE] = "OnFailure",
    [RESTART_ALWAYS] = "Always",
    [RESTART_EXIT_CODE] = "Never",
};

/* ---- deleting */

struct plan_step *job_delete_pod(const struct job *j, struct plan *p, unsigned stage,
                                 const struct seen_pod *pod)
{
    struct plan_step *s = plan_add(p, PLAN_DELETE, stage, &kube_pods);

    s->ns = j->ns;
    s->name = pod->name;
    s->uid = pod->uid;
    s->done_reason = "SuccessfulDeletePod";
    s->fail_reason = "FailedDeletePod";
    s->noun = "pod";
    return s;
}

static void restart(const struct job *j, struct plan *p, const struct verdict *v,
                    const struct seen_pod *pod, bool is_first)
{
    struct plan_step *s = job_delete_pod(j, p, STAGE_CHANGE, pod);

    step_tell(p, s, (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_RESTARTED, .n = 1 });
    if (is_first) /* one event a pass */
        step_tell(p, s,
                  (struct plan_note){
                      .kind = NOTE_EVENT,
                      .warning = true,
                      .reason = job_reason(j, "Restarting"),
                      .message = v->message,
                      .once = arena_printf(j->a, "restart/%" PRI_STR, STR_ARG(pod->uid)),
                  });
}

void job_delete_pods(const struct job *j, struct plan *p, const struct verdict *v)
{
    bool is_first = true;

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        if (j->classes[i] == CLASS_OUTDATED || (j->classes[i] == CLASS_SURPLUS && !pod->leaving))
            job_delete_pod(j, p, STAGE_CHANGE, pod);
        if (j->classes[i] != CLASS_RESTARTABLE)
            continue;
        restart(j, p, v, pod, is_first);
        is_first = false;
    }
}

/* ---- creating */

/* Of the operators before 1.4; the two clients called kubeflow-tfjob look for one or the other. */
static void add_legacy_labels(struct arena *a, const struct job *j, jv ours, struct jbuild *b)
{
    static const char *const names[][2] = {
        { "job-name", LABEL_JOB },         { "replica-type", LABEL_ROLE },
        { "replica-index", LABEL_INDEX },  { "tf-job-name", LABEL_JOB },
        { "tf-replica-type", LABEL_ROLE }, { "tf-replica-index", LABEL_INDEX }
    };

    jb_set(b, S("group-name"), jstr(a, str_of(j->kind->planner.res->group)));
    jb_set(b, S("controller-name"), jstrz(a, "tf-operator"));
    for (size_t i = 0; i < COUNT(names); i++)
        jb_set(b, str_of(names[i][0]), jv_get(ours, str_of(names[i][1])));
}

static jv pod_labels(struct arena *a, const struct job *j, const struct job_role *r, int64_t index)
{
    bool is_master = job_is_master(j, r, index);
    jv ours = job_child_labels(a, j, r, index);
    struct jbuild b = jb_from(a, jv_at(r->template, "metadata", "labels"));

    JV_EACH (it, ours)
        jb_set(&b, it.key, it.value);
    if (is_master)
        jb_set(&b, S(LABEL_JOB_ROLE), jstrz(a, "master"));
    if (j->attempt.n)
        jb_set(&b, S(LABEL_ATTEMPT), whole_restart_label(a, j));
    if (!j->kind->legacy_labels || !j->seen->settings || !j->seen->settings->legacy_labels)
        return jb_done(&b);
    add_legacy_labels(a, j, ours, &b);
    if (is_master)
        jb_set(&b, S("job-role"), jstrz(a, "master"));
    return jb_done(&b);
}

/* A container that is restarted in place comes back alone. */
static const char *policy_of_pods(const struct job *j, const struct job_role *r)
{
    return kubelet_policies[whole_restart_is_wanted(j) ? RESTART_NEVER : r->policy];
}

/* A plan_step's make: the pod at `index` of type `part`. */
static jv make_pod(struct arena *a, const struct plan_step *s)
{
    const struct job *j = s->of;
    const struct job_role *r = &j->roles[s->part];
    int64_t index = (int64_t)s->index;
    jv meta = jv_get(r->template, S("metadata"));
    jv spec = jv_get(r->template, S("spec"));

    if (!jv_is(spec, JV_OBJ))
        spec = JV_EMPTY_OBJ;
    if (j->kind->pod_spec)
        spec = j->kind->pod_spec(a, j, r, index, spec);
    spec = jv_with_key(a, spec, S("restartPolicy"), jstr(a, str_of(policy_of_pods(j, r))));
    jv pod = jobj(
        a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Pod") },
        { "metadata",
          jobj(a, { "name", jstr(a, s->name) }, { "namespace", jstr(a, s->ns) },
               { "labels", pod_labels(a, j, r, index) },
               { "annotations", job_stall_annotation(a, j, jv_get(meta, S("annotations"))) },
               { "finalizers", j->kind->no_finalizers ? JV_ABSENT : jv_get(meta, S("finalizers")) },
               { "ownerReferences", jarr(a, j->owner) }) },
        { "spec", spec });
    return gang_add_to_pod(a, j, r, pod);
}

static const struct pod_words usual = {
    .noun = "pod",
    .done_reason = "SuccessfulCreatePod",
    .fail_reason = "FailedCreatePod",
    .policy_reason = "SetPodTemplateRestartPolicy",
};

/* An own policy in the template is overwritten, and that is told. */
static void tell_policy(const struct job *j, struct plan *p, struct plan_step *s,
                        const struct job_role *r, const char *reason)
{
    if (!reason || jv_str(jv_at(r->template, "spec", "restartPolicy"), S("")).n == 0)
        return;
    step_tell(p, s,
              (struct plan_note){
                  .kind = NOTE_EVENT,
                  .warning = true,
                  .reason = str_of(reason),
                  .message = S("Restart policy in pod template will be overwritten by restart "
                               "policy in replica spec"),
                  .once = arena_printf(j->a, "template-restart-policy/%" PRI_STR "/%" PRId64,
                                       STR_ARG(r->type),
                                       jv_int(jv_get(meta_of(j->obj), S("generation")), 0)),
              });
}

static void create(struct job *j, struct plan *p, size_t role, int64_t index)
{
    const struct job_role *r = &j->roles[role];
    unsigned stage = r->row && r->row->stage ? r->row->stage : STAGE_CHANGE;
    struct plan_step *s = plan_add(p, PLAN_CREATE, stage, &kube_pods);
    const struct pod_words *words = r->row && r->row->words ? r->row->words : &usual;

    s->ns = j->ns;
    s->name = job_child_name(j->a, j, r, index);
    s->make = make_pod;
    s->of = j;
    s->part = role;
    s->basis = r->row && r->row->basis;
    s->index = (size_t)index;
    s->noun = words->noun;
    s->done_reason = words->done_reason;
    s->done_words = words->done_words;
    s->fail_reason = words->fail_reason;
    s->fail_words = words->fail_words;
    s->fail_also = words->fail_also;
    s->taken_reason = j->kind->taken_reason;
    tell_policy(j, p, s, r, words->policy_reason);
    gang_tell_scheduler(j, p, s);
}

/* Pods of a type are together, but an index may lie anywhere among them. */
static bool *taken_of(const struct job *j, const struct job_role *r)
{
    bool *taken = ARENA_ARRAY(j->a, bool, (size_t)r->replicas + 1);

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        int64_t index = job_pod_index(r, pod);
        if (j->classes[i] != CLASS_FOREIGN && str_eq(pod->role, r->label) && index < r->replicas)
            taken[index] = true;
    }
    return taken;
}

void job_create_pods(struct job *j, struct plan *p, size_t role)
{
    const bool *taken = taken_of(j, &j->roles[role]);

    for (int64_t i = 0; i < j->roles[role].replicas; i++) {
        if (taken[i])
            continue;
        if (!j->is_prepared && j->kind->prepare)
            j->kind->prepare(j);
        j->is_prepared = true;
        create(j, p, role, i);
    }
}

/* ---- telling */

static void tell_exit(const struct job *j, struct plan *p, const struct seen_pod *pod)
{
    struct plan_note *n = plan_tell(p);

    n->kind = NOTE_EVENT;
    n->reason = S("ExitedWithCode");
    n->message = arena_printf(j->a, "Pod: %" PRI_STR ".%" PRI_STR " exited with code %" PRId64,
                              STR_ARG(j->ns), STR_ARG(pod->name), pod->exit_code);
    n->once = arena_printf(j->a, "exit/%" PRI_STR "/%" PRI_STR, STR_ARG(pod->uid),
                           STR_ARG(pod->container_id));
}

static void tell_trouble(const struct job *j, struct plan *p, const struct seen_pod *pod,
                         const struct seen_trouble *t)
{
    struct plan_note *n = plan_tell(p);

    n->kind = NOTE_EVENT;
    n->warning = true;
    n->reason = t->reason;
    n->message = t->message;
    n->once = arena_printf(j->a, "trouble/%" PRI_STR "/%" PRI_STR "/%016" PRIx64, STR_ARG(pod->uid),
                           STR_ARG(t->reason), str_hash(t->message));
}

void job_tell_pods(const struct job *j, struct plan *p)
{
    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        enum pod_class class = j->classes[i];
        if (class < CLASS_LEAVING)
            continue;
        if (pod->has_exit)
            tell_exit(j, p, pod);
        if (class != CLASS_ACTIVE && class != CLASS_PENDING)
            continue;
        for (size_t t = 0; t < pod->n_troubles; t++)
            tell_trouble(j, p, pod, &pod->troubles[t]);
    }
}
