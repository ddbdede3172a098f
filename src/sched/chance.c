/* See chance.h. */

#include "sched/chance.h"

#include "base/quantity.h"
#include "kube/meta.h"
#include "kube/waiting.h"
#include "plan/planner.h"
#include "sched/internal.h"
#include "sched/why_internal.h"

static struct chance_out never(str what, str help)
{
    return (struct chance_out){ CHANCE_NEVER, what, help };
}

/* ---- objects that are not there */

static struct chance_out missing(struct arena *a, str message)
{
    return never(why_missing_text(a, message), S("add it to the files"));
}

/* ---- nodes as they would be on a good day: empty, ready, and open */

/* Taints of this prefix come and go with the node's state. */
static jv lasting_taints(struct arena *a, jv taints)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, taints)
        if (!str_starts(FIELD_STR(it.value, "key"), S("node.kubernetes.io/")))
            jb_push(&b, it.value);
    return jb_done(&b);
}

static const struct sched_node **nodes_at_best(struct arena *a, const struct chance_in *in)
{
    const struct sched_node **out = ARENA_ARRAY(a, const struct sched_node *, in->n_nodes + 1);

    for (size_t i = 0; i < in->n_nodes; i++) {
        struct sched_node *n = ARENA_NEW(a, struct sched_node);
        *n = *in->nodes[i];
        n->unschedulable = n->not_ready = false;
        n->taints = lasting_taints(a, n->taints);
        out[i] = n;
    }
    return out;
}

/* Other pods' company may come, and volumes too: neither counts here. */
static struct sched_pod pod_alone(struct arena *a, jv obj)
{
    struct sched_pod p = sched_pod_read(a, obj);

    if (jv_exists(FIELD(p.affinity, "nodeAffinity")))
        p.affinity = jobj(a, { "nodeAffinity", FIELD(p.affinity, "nodeAffinity") });
    else
        p.affinity = JV_ABSENT;
    p.spread = JV_ABSENT;
    p.n_claims = 0;
    return p;
}

/* ---- what no node has */

/* The option of `muster run` that asks for it, where the user wrote no YAML. */
static const char *flag_of(const struct chance_in *in, str name)
{
    if (!in->made)
        return NULL;
    if (str_eqz(name, "cpu"))
        return "--cpu";
    if (str_eqz(name, "memory"))
        return "--memory";
    return str_eqz(name, "nvidia.com/gpu") ? "--gpus" : NULL;
}

/* How much --resources has to offer: what the scheduler says that the pods need that start together
 * with this one, or what the pod needs. */
static str need_of_gang(struct arena *a, const struct why_lack *l, str sentence)
{
    str alone = amount_text(a, l->resource, l->need), rest = sentence;
    str unit = resource_text(a, l->resource, 1000); /* "1 CPU": also how "16 CPUs" begins */
    struct quantity q;

    str_cut(&unit, ' ');
    if (!str_eqz(str_cut(&rest, ' '), "needs"))
        return alone;
    str amount = str_cut(&rest, ' ');
    return str_starts(rest, unit) && quantity_parse(amount, &q, NULL) == 0 ? amount : alone;
}

static str help_with_resource(struct arena *a, const struct chance_in *in, const struct why_lack *l,
                              str sentence)
{
    bool is_plain = str_eqz(l->resource, "cpu") || str_eqz(l->resource, "memory");
    const char *verb = l->has ? "lower" : "remove", *flag = flag_of(in, l->resource);
    str help = flag ? arena_printf(a, "%s %s", verb, flag)
                    : arena_printf(a, "%s resources.%s.%" PRI_STR " in %" PRI_STR, verb,
                                   is_plain ? "requests" : "limits", STR_ARG(l->resource),
                                   STR_ARG(in->where));

    if (!in->own && in->n_nodes != 1) /* it is not this machine's to say */
        return help;
    return arena_printf(a, "%" PRI_STR ", or %s with --resources %" PRI_STR "=%" PRI_STR,
                        STR_ARG(help), in->own ? "run" : "start 'muster up'", STR_ARG(l->resource),
                        STR_ARG(need_of_gang(a, l, sentence)));
}

static str help_with(struct arena *a, const struct chance_in *in, const struct sched_pod *p,
                     const struct why *why, str sentence)
{
    if (why->cause == WHY_LACKS)
        return help_with_resource(a, in, &why->lacks[0], sentence);
    if (why->n_reasons && why_reason_is_label(why->reasons[0].text))
        return arena_printf(a, "remove %s in %" PRI_STR,
                            jv_len(p->selector) > 0 ? "nodeSelector" : "affinity.nodeAffinity",
                            STR_ARG(in->where));
    return arena_printf(a, "change %" PRI_STR, STR_ARG(in->where));
}

/* The scheduler may say that the pod's gang never fits, though the pod alone would. */
static struct chance_out unschedulable(struct arena *a, const struct chance_in *in, str told)
{
    struct sched_pod p = pod_alone(a, in->pod);
    struct sched_waiting w = { .pod = &p };
    const struct sched_waiting *only = &w;
    struct why_unit unit = { .pods = &only, .n_pods = 1 };
    str sentence = waiting_sentence(told);

    if (why_missing_text(a, told).n)
        return in->own ? missing(a, told) : (struct chance_out){ .chance = CHANCE_LATER };
    if (!in->n_nodes)
        return (struct chance_out){ .chance = CHANCE_LATER };
    struct why_world *best = why_world_new(a, nodes_at_best(a, in), in->n_nodes, NULL, 0);
    why_world_set_partial(best);
    struct why why = why_of(best, &unit);
    if (why.never)
        return never(sentence.n ? sentence : why_sentence(a, &why),
                     help_with(a, in, &p, &why, sentence));
    if (why_sentence_is_never(sentence))
        return never(sentence, S("lower what its replicas ask for, or how many they are"));
    return (struct chance_out){ .chance = CHANCE_LATER };
}

/* ---- on its node */

/* "MountVolume.SetUp failed for volume "v" : hostPath /x does not exist on this machine" */
static struct chance_out host_path(struct arena *a, const struct chance_in *in, bool is_missing,
                                   str message)
{
    static const char mark[] = "\" : ";
    const char *at = message.n ? memmem(message.p, message.n, mark, sizeof(mark) - 1) : NULL;
    str why =
        at ? str_sub(message, (size_t)(at - message.p) + sizeof(mark) - 1, message.n) : message;

    if (is_missing && !in->own)
        return (struct chance_out){ .chance = CHANCE_LATER };
    return never(arena_printf(a, "cannot be started: %" PRI_STR, STR_ARG(str_trim(why))),
                 arena_printf(a, "%schange volumes in %" PRI_STR,
                              is_missing ? "create it, or " : "", STR_ARG(in->where)));
}

static struct chance_out waiting(struct arena *a, const struct chance_in *in, jv status)
{
    jv state = jv_at(status, "state", "waiting");
    str reason = FIELD_STR(state, "reason");
    str message = FIELD_STR(state, "message");

    if (str_eqz(reason, "ImageNotMapped"))
        return never(arena_printf(a, "names no command and its image %" PRI_STR " is not mapped",
                                  STR_ARG(FIELD_STR(status, "image"))),
                     arena_printf(a,
                                  "add a command to %" PRI_STR
                                  ".containers, or map the image: muster image map --help",
                                  STR_ARG(in->where)));
    if (str_eqz(reason, "CreateContainerError") && str_starts(message, S("no command specified")))
        return never(S("has no command"),
                     arena_printf(a,
                                  "add one to %" PRI_STR ".containers, or to the image's mapping",
                                  STR_ARG(in->where)));
    if (str_eqz(reason, "HostPathRefused") || str_eqz(reason, "HostPathMissing"))
        return host_path(a, in, str_eqz(reason, "HostPathMissing"), message);
    if (!str_eqz(reason, "CreateContainerConfigError"))
        return (struct chance_out){ .chance = CHANCE_FINE };
    if (!in->own)
        return (struct chance_out){ .chance = CHANCE_LATER };
    if (why_missing_text(a, message).n)
        return missing(a, message);
    return never(arena_printf(a, "cannot be started: %" PRI_STR, STR_ARG(message)),
                 arena_printf(a, "change %" PRI_STR, STR_ARG(in->where)));
}

static struct chance_out on_node(struct arena *a, const struct chance_in *in)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
    struct chance_out out = { .chance = CHANCE_FINE };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_get(FIELD(in->pod, "status"), str_of(lists[i]))) {
            struct chance_out one = waiting(a, in, it.value);
            if (one.chance > out.chance)
                out = one;
        }
    if (out.chance == CHANCE_FINE && why_missing_text(a, in->mount_failure).n)
        return in->own ? missing(a, in->mount_failure)
                       : (struct chance_out){ .chance = CHANCE_LATER };
    return out;
}

/* ---- all of it */

struct chance_out chance_of(struct arena *a, const struct chance_in *in)
{
    jv status = FIELD(in->pod, "status");
    jv scheduled = meta_condition(in->pod, S("PodScheduled"));
    bool has_node = FIELD_STR(FIELD(in->pod, "spec"), "nodeName").n > 0;
    str scheduler = FIELD_STR(FIELD(in->pod, "spec"), "schedulerName");

    if (!str_eqz(jv_str(FIELD(status, "phase"), S("Pending")), "Pending") ||
        meta_being_deleted(in->pod))
        return (struct chance_out){ .chance = CHANCE_FINE };
    if (has_node)
        return on_node(a, in);
    if (str_eqz(FIELD_STR(scheduled, "reason"), "Unschedulable"))
        return unschedulable(a, in, FIELD_STR(scheduled, "message"));
    if (scheduler_is_ours(scheduler))
        return (struct chance_out){ .chance = CHANCE_FINE };
    if (!in->own)
        return (struct chance_out){ .chance = CHANCE_LATER };
    return never(arena_printf(a, "waits for the scheduler %" PRI_STR ", which does not run here",
                              STR_ARG(scheduler)),
                 arena_printf(a, "remove schedulerName in %" PRI_STR, STR_ARG(in->where)));
}
