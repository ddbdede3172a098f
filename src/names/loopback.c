/* One bit an address; the reservation is an abstract socket, which is the network namespace's and
 * goes with whoever holds it. */

#include "names/loopback.h"

#include "base/mem.h"
#include "loop/loop.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_BLOCK = 64, BLOCKS = 190, ADDRS = 1 << 16 };

struct names_addrs {
    uint32_t base;
    int lock;      /* -1: all blocks are taken; then we share one */
    uint32_t last; /* given out last */
    uint8_t used[ADDRS / 8];
};

static int reserve(unsigned block)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "muster-127.%u", block);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

struct names_addrs *names_addrs_new(str data)
{
    struct names_addrs *s = mem_new(sizeof(*s));
    unsigned start = (unsigned)(str_hash(data) % BLOCKS), block = FIRST_BLOCK + start;

    s->lock = -1;
    for (unsigned i = 0; i < BLOCKS && s->lock < 0; i++) {
        block = FIRST_BLOCK + (start + i) % BLOCKS;
        s->lock = reserve(block);
    }
    s->base = 127u << 24 | block << 16;
    /* Connections of an earlier server's pods keep ports of their addresses for a minute
     * (TIME_WAIT). A program that binds one without SO_REUSEADDR, as LightGBM does, would fail. */
    random_bytes(&s->last, sizeof(s->last));
    s->last %= ADDRS;
    return s;
}

void names_addrs_free(struct names_addrs *s)
{
    if (s && s->lock >= 0)
        close(s->lock);
    free(s);
}

/* Its number in the block, 0: not in it. */
static uint32_t number(const struct names_addrs *s, str ip)
{
    char text[INET_ADDRSTRLEN] = "";
    struct in_addr at;

    if (ip.n >= sizeof(text))
        return 0;
    memcpy(text, ip.p ? ip.p : "", ip.n);
    if (inet_pton(AF_INET, text, &at) != 1 || (ntohl(at.s_addr) & 0xffff0000u) != s->base)
        return 0;
    return ntohl(at.s_addr) & 0xffff;
}

static bool is_used(const struct names_addrs *s, uint32_t n)
{
    return s->used[n / 8] >> n % 8 & 1;
}

void names_addrs_mark(struct names_addrs *s, str ip)
{
    uint32_t n = number(s, ip);

    if (!n)
        return;
    s->used[n / 8] |= (uint8_t)(1u << n % 8);
    s->last = n; /* the next ones are from behind it */
}

void names_addrs_give(struct names_addrs *s, str ip)
{
    uint32_t n = number(s, ip);

    if (n)
        s->used[n / 8] &= (uint8_t) ~(1u << n % 8);
}

str names_addrs_take(struct names_addrs *s, struct arena *a)
{
    for (uint32_t i = 1; i <= ADDRS; i++) {
        uint32_t n = (s->last + i) % ADDRS, low = n & 0xff;
        if (low == 0 || low == 0xff || n == 1 || is_used(s, n))
            continue;
        str ip = arena_printf(a, "127.%u.%u.%u", s->base >> 16 & 0xff, n >> 8, low);
        names_addrs_mark(s, ip);
        return ip;
    }
    return STR_NONE;
}
