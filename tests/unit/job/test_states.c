/* docs/job-states.md is true: each row of its table of transitions names a golden case, and that
 * case goes from the one state to the other. And no case makes a transition the table lacks. */

#include "base/vec.h"
#include "base/yaml.h"
#include "slurp.h"
#include "world.h"

#include <dirent.h>

struct row {
    str from, to, name;
};
static struct {
    VEC(struct row);
} rows;

/* A state is the last condition that holds. */
static str state_of(jv job)
{
    str state = S("(new)");

    JV_EACH (c, jv_at(job, "status", "conditions"))
        if (str_eq(jv_str(jv_get(c.value, S("status")), S("")), S("True")))
            state = jv_str(jv_get(c.value, S("type")), S(""));
    return state;
}

/* Rows read | from | when | to | [case](path) |. */
static void read_rows(str text)
{
    while (text.p) {
        str line = str_cut(&text, '\n');
        if (!str_starts(line, S("| ")) || !str_contains(line, S("](../tests/golden/")))
            continue;
        str_cut(&line, '|');
        str from = str_trim(str_cut(&line, '|'));
        str_cut(&line, '|');
        str to = str_trim(str_cut(&line, '|'));
        str_cut(&line, '[');
        vec_push(&rows, (struct row){ from, to, str_cut(&line, ']') });
    }
}

static bool is_allowed(str from, str to)
{
    bool known = str_eq(from, to);

    for (size_t i = 0; i < rows.n; i++)
        known |= str_eq(rows.at[i].from, from) && str_eq(rows.at[i].to, to);
    return known;
}

/* Plans a case and carries it out. */
static void check_case(const char *dir, const char *file)
{
    AUTO(arena) struct arena *a = arena_new();
    struct yaml_docs docs = { 0 };
    struct world w = { .a = a };
    struct err e = { 0 };
    str name = str_sub(str_of(file), 0, strlen(file) - strlen(".yaml"));
    str text = slurp(a, arena_printf(a, "%s/%s", dir, file).p);

    if (yaml_parse(a, str_of(file), text, NULL, &docs, &e) < 0 || docs.n < 3 ||
        world_read(&w, docs.at[0].root, docs.at[1].root, &e) < 0) {
        ok(false, "%s: %s", file, e.msg);
        return;
    }
    str from = state_of(w.job);
    const struct plan *p = world_plan(&w, a, &e);
    if (!p || world_apply(&w, p, &e) < 0) {
        ok(false, "%s: %s", file, e.msg);
        return;
    }
    str to = state_of(w.job);
    if (!is_allowed(from, to))
        ok(false, "%s: from %" PRI_STR " to %" PRI_STR " is not in the table", file, STR_ARG(from),
           STR_ARG(to));
    for (size_t i = 0; i < rows.n; i++) {
        if (!str_eq(rows.at[i].name, name))
            continue;
        ok(str_eq(from, rows.at[i].from) && str_eq(to, rows.at[i].to),
           "%s: from %" PRI_STR " to %" PRI_STR, file, STR_ARG(from), STR_ARG(to));
        rows.at[i].name = STR_NONE;
    }
    world_done(&w);
}

int main(int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct dirent **found = NULL;

    if (argc < 3)
        return 2;
    read_rows(slurp(a, argv[1]));
    ok(rows.n > 0, "the document has a table of transitions");
    int n = scandir(argv[2], &found, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (str_ends(str_of(found[i]->d_name), S(".yaml")))
            check_case(argv[2], found[i]->d_name);
        free(found[i]);
    }
    free(found);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.at[i].name.n)
            ok(false, "there is a case %" PRI_STR, STR_ARG(rows.at[i].name));
    vec_done(&rows);
    return tap_done();
}
