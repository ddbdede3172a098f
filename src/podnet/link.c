/* Messages to the kernel, by hand: a few kinds, and no tool or library needed. */

#include "podnet/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 32 * 1024, AWAIT_MS = 10 * 1000, LOOK_MS = 1 };

int net_link_open(struct net_link *l, struct err *e)
{
    struct sockaddr_nl at = { .nl_family = AF_NETLINK };
    int room = 1 << 20;

    *l = (struct net_link){ .fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) };
    if (l->fd < 0)
        return err_sys(e, "netlink");
    setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    setsockopt(l->fd, SOL_NETLINK, NETLINK_CAP_ACK, &(int){ 1 }, sizeof(int));
    if (bind(l->fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
        err_sys(e, "netlink");
        net_link_close(l);
        return -1;
    }
    return 0;
}

void net_link_close(struct net_link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    buf_done(&l->out);
    l->fd = -1;
}

/* ---- requests */

static void pad(struct buf *b)
{
    while (b->n % NLMSG_ALIGNTO)
        buf_addc(b, 0);
}

static void add(struct buf *b, const void *p, size_t n)
{
    buf_add(b, (str){ p, n });
    pad(b);
}

static void attr(struct buf *b, int type, const void *p, size_t n)
{
    struct rtattr a = { .rta_len = (unsigned short)RTA_LENGTH(n),
                        .rta_type = (unsigned short)type };

    add(b, &a, sizeof(a));
    add(b, p, n);
}

static void attr_text(struct buf *b, int type, const char *text)
{
    attr(b, type, text, strlen(text) + 1);
}

static void attr_ip(struct buf *b, int type, uint32_t ip)
{
    attr(b, type, &(uint32_t){ htonl(ip) }, sizeof(ip));
}

/* An attribute that holds others; returns where it begins, for nest_end. */
static size_t nest(struct buf *b, int type)
{
    size_t at = b->n;

    attr(b, type, NULL, 0);
    return at;
}

static void nest_end(struct buf *b, size_t at)
{
    unsigned short len = (unsigned short)(b->n - at);

    memcpy(b->p + at, &len, sizeof(len)); /* rta_len is its first member */
}

static size_t begin(struct net_link *l, int type, int flags, const void *body, size_t n)
{
    struct nlmsghdr h = { .nlmsg_type = (uint16_t)type,
                          .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
                          .nlmsg_seq = ++l->seq };
    size_t at = l->out.n;

    add(&l->out, &h, sizeof(h));
    add(&l->out, body, n);
    l->n++;
    return at;
}

static void end(struct net_link *l, size_t at)
{
    uint32_t len = (uint32_t)(l->out.n - at);

    memcpy(l->out.p + at, &len, sizeof(len)); /* nlmsg_len is its first member */
}

void net_link_veth(struct net_link *l, const struct net_veth *v)
{
    struct ifinfomsg near = { .ifi_index = v->index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
    struct ifinfomsg far = { .ifi_index = v->peer_index };
    struct buf *b = &l->out;
    size_t at = begin(l, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &near, sizeof(near));

    attr_text(b, IFLA_IFNAME, v->name);
    attr(b, IFLA_ADDRESS, v->mac, NET_MAC_BYTES);
    size_t info = nest(b, IFLA_LINKINFO);
    attr_text(b, IFLA_INFO_KIND, "veth");
    size_t data = nest(b, IFLA_INFO_DATA);
    size_t peer = nest(b, VETH_INFO_PEER);
    add(b, &far, sizeof(far));
    attr_text(b, IFLA_IFNAME, v->peer);
    attr(b, IFLA_ADDRESS, v->peer_mac, NET_MAC_BYTES);
    attr(b, IFLA_NET_NS_FD, &v->peer_ns, sizeof(v->peer_ns));
    nest_end(b, peer);
    nest_end(b, data);
    nest_end(b, info);
    end(l, at);
}

void net_link_up(struct net_link *l, int index)
{
    struct ifinfomsg m = { .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };

    end(l, begin(l, RTM_NEWLINK, NLM_F_ACK, &m, sizeof(m)));
}

void net_link_delete(struct net_link *l, int index)
{
    struct ifinfomsg m = { .ifi_index = index };

    end(l, begin(l, RTM_DELLINK, NLM_F_ACK, &m, sizeof(m)));
}

void net_link_route(struct net_link *l, const struct net_route *r)
{
    struct rtmsg m = { .rtm_family = AF_INET,
                       .rtm_dst_len = (unsigned char)r->bits,
                       .rtm_table = RT_TABLE_MAIN,
                       .rtm_protocol = RTPROT_STATIC,
                       .rtm_scope = r->through ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
                       .rtm_type = RTN_UNICAST };
    size_t at = begin(l, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));

    if (r->bits)
        attr_ip(&l->out, RTA_DST, r->to);
    if (r->through)
        attr_ip(&l->out, RTA_GATEWAY, r->through);
    attr(&l->out, RTA_OIF, &r->index, sizeof(r->index));
    end(l, at);
}

void net_link_no_route(struct net_link *l, uint32_t to, int bits)
{
    struct rtmsg m = { .rtm_family = AF_INET,
                       .rtm_dst_len = (unsigned char)bits,
                       .rtm_table = RT_TABLE_MAIN,
                       .rtm_protocol = RTPROT_STATIC,
                       .rtm_type = RTN_UNREACHABLE };
    size_t at = begin(l, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));

    attr_ip(&l->out, RTA_DST, to);
    end(l, at);
}

void net_link_address(struct net_link *l, int index, uint32_t ip, int bits)
{
    struct ifaddrmsg m = { .ifa_family = AF_INET,
                           .ifa_prefixlen = (uint8_t)bits,
                           .ifa_scope = RT_SCOPE_UNIVERSE,
                           .ifa_index = (uint32_t)index };
    size_t at = begin(l, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));

    attr_ip(&l->out, IFA_LOCAL, ip);
    attr_ip(&l->out, IFA_ADDRESS, ip);
    attr(&l->out, IFA_FLAGS, &(uint32_t){ IFA_F_NOPREFIXROUTE }, sizeof(uint32_t));
    end(l, at);
}

void net_link_neighbour(struct net_link *l, int index, uint32_t ip, const uint8_t *mac)
{
    struct ndmsg m = { .ndm_family = AF_INET, .ndm_ifindex = index, .ndm_state = NUD_PERMANENT };
    size_t at = begin(l, RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));

    attr_ip(&l->out, NDA_DST, ip);
    attr(&l->out, NDA_LLADDR, mac, NET_MAC_BYTES);
    end(l, at);
}

/* ---- carrying out */

struct answer {
    uint32_t first; /* number of the request that it begins with */
    struct nlmsghdr *at;
    size_t left;
    _Alignas(struct nlmsghdr) char room[ANSWER_BYTES];
};

/* Sends what is gathered; `first` is the one to be answered first. */
static int post(struct net_link *l, uint32_t first, struct answer *r, struct err *e)
{
    struct sockaddr_nl to = { .nl_family = AF_NETLINK };
    ssize_t n = sendto(l->fd, l->out.p, l->out.n, 0, (const struct sockaddr *)&to, sizeof(to));

    buf_clear(&l->out);
    l->n = 0;
    r->first = first;
    r->left = 0;
    return n < 0 ? err_sys(e, "netlink") : 0;
}

/* The next message; NULL: e says why there is none. */
static const struct nlmsghdr *next(const struct net_link *l, struct answer *r, struct err *e)
{
    for (;;) {
        while (NLMSG_OK(r->at, r->left)) {
            const struct nlmsghdr *h = r->at;
            r->at = NLMSG_NEXT(r->at, r->left);
            if (h->nlmsg_seq - r->first < UINT32_MAX / 2) /* not left from one given up */
                return h;
        }
        ssize_t got = recv(l->fd, r->room, sizeof(r->room), 0);
        if (got < 0 && errno != EINTR) {
            err_sys(e, "netlink");
            return NULL;
        }
        r->at = (void *)r->room;
        r->left = got < 0 ? 0 : (size_t)got;
    }
}

/* Of NLMSG_ERROR; 0: it is done. */
static int error_of(const struct nlmsghdr *h)
{
    return -((const struct nlmsgerr *)NLMSG_DATA(h))->error;
}

int net_link_do(struct net_link *l, struct err *e)
{
    struct answer r;
    size_t left = l->n;
    int rc = 0;

    if (!left)
        return 0;
    if (post(l, l->seq - (uint32_t)left + 1, &r, e) < 0)
        return -1;
    while (left) {
        const struct nlmsghdr *h = next(l, &r, e);
        if (!h)
            return -1;
        if (h->nlmsg_type != NLMSG_ERROR)
            continue;
        left--;
        errno = error_of(h);
        if (errno && rc == 0)
            rc = err_sys(e, "netlink request %u", h->nlmsg_seq - r.first + 1);
    }
    return rc;
}

/* Of an answer to RTM_GETLINK: IF_OPER_…, or -1. */
static int oper_state(const struct nlmsghdr *h)
{
    const unsigned char *m = NLMSG_DATA(h);
    size_t left = h->nlmsg_len - NLMSG_SPACE(sizeof(struct ifinfomsg));

    for (const struct rtattr *a = (const void *)(m + NLMSG_ALIGN(sizeof(struct ifinfomsg)));
         RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == IFLA_OPERSTATE)
            return *(const unsigned char *)RTA_DATA(a);
    return -1;
}

static int look(struct net_link *l, int index, struct err *e)
{
    struct ifinfomsg m = { .ifi_index = index };
    struct answer r;

    end(l, begin(l, RTM_GETLINK, 0, &m, sizeof(m)));
    if (post(l, l->seq, &r, e) < 0)
        return -1;
    const struct nlmsghdr *h = next(l, &r, e);
    if (!h)
        return -1;
    if (h->nlmsg_type == RTM_NEWLINK && h->nlmsg_len >= NLMSG_SPACE(sizeof(struct ifinfomsg)))
        return oper_state(h);
    errno = h->nlmsg_type == NLMSG_ERROR ? error_of(h) : EPROTO;
    return err_sys(e, "netlink");
}

int net_link_await(struct net_link *l, int index, struct err *e)
{
    for (int i = 0; i < AWAIT_MS / LOOK_MS; i++) {
        struct err why = { 0 };
        int state = look(l, index, &why);
        if (state == IF_OPER_UP)
            return 0;
        if (state < 0 && why.code) {
            if (e)
                *e = why;
            return -1;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000L * 1000 * LOOK_MS }, NULL);
    }
    return err_set(e, ERR_TIMEOUT, "a link does not come up");
}

struct dump {
    int type;
    size_t body;
    int dst; /* attribute with the network */
    void (*see)(void *ctx, uint32_t to, int bits);
    void *ctx;
};

static void tell(const struct dump *d, const struct nlmsghdr *h)
{
    const unsigned char *m = NLMSG_DATA(h); /* rtmsg and ifaddrmsg: family, then prefix */
    size_t left = h->nlmsg_len - NLMSG_SPACE(d->body);
    uint32_t to = 0;

    if (h->nlmsg_len < NLMSG_SPACE(d->body) || m[0] != AF_INET)
        return;
    for (const struct rtattr *a = (const void *)(m + NLMSG_ALIGN(d->body)); RTA_OK(a, left);
         a = RTA_NEXT(a, left))
        if (a->rta_type == d->dst && RTA_PAYLOAD(a) == sizeof(to))
            memcpy(&to, RTA_DATA(a), sizeof(to));
    d->see(d->ctx, ntohl(to), m[1]);
}

static int dump(struct net_link *l, const struct dump *d, struct err *e)
{
    char body[64] = { 0 };
    struct answer r;

    body[0] = AF_INET;
    end(l, begin(l, d->type, NLM_F_DUMP, body, d->body));
    if (post(l, l->seq, &r, e) < 0)
        return -1;
    for (const struct nlmsghdr *h; (h = next(l, &r, e));) {
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR) {
            errno = error_of(h);
            return err_sys(e, "netlink");
        }
        tell(d, h);
    }
    return -1;
}

int net_link_each(struct net_link *l, void (*see)(void *ctx, uint32_t to, int bits), void *ctx,
                  struct err *e)
{
    const struct dump routes = { RTM_GETROUTE, sizeof(struct rtmsg), RTA_DST, see, ctx };
    const struct dump addresses = { RTM_GETADDR, sizeof(struct ifaddrmsg), IFA_ADDRESS, see, ctx };

    return dump(l, &routes, e) < 0 ? -1 : dump(l, &addresses, e);
}
