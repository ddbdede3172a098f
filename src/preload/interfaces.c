/* The machine's interfaces, as a pod sees them: one, beside lo, with the pod's address, so that
 * programs that tell others where they listen tell the truth. */

#include "preload/preload.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

static void *next_getifaddrs, *next_ioctl;

PRE_START
{
    NEXT(getifaddrs);
    NEXT(ioctl);
}

static void set_ip(struct sockaddr *addr, struct in_addr ip)
{
    struct sockaddr_in in;

    memcpy(&in, addr, sizeof(in));
    in.sin_addr = ip;
    memcpy(addr, &in, sizeof(in));
}

static struct in_addr part(bool broadcast)
{
    struct in_addr ip = pre_self()->ip;

    ip.s_addr = broadcast ? ip.s_addr | htonl(0xffff) : htonl(0xffff0000u);
    return ip;
}

/* What is left out stays in libc's one block of memory, and is freed with it. */
int getifaddrs(struct ifaddrs **out)
{
    int r = NEXT(getifaddrs)(out);
    bool shown = false;

    if (r < 0 || !pre_self()->is)
        return r;
    for (struct ifaddrs *at = *out, *before = NULL; at; at = at->ifa_next) {
        int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
        bool ip = family == AF_INET || family == AF_INET6;
        if (ip && !(at->ifa_flags & IFF_LOOPBACK)) {
            if (before && (family == AF_INET6 || shown)) {
                before->ifa_next = at->ifa_next;
                continue;
            }
            if (family == AF_INET) {
                shown = true;
                set_ip(at->ifa_addr, pre_self()->ip);
                if (at->ifa_netmask)
                    set_ip(at->ifa_netmask, part(false));
                if ((at->ifa_flags & IFF_BROADCAST) && at->ifa_broadaddr)
                    set_ip(at->ifa_broadaddr, part(true));
            }
        }
        before = at;
    }
    return r;
}

static bool is_lo(const char *name)
{
    return strncmp(name, "lo", IFNAMSIZ) == 0;
}

static void list(struct ifconf *conf)
{
    size_t n = conf->ifc_req ? (size_t)conf->ifc_len / sizeof(struct ifreq) : 0, kept = 0;
    bool shown = false;

    for (size_t i = 0; i < n; i++) {
        struct ifreq *q = &conf->ifc_req[i];
        bool other = !is_lo(q->ifr_name) && q->ifr_addr.sa_family == AF_INET;
        if (other && shown)
            continue;
        if (other)
            set_ip(&q->ifr_addr, pre_self()->ip);
        shown |= other;
        if (kept != i)
            conf->ifc_req[kept] = *q;
        kept++;
    }
    if (conf->ifc_req)
        conf->ifc_len = (int)(kept * sizeof(struct ifreq));
}

int ioctl(int fd, unsigned long what, ...)
{
    va_list ap;

    va_start(ap, what);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    int r = NEXT(ioctl)(fd, what, arg);
    if (r < 0 || !arg || !pre_self()->is)
        return r;
    struct ifreq *q = arg;
    if (what == SIOCGIFCONF)
        list(arg);
    else if (what == SIOCGIFADDR && !is_lo(q->ifr_name) && q->ifr_addr.sa_family == AF_INET)
        set_ip(&q->ifr_addr, pre_self()->ip);
    else if (what == SIOCGIFNETMASK && !is_lo(q->ifr_name))
        set_ip(&q->ifr_addr, part(false));
    else if (what == SIOCGIFBRDADDR && !is_lo(q->ifr_name))
        set_ip(&q->ifr_addr, part(true));
    return r;
}
