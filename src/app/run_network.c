/* Pods without a way out fail at their first name: said where the job is watched, not only in the
 * log of the server. */

#include "app/run_internal.h"

/* What programs and libraries say when a name cannot be resolved, or nothing can be reached. */
static const char *const complaints[] = {
    "Temporary failure in name resolution",
    "Name or service not known",
    "Could not resolve host",
    "Network is unreachable",
    "No route to host",
};

bool run_is_network_complaint(str line)
{
    for (size_t i = 0; i < COUNT(complaints); i++)
        if (str_contains(line, str_of(complaints[i])))
            return true;
    return false;
}

void run_tell_network(struct run *r)
{
    static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };
    struct ask q = { .req = { .verb = KUBE_LIST, .res = &nodes } };

    if (!r->network_complaint)
        return;
    r->s.interrupted = false;
    if (session_ask(&r->s, &q, 1) >= 0)
        return;
    JV_EACH (it, jv_at(q.obj, "items"))
        JV_EACH (c, jv_at(it.value, "status", "conditions"))
            if (str_eqz(jv_str(jv_at(c.value, "type"), S("")), "PodEgress") &&
                str_eqz(jv_str(jv_at(c.value, "status"), S("")), "False"))
                command_note("muster: %" PRI_STR "; --isolation shared uses this machine's network",
                             STR_ARG(jv_str(jv_at(c.value, "message"), S(""))));
}
