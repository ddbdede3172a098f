/* Kubernetes' own PodGroups: their spec cannot change, nor can the group of a pod. A job of another
 * size therefore gets another group, named by the job's generation, for the pods that have no node
 * yet; those that have one stay where they are, and the new group needs so many fewer. */

#include "job/classify.h"
#include "job/gang_parts.h"
#include "job/kind.h"
#include "job/others.h"
#include "job/steps.h"

#include <inttypes.h>

/* On groups: how many members the job needs together for which the group was made, and how many had
 * succeeded by then. */
#define SIZE "muster.dev/size"
#define DONE "muster.dev/done"

static int64_t done_of(const struct job *j)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->n_roles; i++)
        n += j->roles[i].succeeded;
    return n;
}

/* The scheduler counts no pods that have ended. Beside members that succeeded since the group was
 * made, a replacement might wait in it for ever. Who is in it is known only if nobody had a node
 * when it was made: all are. */
static bool may_start(const struct job *j, jv group, int64_t min, int64_t size)
{
    int64_t lacks = job_total(j) - gang_placed(j), done = done_of(j);

    return lacks <= 0 || lacks >= min || done <= gang_number(group, DONE, 0) ||
           (min == size && job_total(j) - done >= min);
}

/* One that was made beside pods of an earlier group asks too little once those have no node. */
static bool suits(const struct job *j, jv group, int64_t size)
{
    int64_t min = jv_int(jv_at(group, "spec", "schedulingPolicy", "gang", "minCount"), 0);

    return gang_number(group, SIZE, min) == size && (min == size || gang_placed(j) > 0) &&
           may_start(j, group, min, size);
}

static str numbered(const struct job *j, int64_t n)
{
    return arena_printf(j->a, "%" PRI_STR "-%" PRId64, STR_ARG(j->name), n);
}

/* Of those that are there, also of those that are being deleted, the newest has the highest number:
 * the generation of the job for which it was made, or more. The name may be that of another job. */
static str next_name(const struct job *j, const struct kube_resource *res)
{
    int64_t n = jv_int(jv_get(meta_of(j->obj), S("generation")), 0), highest = -1;

    for (size_t i = 0; i < j->seen->n_others; i++) {
        const struct seen_object *o = &j->seen->others[i];
        if (gang_is_group(j, o) && gang_number_of(j, o->obj) > highest)
            highest = gang_number_of(j, o->obj);
    }
    if (highest < 0 && !jv_exists(job_other_find(j, res, j->name)))
        return j->name;
    if (n <= highest)
        n = highest + 1;
    while (jv_exists(job_other_find(j, res, numbered(j, n))))
        n++;
    return numbered(j, n);
}

static void delete_but(const struct job *j, struct plan *p, jv kept)
{
    for (size_t i = 0; i < j->seen->n_others; i++) {
        const struct seen_object *o = &j->seen->others[i];
        if (gang_is_group(j, o) && !meta_being_deleted(o->obj) &&
            !str_eq(meta_uid(o->obj), meta_uid(kept)))
            gang_delete(j, p, o->obj, STAGE_CHANGE);
    }
}

/* Those without a node are made again, in the new group. True: there were some. */
static bool delete_waiting(const struct job *j, struct plan *p)
{
    bool any = false;

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        if (j->classes[i] != CLASS_PENDING || pod->bound || pod->leaving)
            continue;
        job_delete_pod(j, p, STAGE_CHANGE, pod);
        any = true;
    }
    return any;
}

static jv spec_of(const struct job *j, int64_t min)
{
    struct arena *a = j->a;
    str class = jv_str(jv_at(j->policy, "schedulingPolicy", "priorityClass"), S(""));

    return jobj(a,
                { "schedulingPolicy",
                  jobj(a, { "gang", jobj(a, { "minCount", jint(a, min > 0 ? min : 1) }) }) },
                { "priorityClassName", class.n ? jstr(a, class) : JV_ABSENT });
}

static jv number(const struct job *j, int64_t n)
{
    return jstr(j->a, arena_printf(j->a, "%" PRId64, n));
}

/* Beside pods that run already the group needs so many fewer, and the job no more than before. */
static struct plan_step *create(const struct job *j, struct plan *p, const struct gang_back_end *g,
                                str name, jv before)
{
    int64_t size = gang_size_of(j).min, placed = gang_placed(j), done = done_of(j);
    int64_t start = placed ? gang_number(before, GANG_START_SIZE, size) : size;
    struct plan_step *s = gang_create(j, p, g, name, spec_of(j, size - placed));

    s->obj = jv_with(j->a, s->obj, number(j, size), "metadata", "annotations", SIZE);
    s->obj = jv_with(j->a, s->obj, number(j, start < size ? start : size), "metadata",
                     "annotations", GANG_START_SIZE);
    if (done)
        s->obj = jv_with(j->a, s->obj, number(j, done), "metadata", "annotations", DONE);
    return s;
}

static void tell_without_effect(const struct job *j, struct plan *p, struct plan_step *s)
{
    jv policy = jv_get(j->policy, S("schedulingPolicy"));

    if (!jv_str(jv_get(policy, S("queue")), S("")).n && !jv_len(jv_get(policy, S("minResources"))))
        return;
    step_tell(p, s,
              (struct plan_note){
                  .kind = NOTE_EVENT,
                  .warning = true,
                  .reason = S("SchedulingPolicyIgnored"),
                  .message = S("schedulingPolicy.queue and minResources have no effect with "
                               "Kubernetes' own PodGroups"),
                  .once = S("gang-policy"),
              });
}

void gang_kube_sync(struct job *j, struct plan *p, const struct gang_back_end *g)
{
    int64_t size = gang_size_of(j).min;
    jv now = gang_group_now(j);

    if (jv_exists(now) && suits(j, now, size)) {
        delete_but(j, p, now);
        j->group = meta_name(now);
        return;
    }
    if (delete_waiting(j, p)) { /* until they are gone */
        gang_hold(j);
        return;
    }
    str name = next_name(j, g->res);
    tell_without_effect(j, p, create(j, p, g, name, now));
    j->group = name;
}
