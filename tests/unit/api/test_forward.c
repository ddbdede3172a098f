/* Connections to a pod's ports: one that listens, one that does not, and a client that is slow. */

#include "api/stream/forward.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop *l;
static int listening = -1, deaf = -1; /* the second only holds its port */
static int at[2]; /* where attempts lead to; 0: nowhere, -1: there is no such network */

static int bound(int *port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        abort();
    *port = ntohs(a.sin_port);
    return fd;
}

static int dial(void *ctx, const struct api_pod *pod, const struct api_dial_to *how,
                struct api_dial **later, struct err *e)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int attempt = how->attempt;

    (void)ctx;
    (void)pod;
    (void)later;
    if (attempt > 1 || !at[attempt])
        return err_set(e, ERR_NOT_FOUND, "no further address");
    if (at[attempt] < 0) {
        errno = EADDRNOTAVAIL;
        return err_sys(e, "connect");
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    to.sin_port = htons((uint16_t)at[attempt]);
    if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS)
        return fd;
    err_sys(e, "connect");
    close(fd);
    return -1;
}

struct test {
    struct buf got;
    bool takes;
    bool ended;
    char why[600];
};

static bool takes(void *ctx)
{
    const struct test *t = ctx;

    return t->takes;
}

static void on_bytes(void *ctx, str bytes)
{
    struct test *t = ctx;

    buf_add(&t->got, bytes);
}

static void on_room(void *ctx)
{
    (void)ctx;
}

static void on_end(void *ctx, str why)
{
    struct test *t = ctx;

    t->ended = true;
    snprintf(t->why, sizeof(t->why), "%" PRI_STR, STR_ARG(why));
}

static const struct api_pods pods = { .dial = dial };
static const struct api_pod pod = { .name = S_INIT("x") };

static struct forward_link *open_link(struct test *t)
{
    return forward_link_new(&(struct forward_link_opts){ .loop = l,
                                                         .pods = &pods,
                                                         .pod = &pod,
                                                         .port = 80,
                                                         .takes = takes,
                                                         .on_bytes = on_bytes,
                                                         .on_room = on_room,
                                                         .on_end = on_end,
                                                         .ctx = t });
}

static void turn(void)
{
    loop_turn(l);
}

static void bytes_go_both_ways(void)
{
    struct test t = { .takes = true };
    char text[16] = "";

    at[0] = 0;
    struct forward_link *f = open_link(&t);
    forward_link_free(f);        /* before anything happened */
    int refuses = bound(&at[0]); /* nobody listens there; the next one answers */
    f = open_link(&t);
    forward_link_send(f, S("hello"));
    forward_link_send_end(f);
    while (forward_link_waiting(f))
        turn();
    int theirs = accept(listening, NULL, NULL);
    is_int(recv(theirs, text, 5, MSG_WAITALL), 5, "what was sent before it was connected arrives");
    is_int(recv(theirs, text + 5, 1, 0), 0, "and its end, once the rest is through");
    is_int(send(theirs, "good day", 8, 0), 8, "an answer");
    while (t.got.n < 8)
        turn();
    is_str(buf_str(&t.got), S("good day"), "comes back");
    ok(!t.ended, "it goes on");
    close(theirs);
    close(refuses);
    while (!t.ended)
        turn();
    is_str(str_of(t.why), S(""), "until the pod ends it");
    forward_link_free(f);
    buf_done(&t.got);
}

static void nobody_listens(void)
{
    struct test t = { .takes = true };
    int port;

    deaf = bound(&port);
    at[0] = port;
    int kept = at[1];
    for (int other = -1; other <= 0; other++) {
        t.ended = false;
        at[1] = other;
        struct forward_link *f = open_link(&t);
        ok(!t.ended, "nothing is told from within");
        while (!t.ended)
            turn();
        is_str(str_of(t.why),
               S("failed to connect to localhost:80 inside the pod: connection refused"),
               "a port that nobody listens on");
        forward_link_free(f);
    }
    close(deaf);
    at[1] = kept;
}

static void a_slow_client_holds_the_pod_up(void)
{
    enum { ALL = 8 * 1024 * 1024 };
    struct test t = { .takes = false };
    char *much = calloc(1, ALL);
    size_t sent = 0;

    at[0] = at[1];
    struct forward_link *f = open_link(&t);
    forward_link_send(f, S("?"));
    while (forward_link_waiting(f))
        turn();
    int theirs = accept(listening, NULL, NULL);
    is_int(recv(theirs, much, 1, MSG_WAITALL), 1, "a question");
    fcntl(theirs, F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = send(theirs, much, ALL - sent, 0)) > 0;)
        sent += (size_t)n;
    ok(sent < ALL, "the pod cannot write it all");
    is_int((int64_t)t.got.n, 0, "as nothing is read");
    t.takes = true;
    forward_link_resume(f);
    while (sent < ALL) {
        ssize_t n = send(theirs, much, ALL - sent, 0);
        if (n > 0)
            sent += (size_t)n;
        turn();
    }
    close(theirs);
    while (!t.ended)
        turn();
    is_int((int64_t)t.got.n, ALL, "now it is, to the end");
    forward_link_free(f);
    buf_done(&t.got);
    free(much);
}

static int ports_of(struct arena *a, str query, int *out, size_t *n, struct err *e)
{
    struct target t;

    return target_read(a, S("GET"), S("/"), query, &t, e) < 0 ? -1 : forward_ports(&t, out, n, e);
}

static void ports_are_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    int out[FORWARD_PORTS];
    size_t n;
    struct err e = { 0 };

    is_int(ports_of(a, S("ports=80%2C443&x=1&ports=8080"), out, &n, &e), 0, "ports");
    ok(n == 3 && out[0] == 80 && out[1] == 443 && out[2] == 8080, "all of them");
    static const struct {
        const char *query, *why;
    } wrong[] = {
        { "", "query parameter \"ports\" is required" },
        { "ports=", "unable to parse \"\" as a port" },
        { "ports=0", "unable to parse \"0\" as a port" },
        { "ports=65536", "unable to parse \"65536\" as a port" },
        { "ports=80,x", "unable to parse \"x\" as a port" },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        is_int(ports_of(a, str_of(wrong[i].query), out, &n, &e), -1, wrong[i].query);
        is_str(str_of(e.msg), str_of(wrong[i].why), "and why");
    }
    AUTO(buf) struct buf b = { 0 };
    buf_add(&b, S("ports=1"));
    for (int i = 0; i < FORWARD_PORTS; i++)
        buf_add(&b, S(",1"));
    is_int(ports_of(a, buf_str(&b), out, &n, &e), -1, "too many");
}

int main(void)
{
    l = loop_new();
    listening = bound(&at[1]);
    listen(listening, 8);
    bytes_go_both_ways();
    nobody_listens();
    a_slow_client_holds_the_pod_up();
    ports_are_read();
    close(listening);
    loop_stop(l);
    loop_run(l);
    loop_free(l);
    return tap_done();
}
