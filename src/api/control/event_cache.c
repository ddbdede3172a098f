/* A handful of slots by revision: watchers move through history together. */

#include "api/control/event_cache.h"

#include "base/mem.h"

#include <stdlib.h>

enum { SLOTS = 16 };

struct slot {
    int64_t rev; /* 0: empty; a revision belongs to one event only */
    struct arena *a;
    struct parsed_event parsed;
};

struct event_cache {
    struct slot slots[SLOTS];
};

struct event_cache *event_cache_new(void)
{
    struct event_cache *c = mem_new(sizeof(*c));

    return c;
}

void event_cache_free(struct event_cache *c)
{
    for (size_t i = 0; c && i < SLOTS; i++)
        arena_free(c->slots[i].a);
    free(c);
}

static jv parse(struct arena *a, const struct value *v)
{
    return v ? json_parse(a, value_text(a, v), NULL, NULL) : JV_ABSENT;
}

struct parsed_event *event_cache_get(struct event_cache *c, const struct store_event *ev)
{
    struct slot *s = &c->slots[(uint64_t)ev->rev % SLOTS];

    if (s->rev == ev->rev)
        return &s->parsed;
    arena_free(s->a);
    s->a = arena_new();
    s->rev = ev->rev;
    s->parsed = (struct parsed_event){ parse(s->a, ev->value), parse(s->a, ev->prev) };
    return &s->parsed;
}
