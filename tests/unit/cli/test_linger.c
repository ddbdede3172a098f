/* Which replicas a run waits for once its job has succeeded. */

#include "cli/runstate.h"
#include "tap.h"

#define RUNS  "{'phase':'Running'}"
#define WAITS "{'phase':'Pending'}"
#define LOOPS \
    "{'phase':'Running','containerStatuses':[{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}"
#define DONE "{'phase':'Succeeded'}"

struct row {
    const char *what, *kind, *specs, *policy;
    const char *end;  /* of the job; NULL: it runs */
    const char *role; /* of the one replica that is looked at */
    const char *pod;
    int64_t want;
};

static const struct row rows[] = {
    { "a worker that finishes is waited for", "PyTorchJob", "pytorchReplicaSpecs", "OnFailure",
      "Succeeded", "Worker", RUNS, 1 },
    { "one that has ended is not", "PyTorchJob", "pytorchReplicaSpecs", "OnFailure", "Succeeded",
      "Worker", DONE, 0 },
    { "nor one that has not begun", "PyTorchJob", "pytorchReplicaSpecs", "OnFailure", "Succeeded",
      "Worker", WAITS, 0 },
    { "nor one that fails again and again", "PyTorchJob", "pytorchReplicaSpecs", "OnFailure",
      "Succeeded", "Worker", LOOPS, 0 },
    { "nor one that is always started again", "PyTorchJob", "pytorchReplicaSpecs", "Always",
      "Succeeded", "Worker", RUNS, 0 },
    { "nor those of a job that failed", "PyTorchJob", "pytorchReplicaSpecs", "OnFailure", "Failed",
      "Worker", RUNS, 0 },
    { "nor those of a job that goes on", "PyTorchJob", "pytorchReplicaSpecs", "OnFailure", NULL,
      "Worker", RUNS, 0 },
    { "a parameter server never ends", "TFJob", "tfReplicaSpecs", "Never", "Succeeded", "PS", RUNS,
      0 },
    { "a worker beside it does", "TFJob", "tfReplicaSpecs", "Never", "Succeeded", "Worker", RUNS,
      1 },
    { "MPI workers serve the launcher", "MPIJob", "mpiReplicaSpecs", "Never", "Succeeded", "Worker",
      RUNS, 0 },
};

static void count(const struct row *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct run_state s;
    AUTO(jdoc) struct jdoc *pod = J("{'metadata': {'name': 'p', 'uid': 'p'}}");
    AUTO(jdoc) struct jdoc *status = J(r->pod);
    jv replica =
        jobj(a, { "replicas", jint(a, 1) }, { "restartPolicy", jstr(a, str_of(r->policy)) });
    jv specs = jv_with_key(a, jobj(a), str_of(r->role), replica);
    jv done = jobj(a, { "type", jstr(a, str_of(r->end ? r->end : "Running")) },
                   { "status", jstrz(a, "True") });
    jv obj = jobj(a, { "kind", jstr(a, str_of(r->kind)) },
                  { "metadata", jobj(a, { "name", jstrz(a, "j") }, { "uid", jstrz(a, "j") }) },
                  { "spec", jv_with_key(a, jobj(a), str_of(r->specs), specs) },
                  { "status", jobj(a, { "conditions", jarr(a, done) }) });
    str label = arena_str(a, str_of(r->role));
    char low[16];

    for (size_t i = 0; i <= label.n; i++)
        low[i] = (char)(r->role[i] | (r->role[i] ? 0x20 : 0));
    run_state_init(&s);
    struct run_job *j = run_state_add(&s, job_kind_find(str_of(r->kind)), obj, 1);
    jv labels = jobj(a, { LABEL_ROLE, jstr(a, str_of(low)) }, { LABEL_INDEX, jstrz(a, "0") });
    jv p = jv_with(a, jv_copy(a, jdoc_root(pod)), labels, "metadata", "labels");
    p = jv_with(a, p, jv_copy(a, jdoc_root(status)), "status");
    run_job_see_pod(&s, j, KUBE_ADDED, p, 1);
    is_int(run_state_lingering(&s), 0, "a job that was there before is not ours to wait for");
    j->created = true;
    is_int(run_state_lingering(&s), r->want, r->what);
    run_state_done(&s);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        count(&rows[i]);
    return tap_done();
}
