/* Random lives of random pods: whatever happens and in whatever order, a container never runs
 * twice at once, restarts are counted truly, nothing runs after the end, and a pod that is deleted
 * ends. Seeds are printed; SEED= repeats one, LIVES= sets how many. */

#include "node/life.h"
#include "tap.h"

#include <signal.h>

enum { MOST = 6, STEPS = 400 };

struct world {
    uint64_t rng;
    struct arena *a;
    struct life *life;
    int64_t now_ms;
    bool alive[MOST], starting[MOST], stubborn[MOST], termed[MOST];
    int64_t starts[MOST];
    bool box, box_asked, removed;
    bool hook_post[MOST], hook_pre[MOST];
    struct life_action probe[MOST][LIFE_PROBES];
    bool probing[MOST][LIFE_PROBES];
    const char *wrong;
};

static uint32_t chance(struct world *w, uint32_t of)
{
    w->rng ^= w->rng << 13;
    w->rng ^= w->rng >> 7;
    w->rng ^= w->rng << 17;
    return (uint32_t)(w->rng >> 33) % of;
}

static jv random_container(struct world *w, int i, bool sidecar)
{
    struct jbuild b = jb_obj(w->a), lc = jb_obj(w->a);
    static const char *const probes[] = { "startupProbe", "livenessProbe", "readinessProbe" };

    jb_set(&b, S("name"), jstr(w->a, arena_printf(w->a, "c%d", i)));
    if (sidecar)
        jb_set(&b, S("restartPolicy"), jstrz(w->a, "Always"));
    for (size_t p = 0; p < COUNT(probes); p++)
        if (chance(w, 4) == 0)
            jb_set(&b, str_of(probes[p]),
                   jobj(w->a, { "periodSeconds", jint(w->a, 1 + chance(w, 5)) },
                        { "initialDelaySeconds", jint(w->a, chance(w, 5)) },
                        { "failureThreshold", jint(w->a, 1 + chance(w, 3)) }));
    if (chance(w, 4) == 0)
        jb_set(&lc, S("postStart"), JV_EMPTY_OBJ);
    if (chance(w, 4) == 0)
        jb_set(&lc, S("preStop"), JV_EMPTY_OBJ);
    if (lc.n)
        jb_set(&b, S("lifecycle"), jb_done(&lc));
    return jb_done(&b);
}

static jv random_pod(struct world *w)
{
    static const char *const policies[] = { "Always", "OnFailure", "Never" };
    struct jbuild init = jb_arr(w->a), main = jb_arr(w->a);
    int n_init = (int)chance(w, 4), n_main = 1 + (int)chance(w, 3);
    jv deadline = chance(w, 6) ? JV_ABSENT : jint(w->a, 5 + chance(w, 300));

    for (int i = 0; i < n_init; i++)
        jb_push(&init, random_container(w, i, chance(w, 3) == 0));
    for (int i = 0; i < n_main; i++)
        jb_push(&main, random_container(w, n_init + i, false));
    return jobj(
        w->a,
        { "metadata", jobj(w->a, { "name", jstrz(w->a, "p") }, { "namespace", jstrz(w->a, "d") },
                           { "uid", jstrz(w->a, "u") }) },
        { "spec", jobj(w->a, { "restartPolicy", jstr(w->a, str_of(policies[chance(w, 3)])) },
                       { "activeDeadlineSeconds", deadline },
                       { "terminationGracePeriodSeconds", jint(w->a, chance(w, 40)) },
                       { "initContainers", jb_done(&init) }, { "containers", jb_done(&main) }) });
}

static void wrong(struct world *w, const char *what)
{
    if (!w->wrong)
        w->wrong = what;
}

static void carry_out(struct world *w, const struct life_action *x)
{
    size_t c = x->c;

    switch (x->what) {
    case LIFE_SANDBOX:
        if (w->box || w->box_asked)
            wrong(w, "a second sandbox");
        w->box_asked = true;
        break;
    case LIFE_START:
        if (!w->box)
            wrong(w, "started without a sandbox");
        if (w->alive[c] || w->starting[c])
            wrong(w, "a container runs twice at once");
        if (x->attempt != w->starts[c])
            wrong(w, "attempts are miscounted");
        if (w->life->at[c].kind == LIFE_MAIN)
            for (size_t i = 0; i < w->life->n_init; i++)
                if (w->life->at[i].kind == LIFE_INIT && (w->alive[i] || !w->starts[i]))
                    wrong(w, "started before its init containers were done");
        w->starting[c] = true;
        break;
    case LIFE_HOOK:
        if (!w->alive[c])
            wrong(w, "a hook in a dead container");
        *(x->stop ? &w->hook_pre[c] : &w->hook_post[c]) = true;
        break;
    case LIFE_SIGNAL:
        if (!w->alive[c])
            wrong(w, "a signal to a dead container");
        w->termed[c] = true;
        if (x->signo == SIGKILL)
            w->stubborn[c] = false;
        break;
    case LIFE_PROBE:
        if (!w->alive[c] || w->probing[c][x->probe])
            wrong(w, "a probe too many");
        w->probing[c][x->probe] = true;
        w->probe[c][x->probe] = *x;
        break;
    case LIFE_END_BOX:
        for (size_t i = 0; i < w->life->n; i++)
            if (w->alive[i])
                wrong(w, "the sandbox ends before its containers");
        break;
    case LIFE_REMOVE:
        w->removed = true;
        break;
    }
}

static void died(struct world *w, size_t c)
{
    w->alive[c] = w->termed[c] = w->hook_post[c] = w->hook_pre[c] = false;
    memset(w->probing[c], 0, sizeof(w->probing[c]));
}

static void exited(struct world *w, size_t c)
{
    struct life_exit x = { .at_ms = w->now_ms, .code = chance(w, 2) ? 0 : (int)chance(w, 3) };

    if (w->termed[c] && chance(w, 2)) {
        x.code = -1;
        x.signo = SIGTERM;
    }
    died(w, c);
    life_on_exited(w->life, c, &x);
}

static void in_container(struct world *w, size_t c, struct life_out *out)
{
    uint32_t dice = chance(w, 10);

    if (w->starting[c]) {
        w->starting[c] = false;
        w->starts[c]++;
        if (dice == 0) {
            life_on_failed(w->life, c, 128, S("StartError"), S("no"), w->now_ms);
        } else if (dice == 1) {
            w->starts[c]--;
            life_on_cannot(w->life, c, S("CreateContainerConfigError"), S("no"), w->now_ms + 500);
        } else {
            w->alive[c] = true;
            w->stubborn[c] = chance(w, 4) == 0;
            life_on_started(w->life, c, w->now_ms, out);
        }
        return;
    }
    if (!w->alive[c])
        return;
    for (int k = 0; k < LIFE_PROBES; k++)
        if (w->probing[c][k] && dice < 5) {
            w->probing[c][k] = false;
            life_on_probe(w->life, &w->probe[c][k], chance(w, 3) != 0, S("x"), w->now_ms, out);
        }
    if (w->hook_post[c] && dice < 3) {
        w->hook_post[c] = false;
        life_on_hook(w->life, c, w->life->at[c].attempt, false, dice != 0, w->now_ms, out);
    } else if (w->hook_pre[c] && dice < 5) {
        w->hook_pre[c] = false;
        life_on_hook(w->life, c, w->life->at[c].attempt, true, dice != 0, w->now_ms, out);
    } else if (w->termed[c] ? !w->stubborn[c] && dice < 5 : dice == 9) {
        exited(w, c);
    }
}

static void in_box(struct world *w)
{
    uint32_t dice = chance(w, 40);

    if (w->box_asked && w->life->box != LIFE_BOX_ENDING && dice < 20) {
        w->box_asked = false;
        if (dice == 0) {
            life_on_box_failed(w->life, w->now_ms + 1000);
        } else {
            w->box = true;
            life_on_box_up(w->life, S("10.0.0.1"));
        }
    } else if ((w->box && dice == 39 && chance(w, 5) == 0) || w->life->box == LIFE_BOX_ENDING) {
        w->box = w->box_asked = false;
        for (size_t i = 0; i < w->life->n; i++) {
            w->starting[i] = false;
            died(w, i);
        }
        life_on_box_gone(w->life, w->now_ms, S("NodeRestart"), S("lost"));
    }
}

static void delete (struct world *w)
{
    struct arena *a = arena_new();
    jv pod =
        jv_with(a, w->life->pod, jstrz(a, "2026-01-01T00:00:00Z"), "metadata", "deletionTimestamp");
    struct jdoc *d = jdoc_of(a, jv_copy(a, jv_with(a, pod, jint(a, chance(w, 40)), "metadata",
                                                   "deletionGracePeriodSeconds")));

    life_update(w->life, d);
    jdoc_unref(d);
}

static void check(struct world *w)
{
    bool running = false;

    for (size_t i = 0; i < w->life->n; i++) {
        const struct life_container *c = &w->life->at[i];
        running |= w->alive[i];
        if ((c->state == LIFE_RUNNING) != w->alive[i])
            wrong(w, "what is known is not what is");
        if (w->starts[i] && c->attempt != w->starts[i] - 1)
            wrong(w, "restartCount is not the number of restarts");
    }
    str phase = str_of(life_phase(w->life));
    if (running && (str_eq(phase, S("Succeeded")) || str_eq(phase, S("Failed"))))
        wrong(w, "something runs after the end");
}

static void one_step(struct world *w)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct life_where where = { .host_ip = S("10.0.0.9") };

    in_box(w);
    for (size_t c = 0; c < w->life->n; c++)
        if (w->box)
            in_container(w, c, &out);
    life_step(w->life, w->now_ms, &out);
    for (size_t i = 0; i < out.acts.n; i++)
        carry_out(w, &out.acts.at[i]);
    check(w);
    if (!jv_is(life_status(a, w->life, &where, w->now_ms), JV_OBJ))
        wrong(w, "no status");
    if (out.wake_ms <= w->now_ms)
        wrong(w, "wakes for what is past");
    if (out.wake_ms != INT64_MAX && out.wake_ms > w->now_ms && chance(w, 3) == 0)
        w->now_ms = out.wake_ms;
    else
        w->now_ms += chance(w, 2000);
}

static const char *live(uint64_t seed)
{
    struct world w = { .rng = seed * 0x9E3779B97F4A7C15u + 1, .a = arena_new(), .now_ms = 1000000 };
    struct arena *own = arena_new();
    struct jdoc *d = jdoc_of(own, jv_copy(own, random_pod(&w)));
    int until = (int)chance(&w, STEPS);

    w.life = life_new(d);
    jdoc_unref(d);
    for (int i = 0; i < until; i++)
        one_step(&w);
    delete (&w);
    for (int i = 0; i < 4 * STEPS && !w.removed; i++)
        one_step(&w);
    if (!w.removed)
        wrong(&w, "a deleted pod does not end");
    life_free(w.life);
    arena_free(w.a);
    return w.wrong;
}

int main(void)
{
    const char *seed = getenv("SEED"), *lives = getenv("LIVES");
    uint64_t from = seed ? strtoull(seed, NULL, 10) : 1,
             n = lives ? strtoull(lives, NULL, 10) : 3000;
    int bad = 0;

    for (uint64_t i = from; i < from + (seed ? 1 : n); i++) {
        const char *what = live(i);
        if (what && ++bad <= 10)
            printf("# SEED=%" PRIu64 ": %s\n", i, what);
    }
    is_int(bad, 0, "in random lives nothing goes wrong");
    return tap_done();
}
