/* Member look-up with an index for large objects. */

#include "kube/members.h"

enum { INDEX_FROM = 32 };

static void release(void *m)
{
    map_done(m);
}

struct members members_of(struct arena *a, jv obj)
{
    struct members m = { .obj = obj };

    if (!jv_is(obj, JV_OBJ) || jv_len(obj) < INDEX_FROM)
        return m;
    m.index = ARENA_NEW(a, struct map);
    arena_defer(a, release, m.index);
    for (size_t i = 0; i < obj.node->n; i++) {
        const struct jnode *k = obj.node->u.items + 2 * i;
        /* offset by one, as NULL means no entry */
        map_put(m.index, (str){ k->u.text, k->n }, (void *)(i + 1));
    }
    return m;
}

jv members_get(const struct members *m, str key)
{
    if (!m->index)
        return jv_get(m->obj, key);
    size_t i = (size_t)map_get(m->index, key);
    return i ? (jv){ m->obj.node->u.items + 2 * (i - 1) + 1 } : JV_ABSENT;
}
