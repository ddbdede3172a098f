/* What is the matter, in one sentence: what nothing else can change comes first. */

#include "app/why_internal.h"

#include "base/time.h"
#include "cli/exits.h"
#include "kube/waiting.h"
#include "sched/chance.h"

#include <inttypes.h>

enum { ANSWER_MS = 10000 }; /* who has not answered in that time may not be there */

static str text_at(jv obj, const char *x, const char *y)
{
    return jv_str(jv_at(obj, x, y), STR_NONE);
}

static bool is_old(const struct why_page *p, jv obj)
{
    int64_t at = job_time(jv_at(obj, "metadata", "creationTimestamp"));

    return at >= 0 && p->now_ms - at > ANSWER_MS;
}

static void decide(struct why_page *p, enum why_state state, str sentence)
{
    p->state = state;
    p->sentence = sentence;
}

/* ---- events */

/* The last Warning about the object: with that reason, or any. */
static str last_warning(const struct why_page *p, jv obj, const char *reason)
{
    str message = STR_NONE;
    int64_t latest = -1;

    JV_EACH (it, p->events) {
        int64_t at = job_time(jv_at(it.value, "lastTimestamp"));
        if (!str_eqz(text_at(it.value, "type", NULL), "Warning") ||
            !str_eq(text_at(it.value, "involvedObject", "uid"), meta_uid(obj)) ||
            (reason && !str_eqz(text_at(it.value, "reason", NULL), reason)) || at < latest)
            continue;
        latest = at;
        message = text_at(it.value, "message", NULL);
    }
    return message;
}

/* "pods "x" is forbidden: exceeded quota: ..." from there on. */
static str without_head(str message)
{
    static const char mark[] = "is forbidden: ";
    const char *at = message.n ? memmem(message.p, message.n, mark, sizeof(mark) - 1) : NULL;

    return at ? str_sub(message, (size_t)(at - message.p) + sizeof(mark) - 1, message.n) : message;
}

/* ---- the object itself */

/* The client that last wrote spec.runPolicy.suspend. */
static str suspended_by(jv obj)
{
    str who = STR_NONE;

    JV_EACH (it, jv_at(obj, "metadata", "managedFields"))
        if (jv_exists(jv_at(it.value, "fieldsV1", "f:spec", "f:runPolicy", "f:suspend")))
            who = text_at(it.value, "manager", NULL);
    return who;
}

static void judge_suspended(struct why_page *p)
{
    str queue = jv_str(jv_get(meta_labels(p->obj), S("kueue.x-k8s.io/queue-name")), STR_NONE);
    str who = suspended_by(p->obj);

    p->state = STATE_SUSPENDED;
    if (queue.n) {
        p->sentence = arena_printf(
            p->a, "suspended until Kueue admits it from the LocalQueue %" PRI_STR, STR_ARG(queue));
        p->advice = S("look at its Workload: kubectl get workloads");
        return;
    }
    p->sentence = arena_printf(p->a, "suspended (spec.runPolicy.suspend is true%s%" PRI_STR ")",
                               who.n ? ", written by " : "", STR_ARG(who));
    p->advice = S("set spec.runPolicy.suspend to false");
}

static bool judge_end(struct why_page *p)
{
    static const char *const ends[] = { "Succeeded", "Failed" };
    str phase = p->job.kind ? STR_NONE : text_at(p->obj, "status", "phase");

    if (meta_being_deleted(p->obj)) {
        decide(p, STATE_DELETED, S("being deleted"));
        return true;
    }
    for (size_t i = 0; i < COUNT(ends); i++) {
        jv c = meta_condition(p->obj, str_of(ends[i]));
        bool is_true = p->job.kind && str_eqz(text_at(c, "status", NULL), "True");
        str message = is_true ? text_at(c, "message", NULL) : text_at(p->obj, "status", "message");
        if (!is_true && !str_eqz(phase, ends[i]))
            continue;
        decide(p, STATE_ENDED,
               arena_printf(p->a, "ended: %s%s%" PRI_STR, ends[i], message.n ? ": " : "",
                            STR_ARG(message)));
        return true;
    }
    return false;
}

static str group_text(const struct why_page *p)
{
    jv c = meta_condition(p->group, S("Unschedulable"));
    str message = text_at(c, "message", NULL), s = waiting_sentence(message);

    if (!p->barred.n && !why_group_waits(p->group))
        return STR_NONE;
    if (p->barred.n || s.n)
        return p->barred.n ? p->barred : s;
    s = p->placed ? why_sentence(p->a, &p->why) : STR_NONE;
    if (str_eqz(text_at(c, "status", NULL), "True") && message.n)
        return arena_printf(p->a, "its PodGroup is not admitted: %" PRI_STR, STR_ARG(message));
    return s.n ? s : S("its PodGroup is not admitted yet");
}

/* After a failure its pods are created again, some time later. */
static str restarting_text(const struct why_page *p)
{
    jv c = meta_condition(p->obj, S("Restarting"));
    str message = text_at(c, "message", NULL);

    if (!p->job.kind || !str_eqz(text_at(c, "status", NULL), "True"))
        return STR_NONE;
    return str_ends(message, S(".")) ? str_sub(message, 0, message.n - 1) : message;
}

static void judge_without_pods(struct why_page *p)
{
    str by = jv_str(jv_at(p->obj, "spec", "runPolicy", "managedBy"), STR_NONE);
    str warning = without_head(last_warning(p, p->obj, NULL)), group = group_text(p);
    str again = restarting_text(p);
    bool is_answered = jv_len(jv_at(p->obj, "status", "conditions")) > 0;

    p->state = STATE_WAITS;
    p->sentence = S("it has no pods yet");
    if (group.n) {
        p->sentence = group;
    } else if (again.n) {
        p->sentence = again;
    } else if (by.n && !str_eqz(by, "kubeflow.org/training-operator")) {
        p->sentence = arena_printf(
            p->a, "left to the controller %" PRI_STR " (spec.runPolicy.managedBy)", STR_ARG(by));
    } else if (warning.n) {
        p->sentence = arena_printf(p->a, "its pods cannot be created: %" PRI_STR, STR_ARG(warning));
    } else if (p->job.kind && !is_answered && is_old(p, p->obj)) {
        p->sentence = S("no operator has answered");
        p->advice = S("start one: muster operator");
    }
}

/* ---- its pods */

static str pod_title(const struct why_page *p, jv pod)
{
    struct job_pods of;

    if (!p->job.kind)
        return meta_name(pod);
    of = job_pods_of(p->a, &p->job, jarr(p->a, pod));
    return of.n ? replica_name(p->a, &of.at[0]) : meta_name(pod);
}

static str gates_text(const struct why_page *p, jv pod)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, jv_at(pod, "spec", "schedulingGates"))
        buf_printf(&b, "%s%" PRI_STR, b.n ? ", " : "", STR_ARG(text_at(it.value, "name", NULL)));
    return b.n ? arena_printf(p->a, "held by the scheduling gate %" PRI_STR, STR_ARG(buf_str(&b)))
               : STR_NONE;
}

/* Empty: a scheduler has answered, or may be about to. */
static str scheduler_text(const struct why_page *p, jv pod)
{
    str name = text_at(pod, "spec", "schedulerName");

    if (jv_exists(meta_condition(pod, S("PodScheduled"))) || !why_pod_waits_for_node(pod) ||
        !is_old(p, pod))
        return STR_NONE;
    return arena_printf(p->a, "the scheduler %" PRI_STR " has not answered; is it running?",
                        STR_ARG(name.n ? name : S("default-scheduler")));
}

static str on_node_text(struct why_page *p, jv pod)
{
    struct chance_in in = { .pod = pod,
                            .own = true,
                            .mount_failure = last_warning(p, pod, "FailedMount"),
                            .where = S("spec") };
    struct chance_out chance = chance_of(p->a, &in);
    struct pod_state st = pod_state(p->a, pod);
    int64_t restarts = pod_restarts(pod);

    if (chance.chance == CHANCE_NEVER) {
        bool is_missing = str_ends(chance.what, S("which does not exist"));
        p->advice = p->advice.n ? p->advice : is_missing ? S("create it") : chance.help;
        return chance.what;
    }
    if (str_eqz(st.state, "CrashLoopBackOff"))
        return arena_printf(p->a,
                            "fails again and again: exited with %" PRI_STR ", %" PRId64
                            " restart%s; the next start is delayed",
                            STR_ARG(exit_text(p->a, st.exit_code, st.reason)), restarts,
                            restarts == 1 ? "" : "s");
    if (str_eqz(st.state, "Pending") || str_eqz(st.state, "Running"))
        return in.mount_failure.n ? in.mount_failure : S("its containers are being started");
    return arena_printf(p->a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(st.state),
                        st.message.n ? ": " : "", STR_ARG(st.message));
}

/* Why it does not run; empty: it does, or has ended. */
static str pod_text(struct why_page *p, jv pod)
{
    struct pod_state st = pod_state(p->a, pod);
    bool has_node = text_at(pod, "spec", "nodeName").n > 0;

    if (sched_pod_has_ended(pod) || str_eqz(st.state, "Running"))
        return STR_NONE;
    if (meta_being_deleted(pod))
        return S("being deleted");
    if (has_node)
        return on_node_text(p, pod);
    str gates = gates_text(p, pod), nobody = scheduler_text(p, pod), told = waiting_reason(pod);
    if (gates.n || nobody.n)
        return gates.n ? gates : nobody;
    return told.n ? told : S("no scheduler has looked at it yet");
}

static void collect_pods(struct why_page *p)
{
    p->waits = ARENA_ARRAY(p->a, struct replica_note, p->n_pods + 1);
    for (size_t i = 0; i < p->n_pods; i++) {
        str text = pod_text(p, p->pods[i]);
        if (text.n)
            p->waits[p->n_waits++] = (struct replica_note){ pod_title(p, p->pods[i]), text };
        else
            p->n_running += !sched_pod_has_ended(p->pods[i]);
    }
}

/* Where all of them say the same, it is said of the group; of a job the first is named. */
static str told_text(const struct why_page *p)
{
    const struct replica_note *w = &p->waits[0];
    bool alike = !p->job.kind && p->n_waits == p->n_pods;

    for (size_t i = 1; i < p->n_waits; i++)
        alike = alike && str_eq(w->text, p->waits[i].text);
    return alike || p->n_pods == 1
               ? w->text
               : arena_printf(p->a, "%" PRI_STR ": %" PRI_STR, STR_ARG(w->name), STR_ARG(w->text));
}

/* Nodes are no reason where a gate or an absent scheduler is one. */
static str before_nodes(const struct why_page *p)
{
    for (size_t i = 0; i < p->n_pods; i++) {
        str gates = gates_text(p, p->pods[i]), nobody = scheduler_text(p, p->pods[i]);
        if (gates.n || nobody.n)
            return gates.n ? gates : nobody;
    }
    return STR_NONE;
}

static void judge_pods(struct why_page *p)
{
    str first = before_nodes(p);

    if (!first.n)
        first = p->barred;
    str sentence = p->placed ? why_sentence(p->a, &p->why) : STR_NONE;

    p->state = STATE_WAITS;
    if (first.n) {
        p->sentence = first;
        p->placed = false;
        p->n_helps = p->n_before = 0;
    } else if (sentence.n) {
        p->sentence = sentence;
        if (p->why.cause == WHY_REFUSED && str_ends(sentence, S("which does not exist")))
            p->advice = S("create it");
    } else {
        p->sentence = told_text(p);
    }
}

void why_judge(struct why_page *p)
{
    bool suspended = jv_bool(jv_at(p->obj, "spec", "runPolicy", "suspend"), false);

    if (judge_end(p))
        return;
    if (suspended) {
        judge_suspended(p);
        return;
    }
    collect_pods(p);
    if (!p->n_pods) {
        judge_without_pods(p);
    } else if (p->n_waits) {
        judge_pods(p);
    } else {
        decide(p, STATE_RUNS,
               arena_printf(p->a, "running: %zu of %" PRId64 " pods", p->n_running, p->wanted));
    }
}
