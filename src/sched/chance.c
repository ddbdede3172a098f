/* See chance.h. */

#include "sched/chance.h"

#include "base/quantity.h"
#include "kube/meta.h"
#include "sched/internal.h"

static struct chance_out never(str what, str help)
{
    return (struct chance_out){ CHANCE_NEVER, what, help };
}

/* ---- objects that are not there */

static bool names_missing_object(str message)
{
    static const char *const kinds[] = { "configmap \"", "secret \"", "persistentvolumeclaim \"" };

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (str_contains(message, str_of(kinds[i])) && str_contains(message, S("\" not found")))
            return true;
    return false;
}

/* The kubelet's sentence, from the name of the object on. */
static str missing_text(struct arena *a, str message)
{
    static const struct {
        const char *word, *kind;
    } rows[] = { { "configmap \"", "ConfigMap" },
                 { "secret \"", "Secret" },
                 { "persistentvolumeclaim \"", "PersistentVolumeClaim" } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *at = memmem(message.p, message.n, rows[i].word, strlen(rows[i].word));
        if (!at)
            continue;
        str rest = str_sub(message, (size_t)(at - message.p) + strlen(rows[i].word), message.n);
        str name = str_cut(&rest, '"');
        return arena_printf(a, "needs the %s %" PRI_STR ", which does not exist", rows[i].kind,
                            STR_ARG(name));
    }
    return S("needs an object that does not exist");
}

static struct chance_out missing(struct arena *a, str message)
{
    return never(missing_text(a, message), S("add it to the files"));
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

/* ---- amounts for people */

static str with_unit(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti" };
    size_t u = 0;
    int64_t one = 1;

    while (u + 1 < COUNT(units) && bytes / 1024 >= one) {
        one *= 1024;
        u++;
    }
    if (bytes % one == 0)
        return arena_printf(a, "%lld%s", (long long)(bytes / one), units[u]);
    return arena_printf(a, "%.1f%s", (double)bytes / (double)one, units[u]);
}

static str amount_text(struct arena *a, str name, int64_t n)
{
    if (str_eqz(name, "cpu"))
        return n % 1000 ? arena_printf(a, "%lldm", (long long)n)
                        : arena_printf(a, "%lld", (long long)(n / 1000));
    if (str_eqz(name, "memory") || str_eqz(name, "ephemeral-storage") ||
        str_starts(name, S("hugepages-")))
        return with_unit(a, n);
    return arena_printf(a, "%lld", (long long)n);
}

static str asked_text(struct arena *a, str name, int64_t n)
{
    str amount = amount_text(a, name, n);

    if (str_eqz(name, "cpu"))
        return arena_printf(a, "%" PRI_STR " CPU%s", STR_ARG(amount), n == 1000 ? "" : "s");
    return arena_printf(a, "%" PRI_STR " %s%" PRI_STR, STR_ARG(amount),
                        str_eqz(name, "memory") ? "of " : "", STR_ARG(name));
}

static int64_t amount_in(const struct sched_amounts *l, str name)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->at[i].name, name))
            return l->at[i].n;
    return 0;
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

static struct chance_out lacks_resource(struct arena *a, const struct chance_in *in, str name,
                                        int64_t asked, int64_t most)
{
    bool is_plain = str_eqz(name, "cpu") || str_eqz(name, "memory");
    str need = amount_text(a, name, asked);
    str has = most ? amount_text(a, name, most) : S("none");
    str what = arena_printf(
        a, "asks for %" PRI_STR ", %s %" PRI_STR, STR_ARG(asked_text(a, name, asked)),
        in->n_nodes == 1 ? "this machine has" : "the most a node has is", STR_ARG(has));
    const char *verb = most ? "lower" : "remove", *flag = flag_of(in, name);
    str help =
        flag ? arena_printf(a, "%s %s", verb, flag)
             : arena_printf(a, "%s resources.%s.%" PRI_STR " in %" PRI_STR, verb,
                            is_plain ? "requests" : "limits", STR_ARG(name), STR_ARG(in->where));

    if (in->own || in->n_nodes == 1) /* else it is not this machine's to say */
        help = arena_printf(a, "%" PRI_STR ", or %s with --resources %" PRI_STR "=%" PRI_STR,
                            STR_ARG(help), in->own ? "run" : "start 'muster up'", STR_ARG(name),
                            STR_ARG(need));
    return never(what, help);
}

static str selector_text(struct arena *a, jv selector)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, selector)
        buf_printf(&b, "%s%" PRI_STR "=%" PRI_STR, b.n ? "," : "", STR_ARG(it.key),
                   STR_ARG(jv_str(it.value, STR_NONE)));
    return arena_str(a, buf_str(&b));
}

static struct chance_out lacks_node(struct arena *a, const struct chance_in *in,
                                    const struct sched_pod *p)
{
    bool by_label = jv_len(p->selector) > 0;
    const char *none = in->n_nodes == 1 ? "this machine is not one" : "there is none";
    str what = by_label ? arena_printf(a, "asks for a node with the labels %" PRI_STR ", %s",
                                       STR_ARG(selector_text(a, p->selector)), none)
                        : arena_printf(a, "asks for a node that matches its affinity, %s", none);

    return never(what, arena_printf(a, "remove %s in %" PRI_STR,
                                    by_label ? "nodeSelector" : "affinity.nodeAffinity",
                                    STR_ARG(in->where)));
}

/* The first resource that the pod wants more of than any node that it may use has. */
static bool find_lacking(const struct sched_pod *p, const struct sched_node *const *nodes, size_t n,
                         const struct sched_amount **lacking, int64_t *most)
{
    for (size_t i = 0; i < p->need.n; i++) {
        *most = 0;
        for (size_t k = 0; k < n; k++) {
            int64_t has = amount_in(&nodes[k]->has, p->need.at[i].name);
            if (node_is_wanted(p, nodes[k]) && has > *most)
                *most = has;
        }
        *lacking = &p->need.at[i];
        if (p->need.at[i].n > *most)
            return true;
    }
    return false;
}

static bool any_is_wanted(const struct sched_pod *p, const struct chance_in *in)
{
    for (size_t i = 0; i < in->n_nodes; i++)
        if (node_is_wanted(p, in->nodes[i]))
            return true;
    return false;
}

static struct chance_out unschedulable(struct arena *a, const struct chance_in *in, str told)
{
    struct sched_pod p = pod_alone(a, in->pod);
    struct sched_waiting w = { .pod = &p };
    const struct sched_node **nodes = nodes_at_best(a, in);
    struct sched_input all = {
        .nodes = nodes, .n_nodes = in->n_nodes, .waiting = &w, .n_waiting = 1
    };
    const struct sched_amount *lacking;
    int64_t most;

    if (names_missing_object(told))
        return in->own ? missing(a, told) : (struct chance_out){ .chance = CHANCE_LATER };
    if (!in->n_nodes)
        return (struct chance_out){ .chance = CHANCE_LATER };
    struct sched_verdict *v = sched_decide(a, &all);
    if (v->node)
        return (struct chance_out){ .chance = CHANCE_LATER };
    if (!any_is_wanted(&p, in))
        return lacks_node(a, in, &p);
    if (find_lacking(&p, nodes, in->n_nodes, &lacking, &most))
        return lacks_resource(a, in, lacking->name, lacking->n, most);
    str why = v->why;
    str first = str_cut(&why, '.');
    return never(arena_printf(a, "fits no node: %" PRI_STR, STR_ARG(first)),
                 arena_printf(a, "change %" PRI_STR, STR_ARG(in->where)));
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
    if (names_missing_object(message))
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
    if (out.chance == CHANCE_FINE && names_missing_object(in->mount_failure))
        return in->own ? missing(a, in->mount_failure)
                       : (struct chance_out){ .chance = CHANCE_LATER };
    return out;
}

/* ---- all of it */

static bool has_other_scheduler(jv pod)
{
    static const char *const known[] = { "", "default-scheduler", "muster-scheduler" };
    str name = FIELD_STR(FIELD(pod, "spec"), "schedulerName");

    for (size_t i = 0; i < COUNT(known); i++)
        if (str_eqz(name, known[i]))
            return false;
    return true;
}

struct chance_out chance_of(struct arena *a, const struct chance_in *in)
{
    jv status = FIELD(in->pod, "status");
    jv scheduled = meta_condition(in->pod, S("PodScheduled"));
    bool has_node = FIELD_STR(FIELD(in->pod, "spec"), "nodeName").n > 0;

    if (!str_eqz(jv_str(FIELD(status, "phase"), S("Pending")), "Pending") ||
        meta_being_deleted(in->pod))
        return (struct chance_out){ .chance = CHANCE_FINE };
    if (has_node)
        return on_node(a, in);
    if (str_eqz(FIELD_STR(scheduled, "reason"), "Unschedulable"))
        return unschedulable(a, in, FIELD_STR(scheduled, "message"));
    if (!has_other_scheduler(in->pod))
        return (struct chance_out){ .chance = CHANCE_FINE };
    if (!in->own)
        return (struct chance_out){ .chance = CHANCE_LATER };
    return never(arena_printf(a, "waits for the scheduler %" PRI_STR ", which does not run here",
                              STR_ARG(FIELD_STR(FIELD(in->pod, "spec"), "schedulerName"))),
                 arena_printf(a, "remove schedulerName in %" PRI_STR, STR_ARG(in->where)));
}
