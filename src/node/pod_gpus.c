/* A pod and its GPUs. */

#include "base/quantity.h"
#include "node/internal.h"

#include <inttypes.h>

enum { LOOK_MS = 1000 };

static int64_t gpus_of(struct arena *a, jv container)
{
    jv v = jv_at(container, "resources", "limits", "nvidia.com/gpu");
    struct quantity q;

    return jv_is_null(v) || quantity_from_json(a, v, &q, NULL) < 0 ? 0 : quantity_value(&q);
}

/* As the scheduler counts (builtin/pod_amounts.c): init containers that stay add to all that start
 * after them. */
static int64_t gpus_wanted(struct arena *a, jv pod)
{
    int64_t sum = 0, most = 0;

    JV_EACH (it, jv_at(pod, "spec", "initContainers")) {
        int64_t one = sum + gpus_of(a, it.value);
        if (str_eqz(jv_str(jv_at(it.value, "restartPolicy"), STR_NONE), "Always"))
            sum = one;
        most = one > most ? one : most;
    }
    JV_EACH (it, jv_at(pod, "spec", "containers"))
        sum += gpus_of(a, it.value);
    return sum > most ? sum : most;
}

/* The scheduler did not know yet that others use them. */
static void wait_for_gpus(struct pod *p, struct arena *a)
{
    if (p->box_failures++ == 0)
        pod_event(p, true, "FailedCreatePodSandBox", STR_NONE,
                  devices_elsewhere_text(a, &p->n->gpus));
    life_on_box_failed(p->life, node_now(p->n) + LOOK_MS);
}

static void refuse(struct pod *p, struct arena *a, int64_t want, size_t n_free)
{
    life_fail(p->life, S("UnexpectedAdmissionError"),
              arena_printf(a,
                           "Allocate failed due to requested number of devices unavailable for "
                           "nvidia.com/gpu. Requested: %" PRId64 ", Available: %zu, which is "
                           "unexpected",
                           want, n_free));
    life_on_box_failed(p->life, 0);
}

bool pod_gpus_take(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    struct node *n = p->n;
    int64_t want = gpus_wanted(a, p->life->pod);

    if (want && devices_look(&n->gpus, n->o.root ? n->o.root : ""))
        registration_refresh(n->reg);
    size_t n_free = devices_free(&n->gpus);
    jv gpus = want ? devices_take(&n->gpus, a, str_of(p->uid), want) : JV_EMPTY_ARR;
    if (jv_exists(gpus)) {
        jdoc_unref(p->given);
        p->given = jdoc_copy(gpus);
    } else if (want <= (int64_t)(n_free + devices_elsewhere(&n->gpus))) {
        wait_for_gpus(p, a);
    } else {
        refuse(p, a, want, n_free);
    }
    return jv_exists(gpus);
}

str pod_gpus_list(struct arena *a, const struct pod *p, bool counted)
{
    AUTO(buf) struct buf list = { 0 };
    int n = 0;

    for (int i = 0; i < DEVICES_MOST; i++) {
        if (!str_eqz(str_of(p->uid), p->n->gpus.at[i].owner))
            continue;
        bool real = jv_exists(devices_nodes(a, "", jarr(a, jint(a, i))));
        buf_printf(&list, "%s%d", n ? "," : "", counted && real ? n : i);
        n++;
    }
    return arena_str(a, buf_str(&list));
}
