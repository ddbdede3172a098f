/* node.k8s.io: RuntimeClass, and what one does to the pods that name it. */

#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/pod_admission.h"
#include "builtin/resources.h"

/* Each once: all but how long they last is compared. */
static void once_check(struct problems *ps, const struct path *p, jv tolerations)
{
    enum { LOOK_BACK = 512 };
    jv *keys = ARENA_ARRAY(ps->a, jv, jv_len(tolerations) + 1);

    JV_EACH (it, tolerations) {
        size_t i = it.i - 1;
        keys[i] = jv_without(ps->a, it.value, "tolerationSeconds");
        for (size_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++) {
            if (!jv_equal_semantic(keys[k], keys[i]))
                continue;
            problem_duplicate(ps, ATI(p, i), it.value);
            break;
        }
    }
}

void runtimeclass_validate(struct problems *ps, jv obj)
{
    const struct path *p = ROOT("scheduling.tolerations");
    jv overhead = FIELD(obj, "overhead");
    jv scheduling = FIELD(obj, "scheduling");

    name_check(ps, ROOT("handler"), FIELD_STR(obj, "handler"), name_dns1123_label);
    if (jv_len(FIELD(overhead, "podFixed")))
        requirements_check(ps, ROOT("overhead"),
                           jobj(ps->a, { "limits", FIELD(overhead, "podFixed") }), JV_ABSENT,
                           false);
    labels_check(ps, ROOT("scheduling.nodeSelector"), FIELD(scheduling, "nodeSelector"));
    tolerations_check(ps, AT(p, "tolerations"), FIELD(scheduling, "tolerations"));
    once_check(ps, p, FIELD(scheduling, "tolerations"));
}

void runtimeclass_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("handler"), FIELD(obj, "handler"), FIELD(old, "handler"));
}

/* ---- pods */

static int add_overhead(struct arena *a, jv *pod, jv class, struct err *e)
{
    jv wanted = jv_at(class, "overhead", "podFixed");
    jv own = jv_at(*pod, "spec", "overhead");

    if (!jv_exists(jv_get(class, S("overhead")))) {
        if (!jv_len(own))
            return 0;
        return err_set(e, ERR_FORBIDDEN,
                       "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
                       "Overhead");
    }
    if (jv_len(own) && !jv_equal_semantic(own, wanted))
        return err_set(
            e, ERR_FORBIDDEN,
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    if (jv_len(wanted))
        *pod = jv_with(a, *pod, wanted, "spec", "overhead");
    return 0;
}

static int add_node_selector(struct arena *a, jv *pod, jv selector, struct err *e)
{
    jv own = jv_at(*pod, "spec", "nodeSelector");
    struct jbuild b = jb_from(a, jv_exists(own) ? own : JV_EMPTY_OBJ);

    JV_EACH (it, selector) {
        jv there = jv_get(own, it.key);
        if (jv_exists(there) && !jv_equal(there, it.value))
            return err_set(e, ERR_FORBIDDEN,
                           "conflict: runtimeClass.scheduling.nodeSelector[%.*s] = %.*s; "
                           "pod.spec.nodeSelector[%.*s] = %.*s",
                           STR_ARG(it.key), STR_ARG(jv_str(it.value, S(""))), STR_ARG(it.key),
                           STR_ARG(jv_str(there, S(""))));
        jb_set(&b, it.key, it.value);
    }
    if (jv_len(selector))
        *pod = jv_with(a, *pod, jb_done(&b), "spec", "nodeSelector");
    return 0;
}

static void add_tolerations(struct arena *a, jv *pod, jv tolerations)
{
    jv own = jv_at(*pod, "spec", "tolerations");
    struct jbuild b = jb_from(a, jv_exists(own) ? own : JV_EMPTY_ARR);

    JV_EACH (it, tolerations) {
        bool there = false;
        for (struct jv_iter mine = jv_iter(own); !there && jv_next(&mine);)
            there = jv_equal_semantic(mine.value, it.value);
        if (!there)
            jb_push(&b, it.value);
    }
    if (jv_len(tolerations))
        *pod = jv_with(a, *pod, jb_done(&b), "spec", "tolerations");
}

int pod_apply_runtime_class(struct arena *a, jv pod, jv class, jv *out, struct err *e)
{
    jv scheduling = jv_get(class, S("scheduling"));

    if (add_overhead(a, &pod, class, e) < 0 ||
        add_node_selector(a, &pod, jv_get(scheduling, S("nodeSelector")), e) < 0)
        return -1;
    add_tolerations(a, &pod, jv_get(scheduling, S("tolerations")));
    *out = pod;
    return 0;
}
