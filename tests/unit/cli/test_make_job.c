#include "cli/make_job.h"

#include "base/yaml.h"
#include "cli/make_words.h"
#include "slurp.h"

static const char *const train[] = { "python", "train.py", "--lr", "0.1" };
#define TRAIN .command = train, .n_command = 4

/* ---- each kind, as the YAML that people see */

static const struct {
    const char *file;
    struct make_opts o;
} golden[] = {
    { "pod", { TRAIN, .gpus = 1, .cpu = "2", .memory = "4Gi" } },
    { "pytorch",
      { TRAIN, .kind = "pytorch", .replicas = 4, .has_replicas = true, .gpus = 1, .cpu = "500m" } },
    { "pytorch-one", { TRAIN, .kind = "pytorch" } },
    { "pytorch-torchrun",
      { TRAIN, .kind = "pytorch", .replicas = 2, .has_replicas = true, .nproc_per_node = "gpu",
        .gpus = 8, .image = "pytorch/pytorch:2.1.2", .name = "mnist", .ns = "team" } },
    { "tf", { TRAIN, .kind = "tf", .replicas = 4, .has_replicas = true } },
    { "tf-roles",
      { TRAIN, .kind = "tf", .roles = "chief=1,worker=3,ps=2", .gpus = 1, .cpu = "1" } },
    { "jax", { TRAIN, .kind = "jax", .replicas = 4, .has_replicas = true } },
    { "mpi",
      { TRAIN, .kind = "mpi", .replicas = 4, .has_replicas = true, .nproc_per_node = "2",
        .memory = "1Gi" } },
    { "xgboost", { TRAIN, .kind = "xgboost", .replicas = 4, .has_replicas = true } },
    { "paddle", { TRAIN, .kind = "paddle", .replicas = 4, .has_replicas = true } },
    { "upload",
      { TRAIN, .kind = "jax", .replicas = 2, .has_replicas = true, .image = "python:3.11",
        .files = S_INIT("train-scripts"), .files_dir = S_INIT("/scripts") } },
};

static void every_kind_is_made_as_it_was(const char *dir)
{
    for (size_t i = 0; i < COUNT(golden); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(buf) struct buf b = { 0 };
        struct err e = { 0 };
        const char *path = arena_printf(a, "%s/%s.yaml", dir, golden[i].file).p;
        yaml_print(&b, make_job(a, &golden[i].o, &e));
        if (getenv("GOLDEN_WRITE")) {
            FILE *f = fopen(path, "we");
            if (f) {
                fwrite(b.p, 1, b.n, f);
                fclose(f);
            }
        }
        is_str(buf_str(&b), slurp(a, path), golden[i].file);
    }
}

/* ---- the command in its launcher */

struct wrapped {
    const char *kind;
    const char *given; /* words separated by blanks */
    const char *want;
};

static jv container_of(jv job)
{
    static const char *const specs[] = { "pytorchReplicaSpecs", "mpiReplicaSpecs",
                                         "paddleReplicaSpecs" };
    static const char *const roles[] = { "Master", "Launcher", "Worker" };

    for (size_t i = 0; i < COUNT(specs); i++)
        for (size_t k = 0; k < COUNT(roles); k++) {
            jv c = jv_at(job, "spec", specs[i], roles[k], "template", "spec", "containers");
            if (jv_exists(c))
                return jv_index(c, 0);
        }
    return jv_index(jv_at(job, "spec", "containers"), 0);
}

static int split(struct arena *a, const char *text, const char **words)
{
    str rest = str_of(text);
    int n = 0;

    while (rest.p) {
        str word = str_cut(&rest, ' ');
        words[n++] = arena_z(a, word);
    }
    return n;
}

static str joined(struct arena *a, jv words)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, words)
        buf_printf(&b, "%s%" PRI_STR, b.n ? " " : "", STR_ARG(jv_str(it.value, S("?"))));
    return arena_str(a, buf_str(&b));
}

#define TORCH "-m torch.distributed.run --redirects 1 --tee 1 "
#define LOGS  "sh -c PADDLE_LOG_DIR=$(mktemp -d) && export PADDLE_LOG_DIR && exec \"$@\" sh "

static void launchers_go_around_the_command(void)
{
    static const struct wrapped rows[] = {
        { "pytorch", "python train.py a", "python " TORCH "train.py a" },
        { "pytorch", "/v/bin/python3.11 -u -X dev train.py -m a",
          "/v/bin/python3.11 -u -X dev " TORCH "train.py -m a" },
        { "pytorch", "python -m pkg.train a", "python " TORCH "-m pkg.train a" },
        { "pytorch", "python -c code", "python " TORCH "--no-python python -c code" },
        { "pytorch", "python -uc code", "python " TORCH "--no-python python -uc code" },
        { "pytorch", "./train a", "torchrun --redirects 1 --tee 1 --no-python ./train a" },
        { "pytorch", "/v/bin/torchrun train.py", "/v/bin/torchrun train.py" },
        { "pytorch", "python -m torch.distributed.run train.py",
          "python -m torch.distributed.run train.py" },
        { "mpi", "./train a", "mpirun -n 2 ./train a" },
        { "mpi", "/opt/bin/mpirun -n 3 ./train", "/opt/bin/mpirun -n 3 ./train" },
        { "paddle", "python -u train.py a",
          LOGS "python -u -m paddle.distributed.launch --nproc_per_node 2 train.py a" },
        { "paddle", "python -m paddle.distributed.launch train.py",
          "python -m paddle.distributed.launch train.py" },
        { "paddle", "./train a", "./train a" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *words[16];
        struct make_opts o = { .kind = rows[i].kind, .nproc_per_node = "2", .command = words };
        struct err e = { 0 };
        o.n_command = split(a, rows[i].given, words);
        jv job = make_job(a, &o, &e);
        is_str(joined(a, jv_at(container_of(job), "command")), str_of(rows[i].want), rows[i].given);
    }
}

static void words_reach_the_program_as_they_are(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *const words[] = { "sh", "-c", "echo $$ $(date) $$(x) $HOME $" };
    struct make_opts o = { .command = words, .n_command = 3 };
    struct err e = { 0 };
    jv command = jv_at(container_of(make_job(a, &o, &e)), "command");

    /* Kubernetes reads $$ as $, and $(NAME) as a variable. */
    is_str(jv_str(jv_index(command, 2), STR_NONE), S("echo $$$ $$(date) $$$$(x) $HOME $"),
           "dollars are kept from Kubernetes");
}

/* ---- names */

static void names_come_from_the_script(void)
{
    static const char *const rows[][2] = {
        { "python train.py --lr 0.1", "train" },
        { "python -u src/My_Model.v2.py", "my-model-v2" },
        { "python -m pkg.sub.fit", "fit" },
        { "torchrun --nproc-per-node 2 main.py", "main" },
        { "sh prepare.sh", "prepare" },
        { "/usr/bin/env", "env" },
        { "2layer.py", "job-2layer" },
        { "___", "job" },
        { "./a-very-long-name-of-a-script-that-goes-on-and-on.py",
          "a-very-long-name-of-a-script-that-goes-o" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *words[16];
        struct make_opts o = { .command = words, .n_command = split(a, rows[i][0], words) };
        is_str(make_name(a, &o), str_of(rows[i][1]), rows[i][0]);
    }
}

/* ---- mistakes */

#define REPLICAS(n) .replicas = (n), .has_replicas = true

static void mistakes_are_told(void)
{
    static const struct {
        struct make_opts o;
        const char *want;
    } rows[] = {
        { { TRAIN, .kind = "torch" }, "--kind is one of " MAKE_KINDS ", not 'torch'" },
        { { TRAIN, REPLICAS(2) }, "--replicas needs --kind: without one, a single pod is made" },
        { { TRAIN, .roles = "worker=1" },
          "--role needs --kind: without one, a single pod is made" },
        { { TRAIN, .kind = "jax", REPLICAS(0) }, "--replicas is 0: want 1 to 100000" },
        { { TRAIN, .kind = "jax", REPLICAS(100001) }, "--replicas is 100001: want 1 to 100000" },
        { { TRAIN, .kind = "jax", REPLICAS(2), .roles = "worker=2" },
          "--replicas and --role exclude each other: give one of them" },
        { { TRAIN, .kind = "pytorch", .roles = "boss=1" },
          "--role 'boss=1': the roles of a PyTorchJob are master, worker" },
        { { TRAIN, .kind = "tf", .roles = "worker" },
          "--role 'worker': want ROLE=NUMBER, as in worker=4, and at most 100000" },
        { { TRAIN, .kind = "tf", .roles = "worker=-1" },
          "--role 'worker=-1': want ROLE=NUMBER, as in worker=4, and at most 100000" },
        { { TRAIN, .kind = "tf", .roles = "worker=1,Worker=2" }, "--role names Worker twice" },
        { { TRAIN, .kind = "tf", .roles = "worker=0" }, "--role asks for no replicas" },
        { { TRAIN, .kind = "pytorch", .roles = "master=2" },
          "--role master=2: a PyTorchJob has one Master" },
        { { TRAIN, .kind = "xgboost", .roles = "master=0,worker=2" },
          "--role master=0: every XGBoostJob has a Master" },
        { { TRAIN, .kind = "mpi", .roles = "launcher=1" },
          "--role worker=0: the command runs in the workers, so there has to be one" },
        { { TRAIN, .kind = "jax", .nproc_per_node = "2" },
          "--nproc-per-node is for pytorch, mpi and paddle" },
        { { TRAIN, .kind = "mpi", .nproc_per_node = "auto" },
          "--nproc-per-node 'auto': want a number" },
        { { TRAIN, .kind = "pytorch", .nproc_per_node = "many" },
          "--nproc-per-node 'many': want a number, auto, cpu or gpu" },
        { { TRAIN, .kind = "pytorch", .nproc_per_node = "0" },
          "--nproc-per-node is 0: want 1 to 100000" },
        { { TRAIN, .cpu = "two" }, "--cpu 'two' is not an amount: want cores, as in 2 or 500m" },
        { { TRAIN, .memory = "-1Gi" },
          "--memory '-1Gi' is not an amount: want bytes, as in 512Mi or 4Gi" },
        { { TRAIN, .name = "My_Job" },
          "--name 'My_Job': want at most 63 lower case letters, digits and '-', with a letter "
          "first and no '-' at the end" },
        { { TRAIN, .image = "" }, "--image '' names no image" },
        { { .command = train, .n_command = 0 }, "there is no command: write it after --" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct err e = { 0 };
        jv job = make_job(a, &rows[i].o, &e);
        is_str(jv_exists(job) ? S("made") : str_of(e.msg), str_of(rows[i].want), rows[i].want);
    }
}

static int64_t replicas_of(jv job, const char *specs, const char *role)
{
    return jv_int(jv_at(job, "spec", specs, role, "replicas"), 0);
}

static void a_leader_is_added_where_all_meet_at_it(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct make_opts o = { TRAIN, .kind = "pytorch", .roles = "worker=3" };
    struct err e = { 0 };
    jv job = make_job(a, &o, &e);

    is_int(replicas_of(job, "pytorchReplicaSpecs", "Master"), 1, "a Master is added");
    is_int(replicas_of(job, "pytorchReplicaSpecs", "Worker"), 3, "to the workers asked for");
    o.roles = "master=0,worker=3";
    job = make_job(a, &o, &e);
    ok(!jv_exists(jv_at(job, "spec", "pytorchReplicaSpecs", "Master")), "unless it is declined");
    o.kind = "mpi";
    o.roles = "worker=3";
    job = make_job(a, &o, &e);
    is_int(replicas_of(job, "mpiReplicaSpecs", "Launcher"), 1, "an MPIJob has its Launcher");
}

int main(int argc, char **argv)
{
    every_kind_is_made_as_it_was(argc > 1 ? argv[1] : "tests/golden/make");
    launchers_go_around_the_command();
    words_reach_the_program_as_they_are();
    names_come_from_the_script();
    mistakes_are_told();
    a_leader_is_added_where_all_meet_at_it();
    return tap_done();
}
