/* DNS messages (RFC 1035, 3596, 2782, 6891) in and out of bytes: what a server of cluster names
 * needs. PURE. */
#pragma once

#include "base/buf.h"

enum {
    DNS_A = 1,
    DNS_CNAME = 5,
    DNS_SOA = 6,
    DNS_PTR = 12,
    DNS_AAAA = 28,
    DNS_SRV = 33,
    DNS_OPT = 41,
    DNS_ANY = 255,
};

enum { DNS_OK = 0, DNS_MALFORMED = 1, DNS_FAILED = 2, DNS_UNKNOWN = 3, DNS_NO_SUCH_THING = 4 };

enum {
    DNS_HEAD = 12,
    DNS_NAME_MAX = 255,
    DNS_UDP_LEAST = 512, /* what every client takes */
    DNS_UDP_MOST = 1232, /* what goes through any network in one piece */
    DNS_TCP_MOST = 65535,
};

struct dns_question {
    uint16_t id;
    uint16_t type;
    bool recursion;          /* is desired */
    bool edns;               /* the client speaks it */
    size_t udp_bytes;        /* that the client takes */
    char name[DNS_NAME_MAX]; /* in lower case, without the last dot; bytes that no name has: '?' */
    char raw[DNS_NAME_MAX + 6]; /* the question as it was, for the answer */
    size_t raw_n;
};

/* DNS_OK, or the code to answer with (q has the id); -1: nothing that can be answered. */
int dns_question_read(str packet, struct dns_question *q);

/* An answer being made. */
struct dns_answer {
    struct buf b;
    size_t most;        /* bytes */
    uint16_t counts[3]; /* answers, authority, additional */
    bool cut;           /* not all went in */
};

void dns_answer_init(struct dns_answer *w, const struct dns_question *q, size_t most);
/* Records: owner NULL is the question's own name. They follow each other by section. */
void dns_answer_a(struct dns_answer *w, const char *owner, uint32_t ip);
void dns_answer_name(struct dns_answer *w, const char *owner, uint16_t type, const char *target);
void dns_answer_srv(struct dns_answer *w, uint16_t port, const char *target);
void dns_answer_soa(struct dns_answer *w, const char *zone); /* authority: why there is nothing */
void dns_answer_more_a(struct dns_answer *w, const char *owner, uint32_t ip); /* additional */
/* The whole message, in w->b. */
str dns_answer_done(struct dns_answer *w, const struct dns_question *q, int code, bool ours);

/* The question's id with another: for who asks further. The packet has at least DNS_HEAD bytes. */
void dns_set_id(char *packet, uint16_t id);
uint16_t dns_id(str packet);
/* Whether the packet answers the question. */
bool dns_is_answer_to(str packet, const struct dns_question *q);
/* "5.0.42.10.in-addr.arpa": 10.42.0.5. */
bool dns_reverse_read(str name, uint32_t *ip);
