/* muster up: a cluster in this process, from the first flag to the last answer. */

#include "app/up.h"

#include "app/cluster.h"
#include "cli/data.h"
#include "cli/options.h"
#include "loop/log.h"
#include "loop/watchdog.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_PORT = 6443 };

struct up {
    const char *data; /* as given */
    const char *dir;
    const char *listen;
    const char *kubeconfig;
    bool detach;
    bool no_operator;
    bool legacy_labels;
    bool no_node;
    bool accept_data_loss;
    const char *log_format;
    struct up_node_opts node_opts;
    struct up_gang_opts gang;
    struct up_binder_opts binder_opts;
    char host[INET6_ADDRSTRLEN];
    int port;
    int lock;
    int ready_fd; /* of the one who waits for us, with --detach; -1: none */
    struct arena *a;
    struct loop *loop;
    struct cluster *cluster;
    str ready; /* the line that says so */
    int exit_code;
};

/* ---- what is asked for */

static int parse_listen(struct up *u, struct err *e)
{
    str text = str_of(u->listen ? u->listen : "127.0.0.1:6443");
    ptrdiff_t colon = str_rfind(text, ':');
    str host = colon >= 0 ? str_sub(text, 0, (size_t)colon) : text;
    struct in6_addr addr;
    int64_t port = DEFAULT_PORT;

    if (colon >= 0 &&
        (!str_to_int(str_sub(text, (size_t)colon + 1, text.n), &port) || port < 0 || port > 65535))
        return err_set(e, ERR_INVALID,
                       "--listen %s: expected ADDRESS:PORT with a port from 0 to 65535", u->listen);
    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_sub(host, 1, host.n - 1);
    if (str_eqz(host, "localhost") || !host.n)
        host = S("127.0.0.1");
    if (host.n >= sizeof(u->host))
        return err_set(e, ERR_INVALID, "--listen %s: not an IP address", u->listen);
    memcpy(u->host, host.p, host.n);
    u->host[host.n] = 0;
    u->port = (int)port;
    if (inet_pton(AF_INET, u->host, &addr) != 1 && inet_pton(AF_INET6, u->host, &addr) != 1)
        return err_set(e, ERR_INVALID, "--listen %s: '%s' is not an IP address",
                       u->listen ? u->listen : "", u->host);
    return 0;
}

static const struct opt options[] = {
    { "data", 0, OPT_TEXT, offsetof(struct up, data), "DIR",
      "data directory (default: $XDG_DATA_HOME/muster)", NULL },
    { "listen", 0, OPT_TEXT, offsetof(struct up, listen), "ADDR:PORT",
      "address to listen on (default: 127.0.0.1:6443; port 0: any free port)", NULL },
    { "kubeconfig", 0, OPT_TEXT, offsetof(struct up, kubeconfig), "FILE",
      "also write a kubeconfig to FILE", NULL },
    { "detach", 0, OPT_FLAG, offsetof(struct up, detach), NULL, "run in the background once ready",
      NULL },
    { "isolation", 0, OPT_TEXT, offsetof(struct up, node_opts.isolation), "LEVEL",
      "namespaces: separate for each pod; shared: this machine's (default: best available)",
      "namespaces|shared" },
    { "resources", 0, OPT_TEXT, offsetof(struct up, node_opts.resources), "LIST",
      "add or override resources of the node: nvidia.com/gpu=1,cpu=4", NULL },
    { "strict-storage-classes", 0, OPT_FLAG, offsetof(struct up, binder_opts.strict_classes), NULL,
      "keep claims of an unknown storage class pending, as on a cluster", NULL },
    { "strict-paths", 0, OPT_FLAG, offsetof(struct up, node_opts.strict_paths), NULL,
      "do not search $PATH for a program whose absolute path does not exist", NULL },
    { "host-path-roots", 0, OPT_LIST, offsetof(struct up, node_opts.host_path_roots),
      "DIR[,DIR]...", "allow hostPath volumes only below these directories", NULL },
    { "show-home-secrets", 0, OPT_FLAG, offsetof(struct up, node_opts.show_home_secrets), NULL,
      "let pods see ~/.ssh, ~/.kube, ~/.docker and others that are hidden by default", NULL },
    { "gang-scheduler-name", 0, OPT_TEXT, offsetof(struct up, gang.name), "NAME", UP_GANG_NAMES,
      NULL },
    { "gang-hold-seconds", 0, OPT_INT, offsetof(struct up, gang.hold_s), "SECONDS",
      "with PodGroups: restart a job that lacks pods of its group for so long (default: 120)",
      NULL },
    { "gang-max-restarts", 0, OPT_INT, offsetof(struct up, gang.max_restarts), "NUMBER",
      "how often, before the job fails (default: no limit)", NULL },
    { "starvation-seconds", 0, OPT_INT, offsetof(struct up, binder_opts.starvation_s), "SECONDS",
      "how long later jobs may pass the first one that does not fit (default: 300)", NULL },
    { "preemption", 0, OPT_FLAG, offsetof(struct up, binder_opts.preempts), NULL,
      "evict pods of lower priority if a pod or gang can then start (default: they run on)", NULL },
    { "no-node", 0, OPT_FLAG, offsetof(struct up, no_node), NULL,
      "run no pods: schedule them onto nodes that others register", NULL },
    { "no-scheduler", 0, OPT_FLAG, offsetof(struct up, binder_opts.no_scheduler), NULL,
      "leave the choice of nodes to another scheduler, such as kube-scheduler", NULL },
    { "no-operator", 0, OPT_FLAG, offsetof(struct up, no_operator), NULL,
      "do not install job definitions or reconcile jobs", NULL },
    { "legacy-labels", 0, OPT_FLAG, offsetof(struct up, legacy_labels), NULL,
      "add the labels that the old client kubeflow-tfjob needs to pods of TFJobs", NULL },
    { "accept-data-loss", 0, OPT_FLAG, offsetof(struct up, accept_data_loss), NULL,
      "start even if acknowledged changes are missing from the database", NULL },
    { "log-format", 0, OPT_TEXT, offsetof(struct up, log_format), "FORM",
      "logfmt (default) or json, on stderr", "logfmt|json" },
    { 0 },
};

static int parse(const struct command *c, struct up *u, int argc, char **argv)
{
    struct err e = { 0 };
    char **rest;
    int n;
    int code = options_read(c, argc, argv, u, &rest, &n);

    if (code >= 0)
        return code;
    if (u->log_format)
        log_setup(LOG_INFO, strcmp(u->log_format, "json") == 0 ? LOG_JSON : LOG_LOGFMT);
    if (n > 0)
        return command_fail(EXIT_USAGE, "up takes no argument '%s'", rest[0]);
    if (parse_listen(u, &e) < 0 || up_gang_check(&u->gang, &e) < 0)
        return command_fail(EXIT_USAGE, "%s", e.msg);
    return -1;
}

/* ---- stopping */

static void on_stopped(void *ctx)
{
    struct up *u = ctx;

    loop_stop(u->loop);
}

static void stop(struct up *u)
{
    cluster_stop(u->cluster, on_stopped, u);
}

static void on_signal(void *ctx, int signo)
{
    (void)signo;
    stop(ctx);
}

/* ---- starting */

/* As a shell reads it back: plain where it can be, else in single quotes. */
static const char *quoted(struct arena *a, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+@%,:=";
    AUTO(buf) struct buf b = { 0 };

    if (!path[strspn(path, plain)])
        return path;
    buf_addc(&b, '\'');
    for (; *path; path++) {
        if (*path == '\'')
            buf_printf(&b, "'\\''");
        else
            buf_addc(&b, *path);
    }
    buf_addc(&b, '\'');
    return arena_str(a, buf_str(&b)).p;
}

/* Detached: tells the one who waits, and from now on stderr goes to the log too. */
static void say_ready(struct up *u, str line)
{
    dup2(1, 2);
    if (write(u->ready_fd, line.p, line.n) < 0)
        log_warn("the process waiting for readiness is gone");
    close(u->ready_fd);
    u->ready_fd = -1;
}

static void on_serving(void *ctx)
{
    struct up *u = ctx;
    const char *config =
        u->kubeconfig ? u->kubeconfig : arena_printf(u->a, "%s/kubeconfig", u->dir).p;
    char *full = realpath(config, NULL);

    u->ready = arena_printf(u->a, "muster is ready at %s  export KUBECONFIG=%s\n",
                            cluster_server(u->cluster), quoted(u->a, full ? full : config));
    free(full);
    fputs(u->ready.p, stdout);
    fflush(stdout);
}

static void on_ready(void *ctx, const struct err *e)
{
    struct up *u = ctx;

    if (e) {
        u->exit_code = command_fail(EXIT_FAILED, "%s", e->msg);
        stop(u);
        return;
    }
    if (u->ready_fd >= 0)
        say_ready(u, u->ready);
    malloc_trim(0); /* what starting took is not needed again */
}

static int run_server(struct up *u)
{
    struct err e = { 0 };

    signal(SIGPIPE, SIG_IGN);
    u->loop = loop_new();
    loop_watch(u->loop);
    struct cluster_opts o = { .loop = u->loop,
                              .dir = u->dir,
                              .host = u->host,
                              .port = u->port,
                              .kubeconfig = u->kubeconfig,
                              .no_operator = u->no_operator,
                              .legacy_labels = u->legacy_labels,
                              .no_node = u->no_node,
                              .accept_data_loss = u->accept_data_loss,
                              .node = u->node_opts,
                              .gang = u->gang,
                              .binder = u->binder_opts,
                              .on_serving = on_serving,
                              .on_ready = on_ready,
                              .ctx = u };
    if (cluster_start(&u->cluster, &o, &e) < 0 ||
        loop_on_signal(u->loop, SIGTERM, on_signal, u, &e) < 0 ||
        loop_on_signal(u->loop, SIGINT, on_signal, u, &e) < 0) {
        u->exit_code = command_fail(EXIT_FAILED, "%s", e.msg);
        stop(u);
    }
    loop_run(u->loop);
    cluster_free(u->cluster);
    loop_free(u->loop);
    close(u->lock);
    return u->exit_code;
}

/* ---- into the background */

/* Passes on the child's ready line, or its way of failing. */
static int wait_ready(int fd, pid_t child)
{
    char text[PATH_MAX + 256];
    ssize_t n = read(fd, text, sizeof(text) - 1);
    int status = 0;

    if (n > 0) {
        text[n] = 0;
        fputs(text, stdout);
        return EXIT_DONE;
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static int detach(struct up *u)
{
    struct err e = { 0 };
    int fds[2];
    const char *log = arena_printf(u->a, "%s/log", u->dir).p;

    if (pipe2(fds, O_CLOEXEC) < 0) {
        err_sys(&e, "pipe");
        return command_fail(EXIT_FAILED, "%s", e.msg);
    }
    pid_t child = fork();
    if (child < 0) {
        err_sys(&e, "fork");
        return command_fail(EXIT_FAILED, "%s", e.msg);
    }
    if (child > 0) {
        close(fds[1]);
        close(u->lock); /* the child has it */
        return wait_ready(fds[0], child);
    }
    close(fds[0]);
    setsid();
    u->ready_fd = fds[1];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(null, 0);
    dup2(out >= 0 ? out : null, 1);
    if (data_hold(u->lock, &e) < 0) /* so that `muster down` finds us, not our parent */
        return command_fail(EXIT_FAILED, "%s", e.msg);
    return -1;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct up u = { .gang = UP_GANG_DEFAULTS, .lock = -1, .ready_fd = -1, .a = arena_new() };
    struct err e = { 0 };
    int code = parse(c, &u, argc, argv);

    if (code < 0) {
        if (data_dir(u.a, u.data, &u.dir, &e) < 0 || data_lock(u.dir, &u.lock, &e) < 0)
            code = command_fail(EXIT_FAILED, "%s", e.msg);
        u.node_opts.dir = u.dir;
        if (code < 0 && !u.no_node && up_node_check(&u.node_opts, &e) < 0)
            code = command_fail(EXIT_USAGE, "%s", e.msg);
        if (code < 0 && u.detach)
            code = detach(&u);
        if (code < 0)
            code = run_server(&u);
    }
    arena_free(u.a);
    return code;
}

const struct command command_up = {
    .name = "up",
    .summary = "run a Kubernetes API server, operator and node on this machine",
    .help =
        "Usage: muster up [OPTION]...\n"
        "\n"
        "Serves the Kubernetes API, reconciles training jobs, and runs pods as processes on\n"
        "this machine, until it is stopped (Ctrl-C, SIGTERM or 'muster down'). Prints one line\n"
        "when it is ready, with the KUBECONFIG to use. When it is stopped, its pods end, too.\n"
        "When it is killed, pods keep running, and the next 'muster up' takes them over.\n",
    .options = options,
    .run = run,
};
