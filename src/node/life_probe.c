/* When to probe a container, and what its answers mean. PURE. */

#include "node/life.h"

#include "base/time.h"

static const struct {
    const char *field;
    const char *failed; /* what an event says first */
    const char *killed; /* NULL: a failure does not end the container */
} kinds[LIFE_PROBES] = {
    [LIFE_STARTUP] = { "startupProbe", "Startup", "startup" },
    [LIFE_LIVENESS] = { "livenessProbe", "Liveness", "liveness" },
    [LIFE_READINESS] = { "readinessProbe", "Readiness", NULL },
};

static jv life_spec_probe(const struct life_container *c, enum life_probe_kind kind)
{
    jv p = jv_path(c->spec, (const char *const[]){ kinds[kind].field, NULL });

    return jv_is(p, JV_OBJ) ? p : JV_ABSENT;
}

bool life_has_started(const struct life_container *c)
{
    return c->state == LIFE_RUNNING && !c->post_busy &&
           (c->probes[LIFE_STARTUP].result == 1 || !jv_exists(life_spec_probe(c, LIFE_STARTUP)));
}

bool life_is_ready(const struct life_container *c)
{
    return life_has_started(c) && (c->probes[LIFE_READINESS].result == 1 ||
                                   !jv_exists(life_spec_probe(c, LIFE_READINESS)));
}

static bool applies(const struct life *l, const struct life_container *c, enum life_probe_kind kind)
{
    if (!jv_exists(life_spec_probe(c, kind)))
        return false;
    if (kind != LIFE_READINESS && (c->stopping || l->ending))
        return false;
    if (kind == LIFE_STARTUP)
        return c->probes[kind].result != 1;
    return life_has_started(c);
}

void life_probes(struct life *l, struct life_container *c, int64_t now_ms, struct life_out *out)
{
    if (c->state != LIFE_RUNNING || c->post_busy || c->kind == LIFE_INIT)
        return;
    for (enum life_probe_kind k = 0; k < LIFE_PROBES; k++) {
        struct life_probe *p = &c->probes[k];
        if (p->asked || !applies(l, c, k))
            continue;
        if (!p->due_ms)
            p->due_ms = c->started_ms +
                        seconds_ms(jv_int(jv_at(life_spec_probe(c, k), "initialDelaySeconds"), 0));
        if (now_ms < p->due_ms) {
            life_wake(out, p->due_ms);
            continue;
        }
        p->asked = true;
        p->asked_ms = now_ms;
        life_act(out, (struct life_action){ .what = LIFE_PROBE,
                                            .c = (size_t)(c - l->at),
                                            .attempt = c->attempt,
                                            .probe = k });
    }
}

static void failed(struct life *l, struct life_container *c, enum life_probe_kind k, int64_t now_ms,
                   struct life_out *out)
{
    jv own = jv_at(life_spec_probe(c, k), "terminationGracePeriodSeconds");

    c->probes[k].result = -1;
    if (!kinds[k].killed)
        return;
    life_stop(l, c, now_ms, jv_is(own, JV_INT) ? seconds_ms(jv_int(own, 0)) : life_grace_ms(l),
              arena_printf(out->a, "Container %" PRI_STR " failed %s probe, will be restarted",
                           STR_ARG(c->name), kinds[k].killed),
              out);
}

void life_on_probe(struct life *l, const struct life_action *asked, int result, str message,
                   int64_t now_ms, struct life_out *out)
{
    struct life_container *c = &l->at[asked->c];
    enum life_probe_kind k = asked->probe;
    struct life_probe *p = &c->probes[k];
    jv spec = life_spec_probe(c, k);

    if (c->state != LIFE_RUNNING || c->attempt != asked->attempt || !p->asked)
        return;
    int64_t period = seconds_ms(jv_int(jv_at(spec, "periodSeconds"), 10));
    p->asked = false;
    p->due_ms = p->asked_ms + period > now_ms ? p->asked_ms + period : now_ms;
    if (!applies(l, c, k))
        return;
    if (result < 0) {
        life_tell(out, c, true, "Unhealthy",
                  arena_printf(out->a, "%s probe errored and resulted in unknown state: %" PRI_STR,
                               kinds[k].failed, STR_ARG(message)));
        return;
    }
    if (result > 0) {
        p->bad = 0;
        if (++p->good >= jv_int(jv_at(spec, "successThreshold"), 1))
            p->result = 1;
        return;
    }
    p->good = 0;
    life_tell(
        out, c, true, "Unhealthy",
        arena_printf(out->a, "%s probe failed: %" PRI_STR, kinds[k].failed, STR_ARG(message)));
    if (++p->bad >= jv_int(jv_at(spec, "failureThreshold"), 3))
        failed(l, c, k, now_ms, out);
}
