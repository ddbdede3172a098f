/* See event_id.h: nanoseconds since 1970, which begin with 1 until 2043. */

#include "kube/event_id.h"

enum { NS = 1000 * 1000, IN_ORDER = 64, APART = NS / IN_ORDER };

uint64_t event_id_now(struct event_ids *ids, int64_t now_ms, uint64_t fact)
{
    if (now_ms != ids->at_ms)
        *ids = (struct event_ids){ .at_ms = now_ms };
    uint32_t n = ids->n < IN_ORDER - 1 ? ids->n++ : IN_ORDER - 1;

    return (uint64_t)now_ms * NS + (uint64_t)n * APART + fact % APART;
}

uint64_t event_id_once(uint64_t fact, bool last)
{
    return fact >> 4 | (uint64_t)(last ? 0xf : 0x8) << 60;
}
