/* Reading a container's log while it is written: woken by the directory's inotify events and by the
 * container's end, which comes after its last word was written. */

#include "node/logs.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/loop.h"
#include "loop/watchdog.h"
#include "node/internal.h"

#include <stdlib.h>
#include <uv.h>

enum { POLL_MS = 200 };

struct node_log {
    struct node_log *next; /* of its pod */
    struct pod *pod;       /* NULL: no more */
    struct node_log_opts o;
    struct logfile *file;
    char *container;
    char *base; /* the file's name */
    int64_t run;
    bool ends; /* nothing is written any more */
    bool watches;
    struct loop *loop;
    struct loop_timer *again;
    struct loop_timer *poll; /* NULL: changes are told */
    uv_fs_event_t changes;
};

/* ---- which run */

static jv status_of(jv status, str container)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
                                         "ephemeralContainerStatuses" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(status, lists[i]))
            if (str_eq(jv_str(jv_at(it.value, "name"), STR_NONE), container))
                return it.value;
    return JV_ABSENT;
}

/* The number at the end of its id; -1: it has none. */
static int64_t run_of(jv state)
{
    str id = jv_str(jv_at(state, "containerID"), STR_NONE);
    int64_t n = -1;

    if (!str_to_int(str_sub(id, (size_t)(str_rfind(id, '/') + 1), id.n), &n))
        return -1;
    return n;
}

/* kubelet's validateContainerLogStatus, word for word. */
static int64_t log_run_of(jv pod, jv status, str container, bool previous, struct err *e)
{
    jv c = status_of(status, container);
    jv last = jv_at(c, "lastState", "terminated"), state = jv_at(c, "state");
    str why = jv_str(jv_at(state, "waiting", "reason"), STR_NONE);
    str name = meta_name(pod);
    int64_t run = -1;

    if (!jv_exists(c))
        return err_set(e, ERR_BAD_REQUEST,
                       "container \"%" PRI_STR "\" in pod \"%" PRI_STR "\" is not available",
                       STR_ARG(container), STR_ARG(name));
    if (previous) {
        if (jv_is_null(last) || (run = run_of(last)) < 0)
            return err_set(e, ERR_BAD_REQUEST,
                           "previous terminated container \"%" PRI_STR "\" in pod \"%" PRI_STR
                           "\" not found",
                           STR_ARG(container), STR_ARG(name));
        return run;
    }
    if (!jv_is_null(jv_at(state, "running")))
        run = run_of(c);
    else if (!jv_is_null(jv_at(state, "terminated")))
        run = run_of(jv_at(state, "terminated"));
    if (run < 0)
        run = run_of(last);
    if (run >= 0)
        return run;
    return err_set(
        e, ERR_BAD_REQUEST,
        "container \"%" PRI_STR "\" in pod \"%" PRI_STR "\" is waiting to start%s%" PRI_STR,
        STR_ARG(container), STR_ARG(name), why.n ? ": " : " - no logs yet", STR_ARG(why));
}

static bool is_written(const struct node_log *l)
{
    const struct life_container *c = l->pod ? life_find(l->pod->life, str_of(l->container)) : NULL;

    return c && !l->pod->life->done && c->attempt == l->run &&
           (c->state == LIFE_RUNNING || c->state == LIFE_STARTING);
}

/* ---- news */

static void wake(struct node_log *l)
{
    if (l->o.wake)
        l->o.wake(l->o.ctx);
}

static void on_again(void *arg)
{
    struct node_log *l = arg;

    loop_timer_stop(TAKE(l->again));
    wake(l);
}

static void wake_later(struct node_log *l)
{
    if (!l->again)
        l->again = loop_timer_start(l->loop, 0, 0, on_again, l);
}

static void on_change(uv_fs_event_t *h, const char *name, int events, int status)
{
    LOOP_TURN();
    struct node_log *l = h->data;

    (void)events;
    (void)status;
    if (!name || strcmp(name, l->base) == 0)
        wake(l);
}

void pod_logs_look(struct pod *p, bool over)
{
    struct node_log *next;

    for (struct node_log *l = p->logs; l; l = next) {
        next = l->next;
        if (over)
            l->pod = NULL;
        if (!l->ends && !is_written(l)) {
            l->ends = true;
            wake_later(l);
        }
    }
    if (over)
        p->logs = NULL;
}

/* ---- */

static void on_poll(void *arg)
{
    wake(arg);
}

/* A user has few inotify instances (128 by default), and other programs take them, too: without one
 * the file is looked at from time to time. */
static void watch(struct node_log *l, str path)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *dir = arena_z(a, str_sub(path, 0, (size_t)str_rfind(path, '/')));

    uv_fs_event_init(loop_uv(l->loop), &l->changes);
    l->changes.data = l;
    l->watches = true;
    if (uv_fs_event_start(&l->changes, on_change, dir, 0) < 0)
        l->poll = loop_timer_start(l->loop, POLL_MS, POLL_MS, on_poll, l);
}

/* Its file, and which run that is; empty: e says why there is none. */
static str find_file(struct arena *a, struct node *n, struct pod *p, const struct node_log_opts *o,
                     int64_t *run, struct err *e)
{
    struct life_where where = { .host_ip = n->o.host_ip, .node = n->o.name };
    struct log_of of = { .data = n->o.data, .pod = o->pod, .container = o->container };

    if (p) /* its object may be gone, and it has not ended yet */
        of.pod = jdoc_root(p->doc);
    if (!of.container.n)
        of.container =
            jv_str(jv_at(jv_index(jv_at(of.pod, "spec", "containers"), 0), "name"), STR_NONE);
    *run = o->run;
    if (*run < 0 && jv_exists(of.pod)) {
        jv status = p ? life_status(a, p->life, &where, node_now(n)) : jv_at(of.pod, "status");
        *run = log_run_of(of.pod, status, of.container, o->previous, e);
        if (*run < 0)
            return STR_NONE;
    }
    of.run = *run;
    str path = jv_exists(of.pod) ? log_find(a, &of) : log_find_gone(a, n->o.data, o);
    if (!path.n)
        err_set(e, ERR_NOT_FOUND,
                "no log is kept of container \"%" PRI_STR "\" in pod \"%" PRI_STR "\"",
                STR_ARG(of.container), STR_ARG(o->name));
    return path;
}

int node_log_open(struct node *n, const struct node_log_opts *o, struct node_log **out,
                  struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct pod *p = map_get(&n->pods, o->uid.n ? o->uid : meta_uid(o->pod));
    int64_t run;
    str path = find_file(a, n, p, o, &run, e);

    if (!path.n)
        return -1;
    struct node_log *l = mem_new(sizeof(*l));
    l->o = *o;
    l->o.pod = JV_ABSENT;
    l->loop = n->o.loop;
    l->container = mem_or_abort(strndup(o->container.p ? o->container.p : "", o->container.n));
    l->base = mem_or_abort(strdup(path.p + str_rfind(path, '/') + 1));
    l->run = run;
    if (p) {
        l->pod = p;
        l->next = p->logs;
        p->logs = l;
    }
    l->ends = !o->follow || !is_written(l);
    if (!l->ends)
        watch(l, path);
    l->file = logfile_open(path.p, &o->file);
    *out = l;
    return 0;
}

ssize_t node_log_read(struct node_log *l, char *to, size_t n)
{
    bool ends = l->ends; /* then all of it is there */
    ssize_t rc = logfile_read(l->file, to, n);

    if (rc > 0)
        return rc;
    if (rc == LOGFILE_BUSY)
        wake_later(l);
    return rc == LOGFILE_FULL || (rc == LOGFILE_DRY && ends) ? -1 : 0;
}

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

void node_log_free(struct node_log *l)
{
    if (!l)
        return;
    for (struct node_log **at = l->pod ? &l->pod->logs : NULL; at && *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    loop_timer_stop(l->again);
    loop_timer_stop(l->poll);
    logfile_free(l->file);
    free(l->container);
    free(l->base);
    if (l->watches)
        uv_close((uv_handle_t *)&l->changes, on_closed);
    else
        free(l);
}
