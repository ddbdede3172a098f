/* See summary.h. */

#include "cli/summary.h"

#include "cli/command.h"
#include "cli/exits.h"
#include "cli/make_job.h"
#include "cli/table.h"
#include "cli/view.h"

#include <inttypes.h>

enum { ROWS_MOST = 24 };

const char *summary_state(int code)
{
    static const struct {
        int code;
        const char *state;
    } rows[] = { { EXIT_DONE, "Succeeded" },
                 { EXIT_TIMEOUT, "TimedOut" },
                 { EXIT_INTERRUPTED, "Interrupted" } };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].code == code)
            return rows[i].state;
    return "Failed";
}

static bool was_good(const struct run_replica *r)
{
    return r->over && !r->failed && !r->stopped;
}

/* ---- who failed first */

static str cause(struct arena *a, const struct run_failure *f)
{
    if (f->code < 0)
        return f->reason[0] ? str_of(f->reason) : S("no container of it ran");
    str code = exit_text(a, f->code, str_of(f->reason));
    if (f->reason[0] && strcmp(f->reason, "Error") != 0)
        return arena_printf(a, "%s, exit code %" PRI_STR, f->reason, STR_ARG(code));
    return arena_printf(a, "exit code %" PRI_STR, STR_ARG(code));
}

static void print_failure(struct arena *a, struct buf *b, const struct run_job *j,
                          const struct summary_opts *o)
{
    const struct run_replica *r = run_job_failed_first(j);
    const char *red = o->color ? "\033[31m" : "";
    const char *off = o->color ? "\033[0m" : "";

    if (!r || !j->failed)
        return;
    str rest = o->tail ? o->tail(o->ctx, j, r->name) : STR_NONE;
    bool others = j->replicas.n > 1;
    buf_printf(b, "%s%" PRI_STR " failed%s: %" PRI_STR "%s", red, STR_ARG(r->name),
               others ? " first" : "", STR_ARG(cause(a, &r->failure)), off);
    if (r->failure.message[0])
        buf_printf(b, "; %" PRI_STR, STR_ARG(str_trim(text_plain(a, str_of(r->failure.message)))));
    buf_printf(b, "%s\n", rest.n ? "; its last lines:" : "; it wrote nothing");
    while (rest.n) {
        str line = str_cut(&rest, '\n');
        buf_printf(b, "%s  |%s %" PRI_STR "\n", red, off, STR_ARG(line));
    }
    /* who took too much memory, say, would have done so anywhere */
    if (r->failure.image[0] && strcmp(r->failure.image, MAKE_IMAGE_HERE) != 0 &&
        (!r->failure.reason[0] || !strcmp(r->failure.reason, "Error")))
        buf_printf(b,
                   "  image %" PRI_STR " is not mapped, so this ran on the machine's own files: "
                   "muster image map --help\n",
                   STR_ARG(text_plain(a, str_of(r->failure.image))));
}

/* ---- each replica */

/* Of its end, where that says more than the exit code. */
static str end_reason(const struct run_replica *r)
{
    if (!r->over || str_eqz(r->reason, "Error") || str_eqz(r->reason, "Completed"))
        return S("");
    return r->reason;
}

static void add_row(struct table *t, const struct run_replica *r)
{
    struct arena *a = t->a;
    str cells[] = { r->name,
                    r->state,
                    r->has_exit ? exit_text(a, r->exit_code, r->reason) : S("-"),
                    arena_printf(a, "%" PRId64, r->restarts),
                    r->began_ms && r->ended_ms ? time_short(a, r->ended_ms - r->began_ms) : S("-"),
                    end_reason(r) };
    table_add(t, cells);
}

static void print_replicas(struct arena *a, struct buf *b, const struct run_job *j)
{
    bool all = j->replicas.n <= ROWS_MOST;
    struct table t;
    bool reasons = false;
    size_t left_out = 0;
    size_t good = 0;

    if (!j->replicas.n)
        return;
    for (size_t i = 0; i < j->replicas.n; i++)
        reasons = reasons || end_reason(&j->replicas.at[i]).n;
    table_init(&t, a,
               reasons ? "REPLICA|STATE|EXIT|RESTARTS|TIME|REASON"
                       : "REPLICA|STATE|EXIT|RESTARTS|TIME");
    t.indent = 2;
    for (size_t i = 0; i < j->replicas.n; i++) {
        const struct run_replica *r = &j->replicas.at[i];
        bool shown = all || (!was_good(r) && t.n < ROWS_MOST);
        if (shown)
            add_row(&t, r);
        left_out += !shown;
        good += !shown && was_good(r);
    }
    if (t.n)
        table_print(&t, b);
    if (left_out && good == left_out)
        buf_printf(b, "  %s%zu replicas, all Succeeded\n", left_out < j->replicas.n ? "and " : "",
                   left_out);
    else if (left_out)
        buf_printf(b, "  and %zu replicas more, %zu of them Succeeded\n", left_out, good);
}

static void print_job(struct arena *a, struct buf *b, const struct run_job *j,
                      const struct summary_opts *o)
{
    const char *off = o->color ? "\033[0m" : "";
    str hue = o->color ? arena_printf(a, "\033[%sm", state_hue(j->state)) : S("");
    int64_t ms = (j->ended_ms ? j->ended_ms - j->began_ms : o->ms);

    print_failure(a, b, j, o);
    buf_printf(b, "%" PRI_STR " %" PRI_STR "%" PRI_STR "%s after %" PRI_STR, STR_ARG(j->title),
               STR_ARG(hue), STR_ARG(j->state), off, STR_ARG(time_short(a, ms)));
    if (j->failed && j->message.n)
        buf_printf(b, ": %" PRI_STR, STR_ARG(str_trim(text_plain(a, j->message))));
    buf_addc(b, '\n');
    print_replicas(a, b, j);
    str logs = o->logs ? o->logs(o->ctx, j) : STR_NONE;
    if (logs.n)
        buf_printf(b, "  logs: %" PRI_STR "\n", STR_ARG(logs));
}

str summary_text(struct arena *a, const struct run_state *s, const struct summary_opts *o)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < s->jobs.n; i++)
        print_job(a, &b, s->jobs.at[i], o);
    for (size_t i = 0; i < o->n_claims; i++)
        buf_printf(&b, "claim %s: %s (%" PRI_STR ")\n", o->claims[i].name, o->claims[i].path,
                   STR_ARG(run_claims_size(a, o->claims[i].bytes)));
    if (o->code == EXIT_TIMEOUT)
        buf_printf(&b, "timed out after %" PRI_STR "\n", STR_ARG(time_short(a, o->ms)));
    if (o->code == EXIT_INTERRUPTED)
        buf_printf(&b, "interrupted after %" PRI_STR "\n", STR_ARG(time_short(a, o->ms)));
    return arena_str(a, buf_str(&b));
}

/* ---- for programs */

static jv seconds(struct arena *a, int64_t ms)
{
    return jnum(a, arena_printf(a, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000));
}

static jv text_or_none(struct arena *a, str s)
{
    return s.n ? jstr(a, s) : JV_ABSENT;
}

static jv replica_json(struct arena *a, const struct run_replica *r)
{
    bool timed = r->began_ms && r->ended_ms;

    return jobj(a, { "name", jstr(a, r->name) }, { "state", jstr(a, r->state) },
                { "exitCode", r->has_exit ? jint(a, r->exit_code) : JV_ABSENT },
                { "restarts", jint(a, r->restarts) },
                { "seconds", timed ? seconds(a, r->ended_ms - r->began_ms) : JV_ABSENT },
                { "reason", text_or_none(a, r->reason) },
                { "message", text_or_none(a, r->message) });
}

static jv failure_json(struct arena *a, const struct run_job *j, const struct summary_opts *o)
{
    const struct run_replica *r = run_job_failed_first(j);
    struct jbuild lines = jb_arr(a);

    if (!r || !j->failed)
        return JV_ABSENT;
    str rest = o->tail ? o->tail(o->ctx, j, r->name) : STR_NONE;
    while (rest.n)
        jb_push(&lines, jstr(a, str_cut(&rest, '\n')));
    return jobj(a, { "replica", jstr(a, r->name) },
                { "exitCode", r->failure.code >= 0 ? jint(a, r->failure.code) : JV_ABSENT },
                { "reason", text_or_none(a, str_of(r->failure.reason)) },
                { "message", text_or_none(a, str_of(r->failure.message)) },
                { "lastLines", jb_done(&lines) });
}

static jv job_json(struct arena *a, const struct run_job *j, const struct summary_opts *o)
{
    struct jbuild replicas = jb_arr(a);
    jv obj = jdoc_root(j->obj);
    int64_t ms = j->ended_ms ? j->ended_ms - j->began_ms : o->ms;

    for (size_t i = 0; i < j->replicas.n; i++)
        jb_push(&replicas, replica_json(a, &j->replicas.at[i]));
    return jobj(a,
                { "kind", j->kind ? jstr(a, str_of(j->kind->planner.res->kind)) : jstrz(a, "Pod") },
                { "namespace", jstr(a, j->ns) }, { "name", jstr(a, j->name) },
                { "state", jstr(a, j->state) }, { "message", text_or_none(a, j->message) },
                { "seconds", seconds(a, ms) }, { "replicas", jb_done(&replicas) },
                { "firstFailure", failure_json(a, j, o) },
                { "logs", text_or_none(a, o->logs ? o->logs(o->ctx, j) : STR_NONE) },
                { "object", jv_without(a, obj, "metadata", "managedFields") });
}

jv summary_json(struct arena *a, const struct run_state *s, const struct summary_opts *o)
{
    struct jbuild jobs = jb_arr(a);

    for (size_t i = 0; i < s->jobs.n; i++)
        jb_push(&jobs, job_json(a, s->jobs.at[i], o));
    return jobj(a, { "state", jstr(a, str_of(summary_state(o->code))) },
                { "exitCode", jint(a, o->code) }, { "seconds", seconds(a, o->ms) },
                { "run", text_or_none(a, o->run) },
                { "claims", o->n_claims ? run_claims_json(a, o->claims, o->n_claims) : JV_ABSENT },
                { "jobs", jb_done(&jobs) });
}
