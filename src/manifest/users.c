/* Roles of the people who run jobs. They are aggregated: whoever has Kubernetes' own roles edit or
 * view (in the original's names: those of Kubeflow's profiles) gets them. */

#include "manifest/install.h"

static const char users_edit[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata:\n"
    "  name: $cluster-name-jobs-edit\n"
    "  labels: {rbac.authorization.k8s.io/aggregate-to-edit: 'true'}\n";

static const char users_view[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata:\n"
    "  name: $cluster-name-jobs-view\n"
    "  labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}\n";

static const char kubeflow_admin[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata:\n"
    "  name: kubeflow-training-admin\n"
    "  labels: {rbac.authorization.kubeflow.org/aggregate-to-kubeflow-admin: 'true'}\n"
    "aggregationRule:\n"
    "  clusterRoleSelectors:\n"
    "  - matchLabels:\n"
    "      rbac.authorization.kubeflow.org/aggregate-to-kubeflow-training-admin: 'true'\n"
    "rules: []\n";

static const char kubeflow_edit[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata:\n"
    "  name: kubeflow-training-edit\n"
    "  labels:\n"
    "    rbac.authorization.kubeflow.org/aggregate-to-kubeflow-edit: 'true'\n"
    "    rbac.authorization.kubeflow.org/aggregate-to-kubeflow-training-admin: 'true'\n";

static const char kubeflow_view[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata:\n"
    "  name: kubeflow-training-view\n"
    "  labels: {rbac.authorization.kubeflow.org/aggregate-to-kubeflow-view: 'true'}\n";

/* What the original lets editors do besides. */
static const char kubeflow_edit_more[] = "rules:\n"
                                         "- apiGroups: ['']\n"
                                         "  resources: [persistentvolumeclaims]\n"
                                         "  verbs: [create, delete, get, list, watch]\n"
                                         "- apiGroups: ['']\n"
                                         "  resources: [events]\n"
                                         "  verbs: [get, list, watch]\n";

static jv names_of(struct arena *a, const struct manifest_options *o, const char *sub)
{
    struct jbuild out = jb_arr(a);
    bool is_scale = str_eqz(str_of(sub), "/scale");

    for (size_t i = 0; i < o->n_kinds; i++)
        if (!is_scale || o->kinds[i]->scale)
            jb_push(&out, jstr(a, arena_printf(a, "%s%s", o->kinds[i]->planner.res->plural, sub)));
    return jb_done(&out);
}

static void push_rule(struct jbuild *rules, jv resources, const char *verbs)
{
    struct arena *a = rules->a;
    struct jbuild list = jb_arr(a);

    for (str rest = str_of(verbs); rest.n;)
        jb_push(&list, jstr(a, str_cut(&rest, ' ')));
    if (jv_len(resources))
        jb_push(rules, jobj(a, { "apiGroups", jarr(a, jstrz(a, "kubeflow.org")) },
                            { "resources", resources }, { "verbs", jb_done(&list) }));
}

static void push(struct jbuild *b, const struct manifest_options *o, const char *yaml, bool edits,
                 jv more)
{
    struct arena *a = b->a;
    struct jbuild rules = jb_arr(a);
    const char *verbs =
        edits ? "create delete deletecollection get list patch update watch" : "get list watch";

    push_rule(&rules, names_of(a, o, ""), verbs);
    push_rule(&rules, names_of(a, o, "/status"), "get");
    push_rule(&rules, names_of(a, o, "/scale"), edits ? "get patch update" : "get");
    JV_EACH (it, more)
        jb_push(&rules, it.value);
    jb_push(b, jv_with(a, manifest_fill(a, o, yaml), jb_done(&rules), "rules"));
}

void manifest_users(struct jbuild *b, const struct manifest_options *o)
{
    if (!o->like_original) {
        push(b, o, users_edit, true, JV_ABSENT);
        push(b, o, users_view, false, JV_ABSENT);
        return;
    }
    jb_push(b, manifest_fill(b->a, o, kubeflow_admin));
    push(b, o, kubeflow_edit, true, jv_at(manifest_fill(b->a, o, kubeflow_edit_more), "rules"));
    push(b, o, kubeflow_view, false, JV_ABSENT);
}
