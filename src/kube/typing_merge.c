/* Laying an applied configuration over a live object, and taking fields out of one. */

#include "kube/members.h"
#include "kube/typing.h"

/* One list in its own order, and where each name is. */
struct listing {
    struct typed_item *items; /* in the order of the list */
    size_t n;
    struct typed_item *sorted;
};

static struct listing listing_of(struct arena *a, const struct schema *s, jv list)
{
    struct listing l;

    l.items = typing_items(a, s, list, false, &l.n);
    l.sorted = typing_items(a, s, list, true, &l.n);
    return l;
}

/* The first element of that name, or NULL; *twice tells whether there are more. */
static const struct typed_item *lookup(const struct listing *l, const struct field_element *el,
                                       bool *twice)
{
    size_t from = 0;
    size_t to = l->n;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (field_cmp(&l->sorted[mid].el, el) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    if (from == l->n || field_cmp(&l->sorted[from].el, el) != 0)
        return NULL;
    if (twice)
        *twice = from + 1 < l->n && field_cmp(&l->sorted[from + 1].el, el) == 0;
    return &l->sorted[from];
}

struct zip {
    struct arena *a;
    const struct schema *s; /* of the elements */
    struct listing live;
    struct listing config;
    bool *merged;   /* by place in config */
    size_t *shared; /* places in config of elements that are in both, in order */
    size_t n_shared;
    size_t at_shared; /* the next one of these */
    struct jbuild out;
};

static void push(struct zip *z, jv live, jv config)
{
    jb_push(&z->out, typing_merge(z->a, z->s, live, config));
}

static void take_config(struct zip *z, size_t i)
{
    const struct typed_item *c = &z->config.items[i];
    bool twice = false;
    const struct typed_item *l = lookup(&z->live, &c->el, &twice);

    z->merged[i] = true;
    push(z, l && !twice ? l->v : JV_ABSENT, c->v);
}

static const struct field_element *next_shared(const struct zip *z)
{
    return z->at_shared < z->n_shared ? &z->config.items[z->shared[z->at_shared]].el : NULL;
}

/* Config's elements in config's order; those only live has stay where they were among the others
 * as far as that order lets them. */
static void zip(struct zip *z)
{
    for (size_t l = 0, c = 0; l < z->live.n || c < z->config.n;) {
        const struct field_element *le = l < z->live.n ? &z->live.items[l].el : NULL;
        const struct field_element *ce = c < z->config.n ? &z->config.items[c].el : NULL;
        const struct typed_item *twin = le ? lookup(&z->config, le, NULL) : NULL;
        const struct field_element *shared = next_shared(z);

        if (le && ce && field_cmp(le, ce) == 0) {
            take_config(z, c++);
            l++;
            z->at_shared += z->at_shared < z->n_shared;
            continue;
        }
        if (le && ce && twin && shared && field_cmp(shared, le) != 0) {
            l++; /* comes later, where config has it */
            continue;
        }
        if (le && !twin) {
            push(z, z->live.items[l++].v, JV_ABSENT);
            continue;
        }
        if (le && z->merged[twin->place])
            l++;
        if (ce) {
            take_config(z, c++);
            if (shared && field_cmp(shared, ce) == 0)
                z->at_shared++;
        }
    }
}

static jv merge_lists(struct arena *a, const struct schema *s, jv live, jv config)
{
    struct zip z = { .a = a, .s = s->items, .out = jb_arr(a) };

    z.live = listing_of(a, s, live);
    z.config = listing_of(a, s, config);
    z.merged = ARENA_ARRAY(a, bool, jv_len(config) + 1);
    z.shared = arena_alloc(a, (z.config.n + 1) * sizeof(size_t));
    for (size_t i = 0; i < z.config.n; i++)
        if (lookup(&z.live, &z.config.items[i].el, NULL))
            z.shared[z.n_shared++] = i;
    zip(&z);
    return z.out.n ? jb_done(&z.out) : JV_ABSENT;
}

static jv merge_maps(struct arena *a, const struct schema *s, jv live, jv config)
{
    struct members mine = members_of(a, live);
    struct members theirs = members_of(a, config);
    struct jbuild b = jb_obj(a);
    size_t hint = 0;

    JV_EACH (it, live) {
        jv over = members_get(&theirs, it.key);
        jb_add(&b, it.key,
               jv_exists(over) ? typing_merge(a, typing_member(s, it.key, &hint), it.value, over)
                               : it.value);
    }
    JV_EACH (it, config)
        if (!jv_exists(members_get(&mine, it.key)))
            jb_add(&b, it.key,
                   typing_merge(a, typing_member(s, it.key, &hint), JV_ABSENT, it.value));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

jv typing_merge(struct arena *a, const struct schema *s, jv live, jv config)
{
    enum typing tl = typing_of(s, live);
    enum typing tc = typing_of(s, config);

    if (!jv_exists(config))
        return live;
    if (!jv_exists(live) && tc == TYPING_LEAF)
        return config;
    if (tc == TYPING_LIST || (tl == TYPING_LIST && (jv_is_null(config) || !jv_len(config))))
        return merge_lists(a, s, tl == TYPING_LIST ? live : JV_ABSENT,
                           tc == TYPING_LIST ? config : JV_ABSENT);
    if (tc == TYPING_MAP)
        return merge_maps(a, s, tl == TYPING_MAP ? live : JV_ABSENT, config);
    /* null or {} over members is no reason to lose them; any other leaf is a new value */
    if (tl == TYPING_MAP && (jv_is_null(config) || jv_is(config, JV_OBJ)))
        return live;
    return config;
}

static jv remove_from_list(struct arena *a, const struct schema *s, jv v, struct fieldset set)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, v) {
        struct field_element el;
        const struct field_node *n =
            typing_element(a, s, it.value, &el) ? NULL : fieldset_find(set, &el);
        if (n && n->member)
            continue;
        jv kept = it.value;
        if (n && n->sub.n)
            kept = typing_remove(a, s->items, it.value, n->sub);
        jb_push(&b, jv_exists(kept) ? kept : JV_NULL_V);
    }
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static jv remove_from_map(struct arena *a, const struct schema *s, jv v, struct fieldset set)
{
    struct jbuild b = jb_obj(a);
    size_t hint = 0;

    JV_EACH (it, v) {
        struct field_element el = field_named(it.key);
        const struct field_node *n = fieldset_find(set, &el);
        if (n && n->member)
            continue;
        jv kept = it.value;
        if (n && n->sub.n)
            kept = typing_remove(a, typing_member(s, it.key, &hint), it.value, n->sub);
        jb_add(&b, it.key, jv_exists(kept) ? kept : JV_NULL_V);
    }
    return b.n ? jb_done(&b) : JV_ABSENT;
}

jv typing_remove(struct arena *a, const struct schema *s, jv v, struct fieldset set)
{
    switch (typing_of(s, v)) {
    case TYPING_LIST:
        return remove_from_list(a, s, v, set);
    case TYPING_MAP:
        return remove_from_map(a, s, v, set);
    case TYPING_LEAF:
        break;
    }
    return jv_is(v, JV_OBJ) || jv_is(v, JV_ARR) ? JV_ABSENT : v;
}
