/* What must be true of a step, of a status and after a pass: by a reading of the rules that shares
 * no code with the planner. */

#include "life.h"

#include "base/time.h"

static jv condition(jv job, const char *type)
{
    for (struct jv_iter it = jv_iter(jv_at(job, "status", "conditions")); jv_next(&it);)
        if (str_eqz(jv_str(jv_at(it.value, "type"), STR_NONE), type))
            return it.value;
    return JV_ABSENT;
}

static bool holds(jv job, const char *type)
{
    return str_eqz(jv_str(jv_at(condition(job, type), "status"), STR_NONE), "True");
}

bool world_has(const struct world *w, const char *type)
{
    return holds(w->job, type);
}

bool world_is_over(const struct world *w)
{
    return world_has(w, "Succeeded") || world_has(w, "Failed");
}

bool world_is_suspended(const struct world *w)
{
    return jv_bool(jv_at(w->job, "spec", "runPolicy", "suspend"), false);
}

bool world_in_range(const struct world *w, const struct world_pod *p)
{
    return w->roles[p->role].there && p->index < w->roles[p->role].replicas;
}

static bool retried(const struct world *w, const struct world_pod *p)
{
    const char *policy = w->roles[p->role].policy;

    if (!strcmp(policy, "ExitCode"))
        return !p->has_exit || p->exit_code >= 128;
    return strcmp(policy, "Never") != 0;
}

bool world_restartable(const struct world *w, const struct world_pod *p)
{
    return p->there && !p->leaving && p->phase == POD_FAILED && world_in_range(w, p) &&
           retried(w, p);
}

bool world_permanent(const struct world *w, const struct world_pod *p)
{
    return p->there && !p->leaving && p->phase == POD_FAILED && world_in_range(w, p) &&
           !retried(w, p);
}

static int64_t time_of(jv v)
{
    int64_t us = 0;

    return time_parse(jv_str(v, STR_NONE), &us, NULL) < 0 ? -1 : us / 1000;
}

int64_t world_start_ms(const struct world *w)
{
    return time_of(jv_at(w->job, "status", "startTime"));
}

/* The pass under way starts the job, or starts it anew. */
static bool is_starting(const struct world *w)
{
    return world_start_ms(w) < 0 || (world_has(w, "Suspended") && !world_is_suspended(w));
}

/* What the job's annotation says of this run. */
static jv tally_of(const struct world *w, struct arena *a, jv meta)
{
    str text = jv_str(jv_at(meta, "annotations", "muster.dev/restarts"), STR_NONE);
    jv v = text.n ? json_parse(a, text, NULL, NULL) : JV_ABSENT;
    str since = jv_str(jv_at(v, "since"), STR_NONE);
    str start = is_starting(w) ? time_text(a, w->now_ms)
                               : jv_str(jv_at(w->job, "status", "startTime"), STR_NONE);

    return str_eq(since, start) ? v : JV_ABSENT;
}

int64_t world_spent(const struct world *w)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t n = jv_int(jv_at(tally_of(w, a, jv_at(w->job, "metadata")), "n"), 0);

    for (size_t i = 0; i < WORLD_PODS; i++) {
        const struct world_pod *p = &w->pods[i];

        if (p->there && !p->leaving && p->phase == POD_RUNNING && world_in_range(w, p) &&
            strcmp(w->roles[p->role].policy, "Never") != 0)
            n += p->restarts;
    }
    return n;
}

static bool is_spent(const struct world *w, int64_t n)
{
    return w->backoff >= 0 && (w->backoff == 0 ? n > 0 : n >= w->backoff);
}

static bool is_tallied(const struct world *w, unsigned uid)
{
    for (size_t i = 0; i < w->n_tallied; i++)
        if (w->tallied[i] == uid)
            return true;
    return false;
}

void world_check_create(struct world *w, const struct plan_step *s, size_t role, int64_t index)
{
    if (world_is_over(w) || world_is_suspended(w) || w->invalid)
        world_broken(w, "%" PRI_STR " is made for a job that must have none", STR_ARG(s->name));
    if (!w->roles[role].there || index < 0 || index >= w->roles[role].replicas)
        world_broken(w, "%" PRI_STR " is made outside the range", STR_ARG(s->name));
    for (size_t i = 0; i < WORLD_PODS; i++) {
        const struct world_pod *p = &w->pods[i];
        const struct world_service *v = &w->services[i];

        if (s->res == &kube_pods ? p->there && p->role == role && p->index == index
                                 : v->there && v->role == role && v->index == index)
            world_broken(w, "J1: %" PRI_STR " is made twice", STR_ARG(s->name));
    }
}

void world_check_delete(struct world *w, const struct world_pod *p)
{
    const char *role = w->roles[p->role].name;

    if (p->leaving)
        world_broken(w, "%s %d is deleted twice", role, (int)p->index);
    if (world_is_over(w) || world_is_suspended(w) || !world_in_range(w, p))
        return;
    if (!world_restartable(w, p)) {
        world_broken(w, "%s %d is deleted without a reason", role, (int)p->index);
        return;
    }
    w->restarts++;
    if (w->backoff < 0 || p->disrupted)
        return;
    if (is_spent(w, world_spent(w)))
        world_broken(w, "J4: %s %d is restarted beyond the limit", role, (int)p->index);
    if (!is_tallied(w, p->uid))
        world_broken(w, "J4: %s %d is restarted without being counted", role, (int)p->index);
}

static unsigned uid_of(jv v)
{
    str uid = jv_str(v, STR_NONE);
    int64_t n = 0;

    str_to_int(str_sub(uid, 1, uid.n), &n);
    return (unsigned)n;
}

void world_check_tally(struct world *w, jv patch)
{
    AUTO(arena) struct arena *a = arena_new();
    jv old = tally_of(w, a, jv_at(w->job, "metadata"));
    jv now = tally_of(w, a, jv_at(patch, "metadata"));
    int64_t added = 0;

    if (!jv_exists(old)) /* another start: all are new */
        w->n_tallied = 0;
    for (struct jv_iter it = jv_iter(jv_at(now, "last")); jv_next(&it);) {
        if (is_tallied(w, uid_of(it.value)) || w->n_tallied == WORLD_UIDS)
            continue;
        w->tallied[w->n_tallied++] = uid_of(it.value);
        added++;
    }
    if (w->backoff < 0 || !added ||
        jv_int(jv_at(now, "n"), -1) != jv_int(jv_at(old, "n"), 0) + added)
        world_broken(w, "J4: a tally of %d for %d new", (int)jv_int(jv_at(now, "n"), -1),
                     (int)added);
}

void world_note(struct world *w)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t start = is_starting(w) ? w->now_ms : world_start_ms(w);
    bool counted = jv_exists(tally_of(w, a, jv_at(w->job, "metadata")));
    struct world_seen n = { .restartable = 0 };

    for (size_t i = 0; i < WORLD_PODS; i++) {
        const struct world_pod *p = &w->pods[i];

        if (!p->there || !world_in_range(w, p))
            continue;
        n.counts[p->role].succeeded += p->phase == POD_SUCCEEDED;
        n.counts[p->role].active += !p->leaving && p->phase == POD_RUNNING;
        n.counts[p->role].failed += !p->leaving && p->phase == POD_FAILED;
        n.succeeded += p->phase == POD_SUCCEEDED;
        n.permanent += world_permanent(w, p);
        n.restartable +=
            world_restartable(w, p) && !p->disrupted && !(counted && is_tallied(w, p->uid));
    }
    for (size_t r = 0; r < MANY_ROLES; r++)
        n.succeeded += w->roles[r].there && w->roles[r].replicas == 0;
    n.spent = is_spent(w, world_spent(w) + n.restartable);
    n.late = w->deadline >= 0 && !is_starting(w) && w->now_ms >= start + w->deadline * 1000;
    w->seen = n;
}

static void check_counts(struct world *w)
{
    for (size_t r = 0; r < MANY_ROLES; r++) {
        const struct world_counts *n = &w->seen.counts[r];
        jv s = JV_ABSENT;

        if (!w->roles[r].there)
            continue;
        s = jv_at(w->job, "status", "replicaStatuses", w->roles[r].name);
        if (!jv_exists(s) || jv_int(jv_at(s, "active"), 0) != n->active ||
            jv_int(jv_at(s, "succeeded"), 0) != n->succeeded ||
            jv_int(jv_at(s, "failed"), 0) != n->failed)
            world_broken(w, "J3: counts of %s are not those of its pods", w->roles[r].name);
    }
}

static void check_element(struct world *w, jv c, jv before)
{
    str type = jv_str(jv_at(c, "type"), STR_NONE);
    jv old = JV_ABSENT;
    int64_t updated = time_of(jv_at(c, "lastUpdateTime"));
    int64_t moved = time_of(jv_at(c, "lastTransitionTime"));

    for (struct jv_iter it = jv_iter(jv_at(before, "status", "conditions")); jv_next(&it);)
        if (str_eq(jv_str(jv_at(it.value, "type"), STR_NONE), type))
            old = it.value;
    if (updated < 0 || moved < 0 || moved > updated || updated > w->now_ms)
        world_broken(w, "times of %" PRI_STR " are not in order", STR_ARG(type));
    if (jv_equal(jv_at(c, "status"), jv_at(old, "status")) &&
        jv_equal(jv_at(c, "reason"), jv_at(old, "reason")) && !jv_equal(c, old))
        world_broken(w, "%" PRI_STR " changed without a change", STR_ARG(type));
}

static void check_end(struct world *w)
{
    if (!jv_exists(jv_at(w->job, "status", "completionTime")) || world_start_ms(w) < 0)
        world_broken(w, "an end without its times");
    if (world_has(w, "Failed") && !w->seen.permanent && !w->seen.spent && !w->seen.late)
        world_broken(w, "Failed without a reason");
    if (world_has(w, "Succeeded") && !w->seen.succeeded)
        world_broken(w, "Succeeded without a pod that did");
}

void world_check_status(struct world *w, jv before)
{
    jv list = jv_at(w->job, "status", "conditions");

    if ((holds(before, "Succeeded") || holds(before, "Failed")) &&
        !jv_equal(jv_at(before, "status"), jv_at(w->job, "status")))
        world_broken(w, "J3: a finished job's status changed");
    if (!str_eqz(jv_str(jv_at(jv_index(list, 0), "type"), STR_NONE), "Created"))
        world_broken(w, "Created is not the first condition");
    for (struct jv_iter it = jv_iter(list); jv_next(&it);) {
        check_element(w, it.value, before);
        for (size_t i = it.i; i < jv_len(list); i++)
            if (jv_equal(jv_at(it.value, "type"), jv_at(jv_index(list, i), "type")))
                world_broken(w, "a condition stands twice");
    }
    if (world_has(w, "Succeeded") + world_has(w, "Failed") + world_has(w, "Running") +
            world_has(w, "Restarting") + world_has(w, "Suspended") >
        1)
        world_broken(w, "J3: conditions exclude each other");
    if (world_is_over(w))
        check_end(w);
    else if (!world_is_suspended(w))
        check_counts(w);
    for (struct jv_iter it = jv_iter(jv_at(w->job, "status", "replicaStatuses")); jv_next(&it);)
        if (jv_exists(jv_at(it.value, "active")) &&
            (world_is_suspended(w) || world_has(w, "Succeeded")))
            world_broken(w, "active pods in a job that has none");
}

/* After a whole pass in which nothing else happened. */
void world_check_pass(struct world *w, int64_t wake_ms)
{
    bool over = world_is_over(w), suspended = world_is_suspended(w);
    int64_t start = world_start_ms(w);

    if (!over && !suspended && (w->seen.permanent || w->seen.spent || w->seen.late))
        world_broken(w, "a job goes on that its pods or limits have ended");
    if (!over && suspended != world_has(w, "Suspended"))
        world_broken(w, "suspended in spec and in status differ");
    if (!over && !suspended && w->deadline >= 0 &&
        (wake_ms == 0 || wake_ms > start + w->deadline * 1000))
        world_broken(w, "J5: no timer for the deadline");
    if (over && !suspended && w->ttl >= 0 &&
        wake_ms != time_of(jv_at(w->job, "status", "completionTime")) + w->ttl * 1000)
        world_broken(w, "J5: no timer for the TTL");
    for (size_t i = 0; i < WORLD_PODS && !over && !suspended && !w->invalid; i++) {
        const struct world_pod *p = &w->pods[i];

        if (p->there && !p->leaving && !world_in_range(w, p))
            world_broken(w, "surplus stays");
    }
    if (w->counts[COUNT_CREATED] > 1 || w->counts[COUNT_SUCCEEDED] + w->counts[COUNT_FAILED] > 1)
        world_broken(w, "a fact is counted twice");
}
