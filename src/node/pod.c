/* One pod of the node: facts from the runtime and the server go into its life, what its life
 * decides is carried out. */

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "node/groups.h"
#include "node/internal.h"
#include "node/volumes.h"
#include "node/warden_record.h"
#include "plan/planner.h"
#include "sys/trash.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RETRY_MS = 1000, RETRY_MAX_MS = 60 * 1000, ROUNDS = 16 };

static const str lost_text = S_INIT("The node was restarted and the pod's processes were gone");

str node_pod_ip(const struct pod *p)
{
    if (jv_bool(jv_at(p->life->pod, "spec", "hostNetwork"), false))
        return p->n->o.host_ip;
    return str_of(p->life->ip);
}

void pod_event(struct pod *p, bool warning, const char *reason, str container, str message)
{
    struct node_event w = { .obj = jdoc_root(p->doc),
                            .res = &kube_pods,
                            .container = container,
                            .warning = warning,
                            .reason = reason,
                            .message = message };

    node_events_send(p->n->events, &w);
}

/* ---- coming and going */

static bool runtime_knows(const struct node *n, str uid)
{
    JV_EACH (it, jdoc_root(n->known))
        if (str_eq(jv_str(it.value, S("")), uid))
            return true;
    return false;
}

static bool anything_ran(const struct life *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].state == LIFE_RUNNING)
            return true;
    return l->ip[0] != '\0';
}

struct pod *pod_new(struct node *n, struct jdoc *doc)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod *p = mem_new(sizeof(*p));
    jv pod = jdoc_root(doc);
    struct runtime_sink sink = { .on_event = pod_on_runtime, .ctx = p };
    str uid = meta_uid(pod);

    p->n = n;
    p->uid = mem_or_abort(strndup(uid.p, uid.n));
    p->dir =
        mem_or_abort(strdup(arena_printf(a, "%" PRI_STR "/pods/%s", STR_ARG(n->o.data), p->uid).p));
    p->doc = jdoc_ref(doc);
    p->life = life_new(doc);
    map_put(&n->pods, str_of(p->uid), p);
    /* By the node before us, maybe. Should the sandbox be gone, nothing else would let go of it. */
    p->attached = !jv_bool(jv_at(pod, "spec", "hostNetwork"), false);
    if (runtime_knows(n, uid))
        p->rt = n->o.runtime->ops->adopt(n->o.runtime, uid, &sink);
    p->adopting = p->rt != NULL;
    if (p->rt)
        return p;
    if (!p->life->done && anything_ran(p->life))
        life_on_box_gone(p->life, node_now(n), S("NodeRestart"), lost_text);
    pod_reconcile(p, &out);
    return p;
}

void pod_free(struct pod *p)
{
    pod_asks_drop(p);
    pod_logs_look(p, true);
    loop_timer_stop(p->wake);
    loop_timer_stop(p->write_timer);
    p->named.seat = NULL; /* its file is still read */
    if (p->call)
        kube_cancel(p->n->o.api, p->call);
    if (p->rt)
        p->n->o.runtime->ops->drop(p->rt);
    p->rt = NULL;
    pod_execs_end(p);
    pod_tokens_free(p);
    map_remove(&p->n->pods, str_of(p->uid));
    life_free(p->life);
    jdoc_unref(p->doc);
    jdoc_unref(p->volumes);
    jdoc_unref(p->net);
    jdoc_unref(p->given);
    if (p->attaching)
        p->n->o.net->cancel(p->attaching);
    pod_volumes_stop(p);
    free(p->uid);
    free(p->dir);
    free(p);
}

void pod_detach(struct pod *p)
{
    const struct pod_network *net = p->n->o.net;

    if (p->attaching)
        net->cancel(TAKE(p->attaching));
    if (p->attached && net)
        net->detach(net->ctx, str_of(p->uid));
    p->attached = false;
}

/* What it held while it ran; its logs stay, its directory as long as its object. */
void pod_release(struct pod *p)
{
    names_detach(p->n->names, &p->named);
    pod_detach(p);
    devices_release(&p->n->gpus, str_of(p->uid));
    pod_tokens_free(p);
}

/* Those that no other pod has. */
static void remove_common(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();

    for (struct jv_iter it = jv_iter(p->volumes ? jdoc_root(p->volumes) : JV_ABSENT);
         p->n->common.p && jv_next(&it);) {
        str path = jv_str(jv_at(it.value, "path"), STR_NONE);
        bool used = !str_starts(path, p->n->common);
        for (struct map_slot *s = NULL; !used && (s = map_next(&p->n->pods, s));) {
            const struct pod *other = s->value;
            used = other != p && other->volumes && volumes_use(jdoc_root(other->volumes), path);
        }
        if (!used)
            tree_trash_put(p->n->trash, arena_z(a, path));
    }
    if (!p->n->common.p)
        return;
    /* What pods had that ended before our time is known to nobody: it goes with the last. */
    bool last = true;
    MAP_EACH (s, &p->n->pods)
        last &= s->value == p;
    if (last)
        tree_trash_put(p->n->trash, p->n->common.p);
    else
        rmdir(p->n->common.p);
}

/* `muster run` looks at the end what its pods have changed: of each name the last one's. */
static void keep_changes(const struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    str data = p->n->o.data, ns = meta_namespace(p->life->pod), name = meta_name(p->life->pod);
    const char *all = arena_printf(a, "%" PRI_STR "/" NODE_CHANGES, STR_ARG(data)).p;
    const char *to = arena_printf(a, "%s/%" PRI_STR "%s%" PRI_STR, all, STR_ARG(name),
                                  str_eqz(ns, "default") ? "" : "@",
                                  STR_ARG(str_eqz(ns, "default") ? S("") : ns))
                         .p;
    const char *from = arena_printf(a, "%s/over", p->dir).p;

    if (!p->n->o.ephemeral || access(from, F_OK) < 0)
        return;
    mkdir(all, 0700);
    tree_trash_put(p->n->trash, to);
    if (rename(from, to) < 0)
        log_warn("cannot keep the files that the pod changed", KVZ("error", strerror(errno)));
}

void pod_forget(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();

    groups_remove(groups_of_pod(a, p->n->o.groups, str_of(p->uid))); /* if its keeper was killed */
    remove_common(p);
    if (p->n->o.runtime->ops->forget)
        p->n->o.runtime->ops->forget(p->n->o.runtime, str_of(p->uid));
    keep_changes(p);
    tree_trash_put(p->n->trash, p->dir);
}

void pod_update(struct pod *p, struct jdoc *doc, struct jdoc *old)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    jv now = jdoc_root(doc), before = old ? jdoc_root(old) : JV_ABSENT;
    bool relabelled = !jv_equal(meta_labels(now), meta_labels(before)) ||
                      !jv_equal(meta_annotations(now), meta_annotations(before));

    jdoc_ref(doc);
    jdoc_unref(p->doc);
    p->doc = doc;
    life_update(p->life, doc);
    if (relabelled && p->volumes)
        pod_refresh_volumes(p, false);
    if (relabelled && p->rt)
        stall_watch(p);
    if (relabelled)
        names_changed(p->n->names, meta_namespace(now));
    if (!p->adopting)
        pod_reconcile(p, &out);
}

void pod_vanish(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };

    p->vanished = true;
    p->life->deleted = true;
    if (p->adopting)
        return;
    if (p->rt && p->life->box != LIFE_BOX_ENDING) { /* nobody waits for it any more */
        p->life->box = LIFE_BOX_ENDING;
        p->life->ending = true;
        p->n->o.runtime->ops->end(p->rt, 0);
        return;
    }
    pod_reconcile(p, &out);
}

void pod_retry(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };

    if (p->adopting)
        return;
    life_retry(p->life);
    pod_reconcile(p, &out);
}

/* ---- carrying out */

static void end_box(struct pod *p)
{
    if (p->rt) {
        p->n->o.runtime->ops->end(p->rt, 0);
    } else {
        p->box_waits = false; /* for its volumes, or for its network */
        pod_detach(p);
        life_on_box_gone(p->life, node_now(p->n), STR_NONE, STR_NONE);
    }
}

static void carry_out(struct pod *p, const struct life_action *act, struct life_out *out)
{
    const struct runtime_ops *rt = p->n->o.runtime->ops;

    switch (act->what) {
    case LIFE_SANDBOX:
        pod_sandbox(p);
        break;
    case LIFE_START:
        pod_start(p, act, out);
        break;
    case LIFE_HOOK:
    case LIFE_PROBE:
        pod_ask(p, act);
        break;
    case LIFE_SIGNAL:
        if (p->rt)
            rt->signal(p->rt, p->life->at[act->c].name, act->signo);
        break;
    case LIFE_END_BOX:
        end_box(p);
        break;
    case LIFE_REMOVE:
        p->remove = true;
        break;
    }
}

static void on_wake(void *arg)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod *p = arg;

    loop_timer_stop(p->wake);
    p->wake = NULL;
    pod_reconcile(p, &out);
}

static void arm(struct pod *p, int64_t at_ms)
{
    int64_t now = node_now(p->n);

    loop_timer_stop(p->wake);
    p->wake = NULL;
    if (at_ms != INT64_MAX)
        p->wake = loop_timer_start(p->n->o.loop, at_ms > now ? at_ms - now : 0, 0, on_wake, p);
}

void pod_reconcile(struct pod *p, struct life_out *out)
{
    int rounds = 0;

    if (p->n->ending)
        return;
    do { /* what is done may be known at once, and lead to more */
        life_step(p->life, node_now(p->n), out);
        for (size_t i = 0; i < out->acts.n; i++) {
            struct life_action act = out->acts.at[i];
            carry_out(p, &act, out);
        }
        bool more = out->acts.n > 0;
        out->acts.n = 0;
        for (size_t i = 0; i < out->tells.n; i++) {
            const struct life_tell *t = &out->tells.at[i];
            pod_event(p, t->warning, t->reason, t->container, t->message);
        }
        out->tells.n = 0;
        if (!more)
            break;
    } while (++rounds < ROUNDS);
    if (p->life->done && !p->rt)
        pod_release(p);
    if (p->vanished && p->life->done && !p->rt && !p->setup) {
        pod_forget(p);
        names_lost(p->n->names, &p->named, meta_namespace(jdoc_root(p->doc)));
        pod_free(p);
        return;
    }
    struct names_about about = pod_names_about(p);
    names_look(p->n->names, &p->named, &about);
    arm(p, out->wake_ms);
    pod_write(p);
}

/* ---- facts from the runtime */

static size_t index_of(struct pod *p, str name)
{
    struct life_container *c = life_find(p->life, name);

    return c ? (size_t)(c - p->life->at) : SIZE_MAX;
}

static void exited(struct pod *p, const struct runtime_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    size_t c = index_of(p, ev->container);
    struct life_exit x = {
        .at_ms = ev->at_ms, .code = ev->signo ? -1 : ev->code, .signo = ev->signo, .oom = ev->oom
    };

    if (c == SIZE_MAX)
        return;
    x.message = pod_last_words(a, p, &p->life->at[c], ev->oom || x.code != 0);
    life_on_exited(p->life, c, &x);
}

/* What a sandbox from before us knows of its containers. */
static void learn(struct pod *p, jv state)
{
    AUTO(arena) struct arena *a = arena_new();

    JV_EACH (it, jv_at(state, "containers")) {
        size_t c = index_of(p, it.key);
        int64_t ended = jv_int(jv_at(it.value, "finished_ms"), 0);
        int64_t signo = jv_int(jv_at(it.value, "signal"), 0);
        struct life_exit x = { .at_ms = ended,
                               .code = signo ? -1 : (int)jv_int(jv_at(it.value, "code"), 0),
                               .signo = (int)signo,
                               .oom = jv_bool(jv_at(it.value, "oom"), false) };
        if (c == SIZE_MAX)
            continue;
        if (jv_exists(jv_at(it.value, "lost"))) /* nobody saw its end: box_gone tells that */
            ended = 0;
        if (jv_is(jv_at(it.value, "failed"), JV_STR))
            x.code = 128; /* as kubelet has it of what could not be started */
        if (ended)
            x.message = pod_last_words(a, p, &p->life->at[c], x.oom || x.code != 0);
        life_on_known(p->life, c, jv_int(jv_at(it.value, "attempt"), 0),
                      jv_int(jv_at(it.value, "started_ms"), 0), ended ? &x : NULL);
        p->life->at[c].pid = jv_int(jv_at(it.value, "pid"), 0);
    }
}

/* What it was given is in the file that its sandbox was made by. */
static void remember(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    jv box = warden_record_sandbox(a, p->dir);
    const struct pod_network *net = p->n->o.net;
    struct names_about about = pod_names_about(p);

    devices_mark(&p->n->gpus, str_of(p->uid), jv_at(box, "note", "devices"));
    if (net && net->adopt)
        net->adopt(net->ctx, str_of(p->uid), jv_at(box, "net"));
    names_adopt(p->n->names, &p->named, &about, jv_str(jv_at(box, "net", "ip"), S("")));
}

static void greeted(struct pod *p, const struct runtime_event *ev)
{
    str ip = jv_str(jv_at(ev->state, "ip"), jv_str(jv_at(p->life->pod, "status", "podIP"), S("")));

    if (p->adopting) {
        learn(p, ev->state);
        remember(p);
        pod_refresh_volumes(p, false);
        pod_open_again(p);
    }
    if (p->life->done) /* its end was written, and then the node died */
        p->n->o.runtime->ops->end(p->rt, 0);
    p->adopting = false;
    p->box_failures = 0;
    life_on_box_up(p->life, ip);
    evict_watch(p);
    stall_watch(p);
}

static void box_failed(struct pod *p, str why)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t wait = (int64_t)RETRY_MS << (p->box_failures < 6 ? p->box_failures : 6);

    p->box_failures++;
    pod_event(p, true, "FailedCreatePodSandBox", STR_NONE,
              arena_printf(a, "Failed to create pod sandbox: %" PRI_STR, STR_ARG(why)));
    p->n->o.runtime->ops->drop(p->rt);
    p->rt = NULL;
    devices_release(&p->n->gpus, str_of(p->uid)); /* it may be one of them that others use */
    life_on_box_failed(p->life, node_now(p->n) + (wait < RETRY_MAX_MS ? wait : RETRY_MAX_MS));
}

static void box_gone(struct pod *p, const struct runtime_event *ev)
{
    bool before_us = p->adopting;
    str message = ev->why.n ? ev->why : before_us ? lost_text : S("The pod's sandbox died");

    if (before_us)
        learn(p, ev->state);
    /* All was over, and the node before us had it cleared away, but died before it said so. */
    if (before_us && jv_bool(jv_at(ev->state, "idle"), false) && life_is_over(p->life))
        p->life->box = LIFE_BOX_ENDING;
    p->adopting = false;
    pod_release(p); /* a new sandbox asks anew */
    p->n->o.runtime->ops->drop(p->rt);
    p->rt = NULL;
    pod_asks_drop(p);
    life_on_box_gone(p->life, node_now(p->n), before_us ? S("NodeRestart") : S("SandboxLost"),
                     message);
}

static void start_failed(struct pod *p, size_t c, str why)
{
    AUTO(arena) struct arena *a = arena_new();
    bool mount = str_starts(why, S("VolumeMountUnsupported: "));

    pod_event(p, true, "Failed", p->life->at[c].name,
              arena_printf(a, "Error: %" PRI_STR, STR_ARG(why)));
    life_on_failed(p->life, c, 128, mount ? S("VolumeMountUnsupported") : S("StartError"), why,
                   node_now(p->n));
}

void pod_on_runtime(void *ctx, const struct runtime_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod *p = ctx;
    size_t c = index_of(p, ev->container);

    if (p->n->ending) {
        pod_on_ending(p, ev);
        return;
    }
    switch (ev->what) {
    case RUNTIME_HELLO:
        greeted(p, ev);
        break;
    case RUNTIME_STARTED:
        if (c != SIZE_MAX) {
            life_on_started(p->life, c, ev->at_ms, &out);
            p->life->at[c].pid = ev->pid;
            usage_outdate(p->n);
        }
        break;
    case RUNTIME_EXITED:
        exited(p, ev);
        break;
    case RUNTIME_FAILED:
        if (!ev->container.n) {
            box_failed(p, ev->why);
        } else if (c != SIZE_MAX) {
            start_failed(p, c, ev->why);
        }
        break;
    case RUNTIME_EXEC_EXITED:
        pod_answered(p, ev->id, ev->code, ev->out);
        return;
    case RUNTIME_GONE:
        box_gone(p, ev);
        break;
    }
    pod_logs_look(p, false);
    if (p->vanished && p->rt && p->life->box != LIFE_BOX_ENDING) {
        pod_vanish(p);
        return;
    }
    pod_reconcile(p, &out);
}
