/* Shared bytes: a header of 8 bytes, then the data, in one piece. */

#include "base/blob.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

struct blob {
    atomic_uint refs;
    uint32_t n;
    char data[];
};

struct blob *blob_new_room(size_t n, char **room)
{
    if (n > UINT32_MAX)
        abort();
    struct blob *b = mem_room(sizeof(*b) + n);
    atomic_init(&b->refs, 1);
    b->n = (uint32_t)n;
    *room = b->data;
    return b;
}

struct blob *blob_new(str bytes)
{
    char *room = NULL;
    struct blob *b = blob_new_room(bytes.n, &room);

    if (bytes.n)
        memcpy(room, bytes.p, bytes.n);
    return b;
}

struct blob *blob_ref(struct blob *b)
{
    if (b)
        atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void blob_unref(struct blob *b)
{
    if (b && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
        free(b);
}

str blob_str(const struct blob *b)
{
    return b ? (str){ b->data, b->n } : STR_NONE;
}
