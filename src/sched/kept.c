/* What is kept for members of gangs that are gone, and placements that can be taken back. */

#include "sched/internal.h"

void kept_take(struct ledger *l, struct ghost *g)
{
    stake_lift(l, g->place);
    for (size_t i = 0; i < l->n_resources; i++)
        g->place->used[i] += g->need[i];
    g->place->n_pods++;
    stake_settle(l, g->place);
    stake_seat(l, g->of->gang, g->need, 1);
    g->kept = true;
}

void kept_give(struct ledger *l, struct ghost *g)
{
    stake_lift(l, g->place);
    for (size_t i = 0; i < l->n_resources; i++)
        g->place->used[i] -= g->need[i];
    g->place->n_pods--;
    stake_settle(l, g->place);
    stake_seat(l, g->of->gang, g->need, -1);
    g->kept = false;
}

static int compare_ghosts(const void *x, const void *y)
{
    const struct ghost *g = x, *h = y;
    int d = str_cmp(g->of->gang->uid, h->of->gang->uid);

    return d ? d : str_cmp(g->of->member, h->of->member);
}

void kept_open(struct ledger *l, const struct sched_input *in)
{
    l->ghosts = ARENA_ARRAY(l->a, struct ghost, in->n_reserves + 1);
    for (size_t i = 0; i < in->n_reserves; i++) {
        const struct sched_reserve *r = &in->reserves[i];
        struct place *p = ledger_find(l, r->node);
        if (!p)
            continue;
        struct ghost *g = &l->ghosts[l->n_ghosts++];
        *g = (struct ghost){ .of = r, .place = p, .need = ledger_need(l, &r->need) };
        kept_take(l, g);
    }
    qsort(l->ghosts, l->n_ghosts, sizeof(*l->ghosts), compare_ghosts);
}

struct ghost *kept_find(const struct ledger *l, const struct sched_pod *pod)
{
    if (!pod->gang || !pod->member.n || !l->n_ghosts)
        return NULL;
    const struct sched_reserve wanted = { .gang = pod->gang, .member = pod->member };
    const struct ghost key = { .of = &wanted };
    struct ghost *g = bsearch(&key, l->ghosts, l->n_ghosts, sizeof(*l->ghosts), compare_ghosts);
    return g && g->kept ? g : NULL;
}

/* What a step takes of barred places is spent, unless it was kept for its pod. */
static void spend_spare(struct ledger *l, const struct step *t, int64_t sign)
{
    bool is_its_own = t->ghost && t->ghost->place == t->place;

    for (size_t i = 0; i < l->n_resources && t->place->barred && !is_its_own; i++)
        l->spare[i] -= sign * t->beyond[i];
}

void step_take(struct ledger *l, struct step *t, struct place *p, const struct sched_pod *pod,
               const int64_t *need)
{
    t->place = p;
    t->before = *p;
    t->had_anti = l->has_anti;
    p->used = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    memcpy(p->used, t->before.used, l->n_resources * sizeof(*p->used));
    stake_lift(l, &t->before);
    ledger_take(l, p, pod, need);
    stake_settle(l, p);
    stake_seat(l, pod->gang, need, 1);
    spend_spare(l, t, 1);
}

void step_undo(struct ledger *l, const struct step *t)
{
    const struct seat *s = t->place->seats;

    spend_spare(l, t, -1);
    stake_seat(l, s->pod->gang, s->need, -1);
    stake_lift(l, t->place);
    *t->place = t->before;
    stake_settle(l, t->place);
    l->has_anti = t->had_anti;
    if (t->ghost)
        kept_take(l, t->ghost);
}
