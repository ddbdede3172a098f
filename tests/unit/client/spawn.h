/* Our own server as a child of the test, in a folder of its own. */
#pragma once

#include "help.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct spawned {
    pid_t pid;
    char dir[32];
    const char *kubeconfig;
};

static void spawn_run(struct spawned *s, struct arena *a, const char *program, const char *listen)
{
    const char *data = arena_printf(a, "%s/data", s->dir).p;

    s->kubeconfig = arena_printf(a, "%s/kubeconfig", s->dir).p;
    s->pid = fork();
    if (s->pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, 1);
        dup2(null, 2);
        execl(program, program, "up", "--data", data, "--listen", listen, "--kubeconfig",
              s->kubeconfig, "--no-node", "--no-scheduler", NULL);
        _exit(127);
    }
}

/* program: the path of muster. */
static void spawn_server(struct spawned *s, struct arena *a, const char *program)
{
    strcpy(s->dir, "/tmp/client-test-XXXXXX");
    if (!mkdtemp(s->dir))
        abort();
    spawn_run(s, a, program, "127.0.0.1:0");
    struct stat st = { 0 }; /* empty until it is hidden from pods that run here */
    for (int i = 0; i < 6000 && (stat(s->kubeconfig, &st) < 0 || st.st_size == 0); i++)
        usleep(10000);
}

/* The configuration that a test's words ask for: --spawn PROGRAM, or a kubeconfig. */
__attribute__((unused)) static void spawn_config(struct spawned *s, struct arena *a, int argc,
                                                 char **argv, struct client_config *cfg)
{
    struct client_from from = { .file = argc > 1 ? argv[1] : NULL };
    struct err e = { 0 };

    signal(SIGPIPE, SIG_IGN);
    if (argc > 2 && strcmp(argv[1], "--spawn") == 0) {
        spawn_server(s, a, argv[2]);
        from.file = s->kubeconfig;
    }
    ok(client_config_load(a, &from, cfg, &e) == 0, "the configuration is read: %s", e.msg);
}

static void spawn_stop(struct spawned *s, struct arena *a)
{
    if (!s->pid)
        return;
    kill(s->pid, SIGTERM);
    waitpid(s->pid, NULL, 0);
    if (system(arena_printf(a, "rm -rf %s", s->dir).p))
        abort();
}
