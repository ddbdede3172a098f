/* Pods are routed, not bridged: on a bridge each pair of pods that talk takes two entries of the
 * kernel's neighbour table, which holds 1024 for all namespaces together; jobs whose replicas all
 * talk to each other would overflow it at 32. Here both ends of each veth know each other for good
 * and nobody else, so nothing is ever asked for by ARP. */

#include "podnet/pods.h"

#include "base/mem.h"
#include "podnet/services.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FIRST_INDEX = 1000, /* links are numbered by address, so that nothing needs to be looked up */
    ETH0 = 100,         /* in the pod: some kernels put tunnels of their own into new namespaces */
};

static const uint8_t hub_mac[NET_MAC_BYTES] = { 0x0a, 0x58, 0, 0, 0, 1 };

static void pod_mac(uint32_t ip, uint8_t mac[NET_MAC_BYTES])
{
    const uint8_t bytes[NET_MAC_BYTES] = {
        0x0a, 0x58, (uint8_t)(ip >> 24), (uint8_t)(ip >> 16), (uint8_t)(ip >> 8), (uint8_t)ip
    };

    memcpy(mac, bytes, NET_MAC_BYTES);
}

static int index_of(const struct net_pods *p, uint32_t ip)
{
    return FIRST_INDEX + (int)(ip - p->pool.base);
}

int net_pods_init(struct net_pods *p, uint32_t base, struct err *e)
{
    uint32_t services = 0, api = 0;

    net_ip_read(S(NET_SERVICES), &services);
    net_ip_read(S(NET_API), &api);
    *p = (struct net_pods){ .link = { .fd = -1 },
                            .home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC) };
    if (p->home < 0)
        return err_sys(e, "open our network namespace");
    net_pool_init(&p->pool, base);
    if (sys_write_file(AT_FDCWD, "/proc/sys/net/ipv4/ip_forward", "1") < 0)
        return err_sys(e, "forward between pods: ip_forward");
    /* A pod sends from its own address alone: packets whose source is not routed to the link that
     * they came in by are dropped. Neighbours are fixed (net_link_neighbour), so ARP changes
     * nothing. */
    if (sys_write_file(AT_FDCWD, "/proc/sys/net/ipv4/conf/all/rp_filter", "1") < 0)
        return err_sys(e, "check the source of pods' packets: rp_filter");
    /* Each who asks in vain is told, or he would wait for an answer that does not come. */
    sys_write_file(AT_FDCWD, "/proc/sys/net/ipv4/icmp_ratelimit", "0");
    /* The node, as who it is, listens for pods on the API's port. */
    sys_write_file(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    /* Links of the hub carry no IPv6; nobody would use it, and each would announce itself. */
    sys_write_file(AT_FDCWD, "/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    if (net_link_open(&p->link, e) < 0)
        return -1;
    net_link_up(&p->link, NET_LINK_LO);
    net_link_address(&p->link, NET_LINK_LO, net_pool_gateway(&p->pool), 32);
    net_link_address(&p->link, NET_LINK_LO, api, 32);
    /* Who asks for a pod that is dead, or a service that is not, hears so. */
    net_link_no_route(&p->link, base, NET_SUBNET_BITS);
    net_link_no_route(&p->link, services, NET_SUBNET_BITS);
    return net_link_do(&p->link, e);
}

/* As container runtimes set them: low ports and ping need no privileges. */
static void tune(void)
{
    char groups[32];

    snprintf(groups, sizeof(groups), "%u %u", getegid(), getegid() ? getegid() : INT32_MAX);
    sys_write_file(AT_FDCWD, "/proc/sys/net/ipv4/ping_group_range", groups);
    sys_write_file(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    sys_write_file(AT_FDCWD, "/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

/* A new namespace, or (*ns given) that one, and a way to its links. */
static int enter(const struct net_pods *p, int *ns, struct net_link *l, struct err *e)
{
    bool fresh = *ns < 0;
    int rc = 0;

    if ((fresh ? unshare(CLONE_NEWNET) : setns(*ns, CLONE_NEWNET)) < 0)
        return err_sys(e, "a network namespace");
    if (fresh) {
        *ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        tune();
    }
    if (*ns < 0)
        rc = err_sys(e, "open a network namespace");
    else
        rc = net_link_open(l, e);
    if (setns(p->home, CLONE_NEWNET) < 0)
        abort(); /* nothing would be right any more; pods keep what they have */
    return rc;
}

static int wire(struct net_pods *p, uint32_t ip, int ns, struct net_link *inside, struct err *e)
{
    uint8_t mac[NET_MAC_BYTES];
    char name[16];
    uint32_t gateway = net_pool_gateway(&p->pool);
    int index = index_of(p, ip);
    struct net_veth v = { .name = name,
                          .index = index,
                          .mac = hub_mac,
                          .peer = "eth0",
                          .peer_index = ETH0,
                          .peer_mac = mac,
                          .peer_ns = ns };

    snprintf(name, sizeof(name), "pod%u", ip - p->pool.base);
    pod_mac(ip, mac);
    net_link_veth(&p->link, &v);
    net_link_route(&p->link, &(struct net_route){ .to = ip, .bits = 32, .index = index });
    net_link_neighbour(&p->link, index, ip, mac);
    if (net_link_do(&p->link, e) < 0)
        return -1;
    net_link_up(inside, NET_LINK_LO);
    net_link_up(inside, ETH0);
    net_link_address(inside, ETH0, ip, NET_SUBNET_BITS);
    net_link_route(inside, &(struct net_route){ .to = gateway, .bits = 32, .index = ETH0 });
    net_link_route(inside, &(struct net_route){ .through = gateway, .index = ETH0 });
    net_link_neighbour(inside, ETH0, gateway, hub_mac);
    return net_link_do(inside, e) < 0 ? -1 : net_link_await(&p->link, index, e);
}

static void unwire(struct net_pods *p, uint32_t ip)
{
    net_link_delete(&p->link, index_of(p, ip));
    net_link_do(&p->link, NULL); /* it may be gone with its namespace */
}

static struct net_pod *pod_new(uint32_t ip, int ns)
{
    struct net_pod *pod = mem_new(sizeof(*pod));

    pod->ip = ip;
    pod->ns = ns;
    return pod;
}

static const struct net_pod *put(struct net_pods *p, str uid, struct net_pod *pod)
{
    pod->uid = mem_room(uid.n + 1);
    memcpy(pod->uid, uid.p, uid.n);
    pod->uid[uid.n] = 0;
    map_put(&p->at, str_of(pod->uid), pod);
    return pod;
}

static struct net_pod *make(struct net_pods *p, struct err *e)
{
    struct net_link inside = { .fd = -1 };
    uint32_t ip = net_pool_take(&p->pool);
    int ns = -1;

    if (!ip) {
        err_set(e, ERR_CONFLICT, "every address of the pods' network is taken");
        return NULL;
    }
    int rc = enter(p, &ns, &inside, e);
    if (rc == 0 && wire(p, ip, ns, &inside, e) < 0) {
        /* That of the last one who had the address may still be there: then it is, now. */
        unwire(p, ip);
        rc = wire(p, ip, ns, &inside, e);
        if (rc < 0)
            unwire(p, ip);
    }
    net_link_close(&inside);
    if (rc == 0)
        return pod_new(ip, ns);
    if (ns >= 0)
        close(ns);
    net_pool_give(&p->pool, ip);
    return NULL;
}

int net_pods_spare(struct net_pods *p, struct err *e)
{
    struct net_pod *pod = p->nspares < NET_SPARES ? make(p, e) : NULL;

    if (!pod)
        return -1;
    p->spares[p->nspares++] = pod;
    return 0;
}

const struct net_pod *net_pods_attach(struct net_pods *p, str uid, struct err *e)
{
    const struct net_pod *old = map_get(&p->at, uid);

    if (old)
        return old;
    struct net_pod *pod = NULL;
    if (p->nspares) { /* the oldest: addresses go up */
        pod = p->spares[0];
        memmove(p->spares, p->spares + 1, --p->nspares * sizeof(struct net_pod *));
    } else {
        pod = make(p, e);
    }
    return pod ? put(p, uid, pod) : NULL;
}

/* The link goes with the namespace, when its last process has ended: the kernel clears many away at
 * once, while taking one link down here would wait for tens of milliseconds. */
static void release_pod(struct net_pods *p, struct net_pod *pod)
{
    net_pool_give(&p->pool, pod->ip);
    if (pod->ns >= 0)
        close(pod->ns);
    free(pod->uid);
    free(pod);
}

void net_pods_keep(struct net_pods *p, uint32_t ip)
{
    if (net_pool_claim(&p->pool, ip))
        vec_push(&p->kept, ip);
}

static bool take_kept(struct net_pods *p, uint32_t ip)
{
    for (size_t i = 0; i < p->kept.n; i++)
        if (p->kept.at[i] == ip) {
            p->kept.at[i] = p->kept.at[--p->kept.n];
            return true;
        }
    return false;
}

const struct net_pod *net_pods_mend(struct net_pods *p, str uid, uint32_t ip, int ns, struct err *e)
{
    const struct net_pod *old = map_get(&p->at, uid);
    struct net_link inside = { .fd = -1 };

    if (old)
        return old;
    if (!take_kept(p, ip) && !net_pool_claim(&p->pool, ip)) {
        err_set(e, ERR_CONFLICT, "its earlier address is not available");
        return NULL;
    }
    int rc = enter(p, &ns, &inside, e);
    if (rc == 0) {
        net_link_delete(&inside, ETH0); /* it goes with the old hub, some time */
        net_link_do(&inside, NULL);
        rc = wire(p, ip, ns, &inside, e);
        if (rc < 0)
            unwire(p, ip);
    }
    net_link_close(&inside);
    if (rc == 0)
        return put(p, uid, pod_new(ip, -1));
    net_pool_give(&p->pool, ip);
    return NULL;
}

int net_pods_socket(const struct net_pods *p, int ns, int family, int type)
{
    if (setns(ns, CLONE_NEWNET) < 0)
        return -1;
    int fd = socket(family, type, 0), why = errno;
    if (setns(p->home, CLONE_NEWNET) < 0)
        abort(); /* as above */
    errno = why;
    return fd;
}

void net_pods_detach(struct net_pods *p, str uid)
{
    struct net_pod *pod = map_remove(&p->at, uid);

    if (pod)
        release_pod(p, pod);
}
