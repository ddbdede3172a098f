/* The door to YAML: text that is JSON takes the exact JSON parser, all else the YAML reader; and
 * the places of values. */

#include "base/yaml_internal.h"

#include <stdio.h>
#include <stdlib.h>

static int by_node(const void *x, const void *y)
{
    uintptr_t a = (uintptr_t)((const struct yaml_mark *)x)->node;
    uintptr_t b = (uintptr_t)((const struct yaml_mark *)y)->node;

    return a < b ? -1 : a > b;
}

void yaml_where_sort(struct yaml_where *w)
{
    if (w->n)
        qsort(w->mark, w->n, sizeof(*w->mark), by_node);
}

static bool find(const struct yaml_where *w, const struct jnode *node, struct yaml_place *out)
{
    struct yaml_mark key = { .node = node };
    const struct yaml_mark *hit =
        w && w->n ? bsearch(&key, w->mark, w->n, sizeof(key), by_node) : NULL;

    if (!hit)
        return false;
    *out = hit->at;
    return true;
}

bool yaml_where(const struct yaml_doc *d, jv node, struct yaml_place *out)
{
    return find(d->where, node.node, out);
}

/* Cuts the next step off a field path; *bracket: it stood in brackets. */
static str cut_step(str *rest, bool *bracket)
{
    str s = *rest;
    size_t n = 0;

    *bracket = s.n && s.p[0] == '[';
    if (*bracket) {
        ptrdiff_t end = str_find(s, ']');
        n = end < 0 ? s.n : (size_t)end;
        *rest = str_sub(s, n + 1, s.n);
        s = str_sub(s, 1, n);
    } else {
        while (n < s.n && s.p[n] != '.' && s.p[n] != '[')
            n++;
        *rest = str_sub(s, n, s.n);
        s = str_sub(s, 0, n);
    }
    if (rest->n && rest->p[0] == '.')
        *rest = str_sub(*rest, 1, rest->n);
    return s;
}

bool yaml_where_path(const struct yaml_doc *d, str path, struct yaml_place *out)
{
    jv at = d->where ? d->where->root : JV_ABSENT;
    bool found = find(d->where, at.node, out);

    while (path.n && jv_exists(at)) {
        bool bracket;
        str step = cut_step(&path, &bracket);
        int64_t i;
        if (jv_is(at, JV_ARR) && bracket && str_to_int(step, &i) && i >= 0) {
            at = jv_index(at, (size_t)i);
            found = find(d->where, at.node, out) || found;
        } else {
            at = jv_get(at, step);
            const struct jnode *key = at.node ? at.node - 1 : NULL; /* members lie key, value */
            found = find(d->where, key, out) || found;
        }
    }
    return found;
}

static void note_duplicate(void *ctx, str path, size_t at)
{
    (void)at;
    (void)path;
    *(bool *)ctx = true;
}

static bool looks_like_json(str text)
{
    str s = str_trim(text);

    return s.n && s.p[0] == '{';
}

/* JSON places are found by reading it as YAML as well; where that fails there are none. */
static const struct yaml_where *json_places(struct arena *a, str text, const struct yaml_opts *opts)
{
    struct yaml_docs docs;

    if (!opts || !opts->places || yaml_read(a, S("json"), text, opts, &docs, NULL) < 0)
        return NULL;
    return docs.n == 1 ? docs.at[0].where : NULL;
}

/* "line 3 column 4: what" of the JSON parser, in our form. */
static int json_error(struct err *e, str file, const char *text)
{
    unsigned line;
    unsigned column;
    int n = 0;

    /* NOLINTNEXTLINE(cert-err34-c): the numbers are ours */
    if (sscanf(text, "line %u column %u: %n", &line, &column, &n) < 2 || !n)
        return err_set(e, ERR_BAD_REQUEST, "%" PRI_STR ": %s", STR_ARG(file), text);
    return err_set(e, ERR_BAD_REQUEST, "%" PRI_STR ":%u:%u: %s", STR_ARG(file), line, column,
                   text + n);
}

int yaml_parse(struct arena *a, str file, str text, const struct yaml_opts *opts,
               struct yaml_docs *out, struct err *e)
{
    bool duplicates = false;
    struct json_opts json = { .on_duplicate = note_duplicate, .ctx = &duplicates };
    struct err why = { 0 };
    bool is_json = looks_like_json(text);

    if (is_json) {
        jv root = json_parse(a, text, &json, &why);
        if (jv_exists(root) && !duplicates) {
            *out = (struct yaml_docs){ ARENA_NEW(a, struct yaml_doc), 1 };
            out->at[0] = (struct yaml_doc){ root, json_places(a, text, opts) };
            return 0;
        }
    }
    if (yaml_read(a, file, text, opts, out, e) == 0)
        return 0;
    /* Flow style and JSON begin alike; a quoted first key tells what was meant. */
    str inside = str_trim(str_sub(str_trim(text), 1, text.n));
    if (is_json && !duplicates && file.n && inside.n && inside.p[0] == '"')
        return json_error(e, file, why.msg);
    return -1;
}
