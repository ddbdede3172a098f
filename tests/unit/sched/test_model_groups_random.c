/* Worlds of PodGroups by chance, with the rules of model/groups_rules.c; what fails is made smaller
 * before it is shown. WORLDS=N: so many; SEED=N: from that one on. */

#include "model/groups.h"
#include "tap.h"

enum { WORLDS = 600, EVENTS = 150 };

/* Seeds: in these a group took what pods were sent away from for another, which waited on. */
static const uint64_t found_before[] = { 9686, 57611 };

static uint64_t dice_state;

static int64_t dice(int64_t n)
{
    dice_state ^= dice_state << 13;
    dice_state ^= dice_state >> 7;
    dice_state ^= dice_state << 17;
    return (int64_t)(dice_state % (uint64_t)n);
}

struct way {
    struct g_shape shape;
    struct g_event events[EVENTS];
    size_t n;
};

/* ---- worlds */

static bool fits_some_node(const struct g_shape *sh, size_t g)
{
    for (size_t n = 0; n < G_NODES; n++) {
        bool fits = sh->has[n][G_RES] > 0;
        for (size_t k = 0; k < G_RES; k++)
            fits = fits && sh->group[g].need[k] <= sh->has[n][k];
        if (fits)
            return true;
    }
    return false;
}

/* How many of its pods fit on all nodes. */
static int64_t most_pods(const struct g_shape *sh, size_t g)
{
    int64_t sum = 0;

    for (size_t n = 0; n < G_NODES; n++) {
        int64_t pods = sh->has[n][G_RES];
        for (size_t k = 0; k < G_RES; k++)
            if (sh->group[g].need[k] && sh->has[n][k] / sh->group[g].need[k] < pods)
                pods = sh->has[n][k] / sh->group[g].need[k];
        sum += pods;
    }
    return sum;
}

static bool fits_in_sum(const struct g_shape *sh, size_t g)
{
    bool fits = sh->group[g].min <= sh->has[0][G_RES] + sh->has[1][G_RES];

    for (size_t k = 0; k < G_RES; k++)
        fits = fits && sh->group[g].need[k] * sh->group[g].min <= sh->has[0][k] + sh->has[1][k];
    return fits;
}

static void dice_group(struct g_shape *sh, size_t g)
{
    uint8_t size = (uint8_t)(1 + dice(G_SLOTS));

    for (size_t k = 0; k < G_RES; k++)
        sh->group[g].need[k] = dice(3) ? dice(3) : 0;
    sh->group[g].need[dice(G_RES)] = 1 + dice(2);
    sh->group[g].priority = dice(3) ? 0 : dice(3);
    sh->group[g].queue = (uint8_t)dice(G_QUEUES);
    sh->group[g].size = size;
    sh->group[g].min = (uint8_t)(dice(2) ? size : 1 + dice(size));
    sh->group[g].grown = (uint8_t)(size + dice(G_SLOTS + 1 - size));
    sh->group[g].early = dice(3) == 0;
}

/* One that fits in sum and not on the nodes keeps nothing in the end, which the rules do not know.
 */
static bool is_known(const struct g_shape *sh, size_t g)
{
    return !fits_in_sum(sh, g) || (fits_some_node(sh, g) && most_pods(sh, g) >= sh->group[g].min);
}

static struct g_shape dice_shape(void)
{
    struct g_shape sh = { .patience = (uint8_t)(1 + dice(3)), .preempts = dice(2) };

    for (size_t n = 0; n < G_NODES; n++)
        for (size_t k = 0; k <= G_RES; k++)
            sh.has[n][k] = dice(6);
    for (size_t q = 0; q < G_QUEUES; q++) {
        sh.weight[q] = 1 + dice(3);
        for (size_t k = 0; k < G_RES; k++)
            sh.cap[q][k] = dice(3) ? 0 : 1 + dice(6);
    }
    for (size_t g = 0; g < G_GROUPS; g++)
        do
            dice_group(&sh, g);
        while (!is_known(&sh, g));
    return sh;
}

/* Passes more often than the rest, and ends more seldom, so that some wait. */
static struct g_event dice_event(const struct g_event *at, size_t n)
{
    static const uint8_t weights[] = {
        [GV_ARRIVE] = 6, [GV_CREATE] = 9, [GV_LOSE] = 2,  [GV_SUCCEED] = 1,  [GV_DELETE] = 1,
        [GV_GROW] = 2,   [GV_BREAK] = 1,  [GV_LEAVE] = 1, [GV_WRITE_IN] = 9, [GV_WRITE] = 9,
        [GV_REFUSE] = 1, [GV_PASS] = 20,  [GV_TICK] = 12, [GV_RESTART] = 1,
    };
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += weights[at[i].kind];
    int64_t left = dice(sum);
    size_t i = 0;
    while (left >= weights[at[i].kind])
        left -= weights[at[i++].kind];
    return at[i];
}

static void dice_way(struct way *w, struct g_model *m, uint64_t seed)
{
    struct g_event events[G_EVENTS];
    struct g_state s = { 0 };

    dice_state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    w->shape = dice_shape();
    m->shape = &w->shape;
    for (w->n = 0; w->n < EVENTS && !m->message[0];) {
        size_t n = g_events(&w->shape, &s, events);
        w->events[w->n] = dice_event(events, n);
        g_apply(m, &s, w->events[w->n++]);
    }
}

/* ---- making it smaller */

static bool can_happen(const struct g_shape *sh, const struct g_state *s, struct g_event ev)
{
    struct g_event events[G_EVENTS];
    size_t n = g_events(sh, s, events);

    for (size_t i = 0; i < n; i++)
        if (memcmp(&events[i], &ev, sizeof(ev)) == 0)
            return true;
    return false;
}

/* Whether the same rule is broken on it. Events that cannot happen are left out. */
static bool still_breaks(const struct way *w, const struct g_model *like, char *message)
{
    struct g_model m = { .shape = &w->shape, .fault = like->fault };
    struct g_state s = { 0 };

    for (size_t i = 0; i < w->n && !m.message[0]; i++)
        if (can_happen(&w->shape, &s, w->events[i]))
            g_apply(&m, &s, w->events[i]);
    if (strncmp(m.message, like->message, 2) != 0)
        return false;
    memcpy(message, m.message, G_MESSAGE);
    return true;
}

static void shrink(struct way *w, const struct g_model *like, char *message)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t at = 0; at < w->n;) {
            struct way less = *w;
            memmove(&less.events[at], &less.events[at + 1], (w->n - at - 1) * sizeof(*less.events));
            less.n--;
            if (!still_breaks(&less, like, message)) {
                at++;
                continue;
            }
            *w = less;
            again = true;
        }
    }
}

static void print_way(const struct way *w, const char *message)
{
    const struct g_shape *sh = &w->shape;
    char text[32];

    printf("# %s\n", message);
    for (size_t n = 0; n < G_NODES; n++)
        printf("#   node %zu: %d %d %d, %d pods\n", n, (int)sh->has[n][0], (int)sh->has[n][1],
               (int)sh->has[n][2], (int)sh->has[n][3]);
    for (size_t q = 0; q < G_QUEUES; q++)
        printf("#   queue %zu: at most %d %d %d, weight %d\n", q, (int)sh->cap[q][0],
               (int)sh->cap[q][1], (int)sh->cap[q][2], (int)sh->weight[q]);
    for (size_t g = 0; g < G_GROUPS; g++)
        printf("#   group %c: %d %d %d, at least %u of %u, later %u, queue %u, priority %d%s\n",
               (char)('a' + g), (int)sh->group[g].need[0], (int)sh->group[g].need[1],
               (int)sh->group[g].need[2], sh->group[g].min, sh->group[g].size, sh->group[g].grown,
               sh->group[g].queue, (int)sh->group[g].priority,
               sh->group[g].early ? ", pods come first" : "");
    printf("#   patience %u%s;", sh->patience, sh->preempts ? ", preempts" : "");
    for (size_t i = 0; i < w->n; i++)
        printf(" %s;", g_text(w->events[i], text, sizeof(text)));
    printf("\n");
}

/* ---- */

static uint64_t number_of(const char *env, uint64_t none)
{
    const char *text = getenv(env);

    return text ? strtoull(text, NULL, 10) : none;
}

/* The first that fails, made smaller; 0: none. Returns how many events are left. */
static size_t first_that_fails(enum g_fault fault, uint64_t from, uint64_t n)
{
    struct way w;
    char message[G_MESSAGE];

    for (uint64_t seed = from; seed < from + n; seed++) {
        struct g_model m = { .fault = fault };
        dice_way(&w, &m, seed);
        if (!m.message[0])
            continue;
        printf("# SEED=%" PRIu64 ", %zu events: %s\n", seed, w.n, m.message);
        memcpy(message, m.message, sizeof(message));
        shrink(&w, &m, message);
        print_way(&w, message);
        return w.n;
    }
    return 0;
}

int main(void)
{
    uint64_t from = number_of("SEED", 1), n = number_of("WORLDS", WORLDS);
    size_t left = first_that_fails(G_SOUND, from, n);

    ok(left == 0, "S1 S2 S3 in %" PRIu64 " worlds from seed %" PRIu64, n, from);
    for (size_t i = 0; i < COUNT(found_before); i++)
        ok(first_that_fails(G_SOUND, found_before[i], 1) == 0, "nor in world %" PRIu64,
           found_before[i]);
    left = first_that_fails(G_NO_RESERVATION, 1, WORLDS);
    ok(left > 0 && left < 20, "what fails is found, and made smaller: %zu events", left);
    return tap_done();
}
