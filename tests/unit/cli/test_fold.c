/* Lines that are said again and again, and lines that are too long. */

#include "base/buf.h"
#include "cli/fold.h"
#include "tap.h"

static void what_is_repeated_is_counted(void)
{
    struct folds f = { 0 };
    int64_t again;

    ok(!folds_is_again(&f, S("a"), S("waiting"), &again), "the first time a line is shown");
    ok(folds_is_again(&f, S("a"), S("waiting"), &again), "the second time it is not");
    ok(!folds_is_again(&f, S("b"), S("waiting"), &again), "another container has its own");
    ok(folds_is_again(&f, S("a"), S("waiting"), &again), "and changes nothing for the first");
    ok(!folds_is_again(&f, S("a"), S("ready"), &again), "another line is shown");
    is_int(again, 2, "with how often the one before came again");
    ok(!folds_is_again(&f, S("a"), S("waiting"), &again), "and so is the first one after it");
    is_int(again, 0, "nothing was left out in between");
    ok(!folds_is_again(&f, S("a"), S(""), &again), "an empty line is a line");
    folds_done(&f);
}

static void tell(void *ctx, str key, int64_t again)
{
    buf_printf(ctx, "%" PRI_STR "=%" PRId64, STR_ARG(key), again);
}

static void the_end_tells_the_rest(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct folds f = { 0 };
    int64_t again;

    folds_is_again(&f, S("a"), S("x"), &again);
    folds_is_again(&f, S("a"), S("x"), &again);
    folds_is_again(&f, S("b"), S("x"), &again);
    folds_flush(&f, tell, &b);
    folds_flush(&f, tell, &b);
    is_str(buf_str(&b), S("a=1"), "what was not shown is told, once");
    folds_done(&f);
}

static void commands_of_daemons_are_cut(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = arena_printf(a, "-mca%0300d", 0);
    str line =
        arena_printf(a, "+ exec muster exec w-0 -- /bin/sh -c  orted %" PRI_STR, STR_ARG(rest));
    str other = arena_printf(a, "loss %0300d", 0);

    is_str(fold_long(a, line),
           S("+ exec muster exec w-0 -- /bin/sh -c  orted ... (304 more characters)"),
           "settings of orted are left out");
    is_str(fold_long(a, other), other, "other long lines are not");
    is_str(fold_long(a, S("exec orted -x")), S("exec orted -x"), "nor short ones");
    other = arena_printf(a, "what is orted ? %0300d", 0);
    is_str(fold_long(a, other), other, "nor lines that only name it");
}

int main(void)
{
    what_is_repeated_is_counted();
    the_end_tells_the_rest();
    commands_of_daemons_are_cut();
    return tap_done();
}
