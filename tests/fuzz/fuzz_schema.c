/* Decoding by schema: the plural of a built-in resource on the first line, an object after it.
 * A failure says why; what was decoded prints, reads back and soon stays as it is. */

#include "builtin/kind.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct builtin_kind *find(str plural)
{
    for (size_t i = 0; i < builtin_kinds_n; i++)
        if (str_eqz(plural, builtin_kinds[i].plural))
            return &builtin_kinds[i];
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = arena_str(a, (str){ (const char *)data, size });
    const struct builtin_kind *k = find(str_cut(&rest, '\n'));
    jv v = k && rest.p ? json_parse(a, rest, NULL, NULL) : JV_ABSENT;
    struct err e = { 0 };

    if (!jv_exists(v))
        return 0;
    jv once = schema_decode(a, k->schema, v, NULL, &e);
    if (!jv_exists(once)) {
        if (e.code != ERR_BAD_REQUEST || !e.msg[0])
            abort();
        return 0;
    }
    if (!jv_equal(json_parse(a, json_text(a, once), NULL, NULL), once))
        abort();
    /* A pointer to the zero time prints as null, which reads as no pointer. */
    jv twice = schema_decode(a, k->schema, once, NULL, NULL);
    if (!jv_exists(twice) || schema_decode(a, k->schema, twice, NULL, NULL).node != twice.node)
        abort();
    return 0;
}
