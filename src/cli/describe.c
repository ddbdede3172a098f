/* muster describe: all there is to know of a job on one page, and why it failed. */

#include "cli/events.h"
#include "cli/exits.h"
#include "cli/notes.h"
#include "cli/podlog.h"
#include "cli/pods.h"
#include "cli/table.h"

#include "base/time.h"
#include "job/gang.h"
#include "loop/loop.h"

#include <inttypes.h>

struct flags {
    struct session_opts to;
    int64_t tail;
};

static const struct opt options[] = {
    { "tail", 0, OPT_INT, offsetof(struct flags, tail), "N",
      "show N lines of the first failure's log (default: 20; 0: none)", NULL },
    SESSION_OPTIONS(struct flags, to),
    { 0 }
};

enum { STALL_LINES = 3, STALL_LOGS = 8 };

struct page {
    struct session *s;
    struct arena *a;
    struct buf b;
    struct job_found job;
    struct job_pods pods;
    int64_t now_ms;
};

static void line(struct page *p, const char *name, str value)
{
    if (value.n)
        buf_printf(&p->b, "%-12s%" PRI_STR "\n", name, STR_ARG(text_plain(p->a, value)));
}

static str with_age(struct page *p, jv time)
{
    str text = jv_str(time, STR_NONE);

    if (!text.n)
        return STR_NONE;
    return arena_printf(p->a, "%" PRI_STR " (%" PRI_STR " ago)", STR_ARG(text),
                        STR_ARG(age_since(p->a, time, p->now_ms)));
}

static str pairs(struct page *p, jv map, const char *but)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, map) {
        if (but && str_starts(it.key, str_of(but)))
            continue;
        buf_printf(&b, "%s%" PRI_STR "=%" PRI_STR, b.n ? ", " : "", STR_ARG(it.key),
                   STR_ARG(jv_is(it.value, JV_STR) ? jv_str(it.value, STR_NONE)
                                                   : json_text(p->a, it.value)));
    }
    return arena_str(p->a, buf_str(&b));
}

static void print_head(struct page *p)
{
    jv obj = p->job.obj;
    const struct kube_resource *res = p->job.kind->planner.res;
    struct job_sum sum = job_sum(p->a, &p->job, JV_ABSENT);
    str message = jv_str(jv_at(sum.condition, "message"), STR_NONE);
    int64_t from = job_time(jv_at(obj, "status", "startTime"));
    int64_t to = job_time(jv_at(obj, "status", "completionTime"));

    line(p, "Name:", meta_name(obj));
    line(p, "Namespace:", meta_namespace(obj));
    line(p, "Kind:", arena_printf(p->a, "%s (%s/%s)", res->kind, res->group, res->version));
    line(p, "State:", sum.state);
    line(p, "Why:", message);
    line(p, "Created:", with_age(p, jv_at(obj, "metadata", "creationTimestamp")));
    line(p, "Started:", with_age(p, jv_at(obj, "status", "startTime")));
    line(p, "Ended:", with_age(p, jv_at(obj, "status", "completionTime")));
    if (from >= 0)
        line(p, "Took:", age_text(p->a, (to < 0 ? p->now_ms : to) - from));
    line(p, "Policy:", pairs(p, jv_at(obj, "spec", "runPolicy"), NULL));
    line(p, "Labels:", pairs(p, meta_labels(obj), NULL));
}

/* ---- replicas */

static void add_pod(struct page *p, struct table *t, const struct job_pod *r, str name)
{
    struct pod_state st = pod_state(p->a, r->pod);
    str cells[TABLE_COLUMNS] = {
        name,
        st.state,
        st.reason.n ? st.reason : S("-"),
        arena_printf(p->a, "%" PRId64, pod_restarts(r->pod)),
        st.has_exit ? exit_text(p->a, st.exit_code, st.reason) : S("-"),
        jv_str(jv_at(r->pod, "spec", "nodeName"), S("-")),
        age_since(p->a, jv_at(r->pod, "metadata", "creationTimestamp"), p->now_ms),
    };

    table_add(t, cells);
}

static void print_replicas(struct page *p)
{
    const struct job *j = job_read(p->a, p->job.kind, p->job.obj, NULL);
    struct table t;

    table_init(&t, p->a, "REPLICA|STATE|REASON|RESTARTS|EXIT|NODE|AGE");
    t.indent = 2;
    for (size_t i = 0; i < j->n_roles; i++) {
        const struct job_role *role = &j->roles[i];
        int64_t next = 0;
        int64_t missing = 0;
        for (size_t k = 0; k < p->pods.n; k++) {
            const struct job_pod *r = &p->pods.at[k];
            if (!str_eq(r->role, role->label))
                continue;
            add_pod(p, &t, r, replica_name(p->a, r));
            next++;
        }
        missing = role->replicas - next;
        if (missing > 0) {
            str cells[TABLE_COLUMNS] = { arena_printf(
                                             p->a, "%" PRI_STR " (%" PRId64 " of %" PRId64 ")",
                                             STR_ARG(role->label), missing, role->replicas),
                                         S("No pod"),
                                         S("-"),
                                         S("-"),
                                         S("-"),
                                         S("-"),
                                         S("-") };
            table_add(&t, cells);
        }
    }
    buf_add(&p->b, S("\nReplicas:\n"));
    if (!t.n)
        buf_add(&p->b, S("  none\n"));
    table_print(&t, &p->b);
}

/* Why each pod that waits or has failed does, or why there are none: what is too long for a table.
 */
static void print_reasons(struct page *p)
{
    struct replica_note *notes = ARENA_ARRAY(p->a, struct replica_note, p->pods.n + 2);
    str held = gang_held_text(p->job.obj);
    size_t n = 0;

    if (held.n)
        notes[n++] = (struct replica_note){ S("all replicas"), text_plain(p->a, held) };
    for (size_t i = 0; i < p->pods.n; i++) {
        struct pod_state st = pod_state(p->a, p->pods.at[i].pod);
        if (st.message.n)
            notes[n++] = (struct replica_note){ replica_name(p->a, &p->pods.at[i]),
                                                text_plain(p->a, str_trim(st.message)) };
    }
    notes_print(p->a, &p->b, notes, n, n);
}

static void print_conditions(struct page *p)
{
    struct table t;

    table_init(&t, p->a, "TYPE|STATUS|REASON|SINCE|MESSAGE");
    t.indent = 2;
    JV_EACH (it, jv_at(p->job.obj, "status", "conditions")) {
        str cells[TABLE_COLUMNS] = {
            jv_str(jv_at(it.value, "type"), STR_NONE), jv_str(jv_at(it.value, "status"), STR_NONE),
            jv_str(jv_at(it.value, "reason"), S("-")),
            age_since(p->a, jv_at(it.value, "lastTransitionTime"), p->now_ms),
            jv_str(jv_at(it.value, "message"), STR_NONE)
        };
        table_add(&t, cells);
    }
    buf_add(&p->b, S("\nConditions:\n"));
    if (!t.n)
        buf_add(&p->b, S("  none yet\n"));
    table_print(&t, &p->b);
}

static int print_events(struct page *p)
{
    struct events events;
    struct table t;
    int code = events_list(p->s, meta_namespace(p->job.obj), &p->job, &p->pods, &events);

    if (code >= 0)
        return code;
    table_init(&t, p->a, "AGE|TYPE|REASON|OBJECT|MESSAGE");
    t.indent = 2;
    for (size_t i = 0; i < events.n; i++) {
        jv e = events.at[i].obj;
        int64_t age = p->now_ms - events.at[i].at_ms;
        str cells[TABLE_COLUMNS] = { age_text(p->a, age > 0 ? age : 0),
                                     jv_str(jv_at(e, "type"), STR_NONE),
                                     jv_str(jv_at(e, "reason"), STR_NONE), event_object(p->a, e),
                                     event_text(p->a, e) };
        table_add(&t, cells);
    }
    buf_add(&p->b, S("\nEvents:\n"));
    if (!t.n)
        buf_add(&p->b, S("  none\n"));
    table_print(&t, &p->b);
    return -1;
}

/* ---- the first failure */

static void print_log(struct page *p, str text)
{
    str rest = str_ends(text, S("\n")) ? str_sub(text, 0, text.n - 1) : text;

    if (!text.n)
        buf_add(&p->b, S("  (it wrote nothing)\n"));
    while (text.n && rest.p) {
        str line = text_plain(p->a, str_cut(&rest, '\n'));
        buf_printf(&p->b, "  %" PRI_STR "\n", STR_ARG(line));
    }
}

static int print_failure(struct page *p, int64_t tail)
{
    struct pod_failure f = { 0 };
    str text;
    str why;

    if (!pods_first_failure(&p->pods, &f))
        return -1;
    str name = replica_name(p->a, f.replica);
    str reason = exit_has_name(f.exit_code, f.reason) ? STR_NONE : f.reason;
    buf_printf(&p->b,
               "\nFirst failure: %" PRI_STR " (container %" PRI_STR ") exited with %" PRI_STR
               "%s%" PRI_STR "%s, %" PRI_STR " ago\n",
               STR_ARG(name), STR_ARG(f.container), STR_ARG(exit_text(p->a, f.exit_code, f.reason)),
               reason.n ? " (" : "", STR_ARG(text_plain(p->a, reason)), reason.n ? ")" : "",
               STR_ARG(age_text(p->a, p->now_ms > f.at_ms ? p->now_ms - f.at_ms : 0)));
    if (f.message.n)
        print_log(p, f.message);
    if (tail <= 0)
        return -1;
    struct podlog_opts o = { .ns = meta_namespace(p->job.obj),
                             .pod = meta_name(f.replica->pod),
                             .container = f.container,
                             .previous = f.previous,
                             .tail = tail };
    int code = podlog_read(p->s, &o, &text, &why);
    if (code >= 0)
        return code;
    if (why.n) {
        buf_printf(&p->b, "Its log cannot be read: %" PRI_STR "\n", STR_ARG(text_plain(p->a, why)));
        return -1;
    }
    buf_add(&p->b, S("Its last lines:\n"));
    print_log(p, text);
    return -1;
}

/* ---- no progress */

static bool is_stalled(const struct page *p)
{
    struct stall_tally t = { 0 };

    for (size_t i = 0; i < p->pods.n; i++)
        stall_tally_add(&t, p->job.kind, p->pods.at[i].pod);
    return stall_tally_is_stalled(&t);
}

/* Which replicas, since when, where they wait, and what they wrote last. */
static int print_stall(struct page *p, int64_t tail)
{
    if (!is_stalled(p))
        return -1;
    buf_add(&p->b, S("\nStalled:\n"));
    for (size_t i = 0, n = 0; i < p->pods.n; i++) {
        const struct job_pod *r = &p->pods.at[i];
        struct podlog_opts o = { .ns = meta_namespace(p->job.obj),
                                 .pod = meta_name(r->pod),
                                 .container = str_of(p->job.kind->container),
                                 .tail = tail < STALL_LINES ? tail : STALL_LINES };
        str text, why;
        if (!pod_is_stalled(r->pod, &why))
            continue;
        buf_printf(&p->b, "  %" PRI_STR ": %" PRI_STR "\n", STR_ARG(replica_name(p->a, r)),
                   STR_ARG(text_plain(p->a, why)));
        if (o.tail <= 0 || n++ >= STALL_LOGS)
            continue;
        int code = podlog_read(p->s, &o, &text, &why);
        if (code >= 0)
            return code;
        if (!why.n)
            print_log(p, text);
    }
    return -1;
}

static int describe(struct session *s, const char *word, int64_t tail)
{
    struct page p = { .s = s, .a = s->a };
    jv items;
    int code = jobs_find(s, word, &p.job);

    if (code < 0)
        code = jobs_pods(s, s->ns, meta_name(p.job.obj), &items);
    if (code >= 0)
        return code;
    p.now_ms = wall_now_ms();
    p.pods = job_pods_of(s->a, &p.job, items);
    print_head(&p);
    print_replicas(&p);
    print_reasons(&p);
    print_conditions(&p);
    code = print_stall(&p, tail);
    if (code < 0)
        code = print_events(&p);
    if (code < 0)
        code = print_failure(&p, tail);
    if (code < 0)
        code = command_print(buf_str(&p.b)) < 0 ? EXIT_FAILED : EXIT_DONE;
    buf_done(&p.b);
    return code;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { .tail = 20 };
    struct session s;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (n == 0) {
        command_fail(EXIT_USAGE, "describe needs a job");
        return command_usage(c);
    }
    code = session_open(&s, &f.to);
    for (int i = 0; i < n && code <= EXIT_DONE; i++) {
        if (i)
            command_print(S("\n\n"));
        code = describe(&s, words[i], f.tail);
    }
    session_close(&s);
    return code;
}

const struct command command_describe = {
    .name = "describe",
    .summary = "show a job: replicas, conditions, events, why it failed",
    .help =
        "Usage: muster describe [OPTION]... JOB...\n"
        "\n"
        "Shows a job (NAME or KIND/NAME) in detail: each replica with its state, reason,\n"
        "restarts, exit code and node; conditions; events, the latest last; and the last lines\n"
        "of the log of the container that failed first.\n",
    .options = options,
    .operands = OPERANDS_JOBS,
    .run = run,
};
