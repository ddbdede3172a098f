/* Finds many members of one object: by way of a map where it is large and they are many, so that
 * wide objects under wide schemas take linear time. */
#pragma once

#include "base/json.h"
#include "base/map.h"

struct members {
    jv obj;
    struct map map;
};

static inline void members_init(struct members *m, jv obj, size_t wanted)
{
    *m = (struct members){ .obj = obj };
    if (wanted < 16 || jv_len(obj) < 16)
        return;
    JV_EACH (it, obj)
        map_put(&m->map, it.key, (void *)it.i); /* from 1: NULL is no entry */
}

static inline jv members_get(const struct members *m, str name)
{
    if (!m->map.n)
        return jv_get(m->obj, name);
    size_t i = (size_t)map_get(&m->map, name);
    return i ? (jv){ m->obj.node->u.items + 2 * i - 1 } : JV_ABSENT;
}

static inline void members_done(struct members *m)
{
    map_done(&m->map);
}
