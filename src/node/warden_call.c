/* Execs as the node sees them: with their output gathered (probes, hooks), or with descriptors of
 * the caller's own. */

#include "node/warden_internal.h"

#include "base/mem.h"
#include "loop/watchdog.h"
#include "node/warden_record.h"
#include "sys/record.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void on_closed(uv_handle_t *h)
{
    struct warden_call *c = h->data;

    buf_done(&c->out);
    free(c);
}

static void unlink_call(struct warden_call *c)
{
    struct warden_call **at = &c->pod->calls;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

/* Out of the list already. */
static void call_free(struct warden_call *c)
{
    loop_timer_stop(TAKE(c->timer));
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->captured) {
        uv_close((uv_handle_t *)&c->read, on_closed);
        return;
    }
    buf_done(&c->out);
    free(c);
}

static void tell(struct warden_call *c)
{
    if (c->on_fd) {
        int fd = c->fd;
        c->fd = -1;
        c->on_fd(c->o.ctx, fd, str_of(c->why));
        return;
    }
    if (!c->captured) {
        if (c->o.on_exit)
            c->o.on_exit(c->o.ctx, c->code, str_of(c->why));
        return;
    }
    warden_pod_tell(c->pod, &(struct runtime_event){
                                .what = RUNTIME_EXEC_EXITED,
                                .id = c->their_id,
                                .code = c->timed_out ? RUNTIME_EXEC_TIMED_OUT : c->code,
                                .out = c->out.n ? buf_str(&c->out) : str_of(c->why),
                                .why = str_of(c->why),
                            });
}

static void finish(struct warden_call *c)
{
    unlink_call(c);
    tell(c);
    call_free(c);
}

/* The end of what it prints is kept. */
static void drain(struct warden_call *c)
{
    char text[4096];

    for (;;) {
        ssize_t n = read(c->fd, text, sizeof(text));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            uv_poll_stop(&c->read);
        if (n <= 0)
            return;
        buf_add(&c->out, (str){ text, (size_t)n });
        if (c->out.n > RUNTIME_EXEC_OUT) {
            size_t over = c->out.n - RUNTIME_EXEC_OUT;
            memmove(c->out.p, c->out.p + over, RUNTIME_EXEC_OUT);
            c->out.n = RUNTIME_EXEC_OUT;
        }
    }
}

static void on_output(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    (void)status;
    (void)events;
    drain(h->data);
}

static void on_timeout(void *arg)
{
    struct warden_call *c = arg;

    c->timed_out = true;
    warden_exec_stop(c->pod, c->id);
}

static struct warden_call *call_new(struct runtime_pod *p, const struct warden_exec_opts *o)
{
    struct warden_call *c = mem_new(sizeof(*c));

    c->pod = p;
    c->id = ++p->rt->last_id;
    c->o = *o;
    c->fd = -1;
    c->next = p->calls;
    p->calls = c;
    return c;
}

static void send_call(const struct warden_call *c, const int *fds)
{
    AUTO(buf) struct buf b = { 0 };
    const struct warden_exec_opts *o = &c->o;

    record_put(&b, { "do", .text = "exec" }, { "id", .number = (int64_t)c->id },
               { "tty", .number = o->tty }, { "rows", .number = o->rows },
               { "cols", .number = o->cols });
    record_add(&b, "container", o->container);
    warden_record_add(&b, "argv", o->argv);
    warden_record_add(&b, "env", o->env);
    warden_pod_say(c->pod, &b, fds, o->tty ? 0 : 3);
}

uint64_t warden_exec_start(struct runtime_pod *p, const struct warden_exec_opts *o)
{
    struct warden_call *c = call_new(p, o);

    send_call(c, o->fds);
    c->o.argv = c->o.env = JV_ABSENT;
    c->o.container = STR_NONE;
    return c->id;
}

void warden_exec_stop(struct runtime_pod *p, uint64_t id)
{
    AUTO(buf) struct buf b = { 0 };

    record_put(&b, { "do", .text = "exec_kill" }, { "id", .number = (int64_t)id });
    warden_pod_say(p, &b, NULL, 0);
}

uint64_t warden_input_open(struct runtime_pod *p, str container,
                           void (*on_fd)(void *ctx, int fd, str why), void *ctx)
{
    AUTO(buf) struct buf b = { 0 };
    struct warden_call *c = call_new(p, &(struct warden_exec_opts){ .ctx = ctx });

    c->on_fd = on_fd;
    record_put(&b, { "do", .text = "input" }, { "id", .number = (int64_t)c->id });
    record_add(&b, "container", container);
    warden_pod_say(p, &b, NULL, 0);
    return c->id;
}

void warden_input_end(struct runtime_pod *p, str container)
{
    AUTO(buf) struct buf b = { 0 };

    record_add(&b, "do", S("input_end"));
    record_add(&b, "container", container);
    warden_pod_say(p, &b, NULL, 0);
}

void warden_call_captured(struct runtime_pod *p, uint64_t id, str container, jv argv,
                          int64_t timeout_ms)
{
    struct warden_exec_opts o = { .container = container, .argv = argv };
    struct warden_call *c = call_new(p, &o);
    int ends[2] = { -1, -1 };
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    c->their_id = id;
    c->captured = true;
    if (pipe2(ends, O_CLOEXEC) < 0)
        ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC); /* then without its output */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    c->fd = ends[0];
    uv_poll_init(loop_uv(p->rt->loop), &c->read, c->fd);
    c->read.data = c;
    uv_poll_start(&c->read, UV_READABLE | UV_DISCONNECT, on_output);
    send_call(c,
              (const int[]){ null, ends[1] >= 0 ? ends[1] : null, ends[1] >= 0 ? ends[1] : null });
    c->o.argv = JV_ABSENT;
    c->o.container = STR_NONE;
    close(null);
    if (ends[1] >= 0)
        close(ends[1]);
    if (timeout_ms > 0)
        c->timer = loop_timer_start(p->rt->loop, timeout_ms, 0, on_timeout, c);
}

static struct warden_call *find(const struct runtime_pod *p, uint64_t id)
{
    for (struct warden_call *c = p->calls; c; c = c->next)
        if (c->id == id)
            return c;
    return NULL;
}

static void ignore(void *ctx, int fd, str why)
{
    (void)ctx;
    (void)why;
    if (fd >= 0)
        close(fd);
}

void warden_input_cancel(struct runtime_pod *p, uint64_t id)
{
    struct warden_call *c = find(p, id);

    if (c && c->on_fd)
        c->on_fd = ignore;
}

void warden_call_tty(struct runtime_pod *p, uint64_t id, int fd)
{
    struct warden_call *c = find(p, id);

    if (c && c->on_fd && c->fd < 0)
        c->fd = fd;
    else if (c && c->o.on_tty)
        c->o.on_tty(c->o.ctx, fd);
    else if (fd >= 0)
        close(fd);
}

void warden_call_exited(struct runtime_pod *p, uint64_t id, int code, str why)
{
    struct warden_call *c = find(p, id);

    if (!c)
        return;
    c->code = code;
    str_clip_z(c->why, sizeof(c->why), why);
    if (c->captured)
        drain(c); /* what a child of its own may still print is not waited for */
    finish(c);
}

void warden_calls_end(struct runtime_pod *p, bool told)
{
    while (p->calls) {
        struct warden_call *c = p->calls;
        p->calls = c->next;
        c->code = 137;
        snprintf(c->why, sizeof(c->why), "the pod ended");
        if (told)
            tell(c);
        call_free(c);
    }
}
