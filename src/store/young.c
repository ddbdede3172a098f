/* A ring of the values written last. */

#include "store/young.h"

#include "base/mem.h"

#include <stdlib.h>

enum { YOUNG_BYTES = 2 * 1024 * 1024, RING_MIN = 64 };

struct young_one {
    struct value *v; /* NULL: forgotten */
    struct packer *p;
};

static struct young_one *at(const struct young *y, size_t i)
{
    return &y->ring[(y->first + i) & (y->cap - 1)];
}

static void grow(struct young *y)
{
    struct young old = *y;

    y->cap = old.cap ? old.cap * 2 : RING_MIN;
    y->first = 0;
    y->ring = mem_array(y->cap, sizeof(*y->ring));
    for (size_t i = 0; i < y->n; i++)
        y->ring[i] = *at(&old, i);
    free(old.ring);
}

static void drop(struct young *y, struct young_one *one)
{
    y->bytes -= value_size(one->v);
    value_unref(one->v);
    one->v = NULL;
}

void young_add(struct young *y, struct packer *p, struct value *v)
{
    if (y->n == y->cap)
        grow(y);
    *at(y, y->n++) = (struct young_one){ value_ref(v), p };
    y->bytes += value_size(v);
    while (y->n && y->bytes > YOUNG_BYTES) {
        struct young_one *one = at(y, 0);
        if (one->v) {
            value_pack(one->v, one->p);
            drop(y, one);
        }
        y->first++;
        y->n--;
    }
}

void young_forget(struct young *y, const struct packer *p)
{
    for (size_t i = 0; i < y->n; i++)
        if (at(y, i)->p == p && at(y, i)->v)
            drop(y, at(y, i));
}

void young_done(struct young *y)
{
    for (size_t i = 0; i < y->n; i++)
        if (at(y, i)->v)
            drop(y, at(y, i));
    free(y->ring);
    *y = (struct young){ 0 };
}
