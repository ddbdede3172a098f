/* A plan as a JSON value, for golden files. Members that say nothing are left out. */

#include "base/time.h"
#include "plan/plan.h"

static const char *const kind_names[] = { "create", "delete", "patch", "confirm" };
static const char *const patch_names[] = { "merge", "json", "strategic", "apply" };
static const char *const counter_names[] = { "created", "deleted", "succeeded", "failed",
                                             "restarted" };

static jv text_or_none(struct arena *a, str s)
{
    return s.n ? jstr(a, s) : JV_ABSENT;
}

static jv z_or_none(struct arena *a, const char *z)
{
    return z ? jstr(a, str_of(z)) : JV_ABSENT;
}

static jv true_or_none(bool b)
{
    return b ? JV_TRUE : JV_ABSENT;
}

static jv event_json(struct arena *a, const struct plan_note *n)
{
    return jobj(a, { "type", jstr(a, n->warning ? S("Warning") : S("Normal")) },
                { "reason", jstr(a, n->reason) }, { "message", jstr(a, n->message) },
                { "once", text_or_none(a, n->once) }, { "terminal", true_or_none(n->terminal) });
}

static jv events_json(struct arena *a, const struct plan_note *notes, size_t n)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        if (notes[i].kind == NOTE_EVENT)
            jb_push(&b, event_json(a, &notes[i]));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static jv counts_json(struct arena *a, const struct plan_note *notes, size_t n)
{
    int64_t sums[COUNT(counter_names)] = { 0 };
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < n; i++)
        if (notes[i].kind == NOTE_COUNT)
            sums[notes[i].counter] += notes[i].n;
    for (size_t i = 0; i < COUNT(sums); i++)
        if (sums[i])
            jb_add(&b, str_of(counter_names[i]), jint(a, sums[i]));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static jv step_json(struct arena *a, const struct plan_step *s)
{
    bool is_patch = s->kind == PLAN_PATCH;

    return jobj(a, { "stage", jint(a, s->stage) },
                { kind_names[s->kind], s->res ? jstr(a, str_of(s->res->kind)) : JV_NULL_V },
                { "name", jstr(a, s->name) }, { "uid", text_or_none(a, s->uid) },
                { "sub", text_or_none(a, s->sub) },
                { "type", is_patch ? jstr(a, str_of(patch_names[s->patch])) : JV_ABSENT },
                { "must", true_or_none(s->must) }, { "basis", true_or_none(s->basis) },
                { "shared", true_or_none(s->shared) }, { "object", step_object(a, s) },
                { "told", z_or_none(a, s->done_reason) }, { "words", z_or_none(a, s->done_words) },
                { "refused", z_or_none(a, s->fail_reason) },
                { "failing", z_or_none(a, s->fail_words) },
                { "taken", z_or_none(a, s->taken_reason) },
                { "events", events_json(a, s->notes, s->n_notes) },
                { "counts", counts_json(a, s->notes, s->n_notes) });
}

jv plan_json(struct arena *a, const struct plan *p)
{
    struct jbuild steps = jb_arr(a);

    for (size_t i = 0; i < p->n_steps; i++)
        jb_push(&steps, step_json(a, &p->steps[i]));
    return jobj(a, { "steps", steps.n ? jb_done(&steps) : JV_ABSENT },
                { "events", events_json(a, p->notes, p->n_notes) },
                { "counts", counts_json(a, p->notes, p->n_notes) },
                { "wake", p->wake_ms ? jstr(a, time_text(a, p->wake_ms)) : JV_ABSENT },
                { "finished", true_or_none(p->finished) }, { "ignored", true_or_none(p->ignored) },
                { "gangShort", true_or_none(p->gang_short) });
}
