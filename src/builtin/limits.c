/* LimitRanges: defaults for containers, and bounds on containers, pods and claims. */

#include "builtin/limits.h"

#include "builtin/check.h"
#include "builtin/edit.h"
#include "builtin/pod_amounts.h"

enum { MAX_MILLI = 1000 }; /* what fits in 64 bits as thousandths too: INT64_MAX / MAX_MILLI */

/* ---- defaults */

static struct amounts defaults_of(struct arena *a, jv range, const char *list)
{
    struct amounts all = amounts_new(a);

    JV_EACH (it, jv_at(range, "spec", "limits")) {
        if (!str_eqz(FIELD_STR(it.value, "type"), "Container"))
            continue;
        struct amounts own = amounts_of(a, jv_get(it.value, str_of(list)));
        for (size_t i = 0; i < own.n; i++)
            amounts_set(&all, own.at[i].name, &own.at[i].q);
    }
    return all;
}

/* list with what it lacks; tells their names. */
static jv filled(struct arena *a, jv list, const struct amounts *defaults, struct buf *names)
{
    struct edit e = edit(a, list);

    for (size_t i = 0; i < defaults->n; i++) {
        str name = defaults->at[i].name;
        if (jv_exists(jv_get(list, name)))
            continue;
        edit_set(&e, name, jstr(a, quantity_text(a, &defaults->at[i].q)));
        buf_printf(names, "%s%" PRI_STR, names->n ? ", " : "", STR_ARG(name));
    }
    return names->n ? edit_done(&e) : list;
}

struct merge {
    struct arena *a;
    struct amounts limits;
    struct amounts requests;
    struct buf told;
};

static void tell(struct merge *m, const struct buf *names, const char *what, const char *of,
                 str container)
{
    if (names->n)
        buf_printf(&m->told, "%s%" PRI_STR " %s for %s %" PRI_STR, m->told.n ? "; " : "",
                   STR_ARG(buf_str(names)), what, of, STR_ARG(container));
}

static jv merge_container(struct merge *m, jv container, const char *of)
{
    AUTO(buf) struct buf new_limits = { 0 };
    AUTO(buf) struct buf new_requests = { 0 };
    struct edit resources = edit(m->a, FIELD(container, "resources"));
    jv limits = filled(m->a, edit_get(&resources, S("limits")), &m->limits, &new_limits);
    jv requests = filled(m->a, edit_get(&resources, S("requests")), &m->requests, &new_requests);

    if (!new_limits.n && !new_requests.n)
        return container;
    tell(m, &new_requests, "request", of, FIELD_STR(container, "name"));
    tell(m, &new_limits, "limit", of, FIELD_STR(container, "name"));
    if (jv_len(limits))
        edit_set(&resources, S("limits"), limits);
    if (jv_len(requests))
        edit_set(&resources, S("requests"), requests);
    return jv_with(m->a, container, edit_done(&resources), "resources");
}

static jv merge_list(struct merge *m, jv list, const char *of)
{
    struct jbuild b = jb_arr(m->a);

    JV_EACH (it, list)
        jb_push(&b, merge_container(m, it.value, of));
    return jb_done(&b);
}

static jv apply_one(struct arena *a, jv range, jv pod)
{
    struct merge m = { .a = a,
                       .limits = defaults_of(a, range, "default"),
                       .requests = defaults_of(a, range, "defaultRequest") };
    jv list = jv_at(pod, "spec", "containers");
    jv init = jv_at(pod, "spec", "initContainers");

    if (!m.limits.n && !m.requests.n)
        return pod;
    list = merge_list(&m, list, "container");
    if (jv_len(init))
        init = merge_list(&m, init, "init container");
    if (m.told.n) {
        str told = arena_printf(a, "LimitRanger plugin set: %" PRI_STR, STR_ARG(buf_str(&m.told)));
        pod = jv_with(a, pod, list, "spec", "containers");
        if (jv_len(init))
            pod = jv_with(a, pod, init, "spec", "initContainers");
        pod =
            jv_with(a, pod, jstr(a, told), "metadata", "annotations", "kubernetes.io/limit-ranger");
    }
    buf_done(&m.told);
    return pod;
}

jv limits_apply(struct arena *a, jv ranges, jv pod)
{
    JV_EACH (it, ranges)
        pod = apply_one(a, it.value, pod);
    return pod;
}

/* ---- bounds */

struct subject {
    struct arena *a;
    str type; /* "Container", "Pod" or "PersistentVolumeClaim" */
    const struct amounts *requests;
    const struct amounts *limits; /* NULL: has none, and needs none */
    struct jbuild *said;
};

__attribute__((format(printf, 2, 3))) static void say(const struct subject *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str text = arena_vprintf(s->a, fmt, ap);
    va_end(ap);
    jv so_far = jb_done(s->said);
    if (!str_list_has(so_far, text))
        jb_push(s->said, jstr(s->a, text));
}

/* Thousandths, if all three fit. */
struct values {
    int64_t request, limit, bound;
};

static struct values values_of(const struct quantity *request, const struct quantity *limit,
                               const struct quantity *bound)
{
    struct quantity none = quantity_of(0, QUANTITY_DECIMAL_SI);
    const struct quantity *r = request ? request : &none;
    const struct quantity *l = limit ? limit : &none;
    struct values v = { quantity_value(r), quantity_value(l), quantity_value(bound) };
    int64_t most = INT64_MAX / MAX_MILLI;

    if (v.request <= most && v.limit <= most && v.bound <= most)
        v = (struct values){ quantity_milli(r), quantity_milli(l), quantity_milli(bound) };
    return v;
}

#define USAGE   "%s %" PRI_STR " usage per %" PRI_STR " is %" PRI_STR
#define NAME(s) STR_ARG(name), STR_ARG((s)->type), STR_ARG(quantity_text((s)->a, bound))

static void check_min(const struct subject *s, str name, const struct quantity *bound)
{
    const struct quantity *request = amounts_get(s->requests, name);
    const struct quantity *limit = s->limits ? amounts_get(s->limits, name) : NULL;
    struct values v = values_of(request, limit, bound);

    if (!request)
        say(s, USAGE ".  No request is specified", "minimum", NAME(s));
    else if (v.request < v.bound)
        say(s, USAGE ", but request is %" PRI_STR, "minimum", NAME(s),
            STR_ARG(quantity_text(s->a, request)));
    else if (limit && v.limit < v.bound)
        say(s, USAGE ", but limit is %" PRI_STR, "minimum", NAME(s),
            STR_ARG(quantity_text(s->a, limit)));
}

static void check_max(const struct subject *s, str name, const struct quantity *bound)
{
    const struct quantity *request = amounts_get(s->requests, name);
    const struct quantity *limit = s->limits ? amounts_get(s->limits, name) : NULL;
    struct values v = values_of(request, limit, bound);

    if (s->limits ? !limit : !request)
        say(s, USAGE ".  No %s is specified", "maximum", NAME(s), s->limits ? "limit" : "request");
    else if (limit && v.limit > v.bound)
        say(s, USAGE ", but limit is %" PRI_STR, "maximum", NAME(s),
            STR_ARG(quantity_text(s->a, limit)));
    else if (request && v.request > v.bound)
        say(s, USAGE ", but request is %" PRI_STR, "maximum", NAME(s),
            STR_ARG(quantity_text(s->a, request)));
}

static void check_ratio(const struct subject *s, str name, const struct quantity *bound)
{
    const struct quantity *request = amounts_get(s->requests, name);
    const struct quantity *limit = s->limits ? amounts_get(s->limits, name) : NULL;
    struct values v = values_of(request, limit, bound);
    bool fine = quantity_value(bound) <= INT64_MAX / MAX_MILLI;
    double most = (double)(fine ? quantity_milli(bound) : quantity_value(bound));

#define RATIO "%" PRI_STR " max limit to request ratio per %" PRI_STR " is %" PRI_STR ", but "
    if (!request || v.request == 0) {
        say(s, RATIO "no request is specified or request is 0", NAME(s));
    } else if (!limit || v.limit == 0) {
        say(s, RATIO "no limit is specified or limit is 0", NAME(s));
    } else {
        double ratio = (double)v.limit / (double)v.request;
        if (ratio * (fine ? 1000 : 1) > most)
            say(s, RATIO "provided ratio is %f", NAME(s), ratio);
    }
}

static void check_item(const struct subject *s, jv item)
{
    struct amounts min = amounts_of(s->a, FIELD(item, "min"));
    struct amounts max = amounts_of(s->a, FIELD(item, "max"));
    struct amounts ratio = amounts_of(s->a, FIELD(item, "maxLimitRequestRatio"));

    for (size_t i = 0; i < min.n; i++)
        check_min(s, min.at[i].name, &min.at[i].q);
    for (size_t i = 0; i < max.n; i++)
        check_max(s, max.at[i].name, &max.at[i].q);
    for (size_t i = 0; s->limits && i < ratio.n; i++)
        check_ratio(s, ratio.at[i].name, &ratio.at[i].q);
}

static void check_containers(struct arena *a, jv list, jv item, struct jbuild *said)
{
    JV_EACH (it, list) {
        struct amounts requests = amounts_of(a, jv_at(it.value, "resources", "requests"));
        struct amounts limits = amounts_of(a, jv_at(it.value, "resources", "limits"));
        struct subject s = { a, S("Container"), &requests, &limits, said };
        check_item(&s, item);
    }
}

static void check_pod(struct arena *a, jv pod, jv item, struct jbuild *said)
{
    str type = FIELD_STR(item, "type");

    if (str_eqz(type, "Container")) {
        check_containers(a, jv_at(pod, "spec", "containers"), item, said);
        check_containers(a, jv_at(pod, "spec", "initContainers"), item, said);
    } else if (str_eqz(type, "Pod")) {
        struct amounts requests = pod_amounts(a, pod, POD_REQUESTS, 0);
        struct amounts limits = pod_amounts(a, pod, POD_LIMITS, 0);
        struct subject s = { a, type, &requests, &limits, said };
        check_item(&s, item);
    }
}

static void check_claim(struct arena *a, jv claim, jv item, struct jbuild *said)
{
    struct amounts requests = amounts_of(a, jv_at(claim, "spec", "resources", "requests"));
    struct subject s = { a, FIELD_STR(item, "type"), &requests, NULL, said };

    if (str_eqz(s.type, "PersistentVolumeClaim"))
        check_item(&s, item);
}

/* As Go joins errors: one as it is, several in brackets. */
static str joined(struct arena *a, jv texts)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, texts)
        buf_printf(&b, "%s%" PRI_STR, b.n ? ", " : "", STR_ARG(jv_str(it.value, S(""))));
    return jv_len(texts) == 1 ? arena_str(a, buf_str(&b))
                              : arena_printf(a, "[%" PRI_STR "]", STR_ARG(buf_str(&b)));
}

typedef void check_fn(struct arena *a, jv obj, jv item, struct jbuild *said);

static str check_ranges(struct arena *a, jv ranges, jv obj, check_fn *check)
{
    JV_EACH (range, ranges) {
        struct jbuild said = jb_arr(a);
        JV_EACH (it, jv_at(range.value, "spec", "limits"))
            check(a, obj, it.value, &said);
        if (said.n)
            return joined(a, jb_done(&said));
    }
    return STR_NONE;
}

str limits_check_pod(struct arena *a, jv ranges, jv pod)
{
    return check_ranges(a, ranges, pod, check_pod);
}

str limits_check_claim(struct arena *a, jv ranges, jv claim)
{
    return check_ranges(a, ranges, claim, check_claim);
}
