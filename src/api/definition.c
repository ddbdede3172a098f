/* Stored definitions, compiled late. */

#include "api/definition.h"

#include "base/mem.h"
#include "builtin/types/types.h"

#include <assert.h>
#include <stdlib.h>

struct definition {
    unsigned refs;
    struct value *stored;
    struct crd *compiled; /* NULL: not yet */
};

struct definition *definition_new(struct value *stored)
{
    struct definition *d = mem_new(sizeof(*d));

    d->refs = 1;
    d->stored = value_ref(stored);
    return d;
}

struct definition *definition_ref(struct definition *d)
{
    d->refs++;
    return d;
}

void definition_unref(struct definition *d)
{
    if (!d || --d->refs)
        return;
    value_unref(d->stored);
    crd_unref(d->compiled);
    free(d);
}

const struct crd *definition_crd(struct definition *d)
{
    if (!d->compiled) {
        AUTO(arena) struct arena *a = arena_new();
        jv obj = json_parse(a, value_text(a, d->stored), NULL, NULL);
        d->compiled = crd_compile(obj, &meta_ObjectMeta, NULL);
        assert(d->compiled); /* its outline was found good */
        value_unref(TAKE(d->stored));
    }
    return d->compiled;
}
