/* The account of the operator and its rights, from the table that the operator itself asks by. */

#include "job/rights.h"
#include "manifest/install.h"

enum { RULES_MAX = RIGHTS_MAX + 8 };

static const char *const verb_order[] = { "get",    "list",  "watch",  "create",
                                          "update", "patch", "delete", NULL };

struct rule {
    const char *group;
    str resource;
    unsigned verbs; /* bits, by verb_order */
};

struct rules {
    struct arena *a;
    struct rule at[RULES_MAX];
    size_t n;
};

static unsigned bits_of(const char *verbs)
{
    unsigned bits = 0;

    for (str rest = str_of(verbs); rest.n;) {
        str verb = str_cut(&rest, ' ');
        for (unsigned i = 0; verb_order[i]; i++)
            if (str_eqz(verb, verb_order[i]))
                bits |= 1U << i;
    }
    return bits;
}

static void add(struct rules *l, const struct kube_resource *res, const char *sub, unsigned verbs)
{
    str name = arena_printf(l->a, "%s%s%s", res->plural, *sub ? "/" : "", sub);

    for (size_t i = 0; i < l->n; i++) {
        if (!str_eqz(str_of(l->at[i].group), res->group) || !str_eq(l->at[i].resource, name))
            continue;
        l->at[i].verbs |= verbs;
        return;
    }
    if (l->n < RULES_MAX)
        l->at[l->n++] = (struct rule){ res->group, name, verbs };
}

/* Resources of a group with the same verbs share a rule. */
static jv rules_done(struct rules *l)
{
    struct jbuild out = jb_arr(l->a);
    bool is_done[RULES_MAX] = { false };

    for (size_t i = 0; i < l->n; i++) {
        struct jbuild resources = jb_arr(l->a);
        struct jbuild verbs = jb_arr(l->a);
        if (is_done[i])
            continue;
        for (size_t k = i; k < l->n; k++) {
            if (!str_eqz(str_of(l->at[k].group), l->at[i].group) ||
                l->at[k].verbs != l->at[i].verbs)
                continue;
            jb_push(&resources, jstr(l->a, l->at[k].resource));
            is_done[k] = true;
        }
        for (unsigned v = 0; verb_order[v]; v++)
            if (l->at[i].verbs & 1U << v)
                jb_push(&verbs, jstr(l->a, str_of(verb_order[v])));
        jb_push(&out, jobj(l->a, { "apiGroups", jarr(l->a, jstr(l->a, str_of(l->at[i].group))) },
                           { "resources", jb_done(&resources) }, { "verbs", jb_done(&verbs) }));
    }
    return jb_done(&out);
}

static size_t rights(const struct manifest_options *o, struct right *out)
{
    const struct planner *planners[MANIFEST_KINDS];
    struct plan_settings settings = { 0 };

    for (size_t i = 0; i < o->n_kinds; i++)
        planners[i] = &o->kinds[i]->planner;
    gang_settings(&settings, o->gang);
    return rights_of(out, planners, o->n_kinds, settings.gang);
}

jv manifest_rules(struct arena *a, const struct manifest_options *o, bool cluster_wide)
{
    struct right at[RIGHTS_MAX];
    size_t n = rights(o, at);
    struct rules l = { .a = a };

    for (size_t i = 0; i < n; i++)
        if (at[i].res->cluster_wide == cluster_wide)
            add(&l, at[i].res, at[i].sub,
                bits_of(at[i].verbs) | (at[i].is_watched ? bits_of("list watch") : 0));
    /* for the plugin OwnerReferencesPermissionEnforcement: pods block the deletion of their job */
    for (size_t i = 0; !cluster_wide && i < o->n_kinds; i++)
        add(&l, o->kinds[i]->planner.res, "finalizers", bits_of("update"));
    return rules_done(&l);
}

static const char account[] = "apiVersion: v1\n"
                              "kind: ServiceAccount\n"
                              "metadata: {name: $name, namespace: $home}\n";

static const char cluster_role[] = "apiVersion: rbac.authorization.k8s.io/v1\n"
                                   "kind: ClusterRole\n"
                                   "metadata: {name: $cluster-name}\n";
static const char cluster_binding[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRoleBinding\n"
    "metadata: {name: $cluster-name}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $cluster-name}\n"
    "subjects: [{kind: ServiceAccount, name: $name, namespace: $home}]\n";

static const char role[] = "apiVersion: rbac.authorization.k8s.io/v1\n"
                           "kind: Role\n"
                           "metadata: {name: $name, namespace: $watched}\n";
static const char binding[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: RoleBinding\n"
    "metadata: {name: $name, namespace: $watched}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: $name}\n"
    "subjects: [{kind: ServiceAccount, name: $name, namespace: $home}]\n";

/* update: the Lease is renewed with the version that was read. */
static const char lease_role[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: Role\n"
    "metadata: {name: $name-leader-election, namespace: $home}\n"
    "rules:\n"
    "- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}\n"
    "- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, update],"
    " resourceNames: [1ca428e5.training-operator.kubeflow.org]}\n";
static const char lease_binding[] =
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: RoleBinding\n"
    "metadata: {name: $name-leader-election, namespace: $home}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: $name-leader-election}\n"
    "subjects: [{kind: ServiceAccount, name: $name, namespace: $home}]\n";

static void push(struct jbuild *b, const struct manifest_options *o, const char *yaml, jv rules)
{
    jv obj = manifest_fill(b->a, o, yaml);

    jb_push(b, jv_exists(rules) ? jv_with(b->a, obj, rules, "rules") : obj);
}

void manifest_rbac(struct jbuild *b, const struct manifest_options *o)
{
    jv rules = manifest_rules(b->a, o, false);
    struct jbuild everywhere = jb_arr(b->a); /* for the ClusterRole */

    push(b, o, account, JV_ABSENT);
    if (o->watched.n) {
        push(b, o, role, rules);
        push(b, o, binding, JV_ABSENT);
        rules = JV_ABSENT;
    }
    JV_EACH (it, rules)
        jb_push(&everywhere, it.value);
    JV_EACH (it, manifest_rules(b->a, o, true))
        jb_push(&everywhere, it.value);
    if (everywhere.n) {
        push(b, o, cluster_role, jb_done(&everywhere));
        push(b, o, cluster_binding, JV_ABSENT);
    }
    push(b, o, lease_role, JV_ABSENT);
    push(b, o, lease_binding, JV_ABSENT);
}
