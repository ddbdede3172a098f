/* Where it runs: in the `muster up` on the data directory if there is one, else in a cluster of our
 * own in this process. That one lives in DATA/runs/NAME, so that any number of runs may go on at
 * once and none meets what another left; with --data or --keep it is in the data directory itself,
 * where a later `muster up` finds what was kept. */

#include "app/run_internal.h"

#include "api/inproc.h"
#include "cli/data.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "sys/tree.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { UP_MS = 50, UP_TRIES = 100, LEAST_KIB = 1024 };

/* ---- an `up` that is there */

/* It may be about to get ready. */
static void await_kubeconfig(const char *dir)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/kubeconfig", dir).p;

    for (int i = 0; i < UP_TRIES && access(path, R_OK) < 0; i++)
        usleep(UP_MS * 1000);
}

static int open_there(struct run *r)
{
    struct session_opts o = { .data = r->dir, .ns = r->f->ns };

    const char *flag = r->f->resources                ? "--resources"
                       : r->f->isolation              ? "--isolation"
                       : r->f->gang.name              ? "--gang-scheduler-name"
                       : r->f->gang.hold_s >= 0       ? "--gang-hold-seconds"
                       : r->f->gang.max_restarts >= 0 ? "--gang-max-restarts"
                       : r->f->host_path_roots        ? "--host-path-roots"
                       : r->f->show_home_secrets      ? "--show-home-secrets"
                       : r->f->reuse_claims           ? "--reuse-claims"
                       : r->f->keep_files             ? "--keep-files"
                       : r->f->rm                     ? "--rm"
                                                      : NULL;
    if (flag)
        return command_fail(EXIT_USAGE,
                            "%s is for a cluster of its own, but a 'muster up' runs on %s; stop "
                            "it, or name another directory with --data",
                            flag, r->dir);
    await_kubeconfig(r->dir);
    const char *elsewhere = getenv("KUBECONFIG");
    if (r->f->data || (elsewhere && *elsewhere))
        r->submit.there = arena_printf(r->a, "--data %s", r->dir).p;
    r->open = true;
    int code = session_open(&r->s, &o);
    return code < 0 ? run_check_there(r) : code;
}

/* ---- one of our own */

static str run_name(const struct run *r)
{
    const struct job_kind *kind;

    for (size_t i = r->submit.n; i-- > 0;) {
        jv obj = r->submit.at[i].obj;
        str name = meta_name(obj);
        if (!name.n)
            name = meta_str(obj, S("generateName"));
        while (name.n && name.p[name.n - 1] == '-')
            name.n--;
        if (name.n && submit_is_job(obj, &kind))
            return name;
    }
    return S("run");
}

static int take_dir(struct run *r, struct err *e)
{
    int code;

    r->is_private = !r->f->data && !r->f->keep;
    /* All of it is hidden once, not each run: those that come and go cost nothing. */
    if (r->is_private && data_make(r->dir, e) == 0 && data_close(r->dir, e) == 0)
        up_hide_begin(r->a, r->dir, NULL, &(struct up_hide){ 0 }, e);
    if (r->is_private) {
        code = data_run_new(r->a, r->dir, run_name(r), &r->dir, &r->lock, e);
        r->name = code == 0 ? strrchr(r->dir, '/') + 1 : NULL;
        return code;
    }
    code = data_lock(r->dir, &r->lock, e);
    if (code == 0)
        data_hold_run(r->lock);
    r->name = data_run_name(r->a, run_name(r));
    return code;
}

/* With --keep they are the cluster's, and so are its volumes. */
static int place_claims(struct run *r)
{
    char data[PATH_MAX];

    if (r->f->keep || !realpath(r->data, data))
        return -1;
    const char *all = arena_printf(r->a, "%s/claims", data).p;
    mkdir(all, 0711);
    r->claims = arena_printf(r->a, "%s/%s", all, r->name).p;
    return r->f->reuse_claims ? run_reuse_claims(r) : -1;
}

/* Before anything is begun: on a full disk pods would wait for their files without an end. */
static int check_room(const struct run *r, struct err *e)
{
    struct statvfs st;

    if (data_make(r->dir, e) < 0)
        return -1;
    if (statvfs(r->dir, &st) < 0)
        return err_sys(e, "look at %s", r->dir);
    uint64_t kib = (uint64_t)(geteuid() == 0 ? st.f_bfree : st.f_bavail) * st.f_frsize / 1024;
    if (kib < LEAST_KIB)
        return err_set(e, ERR_STORAGE_FULL,
                       "the disk of %s is full: %d KiB are free, a run needs at least %d", r->dir,
                       (int)kib, LEAST_KIB);
    return 0;
}

struct started {
    struct run *r;
    bool done;
    struct err e;
};

static void on_ready(void *ctx, const struct err *e)
{
    struct started *st = ctx;

    st->done = true;
    if (e)
        st->e = *e;
    loop_wake(st->r->loop);
}

static int open_own(struct run *r)
{
    struct started *st = ARENA_NEW(r->a, struct started);
    struct err e = { 0 };

    int bad = r->f->host_path_roots ? run_check_roots(r, r->f->host_path_roots) : -1;
    if (bad >= 0)
        return bad;
    if (check_room(r, &e) < 0 || take_dir(r, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    int code = place_claims(r);
    if (code >= 0)
        return code;
    st->r = r;
    struct cluster_opts o = { .loop = r->loop = loop_new(),
                              .dir = r->dir,
                              .host = "127.0.0.1",
                              .gang = r->f->gang,
                              .node = { .dir = r->dir,
                                        .claims = r->claims,
                                        .isolation = r->f->isolation,
                                        .must_isolate = true,
                                        .resources = r->f->resources,
                                        .host_path_roots = r->f->host_path_roots,
                                        .show_home_secrets = r->f->show_home_secrets,
                                        .ephemeral = r->is_private },
                              .on_ready = on_ready,
                              .ctx = st };
    loop_watch(r->loop);
    if (up_node_check(&o.node, &e) < 0)
        return command_fail(EXIT_USAGE, "%s", e.msg);
    int log = open(arena_printf(r->a, "%s/log", r->dir).p,
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log >= 0)
        log_to(log);
    if (cluster_start(&r->cluster, &o, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    while (!st->done)
        loop_turn(r->loop);
    if (st->e.code)
        return command_fail(EXIT_FAILED, "%s", st->e.msg);
    r->api = api_inproc_new(cluster_api(r->cluster), "run", "muster-admin", "system:masters");
    r->submit.make_namespaces = true;
    r->submit.dir = r->dir;
    r->open = true;
    return session_within(&r->s, r->loop, r->api, r->f->ns, cluster_server(r->cluster));
}

int run_open(struct run *r)
{
    struct err e = { 0 };
    int holder = 0;

    signal(SIGPIPE, SIG_IGN);
    r->submit.s = &r->s;
    r->submit.ns_given = r->f->ns != NULL;
    if (run_is_elsewhere(r->f))
        return run_open_cluster(r);
    if (data_dir(r->a, r->f->data, &r->data, &e) < 0 || data_holder(r->data, &holder, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    r->dir = r->data;
    bool is_run = holder > 0 && data_is_run(r->dir);
    if (is_run && (r->f->data || r->f->keep))
        return command_fail(EXIT_FAILED,
                            "another 'muster run' (pid %d) uses %s; wait for it, or start a "
                            "'muster up' there that both can use",
                            holder, r->dir);
    r->embedded = holder <= 0 || is_run;
    return r->embedded ? open_own(r) : open_there(r);
}

/* ---- and its end */

static void on_stopped(void *ctx)
{
    struct run *r = ctx;

    loop_stop(r->loop);
}

void run_close(struct run *r)
{
    if (r->cluster) {
        api_inproc_free(r->api);
        cluster_stop(r->cluster, on_stopped, r);
        loop_run(r->loop);
        cluster_free(r->cluster);
        run_private_files(r);
    }
    if (r->open)
        session_close(&r->s);
    if (r->loop)
        loop_free(r->loop);
    if (r->claims && r->f->rm && data_run_is(r->dir, r->lock))
        tree_remove(AT_FDCWD, r->claims, NULL);
    if (r->is_private && r->lock >= 0)
        data_run_end(r->dir, r->lock);
    if (r->lock >= 0)
        close(r->lock);
}
