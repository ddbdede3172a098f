/* TF_CONFIG, dense and sparse. The dense form names every pod of the job in every pod: its cluster
 * part is made once a pass and copied. */

#include "job/tf_config.h"
#include "job/kind.h"

#include <inttypes.h>
#include <stdlib.h>

bool tf_is_distributed(const struct job *j)
{
    int64_t known = 0;

    for (size_t i = 0; i < j->n_roles; i++)
        if (j->roles[i].row)
            known += j->roles[i].replicas;
    return known != 1;
}

static bool is_dynamic(const struct job *j)
{
    return jv_bool(jv_get(j->spec, S("enableDynamicWorker")), false);
}

static str domain_of(const struct job *j)
{
    return j->seen && j->seen->settings ? j->seen->settings->cluster_domain : STR_NONE;
}

/* "job-worker-0.ns.svc.cluster.local:2222", in quotes. */
static void print_address(struct buf *b, struct arena *a, const struct job *j,
                          const struct job_role *r, int64_t index)
{
    str domain = domain_of(j);
    str address = arena_printf(a, "%" PRI_STR ".%" PRI_STR ".svc%s%" PRI_STR ":%" PRId64,
                               STR_ARG(job_child_name(a, j, r, index)), STR_ARG(j->ns),
                               domain.n ? "." : "", STR_ARG(domain), job_port(j, r));

    json_print_str(b, address);
}

static void print_addresses(struct buf *b, struct arena *a, const struct job *j,
                            const struct job_role *r)
{
    buf_addc(b, '[');
    for (int64_t i = 0; i < r->replicas; i++) {
        if (i)
            buf_addc(b, ',');
        print_address(b, a, j, r, i);
    }
    buf_addc(b, ']');
}

static int by_label(const void *x, const void *y)
{
    return str_cmp((*(const struct job_role *const *)x)->label,
                   (*(const struct job_role *const *)y)->label);
}

struct shared {
    str cluster; /* dense: the value of "cluster"; sparse: that of its "ps" */
};

static str dense_cluster(const struct job *j)
{
    AUTO(buf) struct buf b = { 0 };
    const struct job_role **roles = ARENA_ARRAY(j->a, const struct job_role *, j->n_roles + 1);

    for (size_t i = 0; i < j->n_roles; i++)
        roles[i] = &j->roles[i];
    qsort(roles, j->n_roles, sizeof(struct job_role *), by_label);
    buf_addc(&b, '{');
    for (size_t i = 0; i < j->n_roles; i++) {
        AUTO(arena) struct arena *scratch = arena_new();
        if (i)
            buf_addc(&b, ',');
        json_print_str(&b, roles[i]->label);
        buf_addc(&b, ':');
        print_addresses(&b, scratch, j, roles[i]);
    }
    buf_addc(&b, '}');
    return arena_str(j->a, buf_str(&b));
}

static str sparse_servers(const struct job *j)
{
    AUTO(buf) struct buf b = { 0 };
    AUTO(arena) struct arena *scratch = arena_new();
    const struct job_role *ps = job_role_find(j, S("ps"));

    if (!ps)
        return S("null");
    print_addresses(&b, scratch, j, ps);
    return arena_str(j->a, buf_str(&b));
}

const void *tf_config_prepare(const struct job *j)
{
    struct shared *s = ARENA_NEW(j->a, struct shared);

    s->cluster = is_dynamic(j) ? sparse_servers(j) : dense_cluster(j);
    return s;
}

static void print_task(struct buf *b, const struct job_role *r, int64_t index)
{
    buf_add(b, S(",\"task\":{\"type\":"));
    json_print_str(b, r->label);
    buf_printf(b, ",\"index\":%" PRId64 "}", index);
}

/* A worker sees itself and all servers, a server itself, others nobody. */
static void print_sparse(struct buf *b, struct arena *a, const struct job *j,
                         const struct job_role *r, int64_t index)
{
    const struct shared *s = j->kept;
    bool is_worker = str_eq(r->label, S("worker"));
    bool is_server = str_eq(r->label, S("ps"));

    buf_add(b, S("{\"cluster\":{\"worker\":{"));
    if (is_worker) {
        buf_printf(b, "\"%" PRId64 "\":", index);
        print_address(b, a, j, r, index);
    }
    buf_add(b, S("},\"ps\":"));
    if (is_worker) {
        buf_add(b, s->cluster);
    } else {
        buf_addc(b, '[');
        if (is_server)
            print_address(b, a, j, r, index);
        buf_addc(b, ']');
    }
    buf_addc(b, '}');
    print_task(b, r, index);
    buf_addc(b, '}');
}

str tf_config_text(struct arena *a, const struct job *j, const struct job_role *r, int64_t index)
{
    AUTO(buf) struct buf b = { 0 };
    const struct shared *s = j->kept;

    if (is_dynamic(j)) {
        print_sparse(&b, a, j, r, index);
    } else {
        buf_add(&b, S("{\"cluster\":"));
        buf_add(&b, s->cluster);
        print_task(&b, r, index);
        buf_add(&b, S(",\"environment\":\"cloud\"}"));
    }
    return arena_str(a, buf_str(&b));
}
