/* Names to addresses and back: what the cluster knows first, then whatever libc does. */

#include "preload/preload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void *next_getaddrinfo, *next_getnameinfo, *next_gethostname, *next_uname;

PRE_START
{
    NEXT(getaddrinfo);
    NEXT(getnameinfo);
    NEXT(gethostname);
    NEXT(uname);
}

/* ---- getaddrinfo: libc's own answer for each address, put together */

static int answer(const struct pre_found *found, const char *service, const struct addrinfo *hints,
                  struct addrinfo **out)
{
    struct addrinfo how = { .ai_family = AF_UNSPEC }, *first = NULL, **end = &first;
    int why = EAI_NONAME;

    if (hints)
        how = *hints;
    bool canon = how.ai_flags & AI_CANONNAME;
    how.ai_flags |= AI_NUMERICHOST;
    how.ai_flags &= ~(AI_ADDRCONFIG | AI_CANONNAME);
    for (size_t i = 0; i < found->n; i++) {
        char text[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &found->at[i], text, sizeof(text));
        int r = NEXT(getaddrinfo)(text, service, &how, end);
        if (r != 0) {
            *end = NULL;
            why = r == EAI_ADDRFAMILY ? EAI_NONAME : r;
            continue;
        }
        while (*end)
            end = &(*end)->ai_next;
    }
    if (!first)
        return why;
    if (canon)
        first->ai_canonname = strdup(found->name);
    *out = first;
    return 0;
}

int getaddrinfo(const char *__restrict node, const char *__restrict service,
                const struct addrinfo *__restrict hints, struct addrinfo **__restrict out)
{
    struct pre_found found;
    bool numeric = hints && (hints->ai_flags & AI_NUMERICHOST);

    if (!node || numeric || !pre_self()->is)
        return NEXT(getaddrinfo)(node, service, hints, out);
    if (pre_find_name(node, &found))
        return answer(&found, service, hints, out);
    if (pre_is_nobodys(node))
        return EAI_NONAME;
    return NEXT(getaddrinfo)(node, service, hints, out);
}

static bool addr_of(const struct sockaddr *addr, socklen_t len, struct in_addr *ip)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (!addr || len < sizeof(sa_family_t))
        return false;
    if (addr->sa_family == AF_INET && len >= sizeof(in)) {
        memcpy(&in, addr, sizeof(in));
        *ip = in.sin_addr;
        return true;
    }
    if (addr->sa_family != AF_INET6 || len < sizeof(in6))
        return false;
    memcpy(&in6, addr, sizeof(in6));
    memcpy(ip, &in6.sin6_addr.s6_addr[12], sizeof(*ip));
    return IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr);
}

int getnameinfo(const struct sockaddr *__restrict addr, socklen_t len, char *__restrict host,
                socklen_t host_size, char *__restrict service, socklen_t service_size, int flags)
{
    struct in_addr ip;
    char name[PRE_NAME_MAX];

    if (!pre_self()->is || (flags & NI_NUMERICHOST) || !host || !host_size ||
        !addr_of(addr, len, &ip) || !pre_is_cluster_addr(ip))
        return NEXT(getnameinfo)(addr, len, host, host_size, service, service_size, flags);
    bool found = pre_find_addr(ip, name, sizeof(name));
    if (!found && (flags & NI_NAMEREQD))
        return EAI_NONAME;
    if (found && strlen(name) >= host_size)
        return EAI_OVERFLOW;
    flags = (flags & ~NI_NAMEREQD) | NI_NUMERICHOST; /* nobody else knows */
    int r = NEXT(getnameinfo)(addr, len, host, host_size, service, service_size, flags);
    if (r == 0 && found)
        memcpy(host, name, strlen(name) + 1);
    return r;
}

/* ---- who we are */

int gethostname(char *name, size_t size)
{
    const struct pre_self *me = pre_self();
    size_t n = strlen(me->hostname);

    if (!me->is || !n)
        return NEXT(gethostname)(name, size);
    memcpy(name, me->hostname, n < size ? n + 1 : size);
    if (n >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

int uname(struct utsname *u)
{
    const struct pre_self *me = pre_self();
    int r = NEXT(uname)(u);
    size_t n = strlen(me->hostname);

    if (r == 0 && me->is && n && n < sizeof(u->nodename))
        memcpy(u->nodename, me->hostname, n + 1);
    return r;
}
