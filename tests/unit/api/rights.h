/* Users with few rights: a role and its binding for each. */
#pragma once

#include "ask.h"

__attribute__((unused)) static void rights_post(struct box *b, struct arena *a, const char *path,
                                                const char *quoted)
{
    char head[200];

    snprintf(head, sizeof(head), "POST %s\ncontent-type: application/json", path);
    AUTO(reply)
    struct reply r = ask(b, "admin,system:masters", head, json_text(a, box_value(a, quoted)));
    if (r.status != 201)
        printf("Bail out! %s: %d %.*s\n", path, r.status, (int)r.body.n, r.body.p);
}

/* The user may do verbs to resources of group in the namespace default; the lists have single
 * quotes: "'get','list'". */
__attribute__((unused)) static void rights_give(struct box *b, const char *user, const char *verbs,
                                                const char *group, const char *resources)
{
    AUTO(arena) struct arena *a = arena_new();
    static int n;
    static const char rbac[] = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    str name = arena_printf(a, "r%d", n++);

    rights_post(b, a, arena_printf(a, "%s/roles", rbac).p,
                arena_printf(a,
                             "{'metadata':{'name':'%s'},'rules':[{'verbs':[%s],'apiGroups':['%s'],"
                             "'resources':[%s]}]}",
                             name.p, verbs, group, resources)
                    .p);
    rights_post(b, a, arena_printf(a, "%s/rolebindings", rbac).p,
                arena_printf(a,
                             "{'metadata':{'name':'%s'},'subjects':[{'kind':'User','name':'%s',"
                             "'apiGroup':'rbac.authorization.k8s.io'}],'roleRef':{'kind':'Role',"
                             "'name':'%s','apiGroup':'rbac.authorization.k8s.io'}}",
                             name.p, user, name.p)
                    .p);
}

/* The same everywhere, of certain names if any: "'a','b'". */
__attribute__((unused)) static void rights_give_all(struct box *b, const char *user,
                                                    const char *verbs, const char *group,
                                                    const char *resources, const char *names)
{
    AUTO(arena) struct arena *a = arena_new();
    static int n;
    static const char rbac[] = "/apis/rbac.authorization.k8s.io/v1";
    str name = arena_printf(a, "c%d", n++);

    rights_post(b, a, arena_printf(a, "%s/clusterroles", rbac).p,
                arena_printf(a,
                             "{'metadata':{'name':'%s'},'rules':[{'verbs':[%s],'apiGroups':['%s'],"
                             "'resources':[%s],'resourceNames':[%s]}]}",
                             name.p, verbs, group, resources, names)
                    .p);
    rights_post(b, a, arena_printf(a, "%s/clusterrolebindings", rbac).p,
                arena_printf(a,
                             "{'metadata':{'name':'%s'},'subjects':[{'kind':'User','name':'%s',"
                             "'apiGroup':'rbac.authorization.k8s.io'}],'roleRef':{"
                             "'kind':'ClusterRole','name':'%s',"
                             "'apiGroup':'rbac.authorization.k8s.io'}}",
                             name.p, user, name.p)
                    .p);
}
