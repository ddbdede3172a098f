/* Columns are as wide as what is in them, and nothing from outside steers the terminal. */

#include "cli/table.h"
#include "tap.h"

static struct arena *a;

static str printed(struct table *t)
{
    AUTO(buf) struct buf b = { 0 };

    table_print(t, &b);
    return arena_str(a, buf_str(&b));
}

static void columns_fit(void)
{
    struct table t;

    table_init(&t, a, "NAME|STATE|AGE");
    is_str(printed(&t), S(""), "without rows there is no head");
    table_add(&t, (str[]){ S("a"), S("Running"), S("5s") });
    table_add(&t, (str[]){ S("a-long-name"), S("New"), S("10m") });
    is_str(
        printed(&t),
        S("NAME          STATE     AGE\na             Running   5s\na-long-name   New       10m\n"),
        "three spaces after the widest");
    table_add(&t, (str[]){ S("b"), S("Succeeded"), S("1s") });
    is_str(printed(&t), S("b             Succeeded   1s\n"),
           "later rows keep to it, without a head");
}

static void ends_are_bare(void)
{
    struct table t;

    table_init(&t, a, "A|B|C");
    t.indent = 2;
    table_add(&t, (str[]){ S("x"), S(""), S("") });
    is_str(printed(&t), S("  A   B   C\n  x\n"), "no spaces at the end of a line");
    t.bare = true;
    t.headed = false;
    table_add(&t, (str[]){ S("y"), S(""), S("z") });
    is_str(printed(&t), S("  y       z\n"), "nor a head when none is wanted");
}

static void letters_count_not_bytes(void)
{
    struct table t;

    table_init(&t, a, "A|B");
    table_add(&t, (str[]){ S("\xc3\xa4\xc3\xb6"), S("x") });
    is_str(printed(&t), S("A    B\n\xc3\xa4\xc3\xb6   x\n"), "two letters of two bytes");
}

static void control_characters_become_spaces(void)
{
    is_str(text_plain(a, S("a\n\033[31mb\x7f\xc2\x9b\xc2\xa0\t")), S("a  [31mb   \xc2\xa0 "),
           "C0, DEL and C1, but no others");
    is_str(text_plain(a, S("\xc2")), S("\xc2"), "a cut letter at the end");
}

int main(void)
{
    a = arena_new();
    columns_fit();
    ends_are_bare();
    letters_count_not_bytes();
    control_characters_become_spaces();
    arena_free(a);
    return tap_done();
}
