/* A pod as the cluster's names see it, and what names ask the node for. */

#include "kube/meta.h"
#include "node/internal.h"

static bool has_ended(const struct pod *p)
{
    const char *phase = life_phase(p->life);

    return p->life->done || strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static str ip_of(const struct pod *p)
{
    str ip = p->net ? jv_str(jv_at(jdoc_root(p->net), "net", "ip"), S("")) : node_pod_ip(p);

    return ip.n ? ip : jv_str(jv_at(jdoc_root(p->doc), "status", "podIP"), S(""));
}

/* A container that nobody probes is ready when it starts; that it is about to is soon enough. */
static bool is_good(const struct life_container *c)
{
    return c->kind == LIFE_INIT || c->kind == LIFE_EPHEMERAL || life_is_ready(c) ||
           (c->state == LIFE_STARTING && jv_is_null(jv_at(c->spec, "readinessProbe")) &&
            jv_is_null(jv_at(c->spec, "startupProbe")));
}

static bool is_ready(const struct pod *p)
{
    jv pod = jdoc_root(p->doc);

    if (p->life->deleted || meta_being_deleted(pod))
        return false;
    if (p->adopting)
        return meta_condition_is(pod, S("Ready"), S("True"));
    for (size_t i = 0; i < p->life->n; i++)
        if (!is_good(&p->life->at[i]))
            return false;
    JV_EACH (it, jv_at(pod, "spec", "readinessGates"))
        if (!meta_condition_is(pod, jv_str(jv_at(it.value, "conditionType"), S("")), S("True")))
            return false;
    return true;
}

struct names_about pod_names_about(const struct pod *p)
{
    return (struct names_about){ .pod = jdoc_root(p->doc),
                                 .dir = p->dir,
                                 .ip = ip_of(p),
                                 .ended = has_ended(p),
                                 .ready = is_ready(p),
                                 .leaving = p->life->deleted };
}

void pod_names_starting(struct pod *p)
{
    struct names_about about = pod_names_about(p);
    struct jdoc *service = mirror_get(p->n->mirrors[NODE_SERVICES], meta_namespace(about.pod),
                                      names_hostname(about.pod));

    names_starting(p->n->names, &p->named, &about, service ? jdoc_root(service) : JV_ABSENT);
}

/* ---- what there is */

static bool is_listed(void *ctx)
{
    const struct node *n = ctx;

    return n->listed && mirror_is_listed(n->mirrors[NODE_SERVICES]) &&
           mirror_is_listed(n->mirrors[NODE_ENDPOINTS]) &&
           mirror_is_listed(n->mirrors[NODE_SLICES]);
}

static jv list(void *ctx, struct arena *a, enum names_kind what, str ns)
{
    static const enum node_kind kinds[] = { [NAMES_SERVICES] = NODE_SERVICES,
                                            [NAMES_ENDPOINTS] = NODE_ENDPOINTS,
                                            [NAMES_SLICES] = NODE_SLICES };
    const struct node *n = ctx;

    return mirror_list(n->mirrors[kinds[what]], a, ns);
}

static struct names_pod *pods(void *ctx, struct arena *a, str ns, size_t *n_pods)
{
    const struct node *n = ctx;
    struct names_pod *all = ARENA_ARRAY(a, struct names_pod, n->pods.n + 1);

    *n_pods = 0;
    MAP_EACH (slot, &n->pods) {
        const struct pod *p = slot->value;
        jv pod = jdoc_root(p->doc);
        if (str_eq(meta_namespace(pod), ns) && !has_ended(p))
            all[(*n_pods)++] = (struct names_pod){ .pod = pod,
                                                   .ip = ip_of(p),
                                                   .ready = is_ready(p),
                                                   .hidden = names_is_hidden(n->names, &p->named) };
    }
    return all;
}

struct names *node_names_new(struct node *n)
{
    struct names_opts o = { .loop = n->o.loop,
                            .data = n->o.data,
                            .shared = str_eq(n->o.isolation, S("shared")),
                            .known = jdoc_root(n->known),
                            .net = n->o.net,
                            .api_ip = n->o.api_ip,
                            .api_port = n->o.api_port,
                            .from = { is_listed, list, pods, n } };

    return n->o.names ? names_new(&o) : NULL;
}
