/* An expression and a text, with a NUL between them: parsing and matching end, and the answer is
 * the same with the automaton of a match before. */

#include "crd/pattern.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = { (const char *)data, size };
    str text = str_cut(&rest, '\0');
    const struct crd_pattern *p = pattern_new(a, text, NULL);

    if (!p)
        return 0;
    struct pattern_work *w = pattern_work_new(a, false);
    enum pattern_result first = pattern_match(p, rest, w);
    enum pattern_result again = pattern_match(p, rest, w);
    assert(first == PATTERN_GIVEN_UP || first == again);
    return 0;
}
