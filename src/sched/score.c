/* Of nodes that will do, the best: where least is taken, where fewest of the same owner are, where
 * the pod would rather be. Of equals the first by name, so that the same input gives the same. */

#include "sched/internal.h"

enum { FULL = 100, WEIGHT_TAINT = 3, WEIGHT_AFFINITY = 2, WEIGHT_SPREAD = 2 };

static int64_t left_over(int64_t has, int64_t used, int64_t need)
{
    if (has <= 0 || used + need >= has)
        return 0;
    return (int64_t)((double)(has - used - need) * FULL / (double)has);
}

static int64_t least_taken(const struct candidate *c, const struct place *p)
{
    return (left_over(p->has[RES_CPU], p->used[RES_CPU], c->need[RES_CPU]) +
            left_over(p->has[RES_MEMORY], p->used[RES_MEMORY], c->need[RES_MEMORY]) +
            left_over(p->max_pods, p->n_pods, 1)) /
           3;
}

/* What would be left of that of which least would be left. */
static int64_t least_free(const struct candidate *c, const struct place *p)
{
    int64_t least = left_over(p->max_pods, p->n_pods, 1);

    for (size_t i = 0; i < c->l->n_resources; i++) {
        int64_t left = left_over(p->has[i], p->used[i], c->need[i]);
        if (c->need[i] > 0 && left < least)
            least = left;
    }
    return least;
}

static int64_t siblings(const struct candidate *c, const struct place *p)
{
    int64_t n = 0;

    if (!c->pod->owner.n)
        return 0;
    for (const struct seat *s = p->seats; s; s = s->next)
        n += str_eq(s->pod->owner, c->pod->owner);
    return n;
}

static int64_t better_avoided(const struct candidate *c, const struct place *p)
{
    int64_t n = 0;

    JV_EACH (it, p->node->taints)
        n += str_eqz(FIELD_STR(it.value, "effect"), "PreferNoSchedule") &&
             !taint_is_tolerated(c->pod->tolerations, it.value);
    return n;
}

static int64_t preferred(const struct candidate *c, const struct place *p)
{
    jv terms = FIELD(FIELD(c->pod->affinity, "nodeAffinity"),
                     "preferredDuringSchedulingIgnoredDuringExecution");
    int64_t n = 0;

    JV_EACH (it, terms)
        if (node_term_matches(FIELD(it.value, "preference"), p->node))
            n += FIELD_INT(it.value, "weight");
    return n;
}

static struct place *fullest(const struct candidate *c, struct place *const *fit, size_t n)
{
    struct place *best = fit[0];
    int64_t least = least_free(c, best);

    for (size_t i = 1; i < n; i++) {
        int64_t free = least_free(c, fit[i]);
        if (free < least) {
            least = free;
            best = fit[i];
        }
    }
    return best;
}

static int64_t part(int64_t n, int64_t most)
{
    return most > 0 ? n * FULL / most : 0;
}

struct place *score_best(const struct candidate *c, struct place *const *fit, size_t n)
{
    struct score *of = c->l->scores, most = { 0 };
    struct place *best = NULL;
    int64_t top = INT64_MIN;

    if (n == 1)
        return fit[0];
    if (c->l->tight)
        return fullest(c, fit, n);
    for (size_t i = 0; i < n; i++) {
        of[i] = (struct score){ least_taken(c, fit[i]), siblings(c, fit[i]),
                                better_avoided(c, fit[i]), preferred(c, fit[i]) };
        most.siblings = of[i].siblings > most.siblings ? of[i].siblings : most.siblings;
        most.avoided = of[i].avoided > most.avoided ? of[i].avoided : most.avoided;
        most.preferred = of[i].preferred > most.preferred ? of[i].preferred : most.preferred;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t s = of[i].own - WEIGHT_SPREAD * part(of[i].siblings, most.siblings) -
                    WEIGHT_TAINT * part(of[i].avoided, most.avoided) +
                    WEIGHT_AFFINITY * part(of[i].preferred, most.preferred);
        if (s > top) {
            top = s;
            best = fit[i];
        }
    }
    return best;
}
