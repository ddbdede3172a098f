/* The index of owners and dependents: every change costs what the object's own references cost. */

#include "api/control/gc_index.h"

#include "base/mem.h"

#include <stdlib.h>

enum { KEY_MAX = 1024 };

struct gc_owner {
    struct gc_edge *edges;
    size_t blocking;
    size_t uid_len;
    char uid[];
};

/* A collection and a key as one text, in buf; the collection by its address. */
static str place(char buf[KEY_MAX], const struct store_coll *coll, str key)
{
    size_t n = key.n < KEY_MAX - sizeof(coll) ? key.n : KEY_MAX - sizeof(coll);

    memcpy(buf, &coll, sizeof(coll));
    if (n)
        memcpy(buf + sizeof(coll), key.p, n);
    return (str){ buf, sizeof(coll) + n };
}

static struct gc_owner *owner_get(struct gc_index *x, str uid)
{
    struct gc_owner *o = map_get(&x->owners, uid);

    if (o)
        return o;
    o = mem_room(sizeof(*o) + uid.n);
    *o = (struct gc_owner){ .uid_len = uid.n };
    memcpy(o->uid, uid.p, uid.n);
    map_put(&x->owners, (str){ o->uid, uid.n }, o);
    return o;
}

static void edge_link(struct gc_edge *e, struct gc_owner *o)
{
    e->owner = o;
    e->prev = NULL;
    e->next = o->edges;
    if (e->next)
        e->next->prev = e;
    o->edges = e;
    o->blocking += e->blocks;
}

static void edge_unlink(struct gc_index *x, struct gc_edge *e)
{
    struct gc_owner *o = e->owner;

    if (e->prev)
        e->prev->next = e->next;
    else
        o->edges = e->next;
    if (e->next)
        e->next->prev = e->prev;
    o->blocking -= e->blocks;
    if (o->edges)
        return;
    map_remove(&x->owners, (str){ o->uid, o->uid_len });
    free(o);
}

static void dependent_drop(struct gc_index *x, struct gc_dependent *d)
{
    for (size_t i = 0; i < d->n; i++)
        edge_unlink(x, &d->edges[i]);
    free(d);
}

void gc_index_done(struct gc_index *x)
{
    MAP_EACH (s, &x->dependents)
        dependent_drop(x, s->value);
    map_done(&x->dependents);
    map_done(&x->owners);
}

void gc_index_set(struct gc_index *x, struct store_coll *coll, str key, jv meta)
{
    char buf[KEY_MAX];
    jv refs = jv_at(meta, "ownerReferences");
    str self = jv_str(jv_at(meta, "uid"), STR_NONE);
    str at = place(buf, coll, key);
    struct gc_dependent *d = map_remove(&x->dependents, at);
    size_t n = jv_len(refs);

    if (d)
        dependent_drop(x, d);
    if (!n)
        return;
    size_t edges = sizeof(*d) + n * sizeof(d->edges[0]);
    d = mem_new(edges + at.n);
    char *text = (char *)d + edges;
    memcpy(text, at.p, at.n);
    d->coll = coll;
    d->key = (str){ text + sizeof(coll), at.n - sizeof(coll) };
    JV_EACH (it, refs) {
        str uid = jv_str(jv_at(it.value, "uid"), STR_NONE);
        if (!uid.n || str_eq(uid, self))
            continue;
        struct gc_edge *e = &d->edges[d->n++];
        e->of = d;
        e->blocks = jv_bool(jv_at(it.value, "blockOwnerDeletion"), false);
        edge_link(e, owner_get(x, uid));
    }
    map_put(&x->dependents, (str){ text, at.n }, d);
}

struct gc_edge *gc_index_of(const struct gc_index *x, str uid)
{
    struct gc_owner *o = map_get(&x->owners, uid);

    return o ? o->edges : NULL;
}

size_t gc_index_blocking(const struct gc_index *x, str uid)
{
    struct gc_owner *o = map_get(&x->owners, uid);

    return o ? o->blocking : 0;
}
