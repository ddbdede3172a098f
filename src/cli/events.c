/* muster events, and what describe shows of them. */

#include "cli/events.h"

#include "base/time.h"
#include "cli/table.h"
#include "cli/track.h"
#include "loop/loop.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- reading */

static int64_t event_time(jv e)
{
    const jv places[] = { jv_at(e, "series", "lastObservedTime"), jv_at(e, "lastTimestamp"),
                          jv_at(e, "eventTime"), jv_at(e, "firstTimestamp"),
                          jv_at(e, "metadata", "creationTimestamp") };

    for (size_t i = 0; i < COUNT(places); i++)
        if (job_time(places[i]) >= 0)
            return job_time(places[i]);
    return 0;
}

str event_object(struct arena *a, jv e)
{
    jv of = jv_at(e, "involvedObject");

    return arena_printf(a, "%" PRI_STR "/%" PRI_STR,
                        STR_ARG(arena_lower(a, jv_str(jv_at(of, "kind"), STR_NONE))),
                        STR_ARG(jv_str(jv_at(of, "name"), STR_NONE)));
}

str event_text(struct arena *a, jv e)
{
    str text = jv_str(jv_at(e, "message"), jv_str(jv_at(e, "note"), STR_NONE));
    int64_t n = jv_int(jv_at(e, "series", "count"), jv_int(jv_at(e, "count"), 1));

    text = str_trim(text);
    if (n <= 1)
        return text;
    return arena_printf(a, "%" PRI_STR " (%" PRId64 " times)", STR_ARG(text), n);
}

/* A child by its name: pods that were made again have other uids. */
static bool is_child(struct arena *a, str name, const struct job_found *job)
{
    const struct job *j = job_read(a, job->kind, job->obj, NULL);

    for (size_t i = 0; i < j->n_roles; i++) {
        str start =
            arena_printf(a, "%" PRI_STR "-%" PRI_STR, STR_ARG(j->name), STR_ARG(j->roles[i].label));
        int64_t index;
        if (!str_starts(name, start))
            continue;
        str rest = str_sub(name, start.n, name.n);
        if (!rest.n || (rest.p[0] == '-' && str_to_int(str_sub(rest, 1, rest.n), &index)))
            return true;
    }
    return false;
}

/* Times count whole seconds, so in the second in which the job was made an event may be of a pod of
 * a namesake: it is, where a pod of ours has that name and another uid. */
static bool is_namesakes(jv of, const struct job_pods *pods)
{
    str uid = jv_str(jv_at(of, "uid"), STR_NONE);

    if (!str_eqz(jv_str(jv_at(of, "kind"), STR_NONE), "Pod"))
        return false;
    for (size_t i = 0; i < pods->n; i++)
        if (str_eq(meta_name(pods->at[i].pod), jv_str(jv_at(of, "name"), STR_NONE)))
            return uid.n && !str_eq(meta_uid(pods->at[i].pod), uid);
    return false;
}

static bool event_is_of(struct arena *a, jv e, const struct job_found *job,
                        const struct job_pods *pods)
{
    jv of = jv_at(e, "involvedObject");
    str kind = jv_str(jv_at(of, "kind"), STR_NONE);
    int64_t made = job_time(jv_at(job->obj, "metadata", "creationTimestamp"));
    int64_t at = event_time(e);

    if (str_eq(jv_str(jv_at(of, "uid"), S("?")), meta_uid(job->obj)))
        return true;
    if (!str_eqz(kind, "Pod") && !str_eqz(kind, "Service"))
        return false;
    if (!is_child(a, jv_str(jv_at(of, "name"), STR_NONE), job))
        return false;
    return at >= made + 1000 || (at >= made && !is_namesakes(of, pods));
}

static int by_time(const void *x, const void *y)
{
    const struct event_seen *a = x;
    const struct event_seen *b = y;

    if (a->at_ms != b->at_ms)
        return a->at_ms < b->at_ms ? -1 : 1;
    str v = meta_resource_version(a->obj);
    str w = meta_resource_version(b->obj);
    return v.n != w.n ? (v.n < w.n ? -1 : 1) : str_cmp(v, w);
}

int events_list(struct session *s, str ns, const struct job_found *job, const struct job_pods *pods,
                struct events *out)
{
    struct ask q = { .req = { .verb = KUBE_LIST, .res = &kube_events, .ns = ns } };
    int code = session_ask(s, &q, 1);
    jv items = jv_at(q.obj, "items");

    if (code >= 0)
        return code;
    if (q.err.code)
        return session_fail(s, &q, "list events");
    *out = (struct events){ ARENA_ARRAY(s->a, struct event_seen, jv_len(items) + 1), 0 };
    JV_EACH (it, items)
        if (!job || event_is_of(s->a, it.value, job, pods))
            out->at[out->n++] = (struct event_seen){ event_time(it.value), it.value };
    qsort(out->at, out->n, sizeof(*out->at), by_time);
    return -1;
}

/* ---- the command */

struct flags {
    struct session_opts to;
    bool all;
    bool watch;
    bool bare;
};

static const struct opt options[] = {
    { "all-namespaces", 'A', OPT_FLAG, offsetof(struct flags, all), NULL,
      "list the events of all namespaces", NULL },
    { "watch", 'w', OPT_FLAG, offsetof(struct flags, watch), NULL,
      "keep running and print new events", NULL },
    { "no-headers", 0, OPT_FLAG, offsetof(struct flags, bare), NULL, "omit the header line", NULL },
    SESSION_OPTIONS(struct flags, to),
    { 0 }
};

struct show {
    struct session *s;
    const struct flags *f;
    const struct job_found *job;
    const struct job_pods *pods; /* its own, as it began */
    struct table table;
    int64_t after_ms; /* those before were shown */
    bool over;
};

static void add_row(struct show *w, struct arena *a, jv e)
{
    str cells[TABLE_COLUMNS];
    size_t n = 0;
    int64_t at = event_time(e);
    int64_t now = wall_now_ms();

    if (w->f->all)
        cells[n++] = meta_namespace(e);
    cells[n++] = age_text(a, now > at ? now - at : 0);
    cells[n++] = jv_str(jv_at(e, "type"), STR_NONE);
    cells[n++] = jv_str(jv_at(e, "reason"), STR_NONE);
    cells[n++] = event_object(a, e);
    cells[n++] = event_text(a, e);
    table_add(&w->table, cells);
}

static void on_event(void *ctx, enum kube_event type, jv e)
{
    struct show *w = ctx;
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };

    if (type == KUBE_DELETED || (w->job && !event_is_of(a, e, w->job, w->pods)))
        return;
    w->table.a = a;
    add_row(w, a, e);
    table_print(&w->table, &b);
    w->table.rows = NULL;
    w->table.cap = 0;
    if (command_print(buf_str(&b)) < 0)
        w->over = true;
}

static int show(struct session *s, const struct flags *f, const struct job_found *job,
                const struct job_pods *pods)
{
    struct show w = { .s = s, .f = f, .job = job, .pods = pods };
    AUTO(buf) struct buf b = { 0 };
    struct events events = { 0 };
    str ns = f->all ? STR_NONE : s->ns;
    int code = EXIT_INTERRUPTED;

    table_init(&w.table, s->a,
               f->all ? "NAMESPACE|LAST SEEN|TYPE|REASON|OBJECT|MESSAGE"
                      : "LAST SEEN|TYPE|REASON|OBJECT|MESSAGE");
    w.table.bare = f->bare;
    if (!f->watch) {
        code = events_list(s, ns, job, pods, &events);
        if (code >= 0)
            return code;
        for (size_t i = 0; i < events.n; i++)
            add_row(&w, s->a, events.at[i].obj);
        table_print(&w.table, &b);
        if (!events.n)
            command_note("there are no events");
        return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
    }
    struct track_opts o = { .res = &kube_events, .ns = ns, .on_event = on_event, .ctx = &w };
    struct track *follow = track_start(s, &o);
    while (!w.over && !s->interrupted && !track_failed(follow))
        loop_turn(s->loop);
    if (track_failed(follow))
        code = session_fail(s, track_failed(follow), "watch events");
    else if (w.over)
        code = EXIT_FAILED;
    track_stop(follow);
    return code;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { 0 };
    struct job_found job;
    struct job_pods pods = { 0 };
    struct session s;
    jv items;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (n > 1 || (n && f.all))
        return command_fail(EXIT_USAGE,
                            n > 1 ? "events takes one job"
                                  : "a job belongs to one namespace: -A cannot be used with it");
    code = session_open(&s, &f.to);
    if (code < 0 && n)
        code = jobs_find(&s, words[0], &job);
    if (code < 0 && n)
        code = jobs_pods(&s, s.ns, meta_name(job.obj), &items);
    if (code < 0 && n)
        pods = job_pods_of(s.a, &job, items);
    if (code < 0)
        code = show(&s, &f, n ? &job : NULL, &pods);
    session_close(&s);
    return code;
}

const struct command command_events = {
    .name = "events",
    .summary = "list events, the latest last",
    .help =
        "Usage: muster events [OPTION]... [JOB]\n"
        "\n"
        "Lists the events of a job (NAME or KIND/NAME) and of the objects it created, or those\n"
        "of the whole namespace, the latest last.\n",
    .options = options,
    .operands = OPERANDS_JOBS,
    .run = run,
};
