/* Reads what `muster why` is about. Read rights are enough, and fewer of them tell less: what could
 * not be read is told, and the rest goes on. */

#include "app/why_internal.h"

#include "base/time.h"
#include "loop/loop.h"
#include "plan/planner.h"
#include "sched/volume.h"

static const struct kube_resource groups[] = {
    { "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", false },
    { "scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", false },
    { "scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", false },
};

/* ---- answers that may be refused */

static void note_unknown(struct why_page *p, const struct ask *q, const char *what, const char *so)
{
    str why = q->message.n ? q->message : str_of(q->err.msg);

    if (p->n_unknown < WHY_UNKNOWN_MAX)
        p->unknown[p->n_unknown++] =
            arena_printf(p->a, "%s cannot be listed, so %s: %" PRI_STR, what, so, STR_ARG(why));
}

bool why_read_is_fine(struct why_page *p, const struct ask *q, const char *what, const char *so)
{
    if (!q->err.code)
        return true;
    if (q->status != 404)
        note_unknown(p, q, what, so);
    return false;
}

/* ---- pods that belong to it */

/* The group that the pod says it is of, as the scheduler reads it; empty: none. */
static str group_of_pod(jv pod, const struct kube_resource **res)
{
    jv notes = meta_annotations(pod);
    str name = STR_NONE;

    *res = &groups[0];
    name = jv_str(jv_at(pod, "spec", "schedulingGroup", "podGroupName"), STR_NONE);
    if (name.n)
        return name;
    *res = &groups[1];
    if (str_eqz(jv_str(jv_at(pod, "spec", "schedulerName"), STR_NONE), "volcano")) {
        name = jv_str(jv_get(notes, S("scheduling.k8s.io/group-name")), STR_NONE);
        name =
            name.n ? name : jv_str(jv_get(notes, S("scheduling.volcano.sh/group-name")), STR_NONE);
    }
    if (name.n)
        return name;
    *res = &groups[2];
    return jv_str(jv_get(meta_labels(pod), S("scheduling.x-k8s.io/pod-group")), STR_NONE);
}

static bool is_in_group(const struct why_page *p, jv pod)
{
    const struct kube_resource *res;

    return str_eq(meta_name(p->group), group_of_pod(pod, &res)) && res == p->group_res;
}

/* A Job of the job may be the pod's owner: that of an MPIJob's launcher. */
static bool is_of_job(const struct why_page *p, jv pod)
{
    jv owner = meta_controller(pod);

    return str_eq(jv_str(jv_get(owner, S("uid")), STR_NONE), meta_uid(p->obj)) ||
           (str_eqz(jv_str(jv_get(owner, S("kind")), STR_NONE), "Job") &&
            str_eq(jv_str(jv_get(meta_labels(pod), S(LABEL_JOB)), STR_NONE), meta_name(p->obj)));
}

static void take_pods(struct why_page *p, jv items, bool is_group)
{
    jv *at = ARENA_ARRAY(p->a, jv, jv_len(items) + 1);

    JV_EACH (it, items)
        if (is_group ? is_in_group(p, it.value) : is_of_job(p, it.value))
            at[p->n_pods++] = it.value;
    p->pods = at;
}

static int read_own_pods(struct why_page *p, str labels, bool is_group)
{
    struct ask q = { .req = {
                         .verb = KUBE_LIST, .res = &kube_pods, .ns = p->s->ns, .labels = labels } };
    int code = session_ask(p->s, &q, 1);

    if (code < 0 && why_read_is_fine(p, &q, "pods", "what its pods wait for is not known"))
        take_pods(p, jv_at(q.obj, "items"), is_group);
    return code;
}

/* ---- what it is */

static int read_job(struct why_page *p, const char *word)
{
    int code = jobs_find(p->s, word, &p->job);

    if (code >= 0)
        return code;
    p->obj = p->job.obj;
    p->title = job_title(p->a, p->job.kind, p->obj);
    p->wanted = job_sum(p->a, &p->job, JV_ABSENT).wanted;
    return read_own_pods(p, arena_printf(p->a, LABEL_JOB "=%" PRI_STR, STR_ARG(meta_name(p->obj))),
                         false);
}

static int read_pod(struct why_page *p, str name)
{
    struct ask q = { .req = { .verb = KUBE_GET, .res = &kube_pods, .ns = p->s->ns, .name = name } };
    int code = session_ask(p->s, &q, 1);
    jv *only = ARENA_ARRAY(p->a, jv, 1);

    if (code >= 0)
        return code;
    if (q.err.code)
        return session_fail(p->s, &q, "get pod \"%" PRI_STR "\"", STR_ARG(name));
    p->obj = only[0] = q.obj;
    p->pods = only;
    p->n_pods = p->wanted = 1;
    p->title = arena_printf(p->a, "pod/%" PRI_STR, STR_ARG(name));
    return -1;
}

static int read_group_of_pod(struct why_page *p)
{
    const struct kube_resource *res;
    str name = group_of_pod(p->obj, &res);
    struct ask q = { .req = { .verb = KUBE_GET, .res = res, .ns = p->s->ns, .name = name } };
    int code = name.n ? session_ask(p->s, &q, 1) : -1;

    if (!name.n || code >= 0)
        return code;
    if (!q.err.code) {
        p->group = q.obj;
        p->group_res = res;
    } else if (q.status == 404) {
        p->barred = arena_printf(p->a, "its PodGroup %" PRI_STR " does not exist", STR_ARG(name));
        p->advice = arena_printf(p->a, "create the PodGroup %" PRI_STR, STR_ARG(name));
    }
    return -1;
}

static int read_group(struct why_page *p, str name, bool is_own)
{
    struct ask q[COUNT(groups)] = { 0 };

    for (size_t i = 0; i < COUNT(groups); i++)
        q[i].req = (struct kube_request){
            .verb = KUBE_GET, .res = &groups[i], .ns = p->s->ns, .name = name
        };
    int code = session_ask(p->s, q, COUNT(groups));
    for (size_t i = 0; i < COUNT(groups) && code < 0; i++)
        if (!q[i].err.code) {
            p->group = q[i].obj;
            p->group_res = &groups[i];
        }
    if (code >= 0 || !is_own || jv_exists(p->group))
        return code;
    for (size_t i = 0; i + 1 < COUNT(groups); i++) /* what is not 404 tells more */
        if (q[i].status != 404)
            return session_fail(p->s, &q[i], "get podgroup \"%" PRI_STR "\"", STR_ARG(name));
    return session_fail(p->s, &q[COUNT(groups) - 1], "get podgroup \"%" PRI_STR "\"",
                        STR_ARG(name));
}

/* Most groups are jobs', and then it is the job that waits. */
static int read_job_of_group(struct why_page *p)
{
    jv owner = meta_controller(p->group);
    const struct job_kind *kind = job_kind_of(owner);
    struct ask q = { .req = { .verb = KUBE_GET,
                              .res = kind ? kind->planner.res : NULL,
                              .ns = p->s->ns,
                              .name = jv_str(jv_get(owner, S("name")), STR_NONE) } };
    int code = kind ? session_ask(p->s, &q, 1) : -1;

    if (!kind || code >= 0 ||
        !why_read_is_fine(p, &q, "its job", "it is looked at as a group of any pods") ||
        !str_eq(meta_uid(q.obj), jv_str(jv_get(owner, S("uid")), STR_NONE)))
        return code;
    p->job = (struct job_found){ kind, q.obj };
    p->obj = q.obj;
    p->wanted = job_sum(p->a, &p->job, JV_ABSENT).wanted;
    return read_own_pods(p, arena_printf(p->a, LABEL_JOB "=%" PRI_STR, STR_ARG(meta_name(p->obj))),
                         false);
}

static int read_own_group(struct why_page *p, str name)
{
    int code = read_group(p, name, true);

    if (code >= 0)
        return code;
    p->title = arena_printf(p->a, "podgroup/%" PRI_STR, STR_ARG(name));
    code = read_job_of_group(p);
    if (code >= 0 || p->job.kind)
        return code;
    p->obj = p->group;
    p->wanted = jv_int(jv_at(p->obj, "spec", "schedulingPolicy", "gang", "minCount"),
                       jv_int(jv_at(p->obj, "spec", "minMember"), 0));
    return read_own_pods(p, STR_NONE, true);
}

/* ---- everything around it */

static bool is_about(const struct why_page *p, jv event)
{
    str uid = jv_str(jv_at(event, "involvedObject", "uid"), S("?"));

    if (str_eq(uid, meta_uid(p->obj)))
        return true;
    for (size_t i = 0; i < p->n_pods; i++)
        if (str_eq(uid, meta_uid(p->pods[i])))
            return true;
    return false;
}

static void take_events(struct why_page *p, jv items)
{
    struct jbuild b = jb_arr(p->a);

    JV_EACH (it, items)
        if (is_about(p, it.value))
            jb_push(&b, it.value);
    p->events = jb_done(&b);
}

static int read_cluster(struct why_page *p)
{
    struct ask q[] = {
        { .req = { .verb = KUBE_LIST, .res = &kube_nodes } },
        { .req = { .verb = KUBE_LIST, .res = &kube_pods } },
        { .req = { .verb = KUBE_LIST, .res = &kube_events, .ns = p->s->ns } },
    };
    struct ask own = { .req = { .verb = KUBE_LIST, .res = &kube_pods, .ns = p->s->ns } };
    int code = session_ask(p->s, q, COUNT(q));

    if (code >= 0)
        return code;
    p->nodes_known = why_read_is_fine(p, &q[0], "nodes", "what they have is not known");
    p->nodes = jv_at(q[0].obj, "items");
    if (why_read_is_fine(p, &q[2], "events", "what was refused is not known"))
        take_events(p, jv_at(q[2].obj, "items"));
    p->all_pods = jv_at(q[1].obj, "items");
    if (why_read_is_fine(p, &q[1], "pods of other namespaces", "what is free is not known"))
        return -1;
    p->partial = true;
    code = session_ask(p->s, &own, 1);
    p->all_pods = jv_at(own.obj, "items");
    return code;
}

int why_read(struct why_page *p, const char *word)
{
    str name = str_of(word), kind = STR_NONE;
    ptrdiff_t slash = str_find(name, '/');
    int code;

    p->now_ms = wall_now_ms();
    if (slash >= 0) {
        kind = str_sub(name, 0, (size_t)slash);
        name = str_sub(name, (size_t)slash + 1, name.n);
    }
    if (str_eqz(kind, "pod") || str_eqz(kind, "pods") || str_eqz(kind, "po"))
        code = read_pod(p, name);
    else if (str_eqz(kind, "podgroup") || str_eqz(kind, "podgroups") || str_eqz(kind, "pg"))
        code = read_own_group(p, name);
    else
        code = read_job(p, word);
    if (code < 0 && p->job.kind && !jv_exists(p->group))
        code = read_group(p, meta_name(p->obj), false);
    if (code < 0 && !p->job.kind && !jv_exists(p->group))
        code = read_group_of_pod(p);
    if (code < 0)
        code = read_cluster(p);
    return code < 0 && jv_exists(p->group) ? why_group_read(p, p->group_res) : code;
}
