/* kbench COMMAND --kubeconfig FILE [options]: see usage() below; bench/run runs them all. */

#include "kbench.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>

static const struct command {
    const char *name;
    int (*run)(const struct opts *o, struct err *e);
    const char *help;
} commands[] = {
    { "ready", cmd_ready, "start a server (-- COMMAND ...), time its first answers, leave it on" },
    { "create", cmd_create, "create --count pods, --in-flight at a time" },
    { "latency", cmd_latency, "create --count pods one by one; time to the watch event" },
    { "fanout", cmd_fanout, "--watchers see --count events, each one, in order" },
    { "list", cmd_list, "list --count pods --rounds times: plain, gzip, in pages" },
    { "replay", cmd_replay, "send the requests in --log, wait for what follows -- COUNT PATH ..." },
    { "memory", cmd_memory, "resident memory of --pid" },
    { "clean", cmd_clean, "delete what was created in --namespace" },
};

static const struct option longs[] = {
    { "kubeconfig", required_argument, NULL, 'k' },  { "namespace", required_argument, NULL, 'n' },
    { "log", required_argument, NULL, 'l' },         { "count", required_argument, NULL, 'c' },
    { "first", required_argument, NULL, 'f' },       { "in-flight", required_argument, NULL, 'i' },
    { "connections", required_argument, NULL, 'C' }, { "watchers", required_argument, NULL, 'w' },
    { "rounds", required_argument, NULL, 'r' },      { "timeout", required_argument, NULL, 't' },
    { "pid", required_argument, NULL, 'p' },         { 0 },
};

static int usage(void)
{
    fprintf(stderr, "usage: kbench COMMAND --kubeconfig FILE [--namespace kbench] [--count N]\n"
                    "  [--first N] [--in-flight 100] [--connections 4] [--watchers 2000]\n"
                    "  [--rounds 7] [--timeout 60] [--log FILE] [--pid SERVER]... [-- COMMAND]\n");
    for (size_t i = 0; i < COUNT(commands); i++)
        fprintf(stderr, "  %-8s %s\n", commands[i].name, commands[i].help);
    return 2;
}

static bool set_number(struct opts *o, int which, int64_t value)
{
    long n = (long)value;

    switch (which) {
    case 'c':
        o->count = n;
        break;
    case 'f':
        o->first = n;
        break;
    case 'i':
        o->in_flight = n;
        break;
    case 'C':
        o->connections = n;
        break;
    case 'w':
        o->watchers = n;
        break;
    case 'r':
        o->rounds = n;
        break;
    case 't':
        o->timeout_s = n;
        break;
    case 'p':
        if (o->procs.n == COUNT(o->procs.pid))
            return false;
        o->procs.pid[o->procs.n++] = (int)n;
        break;
    default:
        return false;
    }
    return n >= 0;
}

static bool read_opts(int argc, char **argv, struct opts *o)
{
    int64_t n = 0;

    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    for (int c = 0; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (c == 'k')
            o->kubeconfig = optarg;
        else if (c == 'n')
            o->name_space = optarg;
        else if (c == 'l')
            o->log = optarg;
        else if (c == '?' || !str_to_int(str_of(optarg), &n) || !set_number(o, c, n))
            return false;
    }
    o->command = argv + optind;
    return o->in_flight > 0 && o->connections > 0;
}

int session_start(struct session *s, const struct opts *o, bool make_namespace, struct err *e)
{
    s->a = arena_new();
    s->o = o;
    if (!o->kubeconfig) {
        session_stop(s);
        return err_set(e, ERR_INVALID, "--kubeconfig is needed");
    }
    str body = arena_printf(s->a,
                            "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                            "\"metadata\":{\"name\":\"%s\"}}",
                            o->name_space);
    struct call c = { .method = "POST", .path = S("/api/v1/namespaces"), .body = body };
    if (target_open(s->a, o->kubeconfig, &s->target, e) < 0) {
        session_stop(s);
        return -1;
    }
    s->net = net_new(&s->target);
    s->wire = net_connect(s->net, e);
    if (!s->wire || (make_namespace && net_ask(s->net, s->wire, &c, NULL, e) < 0)) {
        session_stop(s);
        return -1;
    }
    if (make_namespace && c.status != 201 && c.status != 409) {
        session_stop(s);
        return err_set(e, ERR_IO, "namespace %s: status %d", o->name_space, c.status);
    }
    return 0;
}

void session_stop(struct session *s)
{
    net_free(TAKE(s->net));
    target_done(&s->target);
    arena_free(TAKE(s->a));
}

int cmd_clean(const struct opts *o, struct err *e)
{
    struct session s = { 0 };
    int rc = 0;

    if (session_start(&s, o, false, e) < 0)
        return -1;
    const char *tails[] = { "/pods", "/configmaps", "" };
    for (size_t i = 0; i < COUNT(tails) && rc == 0; i++) {
        struct call c = { .method = "DELETE" };
        c.path = arena_printf(s.a, "/api/v1/namespaces/%s%s", o->name_space, tails[i]);
        rc = net_ask(s.net, s.wire, &c, NULL, e);
    }
    session_stop(&s);
    return rc;
}

int cmd_memory(const struct opts *o, struct err *e)
{
    struct line l = { 0 };

    if (!o->procs.n)
        return err_set(e, ERR_INVALID, "--pid is needed");
    line_start(&l, "memory");
    line_int(&l, "rss_kb", procs_rss_kb(&o->procs));
    line_num(&l, "cpu_s", procs_cpu_s(&o->procs));
    line_end(&l);
    return 0;
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    struct opts o = {
        .name_space = "kbench",
        .count = 1000,
        .in_flight = 100,
        .connections = 4,
        .watchers = 2000,
        .rounds = 7,
        .timeout_s = 60,
    };

    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || !read_opts(argc - 1, argv + 1, &o))
        return usage();
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        if (commands[i].run(&o, &e) == 0)
            return 0;
        fprintf(stderr, "kbench %s: %s\n", argv[1], e.msg);
        return 1;
    }
    return usage();
}
