/* See table.h. */

#include "cli/table.h"

enum { GAP = 3 };

size_t text_width(str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

str text_plain(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1);

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool c1 = c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0;
        p[i] = c < 32 || c == 127 ? ' ' : s.p[i];
        if (c1) { /* U+0080 to U+009F steer terminals, too */
            p[i++] = ' ';
            p[i] = ' ';
        }
    }
    p[s.n] = 0;
    return (str){ p, s.n };
}

void table_column(struct table *t, str name)
{
    if (t->columns == TABLE_COLUMNS)
        return;
    t->head[t->columns] = text_plain(t->a, name);
    t->widths[t->columns++] = text_width(name);
}

void table_init(struct table *t, struct arena *a, const char *names)
{
    str rest = str_of(names);

    *t = (struct table){ .a = a };
    while (rest.p && rest.n)
        table_column(t, str_cut(&rest, '|'));
}

void table_add(struct table *t, const str *cells)
{
    str *row = ARENA_ARRAY(t->a, str, t->columns + 1);

    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 32;
        const str **more = ARENA_ARRAY(t->a, const str *, cap);
        if (t->n)
            memcpy(more, t->rows, t->n * sizeof(*more));
        t->rows = more;
        t->cap = cap;
    }
    for (size_t i = 0; i < t->columns; i++) {
        row[i] = text_plain(t->a, cells[i]);
        size_t width = text_width(row[i]);
        if (width > t->widths[i])
            t->widths[i] = width;
    }
    t->rows[t->n++] = row;
}

static void print_row(const struct table *t, struct buf *b, const str *cells)
{
    size_t last = t->columns;

    while (last > 1 && !cells[last - 1].n)
        last--;
    buf_printf(b, "%*s", (int)t->indent, "");
    for (size_t i = 0; i < last; i++) {
        buf_add(b, cells[i]);
        if (i + 1 < last)
            buf_printf(b, "%*s", (int)(t->widths[i] - text_width(cells[i]) + GAP), "");
    }
    buf_addc(b, '\n');
}

void table_print(struct table *t, struct buf *b)
{
    if (t->n && !t->headed && !t->bare)
        print_row(t, b, t->head);
    t->headed = t->headed || t->n;
    for (size_t i = 0; i < t->n; i++)
        print_row(t, b, t->rows[i]);
    t->n = 0;
}
