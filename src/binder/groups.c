/* PodGroups as they come in, of Volcano, of scheduler-plugins and of Kubernetes. One is a gang
 * whose members say so themselves, which may have to be let in before. */

#include "binder/groups.h"

#include "base/mem.h"
#include "base/time.h"

#include <stdlib.h>

static const struct kube_resource resources[] = {
    [GROUP_VOLCANO] = { "scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", false },
    [GROUP_PLUGINS] = { "scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", false },
    [GROUP_KUBE] = { "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", false },
};

const struct kube_resource *group_resource(enum group_form form)
{
    return &resources[form];
}

struct group *group_of(struct gang *g)
{
    return (struct group *)((char *)g - offsetof(struct group, g));
}

struct group *group_find(const struct binder *b, enum group_form form, str ns, str name)
{
    return (struct group *)shelf_find(&b->groups[form], ns, name);
}

/* ---- what is kept */

static jv some(struct arena *a, jv obj, const char *const *names, size_t n)
{
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < n; i++)
        if (!jv_is_null(jv_get(obj, str_of(names[i]))))
            jb_add(&b, str_of(names[i]), jv_get(obj, str_of(names[i])));
    return jb_done(&b);
}

static jv group_slim(struct arena *a, jv obj)
{
    static const char *const meta[] = { "name", "namespace", "uid", "creationTimestamp" };
    static const char *const spec[] = { "minMember", "minTaskMember",     "minResources",
                                        "queue",     "priorityClassName", "schedulingPolicy" };

    return jobj(a, { "metadata", some(a, meta_of(obj), meta, COUNT(meta)) },
                { "spec", some(a, jv_get(obj, S("spec")), spec, COUNT(spec)) },
                { "status", jv_get(obj, S("status")) },
                { "going", jbool(meta_being_deleted(obj)) });
}

/* Names that a quota has: what they say is said by the plain ones beside them. */
static bool is_of_quota(str name)
{
    return str_starts(name, S("count/")) || str_starts(name, S("requests.")) ||
           str_starts(name, S("limits.")) || str_eqz(name, "pods");
}

struct sched_amounts amounts_of_list(struct arena *a, jv list)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, list)
        if (!is_of_quota(it.key))
            jb_add(&b, it.key, it.value);
    jv status = jobj(a, { "allocatable", jb_done(&b) });
    return sched_node_read(a, jobj(a, { "status", status })).has;
}

static int64_t min_of(enum group_form form, jv spec)
{
    int64_t min = jv_int(form == GROUP_KUBE ? jv_at(spec, "schedulingPolicy", "gang", "minCount")
                                            : jv_get(spec, S("minMember")),
                         0);
    int64_t sum = 0;

    JV_EACH (it, jv_get(spec, S("minTaskMember"))) {
        int64_t n = jv_int(it.value, 0);
        sum += n > 0 && n <= INT32_MAX ? n : 0;
    }
    min = min > INT32_MAX ? INT32_MAX : min;
    return sum > min ? sum : min > 0 ? min : 0;
}

static void group_read(struct group *g)
{
    jv obj = g->g.h.obj, spec = jv_get(obj, S("spec"));
    bool started = g->g.g.started;
    int64_t us = 0;

    (void)time_parse(meta_str(obj, S("creationTimestamp")), &us, NULL);
    g->g.g = (struct sched_gang){ .uid = str_of(g->g.uid),
                                  .ns = meta_namespace(obj),
                                  .name = meta_name(obj),
                                  .kind = S("podgroup"),
                                  .created_ms = us / 1000,
                                  .min = min_of(g->form, spec),
                                  .started = started,
                                  .is_group = true };
    g->asks = amounts_of_list(g->g.h.a, jv_get(spec, S("minResources")));
    g->queue = jv_str(jv_get(spec, S("queue")), S(""));
    if (!g->queue.n && g->form != GROUP_KUBE)
        g->queue = S("default");
    g->class = jv_str(jv_get(spec, S("priorityClassName")), STR_NONE);
    g->going = jv_bool(jv_get(obj, S("going")), false);
}

static int64_t amount_in(const struct sched_amounts *of, str name)
{
    for (size_t i = 0; i < of->n; i++)
        if (str_eq(of->at[i].name, name))
            return of->at[i].n;
    return 0;
}

void group_grant(struct group *g)
{
    struct sched_amount *at;

    arena_free(g->grant);
    g->grant = arena_new();
    at = ARENA_ARRAY(g->grant, struct sched_amount, g->asks.n + 1);
    for (size_t i = 0; i < g->asks.n; i++)
        at[i] = (struct sched_amount){ arena_str(g->grant, g->asks.at[i].name), g->asks.at[i].n };
    g->granted = (struct sched_amounts){ at, g->asks.n };
    g->granted_min = group_min(g);
}

struct sched_amounts group_granted(struct arena *a, const struct group *g)
{
    struct sched_amount *at = ARENA_ARRAY(a, struct sched_amount, g->asks.n + 1);

    for (size_t i = 0; i < g->asks.n; i++) {
        int64_t most = amount_in(&g->granted, g->asks.at[i].name), n = g->asks.at[i].n;
        at[i] = (struct sched_amount){ g->asks.at[i].name, n < most ? n : most };
    }
    return (struct sched_amounts){ at, g->asks.n };
}

/* Whoever makes a group may write any phase into it. Only what was there when this scheduler began
 * was written by the one before. */
static enum group_phase phase_at_first(const struct shelf *s, enum group_phase phase)
{
    return informer_is_listed(s->inf) ? PHASE_NONE : phase;
}

static void group_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    struct group *g = (struct group *)h;
    struct binder *b = s->b;

    (void)obj;
    enum group_phase phase = phase_read(jv_str(jv_at(h->obj, "status", "phase"), S("")));
    if (is_new) {
        str uid = meta_uid(h->obj);
        g->b = b;
        g->form = (enum group_form)(s - b->groups);
        g->phase = phase_at_first(s, phase);
        g->let_in = phase_is_let_in(g->form, g->phase);
        /* it ran once, so it lost its pods */
        g->returning =
            g->phase == PHASE_PENDING && jv_exists(meta_condition(h->obj, S("Scheduled")));
        g->g.is_group = true;
        bool was_started = meta_condition_is(h->obj, S("PodGroupScheduled"), S("True"));
        g->g.g.started = g->phase == PHASE_RUNNING || g->phase == PHASE_UNKNOWN ||
                         (was_started && !informer_is_listed(s->inf));
        g->g.uid = mem_or_abort(strndup(uid.p, uid.n));
        map_put(&b->gangs, str_of(g->g.uid), &g->g);
    }
    g->stored = phase;
    g->written = g->seen = 0;
    group_read(g);
    if (is_new && g->let_in)
        group_grant(g);
    b->groups_due = b->place_all = true;
    binder_work(b);
}

static void group_gone(struct shelf *s, struct held *h)
{
    struct group *g = (struct group *)h;
    struct binder *b = s->b;

    map_remove(&b->gangs, str_of(g->g.uid));
    gang_drop_reserves(&g->g);
    free(g->g.uid);
    arena_free(g->grant);
    free(g->why);
    event_budget_done(&g->budget);
    b->groups_due = b->place_due = b->place_all = true;
    binder_work(b);
}

static const struct shelf_ops shelves[] = {
    [GROUP_VOLCANO] = { &resources[GROUP_VOLCANO], sizeof(struct group), group_slim, group_changed,
                        group_gone },
    [GROUP_PLUGINS] = { &resources[GROUP_PLUGINS], sizeof(struct group), group_slim, group_changed,
                        group_gone },
    [GROUP_KUBE] = { &resources[GROUP_KUBE], sizeof(struct group), group_slim, group_changed,
                     group_gone },
};

bool group_form_is_on(const struct binder *b, enum group_form form)
{
    return form != GROUP_KUBE || b->o.kube_groups;
}

size_t groups_number(const struct binder *b)
{
    size_t n = 0;

    for (enum group_form form = GROUP_VOLCANO; form < GROUP_FORMS; form++)
        n += b->groups[form].items.n;
    return n;
}

const struct shelf_ops *group_shelf(enum group_form form)
{
    return &shelves[form];
}

/* ---- of pods */

/* { "form", "name", "role", "phase" }: the group that it says it is of; absent: none. */
jv group_of_pod_slim(struct arena *a, jv pod)
{
    jv notes = meta_annotations(pod);
    str scheduler = jv_str(jv_at(pod, "spec", "schedulerName"), S(""));
    str label = jv_str(jv_get(meta_labels(pod), S("scheduling.x-k8s.io/pod-group")), S(""));
    str name = jv_str(jv_at(pod, "spec", "schedulingGroup", "podGroupName"), STR_NONE);
    enum group_form form = GROUP_KUBE;

    if (!name.n && str_eqz(scheduler, "volcano")) {
        name = jv_str(jv_get(notes, S("scheduling.k8s.io/group-name")), S(""));
        if (!name.n)
            name = jv_str(jv_get(notes, S("scheduling.volcano.sh/group-name")), S(""));
        form = GROUP_VOLCANO;
    }
    if (!name.n && label.n) {
        name = label;
        form = GROUP_PLUGINS;
    }
    if (!name.n)
        return JV_ABSENT;
    return jobj(a, { "form", jint(a, form) }, { "name", jstr(a, name) },
                { "role", jv_get(notes, S("volcano.sh/task-spec")) },
                { "phase", jv_at(pod, "status", "phase") });
}

/* ---- why it waits */

void group_say_nothing(struct group *g)
{
    free(g->why);
    g->why = NULL;
    g->reason = NULL;
    g->told_first = 0;
}

bool group_is_said(struct group *g, const char *reason, str first)
{
    AUTO(arena) struct arena *a = arena_new();
    uint64_t hash = str_hash(arena_printf(a, "%s/%" PRI_STR, reason, STR_ARG(first)));
    int64_t now_ms = loop_now_ms(g->b->loop);

    if (!g->why || g->told_first != hash)
        return false;
    if (now_ms - g->told_ms < REASON_AGAIN_MS) {
        reasons_later(g->b, REASON_AGAIN_MS);
        return true;
    }
    return false;
}

void group_say(struct group *g, const char *reason, str first, str message)
{
    AUTO(arena) struct arena *a = arena_new();
    str fact = arena_printf(a, "%s/%" PRI_STR, reason, STR_ARG(first));
    struct plan_note note = { .reason = S("Unschedulable"), .message = message, .once = fact };

    if (g->why && g->reason == reason && str_eqz(message, g->why))
        return;
    free(g->why);
    g->why = mem_or_abort(strndup(message.p, message.n));
    g->reason = reason;
    g->told_first = str_hash(fact);
    g->told_ms = loop_now_ms(g->b->loop);
    group_tell(g, &note);
}

void group_tell(struct group *g, const struct plan_note *note)
{
    const char *component = g->form == GROUP_KUBE ? "default-scheduler" : "volcano";

    binder_tell(g->b, g->g.h.obj, group_resource(g->form), component, &g->budget, note);
}
