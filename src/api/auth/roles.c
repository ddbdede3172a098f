/* cluster-admin, admin, edit, view: the roles that are bound by name all over the world. The last
 * three are as a cluster's controllers put them together from system:aggregate-to-*, less the
 * groups that are not served here; roles are not aggregated here, so they do not say they are. */

#include "api/auth/roles.h"

#include "builtin/kind.h"

#define READ  "get,list,watch"
#define WRITE "create,delete,deletecollection,patch,update"
#define ALL   "create,delete,deletecollection,get,list,patch,update,watch"

enum level { VIEW, EDIT, ADMIN, LEVELS };

static const char *const names[LEVELS] = { "view", "edit", "admin" };

/* A level may do all that those before it may. */
static const struct row {
    enum level level;
    const char *group;
    const char *resources;
    const char *verbs;
} rows[] = {
    { ADMIN, "authorization.k8s.io", "localsubjectaccessreviews", "create" },
    { ADMIN, "rbac.authorization.k8s.io", "rolebindings,roles", ALL },
    { EDIT, "", "pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy", READ },
    { EDIT, "", "serviceaccounts", "impersonate" },
    { EDIT, "", "pods,pods/attach,pods/exec,pods/portforward,pods/proxy", WRITE },
    { EDIT, "", "pods/eviction,serviceaccounts/token", "create" },
    { EDIT, "",
      "configmaps,events,persistentvolumeclaims,replicationcontrollers,"
      "replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy",
      WRITE },
    { EDIT, "apps",
      "daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,"
      "replicasets/scale,statefulsets,statefulsets/scale",
      WRITE },
    { EDIT, "autoscaling", "horizontalpodautoscalers", WRITE },
    { EDIT, "batch", "cronjobs,jobs", WRITE },
    { EDIT, "coordination.k8s.io", "leases", ALL },
    { EDIT, "networking.k8s.io", "ingresses,networkpolicies", WRITE },
    { EDIT, "policy", "poddisruptionbudgets", WRITE },
    { VIEW, "",
      "bindings,configmaps,endpoints,events,limitranges,namespaces,namespaces/status,"
      "persistentvolumeclaims,persistentvolumeclaims/status,pods,pods/log,pods/status,"
      "replicationcontrollers,replicationcontrollers/scale,replicationcontrollers/status,"
      "resourcequotas,resourcequotas/status,serviceaccounts,services,services/status",
      READ },
    { VIEW, "apps",
      "controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,"
      "deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,"
      "statefulsets/scale,statefulsets/status",
      READ },
    { VIEW, "autoscaling", "horizontalpodautoscalers,horizontalpodautoscalers/status", READ },
    { VIEW, "batch", "cronjobs,cronjobs/status,jobs,jobs/status", READ },
    { VIEW, "discovery.k8s.io", "endpointslices", READ },
    { VIEW, METRICS_GROUP, "nodes,pods", READ }, /* as metrics-server has it */
    { VIEW, "networking.k8s.io", "ingresses,ingresses/status,networkpolicies", READ },
    { VIEW, "policy", "poddisruptionbudgets,poddisruptionbudgets/status", READ },
};

jv roles_words(struct arena *a, const char *list)
{
    struct jbuild b = jb_arr(a);
    str rest = str_of(list);

    while (rest.p)
        jb_push(&b, jstr(a, str_cut(&rest, ',')));
    return jb_done(&b);
}

static jv rule(struct arena *a, const struct row *r)
{
    return jobj(a, { "verbs", roles_words(a, r->verbs) },
                { "apiGroups", jarr(a, jstr(a, str_of(r->group))) },
                { "resources", roles_words(a, r->resources) });
}

static jv metadata(struct arena *a, const char *name)
{
    jv labels = jobj(a, { "kubernetes.io/bootstrapping", jstrz(a, "rbac-defaults") });
    jv notes = jobj(a, { "rbac.authorization.kubernetes.io/autoupdate", jstrz(a, "true") });

    return jobj(a, { "name", jstr(a, str_of(name)) }, { "labels", labels },
                { "annotations", notes });
}

static jv role(struct arena *a, enum level l, bool metrics)
{
    struct jbuild rules = jb_arr(a);

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].level <= l && (metrics || strcmp(rows[i].group, METRICS_GROUP) != 0))
            jb_push(&rules, rule(a, &rows[i]));
    return jobj(a, { "metadata", metadata(a, names[l]) }, { "rules", jb_done(&rules) });
}

static jv cluster_admin(struct arena *a)
{
    jv any = jarr(a, jstrz(a, "*"));

    return jobj(
        a, { "metadata", metadata(a, "cluster-admin") },
        { "rules", jarr(a, jobj(a, { "verbs", any }, { "apiGroups", any }, { "resources", any }),
                        jobj(a, { "verbs", any }, { "nonResourceURLs", any })) });
}

jv roles_basic(struct arena *a, bool metrics)
{
    return jarr(a, cluster_admin(a), role(a, ADMIN, metrics), role(a, EDIT, metrics),
                role(a, VIEW, metrics));
}

static jv binding(struct arena *a, const char *role, const char *kind, const char *subject)
{
    jv group = jstrz(a, "rbac.authorization.k8s.io");
    jv of = jobj(a, { "kind", jstr(a, str_of(kind)) }, { "apiGroup", group },
                 { "name", jstr(a, str_of(subject)) });

    return jobj(a, { "metadata", metadata(a, role) }, { "subjects", jarr(a, of) },
                { "roleRef", jobj(a, { "apiGroup", group }, { "kind", jstrz(a, "ClusterRole") },
                                  { "name", jstr(a, str_of(role)) }) });
}

jv roles_basic_binding(struct arena *a)
{
    return binding(a, "cluster-admin", "Group", "system:masters");
}

jv roles_own(struct arena *a, const struct api_role *r)
{
    return jobj(a, { "metadata", metadata(a, r->name) }, { "rules", r->rules });
}

jv roles_own_binding(struct arena *a, const struct api_role *r)
{
    return binding(a, r->name, r->user ? "User" : "Group", r->user ? r->user : r->group);
}
