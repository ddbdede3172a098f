/* The autoscaler of an elastic job: there while the job runs and names metrics, gone otherwise.
 * Only one that this job controls is touched. */

#include "base/quantity.h"
#include "job/others.h"
#include "job/pytorch.h"
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

static bool amount_of(jv v, struct quantity *q)
{
    AUTO(arena) struct arena *a = arena_new();

    return (jv_is(v, JV_STR) || jv_is(v, JV_INT) || jv_is(v, JV_NUM)) &&
           quantity_parse(jv_is(v, JV_STR) ? jv_str(v, S("")) : json_text(a, v), q, NULL) == 0;
}

static bool same_amount(jv x, jv y)
{
    struct quantity p, q;

    return amount_of(x, &p) && amount_of(y, &q) && quantity_cmp(&p, &q) == 0;
}

/* Whether all that is wanted is there; the server may have added, and written amounts its way. */
static bool has(jv there, jv wanted)
{
    struct jv_iter it = jv_iter(wanted);

    switch (jv_type(wanted)) {
    case JV_OBJ:
        while (jv_next(&it))
            if (!jv_is_null(it.value) && !has(jv_get(there, it.key), it.value))
                return false;
        return jv_is(there, JV_OBJ);
    case JV_ARR:
        if (jv_len(there) != jv_len(wanted))
            return false;
        while (jv_next(&it))
            if (!has(jv_index(there, it.i - 1), it.value))
                return false;
        return true;
    case JV_STR:
    case JV_INT:
    case JV_NUM:
        return jv_equal(there, wanted) || same_amount(there, wanted);
    case JV_NONE:
    case JV_NULL:
    case JV_BOOL:
        break;
    }
    return jv_equal(there, wanted);
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
    } else if (!has(jv_get(there, S("spec")), spec_of(j))) {
        struct plan_step *s = step(j, p, PLAN_PATCH);
        s->patch = KUBE_PATCH_MERGE;
        s->obj = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, meta_uid(there)) }) },
                      { "spec", spec_of(j) });
    }
}
