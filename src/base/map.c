/* Open addressing with linear probes; at most three quarters full, tombstones counted. */

#include "base/map.h"

#include "base/mem.h"

#include <stdlib.h>

enum { EMPTY, USED, REMOVED };

void map_done(struct map *m)
{
    free(m->slots);
    *m = (struct map){ 0 };
}

static struct map_slot *probe(const struct map *m, str key, uint32_t hash)
{
    struct map_slot *removed = NULL;

    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];
        if (s->state == EMPTY)
            return removed ? removed : s;
        if (s->state == REMOVED)
            removed = removed ? removed : s;
        else if (s->hash == hash && str_eq(s->key, key))
            return s;
    }
}

static void rehash(struct map *m, size_t cap)
{
    struct map old = *m;

    m->slots = mem_array(cap, sizeof(*m->slots));
    m->cap = cap;
    m->used = m->n;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].state == USED)
            *probe(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

void *map_get(const struct map *m, str key)
{
    if (!m->n)
        return NULL;
    struct map_slot *s = probe(m, key, (uint32_t)str_hash(key));
    return s->state == USED ? s->value : NULL;
}

void *map_put(struct map *m, str key, void *value)
{
    if ((m->used + 1) * 4 > m->cap * 3)
        rehash(m, m->n * 2 < 8 ? 16 : (m->n + 1) * 4 > m->cap ? m->cap * 2 : m->cap);
    uint32_t hash = (uint32_t)str_hash(key);
    struct map_slot *s = probe(m, key, hash);
    void *before = s->state == USED ? s->value : NULL;

    if (s->state != USED)
        m->n++;
    if (s->state == EMPTY)
        m->used++;
    *s = (struct map_slot){ key, value, hash, USED };
    return before;
}

void *map_remove(struct map *m, str key)
{
    if (!m->n)
        return NULL;
    struct map_slot *s = probe(m, key, (uint32_t)str_hash(key));
    if (s->state != USED)
        return NULL;
    s->state = REMOVED;
    m->n--;
    return s->value;
}

struct map_slot *map_next(const struct map *m, struct map_slot *after)
{
    size_t i = after ? (size_t)(after - m->slots) + 1 : 0;

    for (; i < m->cap; i++)
        if (m->slots[i].state == USED)
            return &m->slots[i];
    return NULL;
}
