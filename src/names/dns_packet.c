/* See dns_packet.h. Names go out without compression, but for a question's own. */

#include "names/dns_packet.h"

#include <stdio.h>

enum { LABEL_MAX = 63, RECORDS_MOST = 16, TTL_S = 1, QR = 0x80, AA = 4, TC = 2, RD = 1, RA = 0x80 };

static uint16_t read16(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;

    return (uint16_t)(b[0] << 8 | b[1]);
}

/* ---- questions */

/* Name from at on; its end, 0: it is none. Nothing points elsewhere in a question. */
static size_t read_name(str packet, size_t at, struct dns_question *q)
{
    size_t n = 0;

    for (;;) {
        size_t len = at < packet.n ? (uint8_t)packet.p[at++] : LABEL_MAX + 1;
        if (len == 0)
            break;
        if (len > LABEL_MAX || at + len > packet.n || n + len + 2 > sizeof(q->name))
            return 0;
        if (n)
            q->name[n++] = '.';
        for (size_t i = 0; i < len; i++) {
            char c = packet.p[at + i];
            bool odd = c <= ' ' || c > '~' || c == '.';
            q->name[n++] = (char)(odd ? '?' : c >= 'A' && c <= 'Z' ? c + 32 : c);
        }
        at += len;
    }
    q->name[n] = 0;
    return at;
}

/* Past a record's name; 0: it has none. */
static size_t skip_name(str packet, size_t at)
{
    while (at < packet.n) {
        uint8_t len = (uint8_t)packet.p[at];
        if (len == 0)
            return at + 1;
        if (len >= 0xc0)
            return at + 2 <= packet.n ? at + 2 : 0;
        if (len > LABEL_MAX)
            return 0;
        at += 1U + len;
    }
    return 0;
}

/* Looks for the record by which a client says how much it takes. */
static int read_more(str packet, size_t at, size_t records, struct dns_question *q)
{
    if (records > RECORDS_MOST)
        return -1;
    for (size_t i = 0; i < records; i++) {
        at = skip_name(packet, at);
        if (!at || at + 10 > packet.n)
            return -1;
        uint16_t type = read16(packet.p + at), class = read16(packet.p + at + 2);
        at += 10U + read16(packet.p + at + 8);
        if (at > packet.n)
            return -1;
        if (type != DNS_OPT)
            continue;
        q->edns = true;
        q->udp_bytes = class < DNS_UDP_LEAST  ? DNS_UDP_LEAST
                       : class > DNS_UDP_MOST ? DNS_UDP_MOST
                                              : class;
    }
    return 0;
}

int dns_question_read(str packet, struct dns_question *q)
{
    *q = (struct dns_question){ .udp_bytes = DNS_UDP_LEAST };
    if (packet.n < DNS_HEAD || (packet.p[2] & QR))
        return -1;
    q->id = read16(packet.p);
    q->recursion = packet.p[2] & RD;
    if (packet.p[2] & 0x78) /* not a query */
        return DNS_NO_SUCH_THING;
    if (read16(packet.p + 4) != 1 || read16(packet.p + 6) || read16(packet.p + 8))
        return DNS_MALFORMED;
    size_t at = read_name(packet, DNS_HEAD, q);
    if (!at || at + 4 > packet.n)
        return DNS_MALFORMED;
    q->type = read16(packet.p + at);
    bool internet = read16(packet.p + at + 2) == 1;
    q->raw_n = at + 4 - DNS_HEAD;
    memcpy(q->raw, packet.p + DNS_HEAD, q->raw_n);
    if (read_more(packet, at + 4, read16(packet.p + 10), q) < 0)
        return DNS_MALFORMED;
    return internet ? DNS_OK : DNS_NO_SUCH_THING;
}

/* ---- answers */

static void add16(struct buf *b, unsigned n)
{
    buf_addc(b, (char)(n >> 8));
    buf_addc(b, (char)n);
}

static void add32(struct buf *b, uint32_t n)
{
    add16(b, n >> 16);
    add16(b, n & 0xffff);
}

static void add_name(struct buf *b, const char *name)
{
    for (str rest = str_of(name); rest.n;) {
        str label = str_sub(str_cut(&rest, '.'), 0, LABEL_MAX);
        if (!label.n)
            continue;
        buf_addc(b, (char)label.n);
        buf_add(b, label);
    }
    buf_addc(b, 0);
}

static void begin(struct buf *b, const char *owner, uint16_t type)
{
    if (owner)
        add_name(b, owner);
    else
        add16(b, 0xc000 | DNS_HEAD);
    add16(b, type);
    add16(b, 1);
    add32(b, TTL_S);
}

/* Keeps what was added since, if there is room for it. */
static void keep(struct dns_answer *w, size_t from, int section)
{
    enum { OPT_BYTES = 11 };

    if (w->b.n + OPT_BYTES > w->most) {
        w->b.n = from;
        w->cut = w->cut || section == 0;
        return;
    }
    w->counts[section]++;
}

void dns_answer_init(struct dns_answer *w, const struct dns_question *q, size_t most)
{
    *w = (struct dns_answer){ .most = most };
    memset(buf_room(&w->b, DNS_HEAD), 0, DNS_HEAD);
    w->b.n = DNS_HEAD;
    buf_add(&w->b, (str){ q->raw, q->raw_n });
}

static void add_a(struct dns_answer *w, const char *owner, uint32_t ip, int section)
{
    size_t from = w->b.n;

    begin(&w->b, owner, DNS_A);
    add16(&w->b, 4);
    add32(&w->b, ip);
    keep(w, from, section);
}

void dns_answer_a(struct dns_answer *w, const char *owner, uint32_t ip)
{
    add_a(w, owner, ip, 0);
}

void dns_answer_more_a(struct dns_answer *w, const char *owner, uint32_t ip)
{
    add_a(w, owner, ip, 2);
}

/* The bytes from at on are behind a length, which is set now. */
static void set_length(struct buf *b, size_t at)
{
    size_t n = b->n - at - 2;

    b->p[at] = (char)(n >> 8);
    b->p[at + 1] = (char)n;
}

void dns_answer_name(struct dns_answer *w, const char *owner, uint16_t type, const char *target)
{
    size_t from = w->b.n;

    begin(&w->b, owner, type);
    size_t at = w->b.n;
    add16(&w->b, 0);
    add_name(&w->b, target);
    set_length(&w->b, at);
    keep(w, from, 0);
}

void dns_answer_srv(struct dns_answer *w, uint16_t port, const char *target)
{
    size_t from = w->b.n;

    begin(&w->b, NULL, DNS_SRV);
    size_t at = w->b.n;
    add16(&w->b, 0);
    add16(&w->b, 0);   /* priority */
    add16(&w->b, 100); /* weight */
    add16(&w->b, port);
    add_name(&w->b, target);
    set_length(&w->b, at);
    keep(w, from, 0);
}

void dns_answer_soa(struct dns_answer *w, const char *zone)
{
    static const uint32_t times[] = { 1, 7200, 1800, 86400, TTL_S }; /* the last: of "no" */
    size_t from = w->b.n;
    char name[DNS_NAME_MAX];

    begin(&w->b, zone, DNS_SOA);
    size_t at = w->b.n;
    add16(&w->b, 0);
    snprintf(name, sizeof(name), "ns.dns.%s", zone);
    add_name(&w->b, name);
    snprintf(name, sizeof(name), "hostmaster.%s", zone);
    add_name(&w->b, name);
    for (size_t i = 0; i < COUNT(times); i++)
        add32(&w->b, times[i]);
    set_length(&w->b, at);
    keep(w, from, 1);
}

str dns_answer_done(struct dns_answer *w, const struct dns_question *q, int code, bool ours)
{
    if (q->edns) {
        buf_addc(&w->b, 0);
        add16(&w->b, DNS_OPT);
        add16(&w->b, DNS_UDP_MOST);
        add32(&w->b, 0);
        add16(&w->b, 0);
        w->counts[2]++;
    }
    char *p = w->b.p;
    dns_set_id(p, q->id);
    p[2] = (char)(QR | (ours ? AA : 0) | (w->cut ? TC : 0) | (q->recursion ? RD : 0));
    p[3] = (char)(RA | code);
    p[5] = q->raw_n ? 1 : 0;
    for (int i = 0; i < 3; i++) {
        p[6 + 2 * i] = (char)(w->counts[i] >> 8);
        p[7 + 2 * i] = (char)w->counts[i];
    }
    return buf_str(&w->b);
}

/* ---- asking further */

void dns_set_id(char *packet, uint16_t id)
{
    packet[0] = (char)(id >> 8);
    packet[1] = (char)id;
}

uint16_t dns_id(str packet)
{
    return read16(packet.p);
}

bool dns_is_answer_to(str packet, const struct dns_question *q)
{
    struct dns_question got = { 0 };

    if (packet.n < DNS_HEAD || !(packet.p[2] & QR) || read16(packet.p + 4) != 1)
        return false;
    size_t at = read_name(packet, DNS_HEAD, &got);
    return at && at + 4 <= packet.n && read16(packet.p + at) == q->type &&
           strcmp(got.name, q->name) == 0;
}

bool dns_reverse_read(str name, uint32_t *ip)
{
    uint32_t got = 0;

    if (!str_ends(name, S(".in-addr.arpa")))
        return false;
    str rest = str_sub(name, 0, name.n - strlen(".in-addr.arpa"));
    for (int i = 0; i < 4; i++) {
        int64_t n = -1;
        if (!rest.p || !str_to_int(str_cut(&rest, '.'), &n) || n < 0 || n > 255)
            return false;
        got |= (uint32_t)n << (8 * i);
    }
    *ip = got;
    return !rest.p;
}
