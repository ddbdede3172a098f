/* The autoscaler of an elastic job: there while the job runs and names metrics, gone otherwise.
 * Only one that this job controls is touched. */

#include "job/others.h"
#include "job/pytorch.h"
#include "job/same.h"
#include "job/steps.h"

const struct kube_resource kube_hpas = { "autoscaling", "v2", "horizontalpodautoscalers",
                                         "HorizontalPodAutoscaler", false };
const struct planner_owned pytorch_owned[] = { { &kube_hpas, "get create patch delete" }, { 0 } };

static jv spec_of(const struct job *j)
{
    const struct kube_resource *res = j->kind->planner.res;
    struct pytorch_bounds bounds = pytorch_bounds(j);
    struct arena *a = j->a;

    return jobj(a,
                { "scaleTargetRef",
                  jobj(a, { "apiVersion", jv_get(j->owner, S("apiVersion")) },
                       { "kind", jstr(a, str_of(res->kind)) }, { "name", jstr(a, j->name) }) },
                { "minReplicas", jint(a, bounds.min) }, { "maxReplicas", jint(a, bounds.max) },
                { "metrics", jv_at(j->spec, "elasticPolicy", "metrics") });
}

static struct plan_step *step(const struct job *j, struct plan *p, enum plan_kind kind)
{
    struct plan_step *s = job_other_step(j, p, kind, STAGE_CHANGE, &kube_hpas, j->name);

    s->fail_reason = "FailedReconcileHPA";
    s->fail_words = "Error reconciling HPA";
    return s;
}

static jv make(const struct job *j)
{
    struct arena *a = j->a;

    return jobj(a, { "apiVersion", jstrz(a, "autoscaling/v2") },
                { "kind", jstrz(a, "HorizontalPodAutoscaler") },
                { "metadata", job_other_meta(a, j, j->name, NULL) }, { "spec", spec_of(j) });
}

static void tell_foreign(const struct job *j, struct plan *p, jv there)
{
    *plan_tell(p) = (struct plan_note){
        .kind = NOTE_EVENT,
        .warning = true,
        .reason = S("FailedReconcileHPA"),
        .message = arena_printf(j->a,
                                "Error reconciling HPA: HorizontalPodAutoscaler %" PRI_STR
                                " is not controlled by this job",
                                STR_ARG(j->name)),
        .once = arena_printf(j->a, "hpa/%" PRI_STR, STR_ARG(meta_uid(there))),
    };
}

void pytorch_extras(struct job *j, struct plan *p, bool wanted)
{
    jv there = job_other_find(j, &kube_hpas, j->name);
    jv metrics = jv_at(j->spec, "elasticPolicy", "metrics");
    bool ours = job_owns(j, there);
    struct arena *a = j->a;

    wanted = wanted && jv_is(metrics, JV_ARR) && jv_len(metrics) > 0;
    if (!jv_exists(there)) {
        if (wanted)
            step(j, p, PLAN_CREATE)->obj = make(j);
    } else if (!ours) {
        if (wanted)
            tell_foreign(j, p, there);
    } else if (meta_being_deleted(there)) {
        return; /* its name is taken until it is gone */
    } else if (!wanted) {
        step(j, p, PLAN_DELETE)->uid = meta_uid(there);
    } else if (!json_has(jv_get(there, S("spec")), spec_of(j))) {
        struct plan_step *s = step(j, p, PLAN_PATCH);
        s->patch = KUBE_PATCH_MERGE;
        s->obj = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, meta_uid(there)) }) },
                      { "spec", spec_of(j) });
    }
}
