/* Addresses: parsing as Go's net.ParseIP did before it refused leading zeros, printing as RFC 5952
 * asks. */

#include "kube/ip.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool parse4(str s, uint8_t out[4], bool *zeros)
{
    for (int i = 0; i < 4; i++) {
        unsigned v = 0;
        size_t n = 0;
        while (n < s.n && digit(s.p[n])) {
            v = v * 10 + (unsigned)(s.p[n] - '0');
            if (v > 255)
                return false;
            n++;
        }
        if (!n)
            return false;
        if (n > 1 && s.p[0] == '0')
            *zeros = true;
        out[i] = (uint8_t)v;
        s = str_sub(s, n, s.n);
        if (i < 3) {
            if (!s.n || s.p[0] != '.')
                return false;
            s = str_sub(s, 1, s.n);
        }
    }
    return s.n == 0;
}

static int hex(char c)
{
    if (digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One group of up to four hex digits; gives how many, 0 when there is none or it is too long. */
static size_t parse_group(str s, unsigned *out)
{
    size_t n = 0;

    *out = 0;
    while (n < s.n && hex(s.p[n]) >= 0) {
        if (n == 4)
            return 0;
        *out = *out * 16 + (unsigned)hex(s.p[n++]);
    }
    return n;
}

static bool spread(uint8_t out[16], size_t used, size_t gap)
{
    if (used == 16)
        return gap == SIZE_MAX;
    if (gap == SIZE_MAX)
        return false;
    memmove(out + 16 - (used - gap), out + gap, used - gap);
    memset(out + gap, 0, 16 - used);
    return true;
}

static bool parse6(str s, uint8_t out[16], bool *zeros)
{
    size_t used = 0;
    size_t gap = SIZE_MAX;

    if (str_starts(s, S("::"))) {
        gap = 0;
        s = str_sub(s, 2, s.n);
    }
    while (s.n && used < 16) {
        unsigned v;
        size_t n = parse_group(s, &v);
        if (!n)
            return false;
        if (n < s.n && s.p[n] == '.') {
            if (used > 12 || (gap == SIZE_MAX && used != 12) || !parse4(s, out + used, zeros))
                return false;
            used += 4;
            s = STR_NONE;
            break;
        }
        out[used++] = (uint8_t)(v >> 8);
        out[used++] = (uint8_t)v;
        s = str_sub(s, n, s.n);
        if (!s.n)
            break;
        if (s.p[0] != ':' || s.n == 1)
            return false;
        s = str_sub(s, 1, s.n);
        if (s.p[0] == ':') {
            if (gap != SIZE_MAX)
                return false;
            gap = used;
            s = str_sub(s, 1, s.n);
        }
    }
    return !s.n && spread(out, used, gap);
}

static const uint8_t mapped_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool ip_parse(str s, struct ip *out)
{
    struct ip ip = { .is4 = false };

    if (str_find(s, ':') < 0) {
        memcpy(ip.bytes, mapped_prefix, sizeof(mapped_prefix));
        ip.is4 = true;
        if (!parse4(s, ip.bytes + 12, &ip.leading_zeros))
            return false;
    } else {
        if (!parse6(s, ip.bytes, &ip.leading_zeros))
            return false;
        ip.mapped = memcmp(ip.bytes, mapped_prefix, sizeof(mapped_prefix)) == 0;
        ip.is4 = ip.mapped;
    }
    *out = ip;
    return true;
}

/* The longest run of at least two zero groups, the first of equals. */
static void zero_run(const uint8_t *b, int *from, int *to)
{
    *from = *to = -1;
    for (int i = 0; i < 16; i += 2) {
        int j = i;
        while (j < 16 && !b[j] && !b[j + 1])
            j += 2;
        if (j - i >= 4 && j - i > *to - *from) {
            *from = i;
            *to = j;
        }
        if (j > i)
            i = j - 2;
    }
}

static str text6(struct arena *a, const uint8_t *b)
{
    AUTO(buf) struct buf out = { 0 };
    int from;
    int to;

    zero_run(b, &from, &to);
    for (int i = 0; i < 16; i += 2) {
        if (i == from) {
            buf_add(&out, S("::"));
            i = to;
            if (i >= 16)
                break;
        } else if (i > 0) {
            buf_addc(&out, ':');
        }
        buf_printf(&out, "%x", (unsigned)(b[i] << 8 | b[i + 1]));
    }
    return arena_str(a, buf_str(&out));
}

str ip_text(struct arena *a, const struct ip *ip)
{
    const uint8_t *b = ip->bytes;

    if (!ip->is4)
        return text6(a, b);
    return arena_printf(a, "%u.%u.%u.%u", (unsigned)b[12], (unsigned)b[13], (unsigned)b[14],
                        (unsigned)b[15]);
}

static bool is_all_zero(const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (b[i])
            return false;
    return true;
}

bool ip_is_loopback(const struct ip *ip)
{
    return ip->is4 ? ip->bytes[12] == 127 : is_all_zero(ip->bytes, 15) && ip->bytes[15] == 1;
}

bool ip_is_unspecified(const struct ip *ip)
{
    return ip->is4 ? is_all_zero(ip->bytes + 12, 4) : is_all_zero(ip->bytes, 16);
}

bool ip_is_link_local(const struct ip *ip)
{
    return ip->is4 ? ip->bytes[12] == 169 && ip->bytes[13] == 254
                   : ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

bool ip_is_link_local_multicast(const struct ip *ip)
{
    return ip->is4 ? ip->bytes[12] == 224 && !ip->bytes[13] && !ip->bytes[14]
                   : ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 2;
}

bool cidr_parse(str s, struct cidr *out)
{
    ptrdiff_t slash = str_find(s, '/');
    struct cidr c = { .bits = 0 };
    int64_t bits;

    if (slash < 0 || !ip_parse(str_sub(s, 0, (size_t)slash), &c.ip))
        return false;
    str tail = str_sub(s, (size_t)slash + 1, s.n);
    if (!tail.n || !digit(tail.p[0]) || !str_to_int(tail, &bits) ||
        bits > (c.ip.is4 && !c.ip.mapped ? 32 : 128))
        return false;
    if (tail.n > 1 && tail.p[0] == '0')
        c.ip.leading_zeros = true;
    c.bits = (int)bits;
    *out = c;
    return true;
}

static void mask(struct ip *ip, int bits)
{
    int first = ip->is4 && !ip->mapped ? 96 : 0;

    for (int i = first + bits; i < 128; i++)
        ip->bytes[i / 8] &= (uint8_t) ~(0x80u >> (i % 8));
}

str cidr_text(struct arena *a, const struct cidr *c)
{
    struct ip ip = c->ip;
    bool as4 = ip.mapped && c->bits >= 96; /* shown as what it means */

    mask(&ip, c->bits);
    return arena_printf(a, "%" PRI_STR "/%d", STR_ARG(ip_text(a, &ip)), c->bits - (as4 ? 96 : 0));
}

bool cidr_contains(const struct cidr *outer, const struct cidr *inner)
{
    struct ip x = outer->ip;
    struct ip y = inner->ip;

    if (x.is4 != y.is4 || inner->bits < outer->bits)
        return false;
    mask(&x, outer->bits);
    mask(&y, outer->bits);
    return memcmp(x.bytes, y.bytes, sizeof(x.bytes)) == 0;
}

static const char not_an_ip[] = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
static const char not_a_cidr[] = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

void ip_check_legacy(struct problems *ps, const struct path *p, str s)
{
    struct ip ip;

    if (!ip_parse(s, &ip))
        problem_invalid(ps, p, jstr(ps->a, s), not_an_ip);
}

void ip_check(struct problems *ps, const struct path *p, str s)
{
    struct ip ip;

    if (!ip_parse(s, &ip)) {
        problem_invalid(ps, p, jstr(ps->a, s), not_an_ip);
        return;
    }
    if (ip.leading_zeros)
        problem_invalid(ps, p, jstr(ps->a, s), "must not have leading 0s");
    if (ip.mapped)
        problem_invalid(ps, p, jstr(ps->a, s), "must not be an IPv4-mapped IPv6 address");
    if (ip.leading_zeros || ip.mapped)
        return;
    str canonical = ip_text(ps->a, &ip);
    if (!str_eq(canonical, s))
        problem_invalid(ps, p, jstr(ps->a, s), "must be in canonical form (\"%" PRI_STR "\")",
                        STR_ARG(canonical));
}

void cidr_check_legacy(struct problems *ps, const struct path *p, str s)
{
    struct cidr c;

    if (!cidr_parse(s, &c))
        problem_invalid(ps, p, jstr(ps->a, s), not_a_cidr);
}
