/* See kept.h. */

#include "cli/kept.h"

#include "base/buf.h"
#include "base/vec.h"
#include "cli/data.h"
#include "loop/logfile.h"
#include "plan/logs.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TIME_BYTES_LOG = 30, READ_BYTES = 64 * 1024, OPEN_MOST = 400 };

/* One run of a replica: its file, and the next line of it. */
struct run {
    str replica;
    const char *path;
    int64_t attempt;
    struct logfile *file;
    struct buf ahead;
    size_t at; /* in ahead: where the next line begins */
    bool dry;
};

struct runs {
    VEC(struct run);
};

/* ---- where */

static int64_t changed_ns(const char *path)
{
    struct stat st;

    return stat(path, &st) < 0 ? -1 : st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
}

/* The newest change of any replica's index. */
static int64_t newest(struct arena *a, const char *dir)
{
    DIR *d = opendir(dir);
    int64_t best = -1;

    for (struct dirent *x; d && (x = readdir(d));) {
        int64_t ns = changed_ns(arena_printf(a, "%s/%s/" LOGS_INDEX, dir, x->d_name).p);
        best = ns > best ? ns : best;
    }
    if (d)
        closedir(d);
    return best;
}

static const char *find_dir(struct arena *a, const struct kept_opts *o)
{
    const char *data;
    const char *best = NULL;
    int64_t best_ns = -1;

    if (data_dir(a, o->data, &data, NULL) < 0)
        return NULL;
    for (const char **p = data_places(a, data); *p; p++) {
        const char *dir =
            arena_printf(a, "%s/logs/%" PRI_STR "/%" PRI_STR, *p, STR_ARG(o->ns), STR_ARG(o->job))
                .p;
        int64_t ns = newest(a, dir);
        if (ns > best_ns) {
            best = dir;
            best_ns = ns;
        }
    }
    return best;
}

/* ---- which */

/* Of the last job of that name, all runs of the replica. */
static void add_replica(struct arena *a, const struct kept_opts *o, const char *dir, str replica,
                        struct runs *out)
{
    str text = STR_NONE;
    struct logs_run r;
    str owner = STR_NONE;
    size_t from = out->n;

    if (data_read(a, arena_printf(a, "%s/%" PRI_STR "/" LOGS_INDEX, dir, STR_ARG(replica)).p, &text,
                  NULL) < 0)
        return;
    for (str rest = text; rest.p;)
        if (logs_run_read(str_cut(&rest, '\n'), &r))
            owner = r.owner_uid;
    for (str rest = text; rest.p;) {
        if (!logs_run_read(str_cut(&rest, '\n'), &r) || !str_eq(r.owner_uid, owner))
            continue;
        if (o->container.n ? !str_eq(o->container, r.container) : !r.is_main)
            continue;
        str name = r.is_main ? arena_printf(a, "%lld.log", (long long)r.attempt)
                             : arena_printf(a, "%lld.%" PRI_STR ".log", (long long)r.attempt,
                                            STR_ARG(r.container));
        vec_push(out, (struct run){ .replica = replica,
                                    .attempt = r.attempt,
                                    .path = arena_printf(a, "%s/%" PRI_STR "/%" PRI_STR, dir,
                                                         STR_ARG(replica), STR_ARG(name))
                                                .p });
    }
    if (o->previous) { /* the last but one alone */
        if (out->n - from > 1)
            out->at[from] = out->at[out->n - 2];
        out->n = out->n - from > 1 ? from + 1 : from;
    }
}

static void list(struct arena *a, const struct kept_opts *o, const char *dir, struct runs *out)
{
    DIR *d = opendir(dir);

    for (struct dirent *x; d && (x = readdir(d));) {
        str name = arena_str(a, str_of(x->d_name));
        if (x->d_name[0] != '.' && (!o->is_wanted || o->is_wanted(o->ctx, name)))
            add_replica(a, o, dir, name, out);
    }
    if (d)
        closedir(d);
}

/* ---- reading: times of one width compare as text */

static void fill(struct run *r)
{
    ssize_t n;

    if (r->at) {
        memmove(r->ahead.p, r->ahead.p + r->at, r->ahead.n - r->at);
        r->ahead.n -= r->at;
        r->at = 0;
    }
    do
        n = logfile_read(r->file, buf_room(&r->ahead, READ_BYTES), READ_BYTES);
    while (n == LOGFILE_BUSY);
    r->ahead.n += n > 0 ? (size_t)n : 0;
    r->dry = n <= 0;
}

/* The next line, with its time; false: there is none. */
static bool peek(struct run *r, str *line)
{
    for (;;) {
        str rest = str_sub(buf_str(&r->ahead), r->at, r->ahead.n);
        ptrdiff_t end = str_find(rest, '\n');
        if (end >= 0 || (r->dry && rest.n)) {
            *line = end >= 0 ? str_sub(rest, 0, (size_t)end) : rest;
            return true;
        }
        if (r->dry)
            return false;
        fill(r);
    }
}

static void merge(const struct kept_opts *o, struct run *at, size_t n)
{
    for (;;) {
        struct run *first = NULL;
        str best = STR_NONE;
        for (size_t i = 0; i < n; i++) {
            str line;
            if (!peek(&at[i], &line))
                continue;
            int order =
                first ? str_cmp(str_sub(line, 0, TIME_BYTES_LOG), str_sub(best, 0, TIME_BYTES_LOG))
                      : -1;
            if (order < 0 || (order == 0 && at[i].attempt < first->attempt)) {
                first = &at[i];
                best = line;
            }
        }
        if (!first)
            return;
        str shown = o->timestamps ? best : str_sub(best, TIME_BYTES_LOG + 1, best.n);
        if (!o->on_line(o->ctx, first->replica, shown))
            return;
        first->at += best.n;
        first->at += first->at < first->ahead.n; /* its line feed */
    }
}

static int by_name(const void *x, const void *y)
{
    const struct run *a = x;
    const struct run *b = y;

    if (a->replica.n != b->replica.n) /* worker-9 before worker-10 */
        return a->replica.n < b->replica.n ? -1 : 1;
    int order = str_cmp(a->replica, b->replica);
    return order ? order : (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

bool kept_read(const struct kept_opts *o, void (*on_replica)(void *ctx, str replica))
{
    AUTO(arena) struct arena *a = arena_new();
    const char *dir = find_dir(a, o);
    struct runs runs = { 0 };
    struct logfile_opts how = {
        .tail = o->tail, .since_us = o->since_us, .limit_bytes = -1, .timestamps = true
    };

    if (!dir)
        return false;
    list(a, o, dir, &runs);
    if (runs.n)
        qsort(runs.at, runs.n, sizeof(*runs.at), by_name);
    for (size_t i = 0; i < runs.n; i++)
        on_replica(o->ctx, runs.at[i].replica);
    for (size_t i = 0; i < runs.n; i += OPEN_MOST) { /* of very many, some after others */
        size_t n = runs.n - i < OPEN_MOST ? runs.n - i : OPEN_MOST;
        for (size_t k = i; k < i + n; k++)
            runs.at[k].file = logfile_open(runs.at[k].path, &how);
        merge(o, &runs.at[i], n);
        for (size_t k = i; k < i + n; k++) {
            logfile_free(runs.at[k].file);
            buf_done(&runs.at[k].ahead);
        }
    }
    bool found = runs.n != 0;
    vec_done(&runs);
    return found;
}
