/* The ring of events of a collection. Blobs are shared with the live set: an event is charged for
 * what nothing but history keeps, the value it replaced and, of a deletion, the last one. */

#include "store/history.h"

#include "base/mem.h"

#include <stdlib.h>

enum { RING_MIN = 16 };

void link_splice(struct link *list, struct link *from)
{
    if (link_is_empty(from))
        return;
    from->next->prev = list->prev;
    from->prev->next = list;
    list->prev->next = from->next;
    list->prev = from->prev;
    link_init(from);
}

static size_t charge(const struct store_event *ev)
{
    size_t n = sizeof(*ev);

    n += value_size(ev->prev);
    if (ev->is_delete && ev->value != ev->prev)
        n += value_size(ev->value);
    return n;
}

struct store_event *history_at(const struct history *h, uint64_t number)
{
    return &h->ring[number & (h->cap - 1)];
}

uint64_t history_end(const struct history *h)
{
    return h->first + h->n;
}

static void grow(struct history *h)
{
    struct history old = *h;

    h->cap = old.cap ? old.cap * 2 : RING_MIN;
    h->ring = mem_room(h->cap * sizeof(*h->ring));
    for (uint64_t i = h->first; i < history_end(h); i++)
        *history_at(h, i) = *history_at(&old, i);
    free(old.ring);
}

struct store_event *history_add(struct history *h, const struct store_event *ev)
{
    if (h->n == h->cap)
        grow(h);
    struct store_event *to = history_at(h, history_end(h));

    *to = *ev;
    obj_ref(obj_of_key(ev->key));
    value_ref(to->value);
    value_ref(to->prev);
    h->n++;
    h->bytes += charge(to);
    return to;
}

void history_drop_first(struct history *h)
{
    struct store_event *ev = history_at(h, h->first);

    h->floor = ev->rev;
    h->bytes -= charge(ev);
    h->first++;
    h->n--;
    value_unref(ev->value);
    value_unref(ev->prev);
    obj_unref(obj_of_key(ev->key));
}

void history_done(struct history *h)
{
    while (h->n)
        history_drop_first(h);
    free(h->ring);
    h->ring = NULL;
    h->cap = 0;
}

uint64_t history_find(const struct history *h, int64_t after)
{
    uint64_t low = h->first;
    uint64_t high = history_end(h);

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (history_at(h, mid)->rev <= after)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
