/* Printing internal types, and a unified diff of what was printed; see godiff.h. */

#include "builtin/godiff.h"

#include "base/mem.h"

#include <stdlib.h>

static void print_type(struct buf *b, str kind, jv v, jv up, int depth);

enum { COMPACT = -10000 }; /* a depth below 0: everything on one line */

static void new_line(struct buf *b, int depth)
{
    if (depth < 0)
        return;
    buf_addc(b, '\n');
    for (int i = 0; i < depth; i++)
        buf_addc(b, ' ');
}

/* As Go's encoding/json: safe to stand in HTML. */
static void print_text(struct buf *b, str s)
{
    AUTO(buf) struct buf plain = { 0 };

    json_print_str(&plain, s);
    for (size_t i = 0; i < plain.n; i++) {
        char c = plain.p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(b, "\\u00%02x", (unsigned)c);
        else
            buf_addc(b, c);
    }
}

struct member {
    str key;
    jv value;
};

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct member *)x)->key, ((const struct member *)y)->key);
}

/* Any value as it stands; sorted: the members of maps by key. */
static void print_any(struct buf *b, jv v, bool sorted, int depth)
{
    size_t n = jv_len(v);
    bool object = jv_is(v, JV_OBJ);

    if (jv_is(v, JV_STR)) {
        print_text(b, jv_str(v, S("")));
        return;
    }
    if (!n) {
        json_print(b, jv_exists(v) ? v : JV_NULL_V);
        return;
    }
    struct member *members = mem_array(n, sizeof(*members));
    JV_EACH (it, v)
        members[it.i - 1] = (struct member){ it.key, it.value };
    if (sorted && object)
        qsort(members, n, sizeof(*members), by_key);
    buf_addc(b, object ? '{' : '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(b, ',');
        new_line(b, depth + 1);
        if (object) {
            print_text(b, members[i].key);
            buf_add(b, depth < 0 ? S(":") : S(": "));
        }
        print_any(b, members[i].value, sorted, depth + 1);
    }
    new_line(b, depth);
    buf_addc(b, object ? '}' : ']');
    free(members);
}

static void print_list(struct buf *b, str kind, jv v, jv up, int depth)
{
    if (!jv_len(v)) {
        buf_add(b, S("null"));
        return;
    }
    buf_addc(b, '[');
    JV_EACH (it, v) {
        if (it.i > 1)
            buf_addc(b, ',');
        new_line(b, depth + 1);
        print_type(b, kind, it.value, up, depth + 1);
    }
    new_line(b, depth);
    buf_addc(b, ']');
}

static jv field_value(str go, str json, jv v, jv up)
{
    char name[64];

    if (json.n && json.p[0] == '^')
        return jv_get(up, str_sub(json, 1, json.n));
    if (json.n)
        return jv_get(v, json);
    if (go.n >= sizeof(name))
        return JV_ABSENT;
    memcpy(name, go.p, go.n);
    name[0] = (char)(name[0] + 32);
    return jv_get(v, (str){ name, go.n });
}

static void print_struct(struct buf *b, str type, jv v, jv up, int depth)
{
    str rest = STR_NONE;

    for (size_t i = 0; i < go_types_n; i++)
        if (str_eqz(type, go_types[i].name))
            rest = str_of(go_types[i].fields);
    buf_addc(b, '{');
    for (bool first = true; rest.p; first = false) {
        str kind = str_cut(&rest, ' ');
        str json = str_cut(&kind, ':');
        str go = str_cut(&json, '=');
        if (!first)
            buf_addc(b, ',');
        new_line(b, depth + 1);
        print_text(b, go);
        buf_add(b, depth < 0 ? S(":") : S(": "));
        print_type(b, kind, field_value(go, json, v, up), v, depth + 1);
    }
    new_line(b, depth);
    buf_addc(b, '}');
}

static void print_type(struct buf *b, str kind, jv v, jv up, int depth)
{
    static const struct {
        char kind;
        str zero;
    } zeros[] = { { 's', S_INIT("\"\"") },
                  { 'i', S_INIT("0") },
                  { 'b', S_INIT("false") },
                  { 'q', S_INIT("\"0\"") },
                  { 'o', S_INIT("0") } };

    if (str_starts(kind, S("[]"))) {
        print_list(b, str_sub(kind, 2, kind.n), v, up, depth);
        return;
    }
    if (kind.n && kind.p[0] == '*') {
        if (!jv_is_null(v))
            print_type(b, str_sub(kind, 1, kind.n), v, up, depth);
        else
            buf_add(b, S("null"));
        return;
    }
    if (kind.n && kind.p[0] == '@') {
        print_struct(b, str_sub(kind, 1, kind.n), v, up, depth);
        return;
    }
    for (size_t i = 0; i < COUNT(zeros) && jv_is_null(v); i++) {
        if (kind.n && zeros[i].kind == kind.p[0]) {
            buf_add(b, zeros[i].zero);
            return;
        }
    }
    if (kind.n && kind.p[0] == 'm' && !jv_len(v))
        buf_add(b, S("null"));
    else
        print_any(b, v, kind.n && kind.p[0] == 'm', depth);
}

str go_print(struct arena *a, const char *type, jv v)
{
    AUTO(buf) struct buf b = { 0 };

    print_struct(&b, str_of(type), v, JV_ABSENT, 0);
    return arena_str(a, buf_str(&b));
}

str go_print_compact(struct arena *a, const char *type, jv v)
{
    AUTO(buf) struct buf b = { 0 };

    print_struct(&b, str_of(type), v, JV_ABSENT, COMPACT);
    return arena_str(a, buf_str(&b));
}

str go_diff(struct arena *a, const char *type, jv before, jv after)
{
    return unified_diff(a, go_print(a, type, before), go_print(a, type, after));
}
