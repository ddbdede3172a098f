/* The hub: addresses of pods, their ways to each other, and what remains of it all. */

#include "netrig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MANY = 100, PATIENCE_MS = 60 * 1000 };

static void pods_have_addresses_and_reach_each_other(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    struct place one = netrig_begin(r, a, net, 1), two = netrig_begin(r, a, net, 2);

    ok(strcmp(one.ip, two.ip) != 0, "%s and %s", one.ip, two.ip);
    netrig_serve(&one, "one");
    netrig_serve(&two, "two");
    ok(netrig_says(r, &one, "listening") && netrig_says(r, &two, "listening"),
       "both listen on the same port of every address");
    ok(netrig_hears(net, one.ip, "I am one") && netrig_hears(net, two.ip, "I am two"),
       "the node reaches both through the hub");
    netrig_ask(&one, "asker", two.ip, NETRIG_PORT);
    netrig_ask(&two, "asker", one.ip, NETRIG_PORT);
    ok(netrig_says(r, &one, "heard I am two") && netrig_says(r, &two, "heard I am one"),
       "they reach each other");
    ok(netrig_says(r, &two, arena_printf(a, "from %s", one.ip).p), "and see whom they speak with");
    netrig_finish(&one);
    netrig_finish(&two);
}

static void a_pod_sees_its_own_links_only(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    struct place p = netrig_begin(r, a, net, 3);

    rig_start(p.pod, "cat /proc/net/dev /proc/net/fib_trie; echo end", NULL);
    ok(netrig_says(r, &p, "end"), "it looks at its network");
    str log = rig_log(a, p.pod);
    ok(str_contains(log, S("eth0:")) && str_contains(log, S("lo:")) &&
           !str_contains(log, S("pod")) && str_contains(log, str_of(p.ip)),
       "lo, eth0 and its address");
    netrig_finish(&p);
}

static void many_are_attached_quickly(struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct pod_network *nn = net_pod_network(net);
    static struct place at[MANY];
    int64_t then = boot_now_ms(), good = 0;
    jv how;

    for (int i = 0; i < MANY; i++)
        good += netrig_attach(a, net, 100 + i, &at[i], &how);
    int64_t attached = boot_now_ms();
    is_int(good, MANY, "a hundred are attached");
    ok(strcmp(at[0].ip, at[1].ip) != 0 && strcmp(at[0].ip, at[MANY - 1].ip) != 0, "each elsewhere");
    for (int i = 0; i < MANY; i++)
        nn->detach(nn->ctx, str_of(at[i].uid));
    ok(netrig_attach(a, net, 999, &at[0], &how), "and let go");
    printf("# attached in %d ms, let go in %d ms\n", (int)(attached - then),
           (int)(boot_now_ms() - attached));
    nn->detach(nn->ctx, str_of(at[0].uid));
}

/* A socket of the pod's namespace. */
static int socket_in(jv how)
{
    AUTO(arena) struct arena *a = arena_new();
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(NETRIG_PORT) };
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int ns = open(arena_z(a, jv_str(jv_at(how, "ns"), S(""))), O_RDONLY | O_CLOEXEC), fd = -1;

    if (ns >= 0 && setns(ns, CLONE_NEWNET) == 0) {
        fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
            printf("# bind: %s\n", strerror(errno));
        if (setns(home, CLONE_NEWNET) < 0)
            printf("Bail out! no way home\n"), exit(1);
    }
    close(ns);
    close(home);
    return fd;
}

/* From one pod to another until it is heard: the kernel lets a link work a moment after it is up,
 * and drops what is sent before. */
static bool gets_through(const int *fds, const struct place *at, int from, int to)
{
    struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(NETRIG_PORT) };
    char got;

    inet_pton(AF_INET, at[to].ip, &there.sin_addr);
    for (int64_t end = rig_patience(); boot_now_ms() < end;) {
        sendto(fds[from], "w", 1, 0, (struct sockaddr *)&there, sizeof(there));
        if (poll(&(struct pollfd){ .fd = fds[to], .events = POLLIN }, 1, 1000) == 1)
            return recv(fds[to], &got, 1, 0) == 1;
    }
    return false;
}

/* The next that is not left over from that. */
static bool hears(int fd)
{
    char got = 'w';

    while (got == 'w' && poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, PATIENCE_MS) == 1)
        if (recv(fd, &got, 1, 0) != 1)
            return false;
    return got == 'x';
}

/* On a bridge each pair would take two places in the kernel's neighbour table, which has 1024 for
 * all namespaces: a good deal of this would be lost. */
static void all_speak_to_all(struct net *net)
{
    enum { N = 60 };
    AUTO(arena) struct arena *a = arena_new();
    const struct pod_network *nn = net_pod_network(net);
    static struct place at[N];
    int fds[N], sent = 0, heard = 0;

    if (geteuid() != 0) {
        ok(true, "# SKIP only root looks into pods from outside");
        return;
    }
    for (int i = 0; i < N; i++) {
        jv how = JV_ABSENT;
        netrig_attach(a, net, 300 + i, &at[i], &how);
        fds[i] = socket_in(how);
    }
    bool work = true;
    for (int i = 1; i < N; i++)
        work &= gets_through(fds, at, 0, i) && gets_through(fds, at, i, 0);
    ok(work, "all links work");
    for (int i = 0; i < N; i++) { /* one after the other: queues are short */
        for (int k = 0; k < N; k++) {
            struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(NETRIG_PORT) };
            inet_pton(AF_INET, at[k].ip, &to.sin_addr);
            sent += i != k && sendto(fds[i], "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) == 1;
        }
        for (int k = 0; k < N && heard >= 0; k++)
            if (i != k)
                heard = hears(fds[k]) ? heard + 1 : -1;
    }
    is_int(sent, N * (N - 1), "sixty pods speak to each other");
    is_int(heard, N * (N - 1), "and all of it is heard");
    for (int i = 0; i < N; i++) {
        close(fds[i]);
        nn->detach(nn->ctx, str_of(at[i].uid));
    }
}

static void n2_the_hub_goes_with_its_last_pod(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *net = netrig_open(r, NULL, NULL);
    struct place p = netrig_begin(r, a, net, 4);

    netrig_serve(&p, "it");
    ok(netrig_says(r, &p, "listening"), "a pod runs");
    net_free(net);
    ok(netrig_hubs(r, 0) > 0, "the node goes, the hub stays");
    net = netrig_open(r, NULL, NULL);
    ok(netrig_hears(net, p.ip, "I am it"), "the next node finds it, and the pod");
    p.net = net;
    netrig_finish(&p);
    net_free(net);
    ok(netrig_no_hubs(r), "no pod, no hub");
}

static void count(void *ctx)
{
    ++*(int *)ctx;
}

/* One connection between two pods: says a number and waits to hear it back, for a long time. */
static void talk(struct place *one, struct place *two)
{
    AUTO(arena) struct arena *a = arena_new();

    rig_start(one->pod,
              "exec perl -MIO::Socket::INET -e '$|=1; $s=IO::Socket::INET->new(LocalPort=>7777,"
              "Listen=>5,ReuseAddr=>1) or die; print \"echoing\\n\"; $c=$s->accept; "
              "$c->autoflush(1); while(<$c>){print $c $_}'",
              "{'name': 'echo'}");
    rig_start(two->pod,
              arena_printf(a,
                           "exec perl -MIO::Socket::INET -e '$|=1; for(1..600){$c=IO::Socket::INET"
                           "->new(PeerAddr=>\"%s\",PeerPort=>7777) and last; "
                           "select(undef,undef,undef,.05)} $c->autoflush(1); for $i (1..100000){"
                           "print $c \"$i\\n\"; $l=<$c>; defined $l or die \"cut off\"; "
                           "chomp $l; print \"said $l.\\n\"; select(undef,undef,undef,.1)}'",
                           one->ip)
                  .p,
              "{'name': 'talker'}");
}

static int said(const struct place *p)
{
    AUTO(arena) struct arena *a = arena_new();
    str log = rig_log(a, p->pod);
    int n = 0;

    for (str rest = log; rest.p;)
        n += str_starts(str_cut(&rest, '\n'), S("said "));
    return n;
}

static void a_hub_that_is_killed_is_replaced(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    int again = 0;
    struct net *net = netrig_open(r, count, &again);
    struct place one = netrig_begin(r, a, net, 5), two = netrig_begin(r, a, net, 6);

    netrig_serve(&one, "one");
    talk(&one, &two);
    ok(netrig_says(r, &one, "listening") && netrig_says(r, &two, "said 1."), "pods are connected");
    ok(netrig_hubs(r, SIGKILL) > 0, "their hub is killed");
    ok(rig_wait_n(r, &again, 1), "the node notices");
    int before = said(&two);
    ok(netrig_says(r, &two, arena_printf(a, "said %d.", before + 3).p),
       "what was connected still is");
    ok(netrig_hears(net, one.ip, "I am one"), "the node reaches the pod where it was");
    netrig_ask(&two, "after", one.ip, NETRIG_PORT);
    ok(netrig_says(r, &two, "after heard I am one"), "pods reach each other");
    struct place three = netrig_begin(r, a, net, 7);
    netrig_ask(&three, "new", one.ip, NETRIG_PORT);
    ok(netrig_says(r, &three, "new heard I am one"), "and a new one comes");
    netrig_finish(&three);
    netrig_finish(&two);
    netrig_finish(&one);
    net_free(net);
    ok(netrig_no_hubs(r), "the hub goes");
}

static void a_node_that_comes_back_replaces_a_killed_hub(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *net = netrig_open(r, NULL, NULL);
    struct place p = netrig_begin(r, a, net, 8);
    jv how = jobj(a, { "ip", jstr(a, str_of(p.ip)) });

    netrig_serve(&p, "it");
    ok(netrig_says(r, &p, "listening"), "a pod serves");
    net_free(net);
    netrig_hubs(r, SIGKILL);
    net = netrig_open(r, NULL, NULL);
    net_pod_network(net)->adopt(net_pod_network(net)->ctx, str_of(p.uid), how);
    ok(netrig_hears(net, p.ip, "I am it"), "a pod that is adopted has its address again");
    p.net = net;
    netrig_finish(&p);
    net_free(net);
    ok(netrig_no_hubs(r), "the hub goes");
}

static void n2_a_hub_of_one_node_goes_with_it(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *net = NULL;
    struct err e = { 0 };
    struct place p;
    jv how;
    struct net_opts o = { .loop = r->loop, .data = r->dir, .ephemeral = true };

    ok(net_new(&net, &o, &e) == 0 && net_wait(net, &e) == 0 && netrig_attach(a, net, 9, &p, &how),
       "a pod is attached");
    net_free(net);
    ok(netrig_no_hubs(r), "its hub goes with the node all the same");
    ok(net_new(&net, &o, &e) == 0, "one is started");
    net_free(net);
    ok(netrig_no_hubs(r), "and not waited for: it goes, too");
}

int main(int argc, char **argv)
{
    struct rig r;

    netrig_main(argc, argv, &r);
    struct net *net = netrig_open(&r, NULL, NULL);
    ok(strlen(net_gateway(net)) > 6, "the gateway is %s", net_gateway(net));
    pods_have_addresses_and_reach_each_other(&r, net);
    a_pod_sees_its_own_links_only(&r, net);
    many_are_attached_quickly(net);
    all_speak_to_all(net);
    net_free(net);
    ok(rig_processes_are(r.dir, 0), "nothing runs");
    n2_the_hub_goes_with_its_last_pod(&r);
    a_hub_that_is_killed_is_replaced(&r);
    a_node_that_comes_back_replaces_a_killed_hub(&r);
    n2_a_hub_of_one_node_goes_with_it(&r);
    rig_done(&r);
    return tap_done();
}
