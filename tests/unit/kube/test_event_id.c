#include "kube/event_id.h"
#include "tap.h"

static void events_are_named_as_they_happened(void)
{
    struct event_ids ids = { 0 };
    uint64_t was = 0;
    int out_of_order = 0;

    for (int64_t ms = 1700000000000; ms < 1700000000100; ms++)
        for (uint64_t i = 0; i < 64; i++) {
            uint64_t id = event_id_now(&ids, ms, i * 0x9E3779B97F4A7C15u);
            out_of_order += id <= was;
            was = id;
        }
    is_int(out_of_order, 0, "each after the one before, also within a millisecond");
    is_int((int64_t)(was >> 60), 1, "they look like client-go's");
}

static void what_is_told_once_has_one_name(void)
{
    struct event_ids ids = { 0 };
    uint64_t now = event_id_now(&ids, 1700000000000, 7), fact = 0x123456789abcdef0u;

    ok(event_id_once(fact, false) == event_id_once(fact, false), "the same each time");
    ok(event_id_once(fact, false) > now, "after what has just happened");
    ok(event_id_once(fact, true) > event_id_once(UINT64_MAX, false), "and the end is last");
}

int main(void)
{
    events_are_named_as_they_happened();
    what_is_told_once_has_one_name();
    return tap_done();
}
