/* The numbers of wire.c, and protobuf read by them: golden/protobuf/cases.txt has objects of every
 * kind as Kubernetes' own encoder wrote them, and what its decoder made of that, as JSON. */

#include "builtin/kind.h"
#include "builtin/types.h"
#include "builtin/wire.h"

#include "base/base64.h"
#include "tap.h"

/* Bodies that are no kinds of their own. */
static const struct other {
    const char *type;
    const struct schema *schema;
} others[] = {
    { "v1 Binding", &core_Binding },
    { "v1 DeleteOptions", &meta_DeleteOptions },
    { "autoscaling/v1 Scale", &autoscaling1_Scale },
    { "policy/v1 Eviction", &policy_Eviction },
    { "authentication.k8s.io/v1 TokenRequest", &authn_TokenRequest },
};

static const struct schema *schema_of(struct arena *a, str type)
{
    for (size_t i = 0; i < COUNT(others); i++)
        if (str_eqz(type, others[i].type))
            return others[i].schema;
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (str_eq(type, arena_printf(a, "%s%s%s %s", k->group, k->group[0] ? "/" : "", k->version,
                                      k->kind)))
            return k->schema;
    }
    return NULL;
}

static void the_table_is_in_order(void)
{
    bool in_order = true;

    for (size_t i = 1; i < builtin_wire.n; i++)
        in_order =
            in_order && strcmp(builtin_wire.types[i - 1].name, builtin_wire.types[i].name) < 0;
    ok(in_order, "types are found by a search that needs them in order");
}

/* One line: type, base64, JSON, with tabs between. */
static bool is_read_as_go_does(str line)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    str type = str_cut(&line, '\t');
    str text = str_cut(&line, '\t');
    str bytes = STR_NONE;
    const struct schema *s = schema_of(a, type);
    jv want = json_parse(a, line, NULL, &e);

    if (!s || !jv_exists(want) || base64_decode(a, text, &bytes, &e) < 0) {
        printf("# %" PRI_STR ": %s\n", STR_ARG(type), s ? e.msg : "no such kind");
        return false;
    }
    jv raw = protobuf_decode(a, s, bytes, &builtin_wire, &e);
    jv have = jv_exists(raw) ? schema_decode(a, s, raw, NULL, &e) : raw;
    if (jv_equal(have, want))
        return true;
    printf("# %" PRI_STR "\n# want %" PRI_STR "\n# have %" PRI_STR "%s\n", STR_ARG(type),
           STR_ARG(json_text(a, want)), STR_ARG(jv_exists(have) ? json_text(a, have) : S("")),
           e.msg);
    return false;
}

static void objects_are_read_as_go_does(const char *path)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = fopen(path, "r");
    size_t n = 0;
    size_t wrong = 0;
    size_t got = 0;

    while (f && (got = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f)) > 0)
        b.n += got;
    if (f)
        fclose(f);
    for (str rest = buf_str(&b); rest.n;) {
        str line = str_cut(&rest, '\n');
        n++;
        wrong += !is_read_as_go_does(line);
    }
    ok(n >= 300, "there are objects to read");
    is_int((int64_t)wrong, 0, "all of them are read as Go reads them");
}

int main(int argc, char **argv)
{
    the_table_is_in_order();
    if (argc > 1)
        objects_are_read_as_go_does(argv[1]);
    return tap_done();
}
