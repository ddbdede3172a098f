/* Printer columns: what `kubectl get` shows of a custom object. */

#include "crd/rules.h"

const struct crd_column *columns_of(struct arena *a, jv list, size_t *n)
{
    struct crd_column *out = ARENA_ARRAY(a, struct crd_column, jv_len(list) + 1);

    *n = 0;
    for (struct jv_iter it = jv_iter(list); jv_next(&it);)
        out[(*n)++] = (struct crd_column){
            .name = jv_str(jv_at(it.value, "name"), S("")),
            .type = jv_str(jv_at(it.value, "type"), S("")),
            .format = jv_str(jv_at(it.value, "format"), S("")),
            .doc = jv_str(jv_at(it.value, "description"), S("")),
            .priority = jv_int(jv_at(it.value, "priority"), 0),
            .json_path = jv_str(jv_at(it.value, "jsonPath"), S("")),
        };
    return out;
}
