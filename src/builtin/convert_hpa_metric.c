/* Metrics of autoscalers: where v1 (in its annotation) and v2 have the same thing. */

#include "builtin/convert_hpa.h"

#include "builtin/check.h"

struct twin {
    const char *v1;
    const char *in; /* "target", "current", "metric", or NULL: at the top */
    const char *v2;
    const char *zero; /* v1 writes this where v2 has nothing */
};

struct source {
    const char *name;
    struct twin spec[6];
    struct twin status[6];
};

/* In the order that v1 writes them. */
static const struct source sources[] = {
    { "object",
      { { "target", NULL, "describedObject", NULL },
        { "metricName", "metric", "name", "" },
        { "targetValue", "target", "value", "0" },
        { "selector", "metric", "selector", NULL },
        { "averageValue", "target", "averageValue", NULL } },
      { { "target", NULL, "describedObject", NULL },
        { "metricName", "metric", "name", "" },
        { "currentValue", "current", "value", "0" },
        { "selector", "metric", "selector", NULL },
        { "averageValue", "current", "averageValue", NULL } } },
    { "pods",
      { { "metricName", "metric", "name", "" },
        { "targetAverageValue", "target", "averageValue", "0" },
        { "selector", "metric", "selector", NULL } },
      { { "metricName", "metric", "name", "" },
        { "currentAverageValue", "current", "averageValue", "0" },
        { "selector", "metric", "selector", NULL } } },
    { "resource",
      { { "name", NULL, "name", "" },
        { "targetAverageUtilization", "target", "averageUtilization", NULL },
        { "targetAverageValue", "target", "averageValue", NULL } },
      { { "name", NULL, "name", "" },
        { "currentAverageUtilization", "current", "averageUtilization", NULL },
        { "currentAverageValue", "current", "averageValue", "0" } } },
    { "containerResource",
      { { "name", NULL, "name", "" },
        { "targetAverageUtilization", "target", "averageUtilization", NULL },
        { "targetAverageValue", "target", "averageValue", NULL },
        { "container", NULL, "container", "" } },
      { { "name", NULL, "name", "" },
        { "currentAverageUtilization", "current", "averageUtilization", NULL },
        { "currentAverageValue", "current", "averageValue", "0" },
        { "container", NULL, "container", "" } } },
    { "external",
      { { "metricName", "metric", "name", "" },
        { "metricSelector", "metric", "selector", NULL },
        { "targetValue", "target", "value", NULL },
        { "targetAverageValue", "target", "averageValue", NULL } },
      { { "metricName", "metric", "name", "" },
        { "metricSelector", "metric", "selector", NULL },
        { "currentValue", "current", "value", "0" },
        { "currentAverageValue", "current", "averageValue", NULL } } },
};

static jv twin_to_v1(struct arena *a, const struct twin *twins, jv v2)
{
    struct jbuild b = jb_obj(a);

    for (const struct twin *t = twins; t->v1; t++) {
        jv from = t->in ? jv_get(v2, str_of(t->in)) : v2;
        jv v = jv_get(from, str_of(t->v2));
        if (!jv_is_null(v))
            jb_set(&b, str_of(t->v1), v);
        else if (t->zero)
            jb_set(&b, str_of(t->v1), jstr(a, str_of(t->zero)));
    }
    return jb_done(&b);
}

static jv twin_to_v2(struct arena *a, const struct twin *twins, jv v1)
{
    struct jbuild b = jb_obj(a);

    for (const struct twin *t = twins; t->v1; t++) {
        jv v = jv_get(v1, str_of(t->v1));
        if (jv_is_null(v))
            continue;
        jv inner = t->in ? jv_with_key(a, jb_get(&b, str_of(t->in)), str_of(t->v2), v) : v;
        jb_set(&b, str_of(t->in ? t->in : t->v2), inner);
    }
    return jb_done(&b);
}

/* v2 says how a target is meant, v1 leaves it to what is there. */
static const char *target_type(const char *source, jv target)
{
    bool has_value = !jv_is_null(FIELD(target, "value"));
    bool has_average = !jv_is_null(FIELD(target, "averageValue"));

    if (str_eqz(S("object"), source))
        return has_average ? "AverageValue" : "Value";
    if (str_eqz(S("external"), source))
        return has_value ? "Value" : "AverageValue";
    if (str_eqz(S("pods"), source))
        return "AverageValue";
    return jv_is_null(FIELD(target, "averageUtilization")) ? "AverageValue" : "Utilization";
}

jv hpa_metric_to_v1(struct arena *a, jv metric, bool is_status)
{
    struct jbuild b = jb_obj(a);

    jb_set(&b, S("type"), jstr(a, FIELD_STR(metric, "type")));
    for (size_t i = 0; i < COUNT(sources); i++) {
        jv v = jv_get(metric, str_of(sources[i].name));
        if (!jv_is_null(v))
            jb_set(&b, str_of(sources[i].name),
                   twin_to_v1(a, is_status ? sources[i].status : sources[i].spec, v));
    }
    return jb_done(&b);
}

jv hpa_metric_to_v2(struct arena *a, jv metric, bool is_status)
{
    struct jbuild b = jb_obj(a);

    jb_set(&b, S("type"), jstr(a, FIELD_STR(metric, "type")));
    for (size_t i = 0; i < COUNT(sources); i++) {
        jv v = jv_get(metric, str_of(sources[i].name));
        if (jv_is_null(v))
            continue;
        jv out = twin_to_v2(a, is_status ? sources[i].status : sources[i].spec, v);
        if (!is_status)
            out =
                jv_with(a, out, jstr(a, str_of(target_type(sources[i].name, FIELD(out, "target")))),
                        "target", "type");
        jb_set(&b, str_of(sources[i].name), out);
    }
    return jb_done(&b);
}
