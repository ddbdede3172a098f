/* Problems: their number and their texts are bounded, whatever the object. */

#include "base/limits.h"
#include "kube/problem.h"
#include "tap.h"

static void texts_stop_at_their_limit(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    char *text = arena_alloc(a, 1024 * 1024);
    struct path p = path_field(NULL, S("spec"));

    memset(text, 'x', 1024 * 1024);
    jv bad = jstr(a, (str){ text, 1024 * 1024 });
    for (int i = 0; i < 100; i++)
        problem_invalid(&ps, &p, bad, "%s", "is long");
    size_t n = ps.n;
    ok(n > 60 && n < 70, "as many long texts as there is room for");
    ok(ps.at[0].message.n < LIMIT_QUOTED_BYTES + 100, "each quotes the beginning of the value");
    is_str(str_sub(ps.at[0].message, LIMIT_QUOTED_BYTES + 17, ps.at[0].message.n),
           S("... (1040384 bytes more): is long"), "and says how much is left out");
    problem_required(&ps, &p, "%s", "");
    problem_add_bare(&ps, PROBLEM_FORBIDDEN, &p, "%s", "no");
    is_int((int64_t)ps.n, (int64_t)n, "and nothing is added to them");
}

static void a_large_value_is_not_quoted(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    struct path p = path_field(NULL, S("spec"));
    struct jbuild b = jb_arr(a);

    for (int i = 0; i < LIMIT_QUOTED_BYTES; i++)
        jb_push(&b, jint(a, i));
    problem_invalid(&ps, &p, jb_done(&b), "%s", "is long");
    is_str(ps.at[0].message, S("Invalid value: (too long to be shown): is long"), "a long list");
}

static void so_does_their_number(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    struct path p = path_field(NULL, S("spec"));

    for (int i = 0; i < 2 * LIMIT_PROBLEMS; i++)
        problem_required(&ps, &p, "%s", "");
    is_int((int64_t)ps.n, LIMIT_PROBLEMS, "a thousand");
}

static str joined(struct arena *a, const struct path *own, const char *says,
                  const struct path *other, const char *also)
{
    struct problems ps = { .a = a };
    struct problems others = { .a = a };

    problem_invalid(&ps, own, jstrz(a, "x"), "%s", says);
    problem_invalid(&others, other, jstrz(a, "object"), "%s", also);
    problems_join(&ps, 0, &others);
    return problems_text(a, &ps);
}

static void who_says_the_same_is_not_heard(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct path map = path_field(NULL, S("map"));
    struct path key = path_key(&map, S("Foo"));
    struct path dot = path_field(&map, S("Foo"));
    struct path near = path_field(NULL, S("mapFoo"));

    is_str(joined(a, &key, "one of A", &dot, "no"), S("map[Foo]: Invalid value: \"x\": one of A"),
           "of the same field, whatever it is");
    is_str(joined(a, &key, "one of A", &map, "one of A"),
           S("map[Foo]: Invalid value: \"x\": one of A"), "of the field above");
    is_str(joined(a, &map, "one of A, says B", &key, "one of A"),
           S("map: Invalid value: \"x\": one of A, says B"), "of the field below");
    is_str(
        joined(a, &key, "one of A", &map, "too many"),
        S("[map[Foo]: Invalid value: \"x\": one of A, map: Invalid value: \"object\": too many]"),
        "other words are");
    is_str(joined(a, &map, "one of A", &near, "one of A"),
           S("[map: Invalid value: \"x\": one of A, mapFoo: Invalid value: \"object\": one of A]"),
           "and so are the same of a field that only begins alike");
}

int main(void)
{
    who_says_the_same_is_not_heard();
    texts_stop_at_their_limit();
    a_large_value_is_not_quoted();
    so_does_their_number();
    return tap_done();
}
