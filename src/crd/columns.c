/* Printer columns: what `kubectl get` shows of a custom object. */

#include "base/time.h"
#include "crd/rules.h"
#include "kube/jsonpath.h"
#include "kube/meta.h"

/* What the server's own tables say of these two columns. */
static const char name_doc[] =
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
static const char age_doc[] =
    "CreationTimestamp is a timestamp representing the server time when this object was created. It "
    "is not guaranteed to be set in happens-before order across separate operations. Clients may "
    "not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the "
    "system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#metadata";

static struct crd_column column_of(struct arena *a, jv json)
{
    struct crd_column c = {
        .name = jv_str(jv_at(json, "name"), S("")),
        .type = jv_str(jv_at(json, "type"), S("")),
        .format = jv_str(jv_at(json, "format"), S("")),
        .doc = jv_str(jv_at(json, "description"), S("")),
        .priority = jv_int(jv_at(json, "priority"), 0),
        .json_path = jv_str(jv_at(json, "jsonPath"), S("")),
    };

    if (!c.doc.n)
        c.doc = arena_printf(a, "Custom resource definition column (in JSONPath format): %" PRI_STR,
                             STR_ARG(c.json_path));
    c.path = jsonpath_compile(a, c.json_path);
    return c;
}

const struct crd_column *columns_of(struct arena *a, jv list, size_t *n)
{
    struct crd_column *out = ARENA_ARRAY(a, struct crd_column, jv_len(list) + 1);

    *n = 0;
    for (struct jv_iter it = jv_iter(list); jv_next(&it); (*n)++) {
        out[*n] = column_of(a, it.value);
        if (!out[*n].path)
            return out; /* a column that is no path takes those after it along */
    }
    if (!jv_len(list))
        out[(*n)++] = (struct crd_column){
            .name = S("Age"),
            .type = S("date"),
            .format = S(""),
            .doc = str_of(age_doc),
            .json_path = S(".metadata.creationTimestamp"),
            .path = jsonpath_compile(a, S(".metadata.creationTimestamp")),
        };
    return out;
}

jv crd_columns(struct arena *a, const struct crd_version *v)
{
    struct jbuild b = jb_arr(a);

    jb_push(&b, jobj(a, { "name", jstrz(a, "Name") }, { "type", jstrz(a, "string") },
                     { "format", jstrz(a, "name") }, { "description", jstr(a, str_of(name_doc)) },
                     { "priority", jint(a, 0) }));
    for (size_t i = 0; i < v->n_columns; i++) {
        const struct crd_column *c = &v->columns[i];
        jb_push(&b, jobj(a, { "name", jstr(a, c->name) }, { "type", jstr(a, c->type) },
                         { "format", jstr(a, c->format) }, { "description", jstr(a, c->doc) },
                         { "priority", jint(a, c->priority) }));
    }
    return jb_done(&b);
}

static jv date_cell(struct arena *a, jv value, int64_t now_ms)
{
    str text = jv_str(value, S(""));
    int64_t us;

    if (!jv_is(value, JV_STR))
        return JV_NULL_V;
    if (!text.n || str_eq(text, S("null")))
        return jstrz(a, "<unknown>");
    if (time_parse(text, &us, NULL) < 0)
        return jstrz(a, "<invalid>");
    return jstr(a, age_text(a, now_ms - us / 1000));
}

static jv cell(struct arena *a, const struct crd_column *c, jv value, int64_t now_ms)
{
    if (str_eq(c->type, S("string")))
        return jstr(a, jv_is_null(value) ? S("<no value>") : jsonpath_print(a, value));
    if (str_eq(c->type, S("date")))
        return date_cell(a, value, now_ms);
    if (str_eq(c->type, S("integer")) && jv_is(value, JV_NUM))
        return jint(a, (int64_t)jv_double(value, 0));
    if (str_eq(c->type, S("integer")))
        return jv_is(value, JV_INT) ? value : JV_NULL_V;
    if (str_eq(c->type, S("number")))
        return jv_is(value, JV_INT) || jv_is(value, JV_NUM) ? value : JV_NULL_V;
    return jv_is(value, JV_BOOL) ? value : JV_NULL_V;
}

jv crd_cells(struct arena *a, const struct crd_version *v, jv obj, int64_t now_ms)
{
    struct jbuild b = jb_arr(a);

    jb_push(&b, jstr(a, meta_name(obj)));
    for (size_t i = 0; i < v->n_columns; i++) {
        const struct crd_column *c = &v->columns[i];
        struct jv_list found = { 0 };
        bool any = jsonpath_eval(c->path, a, obj, &found) == 0 && found.n > 0;
        jb_push(&b, any ? cell(a, c, found.at[0], now_ms) : JV_NULL_V);
    }
    return jb_done(&b);
}
