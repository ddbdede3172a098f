/* What must be true of a step, of a status and after a pass: by a reading of the rules that shares
 * no code with the planner. */

#include "life.h"

#include "base/time.h"

static jv condition(jv job, const char *type)
{
    JV_EACH (it, jv_at(job, "status", "conditions"))
        if (str_eqz(jv_str(jv_at(it.value, "type"), STR_NONE), type))
            return it.value;
    return JV_ABSENT;
}

static bool holds(jv job, const char *type)
{
    return str_eqz(jv_str(jv_at(condition(job, type), "status"), STR_NONE), "True");
}

bool life_has(const struct life *w, const char *type)
{
    return holds(w->job, type);
}

bool life_is_over(const struct life *w)
{
    return life_has(w, "Succeeded") || life_has(w, "Failed");
}

bool life_is_suspended(const struct life *w)
{
    return jv_bool(jv_at(w->job, "spec", "runPolicy", "suspend"), false);
}

bool life_in_range(const struct life *w, const struct life_pod *p)
{
    return w->roles[p->role].there && p->index < w->roles[p->role].replicas;
}

static bool retried(const struct life *w, const struct life_pod *p)
{
    const char *policy = w->roles[p->role].policy;

    if (!strcmp(policy, "ExitCode"))
        return !p->has_exit || p->exit_code >= 128;
    return strcmp(policy, "Never") != 0;
}

static jv attempt_of(struct arena *a, jv meta)
{
    str text = jv_str(jv_at(meta, "annotations", "muster.dev/whole-restart"), STR_NONE);

    return text.n ? json_parse(a, text, NULL, NULL) : JV_ABSENT;
}

int64_t life_attempt(const struct life *w)
{
    if (!jv_exists(jv_at(w->job, "metadata", "annotations", "muster.dev/whole-restart")))
        return 0;
    AUTO(arena) struct arena *a = arena_new();
    return jv_int(jv_at(attempt_of(a, jv_at(w->job, "metadata")), "attempt"), 0);
}

/* It stands in the way of a new attempt, and counts for nothing. */
static bool is_outdated(const struct life *w, const struct life_pod *p)
{
    return p->attempt < life_attempt(w);
}

/* A failure for good that came after one that restarts the whole job, or in the same second. */
static bool is_pardoned(const struct life *w, const struct life_pod *p)
{
    if (!w->whole || strcmp(w->roles[p->role].policy, "ExitCode") != 0)
        return false;
    for (size_t i = 0; i < LIFE_PODS; i++)
        if (life_restartable(w, &w->pods[i]) && w->pods[i].ended_s <= p->ended_s)
            return true;
    return false;
}

bool life_restartable(const struct life *w, const struct life_pod *p)
{
    return p->there && !p->leaving && p->phase == POD_FAILED && life_in_range(w, p) &&
           retried(w, p) && !is_outdated(w, p);
}

bool life_permanent(const struct life *w, const struct life_pod *p)
{
    return p->there && !p->leaving && p->phase == POD_FAILED && life_in_range(w, p) &&
           !retried(w, p) && !is_outdated(w, p) && !is_pardoned(w, p);
}

static int64_t time_of(jv v)
{
    int64_t us = 0;

    return time_parse(jv_str(v, STR_NONE), &us, NULL) < 0 ? -1 : us / 1000;
}

int64_t life_start_ms(const struct life *w)
{
    return time_of(jv_at(w->job, "status", "startTime"));
}

/* The pass under way starts the job, or starts it anew. */
static bool is_starting(const struct life *w)
{
    return life_start_ms(w) < 0 || (life_has(w, "Suspended") && !life_is_suspended(w));
}

/* What an annotation says, if it is of the run that began then. */
static jv tally_of(struct arena *a, jv meta, str start)
{
    str text = jv_str(jv_at(meta, "annotations", "muster.dev/restarts"), STR_NONE);
    jv v = text.n ? json_parse(a, text, NULL, NULL) : JV_ABSENT;

    return str_eq(jv_str(jv_at(v, "since"), STR_NONE), start) ? v : JV_ABSENT;
}

static jv tally(const struct life *w, struct arena *a)
{
    str start = jv_str(jv_at(w->job, "status", "startTime"), STR_NONE);

    return is_starting(w) ? JV_ABSENT : tally_of(a, jv_at(w->job, "metadata"), start);
}

int64_t life_spent(const struct life *w)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t n = jv_int(jv_at(tally(w, a), "n"), 0);

    for (size_t i = 0; i < LIFE_PODS; i++) {
        const struct life_pod *p = &w->pods[i];

        if (p->there && !p->leaving && p->phase == POD_RUNNING && life_in_range(w, p) &&
            !is_outdated(w, p) && strcmp(w->roles[p->role].policy, "Never") != 0)
            n += p->restarts;
    }
    return n;
}

static bool is_spent(const struct life *w, int64_t n)
{
    return w->backoff >= 0 && (w->backoff == 0 ? n > 0 : n >= w->backoff);
}

static bool is_tallied(const struct life *w, unsigned uid)
{
    for (size_t i = 0; i < w->n_tallied; i++)
        if (w->tallied[i] == uid)
            return true;
    return false;
}

void life_check_create(struct life *w, const struct plan_step *s, size_t role, int64_t index)
{
    if (life_is_over(w) || life_is_suspended(w) || w->invalid)
        life_broken(w, "%" PRI_STR " is made for a job that must have none", STR_ARG(s->name));
    if (!w->roles[role].there || index < 0 || index >= w->roles[role].replicas)
        life_broken(w, "%" PRI_STR " is made outside the range", STR_ARG(s->name));
    for (size_t i = 0; i < LIFE_PODS; i++) {
        const struct life_pod *p = &w->pods[i];
        const struct life_service *v = &w->services[i];

        if (s->res == &kube_pods ? p->there && p->role == role && p->index == index
                                 : v->there && v->role == role && v->index == index)
            life_broken(w, "J1: %" PRI_STR " is made twice", STR_ARG(s->name));
    }
}

/* Seconds between the beginning of an attempt and its first pod. */
static int64_t back_off(int64_t streak)
{
    static const int64_t table[] = { 0, 10, 20, 40, 80, 160, 300 };

    return table[streak < 6 ? streak : 6];
}

void life_check_attempt(struct life *w, const struct plan_step *s, int64_t attempt)
{
    AUTO(arena) struct arena *a = arena_new();
    jv v = attempt_of(a, jv_at(w->job, "metadata"));
    bool is_of_this_start = jv_equal(jv_at(v, "since"), jv_at(w->job, "status", "startTime"));

    if (attempt != life_attempt(w))
        life_broken(w, "%" PRI_STR " is made for another attempt", STR_ARG(s->name));
    if (is_of_this_start && !is_starting(w) &&
        w->now_ms < time_of(jv_at(v, "at")) + 1000 * back_off(jv_int(jv_at(v, "streak"), 0)))
        life_broken(w, "%" PRI_STR " is made before its time", STR_ARG(s->name));
    for (size_t i = 0; i < LIFE_PODS; i++)
        if (w->pods[i].there && w->roles[w->pods[i].role].there && is_outdated(w, &w->pods[i]))
            life_broken(w, "J1: %" PRI_STR " is made while an earlier attempt has pods",
                        STR_ARG(s->name));
}

void life_check_other(struct life *w, const struct plan_step *s, bool there)
{
    const char *name = s->res->plural;

    if (there == (s->kind == PLAN_CREATE))
        life_broken(w, "%s are %s", name, there ? "made twice" : "changed and not there");
    if (s->kind != PLAN_DELETE && (life_is_over(w) || life_is_suspended(w) || w->invalid))
        life_broken(w, "%s are changed for a job that must have none", name);
}

static int64_t count_of(str text, const char *word)
{
    int64_t n = 0;
    size_t len = strlen(word);

    for (size_t i = 0; i + len <= text.n; i++)
        n += memcmp(text.p + i, word, len) == 0;
    return n;
}

/* An MPIJob's launcher is told of the workers there shall be, and of those that run. */
static void check_hosts(struct life *w, int64_t wake_ms)
{
    int64_t want = w->roles[1].there ? w->roles[1].replicas : 0;
    /* None any more, if this pass restarts them all. */
    int64_t active = life_attempt(w) == w->seen.attempt ? w->seen.counts[1].active : 0;
    bool found = false;

    for (size_t i = 0; i < LIFE_OTHERS; i++) {
        const struct life_other *o = &w->others[i];
        str hosts = jv_str(jv_at(o->obj, "data", "hostfile"), STR_NONE);
        str run = jv_str(jv_at(o->obj, "data", "discover_hosts.sh"), STR_NONE);

        if (!o->there || strcmp(o->res->plural, "configmaps") != 0)
            continue;
        found = true;
        if (count_of(hosts, "slots=1\n") != want)
            life_broken(w, "%d hosts of %d are told", (int)count_of(hosts, "slots="), (int)want);
        if (count_of(run, "\necho ") != active && (!wake_ms || wake_ms > w->now_ms + 1000))
            life_broken(w, "%d running hosts of %d are told", (int)count_of(run, "\necho "),
                        (int)active);
    }
    if (!found)
        life_broken(w, "there is no hostfile");
}

void life_check_delete(struct life *w, const struct life_pod *p)
{
    const char *role = w->roles[p->role].name;

    if (p->leaving)
        life_broken(w, "%s %d is deleted twice", role, (int)p->index);
    if (life_is_over(w) || life_is_suspended(w) || !life_in_range(w, p))
        return;
    if (is_outdated(w, p))
        return; /* life_check_tally has seen to it */
    if (!life_restartable(w, p)) {
        life_broken(w, "%s %d is deleted without a reason", role, (int)p->index);
        return;
    }
    w->restarts++;
    if (w->backoff < 0 || p->disrupted)
        return;
    if (is_spent(w, life_spent(w)))
        life_broken(w, "J4: %s %d is restarted beyond the limit", role, (int)p->index);
    if (!is_tallied(w, p->uid))
        life_broken(w, "J4: %s %d is restarted without being counted", role, (int)p->index);
}

static unsigned uid_of(jv v)
{
    str uid = jv_str(v, STR_NONE);
    int64_t n = 0;

    str_to_int(str_sub(uid, 1, uid.n), &n);
    return (unsigned)n;
}

/* A new attempt has a reason, and counts as one restart unless all that failed was disrupted or
 * counted before. */
static void check_whole(struct life *w, jv patch, jv old, jv now)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t attempt = jv_int(jv_at(attempt_of(a, jv_at(patch, "metadata")), "attempt"), -1);
    int64_t before = jv_int(jv_at(old, "n"), 0), due = 0, failed = 0;

    for (size_t i = 0; i < LIFE_PODS; i++) {
        const struct life_pod *p = &w->pods[i];

        if (!life_restartable(w, p))
            continue;
        failed++;
        due |= !p->disrupted && !(jv_exists(old) && is_tallied(w, p->uid));
    }
    due &= w->backoff >= 0;
    w->restarts++;
    if (!w->whole || !failed || attempt != life_attempt(w) + 1)
        life_broken(w, "attempt %d after %d", (int)attempt, (int)life_attempt(w));
    if (jv_exists(now) != (due > 0) || (due && jv_int(jv_at(now, "n"), -1) != before + 1))
        life_broken(w, "J4: a restart of the whole job is not counted once");
    if (is_spent(w, life_spent(w) + due))
        life_broken(w, "J4: the job is restarted beyond the limit");
}

void life_check_tally(struct life *w, jv patch)
{
    AUTO(arena) struct arena *a = arena_new();
    jv old = tally(w, a);
    str start = is_starting(w) ? time_text(a, w->now_ms)
                               : jv_str(jv_at(w->job, "status", "startTime"), STR_NONE);
    jv now = tally_of(a, jv_at(patch, "metadata"), start);
    int64_t added = 0;

    if (!jv_exists(old)) /* another start: all are new */
        w->n_tallied = 0;
    if (jv_exists(jv_at(patch, "metadata", "annotations", "muster.dev/whole-restart"))) {
        check_whole(w, patch, old, now);
        return;
    }
    JV_EACH (it, jv_at(now, "last")) {
        if (is_tallied(w, uid_of(it.value)) || w->n_tallied == LIFE_UIDS)
            continue;
        w->tallied[w->n_tallied++] = uid_of(it.value);
        added++;
    }
    if (w->backoff < 0 || !added ||
        jv_int(jv_at(now, "n"), -1) != jv_int(jv_at(old, "n"), 0) + added)
        life_broken(w, "J4: a tally of %d for %d new", (int)jv_int(jv_at(now, "n"), -1),
                    (int)added);
}

void life_note(struct life *w)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t start = is_starting(w) ? w->now_ms : life_start_ms(w);
    bool counted = jv_exists(tally(w, a));
    struct life_seen n = { .attempt = life_attempt(w) };

    for (size_t i = 0; i < LIFE_PODS; i++) {
        const struct life_pod *p = &w->pods[i];

        if (!p->there || !life_in_range(w, p) || is_outdated(w, p))
            continue;
        n.counts[p->role].succeeded += p->phase == POD_SUCCEEDED;
        n.counts[p->role].active += !p->leaving && p->phase == POD_RUNNING;
        n.counts[p->role].failed += !p->leaving && p->phase == POD_FAILED;
        n.succeeded += p->phase == POD_SUCCEEDED;
        n.permanent += life_permanent(w, p);
        n.restartable +=
            life_restartable(w, p) && !p->disrupted && !(counted && is_tallied(w, p->uid));
    }
    for (size_t r = 0; r < MANY_ROLES; r++)
        n.succeeded += w->roles[r].there && w->roles[r].replicas == 0;
    if (w->whole && n.restartable)
        n.restartable = 1;
    n.spent = is_spent(w, life_spent(w) + n.restartable);
    n.late = w->deadline >= 0 && !is_starting(w) && w->now_ms >= start + w->deadline * 1000;
    w->seen = n;
}

static void check_counts(struct life *w)
{
    for (size_t r = 0; r < MANY_ROLES; r++) {
        const struct life_counts *n = &w->seen.counts[r];
        jv s = JV_ABSENT;

        if (!w->roles[r].there)
            continue;
        s = jv_at(w->job, "status", "replicaStatuses", w->roles[r].name);
        if (!jv_exists(s) || jv_int(jv_at(s, "active"), 0) != n->active ||
            jv_int(jv_at(s, "succeeded"), 0) != n->succeeded ||
            jv_int(jv_at(s, "failed"), 0) != n->failed)
            life_broken(w, "J3: counts of %s are not those of its pods", w->roles[r].name);
    }
}

static void check_element(struct life *w, jv c, jv before)
{
    str type = jv_str(jv_at(c, "type"), STR_NONE);
    jv old = JV_ABSENT;
    int64_t updated = time_of(jv_at(c, "lastUpdateTime"));
    int64_t moved = time_of(jv_at(c, "lastTransitionTime"));

    JV_EACH (it, jv_at(before, "status", "conditions"))
        if (str_eq(jv_str(jv_at(it.value, "type"), STR_NONE), type))
            old = it.value;
    if (updated < 0 || moved < 0 || moved > updated || updated > w->now_ms)
        life_broken(w, "times of %" PRI_STR " are not in order", STR_ARG(type));
    if (str_eqz(type, "Restarting") && life_attempt(w))
        return; /* another attempt is shown anew */
    if (jv_equal(jv_at(c, "status"), jv_at(old, "status")) &&
        jv_equal(jv_at(c, "reason"), jv_at(old, "reason")) && !jv_equal(c, old))
        life_broken(w, "%" PRI_STR " changed without a change", STR_ARG(type));
}

static void check_end(struct life *w)
{
    if (!jv_exists(jv_at(w->job, "status", "completionTime")) || life_start_ms(w) < 0)
        life_broken(w, "an end without its times");
    if (life_has(w, "Failed") && !w->seen.permanent && !w->seen.spent && !w->seen.late)
        life_broken(w, "Failed without a reason");
    if (life_has(w, "Succeeded") && !w->seen.succeeded)
        life_broken(w, "Succeeded without a pod that did");
}

void life_check_status(struct life *w, jv before)
{
    jv list = jv_at(w->job, "status", "conditions");

    if ((holds(before, "Succeeded") || holds(before, "Failed")) &&
        !jv_equal(jv_at(before, "status"), jv_at(w->job, "status")))
        life_broken(w, "J3: a finished job's status changed");
    if (!str_eqz(jv_str(jv_at(jv_index(list, 0), "type"), STR_NONE), "Created"))
        life_broken(w, "Created is not the first condition");
    JV_EACH (it, list) {
        check_element(w, it.value, before);
        for (size_t i = it.i; i < jv_len(list); i++)
            if (jv_equal(jv_at(it.value, "type"), jv_at(jv_index(list, i), "type")))
                life_broken(w, "a condition stands twice");
    }
    if (life_has(w, "Succeeded") + life_has(w, "Failed") + life_has(w, "Running") +
            life_has(w, "Restarting") + life_has(w, "Suspended") >
        1)
        life_broken(w, "J3: conditions exclude each other");
    if (life_is_over(w))
        check_end(w);
    else if (!life_is_suspended(w))
        check_counts(w);
    JV_EACH (it, jv_at(w->job, "status", "replicaStatuses"))
        if (jv_exists(jv_at(it.value, "active")) &&
            (life_is_suspended(w) || life_has(w, "Succeeded")))
            life_broken(w, "active pods in a job that has none");
}

/* After a whole pass in which nothing else happened. */
void life_check_pass(struct life *w, int64_t wake_ms)
{
    bool over = life_is_over(w), suspended = life_is_suspended(w);
    int64_t start = life_start_ms(w);

    if (!over && !suspended && (w->seen.permanent || w->seen.spent || w->seen.late))
        life_broken(w, "a job goes on that its pods or limits have ended");
    if (!over && suspended != life_has(w, "Suspended"))
        life_broken(w, "suspended in spec and in status differ");
    if (!over && !suspended && w->deadline >= 0 &&
        (wake_ms == 0 || wake_ms > start + w->deadline * 1000))
        life_broken(w, "J5: no timer for the deadline");
    if (over && !suspended && w->ttl >= 0 &&
        wake_ms != time_of(jv_at(w->job, "status", "completionTime")) + w->ttl * 1000)
        life_broken(w, "J5: no timer for the TTL");
    if (!over && !suspended && !w->invalid && !strcmp(w->kind->singular, "mpijob"))
        check_hosts(w, wake_ms);
    for (size_t i = 0; i < LIFE_PODS && !over && !suspended && !w->invalid; i++) {
        const struct life_pod *p = &w->pods[i];

        if (p->there && !p->leaving && !life_in_range(w, p))
            life_broken(w, "surplus stays");
    }
    if (w->counts[COUNT_CREATED] > 1 || w->counts[COUNT_SUCCEEDED] + w->counts[COUNT_FAILED] > 1)
        life_broken(w, "a fact is counted twice");
}
