/* Looks at watched pods every so often, in a thread of the pool, while there is one. */

#include "node/stall.h"

#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"
#include "loop/watchdog.h"
#include "node/internal.h"
#include "plan/planner.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum { WHERE_BYTES = 400 };

struct watched_run { /* of a container */
    str container;
    int64_t attempt;
};

struct watched {
    str uid;
    int64_t after_ms;
    struct stall_mark mark;
    struct stall_count count;
    pid_t main; /* the first process of a container; 0: none runs */
    struct jdoc *pod;
    struct {
        VEC(struct watched_run);
    } runs;
    enum stall_news news;
    str where; /* of STALL_BEGAN */
};

struct stall_look {
    uv_work_t work;
    struct node *n; /* NULL: gone meanwhile */
    struct arena *a;
    char *root;
    str data; /* of the node */
    int64_t now_ms;
    struct stall_view view; /* the names of pods */
    struct {
        VEC(struct watched);
    } pods;
};

/* ---- in a thread of the pool */

/* Finding a log reads files, too. */
static void add_output(struct stall_look *l, struct watched *w, const struct watched_run *r)
{
    str log = node_log_path(l->a, l->data, jdoc_root(w->pod), r->container, r->attempt);
    struct stat st;
    char text[128];

    if (!log.n || stat(arena_z(l->a, log), &st) < 0)
        return;
    snprintf(text, sizeof(text), "%llu/%lld", (unsigned long long)st.st_ino, (long long)st.st_size);
    w->count.output = w->count.output * 31 + str_hash(str_of(text));
}

static void read_cpu(struct stall_look *l, const struct process_table *t)
{
    pid_t *roots = mem_array(l->pods.n, sizeof(*roots));
    struct process_sum *sums = mem_array(l->pods.n, sizeof(*sums));

    for (size_t i = 0; i < l->pods.n; i++)
        roots[i] = stall_root(t, l->pods.at[i].main);
    process_table_sum(t, roots, sums, l->pods.n);
    for (size_t i = 0; i < l->pods.n; i++)
        l->pods.at[i].count.cpu_ms = sums[i].cpu_ticks * 1000 / sysconf(_SC_CLK_TCK);
    free(roots);
    free(sums);
}

static str where(struct stall_look *l, int proc, const struct process_table *t, pid_t main)
{
    struct stall_view v = { .tcp = STR_NONE };

    stall_read(l->a, proc, t, main, &v);
    v.names.at = l->view.names.at;
    v.names.n = l->view.names.n;
    str text = stall_where(l->a, &v);
    vec_done(&v.processes);
    return text;
}

static void look(uv_work_t *work)
{
    struct stall_look *l = work->data;
    struct process_table t = { 0 };
    char dir[PATH_MAX];

    snprintf(dir, sizeof(dir), "%s/proc", l->root);
    AUTO(sys_fd) int proc = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return;
    process_table_read(&t, proc);
    read_cpu(l, &t);
    for (size_t i = 0; i < l->pods.n; i++) {
        struct watched *w = &l->pods.at[i];
        for (size_t k = 0; k < w->runs.n; k++)
            add_output(l, w, &w->runs.at[k]);
        w->news = stall_see(&w->mark, &w->count, w->after_ms, l->now_ms);
        if (w->news == STALL_BEGAN)
            w->where = where(l, proc, &t, w->main);
    }
    vec_done(&t);
}

/* ---- on the loop */

static void look_free(struct stall_look *l)
{
    for (size_t i = 0; i < l->pods.n; i++) {
        vec_done(&l->pods.at[i].runs);
        jdoc_unref(l->pods.at[i].pod);
    }
    vec_done(&l->pods);
    stall_view_done(&l->view);
    arena_free(l->a);
    free(l->root);
    free(l);
}

static void take_news(struct pod *p, const struct watched *w)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct buf *message = &p->life->stall_message;

    p->life->stalled = w->news == STALL_BEGAN;
    buf_clear(message);
    buf_printf(message, "No output and no CPU use since %" PRI_STR,
               STR_ARG(time_text(a, w->mark.since_ms)));
    if (w->where.n) {
        buf_add(message, S(": "));
        buf_add_utf8(message, str_clip(w->where, WHERE_BYTES)); /* a process names itself */
    }
    if (p->life->stalled && jv_is_null(meta_controller(jdoc_root(p->doc))))
        pod_event(p, true, "Stalled", STR_NONE, buf_str(message)); /* a job has its own event */
    if (p->life->stalled)
        life_on_stalled(p->life, node_now(p->n), &out);
    pod_reconcile(p, &out); /* may free it */
}

static void on_time(void *arg);

static void look_in(struct node *n, int64_t ms)
{
    if (n->stalls || n->ending || (n->stall_timer && n->stall_step_ms <= ms))
        return;
    loop_timer_stop(n->stall_timer);
    n->stall_step_ms = ms;
    n->stall_timer = loop_timer_start(n->o.loop, ms, 0, on_time, n);
}

static void look_again(struct node *n)
{
    MAP_EACH (s, &n->pods) {
        const struct pod *p = s->value;
        if (p->stall_after_ms && !p->life->done)
            look_in(n, stall_step_ms(p->stall_after_ms));
    }
}

static void on_looked(uv_work_t *work, int status)
{
    LOOP_TURN();
    struct stall_look *l = work->data;
    struct node *n = l->n;

    if (n)
        n->stalls = NULL;
    for (size_t i = 0; n && status == 0 && i < l->pods.n; i++) {
        const struct watched *w = &l->pods.at[i];
        struct pod *p = map_get(&n->pods, w->uid);
        if (!p || p->adopting)
            continue;
        p->stall = w->mark;
        if (w->news != STALL_SAME)
            take_news(p, w);
    }
    if (n)
        look_again(n);
    look_free(l);
}

/* Sidecars and what `kubectl debug` starts say nothing of the pod's work. */
static bool counts(const struct life_container *c)
{
    return c->state == LIFE_RUNNING && c->pid > 0 && (c->kind == LIFE_MAIN || c->kind == LIFE_INIT);
}

static void add_pod(struct stall_look *l, const struct pod *p)
{
    struct watched w = { .uid = arena_str(l->a, str_of(p->uid)),
                         .after_ms = p->stall_after_ms,
                         .pod = jdoc_ref(p->doc),
                         .mark = p->stall };

    for (size_t i = 0; i < p->life->n; i++) {
        const struct life_container *c = &p->life->at[i];
        w.count.runs = w.count.runs * 31 + (counts(c) ? (uint64_t)c->attempt + 1 : 0);
        if (!counts(c))
            continue;
        w.main = (pid_t)c->pid;
        vec_push(&w.runs, (struct watched_run){ arena_str(l->a, c->name), c->attempt });
    }
    /* Between two runs nothing can make progress: the time counts anew. */
    if (!w.main)
        w.mark.began = false;
    vec_push(&l->pods, w);
}

static void add_name(struct stall_look *l, const struct pod *p)
{
    str ip = p->rt ? node_pod_ip(p) : S("");

    if (ip.n && !p->life->done)
        vec_push(&l->view.names,
                 (struct stall_name){ arena_str(l->a, ip),
                                      arena_str(l->a, meta_name(jdoc_root(p->doc))) });
}

static void on_time(void *arg)
{
    struct node *n = arg;
    struct stall_look *l = mem_new(sizeof(*l));

    loop_timer_stop(TAKE(n->stall_timer));
    *l = (struct stall_look){ .n = n,
                              .a = arena_new(),
                              .root = mem_or_abort(strdup(n->o.root ? n->o.root : "")),
                              .now_ms = node_now(n) };
    l->data = arena_str(l->a, n->o.data);
    l->work.data = l;
    MAP_EACH (s, &n->pods) {
        const struct pod *p = s->value;
        int64_t step = stall_step_ms(p->stall_after_ms);
        add_name(l, p);
        if (p->stall_after_ms && !p->life->done && !p->adopting &&
            (!p->stall.began || l->now_ms - p->stall.looked_ms >= step - step / 4))
            add_pod(l, p);
    }
    if (l->pods.n && uv_queue_work(loop_uv(n->o.loop), &l->work, look, on_looked) == 0) {
        n->stalls = l;
        return;
    }
    look_free(l);
    look_again(n);
}

static str annotation_problem(struct arena *a, jv pod)
{
    str text = jv_str(jv_get(meta_annotations(pod), S(POD_STALL_AFTER)), S("0"));
    int64_t ns;

    if (duration_parse(text, &ns, NULL) == 0 && ns >= 0)
        return life_on_stall_problem(a, pod);
    return arena_printf(a,
                        POD_STALL_AFTER ": '%" PRI_STR
                                        "' is not a time such as 90s or 5m: the pod is not watched",
                        STR_ARG(str_clip(text, WHERE_BYTES)));
}

void stall_watch(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    str problem = annotation_problem(a, jdoc_root(p->doc));

    if (problem.n)
        pod_event(p, true, "InvalidAnnotation", STR_NONE, problem);
    p->stall_after_ms = stall_after_ms(jdoc_root(p->doc));
    if (!p->stall_after_ms) {
        p->life->stalled = false;
        p->stall = (struct stall_mark){ 0 };
    } else {
        look_in(p->n, stall_step_ms(p->stall_after_ms));
    }
}

void stall_free(struct node *n)
{
    loop_timer_stop(TAKE(n->stall_timer));
    if (n->stalls)
        n->stalls->n = NULL;
    n->stalls = NULL;
}
