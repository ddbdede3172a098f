/* Selectors: what parses prints to text that parses to the same, and matches the same. */

#include "kube/selector.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void labels(struct arena *a, str text)
{
    jv set = jobj(a, { "a", jstrz(a, "x") }, { "n", jstrz(a, "5") }, { "e", jstrz(a, "") });
    struct selector s = { 0 };
    struct selector again = { 0 };
    str why = STR_NONE;

    if (selector_parse(a, text, &s, &why) < 0) {
        check(why.n > 0);
        return;
    }
    str printed = selector_text(a, &s);
    check(selector_parse(a, printed, &again, &why) == 0);
    check(str_eq(printed, selector_text(a, &again)));
    check(selector_matches(&s, set) == selector_matches(&again, set));
    check(selector_matches(&s, JV_ABSENT) == selector_matches(&again, JV_ABSENT));
}

static str lookup(const void *ctx, str field)
{
    (void)ctx;
    return str_eq(field, S("a")) ? S("x") : S("");
}

static void fields(struct arena *a, str text)
{
    struct field_selector s = { 0 };
    struct field_selector again = { 0 };
    str why = STR_NONE;

    if (field_selector_parse(a, text, &s, &why) < 0) {
        check(why.n > 0);
        return;
    }
    str printed = field_selector_text(a, &s);
    check(field_selector_parse(a, printed, &again, &why) == 0);
    check(field_selector_matches(&s, lookup, NULL) == field_selector_matches(&again, lookup, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str text = { (const char *)data, size };
    struct selector s = { 0 };
    str why = STR_NONE;

    labels(a, text);
    fields(a, text);
    selector_from_object(a, json_parse(a, text, NULL, NULL), &s, &why);
    selector_matches(&s, JV_EMPTY_OBJ);
    return 0;
}
