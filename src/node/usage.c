/* Who asks for usage, and when it is read. A sample stays until the next one: whoever asks again
 * within a minute gets the rate since the last time; otherwise two samples are taken, a second
 * apart. So there is no timer while nobody asks. */

#include "node/usage.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/watchdog.h"
#include "node/internal.h"

#include <uv.h>

enum {
    FRESH_MS = 2000,       /* so old may be what is told */
    APART_MS = 1000,       /* between two samples for one question */
    WINDOW_MS = 60 * 1000, /* a longer one says little of the present */
};

struct waiter {
    node_usage_done *done;
    void *arg;
};

struct usage_look {
    uv_work_t work;
    struct usage *u; /* NULL: gone meanwhile */
    char *root;
    struct usage_sample *sample;
};

struct usage {
    struct node *n;
    struct usage_look *looking;
    struct loop_timer *again;
    struct usage_sample *last;
    struct jdoc *report; /* up to the last sample; NULL: none, or it lacks new containers */
    bool waited;         /* for containers that have just started */
    struct {
        VEC(struct waiter);
    } waiters;
};

static const char *own_group(struct arena *a, jv dir, str container)
{
    if (!jv_is(dir, JV_STR))
        return NULL;
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(jv_str(dir, S(""))),
                        STR_ARG(container))
        .p;
}

static void add_pod(struct usage_sample *s, const struct pod *p)
{
    struct arena *a = s->a;
    jv pod = jdoc_root(p->doc);
    jv groups = pod_cgroup(a, p);
    bool shared = jv_bool(jv_at(groups, "flat"), false); /* by all containers of the pod */
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(meta_namespace(pod)),
                           STR_ARG(meta_name(pod)));

    for (size_t i = 0; i < p->life->n; i++) {
        const struct life_container *c = &p->life->at[i];
        if (c->state != LIFE_RUNNING || c->pid <= 0)
            continue;
        struct usage_container x = { .pod = key,
                                     .uid = arena_str(a, str_of(p->uid)),
                                     .name = arena_str(a, c->name),
                                     .attempt = c->attempt,
                                     .started_ms = c->started_ms,
                                     .main = (pid_t)c->pid };
        if (!shared) {
            x.group2 = own_group(a, jv_at(groups, "v2"), c->name);
            x.cpu1 = own_group(a, jv_at(groups, "v1", "cpu"), c->name);
            x.memory1 = own_group(a, jv_at(groups, "v1", "memory"), c->name);
        }
        vec_push(s, x);
    }
}

static int by_name(const void *x, const void *y)
{
    const struct pod *const *a = x, *const *b = y;
    jv one = jdoc_root((*a)->doc), two = jdoc_root((*b)->doc);
    int c = str_cmp(meta_namespace(one), meta_namespace(two));

    return c ? c : str_cmp(meta_name(one), meta_name(two));
}

static struct usage_sample *sample_new(struct node *n)
{
    struct usage_sample *s = mem_new(sizeof(*s));
    struct pod **pods = mem_array(n->pods.n + 1, sizeof(struct pod *));
    size_t many = 0;

    s->a = arena_new();
    MAP_EACH (slot, &n->pods) {
        struct pod *p = slot->value;
        if (p->rt && !p->adopting && !p->vanished)
            pods[many++] = p;
    }
    qsort(pods, many, sizeof(struct pod *), by_name);
    for (size_t i = 0; i < many; i++)
        add_pod(s, pods[i]);
    free(pods);
    return s;
}

static void tell_all(struct usage *u, jv usage, const struct err *e)
{
    while (u->waiters.n) {
        struct waiter w = u->waiters.at[--u->waiters.n];
        w.done(w.arg, usage, e);
    }
}

static void look_start(struct usage *u);

static void on_again(void *arg)
{
    struct usage *u = arg;

    loop_timer_stop(TAKE(u->again));
    look_start(u);
}

static void take(struct usage *u, struct usage_sample *now)
{
    struct usage_sample *before = u->last;
    int64_t ms = before ? now->tick_ms - before->tick_ms : 0;

    u->last = now;
    jdoc_unref(TAKE(u->report));
    bool early = !u->waited && before && usage_is_early(before, now);
    if (ms >= APART_MS / 2 && ms <= WINDOW_MS && !early) {
        struct arena *a = arena_new();
        jv report = usage_report(a, before, now);
        u->report = jdoc_of(a, jv_with(a, report, jstr(a, u->n->o.name), "node"));
    }
    usage_sample_free(before);
    u->waited = !u->report;
    if (u->report)
        tell_all(u, jdoc_root(u->report), NULL);
    else
        u->again = loop_timer_start(u->n->o.loop, APART_MS, 0, on_again, u);
}

static void look_free(struct usage_look *l)
{
    usage_sample_free(l->sample);
    free(l->root);
    free(l);
}

static void look(uv_work_t *w)
{
    struct usage_look *l = w->data;

    usage_read(l->sample, l->root);
}

static void on_looked(uv_work_t *w, int status)
{
    LOOP_TURN();
    struct usage_look *l = w->data;
    struct usage *u = l->u;

    (void)status;
    if (u) {
        u->looking = NULL;
        take(u, TAKE(l->sample));
    }
    look_free(l);
}

static void look_start(struct usage *u)
{
    struct usage_look *l = mem_new(sizeof(*l));
    struct err e = { 0 };

    *l = (struct usage_look){ .u = u,
                              .root = mem_or_abort(strdup(u->n->o.root ? u->n->o.root : "")),
                              .sample = sample_new(u->n) };
    l->work.data = l;
    if (uv_queue_work(loop_uv(u->n->o.loop), &l->work, look, on_looked) == 0) {
        u->looking = l;
        return;
    }
    look_free(l);
    err_set(&e, ERR_UNAVAILABLE, "the node cannot measure usage now");
    tell_all(u, JV_ABSENT, &e);
}

void node_usage(struct node *n, node_usage_done *done, void *arg)
{
    struct err e = { 0 };

    if (n->ending) {
        err_set(&e, ERR_UNAVAILABLE, "the node is stopping");
        done(arg, JV_ABSENT, &e);
        return;
    }
    if (!n->usage) {
        n->usage = mem_new(sizeof(*n->usage));
        n->usage->n = n;
    }
    struct usage *u = n->usage;
    if (u->report && !u->looking && boot_now_ms() - u->last->tick_ms < FRESH_MS) {
        done(arg, jdoc_root(u->report), NULL);
        return;
    }
    vec_push(&u->waiters, (struct waiter){ done, arg });
    if (!u->looking && !u->again)
        look_start(u);
}

void usage_outdate(struct node *n)
{
    if (n->usage)
        jdoc_unref(TAKE(n->usage->report));
}

void usage_free(struct node *n)
{
    struct usage *u = TAKE(n->usage);
    struct err e = { 0 };

    if (!u)
        return;
    loop_timer_stop(u->again);
    if (u->looking)
        u->looking->u = NULL;
    err_set(&e, ERR_UNAVAILABLE, "the node is stopping");
    tell_all(u, JV_ABSENT, &e);
    vec_done(&u->waiters);
    usage_sample_free(u->last);
    jdoc_unref(u->report);
    free(u);
}
