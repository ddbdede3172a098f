/* J7: whatever a job looks like, planning answers. Members of jobs, pods and Services of the golden
 * cases are replaced at random by values of any type (a server without our schema may hold such
 * things): no crash, the same plan twice, and carrying plans out comes to rest.
 *
 * A failure names its seed: test_mangled DIR SEED tries that one alone. */

#include "base/yaml.h"
#include "slurp.h"
#include "world.h"

#include <dirent.h>

enum { TRIES = 30, PASSES = 6 };

static uint64_t rng;

static uint64_t any(uint64_t n) /* 0 to n - 1 */
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (rng >> 11) % n;
}

static const char *const odd[] = {
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "2147483648",
    "9223372036854775807",
    "1e99",
    "0.5",
    "''",
    "'x'",
    "'-1'",
    "'Never'",
    "'Failed'",
    "'2025-01-01T10:00:00Z'",
    "'9999-12-31T23:59:59Z'",
    "[]",
    "{}",
    "[null]",
    "[[],{}]",
    "{'':null}",
    "{'a':{'name':5}}",
    "'{}'",
    "'\\u0000'",
};

static jv odd_value(struct arena *a)
{
    str text = arena_str(a, str_of(odd[any(COUNT(odd))]));
    char *p = arena_alloc(a, text.n);

    for (size_t i = 0; i < text.n; i++)
        p[i] = (char)(text.p[i] == '\'' ? '"' : text.p[i]);
    return json_parse(a, (str){ p, text.n }, NULL, NULL);
}

static size_t count(jv v)
{
    size_t n = 1;

    JV_EACH (it, v)
        n += count(it.value);
    return n;
}

/* v with its nth part replaced, or left out. */
static jv mangled(struct arena *a, jv v, size_t *nth, jv with)
{
    if ((*nth)-- == 0)
        return with;
    JV_EACH (it, v) {
        size_t in = count(it.value);

        if (*nth >= in) {
            *nth -= in;
            continue;
        }
        jv part = mangled(a, it.value, nth, with);
        return jv_is(v, JV_OBJ) ? jv_with_key(a, v, it.key, part)
                                : jv_with_index(a, v, it.i - 1, part);
    }
    return v;
}

static jv mangle(struct arena *a, jv v)
{
    size_t nth = any(count(v));

    return mangled(a, v, &nth, any(6) ? odd_value(a) : JV_ABSENT);
}

/* What the server itself keeps in order. */
static jv kept(struct arena *a, jv job, jv old)
{
    jv meta = jv_at(job, "metadata");

    meta = jv_is(meta, JV_OBJ) ? meta : JV_EMPTY_OBJ;
    JV_EACH (it, jv_at(old, "metadata"))
        if (!str_eq(it.key, S("annotations")))
            meta = jv_with_key(a, meta, it.key, it.value);
    job = jv_is(job, JV_OBJ) ? job : JV_EMPTY_OBJ;
    job = jv_with_key(a, job, S("metadata"), meta);
    job = jv_with_key(a, job, S("apiVersion"), jv_at(old, "apiVersion"));
    return jv_with_key(a, job, S("kind"), jv_at(old, "kind"));
}

/* Of names that others have: tried again and again, until they are free. */
static bool only_creates(const struct plan *p)
{
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kind != PLAN_CREATE)
            return false;
    return true;
}

static const char *live(struct world *w, struct arena *a, struct err *e)
{
    for (int pass = 0; pass < PASSES; pass++) {
        const struct plan *p = world_plan(w, a, e), *same = world_plan(w, a, e);

        if (!p || !same)
            return e->msg;
        if (!jv_equal(plan_json(a, p), plan_json(a, same)))
            return "J2: the same input, another plan";
        if (world_is_quiet(w, p))
            return NULL;
        if (pass == PASSES - 1 && !only_creates(p))
            return "J2: does not come to rest";
        if (world_apply(w, p, e) < 0)
            return NULL; /* names that are mangled clash; the server would say so */
    }
    return NULL;
}

static const char *try(struct arena *a, jv job, jv seen, struct err *e)
{
    struct world w = { .a = a };
    const char *why = NULL;

    for (uint64_t n = any(4); n > 0; n--)
        job = kept(a, mangle(a, job), job);
    if (any(2) && jv_len(jv_at(seen, "pods")))
        seen = jv_with(a, seen, mangle(a, jv_at(seen, "pods")), "pods");
    if (world_read(&w, job, seen, e) == 0)
        why = live(&w, a, e);
    world_done(&w);
    return why;
}

/* Returns how many tries went wrong. */
static unsigned run(const char *path, uint64_t *seed, uint64_t only)
{
    AUTO(arena) struct arena *a = arena_new();
    struct yaml_docs docs = { 0 };
    unsigned bad = 0;

    if (yaml_parse(a, str_of(path), slurp(a, path), NULL, &docs, NULL) < 0 || docs.n < 3)
        return 1;
    for (int i = 0; i < TRIES; i++) {
        AUTO(arena) struct arena *b = arena_new();
        const char *why = NULL;
        struct err e = { 0 };

        rng = ++*seed * 0x9e3779b97f4a7c15u + 1;
        if (only == 0 || only == *seed)
            why = try(b, docs.at[0].root, docs.at[1].root, &e);
        if (why)
            printf("# %s seed %" PRIu64 ": %s\n", path, *seed, why);
        bad += why != NULL;
    }
    return bad;
}

static int is_case(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void run_all(const char *dir, uint64_t only)
{
    struct dirent **found = NULL;
    int n = scandir(dir, &found, is_case, alphasort);
    uint64_t seed = 0;
    unsigned bad = 0;

    for (int i = 0; i < n; i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *path = arena_printf(a, "%s/%s", dir, found[i]->d_name).p;

        if (str_ends(str_of(path), S(".yaml")))
            bad += run(path, &seed, only);
        else
            run_all(path, only);
        free(found[i]);
    }
    free(found);
    if (seed)
        ok(bad == 0, "%" PRIu64 " mangled cases of %s", seed, strrchr(dir, '/') + 1);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    run_all(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
    return tap_done();
}
