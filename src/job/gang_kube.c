/* Kubernetes' own PodGroups: their spec cannot change, nor can the group of a pod. A job of another
 * size therefore gets another group, named by the job's generation, for the pods that have no node
 * yet; those that have one stay where they are, and the new group needs so many fewer. */

#include "job/classify.h"
#include "job/gang_parts.h"
#include "job/kind.h"
#include "job/steps.h"

#include <inttypes.h>

/* On groups: how many members the job needs together for which the group was made. */
#define SIZE "muster.dev/size"

static jv named(const struct job *j, const struct gang_back_end *g, str name)
{
    for (size_t i = 0; i < j->seen->n_others; i++)
        if (j->seen->others[i].res == g->res && str_eq(meta_name(j->seen->others[i].obj), name))
            return j->seen->others[i].obj;
    return JV_ABSENT;
}

/* One that was made beside pods of an earlier group asks too little once they are gone. */
static bool suits(const struct job *j, jv group, int64_t size)
{
    int64_t min = jv_int(jv_at(group, "spec", "schedulingPolicy", "gang", "minCount"), 0);

    return gang_number(group, SIZE, min) == size && (min == size || j->seen->n_pods > 0);
}

/* Another generation's only if there is one of an earlier generation: the newest is the one. */
static str next_name(const struct job *j)
{
    for (size_t i = 0; i < j->seen->n_others; i++)
        if (gang_is_group(j, &j->seen->others[i]))
            return arena_printf(j->a, "%" PRI_STR "-%" PRId64, STR_ARG(j->name),
                                jv_int(jv_get(meta_of(j->obj), S("generation")), 0));
    return j->name;
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
    int64_t size = gang_size_of(j).min, placed = gang_placed(j);
    int64_t start = placed ? gang_number(before, GANG_START_SIZE, size) : size;
    struct plan_step *s = gang_create(j, p, g, name, spec_of(j, size - placed));

    s->obj = jv_with(j->a, s->obj, number(j, size), "metadata", "annotations", SIZE);
    s->obj = jv_with(j->a, s->obj, number(j, start < size ? start : size), "metadata",
                     "annotations", GANG_START_SIZE);
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
    jv now = gang_group_now(j), first = named(j, g, j->name);

    if (jv_exists(now) && suits(j, now, size)) {
        delete_but(j, p, now);
        j->group = meta_name(now);
        return;
    }
    if (jv_exists(first) && !gang_claims(j, first)) {
        gang_tell_foreign(j, p, first);
        return;
    }
    str name = next_name(j);
    bool waits = delete_waiting(j, p);
    jv taken = named(j, g, name);
    if (jv_exists(taken) && !meta_being_deleted(taken))
        gang_delete(j, p, taken, STAGE_CHANGE);
    if (waits || jv_exists(taken)) { /* until they are gone */
        gang_hold(j);
        return;
    }
    tell_without_effect(j, p, create(j, p, g, name, now));
    j->group = name;
}
