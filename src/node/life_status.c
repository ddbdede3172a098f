/* The status of a pod as kubelet writes it: phase, conditions, containers. PURE. */

#include "node/life.h"

#include "base/time.h"
#include "kube/meta.h"
#include "plan/planner.h"

/* ---- the phase */

static bool is_ending_for_good(const struct life *l)
{
    return l->failed || l->deleted;
}

static const char *outcome(const struct life *l)
{
    bool fine = !l->failed;

    for (size_t i = 0; i < l->n; i++) {
        const struct life_container *c = &l->at[i];
        if (c->kind == LIFE_SIDECAR || c->kind == LIFE_EPHEMERAL)
            continue;
        fine &= c->end.is && c->end.code == 0;
    }
    return fine ? "Succeeded" : "Failed";
}

const char *life_phase(const struct life *l)
{
    bool waits = false;

    if (l->done)
        return outcome(l);
    for (size_t i = 0; i < l->n; i++) {
        const struct life_container *c = &l->at[i];
        waits |= c->kind == LIFE_MAIN && (!c->was_started || (c->post_busy && !c->last.is));
    }
    if (l->n_own == l->n_init)
        return "Pending";
    return waits && !(is_ending_for_good(l) && l->initialized) ? "Pending" : "Running";
}

/* ---- containers */

static jv time_json(struct arena *a, int64_t ms)
{
    return jstr(a, time_text(a, ms));
}

static jv id_json(struct arena *a, const struct life *l, const struct life_container *c,
                  int64_t attempt)
{
    return jstr(a, arena_printf(a, "muster://%" PRI_STR "/%" PRI_STR "/%lld",
                                STR_ARG(meta_uid(l->pod)), STR_ARG(c->name), (long long)attempt));
}

static jv text_or_absent(struct arena *a, str s)
{
    return s.n ? jstr(a, arena_str(a, s)) : JV_ABSENT;
}

static jv terminated(struct arena *a, const struct life *l, const struct life_container *c,
                     const struct life_end *e)
{
    if (!e->is)
        return JV_EMPTY_OBJ;
    return jobj(a, { "terminated", jobj(a, { "containerID", id_json(a, l, c, e->attempt) },
                                        { "exitCode", jint(a, e->code) },
                                        { "finishedAt", time_json(a, e->finished_ms) },
                                        { "message", text_or_absent(a, buf_str(&e->message)) },
                                        { "reason", text_or_absent(a, str_of(e->reason)) },
                                        { "startedAt", time_json(a, e->started_ms) }) });
}

static jv waiting(struct arena *a, str reason, str message)
{
    return jobj(a, { "waiting", jobj(a, { "message", text_or_absent(a, message) },
                                     { "reason", jstr(a, reason) }) });
}

/* A container that ended and is to run again waits; its end is the last state then. */
static bool shows_waiting(const struct life *l, const struct life_container *c)
{
    if (c->state == LIFE_ENDED)
        return c->waiting[0] && !l->ending && (c->backs_off || c->retry_ms);
    return c->state == LIFE_WAITING || (c->state == LIFE_STARTING && !c->end.is) ||
           (c->post_busy && !c->last.is);
}

static jv state_json(struct arena *a, const struct life *l, const struct life_container *c)
{
    bool is_init = c->kind == LIFE_INIT || c->kind == LIFE_SIDECAR;
    bool init_left = !l->initialized && !is_init && l->n_init;

    if (shows_waiting(l, c)) {
        if (c->waiting[0] && c->state != LIFE_RUNNING)
            return waiting(a, arena_str(a, str_of(c->waiting)), buf_str(&c->waiting_message));
        return waiting(
            a, init_left || (is_init && c != l->at) ? S("PodInitializing") : S("ContainerCreating"),
            STR_NONE);
    }
    if (c->state == LIFE_RUNNING)
        return jobj(a, { "running", jobj(a, { "startedAt", time_json(a, c->started_ms) }) });
    return terminated(a, l, c, &c->end);
}

static jv mounts_json(struct arena *a, const struct life_container *c)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(c->spec, "volumeMounts")) {
        bool ro = jv_bool(jv_at(it.value, "readOnly"), false);
        jb_push(&b,
                jobj(a, { "mountPath", jv_at(it.value, "mountPath") },
                     { "name", jv_at(it.value, "name") }, { "readOnly", ro ? JV_TRUE : JV_ABSENT },
                     { "recursiveReadOnly", ro ? jstrz(a, "Disabled") : JV_ABSENT }));
    }
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static jv container_json(struct arena *a, const struct life *l, const struct life_container *c)
{
    jv resources = jv_at(c->spec, "resources");
    bool init_ready = c->kind == LIFE_INIT && c->end.is && c->end.code == 0;
    bool moved = shows_waiting(l, c) && c->state == LIFE_ENDED;
    bool own = c->kind != LIFE_EPHEMERAL; /* others are never ready, nor have they started */

    return jobj(a, { "allocatedResources", jv_at(resources, "requests") },
                { "containerID", c->was_started ? id_json(a, l, c, c->attempt) : JV_ABSENT },
                { "image", jv_at(c->spec, "image") },
                { "imageID", jstr(a, arena_str(a, c->image_id)) },
                { "lastState", terminated(a, l, c, moved ? &c->end : &c->last) },
                { "name", jstr(a, c->name) },
                { "ready", jbool(init_ready || (own && c->kind != LIFE_INIT && life_is_ready(c))) },
                { "resources", jv_len(resources) ? resources : JV_ABSENT },
                { "restartCount", jint(a, c->attempt) },
                { "started", own ? jbool(life_has_started(c)) : JV_ABSENT },
                { "state", state_json(a, l, c) }, { "volumeMounts", mounts_json(a, c) });
}

static jv containers_json(struct arena *a, const struct life *l, size_t from, size_t to)
{
    bool init = to == l->n_init;
    size_t n = to - from;
    const struct life_container **in = ARENA_ARRAY(a, const struct life_container *, n + 1);
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++) { /* by name, as kubelet; init containers in their order */
        size_t at = i;
        for (; !init && at > 0 && str_cmp(in[at - 1]->name, l->at[from + i].name) > 0; at--)
            in[at] = in[at - 1];
        in[at] = &l->at[from + i];
    }
    for (size_t i = 0; i < n; i++)
        jb_push(&b, container_json(a, l, in[i]));
    return n ? jb_done(&b) : JV_ABSENT;
}

/* ---- conditions */

struct verdict {
    bool is;
    str reason, message;
};

static void name_add(struct buf *b, str name)
{
    buf_printf(b, "%s%" PRI_STR, b->n ? " " : "", STR_ARG(name));
}

static struct verdict not_all(struct arena *a, const char *reason, const char *words,
                              const struct buf *names)
{
    if (!names->n)
        return (struct verdict){ .is = true };
    return (struct verdict){ .reason = str_of(reason),
                             .message = arena_printf(a, "%s: [%" PRI_STR "]", words,
                                                     STR_ARG(buf_str(names))) };
}

static struct verdict initialized(struct arena *a, const struct life *l, str phase)
{
    AUTO(buf) struct buf names = { 0 };

    if (str_eq(phase, S("Succeeded")))
        return (struct verdict){ .is = true, .reason = S("PodCompleted") };
    for (size_t i = 0; i < l->n_init && !l->initialized; i++) {
        const struct life_container *c = &l->at[i];
        bool done = c->kind == LIFE_SIDECAR ? life_has_started(c) : c->end.is && c->end.code == 0;
        if (!done)
            name_add(&names, c->name);
    }
    return not_all(a, "ContainersNotInitialized", "containers with incomplete status", &names);
}

static struct verdict all_ready(struct arena *a, const struct life *l, str phase)
{
    AUTO(buf) struct buf names = { 0 };

    if (str_eq(phase, S("Succeeded")))
        return (struct verdict){ .reason = S("PodCompleted") };
    if (str_eq(phase, S("Failed")))
        return (struct verdict){ .reason = S("PodFailed") };
    for (size_t i = 0; i < l->n; i++) {
        const struct life_container *c = &l->at[i];
        if (c->kind != LIFE_INIT && c->kind != LIFE_EPHEMERAL && !life_is_ready(c))
            name_add(&names, c->name);
    }
    return not_all(a, "ContainersNotReady", "containers with unready status", &names);
}

static struct verdict ready(struct arena *a, const struct life *l, struct verdict containers)
{
    AUTO(buf) struct buf told = { 0 };

    if (!containers.is)
        return containers;
    JV_EACH (it, jv_at(l->pod, "spec", "readinessGates")) {
        str type = jv_str(jv_at(it.value, "conditionType"), S(""));
        jv c = meta_condition(l->pod, type);
        str status = jv_str(jv_at(c, "status"), S(""));
        if (str_eq(status, S("True")))
            continue;
        if (told.n)
            buf_add(&told, S(", "));
        if (!jv_exists(c))
            buf_printf(&told,
                       "corresponding condition of pod readiness gate \"%" PRI_STR
                       "\" does not exist.",
                       STR_ARG(type));
        else
            buf_printf(&told,
                       "the status of pod readiness gate \"%" PRI_STR
                       "\" is not \"True\", but %" PRI_STR,
                       STR_ARG(type), STR_ARG(status));
    }
    if (!told.n)
        return (struct verdict){ .is = true };
    return (struct verdict){ .reason = S("ReadinessGatesNotReady"),
                             .message = arena_str(a, buf_str(&told)) };
}

static jv condition(struct arena *a, const struct life *l, str type, const struct verdict *v,
                    int64_t now_ms)
{
    jv old = meta_condition(l->pod, type);
    str status = v->is ? S("True") : S("False");
    bool same = str_eq(jv_str(jv_at(old, "status"), S("")), status);
    jv since = jv_at(old, "lastTransitionTime");

    return jobj(
        a, { "type", jstr(a, type) }, { "status", jstr(a, status) },
        { "observedGeneration", jv_at(l->pod, "metadata", "generation") },
        { "lastProbeTime", JV_NULL_V },
        { "lastTransitionTime", same && jv_is(since, JV_STR) ? since : time_json(a, now_ms) },
        { "reason", text_or_absent(a, v->reason) }, { "message", text_or_absent(a, v->message) });
}

static jv conditions(struct arena *a, const struct life *l, str phase, int64_t now_ms)
{
    struct verdict box = { .is = l->box == LIFE_BOX_UP };
    struct verdict init = initialized(a, l, phase), all = all_ready(a, l, phase);
    struct verdict one = ready(a, l, all), yes = { .is = true };
    struct verdict stalled = { .is = l->stalled && !l->done };

    stalled.reason = stalled.is ? S("NoProgress") : S("Progress");
    stalled.message = stalled.is ? buf_str(&l->stall_message) : STR_NONE;
    /* Only of pods that have been stalled: kubelet has no such condition. */
    bool tells = stalled.is || jv_exists(meta_condition(l->pod, S(POD_STALLED)));
    return jarr(a, condition(a, l, S("PodReadyToStartContainers"), &box, now_ms),
                condition(a, l, S("Initialized"), &init, now_ms),
                condition(a, l, S("Ready"), &one, now_ms),
                condition(a, l, S("ContainersReady"), &all, now_ms),
                condition(a, l, S("PodScheduled"), &yes, now_ms),
                tells ? condition(a, l, S(POD_STALLED), &stalled, now_ms) : JV_ABSENT);
}

/* ---- the whole */

jv life_status(struct arena *a, const struct life *l, const struct life_where *w, int64_t now_ms)
{
    str phase = str_of(life_phase(l));
    bool failed = str_eq(phase, S("Failed")) && l->reason[0];
    bool host_net = jv_bool(jv_at(l->pod, "spec", "hostNetwork"), false);
    jv host = text_or_absent(a, w->host_ip);
    jv ip = host_net && l->box != LIFE_BOX_NONE ? host : text_or_absent(a, str_of(l->ip));

    return jobj(
        a, { "observedGeneration", jv_at(l->pod, "metadata", "generation") },
        { "phase", jstr(a, phase) }, { "conditions", conditions(a, l, phase, now_ms) },
        { "message", failed ? text_or_absent(a, buf_str(&l->message)) : JV_ABSENT },
        { "reason", failed ? text_or_absent(a, str_of(l->reason)) : JV_ABSENT }, { "hostIP", host },
        { "hostIPs", jv_exists(host) ? jarr(a, jobj(a, { "ip", host })) : JV_ABSENT },
        { "podIP", ip }, { "podIPs", jv_exists(ip) ? jarr(a, jobj(a, { "ip", ip })) : JV_ABSENT },
        { "startTime", time_json(a, l->start_ms) },
        { "initContainerStatuses", containers_json(a, l, 0, l->n_init) },
        { "containerStatuses", containers_json(a, l, l->n_init, l->n_own) },
        { "ephemeralContainerStatuses", containers_json(a, l, l->n_own, l->n) },
        { "qosClass", jv_at(l->pod, "status", "qosClass") });
}
