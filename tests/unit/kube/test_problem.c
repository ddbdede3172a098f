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
    is_int((int64_t)ps.n, 4, "four quotes of a megabyte are enough");
    problem_required(&ps, &p, "%s", "");
    problem_add_bare(&ps, PROBLEM_FORBIDDEN, &p, "%s", "no");
    is_int((int64_t)ps.n, 4, "and nothing is added to them");
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

int main(void)
{
    texts_stop_at_their_limit();
    so_does_their_number();
    return tap_done();
}
