/* muster logs: what the replicas of a job write, line by line, each with its name before it. Reads
 * pods/log; of jobs and pods that are gone, what was kept on this machine. */

#include "cli/fold.h"
#include "cli/kept.h"
#include "cli/podlog.h"
#include "cli/pods.h"
#include "cli/runs.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "cli/track.h"
#include "cli/view.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "loop/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 20, LATE_MS = 500 };

struct flags {
    struct session_opts to;
    const char *role, *container, *color;
    int64_t index, tail, since_ms;
    bool follow, timestamps, previous, bare;
};

static const struct opt options[] = {
    { "role", 'r', OPT_TEXT, offsetof(struct flags, role), "ROLE",
      "show only replicas of this role, as in worker", NULL },
    { "index", 'i', OPT_INT, offsetof(struct flags, index), "N",
      "show only the replica with this index of each role", NULL },
    { "follow", 'f', OPT_FLAG, offsetof(struct flags, follow), NULL,
      "follow until the job has ended, including new pods", NULL },
    { "tail", 0, OPT_INT, offsetof(struct flags, tail), "N",
      "show only the last N lines of each log", NULL },
    { "since", 0, OPT_DURATION, offsetof(struct flags, since_ms), "TIME",
      "show only lines newer than this, as in 90s or 2m", NULL },
    { "timestamps", 0, OPT_FLAG, offsetof(struct flags, timestamps), NULL,
      "show the time of each line", NULL },
    { "container", 'c', OPT_TEXT, offsetof(struct flags, container), "NAME",
      "show this container instead of the main one", NULL },
    { "previous", 'p', OPT_FLAG, offsetof(struct flags, previous), NULL,
      "show the log from before the last restart", NULL },
    { "no-prefix", 0, OPT_FLAG, offsetof(struct flags, bare), NULL,
      "do not prefix lines with the replica", NULL },
    { "color", 0, OPT_TEXT, offsetof(struct flags, color), "WHEN",
      "auto (default: color on a terminal), always, never", "auto|always|never" },
    SESSION_OPTIONS(struct flags, to),
    { 0 }
};

struct reader {
    struct session *s;
    const struct flags *f;
    struct job_found job;
    size_t width; /* of names */
    bool prefix;
    bool color;
    bool terminal;      /* is what we print to */
    struct map streams; /* by pod's uid and run */
    int64_t open;
    int64_t read; /* ended well */
    int64_t failed;
    bool printed;      /* at least a line */
    struct map waited; /* replicas that were said to wait */
    bool job_over;
    bool pods_listed;
    bool over; /* nobody reads, or all was told */
    struct loop_timer *late;
};

struct stream {
    struct reader *r;
    char *key;
    str name; /* "worker-0" */
    const char *hue;
    struct buf part; /* of a line */
    struct kube_call *call;
    bool beside; /* not the main container: what it repeats is folded, as muster run does */
    struct folds folds;
};

/* ---- lines */

static void print_line(struct stream *st, struct buf *b, str text)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct reader *r = st->r;

    if (r->prefix && r->color)
        buf_printf(b, "\033[%sm[%" PRI_STR "]\033[0m%*s ", st->hue, STR_ARG(st->name),
                   (int)(r->width - st->name.n), "");
    else if (r->prefix)
        buf_printf(b, "[%" PRI_STR "]%*s ", STR_ARG(st->name), (int)(r->width - st->name.n), "");
    if (r->terminal)
        terminal_line(b, fold_long(a, text), r->color);
    else
        buf_add(b, text);
    buf_addc(b, '\n');
}

/* A pipe gets what was written. */
static void add_line(struct stream *st, struct buf *b, str text)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t again = 0;

    if (st->beside && st->r->terminal && folds_is_again(&st->folds, S(""), text, &again))
        return;
    if (again)
        print_line(st, b, fold_again_text(a, again));
    print_line(st, b, text);
}

static void on_again(void *ctx, str key, int64_t again)
{
    (void)key;
    *(int64_t *)ctx = again;
}

static void put(struct reader *r, const struct buf *b)
{
    r->printed = r->printed || b->n > 0;
    if (b->n && command_print_colored(buf_str(b), r->color) < 0) {
        r->over = true;
        loop_wake(r->s->loop);
    }
}

static void on_bytes(void *ctx, str bytes)
{
    struct stream *st = ctx;
    AUTO(buf) struct buf out = { 0 };

    while (bytes.n) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
        buf_add(&st->part, str_sub(bytes, 0, n));
        bytes = str_sub(bytes, n + (end != NULL), bytes.n);
        if (end || st->part.n > LINE_MOST) {
            add_line(st, &out, buf_str(&st->part));
            buf_clear(&st->part);
        }
    }
    put(st->r, &out);
}

static void on_late(void *arg)
{
    struct reader *r = arg;

    r->over = true;
    loop_wake(r->s->loop);
}

/* All streams have ended and no more are to come, but perhaps from pods whose last word is on its
 * way. */
static void look_over(struct reader *r)
{
    bool quiet = r->open == 0 && r->pods_listed && (r->job_over || !r->f->follow);

    loop_timer_stop(TAKE(r->late));
    if (quiet)
        r->late = loop_timer_start(r->s->loop, r->f->follow ? LATE_MS : 0, 0, on_late, r);
}

static void on_stream_end(void *ctx, const struct kube_answer *ans)
{
    struct stream *st = ctx;
    struct reader *r = st->r;
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf out = { 0 };
    int64_t again = 0;

    st->call = NULL;
    if (st->part.n)
        add_line(st, &out, buf_str(&st->part));
    buf_done(&st->part);
    folds_flush(&st->folds, on_again, &again);
    if (again)
        print_line(st, &out, fold_again_text(a, again));
    put(r, &out);
    if (ans->err.code) {
        str why = ans->message.n ? ans->message : str_of(ans->err.msg);
        command_note("muster: %" PRI_STR ": its log cannot be read: %" PRI_STR, STR_ARG(st->name),
                     STR_ARG(text_plain(a, why)));
    }
    r->failed += ans->err.code != ERR_OK;
    r->read += ans->err.code == ERR_OK;
    r->open--;
    look_over(r);
}

/* ---- which */

static str main_container(const struct reader *r, jv pod)
{
    const char *name = r->f->container ? r->f->container : r->job.kind->container;

    JV_EACH (it, jv_at(pod, "spec", "containers"))
        if (str_eqz(jv_str(jv_at(it.value, "name"), STR_NONE), name))
            return str_of(name);
    if (r->f->container)
        return str_of(name); /* an init container, or the server says that there is none */
    return jv_str(jv_at(jv_index(jv_at(pod, "spec", "containers"), 0), "name"), STR_NONE);
}

static jv container_status(jv pod, str name)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "status", lists[i]))
            if (str_eq(jv_str(jv_at(it.value, "name"), STR_NONE), name))
                return it.value;
    return JV_ABSENT;
}

static bool is_wanted(const struct reader *r, const struct job_pod *p)
{
    if (r->f->role && !str_eq_nocase(p->role, str_of(r->f->role)))
        return false;
    return r->f->index < 0 || r->f->index == p->index || (p->index < 0 && r->f->index == 0);
}

/* A replica that has nothing to read, as it has not begun: why, once. */
static void say_waiting(struct reader *r, const struct job_pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    struct pod_state st = pod_state(a, p->pod);
    str name = replica_name(a, p);

    if (map_get(&r->waited, name))
        return;
    map_put(&r->waited, arena_str(r->s->a, name), r);
    command_note("muster: %" PRI_STR " has not begun: %" PRI_STR "%s%" PRI_STR, STR_ARG(name),
                 STR_ARG(st.reason.n ? st.reason : st.state), st.message.n ? ": " : "",
                 STR_ARG(text_plain(a, str_trim(st.message))));
}

static void open_stream(struct reader *r, const struct job_pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    str container = main_container(r, p->pod);
    jv status = container_status(p->pod, container);
    jv state = jv_at(status, "state");
    int64_t run = jv_int(jv_at(status, "restartCount"), 0);
    str key = arena_printf(a, "%" PRI_STR "/%" PRId64, STR_ARG(meta_uid(p->pod)), run);
    bool begun = !jv_is_null(jv_at(state, "running")) || !jv_is_null(jv_at(state, "terminated"));
    bool waits = !begun && pod_is_pending(p->pod);

    if (map_get(&r->streams, key))
        return;
    if (waits)
        say_waiting(r, p);
    if (waits || (r->f->follow && !begun))
        return; /* its time comes */
    struct stream *st = mem_new(sizeof(*st));
    st->r = r;
    st->key = mem_or_abort(strdup(key.p));
    st->name = arena_str(r->s->a, replica_name(a, p));
    st->beside = !str_eqz(container, r->job.kind->container);
    st->hue = name_hue(p->role, p->index);
    if (st->name.n > r->width)
        r->width = st->name.n;
    map_put(&r->streams, str_of(st->key), st);
    struct podlog_opts o = { .ns = meta_namespace(p->pod),
                             .pod = meta_name(p->pod),
                             .container = container,
                             .follow = r->f->follow,
                             .previous = r->f->previous,
                             .timestamps = r->f->timestamps,
                             /* of runs that begin while we look, all is new */
                             .tail = r->pods_listed ? -1 : r->f->tail,
                             .since_ms = r->pods_listed ? 0 : r->f->since_ms };
    struct kube_get get = { .path = podlog_path(a, &o), .accept = "*/*", .on_bytes = on_bytes };
    r->open++;
    st->call = kube_get(r->s->api, &get, on_stream_end, st);
}

static void take_pods(struct reader *r, jv items)
{
    AUTO(arena) struct arena *a = arena_new();
    struct job_pods pods = job_pods_of(a, &r->job, items);

    for (size_t i = 0; i < pods.n; i++) { /* all names first: they share a width */
        size_t n = replica_name(a, &pods.at[i]).n;
        if (is_wanted(r, &pods.at[i]) && n > r->width)
            r->width = n;
    }
    for (size_t i = 0; i < pods.n; i++)
        if (is_wanted(r, &pods.at[i]))
            open_stream(r, &pods.at[i]);
}

static void on_pod(void *ctx, enum kube_event type, jv pod)
{
    struct reader *r = ctx;
    AUTO(arena) struct arena *a = arena_new();

    if (type != KUBE_DELETED)
        take_pods(r, jarr(a, pod));
    if (r->pods_listed)
        look_over(r);
}

static void on_pods_listed(void *ctx)
{
    struct reader *r = ctx;

    r->pods_listed = true;
    look_over(r);
}

static void on_job(void *ctx, enum kube_event type, jv obj)
{
    struct reader *r = ctx;

    if (!str_eq(meta_uid(obj), meta_uid(r->job.obj)))
        return;
    r->job_over = type == KUBE_DELETED || job_is_over(obj);
    look_over(r);
}

/* ---- reading */

static void end_streams(struct reader *r)
{
    loop_timer_stop(TAKE(r->late));
    MAP_EACH (slot, &r->streams) {
        struct stream *st = slot->value;
        if (st->call)
            kube_cancel(r->s->api, st->call);
        buf_done(&st->part);
        folds_done(&st->folds);
        free(st->key);
        free(st);
    }
    map_done(&r->streams);
    map_done(&r->waited);
}

static int follow_all(struct reader *r)
{
    struct session *s = r->s;
    str labels = arena_printf(s->a, LABEL_JOB "=%" PRI_STR, STR_ARG(meta_name(r->job.obj)));
    struct track_opts pods = { .res = &kube_pods,
                               .ns = s->ns,
                               .labels = labels,
                               .on_event = on_pod,
                               .on_listed = on_pods_listed,
                               .ctx = r };
    struct track_opts job = { .res = r->job.kind->planner.res,
                              .ns = s->ns,
                              .name = meta_name(r->job.obj),
                              .on_event = on_job,
                              .ctx = r };
    struct track *all[] = { track_start(s, &pods), track_start(s, &job) };
    int code = -1;

    while (!r->over && !s->interrupted && code < 0) {
        loop_turn(s->loop);
        for (size_t i = 0; i < COUNT(all) && code < 0; i++)
            if (track_failed(all[i]))
                code = session_fail(s, track_failed(all[i]), "follow the job");
    }
    for (size_t i = 0; i < COUNT(all); i++)
        track_stop(all[i]);
    return code >= 0 ? code : s->interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
}

static bool wants_color(const struct flags *f)
{
    if (f->color && strcmp(f->color, "auto") != 0)
        return strcmp(f->color, "always") == 0;
    return screen_wants_color(STDOUT_FILENO);
}

/* ---- what was kept of those that are gone */

struct keeper {
    const struct flags *f;
    bool color;
    bool prefix;
    size_t width;
    str last; /* replica told of */
    bool printed;
    size_t replicas;
};

static bool is_wanted_name(void *ctx, str replica)
{
    const struct keeper *k = ctx;
    ptrdiff_t dash = str_rfind(replica, '-');
    int64_t index = 0;
    bool has = dash > 0 && str_to_int(str_sub(replica, (size_t)dash + 1, replica.n), &index);
    str role = has ? str_sub(replica, 0, (size_t)dash) : replica;

    if (k->f->role && !str_eq_nocase(role, str_of(k->f->role)))
        return false;
    return k->f->index < 0 || k->f->index == index;
}

static void on_kept_replica(void *ctx, str replica)
{
    struct keeper *k = ctx;

    k->replicas += !str_eq(k->last, replica);
    k->last = replica;
    k->width = replica.n > k->width ? replica.n : k->width;
    k->prefix = !k->f->bare && k->replicas > 1;
}

static void say_empty(str what)
{
    command_note("muster: %" PRI_STR " has printed nothing", STR_ARG(what));
}

static bool on_kept_line(void *ctx, str replica, str line)
{
    struct keeper *k = ctx;
    struct reader r = {
        .prefix = k->prefix, .color = k->color, .terminal = isatty(STDOUT_FILENO), .width = k->width
    };
    struct stream st = { .r = &r, .name = replica, .hue = name_hue(replica, 0) };
    AUTO(buf) struct buf b = { 0 };

    print_line(&st, &b, line);
    k->printed = true;
    return command_print_colored(buf_str(&b), r.color) == 0;
}

/* False: nothing was. */
static bool read_kept(const struct flags *f, str ns, const char *word)
{
    AUTO(arena) struct arena *a = arena_new();
    struct keeper k = { .f = f, .color = wants_color(f) };
    str name = str_of(word);
    ptrdiff_t slash = str_find(name, '/');
    struct kept_opts o = { .data = session_data(a, &f->to),
                           .ns = ns.n ? ns : S("default"),
                           .job = str_sub(name, (size_t)(slash + 1), name.n),
                           .is_wanted = is_wanted_name,
                           .container = str_of(f->container ? f->container : ""),
                           .tail = f->tail,
                           .since_us = f->since_ms ? wall_now_us() - f->since_ms * 1000 : 0,
                           .timestamps = f->timestamps,
                           .previous = f->previous,
                           .on_line = on_kept_line,
                           .ctx = &k };

    bool found = kept_read(&o, on_kept_replica);
    bool elsewhere = o.data && !f->to.data; /* than the runs of this user are */
    if (!found && elsewhere) {
        o.data = NULL;
        found = kept_read(&o, on_kept_replica);
    }
    if (found && !k.printed)
        say_empty(str_of(word));
    return found;
}

static int read_all(struct reader *r)
{
    jv items;
    int code = jobs_pods(r->s, r->s->ns, meta_name(r->job.obj), &items);

    if (code >= 0)
        return code;
    take_pods(r, items);
    r->pods_listed = true;
    if (!r->open && !r->waited.n &&
        read_kept(r->f, r->s->ns, arena_z(r->s->a, meta_name(r->job.obj))))
        return EXIT_DONE;
    if (!r->open && r->waited.n)
        return EXIT_DONE;
    if (!r->open)
        return command_fail(EXIT_FAILED, "%" PRI_STR " has no %spods%s at %s",
                            STR_ARG(job_title(r->s->a, r->job.kind, r->job.obj)),
                            r->f->role || r->f->index >= 0 ? "such " : "",
                            r->f->role || r->f->index >= 0 ? "" : " now", r->s->config.server);
    code = session_wait(r->s, &r->over);
    if (code >= 0)
        return code;
    if (!r->printed && r->read)
        say_empty(job_title(r->s->a, r->job.kind, r->job.obj));
    return r->failed && !r->read ? EXIT_FAILED : EXIT_DONE;
}

static int show(struct session *s, const struct flags *f, const char *word)
{
    struct reader r = {
        .s = s, .f = f, .color = wants_color(f), .terminal = isatty(STDOUT_FILENO)
    };
    struct jobs named = { 0 };
    int code = jobs_named(s, word, &named);

    if (code < 0 && !named.n && read_kept(f, s->ns, word))
        return EXIT_DONE;
    /* The server was asked and could not tell, as one that was stopped. */
    if (code == EXIT_FAILED && !f->follow && read_kept(f, s->ns, word)) {
        command_note("muster: showing logs of %s kept on this machine", word);
        return EXIT_DONE;
    }
    if (code < 0)
        code = jobs_find(s, word, &r.job);
    if (code >= 0)
        return code;
    /* One replica's lines are nobody else's. */
    r.prefix = !f->bare && job_total(job_read(s->a, r.job.kind, r.job.obj, NULL)) > 1 &&
               !(f->role && f->index >= 0);
    code = f->follow ? follow_all(&r) : read_all(&r);
    end_streams(&r);
    return code;
}

/* run: the job's run, which is over; NULL: none is meant */
static int show_job(const struct flags *f, const char *word, const char *run)
{
    struct session s;
    struct err e = { 0 };
    int code;

    if (session_try(&s, &f->to, &e) == 0)
        code = show(&s, f, word);
    else if (e.code == ERR_NOT_FOUND && read_kept(f, str_of(f->to.ns ? f->to.ns : ""), word))
        code = EXIT_DONE;
    else if (e.code == ERR_NOT_FOUND && run)
        code = command_fail(EXIT_FAILED, "run %s has no logs of %s", run, word);
    else if (e.code == ERR_NOT_FOUND)
        code = command_fail(EXIT_FAILED,
                            "no logs of %s are kept here ('muster ps' lists runs), and %s", word,
                            e.msg);
    else
        code = command_fail(e.code == ERR_INVALID ? EXIT_USAGE : EXIT_FAILED, "%s", e.msg);
    session_close(&s);
    return code;
}

/* A run's jobs, one after the other. */
static int show_run(struct arena *a, struct flags *f, const struct run_info *r)
{
    int worst = EXIT_DONE;

    if (!r->run.is_running && access(arena_printf(a, "%s/logs", r->run.path).p, F_OK) < 0)
        return command_fail(EXIT_FAILED, "run %s has no logs: none of its replicas started",
                            r->run.name);
    f->to.data = r->run.path;
    JV_EACH (it, r->jobs) {
        f->to.ns = arena_z(a, jv_str(jv_at(it.value, "namespace"), S("default")));
        int code = show_job(f, arena_z(a, jv_str(jv_at(it.value, "name"), S(""))), r->run.name);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int run(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct flags f = { .index = -1, .tail = -1 };
    struct run_info r;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (n != 1) {
        command_fail(EXIT_USAGE, "logs needs one job");
        return command_usage(c);
    }
    if (f.follow && f.previous)
        return command_fail(EXIT_USAGE, "a run that is over cannot be followed");
    if (!f.to.kubeconfig && !f.to.context && !strchr(words[0], '/') &&
        runs_find(a, f.to.data, words[0], &r, NULL) == 0 && jv_len(r.jobs))
        return show_run(a, &f, &r);
    return show_job(&f, words[0], NULL);
}

const struct command command_logs = {
    .name = "logs",
    .summary = "show the logs of the replicas of a job",
    .help =
        "Usage: muster logs [OPTION]... JOB|RUN\n"
        "\n"
        "Shows the logs of all replicas of a job (NAME or KIND/NAME), line by line as they are\n"
        "written. Each line begins with the name of its replica. For jobs and pods that no longer\n"
        "exist, also those of `muster run`, it shows the logs that this machine kept, of all their\n"
        "runs. RUN is a run from `muster ps`.\n",
    .options = options,
    .operands = OPERANDS_JOBS,
    .run = run,
};
