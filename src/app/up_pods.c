/* Joins the API's pods/log and the like with the node, which do not know of each other. */

#include "app/up_pods.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "node/exec.h"
#include "node/logs.h"
#include "node/usage.h"

#include <stdlib.h>

struct up_pods {
    struct node *node;
    struct api_pods hooks;
};

/* The node that has the pod; NULL: e says that it is not here. */
static struct node *node_of(const struct up_pods *u, const struct api_pod *of, struct err *e)
{
    str name = jv_str(jv_at(of->pod, "spec", "nodeName"), STR_NONE);

    if (u->node && (!jv_exists(of->pod) || str_eq(node_name(u->node), name)))
        return u->node;
    err_set(e, ERR_UNAVAILABLE,
            "node \"%" PRI_STR "\" of pod \"%" PRI_STR "\" does not run in this server",
            STR_ARG(name), STR_ARG(of->name));
    return NULL;
}

/* ---- logs */

struct reading {
    struct http_req *h;
    struct node_log *log;
};

static void wake(void *ctx)
{
    struct reading *g = ctx;

    http_wake(g->h);
}

static ssize_t on_read(void *ctx, char *buf, size_t n)
{
    struct reading *g = ctx;
    ssize_t got = node_log_read(g->log, buf, n);

    return got > 0 ? got : got == 0 ? HTTP_WAIT : HTTP_END;
}

static void on_close(void *ctx)
{
    struct reading *g = ctx;

    node_log_free(g->log);
    free(g);
}

static int open_log(void *ctx, struct http_req *h, const struct api_pod *of,
                    const struct api_log *what, struct http_source *src, struct err *e)
{
    struct up_pods *u = ctx;
    struct node *n = node_of(u, of, e);

    if (!n)
        return -1;
    struct reading *g = mem_new(sizeof(*g));
    struct node_log_opts o = { .pod = of->pod,
                               .ns = of->ns,
                               .name = of->name,
                               .uid = what->uid,
                               .run = what->attempt,
                               .container = what->container,
                               .previous = what->previous,
                               .follow = what->follow,
                               .file = { .tail = what->tail_lines,
                                         .since_us = what->since_us,
                                         .limit_bytes = what->limit_bytes,
                                         .timestamps = what->timestamps },
                               .wake = wake,
                               .ctx = g };
    g->h = h;
    if (node_log_open(n, &o, &g->log, e) < 0) {
        free(g);
        return -1;
    }
    *src = (struct http_source){ .read = on_read, .close = on_close, .ctx = g, .length = -1 };
    return 0;
}

/* ---- exec and attach */

static bool is_sought(void *ctx, const struct api_pod *of)
{
    struct err e = { 0 };
    const struct node *n = node_of(ctx, of, &e);

    return n && node_seeks(n, meta_uid(of->pod));
}

static int exec_check(void *ctx, const struct api_pod *of, str container, struct err *e)
{
    struct node *n = node_of(ctx, of, e);

    return n ? node_exec_check(n, meta_uid(of->pod), container, e) : -1;
}

static struct api_running *exec_start(void *ctx, const struct api_pod *of, const struct api_exec *x,
                                      struct err *e)
{
    struct node *n = node_of(ctx, of, e);
    struct node_exec_opts o = { .uid = meta_uid(of->pod),
                                .container = x->container,
                                .argv = x->argv,
                                .in = x->in,
                                .fds = { x->fds[0], x->fds[1], x->fds[2] },
                                .tty = x->tty,
                                .rows = x->rows,
                                .cols = x->cols,
                                .on_tty = x->on_tty,
                                .on_exit = x->on_exit,
                                .ctx = x->ctx };

    return n ? (struct api_running *)node_exec_start(n, &o, e) : NULL;
}

static void exec_stop(void *ctx, struct api_running *x)
{
    (void)ctx;
    node_exec_stop((struct node_exec *)x);
}

static void exec_resize(void *ctx, struct api_running *x, int rows, int cols)
{
    (void)ctx;
    node_exec_resize((struct node_exec *)x, rows, cols);
}

static int dial(void *ctx, const struct api_pod *of, const struct api_dial_to *to,
                struct api_dial **later, struct err *e)
{
    struct node *n = node_of(ctx, of, e);
    struct node_dial_to at = { meta_uid(of->pod), to->port, to->attempt, to->done, to->arg };

    return n ? node_dial(n, &at, (struct node_dial **)later, e) : -1;
}

static void dial_stop(void *ctx, struct api_dial *d)
{
    (void)ctx;
    node_dial_stop((struct node_dial *)d);
}

static void usage(void *ctx, api_usage_done *done, void *arg)
{
    struct up_pods *u = ctx;
    struct err e = { 0 };

    if (u->node) {
        node_usage(u->node, done, arg);
        return;
    }
    err_set(&e, ERR_UNAVAILABLE, "the node is not running");
    done(arg, JV_ABSENT, &e);
}

/* ---- */

struct up_pods *up_pods_new(void)
{
    struct up_pods *u = mem_new(sizeof(*u));

    u->hooks = (struct api_pods){ .log = open_log,
                                  .is_sought = is_sought,
                                  .exec_check = exec_check,
                                  .exec = exec_start,
                                  .exec_stop = exec_stop,
                                  .exec_resize = exec_resize,
                                  .dial = dial,
                                  .dial_stop = dial_stop,
                                  .usage = usage,
                                  .ctx = u };
    return u;
}

void up_pods_free(struct up_pods *u)
{
    free(u);
}

void up_pods_describe(struct up_pods *u, struct api_opts *o)
{
    o->pods = &u->hooks;
}

void up_pods_set_node(struct up_pods *u, struct node *n)
{
    u->node = n;
}
