/* See up_groups.h. */

#include "app/up_groups.h"

#include "manifest/groups.h"

void up_groups_describe(struct arena *a, struct api_opts *o)
{
    size_t n = manifest_n_groups();
    jv *crds = ARENA_ARRAY(a, jv, n);

    for (size_t i = 0; i < n; i++)
        crds[i] = manifest_group_crd(a, i);
    o->loans = crds;
    o->n_loans = n;
    o->objects = manifest_queues(a);
}
