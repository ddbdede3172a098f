/* DNS: questions read, answers made, and what a namespace has to say. */

#include "names/dns_zone.h"
#include "tap.h"

static void add16(struct buf *b, unsigned n)
{
    buf_addc(b, (char)(n >> 8));
    buf_addc(b, (char)n);
}

static void add_name(struct buf *b, const char *name)
{
    for (str rest = str_of(name); rest.n;) {
        str label = str_cut(&rest, '.');
        buf_addc(b, (char)label.n);
        buf_add(b, label);
    }
    buf_addc(b, 0);
}

static void ask(struct buf *b, const char *name, unsigned type, unsigned udp_bytes)
{
    buf_clear(b);
    add16(b, 4711);
    add16(b, 0x100);
    add16(b, 1);
    add16(b, 0);
    add16(b, 0);
    add16(b, udp_bytes ? 1 : 0);
    add_name(b, name);
    add16(b, type);
    add16(b, 1);
    if (!udp_bytes)
        return;
    buf_addc(b, 0);
    add16(b, DNS_OPT);
    add16(b, udp_bytes);
    add16(b, 0);
    add16(b, 0);
    add16(b, 0);
}

static void questions_are_read(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct dns_question q;

    ask(&b, "Web.Default.SVC.cluster.local", DNS_A, 0);
    is_int(dns_question_read(buf_str(&b), &q), DNS_OK, "a question");
    is_str(str_of(q.name), S("web.default.svc.cluster.local"), "its name, in lower case");
    ok(q.id == 4711 && q.type == DNS_A && q.recursion && !q.edns && q.udp_bytes == 512,
       "and what else it says");
    ask(&b, "x.y", DNS_SRV, 4096);
    is_int(dns_question_read(buf_str(&b), &q), DNS_OK, "one with EDNS");
    ok(q.edns && q.udp_bytes == DNS_UDP_MOST, "says what it takes; not all of it is given");
    ask(&b, "x.y", DNS_A, 100);
    dns_question_read(buf_str(&b), &q);
    is_int((int64_t)q.udp_bytes, 512, "nor less than all take");
    ask(&b, "", DNS_A, 0);
    is_int(dns_question_read(buf_str(&b), &q), DNS_OK, "of the root");
    is_str(str_of(q.name), S(""), "which has no name");
}

static void what_is_no_question(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct dns_question q;

    ask(&b, "x.y", DNS_A, 512);
    bool whole = true;
    for (size_t n = 0; n < b.n; n++)
        whole = whole && dns_question_read((str){ b.p, n }, &q) != DNS_OK;
    ok(whole, "no part of one is one");
    is_int(dns_question_read(str_sub(buf_str(&b), 0, 11), &q), -1, "too short to be answered");
    b.p[2] = (char)0x81;
    is_int(dns_question_read(buf_str(&b), &q), -1, "an answer is not answered");
    b.p[2] = 0x28;
    is_int(dns_question_read(buf_str(&b), &q), DNS_NO_SUCH_THING, "an update");
    ask(&b, "x.y", DNS_A, 0);
    b.p[5] = 2;
    is_int(dns_question_read(buf_str(&b), &q), DNS_MALFORMED, "two questions");
    ask(&b, "x.y", DNS_A, 0);
    b.p[DNS_HEAD] = (char)0xc0;
    is_int(dns_question_read(buf_str(&b), &q), DNS_MALFORMED, "a name that points elsewhere");
    char longest[400];
    memset(longest, 'a', sizeof(longest));
    for (size_t i = 50; i < sizeof(longest); i += 51)
        longest[i] = '.';
    longest[sizeof(longest) - 1] = 0;
    ask(&b, longest, DNS_A, 0);
    is_int(dns_question_read(buf_str(&b), &q), DNS_MALFORMED, "a name that is too long");
    ask(&b, "a b.c", DNS_A, 0);
    dns_question_read(buf_str(&b), &q);
    is_str(str_of(q.name), S("a?b.c"), "odd bytes match no name");
}

static void addresses_are_read_backwards(void)
{
    uint32_t ip = 0;

    ok(dns_reverse_read(S("5.0.42.10.in-addr.arpa"), &ip) && ip == 0x0a2a0005, "an address");
    ok(!dns_reverse_read(S("0.42.10.in-addr.arpa"), &ip), "part of one");
    ok(!dns_reverse_read(S("1.5.0.42.10.in-addr.arpa"), &ip), "too much of one");
    ok(!dns_reverse_read(S("256.0.42.10.in-addr.arpa"), &ip), "too large");
    ok(!dns_reverse_read(S("in-addr.arpa"), &ip), "none");
}

/* ---- what is answered, as words */

static unsigned at16(const char *p)
{
    return (unsigned)((uint8_t)p[0] << 8 | (uint8_t)p[1]);
}

static size_t print_name(str packet, size_t at, struct buf *to)
{
    if ((uint8_t)packet.p[at] == 0xc0) {
        buf_add(to, S("~"));
        return at + 2;
    }
    for (const char *dot = ""; packet.p[at]; at += 1U + (uint8_t)packet.p[at], dot = ".")
        buf_printf(to, "%s%.*s", dot, packet.p[at], packet.p + at + 1);
    return at + 1;
}

/* "RCODE [cut] record; record" */
static str words(struct arena *a, str packet, const struct dns_question *q)
{
    AUTO(buf) struct buf b = { 0 };
    unsigned n = at16(packet.p + 6) + at16(packet.p + 8) + at16(packet.p + 10);
    size_t at = DNS_HEAD + q->raw_n;

    buf_printf(&b, "%d%s", packet.p[3] & 15, packet.p[2] & 2 ? " cut" : "");
    for (unsigned i = 0; i < n; i++) {
        buf_addc(&b, ' ');
        at = print_name(packet, at, &b);
        unsigned type = at16(packet.p + at), size = at16(packet.p + at + 8);
        const char *data = packet.p + at + 10;
        at += 10;
        if (type == DNS_A)
            buf_printf(&b, "=%u.%u.%u.%u", (uint8_t)data[0], (uint8_t)data[1], (uint8_t)data[2],
                       (uint8_t)data[3]);
        else if (type == DNS_SRV)
            buf_printf(&b, "=%u:", at16(data + 4)), print_name(packet, at + 6, &b);
        else if (type == DNS_CNAME || type == DNS_PTR)
            buf_printf(&b, "->"), print_name(packet, at, &b);
        else
            buf_printf(&b, "#%u", type);
        at += size;
    }
    if (at != packet.n)
        buf_add(&b, S(" and rubbish"));
    return arena_str(a, buf_str(&b));
}

static str asked(struct arena *a, const struct dns_zone *z, const char *name, unsigned type,
                 unsigned turn)
{
    AUTO(buf) struct buf b = { 0 };
    struct dns_question q;
    struct dns_answer out;

    ask(&b, name, type, 0);
    dns_question_read(buf_str(&b), &q);
    dns_answer_init(&out, &q, q.udp_bytes);
    bool known = dns_zone_answer(z, &q, turn, &out);
    str got = words(a, dns_answer_done(&out, &q, known ? DNS_OK : DNS_UNKNOWN, true), &q);
    buf_done(&out.b);
    return got;
}

static void a_namespace_answers(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *services =
        J("[{'metadata': {'name': 'web', 'namespace': 'ns'}, 'spec': {'clusterIP': '10.96.0.7', "
          "'selector': {'app': 'w'}, 'ports': [{'name': 'http', 'port': 80, 'targetPort': 8080}]}},"
          "{'metadata': {'name': 'heads', 'namespace': 'ns'}, 'spec': {'clusterIP': 'None', "
          "'selector': {'app': 'w'}, 'ports': [{'name': 'http', 'port': 8080}, {'port': 9}]}},"
          "{'metadata': {'name': 'far', 'namespace': 'ns'}, 'spec': {'type': 'ExternalName', "
          "'externalName': 'db.example.com'}},"
          "{'metadata': {'name': 'other', 'namespace': 'elsewhere'}, 'spec': {'clusterIP': "
          "'10.96.0.8'}}]");
    AUTO(jdoc)
    struct jdoc *one = J("{'metadata': {'name': 'p1', 'namespace': 'ns', 'labels': "
                         "{'app': 'w'}}, 'spec': {'hostname': 'h1', 'subdomain': "
                         "'heads'}}");
    AUTO(jdoc)
    struct jdoc *two = J("{'metadata': {'name': 'p2', 'namespace': 'ns', 'labels': "
                         "{'app': 'w'}}, 'spec': {}}");
    AUTO(jdoc)
    struct jdoc *late = J("{'metadata': {'name': 'p3', 'namespace': 'ns', 'labels': "
                          "{'app': 'w'}}, 'spec': {}}");
    struct names_pod pods[] = { { jdoc_root(one), S("10.42.0.2"), true, false },
                                { jdoc_root(two), S("10.42.0.3"), true, false },
                                { jdoc_root(late), S("10.42.0.4"), false, false } };
    struct names_world w = { .ns = S("ns"),
                             .services = jdoc_root(services),
                             .pods = pods,
                             .n = COUNT(pods),
                             .cluster_ips = true };
    struct dns_zone *z = dns_zone_new(&w);
    static const struct {
        const char *name;
        unsigned type, turn;
        const char *want;
    } rows[] = {
        { "web.ns.svc.cluster.local", DNS_A, 0, "0 ~=10.96.0.7" },
        { "WEB.ns.svc.cluster.local", DNS_A, 3, "0 ~=10.96.0.7" },
        { "web.ns.svc.cluster.local", DNS_AAAA, 0, "0" },
        { "heads.ns.svc.cluster.local", DNS_A, 0, "0 ~=10.42.0.2 ~=10.42.0.3" },
        { "heads.ns.svc.cluster.local", DNS_A, 1, "0 ~=10.42.0.3 ~=10.42.0.2" },
        { "h1.heads.ns.svc.cluster.local", DNS_A, 0, "0 ~=10.42.0.2" },
        { "10-42-0-3.heads.ns.svc.cluster.local", DNS_A, 0, "0 ~=10.42.0.3" },
        { "_http._tcp.web.ns.svc.cluster.local", DNS_SRV, 0,
          "0 ~=80:web.ns.svc.cluster.local web.ns.svc.cluster.local=10.96.0.7" },
        { "_http._tcp.heads.ns.svc.cluster.local", DNS_SRV, 0,
          "0 ~=8080:h1.heads.ns.svc.cluster.local ~=8080:10-42-0-3.heads.ns.svc.cluster.local "
          "h1.heads.ns.svc.cluster.local=10.42.0.2 "
          "10-42-0-3.heads.ns.svc.cluster.local=10.42.0.3" },
        { "far.ns.svc.cluster.local", DNS_A, 0, "0 ~->db.example.com" },
        { "other.elsewhere.svc.cluster.local", DNS_A, 0, "3" },
        { "10-42-0-4.heads.ns.svc.cluster.local", DNS_A, 0, "3" },
        { "nobody.ns.svc.cluster.local", DNS_A, 0, "3" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        is_str(asked(a, z, rows[i].name, rows[i].type, rows[i].turn), str_of(rows[i].want),
               rows[i].name);
    is_str(str_of(dns_zone_reverse(z, 0x0a2a0002)), S("h1.heads.ns.svc.cluster.local"),
           "the name of an address");
    is_str(str_of(dns_zone_reverse(z, 0x0a600007)), S("web.ns.svc.cluster.local"), "of a service");
    ok(!dns_zone_reverse(z, 0x0a2a0004), "of a pod that is not ready: none");
    dns_zone_free(z);
    w.cluster_ips = false;
    z = dns_zone_new(&w);
    is_str(asked(a, z, "web.ns.svc.cluster.local", DNS_A, 0), S("0 ~=10.42.0.2 ~=10.42.0.3"),
           "without ClusterIPs services stand for what is ready");
    dns_zone_free(z);
}

static void what_does_not_fit_is_cut(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct dns_question q;
    struct dns_answer out;

    ask(&b, "many.ns.svc.cluster.local", DNS_A, 0);
    dns_question_read(buf_str(&b), &q);
    dns_answer_init(&out, &q, q.udp_bytes);
    for (uint32_t i = 0; i < 100; i++)
        dns_answer_a(&out, NULL, i);
    str got = dns_answer_done(&out, &q, DNS_OK, true);
    ok(got.n <= 512 && (got.p[2] & 2) && at16(got.p + 6) == out.counts[0] && out.counts[0] > 20,
       "an answer is as long as the client takes, and says so (%d)", (int)out.counts[0]);
    buf_done(&out.b);
}

static void names_are_told_apart(void)
{
    is_str(dns_namespace(S("a.b.svc.cluster.local")), S("b"), "the namespace of a service");
    is_str(dns_namespace(S("_p._tcp.a.b.svc.cluster.local")), S("b"), "of a port");
    is_str(dns_namespace(S("b.svc.cluster.local")), STR_NONE, "of nothing");
    is_str(dns_namespace(S("svc.cluster.local")), STR_NONE, "of even less");
    ok(dns_is_cluster(S("cluster.local")) && dns_is_cluster(S("x.cluster.local")) &&
           !dns_is_cluster(S("mycluster.local")) && !dns_is_cluster(S("")),
       "names that are ours");
}

static void answers_are_told_from_lies(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct dns_question q;

    ask(&b, "Example.com", DNS_A, 0);
    dns_question_read(buf_str(&b), &q);
    ok(!dns_is_answer_to(buf_str(&b), &q), "a question is no answer");
    b.p[2] = (char)0x81;
    ok(dns_is_answer_to(buf_str(&b), &q), "an answer is");
    q.type = DNS_AAAA;
    ok(!dns_is_answer_to(buf_str(&b), &q), "not to another question");
    b.p[DNS_HEAD + 1] = 'x';
    q.type = DNS_A;
    ok(!dns_is_answer_to(buf_str(&b), &q), "nor of another name");
}

int main(void)
{
    questions_are_read();
    what_is_no_question();
    addresses_are_read_backwards();
    names_are_told_apart();
    a_namespace_answers();
    what_does_not_fit_is_cut();
    answers_are_told_from_lies();
    return tap_done();
}
