/* A sorted array in chunks of up to 64, with a directory that is searched by each chunk's first
 * key. Chunks that empty out are merged with their neighbour. */

#include "store/index.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { CHUNK = 64 };

struct chunk {
    struct chunk *next;
    uint32_t n;
    struct obj *at[CHUNK];
};

struct obj *obj_new(str key)
{
    struct obj *o = mem_room(sizeof(*o) + key.n + 1);

    *o = (struct obj){ .pub.key = { o->text, key.n }, .refs = 1 };
    if (key.n)
        memcpy(o->text, key.p, key.n);
    o->text[key.n] = 0;
    return o;
}

struct obj *obj_ref(struct obj *o)
{
    o->refs++;
    return o;
}

void obj_unref(struct obj *o)
{
    if (!o || --o->refs)
        return;
    value_unref(o->pub.value);
    free(o);
}

void index_done(struct index *x)
{
    for (size_t i = 0; i < x->n_chunks; i++) {
        for (uint32_t j = 0; j < x->chunks[i]->n; j++) {
            x->chunks[i]->at[j]->chunk = NULL;
            obj_unref(x->chunks[i]->at[j]);
        }
        free(x->chunks[i]);
    }
    free(x->chunks);
    *x = (struct index){ 0 };
}

/* The last chunk whose first key is <= key, or the very first chunk. */
static size_t find_chunk(const struct index *x, str key)
{
    size_t low = 0;
    size_t high = x->n_chunks;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(x->chunks[mid]->at[0]->pub.key, key) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? low - 1 : 0;
}

/* The first place in c whose key is >= key; c->n if none. */
static uint32_t find_place(const struct chunk *c, str key)
{
    uint32_t low = 0;
    uint32_t high = c->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (str_cmp(c->at[mid]->pub.key, key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct obj *index_seek(const struct index *x, str from)
{
    if (!x->n)
        return NULL;
    const struct chunk *c = x->chunks[find_chunk(x, from)];
    uint32_t at = find_place(c, from);

    if (at < c->n)
        return c->at[at];
    return c->next ? c->next->at[0] : NULL;
}

struct obj *index_get(const struct index *x, str key)
{
    struct obj *o = index_seek(x, key);

    return o && str_eq(o->pub.key, key) ? o : NULL;
}

static uint32_t place_of(const struct obj *o)
{
    uint32_t at = 0;

    while (o->chunk->at[at] != o)
        at++;
    return at;
}

struct obj *index_next(const struct obj *o)
{
    const struct chunk *c = o->chunk;

    if (!c)
        return NULL;
    uint32_t at = place_of(o) + 1;

    if (at < c->n)
        return c->at[at];
    return c->next ? c->next->at[0] : NULL;
}

/* A new empty chunk at place i of the directory. */
static struct chunk *add_chunk(struct index *x, size_t i)
{
    struct chunk *c = mem_new(sizeof(*c));

    if (x->n_chunks == x->cap) {
        x->cap = x->cap ? x->cap * 2 : 2;
        x->chunks = mem_resize(x->chunks, x->cap * sizeof(struct chunk *));
    }
    memmove(x->chunks + i + 1, x->chunks + i, (x->n_chunks - i) * sizeof(struct chunk *));
    x->chunks[i] = c;
    x->n_chunks++;
    c->next = i + 1 < x->n_chunks ? x->chunks[i + 1] : NULL;
    if (i)
        x->chunks[i - 1]->next = c;
    return c;
}

static void drop_chunk(struct index *x, size_t i)
{
    struct chunk *c = x->chunks[i];

    if (i)
        x->chunks[i - 1]->next = c->next;
    x->n_chunks--;
    memmove(x->chunks + i, x->chunks + i + 1, (x->n_chunks - i) * sizeof(struct chunk *));
    free(c);
}

/* Appends the objects of `from`, starting at place `at`, to `to`. */
static void move_tail(struct chunk *to, struct chunk *from, uint32_t at)
{
    for (uint32_t i = at; i < from->n; i++) {
        to->at[to->n++] = from->at[i];
        from->at[i]->chunk = to;
    }
    from->n = at;
}

void index_insert(struct index *x, struct obj *o)
{
    if (!x->n_chunks)
        add_chunk(x, 0);
    size_t i = x->n ? find_chunk(x, o->pub.key) : 0;
    struct chunk *c = x->chunks[i];
    uint32_t at = find_place(c, o->pub.key);

    if (c->n == CHUNK) {
        struct chunk *right = add_chunk(x, i + 1);
        /* keys that only ever grow fill chunks to the brim */
        uint32_t cut = at == CHUNK && !right->next ? CHUNK : CHUNK / 2;
        move_tail(right, c, cut);
        if (at >= cut) {
            c = right;
            at -= cut;
        }
    }
    memmove(c->at + at + 1, c->at + at, (c->n - at) * sizeof(struct obj *));
    c->at[at] = o;
    c->n++;
    o->chunk = c;
    x->n++;
}

void index_remove(struct index *x, struct obj *o)
{
    size_t i = find_chunk(x, o->pub.key);
    struct chunk *c = x->chunks[i];
    uint32_t at = place_of(o);

    assert(c == o->chunk);
    c->n--;
    memmove(c->at + at, c->at + at + 1, (c->n - at) * sizeof(struct obj *));
    x->n--;
    o->chunk = NULL;
    if (c->next && c->n + c->next->n <= CHUNK / 2) {
        move_tail(c, c->next, 0);
        drop_chunk(x, i + 1);
    } else if (!c->n) {
        drop_chunk(x, i);
    }
    obj_unref(o);
}
