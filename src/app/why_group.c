/* A PodGroup that is not let in: the pods it would have, what is before it, and its queue. */

#include "app/why_internal.h"

#include "builtin/amounts.h"
#include "builtin/pod.h"
#include "plan/planner.h"

#include <stdlib.h>

enum { EXPECTED_MAX = 2000 };

static const struct kube_resource queues = { "scheduling.volcano.sh", "v1beta1", "queues", "Queue",
                                             true };

static str text_at(jv obj, const char *x, const char *y)
{
    return jv_str(jv_at(obj, x, y), STR_NONE);
}

bool why_group_waits(jv group)
{
    str phase = text_at(group, "status", "phase");

    if (jv_exists(jv_at(group, "spec", "schedulingPolicy")))
        return false; /* that of Kubernetes: only its pods wait */
    return jv_exists(group) && !meta_being_deleted(group) &&
           (!phase.n || str_eqz(phase, "Pending"));
}

/* ---- pods that are not made yet */

static jv expected_pod(struct why_page *p, const struct job *j, const struct job_role *r, int64_t i)
{
    struct arena *a = p->a;
    jv spec = jv_get(r->template, S("spec"));
    jv meta = jobj(a, { "name", jstr(a, job_child_name(a, j, r, i)) },
                   { "namespace", jstr(a, j->ns) }, { "labels", job_child_labels(a, j, r, i) },
                   { "creationTimestamp", jv_at(p->group, "metadata", "creationTimestamp") },
                   { "ownerReferences", jarr(a, job_owner_ref(a, j)) });

    spec = jv_is(spec, JV_OBJ) ? pod_spec_requests(a, spec) : JV_EMPTY_OBJ;
    return jobj(a, { "metadata", meta },
                { "spec", jv_with_key(a, spec, S("priority"), jint(a, p->priority)) });
}

static jv expected_of_job(struct why_page *p)
{
    struct jbuild b = jb_arr(p->a);
    const struct job *j = job_read(p->a, p->job.kind, p->job.obj, NULL);
    int64_t left = jv_int(jv_at(p->group, "spec", "minMember"), 0);

    for (size_t i = 0; i < j->n_roles && left <= EXPECTED_MAX; i++)
        for (int64_t k = 0; k < j->roles[i].replicas && left > 0; k++, left--)
            jb_push(&b, expected_pod(p, j, &j->roles[i], k));
    return jb_done(&b);
}

static jv owner_of_sum(struct arena *a, jv group)
{
    jv owner = meta_controller(group);

    if (jv_exists(owner))
        return owner;
    return jobj(a, { "apiVersion", jv_get(group, S("apiVersion")) },
                { "kind", jstrz(a, "PodGroup") }, { "name", jstr(a, meta_name(group)) },
                { "uid", jstr(a, meta_uid(group)) }, { "controller", jbool(true) });
}

/* One pod that asks for all that the group does; only right where there is one node. node: where it
 * is; empty: it waits. */
static jv sum_of_group(struct arena *a, jv group, int64_t priority, str node)
{
    jv box =
        jobj(a, { "resources", jobj(a, { "requests", jv_at(group, "spec", "minResources") }) });

    return jobj(a,
                { "metadata",
                  jv_with(a, meta_of(group), jarr(a, owner_of_sum(a, group)), "ownerReferences") },
                { "spec", jobj(a, { "priority", jint(a, priority) },
                               { "nodeName", node.n ? jstr(a, node) : JV_ABSENT },
                               { "containers", jarr(a, box) }) });
}

/* ---- the queue */

struct rank {
    jv group;
    int64_t priority;
    str created; /* RFC 3339, so that texts compare as times do */
};

static int64_t priority_of(jv classes, jv group)
{
    str name = text_at(group, "spec", "priorityClassName");

    JV_EACH (it, classes)
        if (name.n && str_eq(meta_name(it.value), name))
            return jv_int(jv_at(it.value, "value"), 0);
    return 0;
}

static struct rank rank_of(jv classes, jv group)
{
    return (struct rank){ group, priority_of(classes, group),
                          meta_str(group, S("creationTimestamp")) };
}

static int first_in_queue(const void *x, const void *y)
{
    const struct rank *a = x, *b = y;
    int by = (a->priority < b->priority) - (a->priority > b->priority);

    by = by ? by : str_cmp(a->created, b->created);
    return by ? by : str_cmp(meta_name(a->group), meta_name(b->group));
}

static struct help_step owner_of(jv group)
{
    jv owner = meta_controller(group);
    bool is_job = str_starts(text_at(owner, "apiVersion", NULL), S("kubeflow.org/"));

    return (struct help_step){ .what = HELP_END,
                               .kind = is_job ? S("job") : S("podgroup"),
                               .ns = meta_namespace(group),
                               .name = is_job ? text_at(owner, "name", NULL) : meta_name(group) };
}

/* Room alone is what it waits for: neither its queue nor its pods keep it out. */
static bool waits_for_room(jv group)
{
    jv c = meta_condition(group, S("Unschedulable"));
    str reason = text_at(c, "reason", NULL), message = text_at(c, "message", NULL);

    return why_group_waits(group) && (!reason.n || str_eqz(reason, "NotEnoughResources")) &&
           !str_starts(message, S("queue resource quota insufficient"));
}

/* Groups that are let in and have no pods yet: what they ask for is kept for them. */
static void find_kept(const struct why_page *p, jv all, struct jbuild *rivals)
{
    JV_EACH (it, all)
        if (str_eqz(text_at(it.value, "status", "phase"), "Inqueue") &&
            jv_len(jv_at(it.value, "spec", "minResources")))
            jb_push(rivals, sum_of_group(p->a, it.value, 0, meta_name(jv_index(p->nodes, 0))));
}

static void find_before(struct why_page *p, jv all, jv classes)
{
    struct rank own = rank_of(classes, p->group);
    struct rank *before = ARENA_ARRAY(p->a, struct rank, jv_len(all) + 1);
    struct help_step *owners = ARENA_ARRAY(p->a, struct help_step, jv_len(all) + 1);
    size_t n = 0;

    JV_EACH (it, all) {
        struct rank r = rank_of(classes, it.value);
        if (waits_for_room(it.value) && !str_eq(meta_uid(it.value), meta_uid(p->group)) &&
            first_in_queue(&r, &own) < 0)
            before[n++] = r;
    }
    qsort(before, n, sizeof(*before), first_in_queue);
    for (size_t i = 0; i < n; i++)
        owners[i] = owner_of(before[i].group);
    p->before = owners;
    p->n_before = n;
    struct jbuild rivals = jb_arr(p->a);
    for (size_t i = 0; i < n && jv_len(p->nodes) == 1; i++)
        jb_push(&rivals, sum_of_group(p->a, before[i].group, before[i].priority, STR_NONE));
    if (jv_len(p->nodes) == 1)
        find_kept(p, all, &rivals);
    p->rivals = jb_done(&rivals);
}

/* ---- what its queue says */

static str over_capability(struct why_page *p)
{
    struct amounts most = amounts_of(p->a, jv_at(p->queue, "spec", "capability"));
    struct amounts used = amounts_of(p->a, jv_at(p->queue, "status", "allocated"));
    struct amounts asks = amounts_of(p->a, jv_at(p->group, "spec", "minResources"));

    for (size_t i = 0; i < asks.n; i++) {
        str name = asks.at[i].name;
        const struct quantity *cap = amounts_get(&most, name), *use = amounts_get(&used, name);
        struct quantity sum = asks.at[i].q;
        if (use)
            quantity_add(&sum, use);
        if (!cap || quantity_cmp(&sum, cap) <= 0)
            continue;
        bool is_never = quantity_cmp(&asks.at[i].q, cap) > 0;
        str in_use = use ? quantity_text(p->a, use) : S("0");
        p->advice = arena_printf(p->a, "%sraise the capability of the queue %" PRI_STR,
                                 is_never ? "" : "wait for others in it to end, or ",
                                 STR_ARG(meta_name(p->queue)));
        return arena_printf(p->a,
                            "needs %" PRI_STR " %" PRI_STR ", its queue %" PRI_STR
                            " may use %" PRI_STR ", %" PRI_STR " in use%s",
                            STR_ARG(quantity_text(p->a, &asks.at[i].q)), STR_ARG(name),
                            STR_ARG(meta_name(p->queue)), STR_ARG(quantity_text(p->a, cap)),
                            STR_ARG(in_use), is_never ? "; never fits" : "");
    }
    return STR_NONE;
}

/* Whatever nodes have: a quota counts pods of the namespace, wherever they are. */
static str barred_by_quota(struct why_page *p)
{
    jv c = meta_condition(p->group, S("Unschedulable"));

    if (!str_eqz(text_at(c, "reason", NULL), "ExceedsQuota") ||
        !str_eqz(text_at(c, "status", NULL), "True"))
        return STR_NONE;
    p->advice = S("raise the ResourceQuota, or wait for other pods of the namespace to end");
    return arena_printf(p->a, "its PodGroup is not admitted: %" PRI_STR,
                        STR_ARG(text_at(c, "message", NULL)));
}

static str barred_by_queue(struct why_page *p, const struct ask *q)
{
    str state = text_at(p->queue, "status", "state");

    if (q->status == 404) {
        p->advice = arena_printf(p->a, "create the Queue %" PRI_STR, STR_ARG(q->req.name));
        return arena_printf(p->a, "its queue %" PRI_STR " does not exist", STR_ARG(q->req.name));
    }
    if (str_eqz(state, "Closed") || str_eqz(state, "Closing")) {
        p->advice = arena_printf(p->a, "open the queue %" PRI_STR, STR_ARG(q->req.name));
        return arena_printf(p->a, "its queue %" PRI_STR " is closed", STR_ARG(q->req.name));
    }
    return over_capability(p);
}

/* It is let in for what it asks for, whatever its pods do. */
static bool asks_more_than_pods(const struct why_page *p)
{
    return !p->job.kind && str_eq(meta_uid(p->obj), meta_uid(p->group)) &&
           (!p->n_pods || jv_len(jv_at(p->group, "spec", "minResources")) > 0);
}

int why_group_read(struct why_page *p, const struct kube_resource *res)
{
    str queue = text_at(p->group, "spec", "queue");
    struct ask q[] = {
        { .req = { .verb = KUBE_LIST, .res = res } },
        { .req = { .verb = KUBE_LIST, .res = &kube_priority_classes } },
        { .req = { .verb = KUBE_GET, .res = &queues, .name = queue.n ? queue : S("default") } },
    };

    bool has_queue = str_eqz(str_of(res->group), queues.group);
    int code = why_group_waits(p->group) ? session_ask(p->s, q, COUNT(q) - !has_queue) : -1;

    if (!why_group_waits(p->group) || code >= 0)
        return code;
    jv classes = jv_at(q[1].obj, "items");
    why_read_is_fine(p, &q[0], "PodGroups", "what is before it is not known");
    find_before(p, jv_at(q[0].obj, "items"), classes);
    p->priority = priority_of(classes, p->group);
    if (p->job.kind && !p->n_pods)
        p->expected = expected_of_job(p);
    else if (asks_more_than_pods(p) && jv_len(p->nodes) == 1)
        p->expected = jarr(p->a, sum_of_group(p->a, p->group, p->priority, STR_NONE));
    if (has_queue) {
        p->queue = q[2].err.code ? JV_ABSENT : q[2].obj;
        p->barred = barred_by_queue(p, &q[2]);
    }
    if (!p->barred.n)
        p->barred = barred_by_quota(p);
    return -1;
}

/* ---- text */

static str amounts_of_list(struct arena *a, jv list)
{
    struct amounts all = amounts_of(a, list);

    amounts_drop_zeros(&all);
    return amounts_text(a, &all);
}

str why_group_text(struct why_page *p)
{
    AUTO(buf) struct buf b = { 0 };
    str phase = text_at(p->group, "status", "phase");
    str state = text_at(p->queue, "status", "state");
    str most = amounts_of_list(p->a, jv_at(p->queue, "spec", "capability"));
    str used = amounts_of_list(p->a, jv_at(p->queue, "status", "allocated"));

    buf_printf(&b, "%" PRI_STR " is %" PRI_STR, STR_ARG(meta_name(p->group)),
               STR_ARG(phase.n ? phase : S("new")));
    if (jv_exists(p->queue))
        buf_printf(&b, " in queue %" PRI_STR "%s%" PRI_STR, STR_ARG(meta_name(p->queue)),
                   state.n ? ", which is " : "", STR_ARG(state));
    if (most.n)
        buf_printf(&b, " and may use %" PRI_STR ", of which %" PRI_STR " is in use", STR_ARG(most),
                   STR_ARG(used.n ? used : S("nothing")));
    return arena_str(p->a, buf_str(&b));
}

jv why_group_json(struct why_page *p)
{
    struct arena *a = p->a;

    return jobj(a, { "name", jstr(a, meta_name(p->group)) },
                { "phase", jstr(a, text_at(p->group, "status", "phase")) },
                { "minMember", jv_at(p->group, "spec", "minMember") },
                { "minResources", jv_at(p->group, "spec", "minResources") },
                { "queue", jv_exists(p->queue)
                               ? jobj(a, { "name", jstr(a, meta_name(p->queue)) },
                                      { "state", jv_at(p->queue, "status", "state") },
                                      { "capability", jv_at(p->queue, "spec", "capability") },
                                      { "allocated", jv_at(p->queue, "status", "allocated") })
                               : JV_ABSENT });
}
