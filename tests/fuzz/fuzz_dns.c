/* What a pod sends to the server of names: read, and answered within what it takes. */

#include "names/dns_packet.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str packet = { (const char *)data, size };
    struct dns_question q;
    struct dns_answer out;
    uint32_t ip;

    int code = dns_question_read(packet, &q);
    if (code < 0)
        return 0;
    if (strlen(q.name) >= DNS_NAME_MAX || q.raw_n > sizeof(q.raw) || q.udp_bytes < DNS_UDP_LEAST ||
        q.udp_bytes > DNS_UDP_MOST)
        abort();
    dns_reverse_read(str_of(q.name), &ip);
    dns_is_answer_to(packet, &q);
    dns_answer_init(&out, &q, q.udp_bytes);
    for (uint32_t i = 0; i < size; i++)
        dns_answer_a(&out, i % 2 ? q.name : NULL, i);
    dns_answer_srv(&out, 80, q.name);
    dns_answer_soa(&out, "cluster.local");
    str got = dns_answer_done(&out, &q, code, true);
    if (got.n > q.udp_bytes || !dns_is_answer_to(got, &q) != (q.raw_n == 0))
        abort();
    buf_done(&out.b);
    return 0;
}
