#include "tap.h"

static const char text[] =
    "{\"a\":{\"b\\\"\":{\"c\":1},\"b\":[1,{\"c\":\"}\\\\\"},[]],\"c\":-1.5e3},\"s\":\"x\\\"y\","
    "\"e\":{},\"t\":true , \"last\" : [ ] }";

static void values_are_found_by_path(void)
{
    str s = str_of(text);

    is_str(json_skim(s, "a", "b"), S("[1,{\"c\":\"}\\\\\"},[]]"), "past a key that looks like it");
    is_str(json_skim(s, "a", "c"), S("-1.5e3"), "a number up to the brace");
    is_str(json_skim(s, "s"), S("\"x\\\"y\""), "text with its quotes and escapes");
    is_str(json_skim(s, "e"), S("{}"), "nothing in braces");
    is_str(json_skim(s, "last"), S("[ ]"), "white space is passed over");
    is_str(json_skim(s, "a", "b\\\"", "c"), S("1"), "keys are compared as written");
}

static void what_is_not_there_is_nothing(void)
{
    str s = str_of(text);

    ok(!json_skim(s, "b").p, "a member of another");
    ok(!json_skim(s, "e", "x").p, "in an empty object");
    ok(!json_skim(s, "s", "x").p, "in text");
    ok(!json_skim(s, "a", "b", "c").p, "in an array");
    ok(!json_skim(STR_NONE, "a").p, "in no text");
}

/* Cut anywhere, or with any byte spoilt, it may find nothing or nonsense but stays in the text. */
static void bad_text_does_no_harm(void)
{
    size_t outside = 0;

    for (size_t n = 0; n < sizeof(text); n++) {
        for (int spoil = 0; spoil < 2; spoil++) {
            char *copy = malloc(n ? n : 1); /* its end is the sanitizer's business */
            memcpy(copy, text, n);
            if (spoil && n)
                copy[n / 2] = '\\';
            str s = { copy, n };
            str found[] = { json_skim(s, "a", "b"), json_skim(s, "last"), json_skim(s, "none") };
            for (size_t i = 0; i < COUNT(found); i++)
                outside += found[i].p && found[i].p + found[i].n > copy + n;
            free(copy);
        }
    }
    is_int((int64_t)outside, 0, "nothing beyond the end");
}

int main(void)
{
    values_are_found_by_path();
    what_is_not_there_is_nothing();
    bad_text_does_no_harm();
    return tap_done();
}
