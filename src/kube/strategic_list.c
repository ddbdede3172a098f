/* Merging lists strategically. Elements are found by hash, as both lists come from outside. The
 * result's order: what the patch names in its order, everything else interleaved as it was. */

#include "kube/strategic_list.h"
#include "base/map.h"
#include "kube/goprint.h"

#include <stdlib.h>

static const str PATCH = S_INIT("$patch");

struct item {
    jv v;
    str id;       /* merge key or primitive, with its type, as text */
    size_t rank;  /* place in the list that gives the order; SIZE_MAX: not in it */
    size_t place; /* keeps sorting stable */
};

struct items {
    struct item *at;
    size_t n;
};

static void release(void *m)
{
    map_done(m);
}

static str key_of(const struct schema *list)
{
    return str_of(list->patch_key);
}

static int strategic_no_key(struct arena *a, jv element, str key, struct err *e)
{
    return err_set(e, ERR_UNKNOWN,
                   "map: %" PRI_STR " does not contain declared merge key: %" PRI_STR,
                   STR_ARG(goprint_text(a, element)), STR_ARG(key));
}

/* Go compares type and value: the string 1 and the number 1 differ, and so do 1 and 1.0. */
static str identity(struct arena *a, jv v)
{
    if (jv_is(v, JV_STR))
        return arena_cat(a, S("s"), jv_str(v, STR_NONE));
    return json_text(a, v);
}

static jv identifying(jv element, str key)
{
    return key.n ? jv_get(element, key) : element;
}

/* Where each identity comes first: values are offset by one, as NULL means no entry. */
static struct map *index_of(struct arena *a, jv list, str key)
{
    struct map *m = ARENA_NEW(a, struct map);

    arena_defer(a, release, m);
    for (size_t i = jv_len(list); i-- > 0;) {
        jv id = identifying(jv_index(list, i), key);
        if (jv_exists(id))
            map_put(m, identity(a, id), (void *)(i + 1));
    }
    return m;
}

/* All elements of both lists must have one type, as Go sees types. */
static int check_types(struct arena *a, jv doc, jv patch, enum jv_type *out, struct err *e)
{
    enum jv_type first = JV_NONE;

    for (int side = 0; side < 2; side++) {
        JV_EACH (it, side ? patch : doc) {
            if (first == JV_NONE)
                first = jv_type(it.value);
            if (first == JV_ARR && it.i == 1)
                return err_set(e, ERR_INVALID,
                               "the server rejected our request due to an error in our request");
            if (jv_type(it.value) != first) {
                jv both = jarr(a, jv_exists(doc) ? doc : JV_EMPTY_ARR,
                               jv_exists(patch) ? patch : JV_EMPTY_ARR);
                return err_set(e, ERR_UNKNOWN, "list element types are not identical: %" PRI_STR,
                               STR_ARG(goprint_text(a, both)));
            }
        }
    }
    if (first == JV_NONE)
        return err_set(e, ERR_UNKNOWN, "no elements in any of the given slices");
    *out = first;
    return 0;
}

static int check_keys(struct arena *a, jv list, str key, struct err *e)
{
    JV_EACH (it, list) {
        if (!jv_is(it.value, JV_OBJ))
            return err_set(e, ERR_UNKNOWN, "expected a map[string]interface {}, but received a %s",
                           goprint_type(it.value));
        if (!jv_exists(jv_get(it.value, key)))
            return strategic_no_key(a, it.value, key, e);
    }
    return 0;
}

static int by_rank(const void *x, const void *y)
{
    const struct item *a = x;
    const struct item *b = y;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* merged, with the elements that are in first sorted as there, the others as in server, and the two
 * interleaved so that an element of the server's stays before those it was before. */
static jv in_order(struct arena *a, jv merged, jv first, jv server, str key)
{
    struct map *first_index = index_of(a, first, key);
    struct map *server_index = index_of(a, server, key);
    size_t n = jv_len(merged);
    struct items named = { ARENA_ARRAY(a, struct item, n + 1), 0 };
    struct items rest = { ARENA_ARRAY(a, struct item, n + 1), 0 };
    struct jbuild out = jb_arr(a);

    JV_EACH (it, merged) {
        str id = identity(a, identifying(it.value, key));
        size_t rank = (size_t)map_get(first_index, id);
        struct items *to = rank ? &named : &rest;
        if (!rank)
            rank = (size_t)map_get(server_index, id);
        to->at[to->n++] = (struct item){ it.value, id, rank, it.i };
    }
    qsort(named.at, named.n, sizeof(*named.at), by_rank);
    qsort(rest.at, rest.n, sizeof(*rest.at), by_rank);
    for (size_t i = 0, j = 0; i < rest.n || j < named.n;) {
        size_t left = i < rest.n ? (size_t)map_get(server_index, rest.at[i].id) : 0;
        size_t right = j < named.n ? (size_t)map_get(server_index, named.at[j].id) : 0;
        bool take_left = j >= named.n || (i < rest.n && left && right && left < right);
        jb_push(&out, take_left ? rest.at[i++].v : named.at[j++].v);
    }
    return jb_done(&out);
}

static jv merge_primitives(struct arena *a, jv doc, jv patch)
{
    struct map *seen = ARENA_NEW(a, struct map);
    struct jbuild b = jb_arr(a);

    arena_defer(a, release, seen);
    for (int side = 0; side < 2; side++) {
        JV_EACH (it, side ? patch : doc) {
            str id = identity(a, it.value);
            if (map_get(seen, id))
                continue;
            map_put(seen, id, seen);
            jb_push(&b, it.value);
        }
    }
    return in_order(a, jb_done(&b), patch, doc, STR_NONE);
}

/* Takes the directives out of *patch and obeys them: what is left in *doc and *patch is plain. */
static int obey(struct arena *a, str key, jv *doc, jv *patch, struct err *e)
{
    struct map *deleted = ARENA_NEW(a, struct map);
    struct jbuild plain = jb_arr(a);
    struct jbuild kept = jb_arr(a);
    bool replace = false;

    arena_defer(a, release, deleted);
    JV_EACH (it, *patch) {
        jv directive = jv_get(it.value, PATCH);
        str word = jv_str(directive, S(""));
        if (!jv_exists(directive)) {
            jb_push(&plain, it.value);
        } else if (str_eq(word, S("delete"))) {
            jv id = jv_get(it.value, key);
            if (!jv_exists(id))
                return strategic_no_key(a, it.value, key, e);
            map_put(deleted, identity(a, id), deleted);
        } else if (str_eq(word, S("replace"))) {
            replace = true;
        } else if (str_eq(word, S("merge"))) {
            return err_set(e, ERR_UNKNOWN, "merging lists cannot yet be specified in the patch");
        } else {
            return strategic_bad_word(a, it.value, directive, e);
        }
    }
    if (replace) {
        *doc = jb_done(&plain);
        *patch = JV_EMPTY_ARR;
        return 0;
    }
    JV_EACH (it, *doc) {
        jv id = jv_get(it.value, key);
        if (!jv_exists(id) || !map_get(deleted, identity(a, id)))
            jb_push(&kept, it.value);
    }
    *doc = jb_done(&kept);
    *patch = jb_done(&plain);
    return 0;
}

static jv merge_objects(struct arena *a, const struct schema *list, jv doc, jv patch, struct err *e)
{
    str key = key_of(list);

    if (!key.n) {
        err_set(e, ERR_UNKNOWN, "cannot merge lists without merge key for struct");
        return JV_ABSENT;
    }
    if (obey(a, key, &doc, &patch, e) < 0 || check_keys(a, patch, key, e) < 0)
        return JV_ABSENT;

    struct map *mine = index_of(a, doc, key);
    size_t n = jv_len(doc);
    size_t total = n + jv_len(patch);
    jv *merged = ARENA_ARRAY(a, jv, total + 1);
    for (size_t i = 0; i < n; i++)
        merged[i] = jv_index(doc, i);
    JV_EACH (it, patch) {
        str id = identity(a, jv_get(it.value, key));
        size_t at = (size_t)map_get(mine, id);
        if (at) {
            merged[at - 1] = strategic_map(a, list->items, merged[at - 1], it.value, e);
            if (!jv_exists(merged[at - 1]))
                return JV_ABSENT;
        } else {
            merged[n++] = it.value;
            map_put(mine, id, (void *)n);
        }
    }
    jv all = jarr_n(a, merged, n);
    if (check_keys(a, all, key, e) < 0)
        return JV_ABSENT;
    return in_order(a, all, patch, doc, key);
}

jv strategic_list(struct arena *a, const struct schema *list, jv doc, jv patch, struct err *e)
{
    enum jv_type type = JV_NONE;

    if (!jv_len(doc) && !jv_len(patch))
        return doc;
    if (check_types(a, doc, patch, &type, e) < 0)
        return JV_ABSENT;
    return type == JV_OBJ ? merge_objects(a, list, doc, patch, e) : merge_primitives(a, doc, patch);
}

jv strategic_list_without(struct arena *a, jv doc, jv gone)
{
    struct map *index = index_of(a, gone, STR_NONE);
    struct jbuild b = jb_arr(a);

    JV_EACH (it, doc)
        if (!map_get(index, identity(a, it.value)))
            jb_push(&b, it.value);
    return jb_done(&b);
}

/* What the patch adds or changes must come in the order that it asks for. */
static int check_order(struct arena *a, jv patch, jv order, str key, struct err *e)
{
    size_t at = 0;

    if (!jv_len(patch) || !jv_len(order))
        return 0;
    JV_EACH (it, patch) {
        if (key.n && !jv_is(it.value, JV_OBJ))
            return err_set(e, ERR_UNKNOWN, "expected a map[string]interface {}, but received a %s",
                           goprint_type(it.value));
        if (jv_exists(jv_get(it.value, PATCH)))
            continue;
        jv id = identifying(it.value, key);
        if (!jv_exists(id))
            return strategic_no_key(a, it.value, key, e);
        for (; at < jv_len(order); at++) {
            jv element = jv_index(order, at);
            if (key.n && !jv_is(element, JV_OBJ))
                return err_set(e, ERR_UNKNOWN,
                               "expected a map[string]interface {}, but received a %s",
                               goprint_type(element));
            if (!jv_exists(identifying(element, key)))
                return strategic_no_key(a, element, key, e);
            if (str_eq(identity(a, id), identity(a, identifying(element, key))))
                break;
        }
        if (at++ == jv_len(order))
            return err_set(e, ERR_UNKNOWN,
                           "The order in patch list:\n%" PRI_STR
                           "\n doesn't match $setElementOrder list:\n%" PRI_STR "\n",
                           STR_ARG(goprint_text(a, patch)), STR_ARG(goprint_text(a, order)));
    }
    return 0;
}

jv strategic_list_ordered(struct arena *a, const struct schema *list, jv doc, jv patch, jv order,
                          struct err *e)
{
    str key = key_of(list);
    enum jv_type type = JV_NONE;
    jv merged = jv_exists(doc) ? doc : strategic_plain(a, patch);

    if (check_order(a, patch, order, key, e) < 0)
        return JV_ABSENT;
    if (jv_exists(doc) && jv_exists(patch))
        merged = list->patch_merge ? strategic_list(a, list, doc, patch, e) : patch;
    if (!jv_exists(merged))
        return merged;
    for (struct jv_iter it = jv_iter(order); key.n && jv_len(merged) && jv_next(&it);) {
        if (!jv_is(it.value, JV_OBJ)) {
            err_set(e, ERR_UNKNOWN, "value for key %zu is not a map", it.i - 1);
            return JV_ABSENT;
        }
    }
    if ((key.n && check_keys(a, merged, key, e) < 0) || check_types(a, doc, patch, &type, e) < 0 ||
        (type == JV_OBJ && check_keys(a, order, key, e) < 0))
        return JV_ABSENT;
    return in_order(a, merged, order, doc, key);
}
