/* The last part of an event's name. client-go has the time there, and with it events are listed,
 * and within a second described, as they happened: kubectl sorts by whole seconds, then by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of who tells: zeroed at first. */
struct event_ids {
    int64_t at_ms;
    uint32_t n; /* given for that millisecond */
};

/* fact: a hash, for what others tell of the same object in the same millisecond. */
uint64_t event_id_now(struct event_ids *ids, int64_t now_ms, uint64_t fact);

/* The same for the same fact whenever it is told: after all that event_id_now gives, the last words
 * after the others. */
uint64_t event_id_once(uint64_t fact, bool last);
