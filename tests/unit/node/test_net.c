/* The hub: addresses of pods, their ways to each other, and what remains of it all. */

#include "node/net.h"
#include "node/net_hub.h"
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 23456, MANY = 100 };

struct place {
    struct rig_pod *pod;
    struct net *net;
    char ip[NET_IP_TEXT];
    char uid[40];
};

/* ---- the pieces */

static void pod_json(struct rig *r, struct arena *a, int n, struct place *p, jv *pod)
{
    (void)r;
    snprintf(p->uid, sizeof(p->uid), "pod-%d-%d", (int)getpid(), n);
    jv meta =
        jobj(a, { "name", jstrz(a, "some-pod") }, { "uid", jstr(a, arena_str(a, str_of(p->uid))) });
    *pod = jobj(a, { "metadata", meta });
}

static bool attach(struct rig *r, struct arena *a, struct net *net, int n, struct place *p, jv *how)
{
    const struct node_net *nn = net_node(net);
    struct err e = { 0 };
    jv pod, mounts = JV_EMPTY_ARR;

    *p = (struct place){ .net = net };
    pod_json(r, a, n, p, &pod);
    if (nn->attach(nn->ctx, a, pod, how, &mounts, &e) < 0) {
        printf("# attach: %s\n", e.msg);
        return false;
    }
    snprintf(p->ip, sizeof(p->ip), "%" PRI_STR, STR_ARG(jv_str(jv_at(*how, "ip"), S(""))));
    return true;
}

static struct place begin(struct rig *r, struct arena *a, struct net *net, int n)
{
    struct place p;
    jv how = JV_ABSENT;

    if (!attach(r, a, net, n, &p, &how))
        printf("Bail out! pod %d has no network\n", n), exit(1);
    p.pod = rig_pod(r, n, json_text(a, jobj(a, { "net", how })).p);
    if (!rig_wait(r, &p.pod->hello))
        printf("Bail out! pod %d is not up: %s\n", n, rig_last(p.pod, RUNTIME_FAILED)->why),
            exit(1);
    return p;
}

static void finish(struct place *p)
{
    const struct node_net *nn = net_node(p->net);

    rig_end(p->pod, 0);
    free(p->pod);
    nn->detach(nn->ctx, str_of(p->uid));
}

static struct net *open_net(struct rig *r, bool ephemeral)
{
    struct net *n = NULL;
    struct err e = { 0 };

    if (net_new(&n, &(struct net_opts){ .loop = r->loop, .data = r->dir, .ephemeral = ephemeral },
                &e) < 0)
        printf("Bail out! %s\n", e.msg), exit(1);
    return n;
}

static bool says(struct rig *r, const struct place *p, const char *text)
{
    for (int i = 0; i < 3000; i++) {
        AUTO(arena) struct arena *a = arena_new();
        if (str_contains(rig_log(a, p->pod), str_of(text)))
            return true;
        rig_turn(r);
        usleep(10000);
    }
    AUTO(arena) struct arena *a = arena_new();
    printf("# it says: %" PRI_STR "\n", STR_ARG(rig_log(a, p->pod)));
    return false;
}

/* Listens on every address of its own, answers each who comes with its name. */
static void serve(struct place *p, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    rig_start(p->pod,
              arena_printf(a,
                           "exec perl -MIO::Socket::INET -e '$|=1; $s=IO::Socket::INET->new("
                           "LocalAddr=>\"0.0.0.0\",LocalPort=>%d,Listen=>5,ReuseAddr=>1) or die; "
                           "print \"listening\\n\"; while($c=$s->accept){print \"from \","
                           "$c->peerhost,\"\\n\"; print $c \"I am %s\\n\"; close $c}'",
                           PORT, name)
                  .p,
              NULL);
}

static void ask(struct place *p, const char *ip)
{
    AUTO(arena) struct arena *a = arena_new();

    rig_start(p->pod,
              arena_printf(a,
                           "exec perl -MIO::Socket::INET -e '$|=1; for(1..600){$c=IO::Socket::INET"
                           "->new(PeerAddr=>\"%s\",PeerPort=>%d,Timeout=>20) and last; "
                           "select(undef,undef,undef,.05)} print \"heard \",scalar(<$c>),\"\\n\"'",
                           ip, PORT)
                  .p,
              "{'name': 'asker'}");
}

/* From here, through a socket of the hub's. */
static bool hears(struct net *net, const char *ip, const char *text)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    struct err e = { 0 };
    char got[64] = "";
    int fd = net_socket(net, &e);

    inet_pton(AF_INET, ip, &to.sin_addr);
    if (fd < 0 ||
        (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)) {
        printf("# %s\n", fd < 0 ? e.msg : strerror(errno));
        return false;
    }
    poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 30 * 1000);
    ssize_t n = read(fd, got, sizeof(got) - 1);
    close(fd);
    return n > 0 && strncmp(got, text, strlen(text)) == 0;
}

/* ---- claims */

static void pods_have_addresses_and_reach_each_other(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    struct place one = begin(r, a, net, 1), two = begin(r, a, net, 2);

    ok(strcmp(one.ip, two.ip) != 0, "%s and %s", one.ip, two.ip);
    serve(&one, "one");
    serve(&two, "two");
    ok(says(r, &one, "listening") && says(r, &two, "listening"),
       "both listen on the same port of every address");
    ok(hears(net, one.ip, "I am one") && hears(net, two.ip, "I am two"),
       "the node reaches both through the hub");
    ask(&one, two.ip);
    ask(&two, one.ip);
    ok(says(r, &one, "heard I am two") && says(r, &two, "heard I am one"), "they reach each other");
    ok(says(r, &two, arena_printf(a, "from %s", one.ip).p), "and see whom they speak with");
    finish(&one);
    finish(&two);
}

static void a_pod_sees_its_own_links_only(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    struct place p = begin(r, a, net, 3);

    rig_start(p.pod, "cat /proc/net/dev /proc/net/fib_trie; echo end", NULL);
    ok(says(r, &p, "end"), "it looks at its network");
    str log = rig_log(a, p.pod);
    ok(str_contains(log, S("eth0:")) && str_contains(log, S("lo:")) &&
           !str_contains(log, S("pod")) && str_contains(log, str_of(p.ip)),
       "lo, eth0 and its address");
    finish(&p);
}

static void many_are_attached_quickly(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct node_net *nn = net_node(net);
    static struct place at[MANY];
    int64_t then = boot_now_ms(), good = 0;
    jv how;

    for (int i = 0; i < MANY; i++)
        good += attach(r, a, net, 100 + i, &at[i], &how);
    int64_t attached = boot_now_ms();
    is_int(good, MANY, "a hundred are attached");
    ok(strcmp(at[0].ip, at[1].ip) != 0 && strcmp(at[0].ip, at[MANY - 1].ip) != 0, "each elsewhere");
    for (int i = 0; i < MANY; i++)
        nn->detach(nn->ctx, str_of(at[i].uid));
    ok(attach(r, a, net, 999, &at[0], &how), "and let go");
    printf("# attached in %d ms, let go in %d ms\n", (int)(attached - then),
           (int)(boot_now_ms() - attached));
    nn->detach(nn->ctx, str_of(at[0].uid));
}

static void n2_the_hub_goes_with_its_last_pod(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *net = open_net(r, false);
    struct place p = begin(r, a, net, 4);
    char before[NET_IP_TEXT];

    serve(&p, "it");
    ok(says(r, &p, "listening"), "a pod runs");
    net_free(net);
    ok(rig_processes(r->dir) > 0, "the node goes, the hub stays");
    net = open_net(r, false);
    snprintf(before, sizeof(before), "%s", p.ip);
    ok(hears(net, before, "I am it"), "the next node finds it, and the pod");
    p.net = net;
    finish(&p);
    net_free(net);
    AUTO(arena) struct arena *b = arena_new();
    ok(rig_processes_are(arena_printf(b, "hub%c%s", 0, r->dir).p, 0), "no pod, no hub");
}

int main(int argc, char **argv)
{
    struct rig r;

    if (argc > 1 && strcmp(argv[1], "hub") == 0)
        return net_hub_main(argc - 1, argv + 1);
    rig_main(argc, argv, &r);
    struct net *net = open_net(&r, false);
    ok(strlen(net_gateway(net)) > 6, "the gateway is %s", net_gateway(net));
    pods_have_addresses_and_reach_each_other(&r, net);
    a_pod_sees_its_own_links_only(&r, net);
    many_are_attached_quickly(&r, net);
    net_free(net);
    ok(rig_processes(r.dir) == 0 || rig_processes_are(r.dir, 0), "nothing runs");
    n2_the_hub_goes_with_its_last_pod(&r);
    rig_done(&r);
    return tap_done();
}
