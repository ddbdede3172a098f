/* Tables of namespaces, nodes, configuration, accounts, quotas and events. */

#include "builtin/cells/internal.h"

const struct kind_column namespace_columns[] = {
    NAME_COLUMN,
    COLUMN("Status", "string", "Active, or being emptied."),
    AGE_COLUMN,
};

const struct kind_column configmap_columns[] = {
    NAME_COLUMN,
    COLUMN("Data", "string", "How many keys it has."),
    AGE_COLUMN,
};

const struct kind_column secret_columns[] = {
    NAME_COLUMN,
    COLUMN("Type", "string", "What the secret is for."),
    COLUMN("Data", "string", "How many keys it has."),
    AGE_COLUMN,
};

const struct kind_column serviceaccount_columns[] = {
    NAME_COLUMN,
    COLUMN("Secrets", "string", "How many secrets its pods may use."),
    AGE_COLUMN,
};

const struct kind_column resourcequota_columns[] = {
    NAME_COLUMN,
    COLUMN("Request", "string", "Used and allowed: requests and numbers of objects."),
    COLUMN("Limit", "string", "Used and allowed: limits."),
    AGE_COLUMN,
};

const struct kind_column event_columns[] = {
    COLUMN("Last Seen", "string", "Time since it last happened."),
    COLUMN("Type", "string", "Normal or Warning."),
    COLUMN("Reason", "string", "What happened, in a word."),
    COLUMN("Object", "string", "The object that the event is about."),
    WIDE_COLUMN("Subobject", "string", "Which part of that object."),
    WIDE_COLUMN("Source", "string", "Who reported it."),
    COLUMN("Message", "string", "What happened, for people."),
    WIDE_COLUMN("First Seen", "string", "Time since it first happened."),
    WIDE_COLUMN("Count", "string", "How often it happened."),
    { "Name", "string", "name", 1, "Name of the object." },
};

jv namespace_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(obj, "status", "phase")),
                cell_age(c, obj));
}

jv configmap_cells(const struct kind_ctx *c, jv obj)
{
    size_t n = jv_len(jv_at(obj, "data")) + jv_len(jv_at(obj, "binaryData"));

    return jarr(c->a, cell_name(c, obj), jint(c->a, (int64_t)n), cell_age(c, obj));
}

jv secret_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(obj, "type")),
                cell_count(c, jv_at(obj, "data")), cell_age(c, obj));
}

jv serviceaccount_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_count(c, jv_at(obj, "secrets")), cell_age(c, obj));
}

jv resourcequota_cells(const struct kind_ctx *c, jv obj)
{
    AUTO(buf) struct buf requests = { 0 };
    AUTO(buf) struct buf limits = { 0 };
    jv hard = jv_at(obj, "status", "hard");
    jv used = jv_at(obj, "status", "used");
    str *names = ARENA_ARRAY(c->a, str, jv_len(hard) + 1);
    size_t n = 0;

    JV_EACH (it, hard)
        names[n++] = it.key;
    sort_texts(names, n);
    for (size_t i = 0; i < n; i++) {
        struct buf *to = str_starts(names[i], S("limits")) ? &limits : &requests;
        join(to, ", ", names[i]);
        buf_add(to, S(": "));
        buf_add(to, quantity_of_cell(c->a, jv_get(used, names[i])));
        buf_addc(to, '/');
        buf_add(to, quantity_of_cell(c->a, jv_get(hard, names[i])));
    }
    return jarr(c->a, cell_name(c, obj), cell_take(c, &requests), cell_take(c, &limits),
                cell_age(c, obj));
}

/* What the two APIs of events call the same things. */
struct event_names {
    const char *object;
    const char *message;
    const char *source;
    const char *controller;
    const char *first;
    const char *last;
    const char *count;
};

static const struct event_names core_names = {
    .object = "involvedObject",
    .message = "message",
    .source = "source",
    .controller = "reportingComponent",
    .first = "firstTimestamp",
    .last = "lastTimestamp",
    .count = "count",
};

static const struct event_names new_names = {
    .object = "regarding",
    .message = "note",
    .source = "deprecatedSource",
    .controller = "reportingController",
    .first = "deprecatedFirstTimestamp",
    .last = "deprecatedLastTimestamp",
    .count = "deprecatedCount",
};

/* "pod/mnist-0" */
static jv event_object(const struct kind_ctx *c, jv ref)
{
    AUTO(buf) struct buf b = { 0 };
    str name = text_at(ref, "name");

    buf_add(&b, text_at(ref, "kind"));
    lower(&b);
    if (name.n) {
        buf_addc(&b, '/');
        buf_add(&b, name);
    }
    return cell_take(c, &b);
}

/* "kubelet, node-1" */
static jv event_source(const struct kind_ctx *c, jv obj, const struct event_names *names)
{
    jv source = jv_at(obj, names->source);
    str who = text_at(source, "component");
    str where = text_at(source, "host");

    if (!who.n)
        who = text_at(obj, names->controller);
    if (!where.n)
        where = text_at(obj, "reportingInstance");
    if (where.n)
        who = arena_printf(c->a, "%" PRI_STR ", %" PRI_STR, STR_ARG(who), STR_ARG(where));
    return jstr(c->a, who);
}

static jv event_row(const struct kind_ctx *c, jv obj, const struct event_names *names)
{
    jv first = jv_at(obj, names->first);
    jv last = jv_at(obj, names->last);
    jv series = jv_at(obj, "series");
    int64_t count = jv_int(jv_at(obj, names->count), 0);

    if (jv_is_null(first))
        first = jv_at(obj, "eventTime");
    if (jv_is_null(last))
        last = first;
    if (jv_is(series, JV_OBJ)) {
        last = jv_at(series, "lastObservedTime");
        count = jv_int(jv_at(series, "count"), 0);
    } else if (!count) {
        count = 1;
    }
    return jarr(c->a, cell_since(c, last), cell_text(c, jv_at(obj, "type")),
                cell_text(c, jv_at(obj, "reason")), event_object(c, jv_at(obj, names->object)),
                cell_text(c, jv_at(obj, names->object, "fieldPath")), event_source(c, obj, names),
                jstr(c->a, str_trim(text_at(obj, names->message))), cell_since(c, first),
                jint(c->a, count), cell_name(c, obj));
}

jv event_cells(const struct kind_ctx *c, jv obj)
{
    return event_row(c, obj, &core_names);
}

jv event_new_cells(const struct kind_ctx *c, jv obj)
{
    return event_row(c, obj, &new_names);
}
