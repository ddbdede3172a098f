/* What a pod is up to, in one word: told from its phase and the states of its containers, first
 * the init containers, then the others, as they come one after another. */

#include "builtin/cells_parts.h"

#include "base/time.h"

#include <inttypes.h>

const struct kind_column pod_columns[] = {
    NAME_COLUMN,
    COLUMN("Ready", "string", "Containers that are ready, of all."),
    COLUMN("Status", "string", "What the pod is doing, or what is wrong with it."),
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

static str field(jv v, const char *name)
{
    return jv_str(jv_at(v, name), S(""));
}

static bool is_set(jv v)
{
    return jv_is(v, JV_OBJ);
}

static bool is_sidecar(jv container)
{
    return str_eqz(field(container, "restartPolicy"), "Always");
}

static bool names_sidecar(const struct pod *p, str name)
{
    for (struct jv_iter it = jv_iter(jv_at(p->spec, "initContainers")); jv_next(&it);)
        if (str_eq(field(it.value, "name"), name))
            return is_sidecar(it.value);
    return false;
}

static void count_restarts(struct restarts *r, jv container)
{
    jv at = jv_at(container, "lastState", "terminated", "finishedAt");
    int64_t us;

    r->n += jv_int(jv_at(container, "restartCount"), 0);
    if (jv_is(at, JV_STR) && time_parse(jv_str(at, STR_NONE), &us, NULL) == 0 && us > r->last_us)
        r->last_us = us;
}

static str why_terminated(struct arena *a, const char *prefix, jv terminated)
{
    str reason = field(terminated, "reason");
    int64_t signal = jv_int(jv_at(terminated, "signal"), 0);

    if (reason.n)
        return *prefix ? arena_cat(a, str_of(prefix), reason) : reason;
    if (signal)
        return arena_printf(a, "%sSignal:%" PRId64, prefix, signal);
    return arena_printf(a, "%sExitCode:%" PRId64, prefix, jv_int(jv_at(terminated, "exitCode"), 0));
}

/* The first init container that is not through decides. Returns whether there is one; restarts of
 * sidecars are told apart, as they alone count once the pod is initialised. */
static bool look_at_init(struct pod *p, struct restarts *sidecars)
{
    struct arena *a = p->c->a;

    for (struct jv_iter it = jv_iter(jv_at(p->status, "initContainerStatuses")); jv_next(&it);) {
        jv state = jv_at(it.value, "state");
        jv terminated = jv_at(state, "terminated");
        str waits = field(jv_at(state, "waiting"), "reason");
        bool sidecar = names_sidecar(p, field(it.value, "name"));

        count_restarts(&p->restarts, it.value);
        if (sidecar)
            count_restarts(sidecars, it.value);
        if (is_set(terminated) && jv_int(jv_at(terminated, "exitCode"), 0) == 0)
            continue;
        if (sidecar && jv_bool(jv_at(it.value, "started"), false)) {
            p->ready += jv_bool(jv_at(it.value, "ready"), false);
            continue;
        }
        if (is_set(terminated))
            p->reason = why_terminated(a, "Init:", terminated);
        else if (waits.n && !str_eqz(waits, "PodInitializing"))
            p->reason = arena_cat(a, S("Init:"), waits);
        else
            p->reason =
                arena_printf(a, "Init:%zu/%zu", it.i - 1, jv_len(jv_at(p->spec, "initContainers")));
        return true;
    }
    return false;
}

static void look_at_containers(struct pod *p)
{
    jv list = jv_at(p->status, "containerStatuses");
    bool runs = false;

    for (size_t i = jv_len(list); i-- > 0;) { /* so that the first one has the last word */
        jv container = jv_index(list, i);
        jv state = jv_at(container, "state");
        jv terminated = jv_at(state, "terminated");
        str waits = field(jv_at(state, "waiting"), "reason");

        count_restarts(&p->restarts, container);
        if (waits.n) {
            p->reason = waits;
        } else if (is_set(terminated)) {
            p->reason = why_terminated(p->c->a, "", terminated);
        } else if (jv_bool(jv_at(container, "ready"), false) && is_set(jv_at(state, "running"))) {
            runs = true;
            p->ready++;
        }
    }
    if (runs && str_eqz(p->reason, "Completed"))
        p->reason = condition_is_true(jv_at(p->status, "conditions"), S("Ready")) ? S("Running")
                                                                                  : S("NotReady");
}

static str plain_reason(jv status)
{
    str reason = field(status, "reason");

    for (struct jv_iter it = jv_iter(jv_at(status, "conditions")); jv_next(&it);)
        if (str_eqz(field(it.value, "type"), "PodScheduled") &&
            str_eqz(field(it.value, "reason"), "SchedulingGated"))
            return S("SchedulingGated");
    return reason.n ? reason : field(status, "phase");
}

static bool has_ended(jv status)
{
    str phase = field(status, "phase");

    return str_eqz(phase, "Succeeded") || str_eqz(phase, "Failed");
}

static void look(struct pod *p, jv obj)
{
    struct restarts sidecars = { 0 };

    p->reason = plain_reason(p->status);
    p->total = (int64_t)jv_len(jv_at(p->spec, "containers"));
    for (struct jv_iter it = jv_iter(jv_at(p->spec, "initContainers")); jv_next(&it);)
        p->total += is_sidecar(it.value);

    if (!look_at_init(p, &sidecars) ||
        condition_is_true(jv_at(p->status, "conditions"), S("Initialized"))) {
        p->restarts = sidecars;
        look_at_containers(p);
    }
    if (jv_is_null(jv_at(obj, "metadata", "deletionTimestamp")))
        return;
    if (str_eqz(field(p->status, "reason"), "NodeLost"))
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
    jv gates = jv_at(p->spec, "readinessGates");
    jv conditions = jv_at(p->status, "conditions");
    size_t n = 0;

    if (!jv_len(gates))
        return jstrz(p->c->a, "<none>");
    for (struct jv_iter it = jv_iter(gates); jv_next(&it);)
        n += condition_is_true(conditions, field(it.value, "conditionType"));
    return jstr(p->c->a, arena_printf(p->c->a, "%zu/%zu", n, jv_len(gates)));
}

jv pod_cells(const struct kind_ctx *c, jv obj)
{
    struct pod p = { .c = c, .spec = jv_at(obj, "spec"), .status = jv_at(obj, "status") };
    jv ip = jv_at(p.status, "podIP");

    if (!jv_str(ip, S("")).n)
        ip = jv_at(jv_index(jv_at(p.status, "podIPs"), 0), "ip");
    look(&p, obj);
    return jarr(c->a, cell_name(c, obj),
                jstr(c->a, arena_printf(c->a, "%" PRId64 "/%" PRId64, p.ready, p.total)),
                jstr(c->a, p.reason), restarts_cell(&p), cell_age(c, obj), cell_or(c, ip, "<none>"),
                cell_or(c, jv_at(p.spec, "nodeName"), "<none>"),
                cell_or(c, jv_at(p.status, "nominatedNodeName"), "<none>"), gates_cell(&p));
}

/* By these kubectl of old knew which pods to hide. */
jv pod_row_conditions(const struct kind_ctx *c, jv obj)
{
    jv status = jv_at(obj, "status");
    bool fine = str_eqz(field(status, "phase"), "Succeeded");

    if (!has_ended(status))
        return JV_ABSENT;
    return jarr(c->a, jobj(c->a, { "type", jstrz(c->a, "Completed") },
                           { "status", jstrz(c->a, "True") }, { "reason", jv_at(status, "phase") },
                           { "message", fine ? jstrz(c->a, "The pod has completed successfully.")
                                             : jstrz(c->a, "The pod failed.") }));
}
