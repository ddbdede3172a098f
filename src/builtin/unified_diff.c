/* A unified diff in the manner of Python's difflib, which Go's copies and kube-apiserver uses: the
 * longest common run first, then what is before and behind it. In texts of 200 lines and more,
 * lines that stand there too often do not start a run. */

#include "builtin/godiff.h"

#include "base/map.h"

enum { MAX_LINES = 3000, CONTEXT = 3 };

struct lines {
    str *at;
    int n;
};

struct match {
    struct lines a;
    struct lines b;
    int *next;  /* of b: the previous line with the same text, or -1 */
    int *last;  /* of a: the last line of b with the same text, or -1 */
    int *run;   /* of b: length of the common run that ends here ... */
    int *stamp; /* ... in which row it was found */
    int row;
    int *pair; /* of a: its line of b, or -1 */
};

static struct lines split(struct arena *a, str text)
{
    struct lines l = { .n = 0 };
    int n = 1;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    l.at = ARENA_ARRAY(a, str, (size_t)n);
    for (str rest = text; rest.p;)
        l.at[l.n++] = str_cut(&rest, '\n');
    return l;
}

static int *ints(struct arena *a, int n, int value)
{
    int *p = arena_alloc(a, sizeof(*p) * ((size_t)n + 1));

    for (int i = 0; i <= n; i++)
        p[i] = value;
    return p;
}

/* Chains the equal lines of b, newest first, and finds the chain of each line of a. */
static void chain(struct arena *arena, struct match *m)
{
    struct map newest = { 0 };
    int *count = ints(arena, m->b.n, 0);
    int *index = ints(arena, m->b.n, 0);

    for (int j = 0; j < m->b.n; j++) {
        index[j] = j;
        const int *before = map_put(&newest, m->b.at[j], &index[j]);
        m->next[j] = before ? *before : -1;
        count[j] = before ? count[*before] + 1 : 1;
    }
    for (int i = 0; i < m->a.n; i++) {
        const int *j = map_get(&newest, m->a.at[i]);
        if (j && !(m->b.n >= 200 && count[*j] > m->b.n / 100 + 1))
            m->last[i] = *j;
    }
    map_done(&newest);
}

struct run {
    int a;
    int b;
    int n;
};

static struct run longest(struct match *m, int alo, int ahi, int blo, int bhi)
{
    struct run best = { alo, blo, 0 };

    m->row += 2;
    for (int i = alo; i < ahi; i++) {
        int row_n = 0;
        int row_j = 0;
        m->row++;
        for (int j = m->last[i]; j >= blo; j = m->next[j]) {
            if (j >= bhi)
                continue;
            int k = j > 0 && m->stamp[j - 1] == m->row - 1 ? m->run[j - 1] + 1 : 1;
            m->run[j] = k;
            m->stamp[j] = m->row;
            if (k >= row_n) {
                row_n = k;
                row_j = j;
            }
        }
        if (row_n > best.n)
            best = (struct run){ i - row_n + 1, row_j - row_n + 1, row_n };
    }
    while (best.a > alo && best.b > blo && str_eq(m->a.at[best.a - 1], m->b.at[best.b - 1]))
        best = (struct run){ best.a - 1, best.b - 1, best.n + 1 };
    while (best.a + best.n < ahi && best.b + best.n < bhi &&
           str_eq(m->a.at[best.a + best.n], m->b.at[best.b + best.n]))
        best.n++;
    return best;
}

static void match_blocks(struct match *m, int alo, int ahi, int blo, int bhi)
{
    struct run r = longest(m, alo, ahi, blo, bhi);

    if (!r.n)
        return;
    for (int i = 0; i < r.n; i++)
        m->pair[r.a + i] = r.b + i;
    if (alo < r.a && blo < r.b)
        match_blocks(m, alo, r.a, blo, r.b);
    if (r.a + r.n < ahi && r.b + r.n < bhi)
        match_blocks(m, r.a + r.n, ahi, r.b + r.n, bhi);
}

struct op {
    char sign; /* ' ', '-' or '+' */
    str line;
    int a; /* lines of a and b before it */
    int b;
};

static int script(const struct match *m, struct op *ops)
{
    int n = 0;
    int i = 0;
    int j = 0;

    while (i < m->a.n || j < m->b.n) {
        if (i < m->a.n && m->pair[i] < 0) {
            ops[n++] = (struct op){ '-', m->a.at[i], i, j };
            i++;
        } else if (i < m->a.n && m->pair[i] == j) {
            ops[n++] = (struct op){ ' ', m->a.at[i], i, j };
            i++, j++;
        } else {
            ops[n++] = (struct op){ '+', m->b.at[j], i, j };
            j++;
        }
    }
    return n;
}

static void print_range(struct buf *b, int from, int n)
{
    if (n == 1)
        buf_printf(b, "%d", from + 1);
    else
        buf_printf(b, "%d,%d", n ? from + 1 : from, n);
}

static void print_hunk(struct buf *b, const struct op *ops, int from, int to)
{
    int in_a = 0;
    int in_b = 0;

    for (int i = from; i < to; i++) {
        in_a += ops[i].sign != '+';
        in_b += ops[i].sign != '-';
    }
    buf_add(b, S("@@ -"));
    print_range(b, ops[from].a, in_a);
    buf_add(b, S(" +"));
    print_range(b, ops[from].b, in_b);
    buf_add(b, S(" @@\n"));
    for (int i = from; i < to; i++) {
        buf_addc(b, ops[i].sign);
        buf_add(b, ops[i].line);
        buf_addc(b, '\n');
    }
}

static void print_hunks(struct buf *b, const struct op *ops, int n)
{
    for (int i = 0; i < n; i++) {
        if (ops[i].sign == ' ')
            continue;
        int from = i > CONTEXT ? i - CONTEXT : 0;
        int end = i; /* one past the last change of this hunk */
        for (int k = i; k < n && k - end <= 2 * CONTEXT; k++)
            if (ops[k].sign != ' ')
                end = k + 1;
        int to = end + CONTEXT < n ? end + CONTEXT : n;
        print_hunk(b, ops, from, to);
        i = to - 1;
    }
}

str unified_diff(struct arena *arena, str before, str after)
{
    AUTO(buf) struct buf b = { 0 };
    struct match m = { .a = split(arena, before), .b = split(arena, after) };

    if (m.a.n > MAX_LINES || m.b.n > MAX_LINES)
        return S("");
    m.next = ints(arena, m.b.n, -1);
    m.last = ints(arena, m.a.n, -1);
    m.run = ints(arena, m.b.n, 0);
    m.stamp = ints(arena, m.b.n, -1);
    m.pair = ints(arena, m.a.n, -1);
    chain(arena, &m);
    match_blocks(&m, 0, m.a.n, 0, m.b.n);
    struct op *ops = ARENA_ARRAY(arena, struct op, (size_t)(m.a.n + m.b.n));
    print_hunks(&b, ops, script(&m, ops));
    return arena_str(arena, buf_str(&b));
}
