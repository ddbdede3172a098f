/* Gives up on jobs that can never start here, or never end, after --pending-timeout. What a pod
 * waits for is judged by sched/chance.h; here the pods that wait, the nodes and the time are kept.
 */

#include "app/run_internal.h"

#include "cli/track.h"
#include "sched/chance.h"
#include "sched/volume.h"
#include "sched/why.h"

#include <stdlib.h>

/* Pods come in bursts: they are looked at together. */
enum { LOOK_MS = 200, STATUS_MS = 1000 };

struct waiting_pod {
    struct run_job *job;
    struct jdoc *pod;
    char *mount_failure; /* NULL: none */
};

struct run_pending {
    struct run *r;
    struct track *track;
    struct map nodes; /* jdoc by name */
    struct map pods;  /* waiting_pod by uid: those that are Pending */
    struct map since; /* by uid of a job: int64_t, when it was first found hopeless */
    struct loop_timer *timer;
    bool due;
};

/* ---- what comes */

static void drop_pod(struct run_pending *p, str uid)
{
    struct waiting_pod *w = map_remove(&p->pods, uid);

    if (!w)
        return;
    jdoc_unref(w->pod);
    free(w->mount_failure);
    free(w);
}

static void on_timer(void *arg)
{
    struct run_pending *p = arg;

    loop_timer_stop(TAKE(p->timer));
    p->due = true;
    loop_wake(p->r->s.loop);
}

static void look_soon(struct run_pending *p, int64_t ms)
{
    if (!p->timer)
        p->timer = loop_timer_start(p->r->s.loop, ms, 0, on_timer, p);
}

static void on_pod(void *ctx, struct run_job *j, enum kube_event type, jv pod)
{
    struct run_pending *p = ctx;
    struct waiting_pod *w = map_get(&p->pods, meta_uid(pod));
    bool waits = type != KUBE_DELETED && !meta_being_deleted(pod) &&
                 str_eqz(jv_str(jv_at(pod, "status", "phase"), S("Pending")), "Pending");

    if (!waits) {
        drop_pod(p, meta_uid(pod));
        look_soon(p, LOOK_MS);
        return;
    }
    struct jdoc *before = w ? w->pod : NULL;
    if (!w) {
        w = mem_new(sizeof(*w));
        w->job = j;
    }
    w->pod = jdoc_copy(pod);
    map_put(&p->pods, meta_uid(jdoc_root(w->pod)), w);
    jdoc_unref(before);
    look_soon(p, LOOK_MS);
}

static void on_job(void *ctx)
{
    look_soon(ctx, LOOK_MS);
}

static void on_warning(void *ctx, jv event)
{
    struct run_pending *p = ctx;
    struct waiting_pod *w =
        map_get(&p->pods, jv_str(jv_at(event, "involvedObject", "uid"), STR_NONE));
    str message = jv_str(jv_at(event, "message"), STR_NONE);

    if (!w || !str_eqz(jv_str(jv_at(event, "reason"), STR_NONE), "FailedMount"))
        return;
    free(w->mount_failure);
    w->mount_failure = mem_or_abort(strndup(message.p, message.n));
    look_soon(p, LOOK_MS);
}

static void on_node(void *ctx, enum kube_event type, jv node)
{
    struct run_pending *p = ctx;
    struct jdoc *before = map_remove(&p->nodes, meta_name(node));

    if (type != KUBE_DELETED) {
        struct jdoc *now = jdoc_copy(node);
        map_put(&p->nodes, meta_name(jdoc_root(now)), now);
    }
    jdoc_unref(before);
    look_soon(p, LOOK_MS);
}

/* ---- judging */

struct nodes {
    const struct sched_node **at;
    size_t n;
};

static struct nodes read_nodes(struct arena *a, const struct run_pending *p)
{
    struct nodes out = { ARENA_ARRAY(a, const struct sched_node *, p->nodes.n + 1), 0 };

    MAP_EACH (slot, &p->nodes) {
        struct sched_node *n = ARENA_NEW(a, struct sched_node);
        *n = sched_node_read(a, jdoc_root(slot->value));
        out.at[out.n++] = n;
    }
    return out;
}

/* Where the pod's spec is written: "spec.tfReplicaSpecs.Worker.template.spec". */
static str where(struct arena *a, const struct run_job *j, jv pod)
{
    str role = jv_str(jv_get(meta_labels(pod), S(LABEL_ROLE)), STR_NONE);

    if (!j->kind)
        return S("spec");
    JV_EACH (it, jv_at(jdoc_root(j->obj), "spec", j->kind->specs))
        if (it.key.n == role.n && strncasecmp(it.key.p, role.p, role.n) == 0)
            return arena_printf(a, "spec.%s.%" PRI_STR ".template.spec", j->kind->specs,
                                STR_ARG(it.key));
    return arena_printf(a, "spec.%s", j->kind->specs);
}

/* Replicas that an elastic job can do without. */
static int64_t spare(const struct run_job *j)
{
    int64_t least = jv_int(jv_at(jdoc_root(j->obj), "spec", "elasticPolicy", "minReplicas"), -1);

    return least >= 0 && least < j->wanted ? j->wanted - least : 0;
}

/* Of a job that has no pods yet. In our own cluster nobody else makes a Queue. */
static str why_held_for_ever(struct arena *a, const struct run_pending *p, const struct run_job *j)
{
    str held = run_job_held(j);

    if (p->r->embedded && str_starts(held, S("queue \"")) && str_ends(held, S("\" not found")))
        return arena_printf(a,
                            "%" PRI_STR ": add the Queue to the files, or remove "
                            "spec.runPolicy.schedulingPolicy.queue",
                            STR_ARG(held));
    return why_sentence_is_never(held)
               ? arena_printf(a,
                              "%" PRI_STR ": lower what its replicas ask for, or how many they are",
                              STR_ARG(held))
               : STR_NONE;
}

/* Why the job cannot start; empty: it can, or may. */
static str why_never(struct arena *a, const struct run_pending *p, const struct run_job *j)
{
    struct nodes nodes = read_nodes(a, p);
    struct chance_out worst = { 0 };
    str who = STR_NONE;
    int64_t n = 0;

    MAP_EACH (slot, &p->pods) {
        const struct waiting_pod *w = slot->value;
        jv pod = jdoc_root(w->pod);
        if (w->job != j)
            continue;
        struct chance_in in = { .pod = pod,
                                .nodes = nodes.at,
                                .n_nodes = nodes.n,
                                .own = p->r->embedded,
                                .made = p->r->made.n > 0,
                                .mount_failure = str_of(w->mount_failure ? w->mount_failure : ""),
                                .where = where(a, j, pod) };
        struct chance_out one = chance_of(a, &in);
        if (one.chance != CHANCE_NEVER)
            continue;
        str name = run_pod_replica(a, j, pod);
        if (!n++ || str_cmp(name, who) < 0) { /* the same one each time */
            who = name;
            worst = one;
        }
    }
    if (!n)
        return why_held_for_ever(a, p, j);
    if (n <= spare(j))
        return STR_NONE;
    str more = n > 1 ? arena_printf(a, " (and %lld more)", (long long)(n - 1)) : STR_NONE;
    return arena_printf(a, "%" PRI_STR "%" PRI_STR " %" PRI_STR ": %" PRI_STR, STR_ARG(who),
                        STR_ARG(more), STR_ARG(worst.what), STR_ARG(worst.help));
}

/* Why the job will never be over; empty: it will, or may. The operator has seen all replicas
 * succeed, and none has a role that decides the end (a TFJob without Chief, Master and Worker). */
static str why_endless(const struct run_job *j)
{
    int64_t n = 0;

    JV_EACH (it, jv_at(jdoc_root(j->obj), "status", "replicaStatuses"))
        n += jv_int(jv_at(it.value, "succeeded"), 0);
    return j->kind && j->wanted > 0 && n >= j->wanted
               ? S("all its replicas have succeeded, but none has a role that decides how the job "
                   "ends: give it such a role")
               : STR_NONE;
}

static bool has_ended_replicas(const struct run_job *j)
{
    for (size_t i = 0; i < j->replicas.n; i++)
        if (!j->replicas.at[i].over)
            return false;
    return j->kind && j->replicas.n > 0;
}

/* ---- giving up */

/* Others may go on, and need what its replicas hold. */
static void stop_job(struct run *r, struct run_job *j)
{
    struct ask q = { .req = { .verb = KUBE_DELETE,
                              .res = j->kind ? j->kind->planner.res : &kube_pods,
                              .ns = j->ns,
                              .name = j->name } };

    if (!j->created || r->f->keep || run_state_is_over(&r->state))
        return;
    j->stopping = true;
    session_ask(&r->s, &q, 1);
}

static void look_at_job(struct run_pending *p, struct run_job *j)
{
    AUTO(arena) struct arena *a = arena_new();
    struct run *r = p->r;
    str why = j->over ? STR_NONE : why_never(a, p, j);
    bool starts = !why.n;
    int64_t now = loop_now_ms(r->s.loop);
    int64_t *since = map_get(&p->since, j->uid);

    if (starts && !j->over)
        why = why_endless(j);
    if (!why.n) {
        if (!j->over && has_ended_replicas(j))
            look_soon(p, STATUS_MS); /* the status of the job comes after its last pod's */
        free(map_remove(&p->since, j->uid));
        return;
    }
    if (!since) {
        since = mem_new(sizeof(*since));
        *since = now;
        map_put(&p->since, j->uid, since);
    }
    int64_t left = *since + r->f->pending_ms - now;
    if (left > 0) {
        look_soon(p, left);
        return;
    }
    run_job_give_up(j, arena_str(r->a, why), wall_now_ms());
    if (!run_state_is_over(&r->state)) /* else the summary says it at once */
        screen_say(r->screen,
                   arena_printf(r->a, "muster: %" PRI_STR " cannot %s: %" PRI_STR "\n",
                                STR_ARG(j->title), starts ? "end" : "start", STR_ARG(j->given_up)));
    stop_job(r, j);
}

void run_pending_check(struct run *r)
{
    if (!r->pending || !r->pending->due)
        return;
    r->pending->due = false;
    for (size_t i = 0; i < r->state.jobs.n; i++)
        look_at_job(r->pending, r->state.jobs.at[i]);
}

/* ---- from start to end */

void run_pending_start(struct run *r, struct follow_opts *f)
{
    if (!r->f->pending_ms)
        return;
    struct run_pending *p = r->pending = mem_new(sizeof(*p));
    struct track_opts o = { .res = &kube_nodes, .on_event = on_node, .ctx = p };
    p->r = r;
    p->track = track_start(&r->s, &o);
    f->on_job = on_job;
    f->on_pod = on_pod;
    f->on_warning = on_warning;
    f->ctx = p;
}

void run_pending_end(struct run *r)
{
    struct run_pending *p = TAKE(r->pending);

    if (!p)
        return;
    track_stop(p->track);
    loop_timer_stop(p->timer);
    MAP_EACH (slot, &p->pods)
        drop_pod(p, slot->key);
    MAP_EACH (slot, &p->nodes)
        jdoc_unref(slot->value);
    MAP_EACH (slot, &p->since)
        free(slot->value);
    map_done(&p->pods);
    map_done(&p->nodes);
    map_done(&p->since);
    free(p);
}
