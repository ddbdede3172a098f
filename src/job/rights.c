/* See rights.h. */

#include "job/rights.h"

#include <assert.h>

struct list {
    struct right *at;
    size_t n;
};

static void add(struct list *l, const struct kube_resource *res, const char *sub, const char *verbs,
                bool is_watched)
{
    assert(l->n < RIGHTS_MAX);
    l->at[l->n++] =
        (struct right){ .res = res, .sub = sub, .verbs = verbs, .is_watched = is_watched };
}

size_t rights_of(struct right *out, const struct planner *const *kinds, size_t n,
                 enum gang_mode gang)
{
    struct list l = { out, 0 };

    for (size_t i = 0; i < n; i++) {
        add(&l, kinds[i]->res, "", "get patch delete", true);
        add(&l, kinds[i]->res, "status", "patch", false);
        for (const struct planner_owned *o = kinds[i]->owned; o && o->res; o++)
            add(&l, o->res, "", o->verbs, true);
        for (const struct planner_grant *g = kinds[i]->grants; g && g->res; g++)
            add(&l, g->res, g->sub, g->verbs, false);
    }
    for (const struct planner_needed *x = gang_needed(gang); x && x->res; x++)
        add(&l, x->res, "", x->verbs ? x->verbs : "", true);
    /* get: to find the owner when a name is taken */
    add(&l, &kube_pods, "", "get create delete", true);
    add(&l, &kube_services, "", "get create delete patch", true);
    add(&l, &kube_events, "", "create", false);
    return l.n;
}
