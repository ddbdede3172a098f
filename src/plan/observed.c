/* Reading the few facts that decisions need off whole Pods and Services. Anything may be missing
 * or of the wrong type. */

#include "base/time.h"
#include "kube/meta.h"
#include "plan/planner.h"

#include <inttypes.h>

enum { MANY_TROUBLES = 4 };

static str field(jv v, str key)
{
    return jv_str(jv_get(v, key), S(""));
}

static int64_t index_of(jv labels)
{
    int64_t i = -1;

    if (!str_to_int(field(labels, S(LABEL_INDEX)), &i) || i < 0)
        return -1;
    return i;
}

static int64_t attempt_of(jv labels)
{
    int64_t n = 0;

    return str_to_int(field(labels, S(LABEL_ATTEMPT)), &n) && n > 0 && n <= INT32_MAX ? n : 0;
}

static enum pod_phase phase_of(jv pod)
{
    static const char *const names[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown" };
    str phase = jv_str(jv_at(pod, "status", "phase"), S(""));

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eqz(phase, names[i]))
            return (enum pod_phase)i;
    return phase.n ? POD_UNKNOWN : POD_PENDING;
}

static int64_t restarts_of(jv statuses)
{
    int64_t sum = 0;

    JV_EACH (c, statuses) {
        int64_t n = jv_int(jv_get(c.value, S("restartCount")), 0);
        if (n > 0 && n <= INT32_MAX) /* it is an int32; anything else is no count */
            sum += n;
    }
    return sum;
}

static int64_t seconds_of(jv time)
{
    int64_t us = 0;

    if (!jv_is(time, JV_STR) || time_parse(jv_str(time, S("")), &us, NULL) < 0 || us < 0)
        return 0;
    return us / 1000000;
}

/* The last terminated container of that name; main NULL: the first container of the spec. */
static void read_exit(struct arena *a, jv pod, const char *main, struct seen_pod *out)
{
    str name =
        main ? str_of(main) : field(jv_index(jv_at(pod, "spec", "containers"), 0), S("name"));

    JV_EACH (c, jv_at(pod, "status", "containerStatuses")) {
        jv ended = jv_at(c.value, "state", "terminated");
        if (!jv_is(ended, JV_OBJ) || !str_eq(field(c.value, S("name")), name))
            continue;
        out->has_exit = true;
        out->exit_code = jv_int(jv_get(ended, S("exitCode")), 0);
        out->ended_s = seconds_of(jv_get(ended, S("finishedAt")));
        str id = field(ended, S("containerID"));
        out->container_id = arena_str(a, id.n ? id : field(c.value, S("containerID")));
    }
}

static bool trouble_of_container(struct arena *a, str pod, jv status, struct seen_trouble *out)
{
    jv ended = jv_at(status, "state", "terminated");
    jv waiting = jv_at(status, "state", "waiting");
    int64_t code = jv_int(jv_get(ended, S("exitCode")), 0);
    str name = field(status, S("name"));
    str message = field(waiting, S("message"));

    if (jv_is(ended, JV_OBJ) && code != 0) {
        out->reason = arena_str(a, field(ended, S("reason")));
        out->message =
            arena_printf(a,
                         "Error pod %" PRI_STR " container %" PRI_STR " exitCode: %" PRId64
                         " terminated message: %" PRI_STR,
                         STR_ARG(pod), STR_ARG(name), code, STR_ARG(field(ended, S("message"))));
        return true;
    }
    if (!message.n)
        return false;
    out->reason = arena_str(a, field(waiting, S("reason")));
    out->message =
        arena_printf(a, "Error pod %" PRI_STR " container %" PRI_STR " waiting message: %" PRI_STR,
                     STR_ARG(pod), STR_ARG(name), STR_ARG(message));
    return true;
}

/* The condition that changed last, unless it holds. */
static bool trouble_of_conditions(struct arena *a, str pod, jv conditions, struct seen_trouble *out)
{
    jv last = JV_ABSENT;
    int64_t last_us = 0;

    JV_EACH (c, conditions) {
        int64_t us = 0;
        if (time_parse(field(c.value, S("lastTransitionTime")), &us, NULL) < 0)
            us = INT64_MIN;
        if (jv_exists(last) && us <= last_us)
            continue;
        if (str_eq(field(c.value, S("type")), S(POD_STALLED)))
            continue; /* it is well that this does not hold */
        last = c.value;
        last_us = us;
    }
    if (!jv_exists(last) || str_eq(field(last, S("status")), S("True")))
        return false;
    out->reason = arena_str(a, field(last, S("reason")));
    out->message = arena_printf(a, "Error pod %" PRI_STR " condition message: %" PRI_STR,
                                STR_ARG(pod), STR_ARG(field(last, S("message"))));
    return true;
}

static void read_troubles(struct arena *a, jv pod, struct seen_pod *out)
{
    jv status = jv_get(pod, S("status"));
    jv of = jv_get(status, S("containerStatuses"));
    struct seen_trouble found[MANY_TROUBLES];
    size_t n = 0;

    if (jv_len(of) == 0)
        of = jv_get(status, S("initContainerStatuses"));
    if (jv_len(of) == 0) {
        n = trouble_of_conditions(a, out->name, jv_get(status, S("conditions")), &found[0]);
    } else {
        for (struct jv_iter c = jv_iter(of); n < MANY_TROUBLES && jv_next(&c);)
            n += trouble_of_container(a, out->name, c.value, &found[n]);
    }
    if (!n)
        return;
    struct seen_trouble *kept = ARENA_ARRAY(a, struct seen_trouble, n);
    memcpy(kept, found, n * sizeof(*kept));
    out->troubles = kept;
    out->n_troubles = n;
}

struct seen_pod seen_pod_read(struct arena *a, jv pod, const char *main)
{
    jv labels = meta_labels(pod);
    jv status = jv_get(pod, S("status"));
    struct seen_pod p = {
        .name = arena_str(a, meta_name(pod)),
        .uid = arena_str(a, meta_uid(pod)),
        .owner = arena_str(a, field(meta_controller(pod), S("uid"))),
        .role = arena_str(a, field(labels, S(LABEL_ROLE))),
        .index = index_of(labels),
        .attempt = attempt_of(labels),
        .phase = phase_of(pod),
        .leaving = meta_being_deleted(pod),
        .disrupted = meta_condition_is(pod, S("DisruptionTarget"), S("True")),
        .ready = meta_condition_is(pod, S("Ready"), S("True")),
        .bound = field(jv_get(pod, S("spec")), S("nodeName")).n > 0,
        .restarts = restarts_of(jv_get(status, S("initContainerStatuses"))) +
                    restarts_of(jv_get(status, S("containerStatuses"))),
    };

    if (p.phase == POD_FAILED)
        p.reason = arena_str(a, field(status, S("reason")));
    p.stalled = p.phase == POD_RUNNING && meta_condition_is(pod, S(POD_STALLED), S("True"));
    if (p.stalled)
        p.reason = arena_str(a, field(meta_condition(pod, S(POD_STALLED)), S("message")));
    read_exit(a, pod, main, &p);
    if (!p.leaving && (p.phase == POD_PENDING || p.phase == POD_RUNNING || p.phase == POD_UNKNOWN))
        read_troubles(a, pod, &p);
    return p;
}

struct seen_service seen_service_read(struct arena *a, jv service)
{
    jv labels = meta_labels(service);

    return (struct seen_service){
        .name = arena_str(a, meta_name(service)),
        .uid = arena_str(a, meta_uid(service)),
        .owner = arena_str(a, field(meta_controller(service), S("uid"))),
        .role = arena_str(a, field(labels, S(LABEL_ROLE))),
        .index = index_of(labels),
        .leaving = meta_being_deleted(service),
    };
}
