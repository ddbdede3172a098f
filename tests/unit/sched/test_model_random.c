/* Larger worlds by chance, with the rules of test_model.c; what fails is made smaller before it is
 * shown. WORLDS=N: so many; SEED=N: from that one on. */

#include "model/model.h"
#include "tap.h"

enum { WORLDS = 250, EVENTS = 160 };

static uint64_t dice_state;

static int64_t dice(int64_t n)
{
    dice_state ^= dice_state << 13;
    dice_state ^= dice_state >> 7;
    dice_state ^= dice_state << 17;
    return (int64_t)(dice_state % (uint64_t)n);
}

struct way {
    struct shape shape;
    struct event events[EVENTS];
    size_t n;
};

/* ---- worlds */

static void dice_needs(int64_t *need, int64_t most)
{
    for (size_t r = 0; r < RESOURCES; r++)
        need[r] = dice(3) ? dice(most) : 0;
}

static struct shape dice_shape(void)
{
    struct shape sh = { .n_nodes = (size_t)(1 + dice(4)),
                        .n_gangs = (size_t)(2 + dice(GANGS_MAX - 1)),
                        .patience = (uint8_t)(1 + dice(6)) };

    for (size_t n = 0; n < sh.n_nodes; n++) {
        for (size_t r = 0; r < RESOURCES; r++)
            sh.node[n].has[r] = dice(12);
        sh.node[n].pods = 1 + dice(8);
    }
    for (size_t g = 0; g < sh.n_gangs; g++) {
        uint8_t size = (uint8_t)(1 + dice(5));
        dice_needs(sh.gang[g].lead, 5);
        dice_needs(sh.gang[g].need, 5);
        sh.gang[g].priority = dice(2);
        sh.gang[g].size = size;
        sh.gang[g].min = (uint8_t)(dice(2) ? size : 1 + dice(size));
        sh.gang[g].grown = (uint8_t)(size + dice(3));
        /* which of them start first is then no matter */
        if (sh.gang[g].min < sh.gang[g].grown)
            memcpy(sh.gang[g].lead, sh.gang[g].need, sizeof(sh.gang[g].lead));
        if (g && !dice(3))
            sh.gang[g] = sh.gang[g - 1];
    }
    return sh;
}

/* Gangs come and pods are made more often than they go, so that some wait. */
static struct event dice_event(const struct event *at, size_t n)
{
    static const uint8_t weights[EV_KINDS] = {
        [EV_ARRIVE] = 6, [EV_CREATE] = 9, [EV_LOSE] = 2,    [EV_SUCCEED] = 1, [EV_DELETE] = 1,
        [EV_GROW] = 2,   [EV_STOP] = 1,   [EV_LEAVE] = 9,   [EV_WRITE] = 9,   [EV_REFUSE] = 1,
        [EV_PASS] = 20,  [EV_TICK] = 12,  [EV_RESTART] = 1,
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

static void dice_way(struct way *w, struct model *m, uint64_t seed)
{
    struct event events[EVENTS_MAX];
    struct state s = { 0 };

    dice_state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    w->shape = dice_shape();
    m->shape = &w->shape;
    for (w->n = 0; w->n < EVENTS && !m->message[0];) {
        size_t n = model_events(&w->shape, &s, events);
        w->events[w->n] = dice_event(events, n);
        model_apply(m, &s, w->events[w->n++]);
    }
}

/* ---- making it smaller */

static bool can_happen(const struct shape *sh, const struct state *s, struct event ev)
{
    struct event events[EVENTS_MAX];
    size_t n = model_events(sh, s, events);

    for (size_t i = 0; i < n; i++)
        if (memcmp(&events[i], &ev, sizeof(ev)) == 0)
            return true;
    return false;
}

/* Whether the same rule is broken on it. Events that cannot happen are left out. */
static bool still_breaks(const struct way *w, const struct model *like, char *message)
{
    struct model m = { .shape = &w->shape, .fault = like->fault, .sentences = true };
    struct state s = { 0 };

    for (size_t i = 0; i < w->n && !m.message[0]; i++)
        if (can_happen(&w->shape, &s, w->events[i]))
            model_apply(&m, &s, w->events[i]);
    if (strncmp(m.message, like->message, 2) != 0)
        return false;
    memcpy(message, m.message, MESSAGE_MAX);
    return true;
}

static bool drop_events(struct way *w, const struct model *like, size_t chunk, char *message)
{
    bool any = false;

    for (size_t at = 0; at < w->n;) {
        struct way less = *w;
        size_t n = chunk < w->n - at ? chunk : w->n - at;
        memmove(&less.events[at], &less.events[at + n], (w->n - at - n) * sizeof(*less.events));
        less.n -= n;
        if (still_breaks(&less, like, message)) {
            *w = less;
            any = true;
        } else {
            at += n;
        }
    }
    return any;
}

static bool lower(struct way *w, int64_t *n, const struct model *like, char *message)
{
    int64_t was = *n;

    for (int64_t try = 0; try < was; try++) {
        *n = try;
        if (still_breaks(w, like, message))
            return true;
    }
    *n = was;
    return false;
}

static bool lower_amounts(struct way *w, const struct model *like, char *message)
{
    struct shape *sh = &w->shape;
    bool any = false;

    for (size_t n = 0; n < sh->n_nodes; n++)
        for (size_t r = 0; r < RESOURCES; r++)
            any = lower(w, &sh->node[n].has[r], like, message) || any;
    for (size_t g = 0; g < sh->n_gangs; g++)
        for (size_t r = 0; r < RESOURCES; r++) {
            any = lower(w, &sh->gang[g].lead[r], like, message) || any;
            any = lower(w, &sh->gang[g].need[r], like, message) || any;
        }
    return any;
}

static void shrink(struct way *w, const struct model *like, char *message)
{
    bool again = true;

    while (again) {
        again = false;
        for (size_t chunk = w->n / 2 + 1; chunk; chunk /= 2)
            again = drop_events(w, like, chunk, message) || again;
        again = lower_amounts(w, like, message) || again;
    }
}

/* ---- showing it */

static void print_numbers(const char *what, size_t of, const int64_t *n)
{
    printf("#   %s %c: cpu %d memory %d gpu %d\n", what, (char)(*what == 'n' ? '0' + of : 'a' + of),
           (int)n[0], (int)n[1], (int)n[2]);
}

static void print_way(const struct way *w, const char *message)
{
    const struct shape *sh = &w->shape;
    char text[32];

    printf("# %s\n", message);
    for (size_t n = 0; n < sh->n_nodes; n++)
        print_numbers("node", n, sh->node[n].has);
    for (size_t g = 0; g < sh->n_gangs; g++) {
        bool is_there = false;
        for (size_t i = 0; i < w->n; i++)
            is_there = is_there || (w->events[i].kind < EV_PASS && w->events[i].gang == g);
        if (!is_there)
            continue;
        print_numbers("gang", g, sh->gang[g].lead);
        print_numbers("its others", g, sh->gang[g].need);
        printf("#   at least %u, of %u, later %u, priority %d\n", sh->gang[g].min, sh->gang[g].size,
               sh->gang[g].grown, (int)sh->gang[g].priority);
    }
    printf("#  ");
    for (size_t i = 0; i < w->n; i++)
        printf(" %s;", event_text(w->events[i], text, sizeof(text)));
    printf("\n");
}

/* ---- */

static uint64_t number_of(const char *env, uint64_t none)
{
    const char *text = getenv(env);

    return text ? strtoull(text, NULL, 10) : none;
}

/* The first that fails, made smaller; 0: none. Returns how many events are left. */
static size_t first_that_fails(enum fault fault, uint64_t from, uint64_t n)
{
    struct way w;
    char message[MESSAGE_MAX];

    for (uint64_t seed = from; seed < from + n; seed++) {
        struct model m = { .fault = fault, .sentences = true };
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
    size_t left = first_that_fails(FAULT_NONE, from, n);

    ok(left == 0, "S1 S2 S3 in %" PRIu64 " worlds from seed %" PRIu64, n, from);
    left = first_that_fails(FAULT_NO_RESERVES, 1, WORLDS);
    ok(left > 0 && left < 20, "what fails is found, and made smaller: %zu events", left);
    return tap_done();
}
