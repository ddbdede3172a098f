/* Kubeconfig files: lists of named clusters, users and contexts. Of several files the first to name
 * an entry wins, whole, as client-go merges them. */

#include "client/kubeconfig_internal.h"

#include "base/map.h"

#include <stdio.h>

/* The lists, and what is in each entry beside its name. */
static const struct {
    const char *list;
    const char *value;
} lists[] = { { "clusters", "cluster" }, { "users", "user" }, { "contexts", "context" } };
enum { CLUSTERS, USERS, CONTEXTS };

struct docs {
    struct kubeconfig_doc *at;
    size_t n;
};

int kubeconfig_fail(const struct kubeconfig_doc *d, str path, struct err *e, const char *fmt, ...)
{
    struct yaml_place at = { 0 };
    char what[160];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    if (path.n && d->doc.where && yaml_where_path(&d->doc, path, &at) && at.line)
        return err_set(e, ERR_INVALID, "%s:%u: %" PRI_STR ": %s", d->path, at.line, STR_ARG(path),
                       what);
    return err_set(e, ERR_INVALID, "%s: %" PRI_STR "%s%s", d->path, STR_ARG(path),
                   path.n ? ": " : "", what);
}

str kubeconfig_below(struct arena *a, str path, const char *name)
{
    return arena_printf(a, "%" PRI_STR "%s%s", STR_ARG(path), path.n ? "." : "", name);
}

/* ---- shape */

static int check_entry(struct arena *a, const struct kubeconfig_doc *d, size_t list, size_t i,
                       struct map *seen, struct err *e)
{
    str path = arena_printf(a, "%s[%zu]", lists[list].list, i);
    jv entry = jv_index(jv_at(d->doc.root, lists[list].list), i);
    str name = jv_str(jv_at(entry, "name"), STR_NONE);
    jv value = jv_at(entry, lists[list].value);

    if (!jv_is(entry, JV_OBJ))
        return kubeconfig_fail(d, path, e, "must be an object");
    if (!jv_is(jv_at(entry, "name"), JV_STR))
        return kubeconfig_fail(d, kubeconfig_below(a, path, "name"), e, "must be text");
    if (!jv_is_null(value) && !jv_is(value, JV_OBJ))
        return kubeconfig_fail(d, kubeconfig_below(a, path, lists[list].value), e,
                               "must be an object");
    if (map_put(seen, name, seen))
        return kubeconfig_fail(d, path, e, "has the name %" PRI_STR " of another", STR_ARG(name));
    return 0;
}

static int check_list(struct arena *a, const struct kubeconfig_doc *d, size_t list, struct err *e)
{
    jv of = jv_at(d->doc.root, lists[list].list);
    struct map seen = { 0 };
    int rc = 0;

    if (jv_is_null(of))
        return 0;
    if (!jv_is(of, JV_ARR))
        return kubeconfig_fail(d, str_of(lists[list].list), e, "must be a list");
    for (size_t i = 0; rc == 0 && i < jv_len(of); i++)
        rc = check_entry(a, d, list, i, &seen, e);
    map_done(&seen);
    return rc;
}

static bool is_one_of(jv v, const char *word)
{
    return jv_is_null(v) || str_eqz(jv_str(v, S("?")), word) || str_eqz(jv_str(v, S("?")), "");
}

static int parse(struct arena *a, const struct kubeconfig_file *f, struct kubeconfig_doc *d,
                 struct err *e)
{
    struct yaml_opts opts = { .places = true };
    struct yaml_docs docs = { 0 };
    ptrdiff_t slash = str_rfind(str_of(f->path), '/');

    d->path = f->path;
    d->folder = slash > 0 ? str_sub(str_of(f->path), 0, (size_t)slash) : STR_NONE;
    if (slash == 0)
        d->folder = S("/.");
    if (yaml_parse(a, str_of(f->path), f->text, &opts, &docs, e) < 0)
        return -1;
    if (docs.n == 0)
        return 0; /* empty files are fine, as touch(1) makes them */
    d->doc = docs.at[0];
    if (docs.n > 1 || !jv_is(d->doc.root, JV_OBJ))
        return kubeconfig_fail(d, STR_NONE, e, "must hold one object");
    if (!is_one_of(jv_at(d->doc.root, "kind"), "Config"))
        return kubeconfig_fail(d, S("kind"), e, "must be Config");
    if (!is_one_of(jv_at(d->doc.root, "apiVersion"), "v1"))
        return kubeconfig_fail(d, S("apiVersion"), e, "must be v1");
    for (size_t i = 0; i < COUNT(lists); i++)
        if (check_list(a, d, i, e) < 0)
            return -1;
    return 0;
}

/* ---- look-up */

static bool find(struct arena *a, const struct docs *docs, size_t list, str name,
                 struct kubeconfig_entry *out)
{
    for (size_t d = 0; d < docs->n; d++) {
        jv of = jv_at(docs->at[d].doc.root, lists[list].list);
        for (size_t i = 0; i < jv_len(of); i++) {
            if (!str_eq(name, jv_str(jv_at(jv_index(of, i), "name"), STR_NONE)))
                continue;
            out->doc = &docs->at[d];
            out->path = arena_printf(a, "%s[%zu].%s", lists[list].list, i, lists[list].value);
            out->value = jv_at(jv_index(of, i), lists[list].value);
            return true;
        }
    }
    return false;
}

static str current_context(const struct docs *docs, const char *asked)
{
    str name = str_of(asked);

    for (size_t i = 0; !name.n && i < docs->n; i++)
        name = jv_str(jv_at(docs->at[i].doc.root, "current-context"), STR_NONE);
    return name;
}

static const char *names(struct arena *a, const struct docs *docs)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < docs->n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", docs->at[i].path);
    return arena_str(a, buf_str(&b)).p;
}

/* What a field of the context names; a user may be left out. */
static int follow(struct arena *a, const struct docs *docs, size_t list,
                  const struct kubeconfig_entry *ctx, struct kubeconfig_entry *out, struct err *e)
{
    str name = jv_str(jv_at(ctx->value, lists[list].value), STR_NONE);

    if (!name.n && list == USERS)
        return 0;
    if (!name.n)
        return kubeconfig_fail(ctx->doc, kubeconfig_below(a, ctx->path, lists[list].value), e,
                               "must be given");
    if (!find(a, docs, list, name, out))
        return kubeconfig_fail(ctx->doc, kubeconfig_below(a, ctx->path, lists[list].value), e,
                               "there is no %s named %" PRI_STR, lists[list].value, STR_ARG(name));
    return 0;
}

static int resolve(struct arena *a, const struct docs *docs, str context, struct client_config *out,
                   struct err *e)
{
    struct kubeconfig_entry ctx = { 0 };
    struct kubeconfig_entry cluster = { 0 };
    struct kubeconfig_entry user = { 0 };

    if (!context.n)
        return err_set(e, ERR_INVALID, "%s: no current-context, and none was asked for",
                       names(a, docs));
    if (!find(a, docs, CONTEXTS, context, &ctx))
        return err_set(e, ERR_INVALID, "%s: there is no context named %" PRI_STR, names(a, docs),
                       STR_ARG(context));
    if (follow(a, docs, CLUSTERS, &ctx, &cluster, e) < 0 ||
        follow(a, docs, USERS, &ctx, &user, e) < 0 || kubeconfig_context(a, &ctx, out, e) < 0)
        return -1;
    if (user.doc && kubeconfig_user(a, &user, out, e) < 0)
        return -1;
    if (kubeconfig_cluster(a, &cluster, out, e) < 0)
        return -1;
    out->from = arena_printf(a, "%s, context %" PRI_STR, ctx.doc->path, STR_ARG(context)).p;
    return 0;
}

int kubeconfig_read(struct arena *a, const struct kubeconfig_file *files, size_t n,
                    const char *context, struct client_config *out, struct err *e)
{
    struct docs docs = { ARENA_ARRAY(a, struct kubeconfig_doc, n), n };
    struct client_config c = { 0 };

    for (size_t i = 0; i < n; i++)
        if (parse(a, &files[i], &docs.at[i], e) < 0)
            return -1;
    if (resolve(a, &docs, current_context(&docs, context), &c, e) < 0)
        return -1;
    *out = c;
    return 0;
}
