/* Sets of runes. Unicode's categories and scripts come from PCRE2's tables, case from the C
 * library's. */

#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/buf.h"
#include "base/vec.h"
#include "crd/pattern_internal.h"

#include <locale.h>
#include <pcre2.h>
#include <stdlib.h>
#include <wctype.h>

void set_add(struct arena *a, struct re_set *s, uint32_t lo, uint32_t hi)
{
    vec_push_in(a, s, (struct re_range){ lo, hi });
}

static int by_lo(const void *x, const void *y)
{
    const struct re_range *a = x;
    const struct re_range *b = y;

    return (a->lo > b->lo) - (a->lo < b->lo);
}

void set_normalize(struct re_set *s)
{
    size_t n = 0;

    if (s->n > 1)
        qsort(s->at, s->n, sizeof(*s->at), by_lo);
    for (size_t i = 0; i < s->n; i++) {
        struct re_range r = s->at[i];
        if (n && r.lo <= s->at[n - 1].hi + 1)
            s->at[n - 1].hi = r.hi > s->at[n - 1].hi ? r.hi : s->at[n - 1].hi;
        else
            s->at[n++] = r;
    }
    s->n = n;
}

void set_negate(struct arena *a, struct re_set *s)
{
    struct re_set out = { 0 };
    uint32_t next = 0;

    set_normalize(s);
    for (size_t i = 0; i < s->n; i++) {
        if (s->at[i].lo > next)
            set_add(a, &out, next, s->at[i].lo - 1);
        next = s->at[i].hi + 1;
    }
    if (next <= RUNE_MAX)
        set_add(a, &out, next, RUNE_MAX);
    *s = out;
}

/* ---- named ones, of ASCII */

static const struct {
    str name;
    char letter;
    const char *ranges; /* pairs */
} classes[] = {
    { S_INIT("digit"), 'd', "09" },      { S_INIT(""), 's', "\t\n\f\r  " },
    { S_INIT("word"), 'w', "09AZ__az" }, { S_INIT("alnum"), 0, "09AZaz" },
    { S_INIT("alpha"), 0, "AZaz" },      { S_INIT("ascii"), 0, "\x01\x7f" },
    { S_INIT("blank"), 0, "\t\t  " },    { S_INIT("cntrl"), 0, "\x01\x1f\x7f\x7f" },
    { S_INIT("graph"), 0, "!~" },        { S_INIT("lower"), 0, "az" },
    { S_INIT("print"), 0, " ~" },        { S_INIT("punct"), 0, "!/:@[`{~" },
    { S_INIT("space"), 0, "\t\r  " },    { S_INIT("upper"), 0, "AZ" },
    { S_INIT("xdigit"), 0, "09AFaf" },
};

static void add_row(struct re_tables *t, struct re_set *s, size_t row, bool fold, bool negate)
{
    struct arena *a = t->a;
    struct re_set own = { 0 };
    bool has_nul = str_eqz(classes[row].name, "ascii") || str_eqz(classes[row].name, "cntrl");

    if (has_nul) /* which the text of a row cannot hold */
        set_add(a, &own, 0, 0);
    for (const char *p = classes[row].ranges; *p; p += 2)
        set_add(a, &own, (unsigned char)p[0], (unsigned char)p[1]);
    set_add_set(t, s, &own, fold, negate);
}

bool set_add_perl(struct re_tables *t, struct re_set *s, int letter, bool fold)
{
    for (size_t i = 0; i < COUNT(classes); i++)
        if (classes[i].letter && classes[i].letter == (letter | 32)) {
            add_row(t, s, i, fold, letter < 'a');
            return true;
        }
    return false;
}

bool set_add_posix(struct re_tables *t, struct re_set *s, str name, bool fold)
{
    bool negate = name.n && name.p[0] == '^';

    name = str_sub(name, negate, name.n);
    for (size_t i = 0; name.n && i < COUNT(classes); i++)
        if (str_eq(classes[i].name, name)) {
            add_row(t, s, i, fold, negate);
            return true;
        }
    return false;
}

/* ---- Unicode */

/* Blocks of runes to ask PCRE2 about. Planes 3 to 13 hold nothing but for the start of the first;
 * 15 and 16 are private use, each rune like the first. Surrogates are no text. */
static const struct {
    uint32_t lo, hi;
    bool alike;
} blocks[] = {
    { 0, 0xd7ff, false },        { 0xe000, 0x33fff, false },   { 0x34000, 0xdffff, true },
    { 0xe0000, 0xe0fff, false }, { 0xe1000, 0xeffff, true },   { 0xf0000, 0xffffd, true },
    { 0xffffe, 0xfffff, false }, { 0x100000, 0x10fffd, true }, { 0x10fffe, 0x10ffff, false },
};

static void put_rune(struct buf *b, uint32_t c)
{
    if (c < 0x80) {
        buf_addc(b, (char)c);
        return;
    }
    if (c < 0x800) {
        buf_addc(b, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            buf_addc(b, (char)(0xe0 | c >> 12));
        } else {
            buf_addc(b, (char)(0xf0 | c >> 18));
            buf_addc(b, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    buf_addc(b, (char)(0x80 | (c & 0x3f)));
}

/* The runs of runes in one block that have the property, or have it not, in turn. */
static void add_block(struct arena *a, struct re_set *s, pcre2_code *runs, size_t block)
{
    AUTO(buf) struct buf text = { 0 };
    uint32_t lo = blocks[block].lo;
    uint32_t last = blocks[block].alike ? lo : blocks[block].hi;
    pcre2_match_data *m = pcre2_match_data_create_from_pattern(runs, NULL);
    uint32_t c = lo;

    if (!m)
        abort();
    for (uint32_t i = lo; i <= last; i++)
        put_rune(&text, i);
    for (size_t at = 0; at < text.n;) {
        int rc = pcre2_match(runs, (PCRE2_SPTR)text.p, text.n, at, PCRE2_NO_UTF_CHECK, m, NULL);
        if (rc < 1)
            break;
        size_t end = pcre2_get_ovector_pointer(m)[1];
        uint32_t n = 0;
        for (; at < end; at++)
            n += ((unsigned char)text.p[at] & 0xc0) != 0x80;
        uint32_t hi = blocks[block].alike ? blocks[block].hi : c + n - 1;
        if (rc == 2) /* the group took part: they have it */
            set_add(a, s, c, hi);
        c = hi + 1;
    }
    pcre2_match_data_free(m);
}

struct re_property {
    struct re_property *next;
    str name;
    struct re_set set;
};

/* NULL: PCRE2 knows none of that name. */
static pcre2_code *compile_runs(struct arena *a, str name)
{
    int code;
    PCRE2_SIZE at;

    for (size_t i = 0; i < name.n; i++)
        if (!strchr("_- ", name.p[i]) && ((name.p[i] | 32) < 'a' || (name.p[i] | 32) > 'z'))
            return NULL;
    if (!name.n || name.p[0] == 'X')
        return NULL; /* PCRE2's own */
    /* in Go what is not assigned is of no category */
    str has = str_eqz(name, "C") ? S("\\p{Cc}\\p{Cf}\\p{Co}")
                                 : arena_printf(a, "\\p{%" PRI_STR "}", STR_ARG(name));
    str text = arena_printf(a, "([%" PRI_STR "]+)|[^%" PRI_STR "]+", STR_ARG(has), STR_ARG(has));
    return pcre2_compile((PCRE2_SPTR)text.p, text.n, PCRE2_UTF, &code, &at, NULL);
}

static struct re_property *find_property(struct re_tables *t, str name)
{
    struct re_property *p = t->properties;

    while (p && !str_eq(p->name, name))
        p = p->next;
    if (p)
        return p;
    bool any = str_eqz(name, "Any");
    pcre2_code *runs = any ? NULL : compile_runs(t->a, name);
    if (!runs && !any)
        return NULL;
    p = ARENA_NEW(t->a, struct re_property);
    *p = (struct re_property){ .next = t->properties, .name = name };
    t->properties = p;
    if (any)
        set_add(t->a, &p->set, 0, RUNE_MAX);
    for (size_t i = 0; !any && i < COUNT(blocks); i++)
        add_block(t->a, &p->set, runs, i);
    if (str_eqz(name, "C") || str_eqz(name, "Cs"))
        set_add(t->a, &p->set, 0xd800, 0xdfff);
    pcre2_code_free(runs);
    return p;
}

bool set_add_property(struct re_tables *t, struct re_set *s, str name, bool fold, bool negate)
{
    struct re_set own = { 0 };

    if (name.n && name.p[0] == '^') {
        negate = !negate;
        name = str_sub(name, 1, name.n);
    }
    const struct re_property *p = find_property(t, name);
    if (!p)
        return false;
    for (size_t i = 0; i < p->set.n; i++)
        set_add(t->a, &own, p->set.at[i].lo, p->set.at[i].hi);
    set_add_set(t, s, &own, fold, negate);
    return true;
}

/* ---- case */

struct re_fold {
    uint32_t key;
    uint32_t rune;
};

static int by_key(const void *x, const void *y)
{
    const struct re_fold *a = x;
    const struct re_fold *b = y;

    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->rune > b->rune) - (a->rune < b->rune);
}

static bool contains(const struct re_set *s, size_t n, uint32_t rune)
{
    size_t lo = 0;
    size_t hi = n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->at[mid].hi < rune)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && s->at[lo].lo <= rune;
}

/* Runes with the same small letter of their capital differ in case alone. Dotted and dotless i are
 * letters of their own, as in Go. */
static void make_folds(struct re_tables *t)
{
    enum { FOLD_LAST = 0x1e943, FOLD_ROOM = 4096 };
    struct re_fold *to = ARENA_ARRAY(t->a, struct re_fold, FOLD_ROOM);
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    size_t n = 0;

    for (uint32_t c = 'A'; locale && c <= FOLD_LAST && n < FOLD_ROOM; c++) {
        uint32_t capital = (uint32_t)towupper_l(c, locale);
        uint32_t small = (uint32_t)towlower_l(c, locale);
        if ((capital != c || small != c) && c != 0x130 && c != 0x131)
            to[n++] = (struct re_fold){ (uint32_t)towlower_l(capital, locale), c };
    }
    if (locale)
        freelocale(locale);
    qsort(to, n, sizeof(*to), by_key);
    t->folds = to;
    t->n_folds = n;
}

static void fold_set(struct re_tables *t, struct re_set *s)
{
    bool wide = false;

    set_normalize(s);
    size_t before = s->n;
    for (size_t i = 0; i < before; i++) {
        wide = wide || s->at[i].hi >= 0x80;
        for (uint32_t c = s->at[i].lo; c <= s->at[i].hi && c < 0x80; c++) {
            uint32_t small = c | 32;
            if (small >= 'a' && small <= 'z')
                set_add(t->a, s, c ^ 32, c ^ 32);
            if (small == 'k') /* the sign of Kelvin */
                set_add(t->a, s, 0x212a, 0x212a);
            if (small == 's') /* the long s */
                set_add(t->a, s, 0x17f, 0x17f);
        }
    }
    if (wide && !t->folds)
        make_folds(t);
    for (size_t i = 0, end; wide && i < t->n_folds; i = end) {
        bool any = false;
        for (end = i; end < t->n_folds && t->folds[end].key == t->folds[i].key; end++)
            any = any || contains(s, before, t->folds[end].rune);
        for (size_t k = i; any && k < end; k++)
            set_add(t->a, s, t->folds[k].rune, t->folds[k].rune);
    }
}

void set_add_set(struct re_tables *t, struct re_set *s, struct re_set *more, bool fold, bool negate)
{
    if (fold)
        fold_set(t, more);
    if (negate)
        set_negate(t->a, more);
    for (size_t i = 0; i < more->n; i++)
        set_add(t->a, s, more->at[i].lo, more->at[i].hi);
}
