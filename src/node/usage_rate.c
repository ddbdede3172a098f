/* From two samples of counts to rates. Pure. */

#include "node/usage.h"

enum { LEAST_MS = 500 }; /* less tells nothing: CPU time is counted in steps of 10 ms */

int64_t usage_rate(int64_t before_ns, int64_t now_ns, int64_t ms)
{
    /* a count may fall a little when processes end; 2^63 ns * 1000 would not fit */
    if (ms <= 0 || now_ns <= before_ns)
        return 0;
    return (int64_t)((__int128)(now_ns - before_ns) * 1000 / ms);
}

static const struct usage_container *same_of(const struct usage_sample *s,
                                             const struct usage_container *c)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct usage_container *x = &s->at[i];
        if (x->found && x->attempt == c->attempt && x->by_group == c->by_group &&
            str_eq(x->name, c->name) && str_eq(x->uid, c->uid))
            return x;
    }
    return NULL;
}

/* The time over which the container is measured. */
static int64_t window_of(const struct usage_sample *before, const struct usage_sample *now,
                         const struct usage_container *c, const struct usage_container *old)
{
    return old ? now->tick_ms - before->tick_ms : now->wall_ms - c->started_ms;
}

bool usage_is_early(const struct usage_sample *before, const struct usage_sample *now)
{
    for (size_t i = 0; i < now->n; i++) {
        const struct usage_container *c = &now->at[i];
        if (c->found && window_of(before, now, c, same_of(before, c)) < LEAST_MS)
            return true;
    }
    return false;
}

/* The window of its rate; 0: there is none. */
static int64_t rate_of(const struct usage_sample *before, const struct usage_sample *now,
                       const struct usage_container *c, int64_t *nano)
{
    const struct usage_container *old = same_of(before, c);
    int64_t ms = window_of(before, now, c, old);

    if (!c->found || ms < LEAST_MS)
        return 0;
    *nano = usage_rate(old ? old->cpu_ns : 0, c->cpu_ns, ms);
    return ms;
}

/* The pod that begins at *i, absent if one of its containers has no rate yet; moves *i past it. */
static jv report_pod(struct arena *a, const struct usage_sample *before,
                     const struct usage_sample *now, size_t *i)
{
    const struct usage_container *first = &now->at[*i];
    struct jbuild list = jb_arr(a);
    int64_t window = 0;
    bool whole = true;

    for (; *i < now->n && str_eq(now->at[*i].uid, first->uid); ++*i) {
        const struct usage_container *c = &now->at[*i];
        int64_t nano = 0, ms = rate_of(before, now, c, &nano);
        window = ms > window ? ms : window;
        whole = whole && ms > 0;
        jb_push(&list,
                jobj(a, { "name", jstr(a, arena_str(a, c->name)) }, { "cpu_nano", jint(a, nano) },
                     { "memory_bytes", jint(a, c->memory_bytes) }));
    }
    return whole ? jobj(a, { "uid", jstr(a, arena_str(a, first->uid)) },
                        { "at_ms", jint(a, now->wall_ms) }, { "window_ms", jint(a, window) },
                        { "containers", jb_done(&list) })
                 : JV_ABSENT;
}

jv usage_report(struct arena *a, const struct usage_sample *before, const struct usage_sample *now)
{
    int64_t window = now->tick_ms - before->tick_ms;
    bool machine = now->found && before->found && window > 0;
    struct jbuild pods = jb_obj(a);

    for (size_t i = 0; i < now->n;) {
        str key = arena_str(a, now->at[i].pod);
        jv pod = report_pod(a, before, now, &i);
        if (jv_exists(pod))
            jb_add(&pods, key, pod);
    }
    return jobj(a, { "at_ms", jint(a, now->wall_ms) }, { "window_ms", jint(a, window) },
                { "cpu_nano",
                  machine ? jint(a, usage_rate(before->cpu_ns, now->cpu_ns, window)) : JV_ABSENT },
                { "memory_bytes", machine ? jint(a, now->memory_bytes) : JV_ABSENT },
                { "pods", jb_done(&pods) });
}
