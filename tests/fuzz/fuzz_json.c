/* JSON: what parses must print and parse to the same again, and edits must do what they say. */

#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void note(void *ctx, str path, size_t at)
{
    (void)at;
    check(str_is_utf8(path));
    ++*(size_t *)ctx;
}

static void reads_back(struct arena *a, jv v, unsigned spaces)
{
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    json_print_indent(&b, v, spaces);
    jv again = json_parse(a, arena_str(a, buf_str(&b)), NULL, &e);
    check(jv_exists(again));
    check(jv_equal(v, again) && jv_equal(again, v) && jv_equal_semantic(v, again));
    check(str_eq(json_text(a, v), json_text(a, again)));
}

static void edit(struct arena *a, jv v)
{
    jv old = jv_copy(a, v);
    jv in = jv_with(a, v, jint(a, 7), "a", "b");
    jv out = jv_without(a, v, "a");

    check(jv_int(jv_at(in, "a", "b"), 0) == 7);
    check(!jv_exists(jv_at(out, "a")));
    if (jv_is(v, JV_OBJ))
        check(jv_len(out) + jv_exists(jv_at(v, "a")) == jv_len(v));
    if (jv_is(v, JV_ARR)) {
        jv longer = jv_with_index(a, v, jv_len(v), JV_TRUE);
        check(jv_len(longer) == jv_len(v) + 1 && jv_bool(jv_index(longer, jv_len(v)), false));
        if (jv_len(v)) {
            jv shorter = jv_with_index(a, v, 0, JV_ABSENT);
            check(jv_len(shorter) == jv_len(v) - 1);
        }
    }
    check(jv_equal(old, v)); /* nothing above touched it */
    reads_back(a, in, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    size_t duplicates = 0;
    struct json_opts opts = { .on_duplicate = note, .ctx = &duplicates };
    struct err e = { 0 };
    jv v = json_parse(a, (str){ (const char *)data, size }, &opts, &e);

    if (!jv_exists(v)) {
        check(e.code != ERR_OK && e.msg[0]);
        return 0;
    }
    reads_back(a, v, 0);
    reads_back(a, v, 2);
    edit(a, v);
    JV_EACH (it, v)
        if (jv_is(v, JV_OBJ))
            check(jv_get(v, it.key).node == it.value.node); /* no key twice */
    return 0;
}
