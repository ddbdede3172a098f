/* Names and addresses from the hosts file, read at each question as libc reads /etc/hosts. */

#include "preload/preload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 };

typedef bool line_fn(void *ctx, char *line); /* false: enough */

static void each_line(const char *path, line_fn *fn, void *ctx)
{
    char buf[LINE_MAX_BYTES + 1];
    size_t n = 0;
    bool skip = false; /* the rest of a line that is too long */
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    for (;;) {
        ssize_t got = read(fd, buf + n, LINE_MAX_BYTES - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
        char *from = buf, *nl;
        while ((nl = memchr(from, '\n', n - (size_t)(from - buf)))) {
            *nl = '\0';
            if (!skip && *from != '#' && !fn(ctx, from)) {
                close(fd);
                return;
            }
            skip = false;
            from = nl + 1;
        }
        n -= (size_t)(from - buf);
        memmove(buf, from, n);
        if (n == LINE_MAX_BYTES) {
            skip = true;
            n = 0;
        }
    }
    close(fd);
}

static char *word(char **rest)
{
    char *p = *rest + strspn(*rest, " \t\r");

    *rest = p + strcspn(p, " \t\r");
    if (**rest)
        *(*rest)++ = '\0';
    return *p ? p : NULL;
}

/* ---- names */

static bool same(const char *a, const char *b, size_t n)
{
    return strlen(b) == n && strncasecmp(a, b, n) == 0;
}

struct by_name {
    const char *name;
    size_t n;
    struct pre_found *out;
};

static void keep(struct pre_found *out, struct in_addr ip, const char *name)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].s_addr == ip.s_addr)
            return;
    if (!out->n)
        strncpy(out->name, name, sizeof(out->name) - 1);
    if (out->n < PRE_FOUND_MAX)
        out->at[out->n++] = ip;
}

static bool on_name(void *ctx, char *line)
{
    struct by_name *q = ctx;
    char *rest = line, *ip = word(&rest), *first = NULL;
    struct in_addr at;

    for (char *name; ip && (name = word(&rest));) {
        first = first ? first : name;
        if (same(q->name, name, q->n) && inet_pton(AF_INET, ip, &at) == 1) {
            keep(q->out, at, first);
            break;
        }
    }
    return true;
}

bool pre_find_name(const char *name, struct pre_found *out)
{
    const struct pre_self *me = pre_self();
    size_t n = strlen(name);
    int saved = errno;

    memset(out, 0, sizeof(*out));
    if (!me->is || !n || n >= PRE_NAME_MAX)
        return false;
    n -= name[n - 1] == '.';
    if (same(name, "localhost", n))
        return false; /* libc's; where it leads to is decided when it is used */
    if (same(name, me->hostname, n) || (me->fqdn[0] && same(name, me->fqdn, n))) {
        keep(out, me->ip, me->fqdn[0] ? me->fqdn : me->hostname);
        return true;
    }
    struct by_name q = { .name = name, .n = n, .out = out };
    each_line(me->hosts, on_name, &q);
    errno = saved;
    return out->n > 0;
}

static bool is_clusters(const char *name)
{
    static const char *const tails[] = { ".svc", ".cluster.local" };
    size_t n = strlen(name);

    n -= n && name[n - 1] == '.';
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        size_t t = strlen(tails[i]);
        if (n > t && strncasecmp(name + n - t, tails[i], t) == 0)
            return true;
    }
    return false;
}

struct by_word {
    const char *first; /* of the line; NULL: any */
    const char *other; /* one of the rest; NULL: any */
    bool found;
};

static bool on_word(void *ctx, char *line)
{
    struct by_word *q = ctx;
    char *rest = line, *first = word(&rest), *other;

    if (!first || (q->first && strcmp(first, q->first) != 0))
        return true;
    while (!q->found && (other = word(&rest)))
        q->found = !q->other || strcasecmp(other, q->other) == 0;
    return !q->found;
}

static bool has_line(const char *path, const char *first, const char *other)
{
    struct by_word q = { .first = first, .other = other };

    each_line(path, on_word, &q);
    return q.found;
}

bool pre_is_nobodys(const char *name)
{
    struct in_addr any;
    int saved = errno;

    if (!pre_self()->is)
        return false;
    if (is_clusters(name))
        return true;
    if (strpbrk(name, ".:") || strcasecmp(name, "localhost") == 0 || inet_aton(name, &any))
        return false;
    bool known = has_line("/etc/hosts", NULL, name) ||
                 has_line("/etc/resolv.conf", "search", NULL) ||
                 has_line("/etc/resolv.conf", "domain", NULL);
    errno = saved;
    return !known;
}

/* ---- addresses */

struct by_addr {
    struct in_addr ip;
    char *name;
    size_t size;
    bool found;
};

static bool on_addr(void *ctx, char *line)
{
    struct by_addr *q = ctx;
    char *rest = line, *ip = word(&rest), *name = word(&rest);
    struct in_addr at;

    if (!ip || !name || inet_pton(AF_INET, ip, &at) != 1 || at.s_addr != q->ip.s_addr ||
        strlen(name) >= q->size)
        return true;
    memcpy(q->name, name, strlen(name) + 1);
    q->found = true;
    return false;
}

bool pre_find_addr(struct in_addr ip, char *name, size_t size)
{
    const struct pre_self *me = pre_self();
    int saved = errno;

    if (!me->is || !pre_is_cluster_addr(ip))
        return false;
    if (ip.s_addr == me->ip.s_addr) {
        const char *own = me->fqdn[0] ? me->fqdn : me->hostname;
        if (strlen(own) >= size)
            return false;
        memcpy(name, own, strlen(own) + 1);
        return true;
    }
    struct by_addr q = { .ip = ip, .name = name, .size = size };
    each_line(me->hosts, on_addr, &q);
    errno = saved;
    return q.found;
}

static bool is_service_addr(struct in_addr ip)
{
    return (ntohl(ip.s_addr) & 0xffff0000u) == 0x0a600000u; /* 10.96.0.0/16 */
}

bool pre_is_cluster_addr(struct in_addr ip)
{
    uint32_t mine = ntohl(pre_self()->ip.s_addr);

    return (ntohl(ip.s_addr) & 0xffff0000u) == (mine & 0xffff0000u) || is_service_addr(ip);
}

/* ---- ClusterIPs: lines "tcp 10.96.0.7 80 127.64.0.3:8080 127.64.0.4:8080" */

struct by_service {
    const char *proto;
    struct in_addr ip;
    unsigned port;
    unsigned turn;
    bool known;
    bool found;
    struct in_addr to_ip;
    in_port_t to_port;
};

static bool read_port(const char *text, unsigned *out)
{
    unsigned n = 0;

    for (; *text >= '0' && *text <= '9' && n < 65536; text++)
        n = n * 10 + (unsigned)(*text - '0');
    *out = n;
    return *text == '\0' && n > 0 && n < 65536;
}

static bool on_service(void *ctx, char *line)
{
    struct by_service *q = ctx;
    char *rest = line, *proto = word(&rest), *ip = word(&rest), *port = word(&rest);
    char *to[64];
    unsigned n = 0, number = 0;
    struct in_addr at;

    if (!port || inet_pton(AF_INET, ip, &at) != 1 || at.s_addr != q->ip.s_addr)
        return true;
    q->known = true;
    if (strcmp(proto, q->proto) != 0 || !read_port(port, &number) || number != q->port)
        return true;
    while (n < 64 && (to[n] = word(&rest)))
        n++;
    if (!n)
        return false;
    char *one = to[q->turn % n], *colon = strrchr(one, ':');
    if (!colon || !read_port(colon + 1, &number))
        return false;
    *colon = '\0';
    q->found = inet_pton(AF_INET, one, &q->to_ip) == 1;
    q->to_port = htons((uint16_t)number);
    return false;
}

static enum pre_route to_service(int proto, struct in_addr *ip, in_port_t *port)
{
    static unsigned turn;
    struct by_service q = {
        .proto = proto == IPPROTO_UDP ? "udp" : "tcp",
        .ip = *ip,
        .port = ntohs(*port),
        .turn = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) + (unsigned)getpid(),
    };
    int saved = errno;

    each_line(pre_self()->services, on_service, &q);
    errno = saved;
    if (!q.found)
        return q.known ? PRE_REFUSED : PRE_PASS;
    *ip = q.to_ip;
    *port = q.to_port;
    return PRE_CHANGED;
}

bool pre_is_routed(struct in_addr ip)
{
    return ntohl(ip.s_addr) >> 24 == IN_LOOPBACKNET || ip.s_addr == htonl(INADDR_ANY) ||
           is_service_addr(ip);
}

enum pre_route pre_route(int proto, struct in_addr *ip, in_port_t *port)
{
    const struct pre_self *me = pre_self();

    if (!me->is)
        return PRE_PASS;
    if (is_service_addr(*ip))
        return to_service(proto, ip, port);
    if (ip->s_addr != htonl(INADDR_LOOPBACK) && ip->s_addr != htonl(INADDR_ANY))
        return PRE_PASS;
    for (size_t i = 0; i < me->nproxies; i++)
        if (me->proxies[i] == ntohs(*port))
            return PRE_PASS;
    *ip = me->ip;
    return PRE_CHANGED;
}
