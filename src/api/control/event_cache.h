/* The last few events of the history in parsed form, shared by all watchers with selectors. */
#pragma once

#include "base/json.h"
#include "store/store.h"

struct event_cache;

struct parsed_event {
    jv value;
    jv prev; /* absent: created */
};

struct event_cache *event_cache_new(void);
void event_cache_free(struct event_cache *c);
/* Valid until the next call. */
struct parsed_event *event_cache_get(struct event_cache *c, const struct store_event *ev);
