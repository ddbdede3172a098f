/* Packing and unpacking. Texts stand one after the other behind the fixed part; their lengths are
 * small numbers, as Kubernetes limits names to 253 bytes, and what people wrote is cut at what an
 * event can say. */

#include "ctl/item.h"

#include "kube/meta.h"

#include <stddef.h>

enum {
    TEXT_MAX = 1024,
    TROUBLES_MAX = 4,
    HEAD = offsetof(struct item, text),
    SAYS = offsetof(struct item, index), /* from here on bytes are compared */
};

struct piece {
    const void *p;
    size_t n;
};

static struct piece piece(str s)
{
    return (struct piece){ s.p, s.n };
}

static int32_t clamp(int64_t n)
{
    return n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : (int32_t)n;
}

static struct item *pack(struct slab *m, const struct item *head, const struct piece *pieces,
                         size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++)
        size += pieces[i].n;
    struct item *it = slab_alloc(m, sizeof(*it) + size);
    memcpy(it, head, HEAD);
    it->size = (uint32_t)(HEAD - SAYS + size);
    char *p = it->text;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].n)
            memcpy(p, pieces[i].p, pieces[i].n);
        p += pieces[i].n;
    }
    return it;
}

struct item *item_of_pod(struct slab *m, str ns, const struct seen_pod *s)
{
    struct item head;
    struct piece pieces[7 + 3 * TROUBLES_MAX];
    uint16_t lens[TROUBLES_MAX][2];
    size_t n = 0;
    str cid = str_clip(s->container_id, TEXT_MAX), role = str_clip(s->role, TEXT_MAX),
        name = str_clip(s->name, TEXT_MAX), uid = str_clip(s->uid, TEXT_MAX);
    str why = str_clip(s->reason, TEXT_MAX);

    memset(&head, 0, sizeof(head)); /* the holes too, as items are compared as bytes */
    head.what = ITEM_POD;
    head.index = clamp(s->index);
    head.exit_code = clamp(s->exit_code);
    head.restarts = clamp(s->restarts);
    head.attempt = clamp(s->attempt);
    head.ended_s = s->ended_s > 0 && s->ended_s <= UINT32_MAX ? (uint32_t)s->ended_s : 0;
    head.phase = (uint8_t)s->phase;
    head.leaving = s->leaving;
    head.disrupted = s->disrupted;
    head.ready = s->ready;
    head.bound = s->bound;
    head.stalled = s->stalled;
    head.has_exit = s->has_exit;
    head.n_troubles = (uint8_t)(s->n_troubles < TROUBLES_MAX ? s->n_troubles : TROUBLES_MAX);
    head.n_ns = (uint16_t)ns.n;
    head.n_name = (uint16_t)name.n;
    head.n_uid = (uint16_t)uid.n;
    head.n_role = (uint16_t)role.n;
    head.n_cid = (uint16_t)cid.n;
    head.n_reason = (uint16_t)why.n;
    pieces[n++] = piece(ns);
    pieces[n++] = piece(S("/"));
    pieces[n++] = piece(name);
    pieces[n++] = piece(uid);
    pieces[n++] = piece(role);
    pieces[n++] = piece(cid);
    pieces[n++] = piece(why);
    for (size_t i = 0; i < head.n_troubles; i++) {
        str reason = str_clip(s->troubles[i].reason, TEXT_MAX),
            message = str_clip(s->troubles[i].message, TEXT_MAX);
        lens[i][0] = (uint16_t)reason.n;
        lens[i][1] = (uint16_t)message.n;
        pieces[n++] = (struct piece){ lens[i], sizeof(lens[i]) };
        pieces[n++] = piece(reason);
        pieces[n++] = piece(message);
    }
    return pack(m, &head, pieces, n);
}

struct item *item_of_service(struct slab *m, str ns, const struct seen_service *s)
{
    struct seen_pod p = {
        .name = s->name, .uid = s->uid, .role = s->role, .index = s->index, .leaving = s->leaving
    };
    struct item *it = item_of_pod(m, ns, &p);

    it->what = ITEM_SERVICE;
    return it;
}

/* kept: what of obj is read again. */
static struct item *item_of_json(struct slab *m, jv obj, jv kept)
{
    AUTO(buf) struct buf b = { 0 };
    str ns = meta_namespace(obj), name = str_clip(meta_name(obj), TEXT_MAX),
        uid = str_clip(meta_uid(obj), TEXT_MAX);
    struct item head;

    memset(&head, 0, sizeof(head));
    head.what = ITEM_OTHER;
    head.leaving = meta_being_deleted(obj);
    head.n_ns = (uint16_t)ns.n;
    head.n_name = (uint16_t)name.n;
    head.n_uid = (uint16_t)uid.n;
    json_print(&b, kept);
    struct piece pieces[] = { piece(ns), piece(S("/")), piece(name), piece(uid),
                              piece(buf_str(&b)) };
    return pack(m, &head, pieces, COUNT(pieces));
}

struct item *item_of_other(struct slab *m, jv obj)
{
    return item_of_json(m, obj, obj);
}

struct item *item_of_class(struct slab *m, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    struct item *it = item_of_json(m, obj, jobj(a, { "value", jv_get(obj, S("value")) }));

    it->what = ITEM_CLASS;
    return it;
}

void item_free(struct slab *m, struct item *it)
{
    if (it)
        slab_free(m, it, sizeof(*it) + it->size - (HEAD - SAYS));
}

bool item_equal(const struct item *a, const struct item *b)
{
    return a->size == b->size &&
           memcmp((const char *)a + SAYS, (const char *)b + SAYS, a->size) == 0;
}

/* ---- as planners see them */

static str take(const char **p, size_t n)
{
    str s = { *p, n };

    *p += n;
    return s;
}

static bool is_asked(const struct item *it, uint32_t now_s)
{
    return it->asked_s == (uint32_t)ITEM_ASKED ||
           (it->asked_s && now_s < it->asked_s + ITEM_DOUBT_S);
}

struct seen_pod item_pod(struct arena *a, const struct item *it, str owner, uint32_t now_s)
{
    size_t n_text = it->size - (HEAD - SAYS);
    const char *p = arena_str(a, (str){ it->text, n_text }).p;
    struct seen_pod s = {
        .owner = owner,
        .index = it->index,
        .phase = (enum pod_phase)it->phase,
        .leaving = it->leaving || is_asked(it, now_s),
        .disrupted = it->disrupted,
        .ready = it->ready,
        .bound = it->bound,
        .stalled = it->stalled,
        .has_exit = it->has_exit,
        .exit_code = it->exit_code,
        .restarts = it->restarts,
        .attempt = it->attempt,
        .ended_s = it->ended_s,
        .n_troubles = it->n_troubles,
    };

    take(&p, (size_t)it->n_ns + 1);
    s.name = take(&p, it->n_name);
    s.uid = take(&p, it->n_uid);
    s.role = take(&p, it->n_role);
    s.container_id = take(&p, it->n_cid);
    s.reason = take(&p, it->n_reason);
    struct seen_trouble *t = ARENA_ARRAY(a, struct seen_trouble, it->n_troubles);
    for (size_t i = 0; i < it->n_troubles; i++) {
        uint16_t lens[2];
        memcpy(lens, take(&p, sizeof(lens)).p, sizeof(lens));
        t[i].reason = take(&p, lens[0]);
        t[i].message = take(&p, lens[1]);
    }
    s.troubles = t;
    return s;
}

struct seen_service item_service(struct arena *a, const struct item *it, str owner, uint32_t now_s)
{
    struct seen_pod p = item_pod(a, it, owner, now_s);

    return (struct seen_service){ .name = p.name,
                                  .uid = p.uid,
                                  .owner = owner,
                                  .role = p.role,
                                  .index = p.index,
                                  .leaving = p.leaving };
}

jv item_json(struct arena *a, const struct item *it)
{
    size_t n_text = it->size - (HEAD - SAYS);
    size_t skip = (size_t)it->n_ns + 1 + it->n_name + it->n_uid;

    return json_parse(a, arena_str(a, (str){ it->text + skip, n_text - skip }), NULL, NULL);
}

jv item_other(struct arena *a, const struct item *it, uint32_t now_s)
{
    jv obj = item_json(a, it);

    if (!is_asked(it, now_s) || meta_being_deleted(obj))
        return obj;
    return jv_with(a, obj, jstrz(a, "1970-01-01T00:00:00Z"), "metadata", "deletionTimestamp");
}

/* ---- lists */

int item_cmp(const struct item *a, const struct item *b)
{
    int by = str_cmp(item_role(a), item_role(b));

    if (by == 0)
        by = (a->index > b->index) - (a->index < b->index);
    return by ? by : str_cmp(item_name(a), item_name(b));
}

static size_t lower_bound(const struct item_list *l, const struct item *it)
{
    size_t from = 0, to = l->n;

    while (from < to) {
        size_t mid = (from + to) / 2;
        if (item_cmp(l->at[mid], it) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

void item_list_add(struct slab *m, struct item_list *l, struct item *it)
{
    size_t i = lower_bound(l, it);

    if (l->n == l->cap) { /* by half: a job has two and keeps them */
        size_t cap = l->cap + l->cap / 2 + 2;
        struct item **at = slab_alloc(m, cap * sizeof(*at));
        if (l->n)
            memcpy(at, l->at, l->n * sizeof(*at));
        slab_free(m, l->at, l->cap * sizeof(*at));
        l->at = at;
        l->cap = cap;
    }
    memmove(l->at + i + 1, l->at + i, (l->n - i) * sizeof(*l->at));
    l->at[i] = it;
    l->n++;
}

void item_list_done(struct slab *m, struct item_list *l)
{
    slab_free(m, l->at, l->cap * sizeof(*l->at));
    *l = (struct item_list){ 0 };
}

void item_list_remove(struct slab *m, struct item_list *l, const struct item *it)
{
    size_t i = lower_bound(l, it);

    while (i < l->n && l->at[i] != it)
        i++;
    if (i == l->n)
        return;
    l->n--;
    memmove(l->at + i, l->at + i + 1, (l->n - i) * sizeof(*l->at));
    if (l->n == 0)
        item_list_done(m, l);
}
