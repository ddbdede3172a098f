/* FieldsV1: {"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}}}}. */

#include "kube/fieldset.h"

/* The members of a key, sorted by name. */
static jv sorted(struct arena *a, jv obj)
{
    struct jbuild b = jb_from(a, obj);

    for (uint32_t i = 2; i < b.n; i += 2) {
        struct jnode key = b.nodes[i];
        struct jnode value = b.nodes[i + 1];
        uint32_t j = i;
        for (; j && str_cmp((str){ b.nodes[j - 2].u.text, b.nodes[j - 2].n },
                            (str){ key.u.text, key.n }) > 0;
             j -= 2) {
            b.nodes[j] = b.nodes[j - 2];
            b.nodes[j + 1] = b.nodes[j - 1];
        }
        b.nodes[j] = key;
        b.nodes[j + 1] = value;
    }
    return jb_done(&b);
}

/* 1: an element; 0: of a kind we do not know; -1: none at all. */
static int parse_element(struct arena *a, str text, struct field_element *el, struct err *e)
{
    if (text.n < 2)
        return err_set(e, ERR_UNKNOWN, "key must be 2 characters long:");
    if (text.p[1] != ':')
        return err_set(e, ERR_UNKNOWN, "missing colon: %" PRI_STR, STR_ARG(text));
    str rest = str_sub(text, 2, text.n);
    *el = (struct field_element){ 0 };
    switch (text.p[0]) {
    case 'f':
        *el = field_named(rest);
        return 1;
    case 'k':
        el->kind = FIELD_KEY;
        el->value = json_parse(a, rest, NULL, e);
        if (!jv_exists(el->value))
            return -1;
        if (!jv_is(el->value, JV_OBJ) || !jv_len(el->value))
            return err_set(e, ERR_UNKNOWN, "expect a key of fields: %" PRI_STR, STR_ARG(text));
        if (jv_len(el->value) > 1)
            el->value = sorted(a, el->value);
        return 1;
    case 'v':
        el->kind = FIELD_VALUE;
        el->value = json_parse(a, rest, NULL, e);
        return jv_exists(el->value) ? 1 : -1;
    case 'i':
        el->kind = FIELD_INDEX;
        return str_to_int(rest, &el->index)
                   ? 1
                   : err_set(e, ERR_UNKNOWN, "not an index: %" PRI_STR, STR_ARG(text));
    default:
        return 0;
    }
}

/* Also tells whether the path to here is in the set: there is a ".", or nothing else. */
static int parse(struct arena *a, jv fields, struct fieldset *out, bool *member, struct err *e)
{
    struct field_builder b = { .a = a };

    *member = false;
    if (!jv_is(fields, JV_OBJ))
        return err_set(e, ERR_UNKNOWN, "expect { or n, but found %s",
                       json_text(a, fields).n ? json_text(a, fields).p : "nothing");
    JV_EACH (it, fields) {
        struct field_element el = { 0 };
        struct fieldset sub = { 0 };
        bool in = true;

        if (str_eq(it.key, S("."))) {
            *member = true;
            continue;
        }
        int known = parse_element(a, it.key, &el, e);
        if (known < 0)
            return -1;
        if (!known)
            continue;
        if (jv_len(it.value) || !jv_is(it.value, JV_OBJ)) {
            if (parse(a, it.value, &sub, &in, e) < 0)
                return -1;
        }
        field_add(&b, el, in, sub);
    }
    *out = field_done(&b);
    *member = *member || !out->n;
    return 0;
}

int fieldset_parse(struct arena *a, jv fields, struct fieldset *out, struct err *e)
{
    bool member;

    *out = (struct fieldset){ 0 };
    return jv_is_null(fields) ? 0 : parse(a, fields, out, &member, e);
}

static str element_text(struct arena *a, const struct field_element *el)
{
    AUTO(buf) struct buf b = { 0 };

    if (el->kind == FIELD_NAME)
        return arena_cat(a, S("f:"), el->name);
    if (el->kind == FIELD_INDEX)
        return arena_printf(a, "i:%lld", (long long)el->index);
    buf_add(&b, el->kind == FIELD_KEY ? S("k:") : S("v:"));
    json_print(&b, el->value);
    return arena_str(a, buf_str(&b));
}

/* Fills *to, so that no node is copied on the way up. */
static void print(struct arena *a, struct fieldset s, bool dot, struct jnode *to)
{
    size_t n = s.n + (dot && s.n);
    *to = (struct jnode){ .type = JV_OBJ, .n = (uint32_t)n };
    if (!n)
        return;
    struct jnode *items = arena_alloc(a, 2 * n * sizeof(*items));
    to->u.items = items;
    if (dot) {
        *items++ = (struct jnode){ .type = JV_STR, .n = 1, .u.text = "." };
        *items++ = (struct jnode){ .type = JV_OBJ };
    }
    for (size_t i = 0; i < s.n; i++) {
        str key = element_text(a, &s.at[i].el);
        *items++ = (struct jnode){ .type = JV_STR, .n = (uint32_t)key.n, .u.text = key.p };
        print(a, s.at[i].sub, s.at[i].member, items++);
    }
}

jv fieldset_json(struct arena *a, struct fieldset s)
{
    struct jnode *root = arena_alloc(a, sizeof(*root));

    print(a, s, false, root);
    return (jv){ root };
}
