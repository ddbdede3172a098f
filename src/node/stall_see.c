/* When a pod counts as stalled. PURE. */

#include "base/time.h"
#include "kube/meta.h"
#include "node/stall.h"
#include "plan/planner.h"

enum {
    LOOKS = 10, /* in the time that is watched */
    LEAST_STEP_MS = 1000,
    MOST_STEP_MS = 60 * 1000,
    NS_OF_MS = 1000 * 1000,
    IDLE_PERCENT = 1, /* of a core: a program that waits still polls now and then */
};

int64_t stall_after_ms(jv pod)
{
    str text = jv_str(jv_get(meta_annotations(pod), S(POD_STALL_AFTER)), S(""));
    int64_t ns;

    if (!text.n || duration_parse(text, &ns, NULL) < 0 || ns <= 0)
        return 0;
    int64_t ms = ns / NS_OF_MS;
    return ms < LEAST_STEP_MS ? LEAST_STEP_MS : ms;
}

int64_t stall_step_ms(int64_t after_ms)
{
    int64_t step = after_ms / LOOKS;

    return step < LEAST_STEP_MS ? LEAST_STEP_MS : step > MOST_STEP_MS ? MOST_STEP_MS : step;
}

static void progress(struct stall_mark *m, int64_t cpu_ms, int64_t now_ms)
{
    m->since_ms = now_ms;
    m->quiet_ms = m->window_ms = 0;
    m->window_cpu_ms = cpu_ms;
}

enum stall_news stall_see(struct stall_mark *m, const struct stall_count *c, int64_t after_ms,
                          int64_t now_ms)
{
    int64_t step = stall_step_ms(after_ms), ms = now_ms - m->looked_ms;
    bool was = m->stalled, anew = !m->began || c->runs != m->last.runs;

    ms = ms < 0 ? 0 : ms > 2 * step ? step : ms;
    m->quiet_ms += ms;
    m->window_ms += ms;
    int64_t used = c->cpu_ms - m->window_cpu_ms;
    /* A sum that falls has lost a process: something happened. */
    if (anew || c->output != m->last.output || used < 0 || used * 100 >= after_ms * IDLE_PERCENT) {
        progress(m, c->cpu_ms, now_ms);
    } else if (m->window_ms >= after_ms) {
        m->window_ms = 0;
        m->window_cpu_ms = c->cpu_ms;
    }
    m->began = true;
    m->last = *c;
    m->looked_ms = now_ms;
    m->stalled = m->quiet_ms >= after_ms;
    return m->stalled == was ? STALL_SAME : m->stalled ? STALL_BEGAN : STALL_ENDED;
}
