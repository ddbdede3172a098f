/* muster exec: a command in a container of a pod, over the API server. What it prints comes out
 * here, and its exit code becomes ours. The remote shell of MPIJobs. */

#include "cli/exec.h"

#include "base/terminal.h"
#include "base/url.h"
#include "cli/session.h"
#include "kube/meta.h"

#include <errno.h>
#include <unistd.h>

/* The first byte of a message. */
enum { CHANNEL_IN = 0, CHANNEL_OUT = 1, CHANNEL_ERR = 2, CHANNEL_END = 3, CHANNEL_CLOSE = 255 };
enum {
    QUEUE_MOST = 1024 * 1024,
    LINGER_MS = 10 * 1000, /* for what is still to come when the end is known */
    AGAIN_MS = 1000,       /* when a connection did not come about */
    RETRY_MS = 30 * 1000,  /* how long that is tried */
    ABSENT_MS = 60 * 1000,
};

struct flags {
    struct session_opts session;
    const char *container;
    const char *install;
    bool wait;
    int64_t absent_ms;
    bool in;
};

static const struct opt options[] = {
    { "container", 'c', OPT_TEXT, offsetof(struct flags, container), "NAME",
      "the container (default: the pod's default container, or its first)", NULL },
    { "stdin", 'i', OPT_FLAG, offsetof(struct flags, in), NULL, "pass on standard input", NULL },
    { "wait", 'w', OPT_FLAG, offsetof(struct flags, wait), NULL,
      "wait silently until the pod is ready; fail if it has ended", NULL },
    { "absent", 0, OPT_DURATION, offsetof(struct flags, absent_ms), "TIME",
      "with --wait, how long to wait for a pod that does not exist (default: 60s)", NULL },
    SESSION_OPTIONS(struct flags, session),
    { "install", 0, OPT_TEXT, offsetof(struct flags, install), "DIR",
      "run nothing: copy muster and its libraries to DIR, to run it from another image", NULL },
    { 0 }
};

struct errand {
    const struct flags *f;
    struct loop *loop; /* the session's, as are client, a and ns */
    struct client *client;
    struct arena *a;
    str ns, name;
    char **command;
    int n_command;
    struct exec_pod *pod;
    struct client_stream *stream;
    struct exec_input *input;
    struct loop_timer *timer;
    int64_t gives_up_ms;              /* 0: nothing has failed yet */
    struct terminal_filter filter[2]; /* of standard output and error, where those are terminals */
    bool opened;
    bool closes_input; /* the server can be told that there is no more */
    bool has_end;      /* the server has told how it ended */
    bool done;
    int code;
};

static void finish(struct errand *s, int code)
{
    s->code = code;
    s->done = true;
    loop_timer_stop(TAKE(s->timer));
    exec_pod_free(TAKE(s->pod));
    exec_input_free(TAKE(s->input));
    client_stream_free(TAKE(s->stream));
}

static void fail(struct errand *s, const struct err *e)
{
    finish(s, command_fail(EXIT_FAILED, "%s", e->msg));
}

/* ---- what comes */

static bool write_all(int fd, str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EAGAIN) { /* somebody else's doing: wait */
            usleep(1000);
            continue;
        }
        if (n < 0 && errno != EINTR)
            return false;
        bytes = str_sub(bytes, n > 0 ? (size_t)n : 0, bytes.n);
    }
    return true;
}

/* The exit code in a Status, or its message and 1. */
static int read_end(struct errand *s, str text)
{
    jv status = json_parse(s->a, arena_str(s->a, text), NULL, NULL);
    int64_t code = 0;

    if (str_eq(jv_str(jv_at(status, "status"), S("")), S("Success")))
        return 0;
    JV_EACH (c, jv_at(status, "details", "causes"))
        if (str_eq(jv_str(jv_at(c.value, "reason"), S("")), S("ExitCode")) &&
            str_to_int(jv_str(jv_at(c.value, "message"), S("")), &code) && code > 0)
            return code > 255 ? EXIT_FAILED : (int)code;
    str message = jv_str(jv_at(status, "message"), text);
    return command_fail(EXIT_FAILED, "%" PRI_STR, STR_ARG(message));
}

static void on_linger(void *arg)
{
    struct errand *s = arg;

    finish(s, s->code);
}

static bool put_output(struct errand *s, int fd, str data)
{
    AUTO(buf) struct buf b = { 0 };

    if (!isatty(fd))
        return write_all(fd, data);
    terminal_filter_add(&s->filter[fd - STDOUT_FILENO], &b, data);
    return write_all(fd, buf_str(&b));
}

static void on_message(void *ctx, str payload)
{
    struct errand *s = ctx;
    str data = str_sub(payload, 1, payload.n);

    switch (payload.n ? (unsigned char)payload.p[0] : CHANNEL_CLOSE) {
    case CHANNEL_OUT:
    case CHANNEL_ERR:
        if (!put_output(s, payload.p[0] == CHANNEL_OUT ? STDOUT_FILENO : STDERR_FILENO, data))
            finish(s, EXIT_FAILED);
        break;
    case CHANNEL_END:
        if (!data.n || s->has_end)
            break;
        s->has_end = true;
        s->code = read_end(s, data);
        /* output may still be on its way, until the server closes */
        s->timer = loop_timer_start(s->loop, LINGER_MS, 0, on_linger, s);
        break;
    default:
        break;
    }
}

static void try_again(struct errand *s, const struct err *e);

static void on_end(void *ctx, const struct err *e)
{
    struct errand *s = ctx;
    struct err lost = { 0 };

    if (s->has_end) {
        finish(s, s->code);
        return;
    }
    err_set(&lost, ERR_UNAVAILABLE, "%s: the connection ended before the command did",
            client_host(s->client));
    if (s->opened)
        fail(s, e ? e : &lost);
    else
        try_again(s, e ? e : &lost);
}

/* ---- what goes */

static void send_on(struct errand *s, unsigned char channel, str bytes)
{
    AUTO(buf) struct buf b = { 0 };

    buf_addc(&b, (char)channel);
    buf_add(&b, bytes);
    client_stream_send(s->stream, buf_str(&b));
}

static void on_input(void *ctx, str bytes)
{
    struct errand *s = ctx;

    if (bytes.n)
        send_on(s, CHANNEL_IN, bytes);
    else if (s->closes_input)
        send_on(s, CHANNEL_CLOSE, (str){ "\0", 1 });
    if (client_stream_queued(s->stream) > QUEUE_MOST)
        exec_input_pause(s->input, true);
}

static void on_drain(void *ctx)
{
    struct errand *s = ctx;

    if (s->input)
        exec_input_pause(s->input, false);
}

static void on_open(void *ctx, str protocol)
{
    struct errand *s = ctx;

    s->opened = true;
    s->closes_input = str_eq(protocol, S("v5.channel.k8s.io"));
    if (!s->closes_input && !str_eq(protocol, S("v4.channel.k8s.io"))) {
        struct err e = { 0 };
        err_set(&e, ERR_INTERNAL, "%s: speaks \"%" PRI_STR "\", which we do not",
                client_host(s->client), STR_ARG(protocol));
        fail(s, &e);
        return;
    }
    if (s->f->in)
        s->input = exec_input_start(s->loop, on_input, s);
}

/* ---- the way there */

static str container_of(const struct errand *s, jv pod)
{
    jv chosen = jv_at(pod, "metadata", "annotations", "kubectl.kubernetes.io/default-container");

    if (s->f->container)
        return str_of(s->f->container);
    if (jv_str(chosen, S("")).n)
        return jv_str(chosen, S(""));
    return jv_str(jv_at(jv_index(jv_at(pod, "spec", "containers"), 0), "name"), S(""));
}

static str path_of(const struct errand *s, jv pod)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("/api/v1/namespaces/"));
    url_encode(&b, s->ns);
    buf_add(&b, S("/pods/"));
    url_encode(&b, s->name);
    buf_add(&b, S("/exec?"));
    for (int i = 0; i < s->n_command; i++) {
        buf_add(&b, S("command="));
        url_encode(&b, str_of(s->command[i]));
        buf_addc(&b, '&');
    }
    buf_add(&b, S("container="));
    url_encode(&b, container_of(s, pod));
    buf_printf(&b, "%s&stdout=true&stderr=true", s->f->in ? "&stdin=true" : "");
    return arena_str(s->a, buf_str(&b));
}

static void find_pod(void *arg);

/* Nothing was started yet, so it may be tried again: a node that does not answer at once, rights
 * that are not known everywhere yet, a pod that was replaced. */
static void try_again(struct errand *s, const struct err *e)
{
    int64_t now_ms = loop_now_ms(s->loop);
    bool may_pass = e->code == ERR_UNAVAILABLE || e->code == ERR_INTERNAL ||
                    e->code == ERR_TIMEOUT || e->code == ERR_FORBIDDEN || e->code == ERR_NOT_FOUND;

    client_stream_free(TAKE(s->stream));
    if (!s->gives_up_ms)
        s->gives_up_ms = now_ms + RETRY_MS;
    if (!s->f->wait || !may_pass || now_ms >= s->gives_up_ms)
        fail(s, e);
    else
        s->timer = loop_timer_start(s->loop, AGAIN_MS, 0, find_pod, s);
}

static void on_pod(void *ctx, jv pod, const struct err *e)
{
    static const struct client_stream_handler handler = {
        .on_open = on_open, .on_message = on_message, .on_drain = on_drain, .on_end = on_end
    };
    struct errand *s = ctx;
    struct client_stream_handler h = handler;
    struct err why = { 0 };

    if (e) {
        fail(s, e);
        return;
    }
    h.ctx = s;
    str path = path_of(s, pod);
    exec_pod_free(TAKE(s->pod));
    s->stream =
        client_stream_open(s->client, path, "v5.channel.k8s.io, v4.channel.k8s.io", &h, &why);
    if (!s->stream)
        try_again(s, &why);
}

static void find_pod(void *arg)
{
    struct errand *s = arg;

    loop_timer_stop(TAKE(s->timer));
    s->pod = exec_pod_find(s->loop, client_api(s->client),
                           &(struct exec_wanted){ s->ns, s->name, s->f->wait, s->f->absent_ms },
                           on_pod, s);
}

/* ---- */

static int exec_there(const struct flags *f, char **words, int n)
{
    struct session session;
    struct errand s = { .f = f, .command = words + 1, .n_command = n - 1 };
    int code = session_open(&session, &f->session);

    if (code < 0) {
        s.loop = session.loop;
        s.client = session.client;
        s.a = session.a;
        s.ns = session.ns;
        s.name = str_starts(str_of(words[0]), S("pod/")) ? str_of(words[0] + 4) : str_of(words[0]);
        find_pod(&s);
        code = session_wait(&session, &s.done);
        if (!s.done)
            finish(&s, code);
        code = s.code;
    }
    session_close(&session);
    return code;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { .absent_ms = ABSENT_MS };
    struct err e = { 0 };
    char **words = NULL;
    int n = 0;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (f.install && n == 0)
        return exec_install(f.install, &e) < 0 ? command_fail(EXIT_FAILED, "%s", e.msg) : EXIT_DONE;
    if (f.install)
        return command_fail(EXIT_USAGE, "exec --install takes no pod");
    if (n < 2) {
        command_fail(EXIT_USAGE, "exec needs a pod and a command");
        return command_usage(c);
    }
    return exec_there(&f, words, n);
}

const struct command command_exec = {
    .name = "exec",
    .summary = "run a command in a pod",
    .help = "Usage: muster exec [OPTION]... POD -- COMMAND [ARG]...\n"
            "       muster exec --install DIR\n"
            "\n"
            "Runs a command in a container of a pod, on any cluster, and prints its output. Exits\n"
            "with the exit code of the command, or with 1 if the command could not be run.\n",
    .options = options,
    .operands = OPERANDS_RESOURCES,
    .run = run,
};
