/* What the annotation muster.dev/on-stall does to a stalled pod that has no controller; the
 * controller of a job acts on the whole job. PURE. */

#include "kube/meta.h"
#include "node/life.h"
#include "plan/planner.h"

static str on_stall(jv pod)
{
    if (!jv_is_null(meta_controller(pod)))
        return STR_NONE;
    return jv_str(jv_get(meta_annotations(pod), S(POD_ON_STALL)), STR_NONE);
}

str life_on_stall_problem(struct arena *a, jv pod)
{
    str how = on_stall(pod);
    bool never = str_eqz(jv_str(jv_at(pod, "spec", "restartPolicy"), S("Always")), "Never");

    if (!how.n || str_eqz(how, "fail") || (str_eqz(how, "restart") && !never))
        return STR_NONE;
    if (str_eqz(how, "restart"))
        return S(POD_ON_STALL ": restart has no effect in a pod with restartPolicy Never");
    return arena_printf(
        a, POD_ON_STALL ": '%" PRI_STR "' is neither fail nor restart: it has no effect",
        STR_ARG(str_clip(how, 100)));
}

/* As kubelet does when a liveness probe fails: the restartPolicy says what comes then. */
static void restart(struct life *l, int64_t now_ms, struct life_out *out)
{
    for (size_t i = 0; i < l->n_own; i++) {
        struct life_container *c = &l->at[i];
        if (c->state == LIFE_RUNNING && c->kind != LIFE_SIDECAR)
            life_stop(l, c, now_ms, life_grace_ms(l),
                      arena_printf(out->a, "Container %" PRI_STR " is stalled, will be restarted",
                                   STR_ARG(c->name)),
                      out);
    }
}

void life_on_stalled(struct life *l, int64_t now_ms, struct life_out *out)
{
    str how = on_stall(l->pod);

    if (l->failed || l->deleted || l->done || life_on_stall_problem(out->a, l->pod).n)
        return;
    if (str_eqz(how, "fail"))
        life_fail(l, S("Stalled"), buf_str(&l->stall_message));
    else if (str_eqz(how, "restart"))
        restart(l, now_ms, out);
}
