/* CronJob. */

#include "builtin/hooks.h"
#include "builtin/job.h"
#include "kube/cron.h"

static jv template_defaults(struct arena *a, jv tmpl)
{
    return edit_member(a, tmpl, S("spec"), job_spec_defaults);
}

jv cronjob_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    edit_default(&spec, S("concurrencyPolicy"), LSTR("Allow"));
    if (jv_is_null(edit_get(&spec, S("suspend"))))
        edit_set(&spec, S("suspend"), JV_FALSE);
    if (jv_is_null(edit_get(&spec, S("successfulJobsHistoryLimit"))))
        edit_set(&spec, S("successfulJobsHistoryLimit"), LINT(3));
    if (jv_is_null(edit_get(&spec, S("failedJobsHistoryLimit"))))
        edit_set(&spec, S("failedJobsHistoryLimit"), LINT(1));
    edit_set(&spec, S("jobTemplate"),
             template_defaults(c->a, FIELD(FIELD(obj, "spec"), "jobTemplate")));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

static void schedule_check(struct problems *ps, const struct path *p, jv spec)
{
    str schedule = FIELD_STR(spec, "schedule");
    struct cron parsed;
    str why;

    if (!schedule.n) {
        problem_required(ps, p, "%s", "");
        return;
    }
    if (str_contains(schedule, S("TZ"))) {
        problem_invalid(ps, p, FIELD(spec, "schedule"),
                        "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        return;
    }
    if (cron_parse(ps->a, schedule, &parsed, &why) < 0)
        problem_invalid(ps, p, FIELD(spec, "schedule"), "%" PRI_STR, STR_ARG(why));
}

static bool is_zone_part(str s)
{
    if (!s.n || s.n > 14 || str_eq(s, S(".")) || str_eq(s, S("..")) || s.p[0] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (!c || !strchr(".-_+", c)))
            return false;
    }
    return true;
}

/* Which zones there are is known only where the zone files are: here a name need only look right.
 */
static void time_zone_check(struct problems *ps, const struct path *p, jv zone)
{
    str name = jv_str(zone, S(""));

    if (jv_is_null(zone))
        return;
    if (!name.n) {
        problem_invalid(ps, p, zone, "timeZone must be nil or non-empty string");
        return;
    }
    for (str rest = name; rest.p;) {
        if (!is_zone_part(str_cut(&rest, '/'))) {
            problem_invalid(ps, p, zone, "unknown time zone %" PRI_STR, STR_ARG(name));
            return;
        }
    }
    if (str_eq_nocase(name, S("Local")))
        problem_invalid(ps, p, zone,
                        "timeZone must be an explicit time zone as defined in "
                        "https://www.iana.org/time-zones");
}

static void template_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const manual[] = { "nil", "false", NULL };

    job_spec_check(ps, p, spec);
    if (!jv_is_null(FIELD(spec, "selector")))
        problem_invalid(ps, AT(p, "selector"), FIELD(spec, "selector"),
                        "`selector` will be auto-generated");
    if (FIELD_BOOL(spec, "manualSelector"))
        problem_not_supported(ps, AT(p, "manualSelector"), JV_TRUE, manual);
}

void cronjob_validate(struct problems *ps, jv obj)
{
    static const char *const policies[] = { "Allow", "Forbid", "Replace", NULL };
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    schedule_check(ps, AT(p, "schedule"), spec);
    nonnegative_check(ps, AT(p, "startingDeadlineSeconds"), FIELD(spec, "startingDeadlineSeconds"));
    time_zone_check(ps, AT(p, "timeZone"), FIELD(spec, "timeZone"));
    enum_required(ps, AT(p, "concurrencyPolicy"), FIELD(spec, "concurrencyPolicy"), policies);
    template_check(ps, AT(AT(p, "jobTemplate"), "spec"), FIELD(FIELD(spec, "jobTemplate"), "spec"));
    nonnegative_check(ps, AT(p, "successfulJobsHistoryLimit"),
                      FIELD(spec, "successfulJobsHistoryLimit"));
    nonnegative_check(ps, AT(p, "failedJobsHistoryLimit"), FIELD(spec, "failedJobsHistoryLimit"));
    if (!ps->is_update && meta_name(obj).n > 52)
        problem_invalid(ps, AT(ROOT("metadata"), "name"), FIELD(meta_of(obj), "name"),
                        "must be no more than 52 characters");
}
