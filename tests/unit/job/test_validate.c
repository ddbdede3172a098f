/* Validation: the texts and their order, and that an update is judged by what it changes. */

#include "job/kinds.h"
#include "tap.h"

static void is_said_of(const char *kind, const char *obj, const char *old, const char *want,
                       const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(obj);
    AUTO(jdoc) struct jdoc *before = old ? J(old) : NULL;
    struct problems ps = { .a = a };

    job_validate(job_kind_find(str_of(kind)), &ps, jdoc_root(d),
                 before ? jdoc_root(before) : JV_ABSENT);
    is_str(problems_text(a, &ps), str_of(want), arena_printf(a, "%s: %s", kind, what).p);
}

static void is_said(const char *obj, const char *old, const char *want, const char *what)
{
    is_said_of("TFJob", obj, old, want, what);
}

#define SOUND  "{'spec':{'containers':[{'name':'tensorflow','image':'i'}]}}"
#define JOB(x) "{'metadata':{'name':'j'},'spec':{" x "}}"
#define MAP(x) JOB("'tfReplicaSpecs':{" x "}")
#define POLICY ",'tfReplicaSpecs':{'Worker':{'template':" SOUND "}}"
#define RUN(x) JOB("'runPolicy':{" x "}" POLICY)
#define IMAGE(x) \
    MAP("'Worker':{'template':{'spec':{'containers':[{'name':'tensorflow','image':'" x "'}]}}}")

static void what_the_original_refuses(void)
{
    is_said(MAP("'Worker':{'template':" SOUND "}"), NULL, "", "a sound job");
    is_said("{'metadata':{'name':'j'}}", NULL,
            "spec.tfReplicaSpecs: Required value: must be required", "no spec");
    is_said(MAP(""), NULL, "spec.tfReplicaSpecs: Required value: must be required",
            "parity Q16: no type");
    is_said(MAP("'Worker':null"), NULL, "spec.tfReplicaSpecs: Required value: must be required",
            "a null type is none");
    is_said(MAP("'Worker':{'template':{'spec':{'containers':[{'name':'a'},{'name':'b','image':'i'}"
                "]}}},'PS':{'template':" SOUND "}"),
            NULL,
            "[spec.tfReplicaSpecs[Worker].template.spec.containers[0].image: Required value: must "
            "be required, spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: "
            "must have at least one container with name tensorflow]",
            "images and the main container");
    is_said(MAP("'Chief':{'template':" SOUND "},'Master':{'template':" SOUND "}"), NULL,
            "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role",
            "one chief");
    is_said(RUN("'managedBy':''"), NULL,
            "spec.runPolicy.managedBy: Unsupported value: \"\": supported values: "
            "\"kubeflow.org/training-operator\", \"kueue.x-k8s.io/multikueue\"",
            "core 6.3 rule 3: managedBy");
    is_said("{'metadata':{'name':'J.'},'spec':{'tfReplicaSpecs':{'Worker':{'template':" SOUND
            "}}}}",
            NULL,
            "metadata.name: Invalid value: \"J.\": should match: a DNS-1035 label must consist of "
            "lower case alphanumeric characters or '-', start with an alphabetic character, and "
            "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
            "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
            "names");
}

static void what_we_refuse_too(void)
{
    is_said(MAP("'Worker':{'replicas':-1,'restartPolicy':'no','template':" SOUND "}"), NULL,
            "[spec.tfReplicaSpecs[Worker].replicas: Invalid value: -1: must be greater than or "
            "equal to 0, spec.tfReplicaSpecs[Worker].restartPolicy: Unsupported value: \"no\": "
            "supported values: \"Always\", \"ExitCode\", \"Never\", \"OnFailure\"]",
            "parity Q30: replicas and restartPolicy");
    is_said(RUN("'cleanPodPolicy':'Some','backoffLimit':-1,'ttlSecondsAfterFinished':-2,"
                "'activeDeadlineSeconds':-3"),
            NULL,
            "[spec.runPolicy.cleanPodPolicy: Unsupported value: \"Some\": supported values: "
            "\"All\", \"None\", \"Running\", spec.runPolicy.backoffLimit: Invalid value: -1: must "
            "be greater than or equal to 0, spec.runPolicy.ttlSecondsAfterFinished: Invalid value: "
            "-2: must be greater than or equal to 0, spec.runPolicy.activeDeadlineSeconds: Invalid "
            "value: -3: must be greater than or equal to 0]",
            "parity Q30: cleanPodPolicy and limits");
    is_said(
        MAP("'Worker':{'replicas':'two','restartPolicy':7,'template':" SOUND "}"), NULL,
        "[spec.tfReplicaSpecs[Worker].replicas: Invalid value: \"two\": must be of type integer, "
        "spec.tfReplicaSpecs[Worker].restartPolicy: Invalid value: 7: must be of type string]",
        "J7: types, where no schema did");
    is_said(MAP("'Worker':{'replicas':2000000000,'template':" SOUND "}"), NULL,
            "spec.tfReplicaSpecs: Invalid value: 2000000000: must ask for at most 100000 replicas "
            "in all",
            "R1: there is a bound");
    is_said(
        "{'metadata':{'name':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'},"
        "'spec':{'tfReplicaSpecs':{'Worker':{'template':" SOUND "}}}}",
        NULL,
        "metadata.name: Invalid value: "
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": should match: the name "
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-worker-0\" derived from it "
        "must be no more than 63 characters",
        "parity Q21: names of Services");
}

static void an_update_is_judged_by_what_it_changes(void)
{
    is_said(RUN("'cleanPodPolicy':'Some','suspend':true"), RUN("'cleanPodPolicy':'Some'"), "",
            "a stored job stays editable");
    is_said(RUN("'cleanPodPolicy':'Any'"), RUN("'cleanPodPolicy':'Some'"),
            "spec.runPolicy.cleanPodPolicy: Unsupported value: \"Any\": supported values: \"All\", "
            "\"None\", \"Running\"",
            "but not to something else wrong");
    is_said(MAP(""), MAP(""), "", "an empty map that was so before");
    is_said(IMAGE(""), IMAGE(""), "", "no image, as before");
    is_said(IMAGE(""), IMAGE("i"),
            "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image: Required value: must "
            "be required",
            "no image any more");
    is_said(RUN(""), RUN("'managedBy':'kubeflow.org/training-operator'"),
            "spec.runPolicy.managedBy: Invalid value: \"null\": field is immutable",
            "core 6.3 rule 2: managedBy stays");
    is_said(RUN("'managedBy':'kueue.x-k8s.io/multikueue'"), RUN(""),
            "spec.runPolicy.managedBy: Invalid value: \"kueue.x-k8s.io/multikueue\": field is "
            "immutable",
            "core 6.3 rule 2: managedBy stays unset");
}

/* One of each kind: with its replica map, master and main container. */
static const struct {
    const char *kind, *map, *main, *types;
} others[] = {
    { "PyTorchJob", "pytorchReplicaSpecs", "pytorch", "'Master'" },
    { "XGBoostJob", "xgbReplicaSpecs", "xgboost", "'Master'" },
    { "PaddleJob", "paddleReplicaSpecs", "paddle", "'Worker'" },
    { "JAXJob", "jaxReplicaSpecs", "jax", "'Worker'" },
};

static const char *job_of(struct arena *a, size_t i, const char *policy, const char *more)
{
    return arena_printf(a,
                        "{'metadata':{'name':'j'},'spec':{'runPolicy':{%s},'%s':{%s:{'replicas':1,"
                        "'template':{'spec':{'containers':[{'name':'%s','image':'i'}]}}}}%s}}",
                        policy, others[i].map, others[i].types, others[i].main, more)
        .p;
}

static void every_kind_has_its_manager_for_good(void)
{
    for (size_t i = 0; i < COUNT(others); i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *none = job_of(a, i, "", "");
        const char *ours = job_of(a, i, "'managedBy':'kubeflow.org/training-operator'", "");
        const char *kueue = job_of(a, i, "'managedBy':'kueue.x-k8s.io/multikueue'", "");
        const char *other = job_of(a, i, "'managedBy':'me'", "");
        is_said_of(others[i].kind, none, NULL, "", "none is fine");
        is_said_of(others[i].kind, kueue, NULL, "", "so are the two known ones");
        is_said_of(others[i].kind, ours, ours, "", "unchanged, too");
        is_said_of(others[i].kind, other, NULL,
                   "spec.runPolicy.managedBy: Unsupported value: \"me\": supported values: "
                   "\"kubeflow.org/training-operator\", \"kueue.x-k8s.io/multikueue\"",
                   "parity 7-4: others are not");
        is_said_of(others[i].kind, kueue, ours,
                   "spec.runPolicy.managedBy: Invalid value: \"kueue.x-k8s.io/multikueue\": field "
                   "is immutable",
                   "parity 7-3, parity 7-4: it stays");
        is_said_of(others[i].kind, none, ours,
                   "spec.runPolicy.managedBy: Invalid value: \"null\": field is immutable",
                   "parity 7-3, parity 7-4: and cannot be taken back");
    }
}

static void what_a_stored_pytorchjob_had_it_keeps(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *upside = job_of(a, 0, "", ",'elasticPolicy':{'minReplicas':3,'maxReplicas':2}");
    const char *worse = job_of(a, 0, "", ",'elasticPolicy':{'minReplicas':4,'maxReplicas':2}");
    const char *zero = job_of(a, 0, "", ",'nprocPerNode':'0'");

    is_said_of("PyTorchJob", upside, upside, "", "bounds that were so before");
    is_said_of("PyTorchJob", worse, upside,
               "spec.elasticPolicy.minReplicas: Invalid value: 4: must not be greater than "
               "maxReplicas",
               "parity 7-29: but not other wrong ones");
    is_said_of("PyTorchJob", zero, zero, "", "nprocPerNode as before");
    is_said_of("PyTorchJob", job_of(a, 0, "", ",'nprocPerNode':'1'"), NULL, "",
               "parity 7-25: one is fine");
    const char *twice = job_of(a, 0, "", ",'nprocPerNode':'1','elasticPolicy':{'nProcPerNode':1}");
    is_said_of("PyTorchJob", twice, job_of(a, 0, "", ",'nprocPerNode':'1'"),
               "[spec.pytorchReplicaSpecs[Worker]: Required value: must be configured if elastic "
               "policy is used, spec.elasticPolicy.nProcPerNode: Forbidden: must not be used with "
               "spec.nprocPerNode]",
               "said in one place before, in two now");
    const char *even = job_of(a, 0, "", ",'elasticPolicy':{'minReplicas':2,'maxReplicas':2}");
    is_said_of("PyTorchJob", even, upside, "", "parity 7-29: bounds may be the same");
    is_said_of("PyTorchJob", zero, job_of(a, 0, "", ""),
               "spec.nprocPerNode: Invalid value: \"0\": must be at least 1", "parity 7-25: new");
}

#define MPI(l, w)                                                             \
    JOB("'mpiReplicaSpecs':{'Launcher':{'template':{'spec':{'containers':[" l \
        "]}}},'Worker':{'template':{'spec':{'containers':[" w "]}}}}")
#define MPI_RUN(x)                                                                     \
    JOB("'runPolicy':{" x "},'mpiReplicaSpecs':{'Launcher':{'replicas':1,'template':{" \
        "'spec':{'containers':[{'name':'a','image':'i'}]}}}}")
#define NO_IMAGE "MPIReplicaSpec is not valid: Image is undefined in the container of "

static void is_mpi(const char *obj, const char *old, const char *want, const char *what)
{
    is_said_of("mpijob", obj, old, want, what);
}

/* Golden cases have the texts; here is what an update may do. */
static void mpi_jobs_have_words_of_their_own(void)
{
    is_mpi(MPI("{'name':'a','image':'i'}", "{'name':'b','image':'i'}"), NULL, "", "a sound one");
    is_mpi(MPI("{'name':'a'}", "{'name':'b'}"), NULL, NO_IMAGE "Launcher", "the first only");
    is_mpi(MPI("{'name':'a'}", "{'name':'b'}"), MPI("{'name':'a'}", "{'name':'b','image':'i'}"),
           NO_IMAGE "Worker", "an update is judged by what it changes");
    is_mpi(MPI("{'name':'a'}", "{'name':'b'}"), MPI("{'name':'a'}", "{'name':'b'}"), "",
           "and not by what was so before");
    is_mpi("{'metadata':{'name':'j'}}", "{'metadata':{'name':'j'}}", "", "nor by what never was");
    is_mpi(JOB("'mpiReplicaSpecs':{}"), MPI("{'name':'a'}", "{'name':'b'}"),
           "MPIReplicaSpec is not valid: Master ReplicaSpec must be present",
           "the launcher cannot go");
    is_mpi(MPI_RUN("'managedBy':'me'"), NULL,
           "spec.runPolicy.managedBy: Unsupported value: \"me\": supported values: "
           "\"kubeflow.org/training-operator\", \"kueue.x-k8s.io/multikueue\"",
           "parity 7-30: managedBy is one of two");
    is_mpi(MPI_RUN(""), MPI_RUN("'managedBy':'kueue.x-k8s.io/multikueue'"),
           "spec.runPolicy.managedBy: Invalid value: \"null\": field is immutable",
           "parity 7-30: and stays");
}

static void a_count_of_a_wrong_type_is_only_that(void)
{
    is_said_of("XGBoostJob",
               JOB("'xgbReplicaSpecs':{'Master':{'replicas':'1','template':{'spec':{'containers':"
                   "[{'name':'xgboost','image':'i'}]}}}}"),
               NULL,
               "spec.xgbReplicaSpecs[Master].replicas: Invalid value: \"1\": must be of type "
               "integer",
               "and not besides one that must be 1");
}

static void is_advised_of(const char *kind, const char *obj, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(obj);

    is_str(job_advise(a, job_kind_find(str_of(kind)), jdoc_root(d)), str_of(want), what);
}

static void is_advised(const char *obj, const char *want, const char *what)
{
    is_advised_of("TFJob", obj, want, what);
}

static void workers_that_are_not_told_of_each_other_are_warned_of(void)
{
    const char *want = "spec.pytorchReplicaSpecs: without Master or elasticPolicy workers are not "
                       "told where to meet: they get no RANK and no MASTER_ADDR";

    is_advised_of("PyTorchJob", JOB("'pytorchReplicaSpecs':{'Worker':{'replicas':2}}"), want,
                  "two workers and nothing else");
    is_advised_of("PyTorchJob", JOB("'pytorchReplicaSpecs':{'Worker':{}}"), "", "one is enough");
    is_advised_of("PyTorchJob",
                  JOB("'pytorchReplicaSpecs':{'Master':{'replicas':1},'Worker':{'replicas':2}}"),
                  "", "a master tells them");
    is_advised_of("PyTorchJob",
                  JOB("'elasticPolicy':{},'pytorchReplicaSpecs':{'Worker':{'replicas':2}}"), "",
                  "so does an elastic policy");
}

#define WORKER_WITH(annotations)                                                                   \
    MAP("'Worker':{'template':{'metadata':{'annotations':{" annotations "}},'spec':{'containers':" \
        "[{'name':'tensorflow','image':'i'}]}}}")

static void annotations_without_effect_are_warned_of(void)
{
    is_advised(WORKER_WITH("'muster.dev/stall-after':'5m','muster.dev/on-stall':'restart'"), "",
               "what can be read is fine");
    is_advised(WORKER_WITH("'muster.dev/stall-after':'soon'"),
               "spec.tfReplicaSpecs[Worker].template.metadata.annotations[muster.dev/stall-after]: "
               "without effect: 'soon' is not a time such as 90s or 5m",
               "what is no time is not");
    is_advised(WORKER_WITH("'muster.dev/stall-after':'-5m'"),
               "spec.tfReplicaSpecs[Worker].template.metadata.annotations[muster.dev/stall-after]: "
               "without effect: '-5m' is not a time such as 90s or 5m",
               "nor a negative one");
    is_advised_of("JAXJob", "{'metadata':{'annotations':{'muster.dev/on-stall':'kill'}}}",
                  "metadata.annotations[muster.dev/on-stall]: without effect: 'kill' is neither "
                  "fail nor restart",
                  "nor what nobody does");
    is_advised_of("JAXJob", "{'metadata':{'annotations':{'muster.dev/restart-scope':'job'}}}", "",
                  "a job may restart whole");
    is_advised_of(
        "JAXJob", "{'metadata':{'annotations':{'muster.dev/restart-scope':'all'}}}",
        "metadata.annotations[muster.dev/restart-scope]: without effect: 'all' is neither "
        "job nor pod",
        "but not by another word");
    is_advised_of("PyTorchJob",
                  "{'metadata':{'annotations':{'muster.dev/restart-scope':'job'}},"
                  "'spec':{'elasticPolicy':{}}}",
                  "metadata.annotations[muster.dev/restart-scope]: without effect: with "
                  "spec.elasticPolicy workers join again by themselves",
                  "nor beside torchrun's own way");
}

static void a_job_that_nothing_ends_is_warned_of(void)
{
    is_advised(MAP("'worker':{'template':" SOUND "},'PS':{'template':" SOUND "}"), "",
               "a sound job is not, in any case of its types");
    is_advised(MAP("'Worker':{'template':" SOUND "},'x':{'template':" SOUND "}"),
               "spec.tfReplicaSpecs[x]: not one of Chief, Evaluator, Master, PS and Worker: it has "
               "no say in how the job ends",
               "a type nobody knows");
    is_advised(MAP("'Wroker':{'template':" SOUND "}"),
               "spec.tfReplicaSpecs[Wroker]: not one of Chief, Evaluator, Master, PS and Worker: "
               "nothing here decides how the job ends",
               "nor is there one that decides");
    is_advised(MAP("'Evaluator':{'template':" SOUND "}"),
               "spec.tfReplicaSpecs: without Chief, Master or Worker nothing decides how the job "
               "ends",
               "nor among the known ones");
    is_advised(MAP(""), "", "no types at all are refused anyway");
}

static void a_limit_of_nothing_is_warned_of(void)
{
    const char *want = "spec.runPolicy.backoffLimit: without effect: with restartPolicy Never the "
                       "first failure ends the job";

    is_advised(RUN("'backoffLimit':3"), want, "as when nobody says how to restart");
    is_advised(RUN("'backoffLimit':0"), "", "0 is what it does");
    is_advised(JOB("'runPolicy':{'backoffLimit':3},'tfReplicaSpecs':{'PS':{},"
                   "'Worker':{'restartPolicy':'ExitCode'}}"),
               "", "one that restarts is enough");
    is_advised_of("PaddleJob",
                  JOB("'runPolicy':{'backoffLimit':3},'paddleReplicaSpecs':{'Worker':{}}"), "",
                  "and some do so by default");
}

static void a_gang_that_is_never_there_is_warned_of(void)
{
    is_advised(JOB("'runPolicy':{'schedulingPolicy':{'minAvailable':3}},'tfReplicaSpecs':{"
                   "'Worker':{'replicas':2}}"),
               "spec.runPolicy.schedulingPolicy.minAvailable: 3 of 2 replicas: with a gang "
               "scheduler the job never starts",
               "more than there are");
    is_advised(JOB("'runPolicy':{'schedulingPolicy':{'minAvailable':2}},'tfReplicaSpecs':{"
                   "'Worker':{'replicas':2}}"),
               "", "all of them");
    is_advised_of("PyTorchJob",
                  JOB("'runPolicy':{'schedulingPolicy':{'minAvailable':3}},'elasticPolicy':{},"
                      "'pytorchReplicaSpecs':{'Worker':{'replicas':2}}"),
                  "", "an elastic job may get more");
}

static void workers_that_mpi_takes_for_none_are_warned_of(void)
{
    is_advised_of(
        "MPIJob", JOB("'mpiReplicaSpecs':{'Launcher':{},'Worker':{}}"),
        "spec.mpiReplicaSpecs[Worker].replicas: not given, and so 0, not 1: there will be "
        "no workers",
        "a count that is not given");
    is_advised_of("MPIJob", JOB("'mpiReplicaSpecs':{'Launcher':{},'Worker':{'replicas':0}}"), "",
                  "who writes 0 means it");
    is_advised_of("MPIJob", JOB("'mpiReplicaSpecs':{'Launcher':{}}"), "", "as does who has none");
}

int main(void)
{
    a_gang_that_is_never_there_is_warned_of();
    a_limit_of_nothing_is_warned_of();
    workers_that_mpi_takes_for_none_are_warned_of();
    a_count_of_a_wrong_type_is_only_that();
    annotations_without_effect_are_warned_of();
    a_job_that_nothing_ends_is_warned_of();
    workers_that_are_not_told_of_each_other_are_warned_of();
    every_kind_has_its_manager_for_good();
    what_a_stored_pytorchjob_had_it_keeps();
    mpi_jobs_have_words_of_their_own();
    what_the_original_refuses();
    what_we_refuse_too();
    an_update_is_judged_by_what_it_changes();
    return tap_done();
}
