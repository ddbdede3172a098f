/* Values to JSON text. */

#include "base/json.h"
#include "base/json_scan.h"

static void print_escape(struct buf *b, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    const char *hit = c ? strchr("\"\"\\\\\nn\rr\tt\bb\ff", c) : NULL;
    char *to = buf_room(b, 6);

    if (hit) {
        to[0] = '\\';
        to[1] = hit[1];
        b->n += 2;
    } else {
        memcpy(to, "\\u00", 4);
        to[4] = hex[c >> 4];
        to[5] = hex[c & 15];
        b->n += 6;
    }
}

/* False, and nothing added: it is not UTF-8. */
static bool print_plain(struct buf *b, str s)
{
    if (!s.n)
        return true; /* s.p may be NULL */
    const char *end = s.p + s.n;
    const char *from = s.p;
    size_t before = b->n;
    uint64_t seen = 0;
    for (const char *p = s.p; p < end;) {
        p = json_skip_plain(p, end, &seen);
        unsigned char c = p < end ? (unsigned char)*p : ' ';
        if (c < 0x20 || c == '"' || c == '\\') {
            buf_add(b, (str){ from, (size_t)(p - from) });
            print_escape(b, c);
            from = p + 1;
        }
        seen |= c;
        p += p < end;
    }
    if ((seen & 0x8080808080808080u) && !str_is_utf8(s)) {
        b->n = before;
        return false;
    }
    buf_add(b, (str){ from, (size_t)(end - from) });
    return true;
}

/* Text that was parsed is UTF-8; messages of our own may quote bytes that are not. */
void json_print_str(struct buf *b, str s)
{
    buf_addc(b, '"');
    if (!print_plain(b, s)) {
        AUTO(buf) struct buf mended = { 0 };
        buf_add_utf8(&mended, s);
        print_plain(b, buf_str(&mended));
    }
    buf_addc(b, '"');
}

static void print_string(struct buf *b, const struct jnode *v)
{
    json_print_str(b, (str){ v->u.text, v->n });
}

static void new_line(struct buf *b, unsigned spaces, unsigned level)
{
    if (!spaces)
        return;
    size_t n = (size_t)spaces * level + 1;
    char *to = buf_room(b, n);
    to[0] = '\n';
    memset(to + 1, ' ', n - 1);
    b->n += n;
}

static void print_int(struct buf *b, int64_t i)
{
    char text[24];
    char *p = text + sizeof(text);
    uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (i < 0)
        *--p = '-';
    buf_add(b, (str){ p, (size_t)(text + sizeof(text) - p) });
}

static void print(struct buf *b, const struct jnode *v, unsigned spaces, unsigned level)
{
    switch ((enum jv_type)v->type) {
    case JV_NONE:
    case JV_NULL:
        buf_add(b, S("null"));
        break;
    case JV_BOOL:
        buf_add(b, v->u.i ? S("true") : S("false"));
        break;
    case JV_INT:
        print_int(b, v->u.i);
        break;
    case JV_NUM:
        buf_add(b, (str){ v->u.text, v->n });
        break;
    case JV_STR:
        print_string(b, v);
        break;
    case JV_ARR:
        buf_addc(b, '[');
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                buf_addc(b, ',');
            new_line(b, spaces, level + 1);
            print(b, &v->u.items[i], spaces, level + 1);
        }
        if (v->n)
            new_line(b, spaces, level);
        buf_addc(b, ']');
        break;
    case JV_OBJ:
        buf_addc(b, '{');
        for (size_t i = 0; i < v->n; i++) {
            if (i)
                buf_addc(b, ',');
            new_line(b, spaces, level + 1);
            print_string(b, &v->u.items[2 * i]);
            buf_add(b, spaces ? S(": ") : S(":"));
            print(b, &v->u.items[2 * i + 1], spaces, level + 1);
        }
        if (v->n)
            new_line(b, spaces, level);
        buf_addc(b, '}');
        break;
    }
}

void json_print(struct buf *b, jv v)
{
    json_print_indent(b, v, 0);
}

void json_print_indent(struct buf *b, jv v, unsigned spaces)
{
    if (jv_exists(v))
        print(b, v.node, spaces, 0);
}

str json_text(struct arena *a, jv v)
{
    AUTO(buf) struct buf b = { 0 };

    json_print(&b, v);
    return arena_str(a, buf_str(&b));
}

static bool takes(const struct jnode *v, size_t *left)
{
    bool has_text = v->type == JV_STR || v->type == JV_NUM;
    size_t need = has_text ? v->n + 1 : 2;
    size_t n = v->type == JV_ARR ? v->n : v->type == JV_OBJ ? 2 * (size_t)v->n : 0;

    if (need > *left)
        return false;
    *left -= need;
    for (size_t i = 0; i < n; i++)
        if (!takes(&v->u.items[i], left))
            return false;
    return true;
}

bool json_takes(jv v, size_t *left)
{
    return !jv_exists(v) || takes(v.node, left);
}

bool json_fits(jv v, size_t limit_bytes)
{
    return json_takes(v, &limit_bytes);
}
