/* What a pod is up to, in one word: told from its phase and the states of its containers, first
 * the init containers, then the others, as they come one after another. */

#include "builtin/cells/internal.h"

#include "base/time.h"

#include <inttypes.h>

const struct kind_column pod_columns[] = {
    NAME_COLUMN,
    COLUMN("Ready", "string", "Containers that are ready, of all."),
    COLUMN("Status", "string", "The state of the pod, or the reason why it does not run."),
    COLUMN("Restarts", "string", "How often its containers were restarted, and when last."),
    AGE_COLUMN,
    WIDE_COLUMN("IP", "string", "Address of the pod."),
    WIDE_COLUMN("Node", "string", "Node the pod is bound to."),
    WIDE_COLUMN("Nominated Node", "string", "Node being cleared for the pod by preemption."),
    WIDE_COLUMN("Readiness Gates", "string", "Readiness gates that are true, of all."),
};

struct restarts {
    int64_t n;
    int64_t last_us; /* 0: never */
};

struct pod {
    const struct kind_ctx *c;
    jv spec;
    jv status;
    int64_t ready;
    int64_t total;
    struct restarts restarts;
    str reason;
};

static bool is_set(jv v)
{
    return jv_is(v, JV_OBJ);
}

static bool is_sidecar(jv container)
{
    return str_eq(text_at(container, "restartPolicy"), S("Always"));
}

static bool names_sidecar(const struct pod *p, str name)
{
    JV_EACH (it, jv_get(p->spec, S("initContainers")))
        if (str_eq(text_at(it.value, "name"), name))
            return is_sidecar(it.value);
    return false;
}

static void count_restarts(struct restarts *r, jv container)
{
    jv at = jv_at(container, "lastState", "terminated", "finishedAt");
    int64_t us;

    r->n += jv_int(jv_get(container, S("restartCount")), 0);
    if (jv_is(at, JV_STR) && time_parse(jv_str(at, STR_NONE), &us, NULL) == 0 && us > r->last_us)
        r->last_us = us;
}

static str why_terminated(struct arena *a, const char *prefix, jv terminated)
{
    str reason = text_at(terminated, "reason");
    int64_t signal = jv_int(jv_get(terminated, S("signal")), 0);

    if (reason.n)
        return *prefix ? arena_cat(a, str_of(prefix), reason) : reason;
    if (signal)
        return arena_printf(a, "%sSignal:%" PRId64, prefix, signal);
    return arena_printf(a, "%sExitCode:%" PRId64, prefix,
                        jv_int(jv_get(terminated, S("exitCode")), 0));
}

/* The first init container that is not through decides. Returns whether there is one; restarts of
 * sidecars are told apart, as they alone count once the pod is initialised. */
static bool look_at_init(struct pod *p, struct restarts *sidecars)
{
    struct arena *a = p->c->a;

    JV_EACH (it, jv_get(p->status, S("initContainerStatuses"))) {
        jv state = jv_get(it.value, S("state"));
        jv terminated = jv_get(state, S("terminated"));
        str waits = text_at(jv_get(state, S("waiting")), "reason");
        bool sidecar = names_sidecar(p, text_at(it.value, "name"));

        count_restarts(&p->restarts, it.value);
        if (sidecar)
            count_restarts(sidecars, it.value);
        if (is_set(terminated) && jv_int(jv_get(terminated, S("exitCode")), 0) == 0)
            continue;
        if (sidecar && jv_bool(jv_get(it.value, S("started")), false)) {
            p->ready += jv_bool(jv_get(it.value, S("ready")), false);
            continue;
        }
        if (is_set(terminated))
            p->reason = why_terminated(a, "Init:", terminated);
        else if (waits.n && !str_eq(waits, S("PodInitializing")))
            p->reason = arena_cat(a, S("Init:"), waits);
        else
            p->reason = arena_printf(a, "Init:%zu/%zu", it.i - 1,
                                     jv_len(jv_get(p->spec, S("initContainers"))));
        return true;
    }
    return false;
}

static void look_at_containers(struct pod *p)
{
    jv list = jv_get(p->status, S("containerStatuses"));
    bool runs = false;

    for (size_t i = jv_len(list); i-- > 0;) { /* so that the first one has the last word */
        jv container = jv_index(list, i);
        jv state = jv_get(container, S("state"));
        jv terminated = jv_get(state, S("terminated"));
        str waits = text_at(jv_get(state, S("waiting")), "reason");

        count_restarts(&p->restarts, container);
        if (waits.n) {
            p->reason = waits;
        } else if (is_set(terminated)) {
            p->reason = why_terminated(p->c->a, "", terminated);
        } else if (jv_bool(jv_get(container, S("ready")), false) &&
                   is_set(jv_get(state, S("running")))) {
            runs = true;
            p->ready++;
        }
    }
    if (runs && str_eq(p->reason, S("Completed")))
        p->reason = cells_condition(jv_get(p->status, S("conditions")), S("Ready")) ? S("Running")
                                                                                    : S("NotReady");
}

static str plain_reason(jv status)
{
    str reason = text_at(status, "reason");

    JV_EACH (it, jv_get(status, S("conditions")))
        if (str_eq(text_at(it.value, "type"), S("PodScheduled")) &&
            str_eq(text_at(it.value, "reason"), S("SchedulingGated")))
            return S("SchedulingGated");
    return reason.n ? reason : text_at(status, "phase");
}

static bool has_ended(jv status)
{
    str phase = text_at(status, "phase");

    return str_eq(phase, S("Succeeded")) || str_eq(phase, S("Failed"));
}

static void look(struct pod *p, jv obj)
{
    struct restarts sidecars = { 0 };

    p->reason = plain_reason(p->status);
    p->total = (int64_t)jv_len(jv_get(p->spec, S("containers")));
    JV_EACH (it, jv_get(p->spec, S("initContainers")))
        p->total += is_sidecar(it.value);

    if (!look_at_init(p, &sidecars) ||
        cells_condition(jv_get(p->status, S("conditions")), S("Initialized"))) {
        p->restarts = sidecars;
        look_at_containers(p);
    }
    if (jv_is_null(jv_at(obj, "metadata", "deletionTimestamp")))
        return;
    if (str_eq(text_at(p->status, "reason"), S("NodeLost")))
        p->reason = S("Unknown");
    else if (!has_ended(p->status))
        p->reason = S("Terminating");
}

static jv restarts_cell(const struct pod *p)
{
    struct arena *a = p->c->a;
    char ago[TIME_BYTES];

    if (!p->restarts.n || !p->restarts.last_us)
        return jstr(a, arena_printf(a, "%" PRId64, p->restarts.n));
    age_print(ago, p->c->now_ms - p->restarts.last_us / 1000);
    return jstr(a, arena_printf(a, "%" PRId64 " (%s ago)", p->restarts.n, ago));
}

static jv gates_cell(const struct pod *p)
{
    jv gates = jv_get(p->spec, S("readinessGates"));
    jv conditions = jv_get(p->status, S("conditions"));
    int64_t n = 0;

    if (!jv_len(gates))
        return jstrz(p->c->a, "<none>");
    JV_EACH (it, gates)
        n += cells_condition(conditions, text_at(it.value, "conditionType"));
    return cell_ratio(p->c, n, (int64_t)jv_len(gates));
}

jv pod_cells(const struct kind_ctx *c, jv obj)
{
    struct pod p = { .c = c, .spec = jv_get(obj, S("spec")), .status = jv_get(obj, S("status")) };
    jv ip = jv_get(p.status, S("podIP"));

    if (!jv_str(ip, S("")).n)
        ip = jv_at(jv_index(jv_get(p.status, S("podIPs")), 0), "ip");
    look(&p, obj);
    return jarr(c->a, cell_name(c, obj), cell_ratio(c, p.ready, p.total), jstr(c->a, p.reason),
                restarts_cell(&p), cell_age(c, obj), cell_or(c, ip, "<none>"),
                cell_or(c, jv_get(p.spec, S("nodeName")), "<none>"),
                cell_or(c, jv_get(p.status, S("nominatedNodeName")), "<none>"), gates_cell(&p));
}

/* By these kubectl of old knew which pods to hide. */
jv pod_row_conditions(const struct kind_ctx *c, jv obj)
{
    jv status = jv_get(obj, S("status"));
    bool fine = str_eq(text_at(status, "phase"), S("Succeeded"));

    if (!has_ended(status))
        return JV_ABSENT;
    return jarr(c->a,
                jobj(c->a, { "type", jstrz(c->a, "Completed") }, { "status", jstrz(c->a, "True") },
                     { "reason", jv_get(status, S("phase")) },
                     { "message", fine ? jstrz(c->a, "The pod has completed successfully.")
                                       : jstrz(c->a, "The pod failed.") }));
}
