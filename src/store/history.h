/* What happened in a collection, newest last, as far back as memory allows; and those who read it.
 * A reader is a place in it. */
#pragma once

#include "store/index.h"

struct link {
    struct link *prev;
    struct link *next;
};

static inline void link_init(struct link *l)
{
    l->prev = l->next = l;
}
static inline bool link_is_empty(const struct link *l)
{
    return l->next == l;
}
static inline void link_remove(struct link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    link_init(l);
}
static inline void link_append(struct link *list, struct link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}
/* All of `from` to the end of `list`. */
void link_splice(struct link *list, struct link *from);

struct history {
    struct store_event *ring; /* event number i is at ring[i & (cap - 1)] */
    size_t cap;
    size_t n;
    uint64_t first; /* number of the oldest */
    int64_t floor;  /* everything after this revision is here */
    size_t bytes;   /* kept alive by the history alone */
};

/* The object and blobs of ev are referenced. */
struct store_event *history_add(struct history *h, const struct store_event *ev);
void history_drop_first(struct history *h);
void history_done(struct history *h);
struct store_event *history_at(const struct history *h, uint64_t number);
uint64_t history_end(const struct history *h);                 /* one past the newest */
uint64_t history_find(const struct history *h, int64_t after); /* first with rev > after */

/* In one of two lists of its collection: `armed`, to be woken by the next event, or `reading`. */
struct store_watch {
    struct link link; /* first */
    struct store *store;
    struct store_coll *coll; /* NULL: forgotten */
    uint64_t next;           /* number of the next event */
    int64_t rev;             /* all up to here were seen */
    void (*wake)(void *ctx);
    void *ctx;
    bool armed;
    bool lost;
};
