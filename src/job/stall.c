/* A job is stalled when all of its replicas that run are, by a condition that the node sets. Roles
 * that are idle by nature, such as parameter servers, never make a job stalled alone; but while one
 * of them works, the job does. */

#include "job/stall.h"
#include "job/kind.h"

#include <inttypes.h>

enum { MANY_TOLD = 4 };

bool job_is_stalled(const struct job *j)
{
    bool any = false;

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        if (j->classes[i] != CLASS_ACTIVE)
            continue;
        if (!pod->stalled)
            return false;
        const struct job_role *r = any ? NULL : job_role_find(j, pod->role);
        any |= r && !(r->row && r->row->serves);
    }
    return any;
}

static enum on_stall read_on_stall(jv annotations)
{
    str text = jv_str(jv_get(annotations, S(POD_ON_STALL)), S(""));

    return str_eqz(text, "fail")      ? ON_STALL_FAIL
           : str_eqz(text, "restart") ? ON_STALL_RESTART
                                      : ON_STALL_TELL;
}

enum on_stall job_on_stall(const struct job *j)
{
    enum on_stall how = read_on_stall(meta_annotations(j->obj));

    for (size_t i = 0; how == ON_STALL_TELL && i < j->n_roles; i++)
        how = read_on_stall(meta_annotations(j->roles[i].template));
    return how;
}

str job_stall_text(const struct job *j)
{
    AUTO(buf) struct buf b = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        if (j->classes[i] == CLASS_ACTIVE && n++ < MANY_TOLD)
            buf_printf(&b, "%s%" PRI_STR ": %" PRI_STR, n > 1 ? "; " : "", STR_ARG(pod->name),
                       STR_ARG(pod->reason));
    }
    if (n > MANY_TOLD)
        buf_printf(&b, "; and %zu more", n - MANY_TOLD);
    return arena_str(j->a, buf_str(&b));
}

/* Which pods have made no progress since when: another stall is told anew. */
static uint64_t stall_hash(const struct job *j)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < j->seen->n_pods; i++)
        if (j->classes[i] == CLASS_ACTIVE)
            hash =
                hash * 31 + str_hash(j->seen->pods[i].uid) * 7 + str_hash(j->seen->pods[i].reason);
    return hash;
}

void job_tell_stall(const struct job *j, struct plan *p)
{
    *plan_tell(p) = (struct plan_note){
        .kind = NOTE_EVENT,
        .warning = true,
        .reason = job_reason(j, "Stalled"),
        .message =
            arena_printf(j->a, "%s %" PRI_STR " is stalled: %" PRI_STR, j->kind->planner.res->kind,
                         STR_ARG(j->name), STR_ARG(job_stall_text(j))),
        .once = arena_printf(j->a, "stalled/%016" PRIx64, stall_hash(j)),
    };
}

/* They count as pods that failed and are made again. */
void job_restart_stalled(struct job *j)
{
    for (size_t i = 0; i < j->seen->n_pods; i++) {
        struct job_role *r = job_role_find(j, j->seen->pods[i].role);
        if (j->classes[i] != CLASS_ACTIVE || !r)
            continue;
        j->classes[i] = CLASS_RESTARTABLE;
        r->active--;
        r->n_restartable++;
    }
}

jv job_stall_annotation(struct arena *a, const struct job *j, jv annotations)
{
    jv after = jv_get(meta_annotations(j->obj), S(POD_STALL_AFTER));

    if (!jv_is(after, JV_STR) || jv_exists(jv_get(annotations, S(POD_STALL_AFTER))))
        return annotations;
    return jv_with_key(a, jv_is(annotations, JV_OBJ) ? annotations : JV_EMPTY_OBJ,
                       S(POD_STALL_AFTER), after);
}

bool job_role_is_idle(const struct job_kind *kind, str label)
{
    for (size_t i = 0; kind && kind->roles[i].name; i++)
        if (str_eq_nocase(str_of(kind->roles[i].name), label))
            return kind->roles[i].serves;
    return false;
}
