/* YAML: whatever is read is printable, reads back the same, and knows where it stood. */

#include "base/limits.h"
#include "base/yaml.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* JSON may hold numbers that no double can; YAML cannot. */
static bool fits_yaml(jv v)
{
    if (jv_is(v, JV_NUM) && !isfinite(jv_double(v, 0)))
        return false;
    if (jv_is(v, JV_NUM) && v.node->n > 300)
        return false;
    JV_EACH (it, v)
        if (!fits_yaml(it.value))
            return false;
    return true;
}

static void reads_back(struct arena *a, jv v)
{
    AUTO(buf) struct buf b = { 0 };
    struct yaml_docs docs = { 0 };
    struct err e = { 0 };

    yaml_print(&b, v);
    check(yaml_parse(a, S("printed"), arena_str(a, buf_str(&b)), NULL, &docs, &e) == 0);
    check(docs.n == 1 && jv_equal(docs.at[0].root, v));
    b.n = 0;
    yaml_print_compact(&b, v);
    check(yaml_parse(a, S("printed"), arena_str(a, buf_str(&b)), NULL, &docs, &e) == 0);
    check(docs.n == 1 && jv_equal(docs.at[0].root, v));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    struct yaml_opts opts = { .places = true };
    struct yaml_docs docs = { 0 };
    struct err e = { 0 };
    str text = arena_str(a, (str){ (const char *)data, size });

    if (yaml_parse(a, S("f"), text, &opts, &docs, &e) < 0) {
        check(e.code != ERR_OK && e.msg[0] == 'f');
        return 0;
    }
    for (size_t i = 0; i < docs.n; i++) {
        struct yaml_place at = { 0 };
        jv root = docs.at[i].root;
        if (docs.at[i].where)
            check(yaml_where_path(&docs.at[i], S("a.b[0].c"), &at) && at.line && at.column);
        /* Aliases make small text large: leave the largest out to stay fast. */
        if (size < 4096 && json_text(a, root).n < 65536 && fits_yaml(root))
            reads_back(a, root);
    }
    return 0;
}
