/* Golden cases of planners: tests/golden/job/KIND/NNN-name.yaml, documents
 *   1. the job; 2. what is observed; 3. what must be in the plan: of objects the members given, of
 *   lists all elements, "(absent)" for a member that must not be there; 4. if given, the whole
 * plan, rewritten by `make golden`. For all: the same input gives the same plan, and planning after
 * carrying it out gives nothing, unless document 2 says `again: differs`. */

#include "base/yaml.h"
#include "slurp.h"
#include "world.h"

#include <dirent.h>

static bool rewrite; /* GOLDEN_WRITE is set */

/* ---- is `want` in `got`? Says where not. */

static bool complain(struct buf *path, jv got, jv want)
{
    AUTO(arena) struct arena *a = arena_new();

    printf("# at %" PRI_STR "\n#   got  %" PRI_STR "\n#   want %" PRI_STR "\n",
           STR_ARG(buf_str(path)), STR_ARG(jv_exists(got) ? json_text(a, got) : S("(absent)")),
           STR_ARG(json_text(a, want)));
    return false;
}

static bool has(struct buf *path, jv got, jv want)
{
    size_t n = path->n;
    bool all = true;

    if (jv_is(want, JV_STR) && str_eq(jv_str(want, S("")), S("(absent)")))
        return jv_exists(got) ? complain(path, got, want) : true;
    if (!jv_exists(got) && (jv_is(want, JV_ARR) || jv_is(want, JV_OBJ)) && jv_len(want) == 0)
        return true; /* empty members are left out */
    if (jv_type(got) != jv_type(want))
        return complain(path, got, want);
    if (jv_is(want, JV_ARR) && jv_len(got) != jv_len(want))
        return complain(path, got, want);
    if (!jv_is(want, JV_OBJ) && !jv_is(want, JV_ARR))
        return jv_equal(got, want) ? true : complain(path, got, want);
    JV_EACH (it, want) {
        bool is_obj = jv_is(want, JV_OBJ);
        if (is_obj)
            buf_printf(path, ".%" PRI_STR, STR_ARG(it.key));
        else
            buf_printf(path, "[%zu]", it.i - 1);
        all &= has(path, is_obj ? jv_get(got, it.key) : jv_index(got, it.i - 1), it.value);
        path->n = n;
    }
    return all;
}

/* ---- one file */

/* Bytes up to the line "---" before document 4. */
static size_t start_of_fourth(str text)
{
    size_t n = 0, at = 0;

    if (str_starts(text, S("---\n")))
        at = 4;
    for (; at < text.n; at++)
        if (str_starts(str_sub(text, at, text.n), S("\n---\n")) && ++n == 3)
            return at + 1;
    return text.n;
}

static void write_plan(const char *path, str old, jv plan)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = fopen(path, "w");

    buf_add(&b, str_sub(old, 0, start_of_fourth(old)));
    buf_add(&b, S("---\n"));
    yaml_print(&b, plan);
    if (f) {
        fwrite(b.p, 1, b.n, f);
        fclose(f);
    }
}

static void check_again(struct world *w, const struct plan *p, const char *name, bool differs)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    if (world_apply(w, p, &e) < 0) {
        ok(false, "%s: can be carried out: %s", name, e.msg);
        return;
    }
    const struct plan *again = world_plan(w, a, &e);
    bool quiet = again && world_is_quiet(w, again);
    if (differs) {
        ok(!quiet, "%s: there is more to do after it", name);
    } else if (!ok(quiet, "%s: J2: nothing to do after it", name)) {
        printf("# %" PRI_STR "\n",
               STR_ARG(again ? json_text(a, plan_json(a, again)) : str_of(e.msg)));
    }
}

static void run(const char *path, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf at = { 0 };
    struct yaml_docs docs = { 0 };
    struct world w = { .a = a };
    struct err e = { 0 };
    str text = slurp(a, path);

    if (yaml_parse(a, str_of(name), text, NULL, &docs, &e) < 0 || docs.n < 3) {
        ok(false, "%s: %s", name, e.msg[0] ? e.msg : "needs three documents");
        return;
    }
    const struct plan *p = NULL, *same = NULL;
    if (world_read(&w, docs.at[0].root, docs.at[1].root, &e) == 0) {
        p = world_plan(&w, a, &e);
        same = world_plan(&w, a, &e);
    }
    if (!p || !same) {
        ok(false, "%s: %s", name, e.msg);
        return;
    }
    jv plan = plan_json(a, p);
    buf_add(&at, S("plan"));
    if (!ok(has(&at, plan, docs.at[2].root), "%s", name))
        printf("# plan: %" PRI_STR "\n", STR_ARG(json_text(a, plan)));
    if (docs.n > 3 && rewrite)
        write_plan(path, text, plan);
    else if (docs.n > 3)
        ok(jv_equal(plan, docs.at[3].root), "%s: the whole plan", name);
    ok(jv_equal(plan, plan_json(a, same)), "%s: J2: the same input, the same plan", name);
    check_again(&w, p, name, str_eq(jv_str(jv_at(docs.at[1].root, "again"), S("")), S("differs")));
    world_done(&w);
}

static int is_case(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void run_all(const char *dir, const char *shown)
{
    struct dirent **found = NULL;
    int n = scandir(dir, &found, is_case, alphasort);

    for (int i = 0; i < n; i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *path = arena_printf(a, "%s/%s", dir, found[i]->d_name).p;
        const char *name = arena_printf(a, "%s%s", shown, found[i]->d_name).p;
        if (str_ends(str_of(name), S(".yaml")))
            run(path, name);
        else
            run_all(path, arena_printf(a, "%s/", name).p);
        free(found[i]);
    }
    free(found);
}

int main(int argc, char **argv)
{
    rewrite = getenv("GOLDEN_WRITE") != NULL;
    if (argc < 2)
        return 2;
    run_all(argv[1], "");
    return tap_done();
}
