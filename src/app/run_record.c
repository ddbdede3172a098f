/* What is known of a run while it goes on and afterwards: its summary, and the claims it left. */

#include "app/run_internal.h"

#include "base/time.h"
#include "cli/data.h"

#include <limits.h>
#include <unistd.h>

jv run_args(struct arena *a, int argc, char **argv)
{
    struct jbuild b = jb_arr(a);

    for (int i = 1; i < argc; i++)
        jb_push(&b, jstr(a, arena_str(a, str_of(argv[i]))));
    return jb_done(&b);
}

jv run_directory(struct arena *a)
{
    char dir[PATH_MAX];

    return getcwd(dir, sizeof(dir)) ? jstr(a, arena_str(a, str_of(dir))) : JV_ABSENT;
}

/* What is to be run, before anything is known of it. */
static jv jobs_json(struct run *r)
{
    struct jbuild b = jb_arr(r->a);
    const struct job_kind *kind;

    for (size_t i = 0; i < r->submit.n; i++) {
        jv obj = r->submit.at[i].obj;
        str ns = meta_namespace(obj);
        ns = ns.n ? ns : str_of(r->f->ns ? r->f->ns : "default");
        if (submit_is_job(obj, &kind) && meta_name(obj).n)
            jb_push(&b, jobj(r->a, { "kind", jv_at(obj, "kind") }, { "namespace", jstr(r->a, ns) },
                             { "name", jstr(r->a, meta_name(obj)) }));
    }
    return jb_done(&b);
}

jv run_record(struct run *r, const struct summary_opts *o)
{
    struct arena *a = r->a;
    jv v = o ? summary_json(a, &r->state, o)
             : jobj(a, { "state", jstrz(a, "Running") }, { "jobs", jobs_json(r) });
    struct jbuild b = jb_from(a, v);

    jb_set(&b, S("began"), jstr(a, time_text(a, r->began_ms)));
    jb_set(&b, S("directory"), r->started_in);
    jb_set(&b, S("args"), r->args);
    return jb_done(&b);
}

void run_record_write(const struct run *r, jv record)
{
    AUTO(buf) struct buf b = { 0 };

    if (!r->is_private || !data_run_is(r->dir, r->lock))
        return;
    json_print_indent(&b, record, 2);
    buf_addc(&b, '\n');
    data_write(arena_printf(r->a, "%s/summary.json", r->dir).p, buf_str(&b), NULL);
}

/* ---- claims */

static const char *claim_name(struct run *r, jv claim)
{
    str name = meta_name(claim), ns = meta_namespace(claim);

    ns = ns.n ? ns : str_of(r->f->ns ? r->f->ns : "default");
    return str_eqz(ns, "default")
               ? arena_z(r->a, name)
               : arena_printf(r->a, "%" PRI_STR "@%" PRI_STR, STR_ARG(name), STR_ARG(ns)).p;
}

int run_reuse_claims(struct run *r)
{
    struct err e = { 0 };

    for (size_t i = 0; i < r->submit.n; i++) {
        jv obj = r->submit.at[i].obj;
        if (!str_eqz(jv_str(jv_at(obj, "kind"), STR_NONE), "PersistentVolumeClaim") ||
            !meta_name(obj).n)
            continue;
        const char *name = claim_name(r, obj);
        int rc = run_claims_reuse(r->a, r->data, r->name, name, &e);
        if (rc < 0)
            return command_fail(EXIT_FAILED, "%s", e.msg);
        if (rc == 0)
            command_note("muster: no earlier run left claim %s: it starts empty", name);
    }
    return -1;
}
