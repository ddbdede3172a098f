/* Counters and times in status, and writing it: a merge patch of what changed and nothing else. */

#include "job/status.h"
#include "job/kind.h"
#include "job/restart.h"

enum { REFRESH_MS = 1000 };

void status_set_time(struct job *j, str member, str time)
{
    j->status = jv_with_key(j->a, j->status, member, jstr(j->a, time));
}

void status_start(struct job *j)
{
    if (!job_has_started(j))
        status_set_time(j, S("startTime"), budget_since(j));
}

/* A counter that is 0 is left out, as ever. */
static jv with_count(struct arena *a, jv entry, str member, int64_t n)
{
    return jv_with_key(a, entry, member, n ? jint(a, n) : JV_ABSENT);
}

static jv selector_of(struct arena *a, const struct job *j, const struct job_role *r)
{
    return jstr(
        a, arena_printf(a, LABEL_JOB "=%" PRI_STR "," LABEL_OPERATOR "=%s," LABEL_ROLE "=%" PRI_STR,
                        STR_ARG(j->name), j->kind->planner.controller, STR_ARG(r->label)));
}

static jv entries_of(const struct job *j)
{
    jv entries = jv_get(j->status, S("replicaStatuses"));

    return jv_is(entries, JV_OBJ) ? entries : JV_EMPTY_OBJ;
}

static void set_entries(struct job *j, jv entries)
{
    j->status = jv_with_key(j->a, j->status, S("replicaStatuses"), entries);
}

void status_count(struct job *j)
{
    jv entries = entries_of(j);

    for (size_t i = 0; i < j->n_roles; i++) {
        const struct job_role *r = &j->roles[i];
        jv entry = JV_EMPTY_OBJ;
        entry = with_count(j->a, entry, S("active"), r->active);
        entry = with_count(j->a, entry, S("succeeded"), r->succeeded);
        entry = with_count(j->a, entry, S("failed"), r->failed);
        if (j->kind->selector)
            entry = jv_with_key(j->a, entry, S("selector"), selector_of(j->a, j, r));
        entries = jv_with_key(j->a, entries, r->type, entry);
    }
    if (j->n_roles)
        set_entries(j, entries);
}

void status_uncount(struct job *j)
{
    j->status = jv_with_key(j->a, j->status, S("replicaStatuses"),
                            jv_at(j->obj, "status", "replicaStatuses"));
}

static void settle_active(struct job *j, bool succeeded)
{
    jv entries = entries_of(j);

    JV_EACH (it, entries_of(j)) {
        int64_t active = jv_int(jv_get(it.value, S("active")), 0);
        int64_t done = jv_int(jv_get(it.value, S("succeeded")), 0);
        jv entry = it.value;
        if (!jv_is(entry, JV_OBJ) || !jv_exists(jv_get(entry, S("active"))))
            continue;
        if (succeeded && active > 0 && active <= INT32_MAX && done >= 0 && done <= INT32_MAX)
            entry = with_count(j->a, entry, S("succeeded"), done + active);
        entries = jv_with_key(j->a, entries, it.key, with_count(j->a, entry, S("active"), 0));
    }
    if (jv_len(entries))
        set_entries(j, entries);
}

void status_none_active(struct job *j)
{
    settle_active(j, false);
}

void status_active_succeeded(struct job *j)
{
    settle_active(j, true);
}

jv status_diff(struct arena *a, jv old, jv new)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, new) {
        jv was = jv_get(old, it.key);
        if (jv_is(was, JV_OBJ) && jv_is(it.value, JV_OBJ)) {
            jv inner = status_diff(a, was, it.value);
            if (jv_exists(inner))
                jb_set(&b, it.key, inner);
        } else if (!jv_equal(was, it.value)) {
            jb_set(&b, it.key, it.value);
        }
    }
    JV_EACH (it, old)
        if (!jv_is_null(it.value) && !jv_exists(jv_get(new, it.key)))
            jb_set(&b, it.key, JV_NULL_V);
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static struct plan_step *add_patch(struct job *j, struct plan *p, unsigned stage, jv changes)
{
    struct plan_step *s = plan_add(p, PLAN_PATCH, stage, j->kind->planner.res);
    struct arena *a = j->a;

    s->ns = j->ns;
    s->name = j->name;
    s->sub = S("status");
    s->patch = KUBE_PATCH_MERGE;
    s->obj = jobj(
        a, { "metadata", jobj(a, { "resourceVersion", jstr(a, meta_resource_version(j->obj)) }) },
        { "status", changes });
    for (size_t i = 0; i < j->n_notes; i++)
        step_tell(p, s, j->notes[i]);
    j->n_notes = 0;
    return s;
}

struct plan_step *status_write(struct job *j, struct plan *p, unsigned stage)
{
    jv changes = status_diff(j->a, jv_get(j->obj, S("status")), j->status);

    return jv_exists(changes) ? add_patch(j, p, stage, changes) : NULL;
}

/* That it was created is all there is to say. */
static bool is_first(const struct job *j)
{
    return jv_len(jv_at(j->obj, "status", "conditions")) == 0 &&
           jv_len(jv_at(j->status, "conditions")) == 1;
}

struct plan_step *status_refresh(struct job *j, struct plan *p, unsigned stage)
{
    jv changes = status_diff(j->a, jv_get(j->obj, S("status")), j->status);
    bool counters = jv_len(changes) == 1 && jv_exists(jv_get(changes, S("replicaStatuses")));
    int64_t written_ms = j->seen->status_written_ms, now_ms = j->seen->now_ms;

    if (!jv_exists(changes))
        return NULL;
    if (counters && written_ms > 0 && written_ms <= now_ms && now_ms - written_ms < REFRESH_MS) {
        plan_wake(p, written_ms + REFRESH_MS);
        return NULL;
    }
    if (j->is_held)
        changes = jv_with_key(j->a, changes, S("lastReconcileTime"), jstr(j->a, j->now));
    struct plan_step *s = add_patch(j, p, stage, changes);
    s->can_wait = counters || is_first(j);
    return s;
}
