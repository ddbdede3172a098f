/* Ways that go through the hub: to services, to the API, to the outside. */

#include "netrig.h"

#include "podnet/link.h"
#include "podnet/services.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 60 * 1000, OUT_INDEX = 7100 };

static void set(struct net *net, const char *list)
{
    AUTO(jdoc) struct jdoc *d = J(list);

    net_pod_network(net)->services(net_pod_network(net)->ctx, jdoc_root(d));
}

static const char *service(struct arena *a, const struct place *const *to, size_t n)
{
    AUTO(buf) struct buf b = { 0 };

    buf_printf(&b, "[{'namespace': 'default', 'name': 's', 'ip': '10.96.7.7', 'ports': "
                   "[{'protocol': 'TCP', 'port': 80, 'to': [");
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s{'ip': '%s', 'port': %d}", i ? "," : "", to[i]->ip, NETRIG_PORT);
    buf_printf(&b, "]}]}]");
    return arena_str(a, buf_str(&b)).p;
}

static void a_service_leads_to_its_ready_pods(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!net_has_services(net)) {
        ok(!net_pod_network(net)->services, "# SKIP no nft here, and names are told so");
        return;
    }
    struct place one = netrig_begin(r, a, net, 1), two = netrig_begin(r, a, net, 2),
                 who = netrig_begin(r, a, net, 3);
    const struct place *const both[] = { &one, &two };
    netrig_serve(&one, "one");
    netrig_serve(&two, "two");
    ok(netrig_says(r, &one, "listening") && netrig_says(r, &two, "listening"), "two serve");
    set(net, service(a, both, 1));
    netrig_ask(&who, "first", "10.96.7.7", 80);
    ok(netrig_says(r, &who, "first heard I am one"), "the one that is ready answers");
    ok(netrig_says(r, &one, arena_printf(a, "from %s", who.ip).p), "and sees who asks");
    netrig_ask(&one, "itself", "10.96.7.7", 80);
    ok(netrig_says(r, &one, "itself heard I am one"), "it reaches itself by its service");
    set(net, service(a, both + 1, 1));
    for (int i = 0, done = 0; i < 50 && !done; i++) { /* rules are set beside the loop */
        str name = arena_printf(a, "n%d", i);
        netrig_ask(&who, name.p, "10.96.7.7", 80);
        if (!netrig_says(r, &who, arena_printf(a, "n%d heard I am", i).p))
            break;
        done = str_contains(rig_log(a, who.pod), arena_printf(a, "n%d heard I am two", i));
        ok(done || i < 49, "later it is the other's turn");
    }
    set(net, service(a, both, 2));
    set(net, "[]");
    netrig_finish(&one);
    netrig_finish(&two);
    netrig_finish(&who);
}

static void rules_hold_nothing_but_numbers(void)
{
    AUTO(buf) struct buf b = { 0 };
    AUTO(jdoc)
    struct jdoc *d =
        J("[{'ip': '10.96.1.1; drop', 'ports': [{'port': 1, 'to': [{'ip': '10.42.0.2', "
          "'port': 1}]}]},"
          "{'ip': 'None', 'ports': [{'port': 1, 'to': [{'ip': '10.42.0.2', 'port': 1}]}]},"
          "{'ip': '10.96.0.1', 'ports': [{'port': 443, 'to': [{'ip': '1.2.3.4', 'port': "
          "1}]}]},"
          "{'ip': '10.96.1.2', 'ports': [{'protocol': 'X', 'port': 1, 'to': [{'ip': "
          "'10.42.0.2', 'port': 1}]}, {'port': 70000, 'to': [{'ip': '10.42.0.2', "
          "'port': 1}]}, {'port': 5, 'to': []}, {'port': 6, 'to': [{'ip': '}', 'port': 1}]}]}"
          "]");

    net_services_rules(&b, jdoc_root(d));
    is_str(buf_str(&b), S(""), "what is not an address or a port is left out");
}

static void pods_reach_the_api(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    struct netrig_answer got = { .a = a };
    struct place p = netrig_begin(r, a, net, 4);

    net_listen(net, (struct net_then){ netrig_answered, &got });
    netrig_answer(&got);
    int fd = got.fd;
    if (!ok(fd >= 0, "the node listens where pods look for the API"))
        printf("# %s\n", got.e.msg);
    netrig_ask(&p, "client", NET_API, NET_API_PORT);
    ok(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, PATIENCE_MS) == 1, "a pod comes");
    struct sockaddr_in from = { 0 };
    socklen_t n = sizeof(from);
    int conn = accept(fd, (struct sockaddr *)&from, &n);
    ok(write(conn, "I am the API\n", 13) == 13, "and is answered");
    is_str(str_of(inet_ntoa(from.sin_addr)), str_of(p.ip), "its own address is seen");
    close(conn);
    close(fd);
    ok(netrig_says(r, &p, "client heard I am the API"), "it hears");
    netrig_finish(&p);
}

/* ---- an outside */

/* A machine elsewhere that knows the way to this one and no other. Its address, of the range for
 * benchmarks, is this test's alone. */
static pid_t outside(int *index, uint32_t there)
{
    static const uint8_t near[NET_MAC_BYTES] = { 0x0a, 0x58, 9, 9, 9, 1 };
    static const uint8_t far[NET_MAC_BYTES] = { 0x0a, 0x58, 9, 9, 9, 2 };
    const uint32_t here = there - 1;
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), ends[2];
    struct net_link l;
    char name[IFNAMSIZ], up;

    unshare(CLONE_NEWNET);
    int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    setns(home, CLONE_NEWNET);
    snprintf(name, sizeof(name), "out%d", (int)getpid() % 100000);
    *index = OUT_INDEX + (int)getpid() % 10000;
    if (ns < 0 || pipe(ends) < 0 || net_link_open(&l, NULL) < 0)
        return -1;
    net_link_veth(&l, &(struct net_veth){ name, *index, near, "eth0", 2, far, ns });
    net_link_address(&l, *index, here, 32);
    net_link_route(&l, &(struct net_route){ .to = there, .bits = 32, .index = *index });
    if (net_link_do(&l, NULL) < 0)
        return -1;
    net_link_close(&l);
    pid_t pid = fork();
    if (pid == 0) {
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(NETRIG_PORT) };
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setns(ns, CLONE_NEWNET);
        int s = socket(AF_INET, SOCK_STREAM, 0);
        if (net_link_open(&l, NULL) < 0)
            _exit(1);
        net_link_up(&l, 2);
        net_link_address(&l, 2, there, 32);
        net_link_route(&l, &(struct net_route){ .to = here, .bits = 32, .index = 2 });
        if (net_link_do(&l, NULL) < 0 || bind(s, (struct sockaddr *)&at, sizeof(at)) < 0 ||
            listen(s, 8) < 0 || write(ends[1], "", 1) != 1)
            _exit(1);
        for (int c; (c = accept(s, NULL, NULL)) >= 0; close(c))
            if (write(c, "I am elsewhere\n", 15) < 0)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], &up, 1);
    close(ends[0]);
    close(ns);
    close(home);
    return n == 1 ? pid : -1;
}

static void root_s_pods_reach_the_outside(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    int index = 0;
    uint32_t ip = 198u << 24 | 18u << 16 | ((uint32_t)getpid() * 2 & 0x1ffff) | 1;
    char text[NET_IP_TEXT];
    pid_t there = outside(&index, ip);

    ok(there > 0, "there is an outside");
    struct place p = netrig_begin(r, a, net, 5);
    netrig_ask(&p, "client", net_ip_text(ip, text), NETRIG_PORT);
    ok(netrig_says(r, &p, "client heard I am elsewhere"), "a pod reaches it, %s", net_words(net));
    netrig_finish(&p);
    kill(there, SIGKILL);
    waitpid(there, NULL, 0);
    struct net_link l;
    if (net_link_open(&l, NULL) == 0) {
        net_link_delete(&l, index);
        net_link_do(&l, NULL);
        net_link_close(&l);
    }
}

/* This machine, at an address that is not its loopback's, is outside enough. */
static void users_pods_reach_the_outside(struct rig *r, struct net *net)
{
    AUTO(arena) struct arena *a = arena_new();
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(9) };
    socklen_t n = sizeof(at);
    int probe = socket(AF_INET, SOCK_DGRAM, 0), s = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, "192.0.2.99", &at.sin_addr);
    if (connect(probe, (struct sockaddr *)&at, n) < 0 ||
        getsockname(probe, (struct sockaddr *)&at, &n) < 0) {
        ok(true, "# SKIP this machine has no address but its loopback's");
        return;
    }
    close(probe);
    at.sin_port = 0;
    ok(bind(s, (struct sockaddr *)&at, n) == 0 && listen(s, 8) == 0 &&
           getsockname(s, (struct sockaddr *)&at, &n) == 0,
       "this machine listens at %s", inet_ntoa(at.sin_addr));
    struct place p = netrig_begin(r, a, net, 6);
    netrig_ask(&p, "client", inet_ntoa(at.sin_addr), ntohs(at.sin_port));
    ok(poll(&(struct pollfd){ .fd = s, .events = POLLIN }, 1, PATIENCE_MS) == 1, "a pod comes");
    int c = accept(s, NULL, NULL);
    ok(write(c, "I am outside\n", 13) == 13, "and is answered");
    close(c);
    close(s);
    ok(netrig_says(r, &p, "client heard I am outside"), "it hears, %s", net_words(net));
    netrig_finish(&p);
}

static void the_outside_can_be_reached(struct rig *r, struct net *net)
{
    if (!net_has_egress(net)) {
        ok(*net_words(net) != 0, "# SKIP no way out here: %s", net_words(net));
        return;
    }
    if (geteuid() == 0)
        root_s_pods_reach_the_outside(r, net);
    users_pods_reach_the_outside(r, net);
}

int main(int argc, char **argv)
{
    struct rig r;

    netrig_main(argc, argv, &r);
    struct net *net = netrig_open(&r, NULL, NULL);
    rules_hold_nothing_but_numbers();
    a_service_leads_to_its_ready_pods(&r, net);
    pods_reach_the_api(&r, net);
    the_outside_can_be_reached(&r, net);
    net_free(net);
    ok(netrig_no_hubs(&r), "the hub goes");
    rig_done(&r);
    return tap_done();
}
