/* The table of horizontal pod autoscalers, of both versions. */

#include "builtin/cells/internal.h"

#include <inttypes.h>

enum { METRICS_SHOWN = 2 };

const struct kind_column hpa_columns[] = {
    NAME_COLUMN,
    COLUMN("Reference", "string", "The object that it scales."),
    COLUMN("Targets", "string", "Metrics: as they are, and as they should be."),
    COLUMN("MinPods", "string", "Fewest replicas."),
    COLUMN("MaxPods", "string", "Most replicas."),
    COLUMN("Replicas", "string", "Replicas there are."),
    AGE_COLUMN,
};

/* Where a type of metric keeps what is shown. */
struct metric_type {
    const char *type;
    const char *member;
    const char *average; /* put after averages */
    const char *missing; /* in place of an average that a status does not have */
    bool named;          /* shown as "cpu: ..." */
    bool utilization;    /* a percentage, when there is no average */
    bool average_only;
};

static const struct metric_type metric_types[] = {
    { "External", "external", " (avg)", "<unknown>", false, false, false },
    { "Pods", "pods", "", "<nil>", false, false, true },
    { "Object", "object", " (avg)", "<unknown>", false, false, false },
    { "Resource", "resource", "", "<nil>", true, true, false },
    { "ContainerResource", "containerResource", "", "<nil>", true, true, false },
};

static str percentage(struct arena *a, jv v, const char *other)
{
    return jv_is(v, JV_INT) ? arena_printf(a, "%" PRId64 "%%", jv_int(v, 0)) : str_of(other);
}

static str amount(struct arena *a, jv v, const char *other)
{
    return jv_is_null(v) ? str_of(other) : quantity_of_cell(a, v);
}

/* "cpu: 20%/80%": now and target are MetricValueStatus and MetricTarget */
static str metric(struct arena *a, const struct metric_type *t, jv spec, jv status)
{
    jv now = jv_at(status, "current");
    jv target = jv_at(spec, "target");
    str name = t->named ? jv_str(jv_at(spec, "name"), S("")) : S("");
    bool average = t->average_only || !jv_is_null(jv_at(target, "averageValue"));
    str is = S("<unknown>");
    str should;

    if (average) {
        if (jv_is(status, JV_OBJ))
            is = amount(a, jv_at(now, "averageValue"), t->missing);
        should = amount(a, jv_at(target, "averageValue"), "<nil>");
    } else if (t->utilization) {
        is = percentage(a, jv_at(now, "averageUtilization"), "<unknown>");
        should = percentage(a, jv_at(target, "averageUtilization"), "<auto>");
    } else {
        if (jv_is(status, JV_OBJ))
            is = amount(a, jv_at(now, "value"), "<nil>");
        should = amount(a, jv_at(target, "value"), "<nil>");
    }
    return arena_printf(a, "%" PRI_STR "%s%" PRI_STR "/%" PRI_STR "%s", STR_ARG(name),
                        t->named ? ": " : "", STR_ARG(is), STR_ARG(should),
                        average ? t->average : "");
}

static str metric_of(struct arena *a, jv spec, jv status)
{
    str type = jv_str(jv_at(spec, "type"), S(""));

    for (size_t i = 0; i < COUNT(metric_types); i++) {
        const struct metric_type *t = &metric_types[i];
        if (str_eqz(type, t->type))
            return metric(a, t, jv_at(spec, t->member), jv_at(status, t->member));
    }
    return S("<unknown type>");
}

static jv targets(const struct kind_ctx *c, jv obj)
{
    AUTO(buf) struct buf b = { 0 };
    jv specs = jv_at(obj, "spec", "metrics");
    jv statuses = jv_at(obj, "status", "currentMetrics");
    size_t n = jv_len(specs);

    if (!n)
        return jstrz(c->a, "<none>");
    for (size_t i = 0; i < n && i < METRICS_SHOWN; i++)
        join(&b, ", ", metric_of(c->a, jv_index(specs, i), jv_index(statuses, i)));
    if (n > METRICS_SHOWN)
        buf_printf(&b, " + %zu more...", n - METRICS_SHOWN);
    return cell_take(c, &b);
}

static jv row(const struct kind_ctx *c, jv obj, jv shown)
{
    jv spec = jv_at(obj, "spec");
    jv least = jv_at(spec, "minReplicas");
    str kind = jv_str(jv_at(spec, "scaleTargetRef", "kind"), S(""));
    str name = jv_str(jv_at(spec, "scaleTargetRef", "name"), S(""));

    return jarr(
        c->a, cell_name(c, obj),
        jstr(c->a, arena_printf(c->a, "%" PRI_STR "/%" PRI_STR, STR_ARG(kind), STR_ARG(name))),
        shown, jstr(c->a, jv_is(least, JV_INT) ? jv_num_text(c->a, least) : S("<unset>")),
        cell_int(c, jv_at(spec, "maxReplicas")),
        cell_int(c, jv_at(obj, "status", "currentReplicas")), cell_age(c, obj));
}

jv hpa_cells(const struct kind_ctx *c, jv obj)
{
    return row(c, obj, targets(c, obj));
}

/* Version 1 knows one metric, and has 80% where none is given. */
jv hpa_v1_cells(const struct kind_ctx *c, jv obj)
{
    jv now = jv_at(obj, "status", "currentCPUUtilizationPercentage");
    jv target = jv_at(obj, "spec", "targetCPUUtilizationPercentage");
    str is = percentage(c->a, now, "<unknown>");
    str should = percentage(c->a, target, "80%");

    return row(c, obj,
               jstr(c->a, arena_printf(c->a, "cpu: %" PRI_STR "/%" PRI_STR, STR_ARG(is),
                                       STR_ARG(should))));
}
