/* Tables of jobs and cronjobs. */

#include "builtin/cells/internal.h"

#include "base/time.h"

#include <inttypes.h>

const struct kind_column job_columns[] = {
    NAME_COLUMN,
    COLUMN("Status", "string", "Whether it runs, is suspended, or how it ended."),
    COLUMN("Completions", "string", "Pods that succeeded, of those wanted."),
    COLUMN("Duration", "string", "How long it took, or has been running."),
    AGE_COLUMN,
    CONTAINERS_COLUMN(WIDE_COLUMN),
    IMAGES_COLUMN(WIDE_COLUMN),
    WIDE_COLUMN("Selector", "string", "Which pods belong to it."),
};

const struct kind_column cronjob_columns[] = {
    NAME_COLUMN,
    COLUMN("Schedule", "string", "When jobs are started, as in a crontab."),
    COLUMN("Timezone", "string", "Time zone of the schedule."),
    COLUMN("Suspend", "boolean", "Whether starting jobs is suspended."),
    COLUMN("Active", "integer", "Jobs that are running."),
    COLUMN("Last Schedule", "string", "Time since a job was last started."),
    AGE_COLUMN,
    CONTAINERS_COLUMN(WIDE_COLUMN),
    IMAGES_COLUMN(WIDE_COLUMN),
    WIDE_COLUMN("Selector", "string", "Which pods belong to its jobs."),
};

static jv job_status(const struct kind_ctx *c, jv obj)
{
    static const struct {
        const char *condition; /* NULL: being deleted */
        const char *word;
    } rows[] = {
        { "Complete", "Complete" },
        { "Failed", "Failed" },
        { NULL, "Terminating" },
        { "Suspended", "Suspended" },
        { "FailureTarget", "FailureTarget" },
        { "SuccessCriteriaMet", "SuccessCriteriaMet" },
    };
    jv conditions = jv_at(obj, "status", "conditions");
    bool deleted = !jv_is_null(jv_at(obj, "metadata", "deletionTimestamp"));

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].condition ? cells_condition(conditions, str_of(rows[i].condition)) : deleted)
            return jstr(c->a, str_of(rows[i].word));
    return jstrz(c->a, "Running");
}

static jv job_completions(const struct kind_ctx *c, jv obj)
{
    int64_t succeeded = jv_int(jv_at(obj, "status", "succeeded"), 0);
    jv wanted = jv_at(obj, "spec", "completions");
    int64_t parallel = jv_int(jv_at(obj, "spec", "parallelism"), 0);

    if (jv_is(wanted, JV_INT))
        return cell_ratio(c, succeeded, jv_int(wanted, 0));
    if (parallel <= 1)
        return cell_ratio(c, succeeded, 1);
    return jstr(c->a, arena_printf(c->a, "%" PRId64 "/1 of %" PRId64, succeeded, parallel));
}

static jv job_duration(const struct kind_ctx *c, jv obj)
{
    str start = jv_str(jv_at(obj, "status", "startTime"), S(""));
    str end = jv_str(jv_at(obj, "status", "completionTime"), S(""));
    int64_t from;
    int64_t to = c->now_ms * 1000;

    if (time_parse(start, &from, NULL) < 0)
        return jstrz(c->a, "");
    if (end.n)
        (void)time_parse(end, &to, NULL);
    return jstr(c->a, age_text(c->a, (to - from) / 1000));
}

jv job_cells(const struct kind_ctx *c, jv obj)
{
    jv containers = jv_at(obj, "spec", "template", "spec", "containers");

    return jarr(c->a, cell_name(c, obj), job_status(c, obj), job_completions(c, obj),
                job_duration(c, obj), cell_age(c, obj), cell_joined(c, containers, "name"),
                cell_joined(c, containers, "image"),
                cell_selector(c, jv_at(obj, "spec", "selector")));
}

static const char *suspend_word(jv suspend)
{
    if (!jv_is(suspend, JV_BOOL))
        return "<unset>";
    return jv_bool(suspend, false) ? "True" : "False";
}

jv cronjob_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");
    jv job = jv_at(spec, "jobTemplate", "spec");
    jv containers = jv_at(job, "template", "spec", "containers");
    jv last = jv_at(obj, "status", "lastScheduleTime");

    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(spec, "schedule")),
                cell_set(c, jv_at(spec, "timeZone"), "<none>"),
                jstr(c->a, str_of(suspend_word(jv_at(spec, "suspend")))),
                cell_count(c, jv_at(obj, "status", "active")),
                jv_is_null(last) ? jstrz(c->a, "<none>") : cell_since(c, last), cell_age(c, obj),
                cell_joined(c, containers, "name"), cell_joined(c, containers, "image"),
                cell_selector(c, jv_at(job, "selector")));
}
