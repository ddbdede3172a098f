/* From bytes to what they ask for. */

#include "api/target.h"

#include "base/map.h"
#include "base/url.h"
#include "kube/names.h"
#include "kube/selector.h"

enum { MOST_PARTS = 32 };

/* Decodes, then splits. Slashes at both ends do not count. */
static int read_path(struct arena *a, str path, struct target *t, struct err *e)
{
    str *parts = ARENA_ARRAY(a, str, MOST_PARTS);
    size_t at;

    if (!url_is_utf8(a, path, &at))
        return err_set(e, ERR_BAD_REQUEST, "the path of the request is not UTF-8 at byte %zu", at);
    if (url_decode(a, path, &t->path, e) < 0)
        return err_wrap(e, "the path of the request");
    str rest = t->path;
    while (rest.n && rest.p[0] == '/')
        rest = str_sub(rest, 1, rest.n);
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    for (rest.p = rest.n ? rest.p : NULL; rest.p;) {
        if (t->n_parts == MOST_PARTS)
            return err_set(e, ERR_BAD_REQUEST, "the path of the request has more than %d parts",
                           MOST_PARTS);
        parts[t->n_parts++] = str_cut(&rest, '/');
    }
    t->parts = parts;
    return 0;
}

static int read_query(struct arena *a, str query, struct target *t, struct err *e)
{
    struct map seen = { 0 };
    size_t most = 1, at;

    if (!url_is_utf8(a, query, &at))
        return err_set(e, ERR_BAD_REQUEST, "the query of the request is not UTF-8 at byte %zu", at);
    for (size_t i = 0; i < query.n; i++)
        most += query.p[i] == '&';
    struct query_pair *pairs = ARENA_ARRAY(a, struct query_pair, query.n ? most : 0);
    for (struct url_query q = url_query(query); url_query_next(&q, a);) {
        pairs[t->n_query] = (struct query_pair){ q.key, q.value, map_get(&seen, q.key) != NULL };
        if (!pairs[t->n_query].again)
            map_put(&seen, q.key, &pairs[t->n_query]);
        t->n_query++;
    }
    map_done(&seen);
    t->query = pairs;
    return 0;
}

str target_option(const struct target *t, const char *key)
{
    for (size_t i = 0; i < t->n_query; i++)
        if (str_eqz(t->query[i].key, key))
            return t->query[i].value;
    return STR_NONE;
}

static str selected_name(struct arena *a, const struct target *t)
{
    struct field_selector fields = { 0 };
    str why;

    if (field_selector_parse(a, target_option(t, "fieldSelector"), &fields, &why) < 0)
        return STR_NONE; /* refused when its turn comes */
    for (size_t i = 0; i < fields.n; i++)
        if (str_eqz(fields.at[i].field, "metadata.name") && fields.at[i].equal)
            return name_ok(fields.at[i].value, name_path_segment) ? fields.at[i].value : STR_NONE;
    return STR_NONE;
}

static str verb_of_method(str method)
{
    static const struct {
        const char *method;
        str verb;
    } rows[] = {
        { "GET", S_INIT("get") },    { "HEAD", S_INIT("get") },    { "POST", S_INIT("create") },
        { "PUT", S_INIT("update") }, { "PATCH", S_INIT("patch") }, { "DELETE", S_INIT("delete") },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz(method, rows[i].method))
            return rows[i].verb;
    return S("");
}

/* What follows the version: [watch/] [namespaces/NS/] resource [name [subresource ...]] */
static void read_resource(struct arena *a, str method, struct target *t, size_t i)
{
    const str *p = t->parts;
    size_t n = t->n_parts;
    bool by_path = (str_eqz(p[i], "watch") || str_eqz(p[i], "proxy")) && n > i + 1;

    t->on_resource = true;
    t->verb = by_path ? p[i] : verb_of_method(method);
    i += by_path;
    if (str_eqz(p[i], "namespaces") && n > i + 1) {
        t->ns = p[i + 1];
        t->in_namespace =
            n > i + 2 && !str_eqz(p[i + 2], "status") && !str_eqz(p[i + 2], "finalize");
        i += t->in_namespace ? 2 : 0;
    }
    t->resource = p[i];
    t->name = n > i + 1 ? p[i + 1] : STR_NONE;
    t->sub = n > i + 2 ? p[i + 2] : STR_NONE;
    t->n_rest = n > i + 3 ? n - i - 3 : 0;
    if (!t->name.n && str_eqz(t->verb, "get")) {
        t->verb = url_flag(target_option(t, "watch")) ? S("watch") : S("list");
        t->selected = selected_name(a, t);
    }
    if (!t->name.n && str_eqz(t->verb, "delete"))
        t->verb = S("deletecollection");
}

int target_read(struct arena *a, str method, str path, str query, struct target *out, struct err *e)
{
    struct target t = { 0 };

    if (read_path(a, path, &t, e) < 0 || read_query(a, query, &t, e) < 0)
        return -1;
    t.verb = name_lower(a, method);
    if (t.n_parts > 2 && str_eqz(t.parts[0], "api")) {
        t.version = t.parts[1];
        read_resource(a, method, &t, 2);
    } else if (t.n_parts > 3 && str_eqz(t.parts[0], "apis")) {
        t.group = t.parts[1];
        t.version = t.parts[2];
        read_resource(a, method, &t, 3);
    }
    *out = t;
    return 0;
}
