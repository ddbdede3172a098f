/* The table of jobs, and its rows as they change. */

#include "cli/get.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/exits.h"
#include "cli/pods.h"
#include "cli/track.h"
#include "loop/loop.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MANY_KINDS = 16 };

/* waits: with a column for what jobs wait for, the last one. */
static void start_table(struct table *t, struct arena *a, const struct get_flags *f, bool waits)
{
    table_init(t, a, f->all ? "NAMESPACE" : "");
    t->bare = f->bare;
    static const char *const names[] = { "NAME",   "STATE",    "RUNNING",   "SUCCEEDED",
                                         "FAILED", "RESTARTS", "LAST EXIT", "AGE" };
    for (size_t i = 0; i < COUNT(names); i++)
        table_column(t, str_of(names[i]));
    if (get_form(f) == FORM_WIDE) {
        table_column(t, S("DURATION"));
        table_column(t, S("REASON"));
    }
    if (waits)
        table_column(t, S("WAITING FOR"));
}

static str duration_of(struct arena *a, jv obj, int64_t now_ms)
{
    int64_t from = job_time(jv_at(obj, "status", "startTime"));
    int64_t to = job_time(jv_at(obj, "status", "completionTime"));

    if (from < 0)
        return S("<none>");
    to = to < 0 ? now_ms : to;
    return age_text(a, to > from ? to - from : 0);
}

/* Returns how many cells there are. */
static size_t fill_row(struct arena *a, const struct get_flags *f, const struct job_found *j,
                       const struct job_sum *sum, str *cells)
{
    size_t n = 0;
    int64_t now = wall_now_ms();

    if (f->all)
        cells[n++] = meta_namespace(j->obj);
    cells[n++] = job_title(a, j->kind, j->obj);
    cells[n++] = sum->state;
    cells[n++] = arena_printf(a, "%" PRId64 "/%" PRId64, sum->running, sum->wanted);
    cells[n++] = arena_printf(a, "%" PRId64, sum->succeeded);
    cells[n++] = arena_printf(a, "%" PRId64, sum->failed);
    cells[n++] = sum->restarts < 0 ? S("?") : arena_printf(a, "%" PRId64, sum->restarts);
    cells[n++] = sum->exit.at_ms < 0 ? S("-") : exit_text(a, sum->exit.code, sum->exit.reason);
    cells[n++] = age_since(a, jv_at(j->obj, "metadata", "creationTimestamp"), now);
    if (get_form(f) == FORM_WIDE) {
        str reason = jv_str(jv_at(sum->condition, "reason"), STR_NONE);
        cells[n++] = duration_of(a, j->obj, now);
        cells[n++] = reason.n ? reason : S("<none>");
    }
    cells[n++] = sum->waiting.n ? sum->waiting : S("-");
    return n;
}

static int print_table(struct session *s, const struct get_flags *f, const struct jobs *jobs,
                       jv pods)
{
    AUTO(buf) struct buf b = { 0 };
    struct job_sum *sums = ARENA_ARRAY(s->a, struct job_sum, jobs->n + 1);
    struct table t;
    bool waits = false;

    for (size_t i = 0; i < jobs->n; i++) {
        sums[i] = job_sum(s->a, &jobs->at[i], pods);
        waits = waits || sums[i].waiting.n;
    }
    start_table(&t, s->a, f, waits);
    for (size_t i = 0; i < jobs->n; i++) {
        str cells[TABLE_COLUMNS];
        fill_row(s->a, f, &jobs->at[i], &sums[i], cells);
        table_add(&t, cells);
    }
    table_print(&t, &b);
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int print_jobs(struct session *s, const struct get_flags *f, const struct jobs *jobs,
                      bool list)
{
    struct jbuild items = jb_arr(s->a);
    jv pods = JV_ABSENT;

    if (get_form(f) <= FORM_WIDE) {
        int code = jobs->n ? jobs_pods(s, f->all ? STR_NONE : s->ns,
                                       jobs->n == 1 ? meta_name(jobs->at[0].obj) : STR_NONE, &pods)
                           : -1;
        return code >= 0 ? code : print_table(s, f, jobs, pods);
    }
    for (size_t i = 0; i < jobs->n; i++)
        jb_push(&items, get_typed(s->a, jobs->at[i].kind->planner.res, jobs->at[i].obj));
    return get_print_objects(s, get_form(f), jb_done(&items), list);
}

int get_these_jobs(struct session *s, const struct get_flags *f, const struct jobs *jobs)
{
    return print_jobs(s, f, jobs, jobs->n != 1);
}

/* ---- watching */

struct pod_seen {
    char uid[40];
    char owner[40];
    int64_t restarts;
    bool running;
    struct pod_exit exit;
    char exit_reason[64];
    char *waiting; /* for that; NULL: it does not */
};

struct job_seen {
    const struct job_kind *kind;
    struct jdoc *doc;
    str last; /* what was printed, without ages; owned */
    bool gone;
};

struct job_watch {
    struct session *s;
    const struct get_flags *f;
    struct table table;
    struct map jobs; /* by uid, which is in the doc */
    struct map pods;
    struct track *follows[MANY_KINDS + 1];
    size_t n;
    bool ready; /* the pods are known */
    bool over;
};

struct kind_watch {
    struct job_watch *w;
    const struct job_kind *kind;
};

static void add_pods(const struct job_watch *w, str uid, struct job_sum *sum)
{
    MAP_EACH (slot, &w->pods) {
        const struct pod_seen *p = slot->value;
        if (!str_eqz(uid, p->owner))
            continue;
        sum->restarts += p->restarts;
        sum->running += p->running;
        if (p->exit.at_ms > sum->exit.at_ms)
            sum->exit = p->exit;
        if (p->waiting)
            job_sum_waits(sum, str_of(p->waiting));
    }
}

static void show(struct job_watch *w, struct job_seen *j)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    AUTO(buf) struct buf said = { 0 };
    struct job_found found = { j->kind, jdoc_root(j->doc) };
    struct job_sum sum = job_sum(a, &found, JV_EMPTY_ARR);
    str cells[TABLE_COLUMNS];
    size_t ages = w->f->all ? 8 : 7;

    if (!w->ready)
        return; /* pods come first, so that no number is told that was never true */
    add_pods(w, meta_uid(found.obj), &sum);
    if (j->gone)
        sum.state = S("Deleted");
    size_t n = fill_row(a, w->f, &found, &sum, cells);
    for (size_t i = 0; i < n; i++)
        if (i != ages && !(get_form(w->f) == FORM_WIDE && i == ages + 1))
            buf_printf(&said, "%" PRI_STR "|", STR_ARG(cells[i]));
    if (str_eq(j->last, buf_str(&said)))
        return;
    free((void *)(uintptr_t)j->last.p);
    j->last = buf_str(&said);
    said = (struct buf){ 0 };
    w->table.a = a;
    table_add(&w->table, cells);
    table_print(&w->table, &b);
    w->table.rows = NULL;
    w->table.cap = 0;
    if (command_print(buf_str(&b)) < 0)
        w->over = true;
}

static void forget(struct job_watch *w, str uid)
{
    struct job_seen *j = map_remove(&w->jobs, uid);

    if (!j)
        return;
    free((void *)(uintptr_t)j->last.p);
    jdoc_unref(j->doc);
    free(j);
}

static void on_job(void *ctx, enum kube_event type, jv obj)
{
    struct kind_watch *k = ctx;
    struct job_watch *w = k->w;
    struct job_seen *j = map_get(&w->jobs, meta_uid(obj));
    struct arena *a = arena_new();
    struct jdoc *doc = jdoc_of(a, jv_copy(a, obj));

    if (!j) {
        j = mem_new(sizeof(*j));
        j->kind = k->kind;
    }
    map_remove(&w->jobs, meta_uid(obj)); /* its key is in the old document */
    jdoc_unref(j->doc);
    j->doc = doc;
    map_put(&w->jobs, meta_uid(jdoc_root(doc)), j);
    j->gone = type == KUBE_DELETED && !w->f->labels; /* with labels: or it has others now */
    show(w, j);
    if (type == KUBE_DELETED)
        forget(w, meta_uid(obj));
}

static void copy_text(char *to, size_t size, str s)
{
    size_t n = s.n < size ? s.n : size - 1;

    memcpy(to, s.p ? s.p : "", n);
    to[n] = 0;
}

static void show_job(struct job_watch *w, str uid)
{
    struct job_seen *j = map_get(&w->jobs, uid);

    if (j)
        show(w, j);
}

static void free_pod(struct pod_seen *p)
{
    if (p)
        free(p->waiting);
    free(p);
}

static void on_pod(void *ctx, enum kube_event type, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    struct job_watch *w = ctx;
    struct pod_seen *p = map_get(&w->pods, meta_uid(obj));
    str owner = jv_str(jv_at(meta_controller(obj), "uid"), S(""));

    if (type == KUBE_DELETED) {
        free_pod(map_remove(&w->pods, meta_uid(obj)));
        show_job(w, owner);
        return;
    }
    if (!p) {
        p = mem_new(sizeof(*p));
        copy_text(p->uid, sizeof(p->uid), meta_uid(obj));
        copy_text(p->owner, sizeof(p->owner), owner);
        map_put(&w->pods, str_of(p->uid), p);
    }
    p->restarts = pod_restarts(obj);
    p->running = str_eqz(pod_state(a, obj).state, "Running");
    p->exit = (struct pod_exit){ .at_ms = -1 };
    pod_last_exit(obj, &p->exit);
    copy_text(p->exit_reason, sizeof(p->exit_reason), p->exit.reason);
    p->exit.reason = str_of(p->exit_reason);
    str waiting = pod_waiting_for(a, obj);
    free(p->waiting);
    p->waiting = waiting.n ? mem_or_abort(strndup(waiting.p, waiting.n)) : NULL;
    show_job(w, owner);
}

static int by_title(const void *x, const void *y)
{
    const struct job_seen *const *a = x, *const *b = y;
    jv left = jdoc_root((*a)->doc), right = jdoc_root((*b)->doc);
    int d = str_cmp(meta_namespace(left), meta_namespace(right));

    return d ? d : str_cmp(meta_name(left), meta_name(right));
}

static void on_pods_listed(void *ctx)
{
    AUTO(arena) struct arena *a = arena_new();
    struct job_watch *w = ctx;
    struct job_seen **all = ARENA_ARRAY(a, struct job_seen *, w->jobs.n + 1);
    size_t n = 0;

    w->ready = true;
    MAP_EACH (slot, &w->jobs)
        all[n++] = slot->value;
    qsort(all, n, sizeof(*all), by_title);
    for (size_t i = 0; i < n; i++)
        show(w, all[i]);
}

static int watch_failed(struct job_watch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct ask *q = track_failed(w->follows[i]);
        if (q && q->status != 404) /* a kind that is not served has no jobs */
            return session_fail(w->s, q, "watch jobs");
    }
    return -1;
}

static void end_watch(struct job_watch *w)
{
    for (size_t i = 0; i < w->n; i++)
        track_stop(w->follows[i]);
    MAP_EACH (slot, &w->jobs) {
        struct job_seen *j = slot->value;
        free((void *)(uintptr_t)j->last.p);
        jdoc_unref(j->doc);
        free(j);
    }
    MAP_EACH (slot, &w->pods)
        free_pod(slot->value);
    map_done(&w->jobs);
    map_done(&w->pods);
}

static int watch_jobs(struct session *s, const struct get_flags *f, const struct job_kind *only,
                      str name)
{
    struct job_watch w = { .s = s, .f = f };
    struct kind_watch kinds[MANY_KINDS];
    int code = -1;
    str ns = f->all ? STR_NONE : s->ns;

    start_table(&w.table, s->a, f, true);
    w.table.widths[f->all ? 2 : 1] =
        sizeof("Terminating") - 1; /* so that later lines do not shift */
    struct track_opts pods = { .res = &kube_pods,
                               .ns = ns,
                               .labels = S(LABEL_JOB),
                               .on_event = on_pod,
                               .on_listed = on_pods_listed,
                               .ctx = &w };
    w.follows[w.n++] = track_start(s, &pods);
    for (size_t i = 0; i < MANY_KINDS && job_kind_at(i); i++) {
        if (only && only != job_kind_at(i))
            continue;
        kinds[i] = (struct kind_watch){ &w, job_kind_at(i) };
        struct track_opts o = { .res = job_kind_at(i)->planner.res,
                                .ns = ns,
                                .name = name,
                                .labels = str_of(f->labels),
                                .on_event = on_job,
                                .ctx = &kinds[i] };
        w.follows[w.n++] = track_start(s, &o);
    }
    while (!w.over && !s->interrupted && code < 0) {
        loop_turn(s->loop);
        code = watch_failed(&w);
    }
    end_watch(&w);
    return s->interrupted ? EXIT_INTERRUPTED : code < 0 ? EXIT_FAILED : code;
}

int get_jobs(struct session *s, const struct get_flags *f, const struct job_kind *only, str name)
{
    struct jobs jobs;
    int code;

    if (f->watch && get_form(f) <= FORM_WIDE)
        return watch_jobs(s, f, only, name);
    code = jobs_list(s, only, f->all ? STR_NONE : s->ns, str_of(f->labels), &jobs);
    if (code >= 0)
        return code;
    if (!jobs.n && get_form(f) <= FORM_WIDE) {
        if (f->all)
            command_note("there are no jobs");
        else
            command_note("there are no jobs in namespace %" PRI_STR, STR_ARG(s->ns));
        return EXIT_DONE;
    }
    return print_jobs(s, f, &jobs, true);
}
