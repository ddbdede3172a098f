#include "base/arena.h"
#include "tap.h"

static void nothing_has_an_address_too(void)
{
    AUTO(arena) struct arena *a = arena_new();

    ok(arena_alloc(a, 0) != NULL, "of an arena that is still empty");
    ok(arena_zalloc(a, 0) != NULL, "and after");
}

static void texts_of_any_length_are_printed_whole(void)
{
    AUTO(arena) struct arena *a = arena_new();
    size_t bad = 0;

    for (int n = 0; n < 300; n++) {
        str s = arena_printf(a, "%0*d%s", n + 1, 7, "!");
        bad += s.n != (size_t)n + 2 || s.p[n] != '7' || s.p[n + 1] != '!' || s.p[n + 2] != 0;
    }
    is_int((int64_t)bad, 0, "and end in a NUL");
}

static void letters_are_lowered(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(arena_lower(a, S("@AZ[`az{-TFJob1\xc3\x84")), S("@az[`az{-tfjob1\xc3\x84"),
           "those of ASCII, and nothing else");
    is_str(arena_lower(a, STR_NONE), S(""), "of nothing there are none");
}

int main(void)
{
    nothing_has_an_address_too();
    texts_of_any_length_are_printed_whole();
    letters_are_lowered();
    return tap_done();
}
