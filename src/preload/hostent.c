/* The older questions, gethostbyname and its kin: programs such as getent ask no others. */

#include "preload/preload.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

static void *next_gethostbyname, *next_gethostbyname2, *next_gethostbyname_r,
    *next_gethostbyname2_r, *next_gethostbyaddr, *next_gethostbyaddr_r;

PRE_START
{
    NEXT(gethostbyname);
    NEXT(gethostbyname2);
    NEXT(gethostbyname_r);
    NEXT(gethostbyname2_r);
    NEXT(gethostbyaddr);
    NEXT(gethostbyaddr_r);
}

struct room {
    char *at;
    size_t left;
};

static void *take(struct room *r, size_t size, size_t align)
{
    size_t skip = (align - (uintptr_t)r->at % align) % align;

    if (r->left < skip + size)
        return NULL;
    void *p = r->at + skip;
    r->at += skip + size;
    r->left -= skip + size;
    return p;
}

/* 0, or ERANGE: the caller's buffer is too small. */
/* NOLINTNEXTLINE(readability-non-const-parameter): all of the answer is in buf */
static int fill(const struct pre_found *found, int family, struct hostent *h, char *buf,
                size_t size)
{
    struct room room = { buf, size };
    size_t len = family == AF_INET6 ? 16 : 4;
    char **list = take(&room, (found->n + 1) * sizeof(char *), sizeof(char *));
    char **none = take(&room, sizeof(char *), sizeof(char *));
    char *name = take(&room, strlen(found->name) + 1, 1);
    unsigned char *addrs = take(&room, found->n * len, sizeof(uint32_t));

    if (!list || !none || !name || !addrs)
        return ERANGE;
    memcpy(name, found->name, strlen(found->name) + 1);
    memset(addrs, 0, found->n * len);
    for (size_t i = 0; i < found->n; i++) {
        unsigned char *at = addrs + i * len;
        if (family == AF_INET6)
            at[10] = at[11] = 0xff;
        memcpy(at + len - 4, &found->at[i], 4);
        list[i] = (char *)at;
    }
    list[found->n] = NULL;
    *none = NULL;
    *h = (struct hostent){ .h_name = name,
                           .h_aliases = none,
                           .h_addrtype = family,
                           .h_length = (int)len,
                           .h_addr_list = list };
    return 0;
}

enum verdict { OURS, NOBODYS, LIBCS };

static enum verdict ask(const char *name, int family, struct pre_found *found)
{
    if (!name || !pre_self()->is)
        return LIBCS;
    if (pre_find_name(name, found)) /* there are no IPv6 addresses */
        return family == AF_INET ? OURS : NOBODYS;
    return pre_is_nobodys(name) ? NOBODYS : LIBCS;
}

static enum verdict ask_addr(const void *addr, socklen_t len, int family, struct pre_found *found)
{
    struct in_addr ip;

    if (!pre_self()->is || !addr || family != AF_INET || len < sizeof(ip))
        return LIBCS;
    memcpy(&ip, addr, sizeof(ip));
    if (!pre_is_cluster_addr(ip))
        return LIBCS;
    memset(found, 0, sizeof(*found));
    if (!pre_find_addr(ip, found->name, sizeof(found->name)))
        return NOBODYS;
    found->at[found->n++] = ip;
    return OURS;
}

/* ---- with the caller's buffer */

static int give(enum verdict v, const struct pre_found *found, int family, struct hostent *h,
                char *buf, size_t size, struct hostent **out, int *why)
{
    *out = NULL;
    *why = HOST_NOT_FOUND;
    if (v == NOBODYS)
        return 0;
    int r = fill(found, family, h, buf, size);
    if (r != 0) {
        *why = NETDB_INTERNAL;
        errno = r;
        return r;
    }
    *why = NETDB_SUCCESS;
    *out = h;
    return 0;
}

int gethostbyname2_r(const char *__restrict name, int family, struct hostent *__restrict h,
                     char *__restrict buf, size_t size, struct hostent **__restrict out,
                     int *__restrict why)
{
    struct pre_found found;
    enum verdict v = ask(name, family, &found);

    if (v == LIBCS)
        return NEXT(gethostbyname2_r)(name, family, h, buf, size, out, why);
    return give(v, &found, family, h, buf, size, out, why);
}

int gethostbyname_r(const char *__restrict name, struct hostent *__restrict h, char *__restrict buf,
                    size_t size, struct hostent **__restrict out, int *__restrict why)
{
    struct pre_found found;
    enum verdict v = ask(name, AF_INET, &found);

    if (v == LIBCS)
        return NEXT(gethostbyname_r)(name, h, buf, size, out, why);
    return give(v, &found, AF_INET, h, buf, size, out, why);
}

int gethostbyaddr_r(const void *__restrict addr, socklen_t len, int family,
                    struct hostent *__restrict h, char *__restrict buf, size_t size,
                    struct hostent **__restrict out, int *__restrict why)
{
    struct pre_found found;
    enum verdict v = ask_addr(addr, len, family, &found);

    if (v == LIBCS)
        return NEXT(gethostbyaddr_r)(addr, len, family, h, buf, size, out, why);
    return give(v, &found, AF_INET, h, buf, size, out, why);
}

/* ---- with one of ours, a thread's own */

static struct hostent *give_own(enum verdict v, const struct pre_found *found, int family)
{
    static __thread struct hostent h;
    static __thread char buf[PRE_FOUND_MAX * 24 + PRE_NAME_MAX + 64];
    struct hostent *out = NULL;

    give(v, found, family, &h, buf, sizeof(buf), &out, &h_errno);
    return out;
}

struct hostent *gethostbyname2(const char *name, int family)
{
    struct pre_found found;
    enum verdict v = ask(name, family, &found);

    return v == LIBCS ? NEXT(gethostbyname2)(name, family) : give_own(v, &found, family);
}

struct hostent *gethostbyname(const char *name)
{
    struct pre_found found;
    enum verdict v = ask(name, AF_INET, &found);

    return v == LIBCS ? NEXT(gethostbyname)(name) : give_own(v, &found, AF_INET);
}

struct hostent *gethostbyaddr(const void *addr, socklen_t len, int family)
{
    struct pre_found found;
    enum verdict v = ask_addr(addr, len, family, &found);

    return v == LIBCS ? NEXT(gethostbyaddr)(addr, len, family) : give_own(v, &found, AF_INET);
}
