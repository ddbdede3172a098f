/* MPIJob (v1): a launcher runs mpirun and decides; workers sleep until it starts processes in them
 * by its remote shell, kubexec.sh. There are no services: a pod's name is its address. */

#include "job/mpi.h"
#include "job/steps.h"
#include "job/verdict.h"

#include <inttypes.h>

static const struct kube_resource mpijobs = { "kubeflow.org", "v1", "mpijobs", "MPIJob", false };

static const struct schema_field own_rows[] = {
    { S_INIT("cleanPodPolicy"), &schema_string, FIELD_POINTER,
      "The older place of runPolicy.cleanPodPolicy, which counts if both are given." },
    { S_INIT("mainContainer"), &schema_string, 0,
      "The container of a worker in which processes are started; its default one if not given." },
    { S_INIT("slotsPerWorker"), &schema_int32, FIELD_POINTER,
      "How many processes a worker runs at a time; 1 if not given." },
};
static const struct schema own = { .type = SCHEMA_OBJECT,
                                   .fields = own_rows,
                                   .n_fields = COUNT(own_rows) };

static const struct pod_words launcher_words = {
    .noun = "launcher pod",
    .done_reason = "MPIJobRunning",
    .done_words = "launcher pod created success",
    .fail_reason = "MPIJobFailed",
    .fail_words = "launcher pod created failed",
    .policy_reason = "SettedPodTemplateRestartPolicy",
};
static const struct pod_words worker_words = {
    .noun = "worker pod",
    .done_reason = "SuccessfulCreatePod",
    .fail_reason = "MPIJobFailed",
    .fail_words = "worker pod created failed",
    .fail_also = "FailedCreatePod",
};

bool mpi_uses_gpu(const struct job *j)
{
    const struct job_role *launcher = job_leader(j);
    jv containers = launcher ? jv_at(launcher->template, "spec", "containers") : JV_ABSENT;

    JV_EACH (c, containers)
        JV_EACH (l, jv_at(c.value, "resources", "limits"))
            if (memmem(l.key.p, l.key.n, "gpu", 3))
                return true;
    return false;
}

str mpi_launcher_name(struct arena *a, const struct job *j)
{
    return arena_cat(a, j->name, S("-launcher"));
}

str mpi_config_name(struct arena *a, const struct job *j)
{
    return arena_cat(a, j->name, S("-config"));
}

str mpi_account_name(struct arena *a, const struct job *j)
{
    const struct job_role *launcher = job_leader(j);
    jv said = launcher ? jv_at(launcher->template, "spec", "serviceAccountName") : JV_ABSENT;

    return jv_str(said, S("")).n ? jv_str(said, S("")) : mpi_launcher_name(a, j);
}

str mpi_worker_name(struct arena *a, const struct job *j, int64_t index)
{
    return arena_printf(a, "%" PRI_STR "-worker-%" PRId64, STR_ARG(j->name), index);
}

const struct plan_settings *mpi_settings(const struct job *j)
{
    static const struct plan_settings none = { 0 };

    return j->seen && j->seen->settings ? j->seen->settings : &none;
}

enum mpi_agent mpi_agent(const struct job *j)
{
    const struct plan_settings *s = mpi_settings(j);

    return s->mpi_kubectl_image.n ? AGENT_KUBECTL : s->agent_path.n ? AGENT_HERE : AGENT_IMAGE;
}

/* Once the launcher has ended, for good, workers do not count any more. */
static void mpi_recount(struct job *j)
{
    const struct job_role *launcher = job_leader(j);
    struct job_role *workers = job_role_find(j, S("worker"));

    if (launcher && workers && (launcher->succeeded || launcher->n_permanent))
        workers->active = workers->succeeded = workers->failed = 0;
}

/* ---- events, each once for the pods it is about */

struct sum {
    int64_t n;
    uint64_t uids;
};

static void add(struct sum *s, const struct seen_pod *pod)
{
    s->n++;
    s->uids = s->uids * 31 + str_hash(pod->uid);
}

static bool has_failed(enum pod_class class)
{
    return class == CLASS_PERMANENT || class == CLASS_RESTARTABLE || class == CLASS_WAITING ||
           class == CLASS_BROKEN;
}

static void tell_sum(const struct job *j, struct plan *p, struct plan_note note, const char *fact,
                     struct sum s)
{
    note.kind = NOTE_EVENT;
    note.once = arena_printf(j->a, "%s/%016" PRIx64, fact, s.uids);
    *plan_tell(p) = note;
}

static str told(const struct job *j, const char *words)
{
    return arena_printf(j->a, "MPIJob %" PRI_STR "/%" PRI_STR " %s", STR_ARG(j->ns),
                        STR_ARG(j->name), words);
}

/* Tied to the end of the job, which it explains. */
static void tell_launcher(struct job *j, const struct seen_pod *pod)
{
    job_note(j, (struct plan_note){
                    .kind = NOTE_EVENT,
                    .warning = true,
                    .reason = pod->reason.n ? pod->reason : S("MPIJobFailed"),
                    .message = told(j, "has failed"),
                    .once = S("end/launcher"),
                    .terminal = true,
                });
}

static void mpi_tell(struct job *j, struct plan *p, const struct verdict *v)
{
    const struct job_role *launcher = job_leader(j), *workers = job_role_find(j, S("worker"));
    struct sum running = { 0 }, evicted = { 0 };
    int64_t n_workers = workers ? workers->replicas : 0;

    for (size_t i = 0; launcher && i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        bool is_launcher = str_eq(pod->role, launcher->label);
        if (j->classes[i] == CLASS_ACTIVE)
            add(&running, pod);
        if (!is_launcher && has_failed(j->classes[i]) && str_eq(pod->reason, S("Evicted")))
            add(&evicted, pod);
        if (is_launcher && j->classes[i] == CLASS_PERMANENT && v->kind == VERDICT_FAILED)
            tell_launcher(j, pod);
    }
    if (launcher && launcher->active == 1 && running.n == 1 + n_workers)
        tell_sum(
            j, p,
            (struct plan_note){ .reason = S("MPIJobRunning"), .message = told(j, "is running") },
            "running", running);
    if (evicted.n)
        tell_sum(j, p,
                 (struct plan_note){
                     .warning = true,
                     .reason = S("MPIJobEvicted"),
                     .message = arena_printf(j->a, "%" PRId64 "/%" PRId64 " workers are evicted",
                                             evicted.n, n_workers) },
                 "evicted", evicted);
}

static str mpi_advise(const struct job *j)
{
    const struct job_role *workers = job_role_find(j, S("worker"));

    return workers && jv_is_null(jv_get(workers->spec, S("replicas")))
               ? S("spec.mpiReplicaSpecs[Worker].replicas: not given, and so 0, not 1: there will "
                   "be no workers")
               : STR_NONE;
}

const struct job_kind mpi_job = {
    .planner = {
        .res = &mpijobs,
        .controller = "mpijob-controller",
        .framework = "mpi",
        .owned = mpi_owned,
        .grants = mpi_grants,
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "mpijob",
    .specs = "mpiReplicaSpecs",
    .container = "mpi",
    .restart_policy = RESTART_NEVER,
    .own = &own,
    .roles = { { .name = "Launcher", .replicas = 1, .leads = true, .single = true, .needed = true,
                 .words = &launcher_words, .stage = STAGE_LEADER },
               { .name = "Worker", .words = &worker_words, .stage = STAGE_PODS, .basis = true,
                 .serves = true } },
    .rules = { rule_mpi, rule_mpi_name, rule_managed_by_kept, rule_managed_by },
    .no_services = true,
    .no_finalizers = true,
    .first_problem = true,
    .clean_in_spec = true,
    .age_first = true,
    .deleted_reason = "SuccessfulDeleteJob",
    .undeleted_reason = "FailedDeleteJob",
    .taken_reason = "ErrResourceExists",
    .scheduler_reason = "SettedPodTemplateSchedulerName",
    .recount = mpi_recount,
    .tell = mpi_tell,
    .pod_spec = mpi_pod_spec,
    .advise = mpi_advise,
    .extras = mpi_extras,
};
