/* What would help: one world a row; and worlds by chance, where each answer is enough and none of
 * those that are to end could stay. */

#include "sched/why_help.h"
#include "sched/why_try.h"
#include "tap.h"

enum { MOST = 16, WORLDS = 400 };

struct world {
    struct arena *a;
    struct sched_node node[2];
    const struct sched_node *nodes[2];
    struct sched_pod pod[MOST];
    const struct sched_pod *bound[MOST];
    struct sched_waiting waiting[MOST];
    bool ours[MOST];
    struct sched_input in;
    size_t n;
};

static void add_node(struct world *w, const char *name, int64_t gpus, int64_t cpu)
{
    struct sched_amount *has = ARENA_ARRAY(w->a, struct sched_amount, 3);
    struct sched_node *n = &w->node[w->in.n_nodes];

    has[0] = (struct sched_amount){ S("nvidia.com/gpu"), gpus };
    has[1] = (struct sched_amount){ S("cpu"), cpu };
    has[2] = (struct sched_amount){ S("pods"), 9 };
    *n = (struct sched_node){ .name = str_of(name), .has = { has, 3 } };
    w->nodes[w->in.n_nodes++] = n;
    w->in.nodes = w->nodes;
}

/* node empty: it waits. */
static struct sched_pod *add_pod(struct world *w, str owner, const char *node, int64_t gpus,
                                 int64_t cpu)
{
    struct sched_amount *need = ARENA_ARRAY(w->a, struct sched_amount, 2);
    struct sched_pod *p = &w->pod[w->n];

    need[0] = (struct sched_amount){ S("nvidia.com/gpu"), gpus };
    need[1] = (struct sched_amount){ S("cpu"), cpu };
    *p = (struct sched_pod){ .ns = S("d"),
                             .name = owner,
                             .owner_kind = S("job"),
                             .owner_name = owner,
                             .created_ms = (int64_t)w->n++,
                             .node = str_of(node),
                             .need = { need, 2 } };
    if (*node)
        w->bound[w->in.n_bound++] = p;
    else
        w->waiting[w->in.n_waiting++].pod = p;
    w->in.bound = w->bound;
    w->in.waiting = w->waiting;
    return p;
}

/* Those of the owner "x" are ours. */
static size_t find(struct world *w, bool can_add, struct why_help *out)
{
    const struct sched_waiting *unit[MOST];
    struct why_unit u = { .pods = unit };
    struct why_scene scene = { .in = &w->in, .ours = w->ours, .can_add = can_add };

    for (size_t i = 0; i < w->in.n_waiting; i++) {
        w->ours[i] = str_eqz(w->waiting[i].pod->owner_name, "x");
        if (w->ours[i])
            unit[u.n_pods++] = &w->waiting[i];
    }
    struct why_world *world =
        why_world_new(w->a, w->in.nodes, w->in.n_nodes, w->in.bound, w->in.n_bound);
    struct why why = why_of(world, &u);
    return why.cause == WHY_NOTHING ? 0 : why_help_find(w->a, &scene, &why, out);
}

static str all_text(struct world *w, bool can_add)
{
    struct why_help helps[HELPS_MAX];
    size_t n = find(w, can_add, helps);
    str all = STR_NONE;

    for (size_t i = 0; i < n; i++)
        all = arena_printf(w->a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(all), i ? "; " : "",
                           STR_ARG(why_help_text(w->a, &helps[i])));
    return all;
}

static void holders_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world w = { .a = a };

    add_node(&w, "n", 4, 8000);
    add_pod(&w, S("a"), "n", 3, 0);
    add_pod(&w, S("b"), "n", 1, 0);
    add_pod(&w, S("x"), "", 2, 0);
    is_str(all_text(&w, true),
           S("wait for job d/a to end, or delete it; remove nvidia.com/gpu from each pod; let the "
             "machine offer 6 nvidia.com/gpu: muster resources nvidia.com/gpu=6"),
           "the one that holds enough ends, or less is asked for, or more is offered");
}

static void several_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world w = { .a = a };

    add_node(&w, "n", 4, 8000);
    add_pod(&w, S("a"), "n", 2, 0);
    add_pod(&w, S("b"), "n", 1, 0);
    add_pod(&w, S("c"), "", 1, 4000);
    add_pod(&w, S("x"), "", 4, 0);
    is_str(all_text(&w, false),
           S("wait for job d/a, job d/b and job d/c to end, or delete them; remove nvidia.com/gpu "
             "from each pod"),
           "also those that are before it in the queue");
}

static void less_is_asked_for(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world w = { .a = a };

    add_node(&w, "n", 4, 8000);
    add_pod(&w, S("x"), "", 6, 9000);
    is_str(all_text(&w, false),
           S("lower nvidia.com/gpu to 4 in each pod and lower cpu to 8 in each pod"),
           "of each resource as much as there is");
}

static void other_nodes(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *taints = J("[{'key': 'team', 'value': 'ml', 'effect': 'NoSchedule'}]");
    AUTO(jdoc) struct jdoc *selector = J("{'disk': 'ssd'}");
    struct world w = { .a = a }, v = { .a = a };

    add_node(&w, "n", 4, 8000);
    add_node(&w, "m", 4, 8000);
    w.node[0].taints = jdoc_root(taints);
    w.node[1].unschedulable = true;
    add_pod(&w, S("x"), "", 1, 0);
    is_str(all_text(&w, true), S("let its pods tolerate the taint team; uncordon the node m"),
           "taints and cordons");
    add_node(&v, "n", 4, 8000);
    add_pod(&v, S("x"), "", 1, 0)->selector = jdoc_root(selector);
    is_str(all_text(&v, true), S("remove nodeSelector and node affinity from its pods"), "labels");
}

static uint64_t dice_state = 88172645463325252u;
static int64_t dice(int64_t n)
{
    dice_state ^= dice_state << 13;
    dice_state ^= dice_state >> 7;
    dice_state ^= dice_state << 17;
    return (int64_t)(dice_state % (uint64_t)n);
}

static bool is_least(const struct why_scene *scene, const struct why_help *h)
{
    struct help_step fewer[MOST];

    for (size_t i = 0; h->steps[0].what == HELP_END && i < h->n && h->n > 1; i++) {
        size_t n = 0;
        for (size_t k = 0; k < h->n; k++)
            if (k != i)
                fewer[n++] = h->steps[k];
        if (why_try(scene, fewer, n))
            return false;
    }
    return true;
}

static void answers_are_enough_and_least(void)
{
    int64_t answers = 0, bad = 0;

    for (int i = 0; i < WORLDS; i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct world w = { .a = a };
        struct why_help helps[HELPS_MAX];
        struct why_scene scene = { .in = &w.in, .ours = w.ours, .can_add = true };
        add_node(&w, "n", 1 + dice(6), 1000 * (1 + dice(4)));
        if (dice(2))
            add_node(&w, "m", dice(4), 1000 * (1 + dice(4)));
        for (int64_t k = 1 + dice(5); k > 0; k--)
            add_pod(&w, arena_printf(a, "h%lld", (long long)dice(4)), dice(2) ? "n" : "m", dice(3),
                    500 * dice(3));
        for (int64_t k = dice(3); k > 0; k--)
            add_pod(&w, arena_printf(a, "q%lld", (long long)dice(2)), "", dice(4), 500 * dice(4));
        for (int64_t k = 1 + dice(3); k > 0; k--)
            add_pod(&w, S("x"), "", dice(5), 500 * dice(5));
        size_t n = find(&w, true, helps);
        for (size_t k = 0; k < n; k++) {
            answers++;
            bad += !why_try(&scene, helps[k].steps, helps[k].n) || !is_least(&scene, &helps[k]);
        }
    }
    ok(answers > WORLDS, "there are answers in worlds by chance");
    is_int(bad, 0, "each is enough, and of those that end none could stay");
}

static void as_json(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct help_step step = {
        .what = HELP_END, .kind = S_INIT("job"), .ns = S_INIT("d"), .name = S_INIT("a")
    };
    struct why_help h = { &step, 1 };

    is_str(json_text(a, why_help_json(a, &h)),
           S("{\"text\":\"wait for job d/a to end, or delete it\",\"steps\":[{\"do\":\"End\","
             "\"kind\":\"job\",\"namespace\":\"d\",\"name\":\"a\"}]}"),
           "as JSON");
}

int main(void)
{
    holders_end();
    several_end();
    less_is_asked_for();
    other_nodes();
    answers_are_enough_and_least();
    as_json();
    return tap_done();
}
