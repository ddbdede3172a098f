/* The hub's inner process: answers requests, one JSON line each, and goes when it is not needed.
 * What it hands out, namespaces and sockets, is of its own namespaces. */

#include "node/net_hub.h"
#include "node/warden_line.h"
#include "node/warden_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONNS = 8,
    SWEEP_MS = 5 * 1000,  /* while no node is there */
    YOUNG_MS = 30 * 1000, /* may not have a process yet */
};

struct serve {
    struct net_hub *h;
    struct net_pods pods;
    struct warden_wire conns[CONNS];
    size_t nconns;
    int64_t alone_at; /* since when no node is there; 0: one is */
};

/* ---- requests */

static jv place(struct serve *s, struct arena *a, const struct net_pod *pod)
{
    char ip[NET_IP_TEXT];
    str ns = pod->ns < 0 ? STR_NONE : arena_printf(a, "/proc/%d/fd/%d", (int)getpid(), pod->ns);
    str user = arena_printf(a, "/proc/%d/ns/user", (int)getpid());

    return jobj(a, { "ip", jstr(a, arena_str(a, str_of(net_ip_text(pod->ip, ip)))) },
                { "ns", ns.n ? jstr(a, ns) : JV_ABSENT },
                { "user_ns", s->h->is_user ? jstr(a, user) : JV_ABSENT });
}

static jv do_attach(struct serve *s, struct arena *a, jv in, int *fd, struct err *e)
{
    const struct net_pod *pod = net_pods_attach(&s->pods, jv_str(jv_at(in, "uid"), S("")), e);

    (void)fd;
    return pod ? place(s, a, pod) : JV_ABSENT;
}

static jv do_detach(struct serve *s, struct arena *a, jv in, int *fd, struct err *e)
{
    (void)a;
    (void)fd;
    (void)e;
    net_pods_detach(&s->pods, jv_str(jv_at(in, "uid"), S("")));
    return JV_TRUE;
}

static int open_pod_ns(const struct serve *s, str uid)
{
    int64_t pid = net_hub_pod_pid(s->h->datafd, uid);
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    return pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static jv do_mend(struct serve *s, struct arena *a, jv in, int *fd, struct err *e)
{
    str uid = jv_str(jv_at(in, "uid"), S(""));
    const struct net_pod *pod = map_get(&s->pods.at, uid);
    uint32_t ip;

    (void)fd;
    if (pod)
        return place(s, a, pod);
    AUTO(warden_fd) int ns = open_pod_ns(s, uid);
    if (ns < 0 || !net_ip_read(jv_str(jv_at(in, "ip"), S("")), &ip)) {
        err_set(e, ERR_NOT_FOUND, "the pod's process is not there");
        return JV_ABSENT;
    }
    pod = net_pods_mend(&s->pods, uid, ip, ns, e);
    return pod ? place(s, a, pod) : JV_ABSENT;
}

static jv do_socket(struct serve *s, struct arena *a, jv in, int *fd, struct err *e)
{
    (void)s;
    (void)a;
    (void)in;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        err_sys(e, "socket");
    return *fd < 0 ? JV_ABSENT : JV_TRUE;
}

static jv do_count(struct serve *s, struct arena *a, jv in, int *fd, struct err *e)
{
    (void)in;
    (void)fd;
    (void)e;
    return jint(a, (int64_t)s->pods.at.n);
}

static const struct {
    const char *name;
    jv (*fn)(struct serve *s, struct arena *a, jv in, int *fd, struct err *e);
} requests[] = {
    { "attach", do_attach }, { "count", do_count },   { "detach", do_detach },
    { "mend", do_mend },     { "socket", do_socket },
};

static int answer(struct serve *s, struct warden_wire *w, str line)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(warden_fd) int fd = -1;
    struct err e = { 0 };
    jv in = json_parse(a, line, NULL, &e), out = JV_ABSENT, id = jv_at(in, "id");

    if (!jv_exists(in))
        return -1;
    for (size_t i = 0; i < COUNT(requests); i++)
        if (str_eqz(jv_str(jv_at(in, "do"), S("")), requests[i].name))
            out = requests[i].fn(s, a, in, &fd, &e);
    if (!jv_exists(id))
        return 0;
    return warden_wire_say(w,
                           jobj(a, { "id", id }, { "ok", out },
                                { "error", jv_exists(out) ? JV_ABSENT : jstr(a, str_of(e.msg)) }),
                           &fd, fd >= 0);
}

/* ---- connections */

static jv hello(struct serve *s, struct arena *a)
{
    char gateway[NET_IP_TEXT];

    net_ip_text(net_pool_gateway(&s->pods.pool), gateway);
    return jobj(a, { "hello", jobj(a, { "outer", jint(a, getppid()) },
                                   { "gateway", jstr(a, arena_str(a, str_of(gateway))) },
                                   { "pods", jint(a, (int64_t)s->pods.at.n) }) });
}

static void greet(struct serve *s, int fd)
{
    AUTO(arena) struct arena *a = arena_new();

    if (fd < 0)
        return;
    if (s->nconns == CONNS) {
        close(fd);
        return;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct warden_wire *w = &s->conns[s->nconns++];
    warden_wire_init(w, fd);
    warden_wire_say(w, hello(s, a), NULL, 0);
}

static void hang_up(struct serve *s, size_t i)
{
    warden_wire_done(&s->conns[i]);
    s->conns[i] = s->conns[--s->nconns];
}

static int listen_to(struct serve *s, struct warden_wire *w)
{
    int rc = warden_wire_fill(w, NULL);
    str line;

    while (warden_wire_line(w, &line))
        if (answer(s, w, line) < 0)
            return -1;
    warden_wire_used(w);
    return rc;
}

/* ---- pods that ended while no node looked */

static bool is_live(const struct serve *s, const struct net_pod *pod)
{
    AUTO(warden_fd) int ns = open_pod_ns(s, str_of(pod->uid));
    struct stat theirs, ours;

    if (pod->ns < 0 || ns < 0)
        return ns >= 0;
    return fstat(ns, &theirs) == 0 && fstat(pod->ns, &ours) == 0 && theirs.st_ino == ours.st_ino;
}

static void sweep(struct serve *s)
{
    if (warden_tick_ms() - s->alone_at < YOUNG_MS && faccessat(s->h->datafd, "pods", F_OK, 0) == 0)
        return;
    for (struct map_slot *at = NULL; (at = map_next(&s->pods.at, at));)
        if (!is_live(s, at->value))
            net_pods_detach(&s->pods, at->key);
}

/* Returns when nobody needs it any more. */
static void run(struct serve *s)
{
    while (s->nconns || (s->pods.at.n && !s->h->with_node)) {
        struct pollfd at[CONNS + 2] = { { .fd = s->h->listen, .events = POLLIN },
                                        { .fd = s->h->outer, .events = POLLIN } };
        size_t n = s->nconns;
        for (size_t i = 0; i < n; i++)
            at[i + 2] = (struct pollfd){
                .fd = s->conns[i].fd,
                .events = (short)(POLLIN | (warden_wire_waits(&s->conns[i]) ? POLLOUT : 0))
            };
        if (poll(at, n + 2, n ? -1 : SWEEP_MS) < 0 && errno != EINTR)
            return;
        if (at[1].revents)
            return;
        for (size_t i = n; i > 0; i--) {
            struct warden_wire *w = &s->conns[i - 1];
            bool gone = (at[i + 1].revents & POLLOUT) && warden_wire_flush(w) < 0;
            if (gone || ((at[i + 1].revents & ~POLLOUT) && listen_to(s, w) < 0))
                hang_up(s, i - 1);
        }
        if (at[0].revents)
            greet(s, accept4(s->h->listen, NULL, NULL, SOCK_CLOEXEC));
        if (s->nconns)
            s->alone_at = 0;
        else if (!s->alone_at)
            s->alone_at = warden_tick_ms();
        else
            sweep(s);
    }
}

void net_hub_serve(struct net_hub *h)
{
    struct serve *s = calloc(1, sizeof(*s));
    struct net_hub_facts facts = { 0 };
    struct err e = { 0 };

    if (!s || recv(h->outer, &facts, sizeof(facts), 0) != sizeof(facts))
        _exit(1);
    s->h = h;
    if (net_pods_init(&s->pods, facts.base, &e) < 0) {
        AUTO(arena) struct arena *a = arena_new();
        struct warden_wire w;
        warden_wire_init(&w, h->first);
        warden_wire_say(&w, jobj(a, { "failed", jstr(a, str_of(e.msg)) }), NULL, 0);
        _exit(1);
    }
    greet(s, h->first);
    run(s);
    _exit(0);
}
