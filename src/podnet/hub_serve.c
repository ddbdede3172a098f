/* The hub's inner process: answers requests, one JSON line each, and goes when it is not needed.
 * What it hands out, namespaces and sockets, is of its own namespaces. */

#include "base/mem.h"
#include "podnet/hub.h"
#include "podnet/hub_client.h"
#include "podnet/nft.h"
#include "podnet/services.h"
#include "sys/msgsock.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONNS = 8,
    SWEEP_MS = 2 * 1000,  /* while no node is there */
    YOUNG_MS = 30 * 1000, /* may not have a process yet */
};

struct serve {
    struct net_hub *h;
    struct net_pods pods;
    struct msgsock conns[CONNS];
    size_t nconns;
    struct net_egress egress;
    bool has_nft;
    bool no_spares;     /* the last one could not be made: told when a pod needs it */
    struct net_nft nft; /* at work on services */
    char *next_rules;   /* for when it is done; NULL: none */
    int64_t alone_at;   /* since when no node is there; 0: one is */
};

/* ---- requests */

struct given { /* with an answer */
    int fd;    /* -1: none */
};

static jv place(struct serve *s, struct arena *a, const struct net_pod *pod)
{
    char ip[NET_IP_TEXT];
    str ns = pod->ns < 0 ? STR_NONE : arena_printf(a, "/proc/%d/fd/%d", (int)getpid(), pod->ns);
    str user = arena_printf(a, "/proc/%d/ns/user", (int)getpid());

    return jobj(a, { "ip", jstr(a, arena_str(a, str_of(net_ip_text(pod->ip, ip)))) },
                { "ns", ns.n ? jstr(a, ns) : JV_ABSENT },
                { "user_ns", s->h->is_user ? jstr(a, user) : JV_ABSENT });
}

static jv do_attach(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e)
{
    const struct net_pod *pod = net_pods_attach(&s->pods, jv_str(jv_at(in, "uid"), S("")), e);

    (void)g;
    return pod ? place(s, a, pod) : JV_ABSENT;
}

static jv do_detach(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e)
{
    (void)a;
    (void)g;
    (void)e;
    net_pods_detach(&s->pods, jv_str(jv_at(in, "uid"), S("")));
    return JV_TRUE;
}

static int open_pod_ns(const struct serve *s, str uid)
{
    int64_t pid = net_hub_pod_pid(s->h->datafd, uid, NULL);
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    return pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static jv do_mend(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e)
{
    str uid = jv_str(jv_at(in, "uid"), S(""));
    const struct net_pod *pod = map_get(&s->pods.at, uid);
    uint32_t ip;

    (void)g;
    if (pod)
        return place(s, a, pod);
    AUTO(sys_fd) int ns = open_pod_ns(s, uid);
    if (ns < 0 || !net_ip_read(jv_str(jv_at(in, "ip"), S("")), &ip)) {
        err_set(e, ERR_NOT_FOUND, "the pod's process does not exist");
        return JV_ABSENT;
    }
    pod = net_pods_mend(&s->pods, uid, ip, ns, e);
    return pod ? place(s, a, pod) : JV_ABSENT;
}

/* Of our namespace, or that of the pod with this uid. */
static jv do_socket(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e)
{
    int family = jv_bool(jv_at(in, "six"), false) ? AF_INET6 : AF_INET;
    int type = (jv_bool(jv_at(in, "udp"), false) ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC |
               SOCK_NONBLOCK;
    str uid = jv_str(jv_at(in, "uid"), S(""));

    (void)a;
    if (!uid.n) {
        g->fd = socket(family, type, 0);
    } else {
        const struct net_pod *pod = map_get(&s->pods.at, uid);
        AUTO(sys_fd) int joined = pod && pod->ns < 0 ? open_pod_ns(s, uid) : -1;
        int ns = pod && pod->ns >= 0 ? pod->ns : joined;
        if (ns < 0) {
            err_set(e, ERR_NOT_FOUND, "the pod's process does not exist");
            return JV_ABSENT;
        }
        g->fd = net_pods_socket(&s->pods, ns, family, type);
    }
    if (g->fd < 0)
        err_sys(e, "socket");
    return g->fd < 0 ? JV_ABSENT : JV_TRUE;
}

static void set_rules(struct serve *s, str rules)
{
    struct err e = { 0 };

    if (s->nft.pid) {
        free(s->next_rules);
        s->next_rules = mem_room(rules.n + 1);
        memcpy(s->next_rules, rules.p, rules.n);
        s->next_rules[rules.n] = 0;
    } else if (net_nft_start(&s->nft, rules, &e) < 0) {
        fprintf(stderr, "services: %s\n", e.msg);
    }
}

static void rules_are_set(struct serve *s)
{
    char *next = TAKE(s->next_rules);
    struct err e = { 0 };

    if (net_nft_end(&s->nft, &e) < 0)
        fprintf(stderr, "services: %s\n", e.msg);
    if (next)
        set_rules(s, str_of(next));
    free(next);
}

static jv do_services(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e)
{
    (void)a;
    (void)g;
    (void)e;
    set_rules(s, jv_str(jv_at(in, "rules"), S("")));
    return JV_TRUE;
}

static jv do_count(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e)
{
    (void)in;
    (void)g;
    (void)e;
    return jint(a, (int64_t)s->pods.at.n);
}

static const struct {
    const char *name;
    jv (*fn)(struct serve *s, struct arena *a, jv in, struct given *g, struct err *e);
} requests[] = {
    { "attach", do_attach }, { "count", do_count },       { "detach", do_detach },
    { "mend", do_mend },     { "services", do_services }, { "socket", do_socket },
};

static int answer(struct serve *s, struct msgsock *w, str message)
{
    AUTO(arena) struct arena *a = arena_new();
    struct given given = { .fd = -1 };
    struct err e = { 0 };
    jv in = json_parse(a, message, NULL, &e), out = JV_ABSENT, id = jv_at(in, "id");

    if (!jv_exists(in))
        return -1;
    for (size_t i = 0; i < COUNT(requests); i++)
        if (str_eqz(jv_str(jv_at(in, "do"), S("")), requests[i].name))
            out = requests[i].fn(s, a, in, &given, &e);
    jv said = jobj(a, { "id", id }, { "ok", out }, { "fd", given.fd >= 0 ? JV_TRUE : JV_ABSENT },
                   { "error", jv_exists(out) ? JV_ABSENT : jstr(a, str_of(e.msg)) });
    int rc = jv_exists(id) ? net_hub_say(w, said, given.fd) : 0;
    if (given.fd >= 0)
        close(given.fd);
    return rc;
}

/* ---- connections */

static jv hello(struct serve *s, struct arena *a)
{
    char gateway[NET_IP_TEXT];

    net_ip_text(net_pool_gateway(&s->pods.pool), gateway);
    return jobj(a, { "hello", jobj(a, { "outer", jint(a, getppid()) },
                                   { "gateway", jstr(a, arena_str(a, str_of(gateway))) },
                                   { "egress", jbool(s->egress.way != NET_EGRESS_NONE) },
                                   { "words", jstr(a, str_of(s->egress.words)) },
                                   { "services", jbool(s->has_nft) },
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
    struct msgsock *w = &s->conns[s->nconns++];
    msgsock_init(w, fd);
    net_hub_say(w, hello(s, a), -1);
}

static void hang_up(struct serve *s, size_t i)
{
    msgsock_done(&s->conns[i]);
    s->conns[i] = s->conns[--s->nconns];
}

static int listen_to(struct serve *s, struct msgsock *w)
{
    int rc = msgsock_fill(w, NULL);
    str message;

    while (msgsock_next(w, &message))
        if (answer(s, w, message) < 0)
            return -1;
    return rc < 0 ? rc : msgsock_used(w, NULL);
}

/* ---- pods that ended while no node looked */

static bool is_live(const struct serve *s, const struct net_pod *pod)
{
    AUTO(sys_fd) int ns = open_pod_ns(s, str_of(pod->uid));
    struct stat theirs, ours;

    if (pod->ns < 0 || ns < 0)
        return ns >= 0;
    return fstat(ns, &theirs) == 0 && fstat(pod->ns, &ours) == 0 && theirs.st_ino == ours.st_ino;
}

/* Its directory is there, but nothing has begun in it. */
static bool is_new(const struct serve *s, str uid)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *dir = arena_printf(a, "pods/%" PRI_STR, STR_ARG(uid)).p;
    const char *state = arena_printf(a, "pods/%" PRI_STR "/state", STR_ARG(uid)).p;

    return faccessat(s->h->datafd, dir, F_OK, 0) == 0 &&
           faccessat(s->h->datafd, state, F_OK, 0) < 0;
}

static void sweep(struct serve *s)
{
    bool early = sys_tick_ms() - s->alone_at < YOUNG_MS;

    MAP_EACH (at, &s->pods.at)
        if (!is_live(s, at->value) && !(early && is_new(s, at->key)))
            net_pods_detach(&s->pods, at->key);
}

static void look_after(struct serve *s)
{
    if (s->nconns)
        s->alone_at = 0;
    else if (!s->alone_at)
        s->alone_at = sys_tick_ms();
    else
        sweep(s);
}

/* Returns when nobody needs it any more. */
static void run(struct serve *s)
{
    enum { LISTEN, OUTER, NFT, FIRST };

    while (s->nconns || (s->pods.at.n && !s->h->with_node)) {
        struct pollfd at[CONNS + FIRST] = {
            { .fd = s->h->listen, .events = POLLIN },
            { .fd = s->h->outer, .events = POLLIN },
            { .fd = s->nft.pid ? s->nft.pidfd : -1, .events = POLLIN },
        };
        size_t n = s->nconns;
        for (size_t i = 0; i < n; i++)
            at[i + FIRST] = (struct pollfd){
                .fd = s->conns[i].fd,
                .events = (short)(POLLIN | (msgsock_waits(&s->conns[i]) ? POLLOUT : 0))
            };
        bool idle = n && s->pods.nspares == NET_SPARES;
        int came = poll(at, n + FIRST, !n ? SWEEP_MS : idle || s->no_spares ? -1 : 0);
        if (came < 0 && errno != EINTR)
            return;
        if (came == 0 && n) { /* nothing else to do */
            s->no_spares = net_pods_spare(&s->pods, NULL) < 0;
            continue;
        }
        if (at[OUTER].revents)
            return;
        if (at[NFT].revents)
            rules_are_set(s);
        for (size_t i = n; i > 0; i--) {
            struct msgsock *w = &s->conns[i - 1];
            short got = at[i - 1 + FIRST].revents;
            bool gone = (got & POLLOUT) && msgsock_flush(w) < 0;
            if (gone || ((got & ~POLLOUT) && listen_to(s, w) < 0))
                hang_up(s, i - 1);
        }
        if (at[LISTEN].revents)
            greet(s, accept4(s->h->listen, NULL, NULL, SOCK_CLOEXEC));
        look_after(s);
    }
}

/* ---- beginning and end */

/* Addresses of pods that live, and whose hub has died: no other may answer there before they are
 * mended, or what they have open would be cut. */
static void keep_addresses(struct serve *s)
{
    int dir = openat(s->h->datafd, "pods", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = dir < 0 ? NULL : fdopendir(dir);

    for (struct dirent *at; d && (at = readdir(d));) {
        uint32_t ip = 0;
        int64_t pid =
            at->d_name[0] == '.' ? -1 : net_hub_pod_pid(s->h->datafd, str_of(at->d_name), &ip);
        if (pid > 0 && ip)
            net_pods_keep(&s->pods, ip);
    }
    if (d)
        closedir(d);
}

static int set_up(struct serve *s, struct err *e)
{
    struct net_hub_facts facts = { 0 };
    struct net_nft try;
    struct err why = { 0 };
    int tried = net_nft_start(&try, S("table ip services\n"), &why);

    if (recv(s->h->outer, &facts, sizeof(facts), 0) != sizeof(facts))
        _exit(1); /* it has said why */
    s->has_nft = tried == 0 && net_nft_end(&try, &why) == 0;
    if (!s->has_nft)
        fprintf(stderr, "no ClusterIPs: %s\n", why.msg);
    if (net_pods_init(&s->pods, facts.base, e) < 0)
        return -1;
    keep_addresses(s);
    if (net_pods_spare(&s->pods, e) < 0) /* so that it is known whether pods can be had at all */
        return -1;
    s->egress = facts.egress;
    if (net_egress_inside(&s->egress, &why) < 0) {
        snprintf(s->egress.words, sizeof(s->egress.words), "%.150s", why.msg);
        s->egress.way = NET_EGRESS_NONE;
    }
    return 0;
}

void net_hub_serve(struct net_hub *h)
{
    struct serve *s = mem_new(sizeof(*s));
    struct err e = { 0 };

    s->h = h;
    if (set_up(s, &e) < 0) {
        AUTO(arena) struct arena *a = arena_new();
        struct msgsock w;
        msgsock_init(&w, h->first);
        net_hub_say(&w, jobj(a, { "failed", jstr(a, str_of(e.msg)) }), -1);
        _exit(1);
    }
    greet(s, h->first);
    run(s);
    /* In case that the outer process was killed: it does the same. */
    if (h->is_user || setns(h->home, CLONE_NEWNET) == 0)
        net_egress_stop(&s->egress);
    _exit(0);
}
