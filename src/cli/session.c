/* See session.h. */

#include "cli/session.h"

#include "cli/data.h"
#include "loop/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The kubeconfig of the server that runs on the data directory, or of the latest run that goes on
 * below it; NULL: none runs. */
static const char *local_kubeconfig(struct arena *a, const char *data)
{
    const char *dir = NULL;

    if (data_dir(a, data, &dir, NULL) < 0)
        return NULL;
    for (const char **p = data_places(a, dir); *p; p++) {
        const char *path = arena_printf(a, "%s/kubeconfig", *p).p;
        int pid = 0;
        if (access(path, R_OK) == 0 && data_holder(*p, &pid, NULL) == 0 && pid > 0)
            return path;
    }
    return NULL;
}

static int load(struct session *s, const struct session_opts *o, struct err *e)
{
    struct client_from from = client_from_env();
    bool named = o->kubeconfig || (!o->data && from.env_kubeconfig && *from.env_kubeconfig);
    /* In a pod of ours home is this machine's: what runs there is not reached from here, and a
     * kubeconfig there is somebody's, not the pod's. */
    bool in_pod = !o->data && getenv("MUSTER_POD");
    const char *local = named || in_pod ? NULL : local_kubeconfig(s->a, o->data);

    from.file = o->kubeconfig;
    from.context = o->context;
    if (o->kubeconfig && !*o->kubeconfig)
        return err_set(e, ERR_INVALID, "--kubeconfig names no file");
    if (!named && o->data && !local)
        return err_set(e, ERR_NOT_FOUND,
                       "no server runs on %s: start one with 'muster up --data %s'", o->data,
                       o->data);
    if (local)
        from.file = local;
    if (in_pod)
        from.home = NULL;
    if (client_config_load(s->a, &from, &s->config, e) == 0)
        return 0;
    if (e->code == ERR_NOT_FOUND && !named && !local && !o->data)
        return err_set(e, ERR_NOT_FOUND,
                       "no cluster is known: start one here with 'muster up', or give --kubeconfig "
                       "FILE or KUBECONFIG");
    return -1;
}

const char *session_data(struct arena *a, const struct session_opts *o)
{
    struct client_from from = client_from_env();
    const char *named = o->kubeconfig ? o->kubeconfig : from.env_kubeconfig;
    str rest = str_of(named ? named : "");

    if (o->data)
        return o->data;
    while (rest.n) { /* $KUBECONFIG is a list */
        str file = o->kubeconfig ? rest : str_cut(&rest, ':');
        ptrdiff_t slash = str_rfind(file, '/');
        str dir = slash < 0 ? S(".") : str_sub(file, 0, (size_t)slash);
        if (access(arena_printf(a, "%" PRI_STR "/muster.db", STR_ARG(dir)).p, F_OK) == 0)
            return arena_z(a, dir);
        if (o->kubeconfig)
            break;
    }
    return NULL;
}

static void on_signal(void *ctx, int signo)
{
    struct session *s = ctx;

    (void)signo;
    s->interrupted = true;
    s->signals++;
}

static int on_signals(struct session *s, struct err *e)
{
    signal(SIGPIPE, SIG_IGN);
    if (loop_on_signal(s->loop, SIGINT, on_signal, s, e) < 0 ||
        loop_on_signal(s->loop, SIGTERM, on_signal, s, e) < 0 ||
        loop_on_signal(s->loop, SIGHUP, on_signal, s, e) < 0)
        return -1;
    return 0;
}

int session_try(struct session *s, const struct session_opts *o, struct err *e)
{
    *s = (struct session){ .a = arena_new() };
    if (load(s, o, e) < 0)
        return -1;
    s->config.component = "cli";
    s->ns = str_of(o->ns && *o->ns                 ? o->ns
                   : s->config.ns && *s->config.ns ? s->config.ns
                                                   : "default");
    s->loop = loop_new();
    if (client_new(&s->client, s->loop, &s->config, e) < 0 || on_signals(s, e) < 0)
        return -1;
    s->api = client_api(s->client);
    return 0;
}

int session_open(struct session *s, const struct session_opts *o)
{
    struct err e = { 0 };

    if (session_try(s, o, &e) == 0)
        return -1;
    return command_fail(e.code == ERR_INVALID ? EXIT_USAGE : EXIT_FAILED, "%s", e.msg);
}

int session_within(struct session *s, struct loop *l, struct kube_api *api, const char *ns,
                   const char *server)
{
    struct err e = { 0 };

    *s = (struct session){ .a = arena_new(), .loop = l, .within = true, .api = api };
    s->config.server = server;
    s->config.from = server;
    s->ns = str_of(ns && *ns ? ns : "default");
    return on_signals(s, &e) < 0 ? command_fail(EXIT_FAILED, "%s", e.msg) : -1;
}

void session_close(struct session *s)
{
    if (s->loop && !s->within) {
        client_free(s->client);
        loop_stop(s->loop);
        loop_run(s->loop);
        loop_free(s->loop);
    }
    arena_free(s->a);
}

void session_limit(struct session *s, int64_t timeout_ms)
{
    s->deadline_ms = timeout_ms ? loop_now_ms(s->loop) + timeout_ms : 0;
}

struct late {
    struct loop *loop;
    bool is;
};

static void on_late(void *arg)
{
    struct late *late = arg;

    late->is = true;
    loop_wake(late->loop);
}

int session_wait(struct session *s, const bool *flag)
{
    struct loop_timer *t = NULL;
    struct late late = { .loop = s->loop };

    if (s->deadline_ms) {
        int64_t left = s->deadline_ms - loop_now_ms(s->loop);
        t = loop_timer_start(s->loop, left > 0 ? left : 0, 0, on_late, &late);
    }
    while (!*flag && !late.is && !s->interrupted)
        loop_turn(s->loop);
    loop_timer_stop(t);
    if (*flag)
        return -1;
    return late.is ? EXIT_TIMEOUT : EXIT_INTERRUPTED;
}

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct ask *q = ctx;
    struct arena *a = q->s->a;

    q->done = true;
    q->status = ans->status;
    q->err = ans->err;
    q->message = arena_str(a, ans->message);
    q->obj = jv_copy(a, ans->obj);
    loop_wake(q->s->loop);
}

int session_ask(struct session *s, struct ask *asks, size_t n)
{
    struct kube_call **calls = ARENA_ARRAY(s->a, struct kube_call *, n + 1);
    int code = -1;

    for (size_t i = 0; i < n; i++) {
        struct kube_get get = { .path = asks[i].path, .accept = asks[i].req.accept };
        asks[i].s = s;
        asks[i].done = false;
        calls[i] = get.path.n ? kube_get(s->api, &get, on_answer, &asks[i])
                              : kube_send(s->api, &asks[i].req, on_answer, &asks[i]);
    }
    for (size_t i = 0; i < n && code < 0; i++)
        code = session_wait(s, &asks[i].done);
    for (size_t i = 0; i < n; i++)
        if (!asks[i].done)
            kube_cancel(s->api, calls[i]);
    if (code == EXIT_TIMEOUT)
        command_fail(code, "%s did not answer in time", s->config.server);
    return code;
}

int session_fail(const struct session *s, const struct ask *q, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str what = arena_vprintf(s->a, fmt, ap);
    va_end(ap);
    str why = q->message.n ? q->message : str_of(q->err.msg);
    if (!q->status) /* the host is in the error itself */
        return command_fail(EXIT_FAILED, "cannot %" PRI_STR " (%s): %s", STR_ARG(what),
                            s->config.from, q->err.msg);
    return command_fail(EXIT_FAILED, "cannot %" PRI_STR " at %s: %" PRI_STR, STR_ARG(what),
                        s->config.server, STR_ARG(why));
}
