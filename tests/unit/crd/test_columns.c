/* Tables of custom objects, as the real server gave them. */

#include "base/time.h"
#include "builtin/types/types.h"
#include "golden.h"

static void tables_match_the_real_server(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "columns");

    JV_EACH (it, jv_at(jdoc_root(d), "cases")) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(crd) struct crd *c = crd_compile(jv_at(it.value, "crd"), &meta_ObjectMeta, NULL);
        str name = jv_str(jv_at(it.value, "name"), S(""));
        int64_t now_ms = (int64_t)(jv_double(jv_at(it.value, "now"), 0) * 1000);

        ok(jv_equal(crd_columns(a, c->storage), jv_at(it.value, "columns")),
           "%" PRI_STR ": columns are the same", STR_ARG(name));
        JV_EACH (row, jv_at(it.value, "rows"))
            is_str(json_text(a, crd_cells(a, c->storage, jv_at(row.value, "object"), now_ms)),
                   json_text(a, jv_at(row.value, "cells")), "and so are the cells");
    }
}

int main(int argc, char **argv)
{
    tables_match_the_real_server(argc > 1 ? argv[1] : ".");
    return tap_done();
}
