/* Of what is not enough for all queues, each is due a share by its weight, but no more than it
 * wants and may have; what it leaves is shared among the others. */

#include "sched/internal.h"

static double most_of(const struct line *line, size_t k)
{
    double cap = line->cap[k] == INT64_MAX ? line->wants[k] : (double)line->cap[k];

    return cap < line->wants[k] ? cap : line->wants[k];
}

static double weight_of(const struct line *line)
{
    return line->of->weight > 0 ? (double)line->of->weight : 1;
}

/* Each round satisfies a queue or is the last. */
static void share_out(struct stakes *s, size_t k, double left)
{
    for (size_t round = 0; round <= s->n_lines && left > 0; round++) {
        double weights = 0, given = 0;
        for (size_t i = 0; i < s->n_lines; i++)
            if (s->lines[i].share[k] < most_of(&s->lines[i], k))
                weights += weight_of(&s->lines[i]);
        for (size_t i = 0; i < s->n_lines; i++) {
            struct line *line = &s->lines[i];
            double more = most_of(line, k) - line->share[k];
            if (more <= 0)
                continue;
            double part = left * weight_of(line) / weights;
            part = part < more ? part : more;
            line->share[k] += part;
            given += part;
        }
        left -= given;
        if (given <= 0)
            return;
    }
}

/* What others than groups with a queue have is not shared. */
static double shared_of(const struct ledger *l, size_t k)
{
    int64_t n = l->stakes->free[k];

    for (size_t i = 0; i < l->stakes->n; i++)
        if (l->stakes->at[i].line)
            n = amount_sum(n, l->stakes->at[i].use[k]);
    return (double)n;
}

static bool exceeds_all(const struct ledger *l, const struct stake *h)
{
    for (size_t k = 0; k <= l->n_resources; k++)
        if (h->asks[k] > stake_has(l, k) || h->asks[k] > h->line->cap[k])
            return true;
    return false;
}

void shares_open(struct ledger *l, const struct unit *units, size_t n)
{
    struct stakes *s = l->stakes;
    size_t n_wanting = 0;

    if (!s || s->n_lines < 2)
        return;
    for (size_t i = 0; i < s->n_lines; i++)
        for (size_t k = 0; k < l->n_resources; k++)
            s->lines[i].wants[k] = (double)s->lines[i].used[k];
    for (size_t i = 0; i < n; i++) {
        const struct stake *h = units[i].enters ? stake_find(l, units[i].gang) : NULL;
        if (!h || !h->line || h->line->of->closed || h->of->refused.n || exceeds_all(l, h))
            continue;
        for (size_t k = 0; k < l->n_resources; k++)
            h->line->wants[k] += (double)h->asks[k];
    }
    for (size_t i = 0; i < s->n_lines; i++) {
        bool wants = false;
        for (size_t k = 0; k < l->n_resources; k++)
            wants = wants || s->lines[i].wants[k] > 0;
        n_wanting += wants;
    }
    if (n_wanting < 2)
        return;
    for (size_t i = 0; i < s->n_lines; i++)
        s->lines[i].share = ARENA_ARRAY(l->a, double, l->n_resources);
    for (size_t k = 0; k < l->n_resources; k++)
        share_out(s, k, shared_of(l, k));
}

bool line_is_served(const struct ledger *l, const struct stake *h)
{
    for (size_t k = 0; h->line && h->line->share && k < l->n_resources; k++)
        if (h->asks[k] > 0 && (double)h->line->used[k] >= h->line->share[k])
            return true;
    return false;
}
