/* Building a plan: arrays that grow in its arena. */

#include "plan/plan.h"

struct plan *plan_new(struct arena *a)
{
    struct plan *p = ARENA_NEW(a, struct plan);

    p->a = a;
    return p;
}

static void *grown(struct arena *a, const void *at, size_t n, size_t cap, size_t size)
{
    void *more = arena_alloc(a, cap * size);

    if (n)
        memcpy(more, at, n * size);
    return more;
}

struct plan_step *plan_add(struct plan *p, enum plan_kind kind, unsigned stage,
                           const struct kube_resource *res)
{
    if (p->n_steps == p->cap_steps) {
        p->cap_steps = p->cap_steps ? p->cap_steps * 2 : 8;
        p->steps = grown(p->a, p->steps, p->n_steps, p->cap_steps, sizeof(*p->steps));
    }
    struct plan_step *s = &p->steps[p->n_steps++];
    *s = (struct plan_step){ .kind = kind, .stage = stage, .res = res };
    return s;
}

struct plan_note *plan_tell(struct plan *p)
{
    if (p->n_notes == p->cap_notes) {
        p->cap_notes = p->cap_notes ? p->cap_notes * 2 : 8;
        p->notes = grown(p->a, p->notes, p->n_notes, p->cap_notes, sizeof(*p->notes));
    }
    struct plan_note *n = &p->notes[p->n_notes++];
    *n = (struct plan_note){ 0 };
    return n;
}

void step_tell(struct plan *p, struct plan_step *s, struct plan_note note)
{
    /* Few notes a step, so one more place each time is fine. */
    s->notes = grown(p->a, s->notes, s->n_notes, s->n_notes + 1, sizeof(*s->notes));
    s->notes[s->n_notes++] = note;
}

void plan_wake(struct plan *p, int64_t at_ms)
{
    if (p->wake_ms == 0 || at_ms < p->wake_ms)
        p->wake_ms = at_ms;
}

jv step_object(struct arena *a, const struct plan_step *s)
{
    return s->make ? s->make(a, s) : s->obj;
}
