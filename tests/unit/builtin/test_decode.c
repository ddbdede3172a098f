/* tests/golden/types/decode.jsonl: objects of every kind, and what Go's decoder and encoder make of
 * them with the types of Kubernetes 1.34, or why they refuse. */

#include "builtin/kind.h"
#include "tap.h"

static void add_path(void *ctx, str path)
{
    struct jbuild *b = ctx;

    jb_push(b, jstr(b->a, path));
}

static void decodes_as_go_does(jv want)
{
    AUTO(arena) struct arena *a = arena_new();
    jv id = jv_at(want, "kind");
    str kind = jv_str(jv_index(id, 2), S(""));
    const struct builtin_kind *k =
        builtin_find_kind(jv_str(jv_index(id, 0), S("")), jv_str(jv_index(id, 1), S("")), kind);
    struct jbuild unknown = jb_arr(a);
    const struct schema_report report = { add_path, &unknown };
    struct err e = { 0 };

    if (!ok(k != NULL, "%" PRI_STR " is built in", STR_ARG(kind)))
        return;
    jv got = schema_decode(a, k->schema, jv_at(want, "in"), &report, &e);
    if (jv_exists(jv_at(want, "error"))) {
        is_str(str_of(e.msg), jv_str(jv_at(want, "error"), S("")), "is refused in Go's words");
        return;
    }
    if (!ok(jv_equal(got, jv_at(want, "out")), "%" PRI_STR " decodes as in Go", STR_ARG(kind)))
        printf("# got  %" PRI_STR "\n# want %" PRI_STR "\n", STR_ARG(json_text(a, got)),
               STR_ARG(json_text(a, jv_at(want, "out"))));
    jv paths = jv_at(want, "unknown");
    ok(jv_equal(jb_done(&unknown), jv_exists(paths) ? paths : JV_EMPTY_ARR),
       "and tells the same unknown fields");
    /* A pointer to the zero time prints as null, which then reads as no pointer: hence twice. */
    jv again = schema_decode(a, k->schema, got, NULL, NULL);
    ok(schema_decode(a, k->schema, again, NULL, NULL).node == again.node,
       "what was decoded stays as it is");
}

int main(int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    str path = argc > 1 ? arena_printf(a, "%s/decode.jsonl", argv[1]) : S("decode.jsonl");
    FILE *f = fopen(path.p, "r");
    char *line = NULL;
    size_t cap = 0;

    if (!f) {
        printf("Bail out! cannot read %s\n", path.p);
        return 1;
    }
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0;) {
        AUTO(jdoc) struct jdoc *d = jdoc_parse((str){ line, (size_t)n }, NULL, NULL);
        if (ok(d != NULL, "a line of the file is JSON"))
            decodes_as_go_does(jdoc_root(d));
    }
    free(line);
    fclose(f);
    return tap_done();
}
