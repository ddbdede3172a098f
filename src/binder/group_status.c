/* The status of PodGroups: phase, counts and conditions, written when they change. */

#include "binder/groups.h"

#include "base/time.h"
#include "loop/log.h"

static const char unschedulable[] = "Unschedulable", scheduled[] = "Scheduled";

/* ---- conditions */

static jv condition(struct arena *a, const struct group *g, const char *type, bool is_so,
                    const char *reason, str message)
{
    char id[37];

    random_uuid(id);
    return jobj(a, { "type", jstr(a, str_of(type)) },
                { "status", is_so ? jstrz(a, "True") : jstrz(a, "False") },
                { "transitionID", jstr(a, arena_str(a, str_of(id))) },
                { "lastTransitionTime", jstr(a, time_text(a, g->b->o.wall_ms())) },
                { "reason", jstr(a, str_of(reason)) },
                { "message", message.n ? jstr(a, message) : JV_ABSENT });
}

static bool is_same(jv x, jv y)
{
    static const char *const members[] = { "status", "reason", "message" };

    for (size_t i = 0; i < COUNT(members); i++)
        if (!str_eq(jv_str(jv_get(x, str_of(members[i])), S("")),
                    jv_str(jv_get(y, str_of(members[i])), S(""))))
            return false;
    return true;
}

/* The list with that one in place of the one of its type, unless both say the same. */
static jv with_condition(struct arena *a, jv list, jv c)
{
    size_t i = 0;

    JV_EACH (it, list) {
        if (str_eq(jv_str(jv_get(it.value, S("type")), S("")), jv_str(jv_get(c, S("type")), S(""))))
            return is_same(it.value, c) ? list : jv_with_index(a, list, i, c);
        i++;
    }
    return jv_with_index(a, jv_is(list, JV_ARR) ? list : JV_EMPTY_ARR, i, c);
}

static bool has_condition(jv list, const char *type)
{
    JV_EACH (it, list)
        if (str_eqz(jv_str(jv_get(it.value, S("type")), S("")), type))
            return true;
    return false;
}

static jv conditions(struct arena *a, const struct group *g, jv list)
{
    bool runs = g->phase == PHASE_RUNNING || g->phase == PHASE_COMPLETED;

    if (g->why)
        list = with_condition(
            a, list, condition(a, g, unschedulable, true, g->reason, arena_str(a, str_of(g->why))));
    if (runs && has_condition(list, unschedulable))
        list = with_condition(a, list, condition(a, g, unschedulable, false, scheduled, STR_NONE));
    if (runs && g->phase == PHASE_RUNNING)
        list = with_condition(
            a, list,
            condition(a, g, scheduled, true, "tasks in gang are ready to be scheduled", STR_NONE));
    return list;
}

/* Kubernetes' own: whether it has started, which it then has for good, and why not. */
static jv kube_conditions(struct arena *a, const struct group *g, jv list)
{
    bool is_so = g->g.g.started;
    str why = str_of(g->why && !is_so ? g->why : "");

    if (!is_so && !why.n)
        return list;
    jv before = meta_condition(g->g.h.obj, S("PodGroupScheduled"));
    bool was_so = str_eqz(jv_str(jv_get(before, S("status")), S("")), "True");
    jv since =
        jv_exists(before) && was_so == is_so ? jv_get(before, S("lastTransitionTime")) : JV_ABSENT;
    if (!jv_exists(since))
        since = jstr(a, time_text(a, g->b->o.wall_ms()));
    jv c = jobj(a, { "type", jstrz(a, "PodGroupScheduled") },
                { "status", is_so ? jstrz(a, "True") : jstrz(a, "False") },
                { "lastTransitionTime", since },
                { "reason", jstr(a, str_of(is_so ? scheduled : unschedulable)) },
                { "message", jstr(a, arena_str(a, why)) });
    return with_condition(a, list, c);
}

/* ---- the whole */

static jv count(struct arena *a, int64_t n)
{
    return n ? jint(a, n) : JV_ABSENT;
}

static jv status_wanted(struct arena *a, const struct group *g, jv there)
{
    struct jbuild b = jb_from(a, there);
    str phase = phase_text(g->phase);
    jv now = jv_get(there, S("conditions"));

    if (g->form == GROUP_KUBE) {
        now = kube_conditions(a, g, now);
        return jv_exists(now) ? jv_with(a, there, now, "conditions") : there;
    }
    jb_set(&b, S("phase"), phase.n ? jstr(a, phase) : JV_ABSENT);
    jb_set(&b, S("running"), count(a, g->pods.running));
    jb_set(&b, S("succeeded"), count(a, g->pods.succeeded));
    jb_set(&b, S("failed"), count(a, g->pods.failed));
    if (g->form == GROUP_VOLCANO)
        jb_set(&b, S("conditions"), conditions(a, g, now));
    else if (g->phase == PHASE_SCHEDULING && !jv_exists(jv_get(there, S("scheduleStartTime"))))
        jb_set(&b, S("scheduleStartTime"), jstr(a, time_text(a, g->b->o.wall_ms())));
    return jb_done(&b);
}

/* Without what differs from one try to the next. */
static uint64_t status_hash(struct arena *a, jv status)
{
    struct jbuild list = jb_arr(a);

    JV_EACH (it, jv_get(status, S("conditions")))
        jb_push(&list,
                jv_without(a, jv_without(a, it.value, "transitionID"), "lastTransitionTime"));
    status = jv_without(a, status, "scheduleStartTime");
    return str_hash(json_text(a, jv_with(a, status, jb_done(&list), "conditions"))) | 1;
}

/* A merge patch removes what is null. */
static jv as_patch(struct arena *a, jv there, jv wanted)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, wanted)
        if (!jv_equal(it.value, jv_get(there, it.key)))
            jb_add(&b, it.key, it.value);
    JV_EACH (it, there)
        if (!jv_exists(jv_get(wanted, it.key)))
            jb_add(&b, it.key, JV_NULL_V);
    return jb_done(&b);
}

/* ---- sending */

static void tell_started(struct group *g)
{
    struct plan_note note = { .reason = S("Scheduled"),
                              .message = S("pod group is ready"),
                              .once = S("Scheduled") };

    group_tell(g, &note);
}

static void on_written(struct binder *b, enum group_form form, str key,
                       const struct kube_answer *ans)
{
    struct group *g = map_get(&b->groups[form].items, key);

    if (!g)
        return;
    g->busy = false;
    if (ans->err.code == ERR_OK) {
        b->groups_dirty = b->groups_due = true;
        g->stored = phase_read(jv_str(jv_at(ans->obj, "status", "phase"), S("")));
        if (g->stored == PHASE_RUNNING ||
            meta_condition_is(ans->obj, S("PodGroupScheduled"), S("True")))
            tell_started(g);
        return;
    }
    g->written = g->seen = 0;
    g->write_ms = binder_rest(b);
    if (ans->err.code == ERR_NOT_FOUND || ans->err.code == ERR_CONFLICT)
        return; /* it is another one by now: the watch says so */
    log_warn("cannot write the status of a PodGroup, retrying", KV("podgroup", key),
             KVZ("error", ans->err.msg));
}

static void on_volcano(struct binder *b, str key, const struct kube_answer *ans)
{
    on_written(b, GROUP_VOLCANO, key, ans);
}

static void on_plugins(struct binder *b, str key, const struct kube_answer *ans)
{
    on_written(b, GROUP_PLUGINS, key, ans);
}

static void on_kube(struct binder *b, str key, const struct kube_answer *ans)
{
    on_written(b, GROUP_KUBE, key, ans);
}

/* Volcano's has no subresource for it. */
static void send_status(struct group *g, struct arena *a, jv status)
{
    static void (*const on_answer[])(struct binder *, str, const struct kube_answer *) = {
        [GROUP_VOLCANO] = on_volcano, [GROUP_PLUGINS] = on_plugins, [GROUP_KUBE] = on_kube
    };
    struct sched_gang *of = &g->g.g;
    struct kube_request r = {
        .verb = KUBE_PATCH,
        .res = group_resource(g->form),
        .ns = of->ns,
        .name = of->name,
        .sub = g->form == GROUP_VOLCANO ? STR_NONE : S("status"),
        .patch = KUBE_PATCH_MERGE,
        .body = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, of->uid) }) }, { "status", status }),
    };

    g->busy = true;
    send_write(g->b, &r, on_answer[g->form], str_of(g->g.h.key));
}

/* What the status is made of: most passes change it of few groups. */
static uint64_t ingredients(const struct group *g)
{
    const struct group_pods *p = &g->pods;
    const uint64_t all[] = {
        g->phase,
        g->g.g.started,
        (uint64_t)p->running,
        (uint64_t)p->succeeded,
        (uint64_t)p->failed,
        g->written,

        (uintptr_t)g->reason,
        g->why ? str_hash(str_of(g->why)) : 0,
    };

    return str_hash((str){ (const char *)all, sizeof(all) });
}

static void group_send(struct group *g)
{
    if (ingredients(g) == g->seen)
        return;
    AUTO(arena) struct arena *a = arena_new();
    jv there = jv_get(g->g.h.obj, S("status")), wanted = status_wanted(a, g, there);
    uint64_t hash = status_hash(a, wanted);

    g->seen = ingredients(g);
    if (hash == g->written || (!g->written && hash == status_hash(a, there)))
        return;
    g->written = hash;
    g->seen = ingredients(g);
    send_status(g, a, as_patch(a, there, wanted));
}

void groups_send(struct binder *b)
{
    if (!b->groups_dirty)
        return;
    b->groups_dirty = false;
    GROUP_EACH (slot, form, b) {
        struct group *g = slot->value;
        if (g->busy || g->going || binder_is_resting(b, g->write_ms))
            continue; /* its answer looks again */
        if (b->n_sent >= SENT_MAX) {
            b->groups_dirty = true;
            return;
        }
        group_send(g);
    }
    b->groups_dirty = !queues_send(b);
}
