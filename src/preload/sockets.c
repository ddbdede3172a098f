/* bind, connect and their like. A wildcard or localhost becomes the pod's address, so that two pods
 * may use the same port; whatever goes to a pod comes from this one's address. A wildcard without a
 * port stays: the kernel picks a port that nobody has, and such sockets also talk to the outside.
 */

#include "preload/preload.h"

#include <errno.h>
#include <netinet/ip.h>
#include <string.h>
#include <unistd.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

enum { FDS = 4096 };

static void *next_bind, *next_connect, *next_sendto, *next_sendmsg, *next_sendmmsg,
    *next_getsockname;

/* An IPv6 socket that must not take IPv4 calls has no place of its own here, as pods have IPv4
 * addresses only: it sits on some port of ::1, and is told that it has the one it asked for. */
static struct {
    in_port_t real, told;
} aside[FDS];

PRE_START
{
    NEXT(bind);
    NEXT(connect);
    NEXT(sendto);
    NEXT(sendmsg);
    NEXT(sendmmsg);
    NEXT(getsockname);
}

/* ---- addresses */

/* Either family as IPv4 and a port; false: it is not about IPv4. */
struct place {
    struct in_addr ip;
    in_port_t port;
    bool six;      /* written as IPv6 */
    bool six_only; /* :: or ::1, which only mean the same */
};

static bool read_place(const struct sockaddr *addr, socklen_t len, struct place *p)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    memset(p, 0, sizeof(*p));
    if (!addr || len < sizeof(sa_family_t) || !pre_self()->is)
        return false;
    if (addr->sa_family == AF_INET && len >= sizeof(in)) {
        memcpy(&in, addr, sizeof(in));
        p->ip = in.sin_addr;
        p->port = in.sin_port;
        return true;
    }
    if (addr->sa_family != AF_INET6 || len < sizeof(in6) - sizeof(in6.sin6_scope_id))
        return false;
    memset(&in6, 0, sizeof(in6));
    memcpy(&in6, addr, len < sizeof(in6) ? len : sizeof(in6));
    p->six = true;
    p->port = in6.sin6_port;
    if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
        memcpy(&p->ip, &in6.sin6_addr.s6_addr[12], sizeof(p->ip));
        return true;
    }
    p->six_only = true;
    p->ip.s_addr = htonl(IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) ? INADDR_LOOPBACK : INADDR_ANY);
    return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr);
}

static socklen_t write_place(const struct place *p, struct sockaddr_storage *out)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = p->port, .sin_addr = p->ip };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = p->port };

    memset(out, 0, sizeof(*out));
    if (!p->six) {
        memcpy(out, &in, sizeof(in));
        return sizeof(in);
    }
    in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&in6.sin6_addr.s6_addr[12], &p->ip, sizeof(p->ip));
    memcpy(out, &in6, sizeof(in6));
    return sizeof(in6);
}

static int option(int fd, int level, int name)
{
    int value = 0;
    socklen_t n = sizeof(value);

    return getsockopt(fd, level, name, &value, &n) < 0 ? -1 : value;
}

static bool takes_v4(int fd)
{
    int off = 0;

    return option(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 0 ||
           setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
}

static bool is_wild(const struct place *p)
{
    return p->ip.s_addr == htonl(INADDR_ANY);
}

static bool is_local(const struct place *p)
{
    return p->ip.s_addr == htonl(INADDR_LOOPBACK);
}

/* ---- bind */

static int bind_aside(int fd, in_port_t port)
{
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    socklen_t n = sizeof(in6);

    if (NEXT(bind)(fd, (const struct sockaddr *)&in6, sizeof(in6)) < 0)
        return -1;
    if (fd < FDS && NEXT(getsockname)(fd, (struct sockaddr *)&in6, &n) == 0) {
        __atomic_store_n(&aside[fd].told, port, __ATOMIC_RELAXED);
        __atomic_store_n(&aside[fd].real, in6.sin6_port, __ATOMIC_RELEASE);
    }
    return 0;
}

static int bind_place(int fd, const struct place *p)
{
    struct sockaddr_storage out;
    struct place own = *p;

    own.ip = pre_self()->ip;
    if (p->six_only && option(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 1)
        return bind_aside(fd, p->port);
    socklen_t n = write_place(&own, &out);
    int r = NEXT(bind)(fd, (const struct sockaddr *)&out, n);
    if (r < 0 && errno == EADDRINUSE && p->six_only && is_local(p)) /* 127.0.0.1 has it already */
        return bind_aside(fd, p->port);
    return r;
}

/* Open MPI binds what it is about to connect to an address of no family at all, which the kernel
 * takes for a wildcard: connect chooses better. */
static bool is_nothing(const struct sockaddr *addr, socklen_t len)
{
    static const char zero[sizeof(struct sockaddr_in)];

    return addr && len >= sizeof(zero) && memcmp(addr, zero, sizeof(zero)) == 0;
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    struct place p;

    if (pre_self()->is && is_nothing(addr, len) && option(fd, SOL_SOCKET, SO_DOMAIN) == AF_INET)
        return 0;
    if (read_place(addr, len, &p) && (is_local(&p) || (is_wild(&p) && p.port)))
        return bind_place(fd, &p);
    return NEXT(bind)(fd, addr, len);
}

/* ---- where things go */

/* As it comes from another pod: its address, unless the program has chosen one. */
static void bind_source(int fd, bool six)
{
    struct sockaddr_storage at;
    struct place p;
    socklen_t n = sizeof(at);
    int on = 1, saved = errno;

    memset(&at, 0, sizeof(at));
    if (NEXT(getsockname)(fd, (struct sockaddr *)&at, &n) == 0 &&
        read_place((const struct sockaddr *)&at, n, &p) && is_wild(&p) && !p.port) {
        p = (struct place){ .ip = pre_self()->ip, .six = six };
        n = write_place(&p, &at);
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
        NEXT(bind)(fd, (const struct sockaddr *)&at, n);
    }
    errno = saved;
}

/* 1: out is to be used; 0: as it was; -1: errno says why not. */
static int redirect(int fd, const struct sockaddr *addr, socklen_t len,
                    struct sockaddr_storage *out, socklen_t *n)
{
    struct place p;
    int saved = errno;

    if (!read_place(addr, len, &p) || !pre_is_routed(p.ip))
        return 0;
    int type = option(fd, SOL_SOCKET, SO_TYPE);
    enum pre_route r = pre_route(type == SOCK_DGRAM ? IPPROTO_UDP : IPPROTO_TCP, &p.ip, &p.port);
    errno = saved;
    if (r == PRE_REFUSED) {
        errno = ECONNREFUSED;
        return -1;
    }
    bool pod = ntohl(p.ip.s_addr) >> 24 == IN_LOOPBACKNET && !is_local(&p);
    if (p.six && (r == PRE_CHANGED || pod) && !takes_v4(fd)) {
        errno = saved;
        return 0;
    }
    if (pod)
        bind_source(fd, p.six);
    *n = write_place(&p, out);
    return r == PRE_CHANGED;
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    struct sockaddr_storage out;
    socklen_t n = 0;
    int r = redirect(fd, addr, len, &out, &n);

    if (r < 0)
        return -1;
    return r ? NEXT(connect)(fd, (const struct sockaddr *)&out, n) : NEXT(connect)(fd, addr, len);
}

ssize_t sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *addr,
               socklen_t len)
{
    struct sockaddr_storage out;
    socklen_t n = 0;
    int r = addr ? redirect(fd, addr, len, &out, &n) : 0;

    if (r < 0)
        return -1;
    return r ? NEXT(sendto)(fd, buf, size, flags, (const struct sockaddr *)&out, n)
             : NEXT(sendto)(fd, buf, size, flags, addr, len);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    struct sockaddr_storage out;
    socklen_t n = 0;
    int r = msg && msg->msg_name ? redirect(fd, msg->msg_name, msg->msg_namelen, &out, &n) : 0;

    if (r < 0)
        return -1;
    if (!r)
        return NEXT(sendmsg)(fd, msg, flags);
    struct msghdr copy = *msg;
    copy.msg_name = &out;
    copy.msg_namelen = n;
    return NEXT(sendmsg)(fd, &copy, flags);
}

int sendmmsg(int fd, struct mmsghdr *msgs, unsigned count, int flags)
{
    bool any = false;

    for (unsigned i = 0; msgs && i < count; i++)
        any |= msgs[i].msg_hdr.msg_name != NULL;
    if (!any || !pre_self()->is)
        return NEXT(sendmmsg)(fd, msgs, count, flags);
    for (unsigned i = 0; i < count; i++) {
        ssize_t sent = sendmsg(fd, &msgs[i].msg_hdr, flags);
        if (sent < 0)
            return i ? (int)i : -1;
        msgs[i].msg_len = (unsigned)sent;
    }
    return (int)count;
}

/* ---- what a socket says of itself */

static void put_back(struct sockaddr *addr, const socklen_t *room, const struct sockaddr_storage *s,
                     socklen_t had)
{
    memcpy(addr, s, had < *room ? had : *room);
}

/* A datagram socket connected to the outside: programs look at it to learn their address. */
static bool asks_who_it_is(int fd, const struct place *p)
{
    struct sockaddr_storage peer = { 0 };
    struct place to;
    socklen_t n = sizeof(peer);

    return !is_wild(p) && ntohl(p->ip.s_addr) >> 24 != IN_LOOPBACKNET &&
           option(fd, SOL_SOCKET, SO_TYPE) == SOCK_DGRAM &&
           getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
           read_place((const struct sockaddr *)&peer, n, &to);
}

int getsockname(int fd, struct sockaddr *__restrict addr, socklen_t *__restrict len)
{
    socklen_t room = len ? *len : 0;
    int r = NEXT(getsockname)(fd, addr, len);
    struct sockaddr_storage s;
    struct place p;
    int saved = errno;

    if (r < 0 || !addr || !len || !pre_self()->is || *len > sizeof(s) || *len > room)
        return r;
    memcpy(&s, addr, *len);
    if (!read_place((const struct sockaddr *)&s, *len, &p))
        return r;
    if (p.six_only && is_local(&p) && fd >= 0 && fd < FDS && p.port &&
        __atomic_load_n(&aside[fd].real, __ATOMIC_ACQUIRE) == p.port) {
        struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
        in6.sin6_port = __atomic_load_n(&aside[fd].told, __ATOMIC_RELAXED);
        memcpy(&s, &in6, sizeof(in6));
        put_back(addr, &room, &s, *len);
    } else if (!p.six_only && asks_who_it_is(fd, &p)) {
        p.ip = pre_self()->ip;
        write_place(&p, &s);
        put_back(addr, &room, &s, *len);
    }
    errno = saved;
    return r;
}
