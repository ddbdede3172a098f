/* Questions that are asked further: of a server that answers, of one that is not there, of none. */

#include "names/dns_forward.h"
#include "tap.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop *l;
static int server = -1, port;
static char file[] = "/tmp/muster-resolv-XXXXXX";

static void open_server(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(a);

    server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(server, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
        getsockname(server, (struct sockaddr *)&a, &n) < 0)
        abort();
    port = ntohs(a.sin_port);
}

/* Answers what came, if anything: first with lies, then in earnest. */
static void serve(void)
{
    struct sockaddr_in from;
    socklen_t n = sizeof(from);
    char packet[600];
    ssize_t got = recvfrom(server, packet, sizeof(packet), 0, (struct sockaddr *)&from, &n);

    if (got < DNS_HEAD)
        return;
    packet[2] = (char)0x81;
    packet[0] ^= 1;
    sendto(server, packet, (size_t)got, 0, (const struct sockaddr *)&from, n);
    packet[0] ^= 1;
    sendto(server, packet, 5, 0, (const struct sockaddr *)&from, n);
    packet[3] = 3;
    sendto(server, packet, (size_t)got, 0, (const struct sockaddr *)&from, n);
}

struct told {
    int times;
    struct buf packet;
};

static void on_done(void *ctx, str packet)
{
    struct told *t = ctx;

    t->times++;
    buf_add(&t->packet, packet);
}

static str question(struct dns_question *q)
{
    static const char packet[] = "\0\7\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1";
    str s = { packet, sizeof(packet) - 1 };

    if (dns_question_read(s, q) != DNS_OK)
        abort();
    return s;
}

static struct dns_further *servers(const char *text)
{
    FILE *f = fopen(file, "w");

    if (!f)
        abort();
    fputs(text, f);
    fclose(f);
    return dns_further_new(l, file, port);
}

static void wait_for(const struct told *t)
{
    while (!t->times) {
        serve();
        loop_turn(l);
    }
}

static void a_server_answers(void)
{
    struct dns_further *f = servers("# x\nnameserver 127.0.0.1\nsearch x.y\n");
    struct told t = { 0 };
    struct dns_question q;
    str packet = question(&q);

    ok(dns_further_can(f), "there is a server");
    ok(dns_further_ask(f, packet, &q, on_done, &t), "it is asked");
    wait_for(&t);
    ok(t.times == 1 && t.packet.n == packet.n && t.packet.p[3] == 3,
       "its answer is told, once; lies are not");
    buf_done(&t.packet);
    dns_further_free(f);
}

static void one_that_is_not_there_is_passed_over(void)
{
    struct dns_further *f = servers("nameserver 127.0.0.2\nnameserver 127.0.0.1\n");
    struct told t = { 0 };
    struct dns_question q;

    dns_further_can(f);
    dns_further_ask(f, question(&q), &q, on_done, &t);
    wait_for(&t);
    ok(t.times == 1 && t.packet.n, "the next one is asked");
    buf_done(&t.packet);
    dns_further_free(f);
}

static void nobody_is_there(void)
{
    struct dns_further *f = servers("nameserver 127.0.0.2\n");
    struct told t = { 0 };
    struct dns_question q;

    dns_further_can(f);
    dns_further_ask(f, question(&q), &q, on_done, &t);
    wait_for(&t);
    ok(t.times == 1 && !t.packet.n, "nobody answers, which is told");
    dns_further_free(f);
    f = servers("search nowhere\n");
    ok(!dns_further_can(f), "a file without servers");
    dns_further_free(f);
    f = dns_further_new(l, NULL, port);
    ok(!dns_further_can(f), "no file");
    dns_further_free(f);
}

static void limits(void)
{
    struct dns_further *f = servers("nameserver 127.0.0.1\n");
    struct told t = { 0 };
    struct dns_question q;
    int n = 0;

    dns_further_can(f);
    while (n < 10000 && dns_further_ask(f, question(&q), &q, on_done, &t))
        n++;
    ok(n > 100 && n < 10000, "so many may wait: %d", n);
    dns_further_free(f);
    is_int(t.times, n, "all are told when it ends");
    buf_done(&t.packet);
}

int main(void)
{
    l = loop_new();
    int fd = mkstemp(file);
    if (fd < 0)
        return 1;
    close(fd);
    open_server();
    a_server_answers();
    one_that_is_not_there_is_passed_over();
    nobody_is_there();
    limits();
    unlink(file);
    close(server);
    loop_stop(l);
    loop_run(l);
    loop_free(l);
    return tap_done();
}
