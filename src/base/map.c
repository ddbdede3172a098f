/* Open addressing with linear probes; at most three quarters full, tombstones counted. Large maps
 * hash with a key that differs from process to process (SipHash-1-3), so that nobody outside can
 * choose texts that all collide. */

#include "base/map.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/auxv.h>

enum { EMPTY, USED, REMOVED };
enum { LARGE_CAP = 4096 };

void map_done(struct map *m)
{
    free(m->slots);
    *m = (struct map){ 0 };
}

static uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static uint64_t keyed_hash(str s)
{
    uint64_t key[2] = { 0 };
    const void *given = (const void *)getauxval(AT_RANDOM); /* 16 bytes, by the kernel */

    if (given)
        memcpy(key, given, sizeof(key));
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                      key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u };
    for (size_t at = 0; at <= s.n; at += 8) {
        size_t n = s.n - at < 8 ? s.n - at : 8;
        uint64_t word = n < 8 ? (uint64_t)s.n << 56 : 0;
        if (n)
            memcpy(&word, s.p + at, n);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t hash_in(const struct map *m, str key)
{
    return (uint32_t)(m->cap < LARGE_CAP ? str_hash(key) : keyed_hash(key));
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
        if (old.slots[i].state == USED) {
            struct map_slot s = old.slots[i];
            if ((old.cap < LARGE_CAP) != (cap < LARGE_CAP))
                s.hash = hash_in(m, s.key);
            *probe(m, s.key, s.hash) = s;
        }
    free(old.slots);
}

void *map_get(const struct map *m, str key)
{
    if (!m->n)
        return NULL;
    struct map_slot *s = probe(m, key, hash_in(m, key));
    return s->state == USED ? s->value : NULL;
}

void *map_put(struct map *m, str key, void *value)
{
    if ((m->used + 1) * 4 > m->cap * 3)
        rehash(m, m->n * 2 < 8 ? 16 : (m->n + 1) * 4 > m->cap ? m->cap * 2 : m->cap);
    uint32_t hash = hash_in(m, key);
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
    struct map_slot *s = probe(m, key, hash_in(m, key));
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
