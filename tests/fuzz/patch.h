/* What all patch targets do: a document and a patch, one a line. Whatever comes out must print and
 * read back; a failure says why. */
#pragma once

#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_patch(const uint8_t *data, size_t size,
                             jv (*patch)(struct arena *a, jv doc, jv patch, struct err *e))
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = arena_str(a, (str){ (const char *)data, size });
    jv doc = json_parse(a, str_cut(&rest, '\n'), NULL, NULL);
    jv change = rest.p ? json_parse(a, rest, NULL, NULL) : JV_ABSENT;
    struct err e = { 0 };

    if (!jv_is(doc, JV_OBJ) || !jv_exists(change))
        return 0;
    jv got = patch(a, doc, change, &e);
    if (!jv_exists(got)) {
        if (e.code == ERR_OK || !e.msg[0])
            abort();
    } else if (!jv_equal(json_parse(a, json_text(a, got), NULL, NULL), got)) {
        abort();
    }
    return 0;
}
