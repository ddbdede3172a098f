/* JSON values to YAML text by libyaml's emitter, whose Go translation kubectl prints with: folding
 * and quoting come out the same. Ours is what Go's encoder decides: the order of keys, when text
 * needs quotes lest it read back as something else, and how numbers look. */

#include "base/yaml_internal.h"

#include "base/gofloat.h"
#include "base/mem.h"

#include <stdlib.h>
#include <yaml.h>

static void emit(yaml_emitter_t *em, yaml_event_t *event, int made)
{
    if (!made || !yaml_emitter_emit(em, event))
        abort(); /* out of memory */
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    char low = (char)(c | 32);

    return (unsigned char)c >= 0x80 || (low >= 'a' && low <= 'z');
}

/* The number that starts at i; *end: where it ends. `before`: digits that count before it. */
static uint64_t run_of_digits(str s, size_t i, uint64_t before, size_t *end)
{
    for (; i < s.n && is_digit(s.p[i]); i++)
        before = before * 10 + (uint64_t)(s.p[i] - '0');
    *end = i;
    return before;
}

/* Go's order of keys: letters after all else, runs of digits by their number. */
static int natural(str a, str b)
{
    size_t i = 0;

    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    if (i == a.n || i == b.n)
        return a.n < b.n ? -1 : a.n > b.n;
    bool al = is_letter(a.p[i]);
    bool bl = is_letter(b.p[i]);
    int bytes = (unsigned char)a.p[i] < (unsigned char)b.p[i] ? -1 : 1;
    if (al && bl)
        return bytes;
    if (al || bl)
        return bl ? -1 : 1;
    uint64_t before = 0;
    if (a.p[i] == '0' || b.p[i] == '0') /* is that zero within a number or leading one? */
        for (size_t j = i; j > 0 && is_digit(a.p[j - 1]); j--)
            before |= a.p[j - 1] != '0';
    size_t a_end;
    size_t b_end;
    uint64_t an = run_of_digits(a, i, before, &a_end);
    uint64_t bn = run_of_digits(b, i, before, &b_end);
    if (an != bn)
        return an < bn ? -1 : 1;
    if (a_end != b_end)
        return a_end < b_end ? -1 : 1;
    return bytes;
}

static int by_key(const void *x, const void *y)
{
    const struct jnode *a = *(const struct jnode *const *)x;
    const struct jnode *b = *(const struct jnode *const *)y;

    return natural((str){ a->u.text, a->n }, (str){ b->u.text, b->n });
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? which YAML 1.1 reads as base 60. */
static bool is_base60(str s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    bool colon = false;

    if (i >= s.n || !is_digit(s.p[i]))
        return false;
    while (i < s.n && (is_digit(s.p[i]) || s.p[i] == '_'))
        i++;
    while (i + 1 < s.n && s.p[i] == ':' && is_digit(s.p[i + 1])) {
        bool two = i + 2 < s.n && s.p[i + 1] <= '5' && is_digit(s.p[i + 2]);
        i += two ? 3 : 2;
        colon = true;
    }
    if (i < s.n && s.p[i] == '.')
        for (i++; i < s.n && (is_digit(s.p[i]) || s.p[i] == '_');)
            i++;
    return colon && i == s.n;
}

static void print_text(yaml_emitter_t *em, str s, yaml_scalar_style_t style)
{
    AUTO(buf) struct buf mended = { 0 };
    yaml_event_t event;

    if (!str_is_utf8(s)) { /* libyaml would refuse it */
        buf_add_utf8(&mended, s);
        s = buf_str(&mended);
    }

    emit(em, &event,
         yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)(s.p ? s.p : ""),
                                      (int)s.n, 1, 1, style));
}

/* Line breaks of Unicode are escaped: unescaped they read back with the indentation around them. */
static bool has_odd_break(str s)
{
    return str_contains(s, S("\xc2\x85")) || str_contains(s, S("\xe2\x80\xa8")) ||
           str_contains(s, S("\xe2\x80\xa9"));
}

static void print_string(yaml_emitter_t *em, str s)
{
    yaml_scalar_style_t style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    bool odd = has_odd_break(s);

    if (!odd && str_find(s, '\n') >= 0)
        style = YAML_LITERAL_SCALAR_STYLE;
    else if (!odd && yaml_resolve(s).kind == YAML_STR && !is_base60(s))
        style = YAML_PLAIN_SCALAR_STYLE;
    print_text(em, s, style);
}

/* Whole numbers as they are, others as Go's double. */
static void print_number(yaml_emitter_t *em, str text)
{
    struct yaml_scalar s = yaml_resolve(text);
    char number[GOFLOAT_BYTES];

    if (s.kind == YAML_FLOAT)
        text = (str){ number, gofloat_g(number, s.d, 64) };
    print_text(em, text, YAML_PLAIN_SCALAR_STYLE);
}

static void print(yaml_emitter_t *em, jv v);

static void print_array(yaml_emitter_t *em, jv v)
{
    yaml_event_t event;

    emit(em, &event,
         yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
    JV_EACH (it, v)
        print(em, it.value);
    emit(em, &event, yaml_sequence_end_event_initialize(&event));
}

static void print_object(yaml_emitter_t *em, jv v)
{
    yaml_event_t event;
    size_t n = jv_len(v);
    const struct jnode **order = mem_room((n + 1) * sizeof(const struct jnode *));

    for (size_t i = 0; i < n; i++)
        order[i] = &v.node->u.items[2 * i];
    qsort(order, n, sizeof(const struct jnode *), by_key);
    emit(em, &event,
         yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
    for (size_t i = 0; i < n; i++) {
        print_string(em, (str){ order[i]->u.text, order[i]->n });
        print(em, (jv){ order[i] + 1 });
    }
    emit(em, &event, yaml_mapping_end_event_initialize(&event));
    free(order);
}

static void print(yaml_emitter_t *em, jv v)
{
    AUTO(arena) struct arena *a = NULL;

    switch (jv_type(v)) {
    case JV_NONE:
    case JV_NULL:
        print_text(em, S("null"), YAML_PLAIN_SCALAR_STYLE);
        break;
    case JV_BOOL:
        print_text(em, jv_bool(v, false) ? S("true") : S("false"), YAML_PLAIN_SCALAR_STYLE);
        break;
    case JV_INT:
        a = arena_new();
        print_text(em, jv_num_text(a, v), YAML_PLAIN_SCALAR_STYLE);
        break;
    case JV_NUM:
        print_number(em, (str){ v.node->u.text, v.node->n });
        break;
    case JV_STR:
        print_string(em, jv_str(v, S("")));
        break;
    case JV_ARR:
        print_array(em, v);
        break;
    case JV_OBJ:
        print_object(em, v);
        break;
    }
}

static int write_out(void *to, unsigned char *p, size_t n)
{
    buf_add(to, (str){ (const char *)p, n });
    return 1;
}

void yaml_print(struct buf *b, jv v)
{
    yaml_emitter_t em;
    yaml_event_t event;

    if (!yaml_emitter_initialize(&em))
        abort();
    yaml_emitter_set_output(&em, write_out, b);
    yaml_emitter_set_unicode(&em, 1);
    emit(&em, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&em, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    print(&em, v);
    emit(&em, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&em, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&em);
    if (str_ends(buf_str(b), S("\n...\n"))) /* after text that keeps its last line feeds */
        b->n -= 4;
}
