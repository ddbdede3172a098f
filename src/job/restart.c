/* Restarts are counted in an annotation of the job, written before the pods go, so that each counts
 * once whoever dies when. It is tied to startTime: a resumed job starts afresh. */

#include "job/restart.h"
#include "job/kind.h"
#include "job/whole_restart.h"

static bool is_in(jv list, str uid)
{
    JV_EACH (it, list)
        if (str_eq(jv_str(it.value, STR_NONE), uid))
            return true;
    return false;
}

static jv tally_of(const struct job *j)
{
    str text = jv_str(jv_get(meta_annotations(j->obj), S(BUDGET_ANNOTATION)), S(""));

    return text.n ? json_parse(j->a, text, NULL, NULL) : JV_ABSENT;
}

str budget_since(const struct job *j)
{
    jv since = jv_get(tally_of(j), S("since"));
    int64_t at = job_time(since), born = job_time(jv_get(meta_of(j->obj), S("creationTimestamp")));

    /* One from before its birth was copied from another job. */
    return at >= 0 && at >= born && at <= j->seen->now_ms ? jv_str(since, S("")) : j->now;
}

static int64_t began_ms(const struct job *j)
{
    jv start = jv_get(j->status, S("startTime"));

    return job_has_started(j) ? job_time(start) : job_time(jstr(j->a, budget_since(j)));
}

static void read_annotation(const struct job *j, struct budget *b)
{
    jv tally = tally_of(j);
    int64_t since = job_time(jv_get(tally, S("since")));
    int64_t n = jv_int(jv_get(tally, S("n")), -1);
    jv last = jv_get(tally, S("last"));

    if (since < 0 || since != began_ms(j) || n < 0 || n > INT32_MAX || !jv_is(last, JV_ARR))
        return;
    b->recreated = n;
    b->last = last;
}

/* Eviction, preemption and drain are not the job's fault. */
static bool is_due(const struct job *j, const struct budget *b, size_t pod)
{
    return j->classes[pod] == CLASS_RESTARTABLE && !j->seen->pods[pod].disrupted &&
           !is_in(b->last, j->seen->pods[pod].uid);
}

struct budget budget_read(const struct job *j)
{
    jv limit = jv_get(j->policy, S("backoffLimit"));
    struct budget b = { .limited = jv_is(limit, JV_INT), .limit = jv_int(limit, 0) };

    if (!b.limited)
        return b;
    read_annotation(j, &b);
    for (size_t i = 0; i < j->seen->n_pods; i++)
        b.due += is_due(j, &b, i);
    if (b.due && whole_restart_is_wanted(j))
        b.due = 1;
    return b;
}

static bool spends(const struct budget *b, int64_t sum)
{
    return b->limited && (b->limit <= 0 ? sum > 0 : sum >= b->limit);
}

bool budget_is_spent(const struct job *j, const struct budget *b)
{
    return spends(b, j->kubelet_restarts + b->recreated);
}

bool budget_is_overdrawn(const struct job *j, const struct budget *b)
{
    return spends(b, j->kubelet_restarts + b->recreated + b->due);
}

jv budget_text(const struct job *j, const struct budget *b, int64_t n, jv last)
{
    jv tally = jobj(j->a, { "since", jv_get(j->status, S("startTime")) },
                    { "n", jint(j->a, b->recreated + n) }, { "last", last });

    return jstr(j->a, json_text(j->a, tally));
}

struct plan_step *job_annotate(const struct job *j, struct plan *p, jv annotations)
{
    struct plan_step *s = plan_add(p, PLAN_PATCH, 0, j->kind->planner.res);

    s->must = true;
    s->ns = j->ns;
    s->name = j->name;
    s->patch = KUBE_PATCH_MERGE;
    s->obj =
        jobj(j->a, { "metadata",
                     jobj(j->a, { "resourceVersion", jstr(j->a, meta_resource_version(j->obj)) },
                          { "annotations", annotations }) });
    return s;
}

void budget_tally(struct job *j, const struct budget *b, struct plan *p)
{
    enum { MANY_RESTARTS = 1000 };
    struct arena *a = j->a;
    struct jbuild last = jb_arr(a);
    int64_t due = 0, n = 0;

    if (!b->limited || b->due == 0)
        return;
    for (size_t i = 0; i < j->seen->n_pods; i++) {
        if (j->classes[i] != CLASS_RESTARTABLE)
            continue;
        if (++n > MANY_RESTARTS)
            j->classes[i] = CLASS_WAITING;
        due += is_due(j, b, i);
        if (!j->seen->pods[i].disrupted &&
            (j->classes[i] == CLASS_RESTARTABLE || is_in(b->last, j->seen->pods[i].uid)))
            jb_push(&last, jstr(a, j->seen->pods[i].uid));
    }
    job_annotate(j, p, jobj(a, { BUDGET_ANNOTATION, budget_text(j, b, due, jb_done(&last)) }));
}
