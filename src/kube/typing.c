/* Schema look-up along an object. */

#include "kube/typing.h"

static const struct schema any = { .type = SCHEMA_ANY };

const struct schema *typing_member(const struct schema *s, str name, size_t *hint)
{
    if (!s)
        return NULL;
    if (s->type == SCHEMA_MAP)
        return s->items;
    if (s->type == SCHEMA_ANY)
        return s;
    if (s->type != SCHEMA_OBJECT)
        return NULL;
    for (size_t i = 0, at = *hint; i < s->n_fields; i++, at++) {
        if (at >= s->n_fields)
            at = 0;
        if (str_eq(s->fields[at].name, name)) {
            *hint = at + 1;
            return s->fields[at].schema;
        }
    }
    if (s->items)
        return s->items;
    return s->preserve_unknown ? &any : NULL;
}
