/* See pods.h. */

#include "cli/pods.h"

#include "kube/waiting.h"

#include <inttypes.h>

str replica_name(struct arena *a, const struct job_pod *r)
{
    if (r->index < 0)
        return r->role;
    return arena_printf(a, "%" PRI_STR "-%" PRId64, STR_ARG(r->role), r->index);
}

static void look_at_container(jv status, bool is_init, struct pod_state *out)
{
    jv waiting = jv_at(status, "state", "waiting");
    jv ended = jv_at(status, "state", "terminated");

    if (!jv_is_null(waiting)) {
        str reason = jv_str(jv_at(waiting, "reason"), STR_NONE);
        if (reason.n && !str_eqz(reason, "ContainerCreating") &&
            !str_eqz(reason, "PodInitializing")) {
            out->state = reason;
            out->message = jv_str(jv_at(waiting, "message"), out->message);
        }
        ended = jv_at(status, "lastState", "terminated");
    }
    if (jv_is_null(ended))
        ended = jv_at(status, "lastState", "terminated");
    if (jv_is_null(ended))
        return;
    int64_t code = jv_int(jv_at(ended, "exitCode"), 0);
    if (is_init && !code)
        return; /* as it should: no reason why the pod waits */
    if (out->has_exit && (out->exit_code || !code))
        return; /* the first that failed tells most */
    out->has_exit = true;
    out->exit_code = code;
    out->reason = jv_str(jv_at(ended, "reason"), out->reason);
    out->message = jv_str(jv_at(ended, "message"), out->message);
}

/* Nothing is heard of a scheduler that is neither the usual one nor ours, be it there or not. */
static str other_scheduler(jv pod)
{
    str name = jv_str(jv_at(pod, "spec", "schedulerName"), STR_NONE);

    return scheduler_is_ours(name) || jv_exists(jv_at(pod, "spec", "nodeName")) ? STR_NONE : name;
}

bool pod_is_pending(jv pod)
{
    return str_eqz(jv_str(jv_at(pod, "status", "phase"), STR_NONE), "Pending");
}

bool pod_is_stalled(jv pod, str *why)
{
    *why = jv_str(jv_at(meta_condition(pod, S(POD_STALLED)), "message"), S(""));
    return str_eqz(jv_str(jv_at(pod, "status", "phase"), STR_NONE), "Running") &&
           meta_condition_is(pod, S(POD_STALLED), S("True"));
}

struct pod_state pod_state(struct arena *a, jv pod)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
    struct pod_state out = { .state = jv_str(jv_at(pod, "status", "phase"), S("Pending")) };
    jv scheduled = meta_condition(pod, S("PodScheduled"));
    str reason = jv_str(jv_at(pod, "status", "reason"), STR_NONE);
    str other = other_scheduler(pod);

    out.message = jv_str(jv_at(pod, "status", "message"), STR_NONE);
    if (other.n && !out.message.n && str_eqz(out.state, "Pending"))
        out.message = arena_printf(
            a, "it waits for the scheduler %" PRI_STR " (spec.schedulerName); is it running?",
            STR_ARG(other));
    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "status", lists[i]))
            look_at_container(it.value, i == 0, &out);
    if (reason.n)
        out.reason = reason;
    if (str_eqz(jv_str(jv_at(scheduled, "status"), STR_NONE), "False")) {
        out.reason = jv_str(jv_at(scheduled, "reason"), out.reason);
        out.message = waiting_reason(pod);
    }
    if (pod_is_pending(pod) && !out.message.n && !jv_exists(scheduled) &&
        !jv_exists(jv_at(pod, "spec", "nodeName")) && !jv_exists(jv_at(pod, "status", lists[0])) &&
        !jv_exists(jv_at(pod, "status", lists[1]))) {
        out.reason = S("NotScheduled");
        out.message = S("no scheduler has looked at this pod; is one running? "
                        "('muster up --no-node' runs none)");
    }
    if (meta_being_deleted(pod))
        out.state = S("Terminating");
    return out;
}

str pod_waiting_for(struct arena *a, jv pod)
{
    static const char *const fine[] = { "Pending", "Running", "Succeeded", "Failed",
                                        "Terminating" };
    struct pod_state st = pod_state(a, pod);

    if (!jv_exists(jv_at(pod, "spec", "nodeName")))
        return pod_is_pending(pod) && !meta_being_deleted(pod) ? st.message : STR_NONE;
    for (size_t i = 0; i < COUNT(fine); i++)
        if (str_eqz(st.state, fine[i]))
            return STR_NONE;
    return st.state;
}

static void look_at_end(const struct job_pod *r, jv status, bool previous, struct pod_failure *out)
{
    jv end = jv_at(status, previous ? "lastState" : "state", "terminated");
    int64_t code = jv_int(jv_at(end, "exitCode"), 0);
    int64_t at = job_time(jv_at(end, "finishedAt"));

    if (!code || (out->replica && at >= out->at_ms))
        return;
    *out = (struct pod_failure){ .replica = r,
                                 .container = jv_str(jv_at(status, "name"), STR_NONE),
                                 .reason = jv_str(jv_at(end, "reason"), STR_NONE),
                                 .message = jv_str(jv_at(end, "message"), STR_NONE),
                                 .exit_code = code,
                                 .at_ms = at,
                                 .previous = previous };
}

bool pods_first_failure(const struct job_pods *pods, struct pod_failure *out)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };

    *out = (struct pod_failure){ 0 };
    for (size_t i = 0; i < pods->n; i++)
        for (size_t k = 0; k < COUNT(lists); k++)
            JV_EACH (it, jv_at(pods->at[i].pod, "status", lists[k])) {
                look_at_end(&pods->at[i], it.value, true, out);
                look_at_end(&pods->at[i], it.value, false, out);
            }
    return out->replica != NULL;
}
