/* Server-side apply: merge, prune, and the question who owned what changes. */

#include "kube/apply.h"
#include "base/time.h"
#include "base/vec.h"
#include "kube/last_applied.h"
#include "kube/managed_entries.h"
#include "kube/typing.h"

#include <stdlib.h>

struct applying {
    struct arena *a;
    const struct managed_write *w;
    jv live; /* absent: none */
    jv config;
    struct managed managed;
    /* who is in the way: entries of managed as they were, and of each what conflicts */
    struct managed_entry *against;
    size_t n_against;
    struct apply_failure *why;
};

static jv fail(struct applying *ap, enum err_code code, str message, struct err *e)
{
    if (ap->why)
        ap->why->message = message;
    err_set(e, code, "%" PRI_STR, STR_ARG(message));
    return JV_ABSENT;
}

/* "apps/v1, Kind=Deployment"; the core group has an empty name. */
static str gvk(struct arena *a, str api_version, str kind)
{
    const char *slash = str_find(api_version, '/') < 0 ? "/" : "";

    return arena_printf(a, "%s%" PRI_STR ", Kind=%" PRI_STR, slash, STR_ARG(api_version),
                        STR_ARG(kind));
}

static int check_config(struct applying *ap, struct err *e)
{
    struct arena *a = ap->a;
    str version = jv_str(jv_at(ap->config, "apiVersion"), S(""));
    str kind = jv_str(jv_at(ap->config, "kind"), S(""));
    str why;

    if (!str_eq(version, ap->w->api_version) || !str_eq(kind, ap->w->kind)) {
        fail(ap, ERR_BAD_REQUEST, arena_cat(a, S("invalid object type: "), gvk(a, version, kind)),
             e);
        return -1;
    }
    if (!jv_is_null(jv_at(ap->config, "metadata", "managedFields"))) {
        fail(ap, ERR_BAD_REQUEST, S("metadata.managedFields must be nil"), e);
        return -1;
    }
    if (typing_check(a, ap->w->schema, ap->config, &why) < 0) {
        str ns = jv_str(jv_at(ap->config, "metadata", "namespace"), S(""));
        str name = jv_str(jv_at(ap->config, "metadata", "name"), S(""));
        str text =
            arena_printf(a,
                         "failed to create typed patch object (%" PRI_STR "/%" PRI_STR "; %" PRI_STR
                         "): %" PRI_STR,
                         STR_ARG(ns), STR_ARG(name), STR_ARG(gvk(a, version, kind)), STR_ARG(why));
        fail(ap, ERR_UNKNOWN, text, e);
        return -1;
    }
    return 0;
}

/* Takes out of merged what this applier set before (last) and now does not, unless another manager
 * has it too or it is part of something that stays. */
static jv prune(struct applying *ap, jv merged, struct fieldset last)
{
    struct arena *a = ap->a;
    const struct schema *s = ap->w->schema;
    struct fieldset owned = { 0 };

    if (!last.n)
        return merged;
    last = typing_named(a, s, last);
    for (size_t i = 0; i < ap->managed.n; i++)
        owned = fieldset_union(a, owned, ap->managed.at[i].set);
    owned = typing_named(a, s, owned);

    jv pruned = typing_remove(a, s, merged, last);
    struct fieldset all = typing_named(a, s, typing_fields(a, s, merged));
    struct fieldset kept = typing_named(a, s, typing_fields(a, s, pruned));
    struct fieldset gone = fieldset_difference(a, all, fieldset_union(a, kept, owned));
    pruned = typing_remove(a, s, merged, gone);
    kept = typing_named(a, s, typing_fields(a, s, pruned));
    gone = fieldset_intersection(a, fieldset_difference(a, all, kept), last);
    jv out = typing_remove(a, s, merged, gone);
    return jv_exists(out) ? out : JV_EMPTY_OBJ;
}

/* Compares before and after; collects who else owns what changes, and takes it from them. */
static void take_over(struct applying *ap, const struct managed_entry *self, jv after)
{
    struct arena *a = ap->a;
    struct typed_diff d = typing_compare(a, ap->w->schema, ap->live, after);
    struct fieldset removed = managed_filter(a, ap->w, d.removed);
    struct fieldset changed = managed_filter(a, ap->w, fieldset_union(a, d.modified, d.added));
    struct fieldset lost = fieldset_union(a, changed, removed);

    ap->against = arena_alloc(a, (ap->managed.n + 1) * sizeof(*ap->against));
    ap->n_against = 0;
    for (size_t i = 0; i < ap->managed.n; i++) {
        struct managed_entry *en = &ap->managed.at[i];
        if (en == self)
            continue;
        struct fieldset both = fieldset_intersection(a, en->set, changed);
        if (both.n) {
            ap->against[ap->n_against] = *en;
            ap->against[ap->n_against++].set = both;
        }
        managed_set(en, fieldset_difference(a, en->set, lost));
    }
}

/* 0 with the result, or -1 with conflicts in ap (force has none). */
static int apply(struct applying *ap, bool force, jv *out)
{
    struct arena *a = ap->a;
    const struct managed_write *w = ap->w;

    if (!ap->managed.n && jv_exists(ap->live)) {
        struct managed_write first = *w;
        first.manager = S("before-first-apply");
        managed_move(&ap->managed, &first, JV_ABSENT, ap->live);
    }
    jv live = jv_exists(ap->live) ? ap->live : JV_EMPTY_OBJ;
    jv merged = typing_merge(a, w->schema, live, ap->config);
    struct managed_entry *self = managed_add(&ap->managed, w, true);
    struct fieldset last = self->set;
    managed_set(self, managed_filter(a, w, typing_fields(a, w->schema, ap->config)));
    self->api_version = w->api_version;
    merged = prune(ap, merged, last);
    take_over(ap, self, merged);
    if (ap->n_against && !force)
        return -1;
    managed_set(self, managed_strip(a, self->set));
    if (jv_equal(live, merged))
        merged = live;
    else
        self->time = time_text(a, w->now_ms);
    managed_drop_empty(&ap->managed);
    *out = merged;
    return 0;
}

static str who(struct arena *a, const struct managed_entry *en)
{
    AUTO(buf) struct buf b = { 0 };

    json_print_str(&b, en->manager);
    if (en->subresource.n) {
        buf_add(&b, S(" with subresource "));
        json_print_str(&b, en->subresource);
    }
    if (!en->apply) {
        buf_add(&b, S(" using "));
        buf_add(&b, en->api_version);
    }
    return arena_str(a, buf_str(&b));
}

struct listing {
    struct applying *ap;
    struct buf text;
    struct apply_conflict *at;
    size_t n;
    size_t cap;
    str who;
};

static void list_conflict(void *ctx, str path)
{
    struct listing *l = ctx;
    struct arena *a = l->ap->a;

    buf_printf(&l->text, "\n- %" PRI_STR, STR_ARG(path));
    vec_push_in(a, l, (struct apply_conflict){ arena_cat(a, S("conflict with "), l->who), path });
}

static int by_id(const void *x, const void *y)
{
    const struct managed_entry *a = x;
    const struct managed_entry *b = y;

    return str_cmp(a->id, b->id);
}

static jv conflict(struct applying *ap, struct err *e)
{
    struct listing l = { .ap = ap };
    struct arena *a = ap->a;

    qsort(ap->against, ap->n_against, sizeof(*ap->against), by_id);
    for (size_t i = 0; i < ap->n_against; i++) {
        l.who = who(a, &ap->against[i]);
        buf_printf(&l.text, "%sconflicts with %" PRI_STR ":", i ? "\n" : "", STR_ARG(l.who));
        fieldset_each(a, ap->against[i].set, list_conflict, &l);
    }
    str text = arena_printf(a, "Apply failed with %zu conflicts: %" PRI_STR, l.n,
                            STR_ARG(buf_str(&l.text)));
    if (l.n == 1)
        text = arena_printf(a, "Apply failed with 1 conflict: %" PRI_STR ": %" PRI_STR,
                            STR_ARG(l.at[0].message), STR_ARG(l.at[0].field));
    buf_done(&l.text);
    if (ap->why) {
        ap->why->conflicts = l.at;
        ap->why->n = l.n;
    }
    return fail(ap, ERR_CONFLICT, text, e);
}

/* What kubectl applied on the client's side, and nobody has changed since, is not in its way. */
static bool allowed_by_last_applied(struct applying *ap)
{
    struct fieldset allowed = last_applied_fields(ap->a, ap->w, ap->live);
    size_t n = 0;

    if (!allowed.n)
        return false;
    for (size_t i = 0; i < ap->n_against; i++) {
        struct managed_entry en = ap->against[i];
        en.set = fieldset_difference(ap->a, en.set, allowed);
        if (en.set.n)
            ap->against[n++] = en;
    }
    ap->n_against = n;
    return !n;
}

static int open_managed(struct applying *ap, jv entries, struct err *e)
{
    struct err inner = { 0 };

    ap->managed = (struct managed){ .a = ap->a };
    if (managed_decode(&ap->managed, entries, &inner) == 0)
        return 0;
    fail(ap, ERR_UNKNOWN, arena_printf(ap->a, "failed to decode managed fields: %s", inner.msg), e);
    return -1;
}

jv apply_patch(struct arena *a, const struct managed_write *w, jv live, jv config, bool force,
               struct apply_failure *why, struct err *e)
{
    jv entries = jv_at(live, "metadata", "managedFields");
    struct applying ap = { .a = a, .w = w, .config = config, .why = why };
    bool is_kubectl = str_eq(w->manager, S("kubectl"));
    jv out;

    if (!jv_is(config, JV_OBJ))
        return fail(&ap, ERR_BAD_REQUEST, S("error decoding YAML: not an object"), e);
    ap.live = jv_without(a, live, "metadata", "managedFields");
    if (open_managed(&ap, entries, e) < 0 || check_config(&ap, e) < 0)
        return JV_ABSENT;
    if (apply(&ap, force, &out) < 0) {
        if (!is_kubectl || !allowed_by_last_applied(&ap))
            return conflict(&ap, e);
        open_managed(&ap, entries, NULL);
        apply(&ap, true, &out);
    }
    if (is_kubectl)
        out = last_applied_refresh(a, out, config);
    return jv_with(a, out, managed_encode(&ap.managed), "metadata", "managedFields");
}
