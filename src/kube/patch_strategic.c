/* Strategic merge of maps and their directives; lists are strategic_list.c's. */

#include "kube/patch_strategic.h"
#include "base/map.h"
#include "kube/goprint.h"
#include "kube/members.h"
#include "kube/patch_merge.h"
#include "kube/strategic_list.h"
#include "kube/typing.h"

static const str PATCH = S_INIT("$patch");
static const str RETAIN = S_INIT("$retainKeys");
static const str ORDER = S_INIT("$setElementOrder");
static const str WITHOUT = S_INIT("$deleteFromPrimitiveList");

/* One map being merged: doc's members go to out in their order, those of the patch as they come. */
struct merging {
    struct arena *a;
    const struct schema *s;
    struct members doc;
    struct members patch;
    struct map *done; /* keys whose new value is in `values` */
    struct changed *values;
    size_t n;
};

struct changed {
    str key;
    jv value; /* absent: removed */
};

jv strategic_plain(struct arena *a, jv v)
{
    bool is_obj = jv_is(v, JV_OBJ);
    bool same = true;

    if (!is_obj && !jv_is(v, JV_ARR))
        return v;
    if (is_obj && jv_exists(jv_get(v, PATCH)))
        return JV_ABSENT;
    struct jbuild b = is_obj ? jb_obj(a) : jb_arr(a);
    JV_EACH (it, v) {
        jv plain = strategic_plain(a, it.value);
        same = same && plain.node == it.value.node;
        if (is_obj)
            jb_add(&b, it.key, plain);
        else
            jb_push(&b, plain);
    }
    return same ? v : jb_done(&b);
}

static jv now(const struct merging *m, str key)
{
    const struct changed *c = map_get(m->done, key);

    return c ? c->value : members_get(&m->doc, key);
}

static void set(struct merging *m, str key, jv value)
{
    struct changed *c = map_get(m->done, key);

    if (!c) {
        c = &m->values[m->n++];
        c->key = key;
        map_put(m->done, key, c);
    }
    c->value = value;
}

static str go_struct(const struct schema *s)
{
    str name = str_of(s && s->go_name ? s->go_name : "");
    ptrdiff_t dot = str_rfind(name, '.');

    return str_sub(name, (size_t)(dot + 1), name.n);
}

/* The schema of a member that both sides have, as kube-apiserver finds it: by struct field only. */
static const struct schema *look_up(const struct merging *m, str key, struct err *e)
{
    size_t hint = 0;

    if (m->s && m->s->type == SCHEMA_MAP) {
        err_set(e, ERR_UNKNOWN,
                "merging an object in json but data type is not struct, instead is: map");
        return NULL;
    }
    const struct schema *found =
        m->s && m->s->type == SCHEMA_OBJECT ? typing_member(m->s, key, &hint) : NULL;
    if (!found)
        err_set(e, ERR_UNKNOWN,
                "unable to find api field in struct %" PRI_STR " for the json field \"%" PRI_STR
                "\"",
                STR_ARG(go_struct(m->s)), STR_ARG(key));
    return found;
}

static const struct schema *look_up_list(const struct merging *m, str key, struct err *e)
{
    const struct schema *list = look_up(m, key, e);

    if (list && list->type != SCHEMA_LIST) {
        err_set(e, ERR_UNKNOWN, "expected slice or array type, but got: struct");
        return NULL;
    }
    return list;
}

static bool is_directive(str key)
{
    return str_starts(key, ORDER) || str_starts(key, WITHOUT);
}

/* "$setElementOrder/containers" names containers; without a slash it is a mistake. */
static int named_list(str key, str directive, str *out, struct err *e)
{
    str rest = key;

    if (!str_eq(str_cut(&rest, '/'), directive) || !rest.p)
        return err_set(e, ERR_BAD_REQUEST, "invalid patch format of %s",
                       str_eq(directive, ORDER) ? "setElementOrder list" : "primitive list");
    *out = rest;
    return 0;
}

static int retain_keys(struct merging *m, jv keys, struct err *e)
{
    struct map kept = { 0 };
    int rc = 0;

    if (!jv_is(keys, JV_ARR))
        return err_set(e, ERR_BAD_REQUEST, "invalid patch format of retainKeys");
    JV_EACH (it, keys)
        if (jv_is(it.value, JV_STR))
            map_put(&kept, jv_str(it.value, STR_NONE), m);
    for (struct jv_iter it = jv_iter(m->patch.obj); !rc && jv_next(&it);)
        if (!str_eq(it.key, RETAIN) && !jv_is_null(it.value) && !is_directive(it.key) &&
            !map_get(&kept, it.key))
            rc = err_set(e, ERR_BAD_REQUEST, "invalid patch format of retainKeys");
    if (!rc) {
        struct jbuild b = jb_obj(m->a);
        JV_EACH (it, m->doc.obj)
            if (map_get(&kept, it.key))
                jb_add(&b, it.key, it.value);
        m->doc = members_of(m->a, jb_done(&b));
    }
    map_done(&kept);
    return rc;
}

static int bad_list(jv v, struct err *e)
{
    return err_set(e, ERR_UNKNOWN, "expected a []interface {}, but received a %s", goprint_type(v));
}

static int set_order(struct merging *m, str directive, jv order, struct err *e)
{
    str key = STR_NONE;

    if (!jv_is(order, JV_ARR))
        return bad_list(order, e);
    if (named_list(directive, ORDER, &key, e) < 0)
        return -1;
    jv doc = now(m, key);
    jv patch = members_get(&m->patch, key);
    if (jv_exists(doc) && !jv_is(doc, JV_ARR))
        return bad_list(doc, e);
    if (jv_exists(patch) && !jv_is(patch, JV_ARR))
        return bad_list(patch, e);
    const struct schema *list = look_up_list(m, key, e);
    if (!list)
        return -1;
    if (!jv_exists(doc) && !jv_exists(patch))
        return 0;
    jv merged = strategic_list_ordered(m->a, list, doc, patch, order, e);
    if (!jv_exists(merged))
        return -1;
    set(m, key, merged);
    return 0;
}

static int delete_from(struct merging *m, str directive, jv gone, struct err *e)
{
    str key = STR_NONE;

    if (named_list(directive, WITHOUT, &key, e) < 0)
        return -1;
    jv doc = now(m, key);
    if (jv_is_null(gone) && jv_exists(doc))
        set(m, key, JV_ABSENT);
    else if (jv_is(doc, JV_ARR) && jv_is(gone, JV_ARR))
        set(m, key, strategic_list_without(m->a, doc, gone));
    return 0;
}

static int merge_member(struct merging *m, str key, jv patch, struct err *e)
{
    jv doc = now(m, key);

    if (jv_is_null(patch)) {
        if (jv_exists(doc))
            set(m, key, JV_ABSENT);
        return 0;
    }
    if (!jv_exists(doc) || jv_type(doc) != jv_type(patch) ||
        (!jv_is(doc, JV_OBJ) && !jv_is(doc, JV_ARR))) {
        set(m, key, strategic_plain(m->a, patch_without_nulls(m->a, patch)));
        return 0;
    }
    bool is_list = jv_is(doc, JV_ARR);
    const struct schema *s = is_list ? look_up_list(m, key, e) : look_up(m, key, e);
    if (!s)
        return -1;
    jv merged = patch;
    if (is_list && s->patch_merge)
        merged = strategic_list(m->a, s, doc, patch, e);
    else if (!is_list && !s->patch_replace)
        merged = strategic_map(m->a, s, doc, patch, e);
    if (!jv_exists(merged))
        return -1;
    set(m, key, merged);
    return 0;
}

int strategic_bad_word(struct arena *a, jv patch, jv directive, struct err *e)
{
    str word = goprint_text(a, directive);

    if (!jv_is(directive, JV_STR))
        word = arena_printf(a, "%%!s(%s=%s)", goprint_type(directive), word.p);
    return err_set(e, ERR_UNKNOWN, "unknown patch type: %" PRI_STR " in map: %" PRI_STR,
                   STR_ARG(word), STR_ARG(goprint_text(a, patch)));
}

static jv obey(struct arena *a, jv patch, jv directive, struct err *e)
{
    str word = jv_str(directive, S(""));

    if (str_eq(word, S("replace")))
        return jv_with_key(a, patch, PATCH, JV_ABSENT);
    if (str_eq(word, S("delete")))
        return JV_EMPTY_OBJ;
    strategic_bad_word(a, patch, directive, e);
    return JV_ABSENT;
}

static jv merged(struct merging *m)
{
    struct jbuild b = jb_obj(m->a);

    JV_EACH (it, m->doc.obj)
        jb_add(&b, it.key, now(m, it.key));
    for (size_t i = 0; i < m->n; i++)
        if (!jv_exists(members_get(&m->doc, m->values[i].key)))
            jb_add(&b, m->values[i].key, m->values[i].value);
    return jb_done(&b);
}

static int merge_all(struct merging *m, struct err *e)
{
    jv patch = m->patch.obj;
    jv keys = members_get(&m->patch, RETAIN);

    if (jv_exists(keys) && retain_keys(m, keys, e) < 0)
        return -1;
    /* Go's maps come in any order; taking deletions first is one of those it may take. */
    JV_EACH (it, patch)
        if (str_starts(it.key, WITHOUT) && delete_from(m, it.key, it.value, e) < 0)
            return -1;
    JV_EACH (it, patch)
        if (str_starts(it.key, ORDER) && set_order(m, it.key, it.value, e) < 0)
            return -1;
    JV_EACH (it, patch) {
        if (is_directive(it.key) || str_eq(it.key, RETAIN))
            continue;
        str order = arena_cat(m->a, S("$setElementOrder/"), it.key);
        if (jv_exists(members_get(&m->patch, order)))
            continue; /* set_order has merged it */
        if (merge_member(m, it.key, it.value, e) < 0)
            return -1;
    }
    return 0;
}

jv strategic_map(struct arena *a, const struct schema *s, jv doc, jv patch, struct err *e)
{
    struct map done = { 0 };
    struct merging m = { .a = a, .s = s, .done = &done };
    jv directive = jv_get(patch, PATCH);

    if (jv_exists(directive))
        return obey(a, patch, directive, e);
    m.doc = members_of(a, jv_is(doc, JV_OBJ) ? doc : JV_EMPTY_OBJ);
    m.patch = members_of(a, patch);
    m.values = ARENA_ARRAY(a, struct changed, 2 * jv_len(patch) + 1);
    jv out = merge_all(&m, e) < 0 ? JV_ABSENT : merged(&m);
    map_done(&done);
    return out;
}

jv patch_strategic(struct arena *a, const struct schema *s, jv doc, jv patch, struct err *e)
{
    if (jv_is_null(patch))
        return doc;
    if (!jv_is(patch, JV_OBJ)) {
        err_set(e, ERR_BAD_REQUEST,
                "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                goprint_json_kind(patch));
        return JV_ABSENT;
    }
    return strategic_map(a, s, doc, patch, e);
}
