/* Services: a headless one for each index of each type, named like its pod. */

#include "job/classify.h"
#include "job/kind.h"
#include "job/steps.h"
#include "kube/names.h"

#include <inttypes.h>

/* ---- claiming */

static struct plan_step *adopt(const struct job *j, struct plan *p, const struct seen_service *svc)
{
    struct arena *a = j->a;
    struct plan_step *s = plan_add(p, PLAN_PATCH, STAGE_CHANGE, &kube_services);

    s->ns = j->ns;
    s->name = svc->name;
    s->patch = KUBE_PATCH_STRATEGIC;
    s->obj = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, svc->uid) },
                                        { "ownerReferences", jarr(a, j->owner) }) });
    s->fail_reason = "FailedAdoptService";
    s->noun = "service";
    return s;
}

void job_claim_services(const struct job *j, struct plan *p)
{
    bool confirmed = false;

    for (size_t i = 0; i < j->seen->n_services; i++) {
        const struct seen_service *svc = &j->seen->services[i];
        if (svc->owner.n || svc->leaving)
            continue;
        if (!confirmed) { /* the job we know may be gone, and another have its name */
            struct plan_step *s = plan_add(p, PLAN_CONFIRM, STAGE_FIRST, j->kind->planner.res);
            s->must = true;
            s->ns = j->ns;
            s->name = j->name;
            s->uid = j->uid;
            confirmed = true;
        }
        adopt(j, p, svc);
    }
}

/* ---- deleting */

void job_delete_service(const struct job *j, struct plan *p, unsigned stage,
                        const struct seen_service *svc)
{
    struct plan_step *s = plan_add(p, PLAN_DELETE, stage, &kube_services);

    s->ns = j->ns;
    s->name = svc->name;
    s->uid = svc->uid;
    s->done_reason = "SuccessfulDeleteService";
    s->fail_reason = "FailedDeleteService";
    s->noun = "service";
}

void job_delete_services(const struct job *j, struct plan *p)
{
    for (size_t i = 0; i < j->seen->n_services; i++) {
        const struct seen_service *svc = &j->seen->services[i];
        const struct job_role *r = job_role_find(j, svc->role);
        if (r && r->replicas_known && svc->index >= r->replicas && !svc->leaving &&
            job_owns_service(j, svc))
            job_delete_service(j, p, STAGE_CHANGE, svc);
    }
}

/* ---- creating */

static str port_name(struct arena *a, jv port, int64_t number, str protocol)
{
    str name = jv_str(jv_get(port, S("name")), S(""));

    if (name.n)
        return name;
    if (str_eq(protocol, S("TCP")))
        return arena_printf(a, "port-%" PRId64, number);
    return arena_printf(a, "port-%" PRId64 "-%" PRI_STR, number, STR_ARG(name_lower(a, protocol)));
}

static bool has_port(const struct jbuild *ports, int64_t number, str protocol)
{
    for (uint32_t i = 0; i < ports->n; i++) {
        jv p = { &ports->nodes[i] };
        if (jv_int(jv_get(p, S("port")), -1) == number &&
            str_eq(jv_str(jv_get(p, S("protocol")), S("TCP")), protocol))
            return true;
    }
    return false;
}

/* Those of the main container, in order, each number and protocol once; all have names, as a
 * Service with several must. */
static jv service_ports(struct arena *a, const struct job_role *r)
{
    enum { MANY_PORTS = 250 };
    struct jbuild ports = jb_arr(a);

    JV_EACH (it, jv_get(r->main, S("ports"))) {
        int64_t number = jv_int(jv_get(it.value, S("containerPort")), -1);
        str protocol = jv_str(jv_get(it.value, S("protocol")), S("TCP"));
        if (protocol.n == 0)
            protocol = S("TCP");
        if (ports.n >= MANY_PORTS || has_port(&ports, number, protocol))
            continue;
        jb_push(&ports,
                jobj(a, { "name", jstr(a, port_name(a, it.value, number, protocol)) },
                     { "port", jint(a, number) },
                     { "protocol", str_eq(protocol, S("TCP")) ? JV_ABSENT : jstr(a, protocol) }));
    }
    return ports.n ? jb_done(&ports) : JV_ABSENT;
}

/* A plan_step's make: the Service at `index` of type `part`. */
static jv make_service(struct arena *a, const struct plan_step *s)
{
    const struct job *j = s->of;
    const struct job_role *r = &j->roles[s->part];
    jv labels = job_child_labels(a, j, r, (int64_t)s->index);

    return jobj(
        a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Service") },
        { "metadata", jobj(a, { "name", jstr(a, s->name) }, { "namespace", jstr(a, s->ns) },
                           { "labels", labels }, { "ownerReferences", jarr(a, j->owner) }) },
        { "spec", jobj(a, { "clusterIP", jstrz(a, "None") }, { "selector", labels },
                       { "ports", service_ports(a, r) }) });
}

static void create(const struct job *j, struct plan *p, size_t role, int64_t index)
{
    struct plan_step *s = plan_add(p, PLAN_CREATE, STAGE_CHANGE, &kube_services);

    s->ns = j->ns;
    s->name = job_child_name(j->a, j, &j->roles[role], index);
    s->make = make_service;
    s->of = j;
    s->part = role;
    s->index = (size_t)index;
    s->done_reason = "SuccessfulCreateService";
    s->fail_reason = "FailedCreateService";
    s->noun = "service";
}

/* One that is to be adopted holds its index, too. */
static bool *taken_of(const struct job *j, const struct job_role *r)
{
    bool *taken = ARENA_ARRAY(j->a, bool, (size_t)r->replicas + 1);

    for (size_t i = 0; i < j->seen->n_services; i++) {
        const struct seen_service *svc = &j->seen->services[i];
        bool ours = job_owns_service(j, svc) || svc->owner.n == 0;
        if (ours && svc->index >= 0 && svc->index < r->replicas && str_eq(svc->role, r->label))
            taken[svc->index] = true;
    }
    return taken;
}

void job_create_services(const struct job *j, struct plan *p, size_t role)
{
    const bool *taken = taken_of(j, &j->roles[role]);

    for (int64_t i = 0; !j->kind->no_services && i < j->roles[role].replicas; i++)
        if (!taken[i])
            create(j, p, role, i);
}
