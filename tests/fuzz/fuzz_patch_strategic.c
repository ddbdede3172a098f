/* Strategic merge patch: a document and a patch, one a line. Whatever comes out must print and read
 * back. */

#include "kube/patch_strategic.h"
#include "unit/kube/mini_schema.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = arena_str(a, (str){ (const char *)data, size });
    str doc_text = str_cut(&rest, '\n');
    jv doc = json_parse(a, doc_text, NULL, NULL);
    jv patch = rest.p ? json_parse(a, rest, NULL, NULL) : JV_ABSENT;
    struct err e = { 0 };

    if (!jv_is(doc, JV_OBJ) || !jv_exists(patch))
        return 0;
    jv got = patch_strategic(a, &mini_pod, doc, patch, &e);
    if (!jv_exists(got)) {
        if (e.code == ERR_OK || !e.msg[0])
            abort(); /* a failure says why */
        return 0;
    }
    if (!jv_equal(json_parse(a, json_text(a, got), NULL, NULL), got))
        abort();
    return 0;
}
