/* muster run: submits what files hold, shows it live, and ends as the jobs end. */

#include "app/run.h"

#include "app/run_internal.h"
#include "cli/options.h"
#include "kube/names.h"
#include "node/images.h"

#include <stdio.h>
#include <unistd.h>

enum { PENDING_MS = 10 * 1000, LINGER_MS = 30 * 1000 };

static const struct opt options[] = {
    { "timeout", 0, OPT_DURATION, offsetof(struct run_flags, timeout_ms), "TIME",
      "stop everything after this time, such as 90s or 2h, and exit with 124; 0: no limit", NULL },
    { "stall-after", 0, OPT_DURATION, offsetof(struct run_flags, stall_after_ms), "TIME",
      "report a job that writes nothing and uses no CPU for TIME (default: 5m); 0: never", NULL },
    { "pending-timeout", 0, OPT_DURATION, offsetof(struct run_flags, pending_ms), "TIME",
      "give up on a job that can never start here after this time (default: 10s); 0: never", NULL },
    { "linger", 0, OPT_DURATION, offsetof(struct run_flags, linger_ms), "TIME",
      "wait this long for replicas that still run when their job has succeeded (default: 30s)",
      NULL },
    { "keep", 0, OPT_FLAG, offsetof(struct run_flags, keep), NULL,
      "do not delete the jobs and other objects at the end", NULL },
    { "namespace", 'n', OPT_TEXT, offsetof(struct run_flags, ns), "NS",
      "namespace for objects that name none (default: default)", NULL },
    { "output", 'o', OPT_TEXT, offsetof(struct run_flags, output), "FORM",
      "print the result to stdout as json or yaml; logs go to stderr", "json|yaml" },
    { "resources", 0, OPT_TEXT, offsetof(struct run_flags, resources), "LIST",
      "add or override resources of the machine: nvidia.com/gpu=1,cpu=4", NULL },
    { "isolation", 0, OPT_TEXT, offsetof(struct run_flags, isolation), "LEVEL",
      "namespaces: separate for each pod; shared: this machine's (default: best available)",
      "namespaces|shared" },
    { "gang-scheduler-name", 0, OPT_TEXT, offsetof(struct run_flags, gang.name), "NAME",
      UP_GANG_NAMES, NULL },
    { "gang-hold-seconds", 0, OPT_INT, offsetof(struct run_flags, gang.hold_s), "SECONDS",
      "with PodGroups: restart a job that lacks pods of its group for so long (default: 120)",
      NULL },
    { "gang-max-restarts", 0, OPT_INT, offsetof(struct run_flags, gang.max_restarts), "NUMBER",
      "how often, before the job fails (default: no limit)", NULL },
    { "host-path-roots", 0, OPT_LIST, offsetof(struct run_flags, host_path_roots), "DIR[,DIR]...",
      "allow hostPath volumes only below these directories", NULL },
    { "show-home-secrets", 0, OPT_FLAG, offsetof(struct run_flags, show_home_secrets), NULL,
      "let pods see ~/.ssh, ~/.kube, ~/.docker and others that are hidden by default", NULL },
    { "data", 0, OPT_TEXT, offsetof(struct run_flags, data), "DIR",
      "use the `muster up` on this data directory, or keep the data of this run there", NULL },
    { "workdir", 0, OPT_TEXT, offsetof(struct run_flags, workdir), "DIR[:ro]",
      "start containers that name no workingDir in DIR (default: the current directory)", NULL },
    { "no-workdir", 0, OPT_FLAG, offsetof(struct run_flags, no_workdir), NULL,
      "start them in / and mount no directory", NULL },
    { "volume", 'v', OPT_EACH, offsetof(struct run_flags, volumes), "HOST:POD[:ro]",
      "mount the directory or file HOST of this machine at POD in every container", NULL },
    { "env", 'e', OPT_EACH, offsetof(struct run_flags, env), "NAME[=VALUE]",
      "set an environment variable in every container; without a value, copy this one's", NULL },
    { "env-file", 0, OPT_EACH, offsetof(struct run_flags, env_files), "FILE",
      "set the variables that the lines of FILE name, as -e does", NULL },
    { "reuse-claims", 0, OPT_FLAG, offsetof(struct run_flags, reuse_claims), NULL,
      "start with the claims that the last run of this job left, instead of empty ones", NULL },
    { "keep-files", 0, OPT_TEXT, offsetof(struct run_flags, keep_files), "DIR",
      "copy files that pods changed, and that would be lost, to DIR/POD", NULL },
    { "rm", 0, OPT_FLAG, offsetof(struct run_flags, rm), NULL,
      "remove the claims of this run when it ends", NULL },
    { "kind", 0, OPT_TEXT, offsetof(struct run_flags, make.kind), "KIND",
      "make this kind of job from the command: pytorch, tf, jax, mpi, xgboost or paddle",
      MAKE_KINDS },
    { "replicas", 'N', OPT_INT, offsetof(struct run_flags, make.replicas), "NUMBER",
      "total number of replicas (default: 1)", NULL },
    { "role", 0, OPT_LIST, offsetof(struct run_flags, make.roles), "ROLE=N[,ROLE=N]...",
      "replicas of each role, as in worker=4,ps=2", NULL },
    { "gpus", 0, OPT_INT, offsetof(struct run_flags, make.gpus), "NUMBER",
      "GPUs for each replica (nvidia.com/gpu)", NULL },
    { "cpu", 0, OPT_TEXT, offsetof(struct run_flags, make.cpu), "AMOUNT",
      "CPU request and limit of each replica, as in 2 or 500m", NULL },
    { "memory", 0, OPT_TEXT, offsetof(struct run_flags, make.memory), "AMOUNT",
      "memory request and limit of each replica, as in 512Mi or 4Gi", NULL },
    { "nproc-per-node", 0, OPT_TEXT, offsetof(struct run_flags, make.nproc_per_node), "NUMBER",
      "processes in each replica, started by torchrun, mpirun or Paddle's launcher", NULL },
    { "name", 0, OPT_TEXT, offsetof(struct run_flags, make.name), "NAME",
      "name of the job made from the command (default: the script's name)", NULL },
    { "image", 0, OPT_TEXT, offsetof(struct run_flags, make.image), "IMAGE",
      "image of the job made from the command (default: this machine's own files)", NULL },
    { "print", 0, OPT_FLAG, offsetof(struct run_flags, print), NULL,
      "print the YAML of the job made from the command, and run nothing", NULL },
    { "kubeconfig", 0, OPT_TEXT, offsetof(struct run_flags, kubeconfig), "FILE",
      "run on the cluster of this kubeconfig instead of this machine", NULL },
    { "context", 0, OPT_TEXT, offsetof(struct run_flags, context), "NAME",
      "run on the cluster of this context of the kubeconfig", NULL },
    { "upload", 0, OPT_FLAG, offsetof(struct run_flags, upload), NULL,
      "send the scripts of this directory to that cluster, at most 900 KB", NULL },
    { 0 }
};

/* ---- the view */

static struct view view(void *ctx, struct arena *a, size_t columns, size_t rows)
{
    const struct run *r = ctx;
    struct view_opts o = { .now_ms = wall_now_ms(),
                           .columns = columns,
                           .rows = rows,
                           .color = r->color,
                           .ascii = !screen_has_utf8(),
                           .note = r->note };

    return view_of(a, &r->state, &o);
}

static void open_screen(struct run *r)
{
    int logs = r->f->output ? STDERR_FILENO : STDOUT_FILENO;

    r->live = screen_can_draw(logs);
    r->color = screen_wants_color(logs);
    struct screen_opts o = {
        .loop = r->s.loop, .logs = logs, .live = r->live, .color = r->color, .view = view, .ctx = r
    };
    r->screen = screen_new(&o);
}

/* ---- watching */

/* The files may have an object twice: it is one job still. */
static bool is_again(const struct submit *m, size_t i)
{
    str uid = meta_uid(m->at[i].live);

    for (size_t k = 0; k < i; k++)
        if (uid.n && str_eq(meta_uid(m->at[k].live), uid))
            return true;
    return false;
}

static void add_jobs(struct run *r)
{
    int64_t now = wall_now_ms();

    for (size_t i = 0; i < r->submit.n; i++) {
        const struct submit_object *o = &r->submit.at[i];
        const struct job_kind *kind;
        if (!submit_is_job(o->obj, &kind) || is_again(&r->submit, i))
            continue;
        struct run_job *j = run_state_add(&r->state, kind, o->live, now);
        j->created = o->created;
        if (!r->live)
            screen_say(r->screen,
                       arena_printf(r->a, "muster: %" PRI_STR " %s\n", STR_ARG(j->title),
                                    o->created ? "created" : "exists already: following it"));
    }
}

static void on_time(void *arg)
{
    bool *up = arg;

    *up = true;
}

static enum run_end watch(struct run *r)
{
    struct session *s = &r->s;
    bool *late = ARENA_NEW(r->a, bool);
    bool told = false;
    struct loop_timer *t =
        r->f->timeout_ms ? loop_timer_start(s->loop, r->f->timeout_ms, 0, on_time, late) : NULL;

    while (!run_state_is_over(&r->state) && !s->signals && !*late && !follow_failed(r->follow)) {
        loop_turn(s->loop);
        run_pending_check(r);
        if (!told && screen_is_unread(r->screen)) {
            told = true;
            command_note("muster: output was closed; the job continues");
        }
    }
    loop_timer_stop(t);
    if (run_state_is_over(&r->state))
        return RUN_OVER;
    if (s->signals)
        return RUN_INTERRUPTED;
    if (*late)
        return RUN_TIMED_OUT;
    session_fail(s, follow_failed(r->follow), "follow the job");
    return RUN_LOST;
}

static void on_line(void *ctx, str line)
{
    struct run *r = ctx;

    r->network_complaint |= run_is_network_complaint(line);
}

static int run_all(struct run *r)
{
    int code = run_open(r);

    r->began_ms = wall_now_ms();
    if (code < 0 && r->is_private)
        run_record_write(r, run_record(r, NULL));
    if (code < 0)
        code = submit_send(&r->submit);
    if (code >= 0)
        return code;
    run_own_upload(r);
    open_screen(r);
    add_jobs(r);
    struct follow_opts f = {
        .s = &r->s, .state = &r->state, .screen = r->screen, .color = r->color, .live = r->live
    };
    f.on_line = on_line;
    f.line_ctx = r;
    run_pending_start(r, &f);
    r->follow = follow_start(&f);
    enum run_end how = watch(r);
    run_stop(r, how);
    code = run_report(r, run_code(r, how));
    run_tell_network(r);
    return code;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct run_flags f = { .make.replicas = -1,
                           .pending_ms = PENDING_MS,
                           .linger_ms = LINGER_MS,
                           .stall_after_ms = -1,
                           .gang = UP_GANG_DEFAULTS };
    struct run r = { .f = &f, .lock = -1, .keep_files = -1, .a = arena_new(), .lint = lint_new() };
    struct err e = { 0 };
    char **words;
    int n;

    r.args = run_args(r.a, argc, argv);
    r.started_in = run_directory(r.a);
    int command = options_command(c, argc, argv);
    int code = options_read(c, command, argv, &f, &words, &n);

    f.make.command = (const char *const *)argv + command;
    f.make.n_command = argc - command;
    /* The directory is this machine's. */
    f.no_workdir = f.no_workdir || run_is_elsewhere(&f) || (f.print && !f.workdir);
    r.submit.elsewhere = run_is_elsewhere(&f);
    if (code < 0)
        code = run_make(&r, words, n);
    if (code < 0 && n == 0 && !r.made.n) {
        command_fail(EXIT_USAGE, "run needs a file, a directory, - for standard input, or a "
                                 "command after --");
        code = command_usage(c);
    }
    if (code < 0 && f.ns && !name_ok(str_of(f.ns), name_dns1123_label))
        code = command_fail(EXIT_USAGE,
                            "--namespace '%s': must be lower case letters, digits and '-', not at "
                            "an end, and at most 63 of them",
                            f.ns);
    if (code < 0 && up_gang_check(&f.gang, &e) < 0)
        code = command_fail(EXIT_USAGE, "%s", e.msg);
    run_state_init(&r.state);
    if (code < 0)
        code = run_read_input(&r, words, n);
    if (code < 0)
        code = run_read_extras(&r);
    if (code < 0 && !f.print)
        code = run_open_keep_files(&r);
    if (code < 0)
        code = f.print ? run_print(&r) : run_all(&r);
    run_pending_end(&r);
    follow_end(r.follow);
    screen_free(r.screen);
    run_close(&r);
    run_state_done(&r.state);
    images_free(r.images);
    lint_free(r.lint);
    arena_free(r.a);
    return code;
}

const struct command command_run = {
    .name = "run",
    .summary = "run jobs on this machine and exit with their result",
    .help = "Usage: muster run [OPTION]... FILE|DIR|-...\n"
            "       muster run [OPTION]... -- COMMAND [ARG]...\n"
            "\n"
            "Submits every object in the files (YAML or JSON), runs the jobs and pods on this\n"
            "machine, shows their logs and state, and exits when they have ended: with 0 if all\n"
            "succeeded, 1 if one failed, 2 if the input is invalid, 124 after a timeout, 130 when\n"
            "interrupted. Ctrl-C stops the jobs; a second Ctrl-C kills them. They run in the\n"
            "`muster up` of this machine if one is running, otherwise in a temporary cluster.\n"
            "\n"
            "A command after -- needs no files: a pod is made for it, or with --kind a job.\n",
    .options = options,
    .operands = OPERANDS_FILES,
    .run = run,
};
