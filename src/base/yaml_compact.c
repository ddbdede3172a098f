/* YAML for large values that people compare rather than read: indented by one, and what fits on a
 * line as JSON. A third of the size of yaml_print for deeply nested values. */

#include "base/yaml.h"

enum { LINE = 240 };

static bool is_plain_key(str key)
{
    if (!key.n || key.n > 60 || str_eq_nocase(key, S("null")) || str_eq_nocase(key, S("true")) ||
        str_eq_nocase(key, S("false")) || str_eq_nocase(key, S("yes")) ||
        str_eq_nocase(key, S("no")) || str_eq_nocase(key, S("on")) ||
        str_eq_nocase(key, S("off")) || str_eq_nocase(key, S("y")) || str_eq_nocase(key, S("n")))
        return false;
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '_')))
            return false;
    }
    return true;
}

static bool is_nested(jv v)
{
    return (jv_type(v) == JV_OBJ || jv_type(v) == JV_ARR) && jv_len(v);
}

/* How many bytes of s begin a character that YAML takes for a line break or refuses; *code: which.
 * JSON has them only within strings. */
static size_t odd_char(str s, unsigned *code)
{
    static const struct {
        str bytes;
        unsigned code;
    } odd[] = { { S_INIT("\x7f"), 0x7f },           { S_INIT("\xe2\x80\xa8"), 0x2028 },
                { S_INIT("\xe2\x80\xa9"), 0x2029 }, { S_INIT("\xef\xbb\xbf"), 0xfeff },
                { S_INIT("\xef\xbf\xbe"), 0xfffe }, { S_INIT("\xef\xbf\xbf"), 0xffff } };

    for (size_t i = 0; i < COUNT(odd); i++) {
        *code = odd[i].code;
        if (str_starts(s, odd[i].bytes))
            return odd[i].bytes.n;
    }
    if (s.n < 2 || s.p[0] != '\xc2' || (unsigned char)s.p[1] > 0x9f)
        return 0;
    *code = (unsigned char)s.p[1];
    return 2;
}

static void print_json(struct buf *b, jv v)
{
    AUTO(buf) struct buf plain = { 0 };
    unsigned code;

    json_print(&plain, v);
    for (str rest = buf_str(&plain); rest.n;) {
        size_t n = odd_char(rest, &code);
        if (n)
            buf_printf(b, "\\u%04x", code);
        else
            buf_addc(b, rest.p[0]);
        rest = str_sub(rest, n ? n : 1, rest.n);
    }
}

static void print_key(struct buf *b, str key)
{
    struct jnode node = { .type = JV_STR, .n = (uint32_t)key.n, .u.text = key.p };

    print_json(b, (jv){ &node });
}

/* On one line, if it is short enough or holds nothing that could go on others. */
static bool print_line(struct buf *b, jv v)
{
    size_t before = b->n;

    print_json(b, v);
    if (b->n - before <= LINE || !is_nested(v))
        return true;
    b->n = before;
    return false;
}

static void print_block(struct buf *b, jv v, unsigned depth)
{
    JV_EACH (it, v) {
        for (unsigned i = 0; i < depth; i++)
            buf_addc(b, ' ');
        if (jv_type(v) == JV_ARR)
            buf_addc(b, '-');
        else if (is_plain_key(it.key))
            buf_add(b, it.key);
        else
            print_key(b, it.key);
        if (jv_type(v) == JV_OBJ)
            buf_addc(b, ':');
        buf_addc(b, ' ');
        if (print_line(b, it.value)) {
            buf_addc(b, '\n');
            continue;
        }
        b->p[b->n - 1] = '\n';
        print_block(b, it.value, depth + 1);
    }
}

void yaml_print_compact(struct buf *b, jv v)
{
    if (is_nested(v)) {
        print_block(b, v, 0);
        return;
    }
    print_json(b, v);
    buf_addc(b, '\n');
}
