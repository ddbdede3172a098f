/* Connections to ports of pods, for kubectl port-forward: from within the pod, as on a cluster, so
 * that programs which listen on localhost alone are reached. */

#include "node/exec.h"

#include "base/mem.h"
#include "node/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(int fd, bool six, const char *ip, int port, struct err *e)
{
    struct sockaddr_in6 to6 = { .sin6_family = AF_INET6,
                                .sin6_port = htons((uint16_t)port),
                                .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    const struct sockaddr *to = six ? (const struct sockaddr *)&to6 : (const struct sockaddr *)&to4;

    if (inet_pton(AF_INET, ip, &to4.sin_addr) != 1) {
        close(fd);
        return err_set(e, ERR_INTERNAL, "%s is not an address", ip);
    }
    if (connect(fd, to, six ? sizeof(to6) : sizeof(to4)) == 0 || errno == EINPROGRESS)
        return fd;
    err_sys(e, "connect to port %d", port); /* on loopback a refusal comes at once */
    close(fd);
    return -1;
}

/* Waits for a socket of the pod's namespace. Ends with the node at the latest, which ends after
 * all connections to it. */
struct node_dial {
    const struct pod_network *net;
    struct net_ask *ask;
    struct node_dial_to to;
    bool six;
};

static void on_socket(void *arg, jv ok, int fd, const struct err *e)
{
    struct node_dial *d = arg;
    struct node_dial_to to = d->to;
    struct err why = *e;

    if (jv_exists(ok))
        fd = connect_to(fd, d->six, "127.0.0.1", to.port, &why);
    free(d);
    to.done(to.arg, fd, &why);
}

void node_dial_stop(struct node_dial *d)
{
    d->net->cancel(d->ask);
    free(d);
}

static struct node_dial *dial_within(const struct pod_network *net, const struct node_dial_to *to)
{
    struct node_dial *d = mem_new(sizeof(*d));

    d->net = net;
    d->to = *to;
    d->six = to->attempt == 1;
    d->ask = net->socket_in(net->ctx, to->uid, d->six, (struct net_then){ on_socket, d });
    return d;
}

int node_dial(struct node *n, const struct node_dial_to *to, struct node_dial **later,
              struct err *e)
{
    const struct pod *p = map_get(&n->pods, to->uid);
    const struct pod_network *net = n->o.net;
    char ip[64];

    if (node_seeks(n, to->uid))
        return err_set(e, ERR_UNAVAILABLE,
                       "the node was restarted and has not found the pod again yet");
    if (!p || !p->rt || p->adopting)
        return err_set(e, ERR_UNAVAILABLE, "the pod does not run");
    bool host = jv_bool(jv_at(jdoc_root(p->doc), "spec", "hostNetwork"), false);
    str own = node_pod_ip(p);
    bool within = !host && p->attached && net && net->socket_in;
    bool shared = !host && !within && str_starts(own, S("127."));
    bool six = to->attempt == 1;
    if (to->attempt > 1 || (six && shared))
        return err_set(e, ERR_NOT_FOUND, "it has no further address");
    if (within) {
        *later = dial_within(net, to);
        return -1;
    }
    snprintf(ip, sizeof(ip), "%" PRI_STR, STR_ARG(shared ? own : S("127.0.0.1")));
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd < 0 ? err_sys(e, "socket") : connect_to(fd, six, ip, to->port, e);
}
