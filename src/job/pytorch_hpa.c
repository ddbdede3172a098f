/* The autoscaler of an elastic job: there while the job runs and names metrics, gone otherwise.
 * Only one that this job controls is touched. */

#include "base/quantity.h"
#include "job/pytorch.h"
#include "job/steps.h"

const struct kube_resource kube_hpas = { "autoscaling", "v2", "horizontalpodautoscalers",
                                         "HorizontalPodAutoscaler", false };
const struct kube_resource *const pytorch_owned[] = { &kube_hpas, NULL };

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
    struct plan_step *s = plan_add(p, kind, STAGE_CHANGE, &kube_hpas);

    s->ns = j->ns;
    s->name = j->name;
    s->fail_reason = "FailedReconcileHPA";
    s->fail_words = "Error reconciling HPA";
    return s;
}

static jv find(const struct job *j)
{
    for (size_t i = 0; i < j->seen->n_others; i++)
        if (j->seen->others[i].res == &kube_hpas &&
            str_eq(meta_name(j->seen->others[i].obj), j->name))
            return j->seen->others[i].obj;
    return JV_ABSENT;
}

static jv make(const struct job *j)
{
    struct arena *a = j->a;
    jv labels = jobj(a, { LABEL_OPERATOR, jstr(a, str_of(j->kind->planner.controller)) },
                     { LABEL_JOB, jstr(a, j->name) });

    return jobj(
        a, { "apiVersion", jstrz(a, "autoscaling/v2") },
        { "kind", jstrz(a, "HorizontalPodAutoscaler") },
        { "metadata", jobj(a, { "name", jstr(a, j->name) }, { "namespace", jstr(a, j->ns) },
                           { "labels", labels }, { "ownerReferences", jarr(a, j->owner) }) },
        { "spec", spec_of(j) });
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
    jv there = find(j), metrics = jv_at(j->spec, "elasticPolicy", "metrics");
    bool ours = str_eq(jv_str(jv_get(meta_controller(there), S("uid")), S("")), j->uid);
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
