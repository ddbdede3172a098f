/* Hooks and probes of a pod's containers, under way: in the container, over the network, or just
 * waiting. */

#include "base/mem.h"
#include "base/time.h"
#include "node/internal.h"

enum { HOOK_MS = 10 * 60 * 1000, GRACE_OF_OURS_MS = 500 };

static const char *const fields[] = { "startupProbe", "livenessProbe", "readinessProbe" };

static void ask_free(struct pod *p, struct ask *x)
{
    for (struct ask **at = &p->asks; *at; at = &(*at)->next)
        if (*at == x) {
            *at = x->next;
            break;
        }
    loop_timer_stop(x->timer);
    free(x);
}

static void answer(struct ask *x, enum probe_result result, str message)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod *p = x->pod;
    struct life_action act = x->act;

    message = arena_str(a, message);
    ask_free(p, x);
    if (act.what == LIFE_PROBE)
        life_on_probe(p->life, &act, result, message, node_now(p->n), &out);
    else
        life_on_hook(p->life, act.c, act.attempt, act.stop, result == PROBE_GOOD, node_now(p->n),
                     &out);
    pod_reconcile(p, &out);
}

static void on_probed(void *ctx, enum probe_result result, str message)
{
    struct ask *x = ctx;

    x->probe = NULL;
    answer(x, result, message);
}

static void on_slept(void *arg)
{
    answer(arg, PROBE_GOOD, STR_NONE);
}

static str command_text(struct arena *a, const struct ask *x)
{
    char took[TIME_BYTES];

    duration_print(took, x->timeout_ms * 1000000);
    return arena_printf(a, "command timed out: timed out after %s", took);
}

/* The runtime did not keep the time it was given. */
static void on_overdue(void *arg)
{
    AUTO(arena) struct arena *a = arena_new();
    struct ask *x = arg;

    answer(x, PROBE_BAD, command_text(a, x));
}

static void on_impossible(void *arg)
{
    answer(arg, PROBE_UNKNOWN, S("this kind of handler is not available on this node"));
}

static void later(struct ask *x, int64_t ms, void (*fn)(void *arg))
{
    x->timer = loop_timer_start(x->pod->n->o.loop, ms, 0, fn, x);
}

static void in_container(struct ask *x, jv exec)
{
    struct pod *p = x->pod;

    x->id = ++p->n->next_ask;
    later(x, x->timeout_ms + GRACE_OF_OURS_MS, on_overdue);
    p->n->o.runtime->ops->exec(p->rt, x->id, p->life->at[x->act.c].name, jv_at(exec, "command"),
                               x->timeout_ms);
}

void pod_ask(struct pod *p, const struct life_action *act)
{
    struct ask *x = mem_new(sizeof(*x));
    jv spec = p->life->at[act->c].spec;
    bool probe = act->what == LIFE_PROBE;
    jv handler = probe ? jv_get(spec, str_of(fields[act->probe]))
                       : jv_at(spec, "lifecycle", act->stop ? "preStop" : "postStart");
    const struct pod_network *net = p->n->o.net;
    jv exec = jv_at(handler, "exec"), sleep = jv_at(handler, "sleep", "seconds");

    x->pod = p;
    x->act = *act;
    x->timeout_ms = probe ? seconds_ms(jv_int(jv_at(handler, "timeoutSeconds"), 1)) : HOOK_MS;
    x->next = p->asks;
    p->asks = x;
    struct probe_opts o = { .loop = p->n->o.loop,
                            .handler = handler,
                            .container = spec,
                            .host = node_pod_ip(p),
                            .net = p->attached && net && net->socket ? net : NULL,
                            .timeout_ms = x->timeout_ms,
                            .done = on_probed,
                            .ctx = x };
    if (jv_is(exec, JV_OBJ) && p->rt)
        in_container(x, exec);
    else if (jv_is(sleep, JV_INT))
        later(x, seconds_ms(jv_int(sleep, 0)), on_slept);
    else if (!(x->probe = probe_start(&o)))
        later(x, 0, on_impossible);
}

void pod_answered(struct pod *p, uint64_t id, int code, str out)
{
    AUTO(arena) struct arena *a = arena_new();

    for (struct ask *x = p->asks; x; x = x->next)
        if (x->id == id && id) {
            bool late = code == RUNTIME_EXEC_TIMED_OUT;
            answer(x, code == 0 ? PROBE_GOOD : PROBE_BAD, late ? command_text(a, x) : out);
            return;
        }
}

void pod_asks_drop(struct pod *p)
{
    while (p->asks) {
        probe_stop(p->asks->probe);
        ask_free(p, p->asks);
    }
}
