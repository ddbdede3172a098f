/* See exec.h: keeps who is to be told until the program's end is known, whoever is left then. */

#include "node/exec.h"

#include "base/mem.h"
#include "node/internal.h"
#include "node/warden.h"

#include <unistd.h>

struct node_exec {
    struct node_exec *next; /* of its pod */
    struct pod *pod;
    struct node_exec_opts o; /* on_exit NULL: nobody wants to know */
    struct attach *attach;
    uint64_t id;
};

bool node_seeks(const struct node *n, str uid)
{
    const struct pod *p = map_get(&n->pods, uid);

    return !n->ending && (p ? p->adopting : !n->listed);
}

static struct pod *running(struct node *n, str uid, str container, struct err *e)
{
    struct pod *p = map_get(&n->pods, uid);
    const struct life_container *c = p ? life_find(p->life, container) : NULL;

    if (c && p->rt && !p->adopting && c->state == LIFE_RUNNING)
        return p;
    if (node_seeks(n, uid))
        err_set(e, ERR_UNAVAILABLE, "the node was restarted and has not found the pod again yet");
    else
        err_set(e, ERR_INTERNAL, "container not found (\"%" PRI_STR "\")", STR_ARG(container));
    return NULL;
}

int node_exec_check(struct node *n, str uid, str container, struct err *e)
{
    return running(n, uid, container, e) ? 0 : -1;
}

static void unlink_exec(struct node_exec *x)
{
    struct node_exec **at = &x->pod->execs;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
}

/* Out of the list already. */
static void report_end(struct node_exec *x, int code, str why)
{
    attach_free(x->attach);
    if (x->o.on_exit)
        x->o.on_exit(x->o.ctx, code, why);
    free(x);
}

static void finish(struct node_exec *x, int code, str why)
{
    unlink_exec(x);
    report_end(x, code, why);
}

static void on_tty(void *ctx, int fd)
{
    struct node_exec *x = ctx;

    if (x->o.on_tty)
        x->o.on_tty(x->o.ctx, fd);
    else if (fd >= 0)
        close(fd);
}

static void on_ended(void *ctx, int code, str why)
{
    finish(ctx, code, why);
}

static void on_attach_end(void *ctx)
{
    finish(ctx, 0, STR_NONE);
}

static void start_program(struct node_exec *x, const struct node_exec_opts *o)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_exec_opts w = { .container = o->container,
                                  .argv = o->argv,
                                  .env = o->tty ? jarr(a, jstrz(a, "TERM=xterm")) : JV_ABSENT,
                                  .fds = { o->fds[0], o->fds[1], o->fds[2] },
                                  .tty = o->tty,
                                  .rows = o->rows,
                                  .cols = o->cols,
                                  .on_tty = on_tty,
                                  .on_exit = on_ended,
                                  .ctx = x };

    x->id = warden_exec_start(x->pod->rt, &w);
}

struct node_exec *node_exec_start(struct node *n, const struct node_exec_opts *o, struct err *e)
{
    struct pod *p = running(n, o->uid, o->container, e);

    if (!p)
        return NULL;
    struct node_exec *x = mem_new(sizeof(*x));
    x->pod = p;
    x->o = *o;
    x->o.argv = JV_ABSENT;
    if (!jv_exists(o->argv)) {
        x->attach = attach_start(n, o, on_attach_end, x, e);
        if (!x->attach) {
            free(x);
            return NULL;
        }
    }
    x->next = p->execs;
    p->execs = x;
    if (!x->attach)
        start_program(x, o);
    return x;
}

void node_exec_resize(struct node_exec *x, int rows, int cols)
{
    if (x->attach)
        attach_resize(x->attach, rows, cols);
}

void node_exec_stop(struct node_exec *x)
{
    x->o.on_exit = NULL;
    x->o.on_tty = NULL;
    if (x->attach)
        finish(x, 0, STR_NONE);
    else
        warden_exec_stop(x->pod->rt, x->id);
}

void pod_execs_end(struct pod *p)
{
    while (p->execs) {
        struct node_exec *x = p->execs;
        p->execs = x->next;
        report_end(x, 137, S("the node stops"));
    }
}
