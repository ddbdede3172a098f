/* Values, plain and packed. */

#include "store/value.h"

#include "base/mem.h"
#include "store/pack.h"
#include "store/young.h"

#include <stdlib.h>

enum {
    SMALL = 256,      /* bytes not worth packing */
    STUBBORN = 16,    /* misses in a row, after which only each 16th is tried */
    ROOM = 32 * 1024, /* packed bytes at most */
};

struct packed {
    struct pack_base *base;
    size_t n;
    unsigned char bytes[];
};

struct value {
    uint32_t refs;
    uint32_t size;
    struct blob *plain; /* NULL: packed */
    struct packed *packed;
};

struct value *value_new(struct blob *plain)
{
    struct value *v = mem_new(sizeof(*v));

    *v = (struct value){ .refs = 1, .size = (uint32_t)blob_str(plain).n, .plain = plain };
    return v;
}

struct value *value_ref(struct value *v)
{
    if (v)
        v->refs++;
    return v;
}

void value_unref(struct value *v)
{
    if (!v || --v->refs)
        return;
    blob_unref(v->plain);
    if (v->packed)
        pack_base_unref(v->packed->base);
    free(v->packed);
    free(v);
}

size_t value_size(const struct value *v)
{
    return v ? v->size : 0;
}

struct blob *value_blob(const struct value *v)
{
    char *room = NULL;

    if (!v || v->plain)
        return v ? blob_ref(v->plain) : NULL;
    struct blob *b = blob_new_room(v->size, &room);
    const struct packed *p = v->packed;
    if (!pack_read(p->base, (str){ (const char *)p->bytes, p->n }, room, v->size))
        abort(); /* our memory is not what we wrote */
    return b;
}

static void unref_blob(void *b)
{
    blob_unref(b);
}

str value_text(struct arena *a, const struct value *v)
{
    struct blob *b = value_blob(v);

    if (b)
        arena_defer(a, unref_blob, b);
    return blob_str(b);
}

/* ---- packing */

void packer_done(struct packer *p)
{
    for (size_t i = 0; i < PACKER_BASES; i++)
        pack_base_unref(p->bases[i]);
    *p = (struct packer){ 0 };
}

static void to_front(struct packer *p, size_t i)
{
    struct pack_base *b = p->bases[i];

    memmove(&p->bases[1], &p->bases[0], i * sizeof(p->bases[0]));
    p->bases[0] = b;
}

static void keep_packed(struct value *v, struct pack_base *base, const unsigned char *bytes,
                        size_t n)
{
    v->packed = mem_room(sizeof(*v->packed) + n);
    v->packed->base = pack_base_ref(base);
    v->packed->n = n;
    memcpy(v->packed->bytes, bytes, n);
    blob_unref(v->plain);
    v->plain = NULL;
}

static bool pack_with(struct value *v, struct packer *p)
{
    unsigned char out[ROOM];
    size_t cap = v->size / 2 < ROOM ? v->size / 2 : ROOM;

    for (size_t i = 0; i < PACKER_BASES && p->bases[i]; i++) {
        size_t n = pack_write(p->bases[i], blob_str(v->plain), out, cap);
        if (!n)
            continue;
        keep_packed(v, p->bases[i], out, n);
        to_front(p, i);
        return true;
    }
    return false;
}

void value_pack(struct value *v, struct packer *p)
{
    if (!v->plain || v->size < SMALL || (p->misses > STUBBORN && p->misses++ % STUBBORN))
        return;
    if (pack_with(v, p)) {
        p->misses = 0;
        return;
    }
    p->misses++;
    if (v->size > PACK_BASE_MAX)
        return;
    struct pack_base **last = &p->bases[PACKER_BASES - 1];
    if (*last)
        pack_base_settle(*last);
    pack_base_unref(*last);
    *last = pack_base_new(blob_ref(v->plain));
    to_front(p, PACKER_BASES - 1);
}
