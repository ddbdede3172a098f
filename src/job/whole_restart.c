/* The attempt is kept in an annotation of the job, a JSON object. Its number never falls, even when
 * a resumed job starts its budget anew, as pods of any earlier attempt may still be there; all else
 * in it belongs to the startTime that it names. */

#include "job/whole_restart.h"

#include "base/time.h"
#include "job/conditions.h"

#include <inttypes.h>

#define SCOPE      "muster.dev/restart-scope"
#define ANNOTATION "muster.dev/whole-restart"

/* The back-off of the kubelet for containers that crash: none, 10 s, 20 s ... It starts again after
 * an attempt that lasted. */
enum { FIRST_DELAY_MS = 10 * 1000, LONGEST_DELAY_MS = 300 * 1000, LASTED_MS = 600 * 1000 };
enum { FIRST_SIGNAL_CODE = 128, MANY_STREAKS = 32, MANY_BYTES = 1024 };

static const char *const causes[] = {
    [RESTART_BY_FAILURE] = "Restarting",
    [RESTART_BY_GANG] = "GangBroken",
};

/* ---- the user's wish */

static str scope_of(const struct job *j)
{
    return jv_str(jv_get(meta_annotations(j->obj), S(SCOPE)), S(""));
}

/* Its workers join again by themselves. */
static bool is_elastic(const struct job *j)
{
    return j->kind->elastic && jv_is(jv_get(j->spec, S("elasticPolicy")), JV_OBJ);
}

bool whole_restart_is_wanted(const struct job *j)
{
    return str_eqz(scope_of(j), "job") && !is_elastic(j);
}

str whole_restart_advise(const struct job *j)
{
    jv scope = jv_get(meta_annotations(j->obj), S(SCOPE));

    if (str_eqz(scope_of(j), "job") && is_elastic(j))
        return S("metadata.annotations[" SCOPE "]: without effect: with spec.elasticPolicy workers "
                 "join again by themselves");
    if (!jv_exists(scope) || str_eqz(scope_of(j), "job") || str_eqz(scope_of(j), "pod"))
        return STR_NONE;
    return arena_printf(j->a,
                        "metadata.annotations[" SCOPE "]: without effect: '%" PRI_STR
                        "' is neither job nor pod",
                        STR_ARG(str_clip(scope_of(j), MANY_BYTES)));
}

void whole_restart_tell(const struct job *j, struct plan *p)
{
    str advice = whole_restart_advise(j);

    if (!advice.n)
        return;
    *plan_tell(p) = (struct plan_note){
        .kind = NOTE_EVENT,
        .warning = true,
        .reason = job_reason(j, "RestartScope"),
        .message = advice,
        .once = arena_printf(j->a, "restart-scope/%016" PRIx64, str_hash(advice)),
    };
}

/* ---- the attempt */

static enum restart_cause cause_of(jv name)
{
    for (size_t i = 0; i < COUNT(causes); i++)
        if (str_eqz(jv_str(name, S("")), causes[i]))
            return (enum restart_cause)i;
    return RESTART_BY_FAILURE;
}

static int64_t bounded(jv v, int64_t most)
{
    int64_t n = jv_int(v, 0);

    return n < 0 ? 0 : n > most ? most : n;
}

void whole_restart_read(struct job *j)
{
    str text = jv_str(jv_get(meta_annotations(j->obj), S(ANNOTATION)), S(""));
    jv v = text.n ? json_parse(j->a, text, NULL, NULL) : JV_ABSENT;
    struct job_attempt *t = &j->attempt;
    str since = jv_str(jv_get(v, S("since")), S(""));

    *t = (struct job_attempt){ .n = bounded(jv_get(v, S("attempt")), INT32_MAX), .at_ms = -1 };
    for (size_t i = 0; i < j->seen->n_pods; i++)
        if (str_eq(j->seen->pods[i].owner, j->uid) && j->seen->pods[i].attempt > t->n)
            t->n = j->seen->pods[i].attempt; /* the annotation was lost */
    if (!since.n || !str_eq(since, jv_str(jv_get(j->status, S("startTime")), S(""))))
        return;
    t->at_ms = job_time(jv_get(v, S("at")));
    t->streak = bounded(jv_get(v, S("streak")), MANY_STREAKS);
    t->gangs = bounded(jv_get(v, S("gangs")), INT32_MAX - 1);
    t->cause = cause_of(jv_get(v, S("cause")));
    t->why = str_clip(jv_str(jv_get(v, S("why")), S("")), MANY_BYTES);
}

static int64_t delay_ms(int64_t streak)
{
    int64_t ms = FIRST_DELAY_MS;

    for (int64_t i = 1; i < streak && ms < LONGEST_DELAY_MS; i++)
        ms *= 2;
    return streak == 0 ? 0 : ms < LONGEST_DELAY_MS ? ms : LONGEST_DELAY_MS;
}

/* When pods may be made again; 0: now. A time ahead of the clock was written by another. */
static int64_t resumes_ms(const struct job *j)
{
    const struct job_attempt *t = &j->attempt;
    int64_t at_ms = t->at_ms + delay_ms(t->streak);

    return t->at_ms < 0 || t->at_ms > j->seen->now_ms || at_ms <= j->seen->now_ms ? 0 : at_ms;
}

static int64_t next_streak(const struct job *j)
{
    const struct job_attempt *t = &j->attempt;

    if (t->at_ms < 0 || j->seen->now_ms >= t->at_ms + delay_ms(t->streak) + LASTED_MS)
        return 0;
    return t->streak < MANY_STREAKS ? t->streak + 1 : MANY_STREAKS;
}

bool whole_restart_is_under_way(const struct job *j)
{
    const struct job_attempt *t = &j->attempt;
    int64_t ran_ms = job_time(jv_get(condition_find(j, "Running"), S("lastTransitionTime")));

    if (t->at_ms < 0)
        return false;
    return t->n_old || resumes_ms(j) || (!job_is_running(j) && ran_ms <= t->at_ms);
}

bool whole_restart_may_create(const struct job *j, struct plan *p)
{
    int64_t at_ms = resumes_ms(j);

    if (at_ms)
        plan_wake(p, at_ms);
    return !at_ms && !j->attempt.n_old;
}

jv whole_restart_label(struct arena *a, const struct job *j)
{
    return j->attempt.n ? jstr(a, arena_printf(a, "%" PRId64, j->attempt.n)) : JV_ABSENT;
}

/* ---- pods */

/* Of two that failed, which did first. Times are in whole seconds: within one, a process that was
 * killed is more likely the cause than one that gave up. */
static bool failed_before(const struct seen_pod *p, const struct seen_pod *q)
{
    bool p_killed = !p->has_exit || p->exit_code >= FIRST_SIGNAL_CODE;
    bool q_killed = !q->has_exit || q->exit_code >= FIRST_SIGNAL_CODE;

    return p->ended_s != q->ended_s ? p->ended_s < q->ended_s : p_killed && !q_killed;
}

static const struct seen_pod *first_failed(const struct job *j)
{
    const struct seen_pod *first = NULL;

    for (size_t i = 0; i < j->seen->n_pods; i++)
        if (j->classes[i] == CLASS_RESTARTABLE &&
            (!first || failed_before(&j->seen->pods[i], first)))
            first = &j->seen->pods[i];
    return first;
}

/* When one replica is killed, others lose their peer and end with a code of their own. */
static void pardon(struct job *j, const struct seen_pod *first)
{
    for (size_t i = 0; i < j->seen->n_pods; i++) {
        struct job_role *r = job_role_find(j, j->seen->pods[i].role);
        if (j->classes[i] != CLASS_PERMANENT || !r || r->policy != RESTART_EXIT_CODE ||
            failed_before(&j->seen->pods[i], first))
            continue;
        j->classes[i] = CLASS_WAITING;
        r->n_permanent--;
    }
}

void whole_restart_classify(struct job *j)
{
    const struct seen_pod *first = whole_restart_is_wanted(j) ? first_failed(j) : NULL;

    for (size_t i = 0; i < j->seen->n_pods; i++)
        j->attempt.n_old +=
            j->classes[i] != CLASS_FOREIGN && j->seen->pods[i].attempt < j->attempt.n;
    if (first)
        pardon(j, first);
}

/* ---- beginning one */

static str how_it_failed(const struct job *j, const struct seen_pod *pod)
{
    if (j->is_stalled)
        return S("was stalled");
    if (pod->has_exit)
        return arena_printf(j->a, "failed with exit code %" PRId64, pod->exit_code);
    if (pod->reason.n)
        return arena_printf(j->a, "failed (%" PRI_STR ")",
                            STR_ARG(str_clip(pod->reason, MANY_BYTES / 4)));
    return S("failed");
}

str whole_restart_text(const struct job *j)
{
    const struct seen_pod *pod = first_failed(j);
    const struct job_role *r = pod ? job_role_find(j, pod->role) : NULL;
    int64_t delay = delay_ms(next_streak(j)) / 1000;
    str when = delay ? arena_printf(j->a, " after %" PRId64 " s", delay) : S("");

    if (!r)
        return S("");
    return arena_printf(j->a,
                        "%s %" PRI_STR " is restarting because %" PRI_STR " (%" PRI_STR
                        ") %" PRI_STR ": all replicas are created again%" PRI_STR ".",
                        j->kind->planner.res->kind, STR_ARG(j->name), STR_ARG(pod->name),
                        STR_ARG(r->type), STR_ARG(how_it_failed(j, pod)), STR_ARG(when));
}

static jv attempt_json(const struct job *j)
{
    const struct job_attempt *t = &j->attempt;
    struct arena *a = j->a;

    return jobj(a, { "since", jv_get(j->status, S("startTime")) }, { "attempt", jint(a, t->n) },
                { "at", jstr(a, j->now) }, { "streak", jint(a, t->streak) },
                { "gangs", t->gangs ? jint(a, t->gangs) : JV_ABSENT },
                { "cause", jstr(a, str_of(causes[t->cause])) }, { "why", jstr(a, t->why) });
}

/* A restart that follows another before the job ran again is shown anew. */
void whole_restart_show(struct job *j)
{
    const struct job_attempt *t = &j->attempt;

    if (!str_eq(jv_str(jv_get(condition_find(j, "Restarting"), S("message")), S("")), t->why))
        condition_drop(j, "Restarting");
    condition_set(j, "Restarting", true, causes[t->cause], t->why);
}

static void outdate_pods(struct job *j)
{
    j->attempt.n_old = 0;
    for (size_t i = 0; i < j->seen->n_pods; i++) {
        if (j->classes[i] == CLASS_FOREIGN)
            continue;
        j->attempt.n_old++;
        j->classes[i] = j->seen->pods[i].leaving ? CLASS_LEAVING : CLASS_OUTDATED;
    }
}

void whole_restart_begin(struct job *j, struct plan *p, const struct verdict *v,
                         const struct budget *b)
{
    bool counts = v->cause == RESTART_BY_FAILURE && b->limited && b->due;
    struct arena *a = j->a;

    j->attempt.streak = next_streak(j);
    j->attempt.at_ms = j->seen->now_ms;
    j->attempt.n++;
    j->attempt.cause = v->cause;
    j->attempt.gangs += v->cause == RESTART_BY_GANG;
    j->attempt.why = str_clip(v->message, MANY_BYTES);
    jv annotations =
        jobj(a, { ANNOTATION, jstr(a, json_text(a, attempt_json(j))) },
             { BUDGET_ANNOTATION, counts ? budget_text(j, b, 1, JV_EMPTY_ARR) : JV_ABSENT });
    struct plan_step *s = job_annotate(j, p, annotations);
    step_tell(p, s, (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_RESTARTED, .n = 1 });
    step_tell(p, s,
              (struct plan_note){
                  .kind = NOTE_EVENT,
                  .warning = true,
                  .reason = job_reason(j, causes[v->cause]),
                  .message = j->attempt.why,
                  .once = arena_printf(a, "restart/attempt/%" PRId64, j->attempt.n),
              });
    whole_restart_show(j);
    outdate_pods(j);
}
