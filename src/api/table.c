/* Tables and metadata-only answers. */

#include "api/table.h"

static const struct kind_column name_and_age[] = {
    { "Name", "string", "name", 0, "The name, unique among its kind in its namespace." },
    { "Created At", "date", "", 0, "When the object was created." },
};

static jv column(struct arena *a, const struct kind_column *c)
{
    return jobj(a, { "name", jstr(a, str_of(c->name)) }, { "type", jstr(a, str_of(c->type)) },
                { "format", jstr(a, str_of(c->format ? c->format : "")) },
                { "description", jstr(a, str_of(c->doc ? c->doc : "")) },
                { "priority", jint(a, c->priority) });
}

static str meta_version(const struct api_req *r)
{
    return r->beta_form ? S("meta.k8s.io/v1beta1") : S("meta.k8s.io/v1");
}

int table_check(struct api_req *r)
{
    str v = r->q.include_object;

    if (r->form != FORM_TABLE || !v.n || str_eqz(v, "None") || str_eqz(v, "Metadata") ||
        str_eqz(v, "Object"))
        return 0;
    fail_bad_request(r,
                     "Unable to convert to Table as requested: includeObject: Invalid value: "
                     "\"%" PRI_STR "\": must be 'Metadata', 'Object', 'None', or empty",
                     STR_ARG(v));
    return -1;
}

static jv columns_of(struct arena *a, const struct kind_column *c, size_t n)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b, column(a, &c[i]));
    return jb_done(&b);
}

jv table_columns(struct arena *a, const struct resource *res)
{
    if (res->crdv)
        return crd_columns(a, res->crdv);
    bool own = res->builtin->columns != NULL;
    const struct kind_column *c = own ? res->builtin->columns : name_and_age;

    return columns_of(a, c, own ? res->builtin->n_columns : COUNT(name_and_age));
}

jv partial_of(struct arena *a, const struct api_req *r, jv obj)
{
    return jobj(a, { "kind", jstrz(a, "PartialObjectMetadata") },
                { "apiVersion", jstr(a, meta_version(r)) }, { "metadata", jv_at(obj, "metadata") });
}

/* What a row says of its object, besides the cells. */
static jv beside(struct arena *a, const struct api_req *r, jv obj)
{
    if (str_eqz(r->q.include_object, "None"))
        return JV_NULL_V;
    return str_eqz(r->q.include_object, "Object") ? obj : partial_of(a, r, obj);
}

jv table_row(struct arena *a, const struct api_req *r, jv obj)
{
    struct kind_ctx c = { .a = a, .now_ms = wall_now_ms() };
    const struct builtin_kind *k = r->res->builtin;
    jv conditions = k && k->row_conditions ? k->row_conditions(&c, obj) : JV_ABSENT;
    jv cells;

    if (r->res->crdv)
        cells = crd_cells(a, r->res->crdv, obj, c.now_ms);
    else if (k->cells)
        cells = k->cells(&c, obj);
    else
        cells =
            jarr(a, jv_at(obj, "metadata", "name"), jv_at(obj, "metadata", "creationTimestamp"));
    return jobj(a, { "cells", cells }, { "conditions", conditions },
                { "object", beside(a, r, obj) });
}

jv table_new(struct arena *a, const struct api_req *r, jv list_meta, jv columns, jv rows)
{
    return jobj(a, { "kind", jstrz(a, "Table") }, { "apiVersion", jstr(a, meta_version(r)) },
                { "metadata", list_meta },
                { "columnDefinitions", jv_exists(columns) ? columns : JV_NULL_V },
                { "rows", rows });
}

static jv around_one(struct api_req *r, jv obj, jv columns, jv row)
{
    jv meta = jobj(r->a, { "resourceVersion", jv_at(obj, "metadata", "resourceVersion") });

    return table_new(r->a, r, meta, columns, jarr(r->a, row));
}

jv table_of_one(struct api_req *r, jv obj)
{
    return around_one(r, obj, table_columns(r->a, r->res), table_row(r->a, r, obj));
}

jv table_of_other(struct api_req *r, jv obj, const struct kind_column *columns, size_t n, jv cells)
{
    jv row = jobj(r->a, { "cells", cells }, { "object", beside(r->a, r, obj) });

    return around_one(r, obj, columns_of(r->a, columns, n), row);
}
