/* Selection by key where that is enough, by content where it must be. */

#include "api/select.h"

static str field_text(struct arena *a, jv v)
{
    if (jv_is(v, JV_STR))
        return jv_str(v, STR_NONE);
    if (jv_is(v, JV_BOOL))
        return jv_bool(v, false) ? S("true") : S("false");
    return jv_is(v, JV_INT) ? jv_num_text(a, v) : STR_NONE;
}

struct lookup {
    struct arena *a;
    jv obj;
    str key;
    const struct resource *res;
};

/* "spec.nodeName" in the object; what is not there reads as "". */
static str find_field(const void *ctx, str field)
{
    const struct lookup *l = ctx;
    const struct kind_conversion *to = l->res->builtin ? l->res->builtin->conversion : NULL;
    str rest = to && to->field ? to->field(l->a, field) : field;
    jv v = l->obj;

    if (str_eqz(field, "metadata.name")) {
        ptrdiff_t slash = str_find(l->key, '/');
        return slash < 0 ? l->key : str_sub(l->key, (size_t)slash + 1, l->key.n);
    }
    if (str_eqz(field, "metadata.namespace")) {
        ptrdiff_t slash = str_find(l->key, '/');
        return slash < 0 ? S("") : str_sub(l->key, 0, (size_t)slash);
    }
    if (str_eqz(field, "status.successful"))
        rest = S("status.succeeded");
    else if (str_eqz(field, "source"))
        rest = S("source.component");
    do
        v = jv_get(v, str_cut(&rest, '.'));
    while (rest.p);
    str text = field_text(l->a, v);
    if (text.n)
        return text;
    /* Go's zero values */
    if (str_eqz(field, "spec.hostNetwork") || str_eqz(field, "spec.unschedulable"))
        return S("false");
    return str_eqz(field, "status.replicas") || str_eqz(field, "status.successful") ? S("0")
                                                                                    : S("");
}

static bool is_listed(str list, str field)
{
    while (list.p)
        if (str_eq(str_trim(str_cut(&list, ',')), field))
            return true;
    return false;
}

static bool may_select(const struct resource *res, str field)
{
    const char *own = res->builtin ? res->builtin->select_fields : NULL;

    if (str_eqz(field, "metadata.name"))
        return true;
    if (str_eqz(field, "metadata.namespace"))
        return res->namespaced || !own;
    for (size_t i = 0; res->crdv && i < res->crdv->n_selectable; i++)
        if (str_eq(res->crdv->selectable[i], field))
            return true;
    return own && is_listed(str_of(own), field);
}

/* kube-apiserver words this differently for kinds that have fields of their own. */
static void refuse(struct api_req *r, str field)
{
    if (r->res->builtin && str_eqz(r->res->group_resource, "jobs.batch"))
        fail_bad_request(r, "field label \"%" PRI_STR "\" not supported for Job", STR_ARG(field));
    else if (r->res->builtin && r->res->builtin->select_fields)
        fail_bad_request(r, "field label not supported: %" PRI_STR, STR_ARG(field));
    else if (r->res->builtin)
        fail_bad_request(r,
                         "\"%" PRI_STR "\" is not a known field selector: only \"metadata.name\", "
                         "\"metadata.namespace\"",
                         STR_ARG(field));
    else
        fail_bad_request(r, "field label not supported: %" PRI_STR, STR_ARG(field));
}

int selection_of(struct api_req *r, struct selection *out)
{
    struct selection s = { .res = r->res, .labels = r->q.labels, .fields = r->q.fields };
    size_t n = r->q.fields ? r->q.fields->n : 0;

    if (r->res->namespaced && r->ns.n)
        s.prefix = arena_printf(r->a, "%" PRI_STR "/", STR_ARG(r->ns));
    s.name = r->name;
    s.needs_object = r->q.labels != NULL;
    for (size_t i = 0; i < n; i++) {
        str field = r->q.fields->at[i].field;
        if (!may_select(r->res, field)) {
            refuse(r, field);
            return -1;
        }
        if (!str_starts(field, S("metadata.")))
            s.needs_object = true;
    }
    *out = s;
    return 0;
}

bool selection_has_key(const struct selection *s, str key)
{
    if (!str_starts(key, s->prefix))
        return false;
    if (!s->name.n)
        return true;
    ptrdiff_t slash = str_rfind(key, '/');
    return str_eq(s->name, str_sub(key, (size_t)(slash + 1), key.n));
}

bool selection_has(const struct selection *s, str key, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    struct lookup l = { a, obj, key, s->res };

    if (!selection_has_key(s, key))
        return false;
    if (s->labels && !selector_matches(s->labels, jv_at(obj, "metadata", "labels")))
        return false;
    return !s->fields || field_selector_matches(s->fields, find_field, &l);
}

bool selection_has_stored(const struct selection *s, str key, const struct value *stored)
{
    if (!selection_has_key(s, key))
        return false;
    if (!s->labels && !s->fields)
        return true;
    if (!s->needs_object)
        return selection_has(s, key, JV_ABSENT);
    AUTO(arena) struct arena *a = arena_new();
    /* in the stored shape: fields of other shapes are told in its terms */
    return selection_has(s, key, json_parse(a, value_text(a, stored), NULL, NULL));
}
