/* Defaults, applied in memory only: replica types in canonical spelling and type order, replicas,
 * restart policies, and the port everybody dials. */

#include "job/kind.h"
#include "kube/names.h"

#include <stdlib.h>

static const char *const policy_names[] = { "Never", "OnFailure", "Always", "ExitCode" };

bool restart_policy_read(str text, enum restart_policy *out)
{
    for (size_t i = 0; i < COUNT(policy_names); i++) {
        if (!str_eqz(text, policy_names[i]))
            continue;
        *out = (enum restart_policy)i;
        return true;
    }
    return false;
}

static const struct role_row *row_of(const struct job_kind *kind, str key)
{
    for (const struct role_row *r = kind->roles; r->name; r++)
        if (kind->fold_case ? str_eq_nocase(key, str_of(r->name)) : str_eqz(key, r->name))
            return r;
    return NULL;
}

static bool has_port(jv ports, const char *name, int64_t number)
{
    JV_EACH (p, ports) {
        str protocol = jv_str(jv_get(p.value, S("protocol")), S("TCP"));
        bool same = jv_int(jv_get(p.value, S("containerPort")), -1) == number &&
                    (protocol.n == 0 || str_eq(protocol, S("TCP")));
        if (same || str_eqz(jv_str(jv_get(p.value, S("name")), S("")), name))
            return true;
    }
    return false;
}

/* The first container of that name, else the first one; -1: there are none. */
static ptrdiff_t main_of(const struct job_kind *kind, jv containers)
{
    JV_EACH (c, containers)
        if (str_eqz(jv_str(jv_get(c.value, S("name")), S("")), kind->container))
            return (ptrdiff_t)c.i - 1;
    return jv_len(containers) ? 0 : -1;
}

static void default_port(struct arena *a, const struct job_kind *kind, struct job_role *r)
{
    jv containers = jv_at(r->template, "spec", "containers");
    ptrdiff_t at = jv_is(containers, JV_ARR) ? main_of(kind, containers) : -1;
    jv main = at < 0 ? JV_ABSENT : jv_index(containers, (size_t)at);

    if (!jv_is(main, JV_OBJ))
        return;
    jv ports = jv_get(main, S("ports"));
    if (kind->port_name && !has_port(ports, kind->port_name, kind->port)) {
        struct jbuild more = jv_is(ports, JV_ARR) ? jb_from(a, ports) : jb_arr(a);
        jb_push(&more, jobj(a, { "name", jstr(a, str_of(kind->port_name)) },
                            { "containerPort", jint(a, kind->port) }));
        main = jv_with_key(a, main, S("ports"), jb_done(&more));
        containers = jv_with_index(a, containers, (size_t)at, main);
        r->template = jv_with(a, r->template, containers, "spec", "containers");
    }
    if (str_eqz(jv_str(jv_get(main, S("name")), S("")), kind->container))
        r->main = main;
}

static void read_role(struct job *j, struct job_role *r)
{
    jv replicas = jv_get(r->spec, S("replicas"));
    str policy = jv_str(jv_get(r->spec, S("restartPolicy")), S(""));
    int64_t n = jv_int(replicas, r->row ? r->row->replicas : 1);

    r->type = r->row ? str_of(r->row->name) : r->key;
    r->label = name_lower(j->a, r->type);
    r->replicas_known = n >= 0 && n <= INT32_MAX;
    r->replicas = n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : n;
    r->policy = j->kind->restart_policy;
    r->policy_known = policy.n == 0 || restart_policy_read(policy, &r->policy);
    r->template = jv_get(r->spec, S("template"));
    default_port(j->a, j->kind, r);
}

static int by_type(const void *x, const void *y)
{
    const struct job_role *p = x, *q = y;

    if (p->row != q->row)
        return !p->row ? 1 : !q->row ? -1 : p->row < q->row ? -1 : 1;
    /* Of several spellings the canonical one goes last: another one overrides it, as ever. */
    bool exact_p = p->row && str_eqz(p->key, p->row->name);
    bool exact_q = q->row && str_eqz(q->key, q->row->name);
    if (exact_p != exact_q)
        return exact_p ? 1 : -1;
    return str_cmp(p->key, q->key);
}

void job_read_roles(struct job *j)
{
    jv map = jv_get(j->spec, str_of(j->kind->specs));
    struct job_role *all = NULL;
    size_t n = 0, kept = 0;

    if (!jv_is(map, JV_OBJ) || jv_len(map) == 0 || jv_len(map) > MANY_TYPES)
        return; /* validation says so */
    all = ARENA_ARRAY(j->a, struct job_role, jv_len(map));
    JV_EACH (it, map)
        if (!jv_is_null(it.value))
            all[n++] = (struct job_role){ .key = it.key,
                                          .spec = it.value,
                                          .row = row_of(j->kind, it.key) };
    qsort(all, n, sizeof(*all), by_type);
    /* One role a label, or two would share their names. */
    for (size_t i = 0; i < n; i++) {
        struct job_role r = all[i];
        read_role(j, &r);
        j->roles = all;
        j->n_roles = kept;
        if (!job_role_find(j, r.label))
            all[kept++] = r;
    }
    j->n_roles = kept;
}
