/* Events, of core/v1 and of events.k8s.io/v1: the same thing under two sets of names. */

#include "builtin/check.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"

enum { MAX_REASON = 128, MAX_NOTE = 1024 };

/* The names that the two versions have for the same fields. */
struct event_names {
    str involved;
    str message;
    str controller;
    str instance;
    const char *controller_shown;
};

static const struct event_names core_names = { S_INIT("involvedObject"), S_INIT("message"),
                                               S_INIT("reportingComponent"),
                                               S_INIT("reportingInstance"), "reportingComponent" };
static const struct event_names new_names = { S_INIT("regarding"), S_INIT("note"),
                                              S_INIT("reportingController"),
                                              S_INIT("reportingInstance"), "reportingController" };

static void at_most(struct problems *ps, const struct path *p, str text, size_t max)
{
    if (text.n > max)
        problem_invalid(ps, p, LSTR(""), "can have at most %zu characters", max);
}

/* An event is in the namespace of what it is about; things without one have theirs in default. */
static void namespace_check(struct problems *ps, jv obj, str involved, bool timed)
{
    str own = meta_namespace(obj);
    bool home = str_eq(own, S("default")) || (timed ? str_eq(own, S("kube-system")) : !own.n);

    if (involved.n ? timed || str_eq(own, involved) : home)
        return;
    problem_invalid(ps, AT(ROOT("involvedObject"), "namespace"), jstr(ps->a, involved),
                    "does not match event.namespace");
}

static void common_check(struct problems *ps, jv obj, const struct event_names *n)
{
    bool timed = !jv_is_null(FIELD(obj, "eventTime"));
    str controller = jv_str(jv_get(obj, n->controller), S(""));
    str instance = jv_str(jv_get(obj, n->instance), S(""));

    namespace_check(ps, obj, FIELD_STR(jv_get(obj, n->involved), "namespace"), timed);
    if (timed) {
        if (!controller.n)
            problem_required(ps, ATZ(NULL, n->controller_shown), "%s", "");
        name_check(ps, ATZ(NULL, n->controller_shown), controller, name_qualified);
        if (!instance.n)
            problem_required(ps, ROOT("reportingInstance"), "%s", "");
        at_most(ps, ROOT("reportingInstance"), instance, MAX_REASON);
        required_check(ps, ROOT("action"), FIELD(obj, "action"));
        at_most(ps, ROOT("action"), FIELD_STR(obj, "action"), MAX_REASON);
        required_check(ps, ROOT("reason"), FIELD(obj, "reason"));
        at_most(ps, ROOT("reason"), FIELD_STR(obj, "reason"), MAX_REASON);
        at_most(ps, ROOT("message"), jv_str(jv_get(obj, n->message), S("")), MAX_NOTE);
    }
    name_check(ps, ROOT("namespace"), meta_namespace(obj), name_dns1123_subdomain);
}

void event_validate(struct problems *ps, jv obj)
{
    common_check(ps, obj, &core_names);
}

static void series_check(struct problems *ps, jv series)
{
    if (jv_is_null(series))
        return;
    if (FIELD_INT(series, "count") < 2)
        problem_invalid(ps, ROOT("series.count"), LSTR(""), "should be at least 2");
    if (jv_is_null(FIELD(series, "lastObservedTime")))
        problem_required(ps, ROOT("series.lastObservedTime"), "%s", "");
}

void new_event_validate(struct problems *ps, jv obj)
{
    static const struct {
        const char *field;
        const char *shown;
    } unset[] = { { "deprecatedFirstTimestamp", "firstTimestamp" },
                  { "deprecatedLastTimestamp", "lastTimestamp" },
                  { "deprecatedCount", "count" },
                  { "deprecatedSource", "source" } };
    str type = FIELD_STR(obj, "type");

    common_check(ps, obj, &new_names);
    if (ps->is_update)
        return;
    series_check(ps, FIELD(obj, "series"));
    if (jv_is_null(FIELD(obj, "eventTime")))
        problem_required(ps, ROOT("eventTime"), "%s", "");
    if (!str_eq(type, S("Normal")) && !str_eq(type, S("Warning")))
        problem_invalid(ps, ROOT("type"), LSTR(""), "has invalid value: %" PRI_STR, STR_ARG(type));
    for (size_t i = 0; i < COUNT(unset); i++) {
        jv v = jv_get(obj, str_of(unset[i].field));
        if (!jv_is_null(v) && (jv_len(v) || jv_int(v, 0) || jv_str(v, S("")).n))
            problem_invalid(ps, ATZ(NULL, unset[i].shown), LSTR(""), "needs to be unset");
    }
}

void new_event_validate_update(struct problems *ps, jv obj, jv old)
{
    static const struct {
        const char *field;
        const char *shown;
    } fixed[] = { { "regarding", "involvedObject" },
                  { "reason", "reason" },
                  { "note", "message" },
                  { "deprecatedSource", "source" },
                  { "deprecatedFirstTimestamp", "firstTimestamp" },
                  { "deprecatedLastTimestamp", "lastTimestamp" },
                  { "deprecatedCount", "count" },
                  { "type", "type" },
                  { "eventTime", "eventTime" },
                  { "action", "action" },
                  { "related", "related" },
                  { "reportingController", "reportingController" },
                  { "reportingInstance", "reportingInstance" } };

    if (!jv_equal_semantic(FIELD(obj, "series"), FIELD(old, "series")))
        series_check(ps, FIELD(obj, "series"));
    for (size_t i = 0; i < COUNT(fixed); i++)
        immutable_check(ps, ATZ(NULL, fixed[i].shown), jv_get(obj, str_of(fixed[i].field)),
                        jv_get(old, str_of(fixed[i].field)));
}
