/* The update path of managedFields: whoever changes a field owns it from then on. */

#include "kube/managed.h"
#include "base/time.h"
#include "kube/managed_entries.h"
#include "kube/typing.h"

/* What every object has and nobody owns; sorted, as sets are. */
#define NODE(n)                                                         \
    {                                                                   \
        .el = { .kind = FIELD_NAME, .name = S_INIT(n) }, .member = true \
    }
static const struct field_node strip_meta[] = {
    NODE("clusterName"), NODE("creationTimestamp"), NODE("generation"),      NODE("managedFields"),
    NODE("name"),        NODE("namespace"),         NODE("resourceVersion"), NODE("selfLink"),
    NODE("uid"),
};
static const struct field_node strip_root[] = {
    NODE("apiVersion"),
    NODE("kind"),
    { .el = { .kind = FIELD_NAME, .name = S_INIT("metadata") },
      .member = true,
      .sub = { strip_meta, COUNT(strip_meta) } },
};

struct fieldset managed_strip(struct arena *a, struct fieldset set)
{
    return fieldset_difference(a, set, (struct fieldset){ strip_root, COUNT(strip_root) });
}

struct fieldset managed_filter(struct arena *a, const struct managed_write *w, struct fieldset set)
{
    for (const char *const *path = w->reset; path && *path; path++)
        set = fieldset_difference_deep(a, set, fieldset_path(a, str_of(*path)));
    return set;
}

void managed_move(struct managed *m, const struct managed_write *w, jv before, jv after)
{
    struct arena *a = m->a;
    struct fieldset mine;

    if (!jv_exists(before)) {
        mine = managed_filter(a, w, typing_created(a, w->schema, after));
    } else {
        struct typed_diff d = typing_compare(a, w->schema, before, after);
        struct fieldset removed = managed_filter(a, w, d.removed);
        mine = managed_filter(a, w, fieldset_union(a, d.modified, d.added));
        struct fieldset lost = fieldset_union(a, mine, removed);
        for (size_t i = 0; lost.n && i < m->n; i++)
            managed_set(&m->at[i], fieldset_difference(a, m->at[i].set, lost));
    }
    mine = managed_strip(a, mine);
    if (mine.n) {
        struct managed_entry *self = managed_add(m, w, false);
        managed_set(self, fieldset_union(a, self->set, mine));
        self->api_version = w->api_version;
        self->time = w->now_ms ? time_text(a, w->now_ms) : STR_NONE;
    }
    managed_drop_empty(m);
}

static bool is_reset(jv sent)
{
    if (!jv_is(sent, JV_ARR))
        return false;
    return !jv_len(sent) || (jv_len(sent) == 1 && !jv_len(jv_index(sent, 0)));
}

/* Where the old entries come from: the request if it has usable ones, else the live object. */
static void decode(struct managed *m, const struct managed_write *w, jv before, jv sent)
{
    jv live = jv_at(before, "metadata", "managedFields");

    if (w->subresource.n) {
        managed_decode(m, live, NULL);
        return;
    }
    if (is_reset(sent))
        return;
    if (managed_decode(m, sent, NULL) == 0 && m->n) {
        if (!jv_equal(sent, live))
            for (size_t i = 0; i < m->n; i++)
                m->at[i].fields = JV_ABSENT; /* printed anew, as we would have */
        return;
    }
    managed_decode(m, live, NULL);
}

jv managed_update(struct arena *a, const struct managed_write *w, jv before, jv after, jv sent)
{
    struct managed m = { .a = a };
    bool is_new = !jv_str(jv_at(before, "metadata", "uid"), S("")).n;

    decode(&m, w, before, sent);
    if (m.n || is_new) { /* an object that is not tracked stays so until it is applied */
        managed_move(&m, w, is_new && !jv_exists(before) ? JV_ABSENT : before, after);
        managed_cap(&m);
    }
    return jv_with(a, after, managed_encode(&m), "metadata", "managedFields");
}

static jv without_times(struct arena *a, jv entries)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, entries)
        jb_push(&b, jv_without(a, it.value, "time"));
    return jb_done(&b);
}

jv managed_keep_times(struct arena *a, jv before, jv after)
{
    jv old = jv_at(before, "metadata", "managedFields");
    jv now = jv_at(after, "metadata", "managedFields");

    if (jv_len(old) != jv_len(now) || jv_equal(old, now) ||
        !jv_equal(without_times(a, old), without_times(a, now)))
        return after;
    jv kept = jv_with(a, after, old, "metadata", "managedFields");
    return jv_equal(before, kept) ? kept : after;
}
