/* Connections to ports of pods, for kubectl port-forward: from within the pod, as on a cluster, so
 * that programs which listen on localhost alone are reached. */

#include "node/exec.h"
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
        return err_set(e, ERR_INTERNAL, "%s is no address", ip);
    }
    if (connect(fd, to, six ? sizeof(to6) : sizeof(to4)) == 0 || errno == EINPROGRESS)
        return fd;
    err_sys(e, "connect to port %d", port); /* on loopback a refusal comes at once */
    close(fd);
    return -1;
}

int node_dial(struct node *n, str uid, int port, int attempt, struct err *e)
{
    const struct pod *p = map_get(&n->pods, uid);
    const struct pod_network *net = n->o.net;
    char ip[64];

    if (node_seeks(n, uid))
        return err_set(e, ERR_UNAVAILABLE,
                       "the node was restarted and has not found the pod again yet");
    if (!p || !p->rt || p->adopting)
        return err_set(e, ERR_UNAVAILABLE, "the pod does not run");
    bool host = jv_bool(jv_at(jdoc_root(p->doc), "spec", "hostNetwork"), false);
    str own = node_pod_ip(p);
    bool within = !host && p->attached && net && net->socket_in;
    bool shared = !host && !within && str_starts(own, S("127."));
    bool six = attempt == 1;
    if (attempt > 1 || (six && shared))
        return err_set(e, ERR_NOT_FOUND, "it has no further address");
    snprintf(ip, sizeof(ip), "%" PRI_STR, STR_ARG(shared ? own : S("127.0.0.1")));
    int fd = within
                 ? net->socket_in(net->ctx, uid, six, e)
                 : socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return within ? -1 : err_sys(e, "socket");
    return connect_to(fd, six, ip, port, e);
}
