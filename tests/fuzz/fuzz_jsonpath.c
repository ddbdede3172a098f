/* JSONPath: a path, a line feed, a document. Everything found must be printable. */

#include "kube/jsonpath.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char dflt[] = "{\"a\": [{\"b\": 1, \"c\": \"x\"}, {\"b\": 2.5, \"d\": null}], "
                               "\"e\": {\"f.g\": true, \"h\": [[1, 2], [3]]}}";
    AUTO(arena) struct arena *a = arena_new();
    str rest = { (const char *)data, size };
    str path = str_cut(&rest, '\n');
    jv doc = rest.n ? json_parse(a, rest, NULL, NULL) : json_parse(a, str_of(dflt), NULL, NULL);
    const struct jsonpath *p = jsonpath_compile(a, path);
    struct jv_list found = { 0 };

    if (!p || jsonpath_eval(p, a, doc, &found) < 0)
        return 0;
    for (size_t i = 0; i < found.n && i < 100; i++)
        if (!jsonpath_print(a, found.at[i]).p && jv_exists(found.at[i]))
            abort();
    return 0;
}
