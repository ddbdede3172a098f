/* On a cluster that a kubeconfig names, instead of this machine. */

#include "app/run_internal.h"

#include "cli/make_upload.h"

#include <stdlib.h>
#include <unistd.h>

bool run_is_elsewhere(const struct run_flags *f)
{
    return f->kubeconfig || f->context;
}

/* Flags that are about this machine. */
static const char *flag_of_here(const struct run_flags *f)
{
    const struct {
        const char *name;
        bool is_given;
    } flags[] = {
        { "--data", f->data },
        { "--resources", f->resources },
        { "--isolation", f->isolation },
        { "--gang-scheduler-name", f->gang.name },
        { "--gang-hold-seconds", f->gang.hold_s >= 0 },
        { "--gang-max-restarts", f->gang.max_restarts >= 0 },
        { "--host-path-roots", f->host_path_roots },
        { "--show-home-secrets", f->show_home_secrets },
        { "--workdir", f->workdir },
        { "--volume", f->volumes.n },
        { "--reuse-claims", f->reuse_claims },
        { "--rm", f->rm },
        { "--keep-files", f->keep_files },
    };

    for (size_t i = 0; i < COUNT(flags); i++)
        if (flags[i].is_given)
            return flags[i].name;
    return NULL;
}

int run_check_cluster(const struct run_flags *f)
{
    const char *where = f->context ? "--context" : "--kubeconfig";
    bool is_command = f->make.n_command > 0;

    if (!run_is_elsewhere(f)) {
        if (f->upload && is_command && !f->print)
            return command_fail(EXIT_USAGE,
                                "--upload is for a cluster (--context, --kubeconfig): on "
                                "this machine the command runs in this directory");
        return -1;
    }
    const char *flag = flag_of_here(f);
    if (flag)
        return command_fail(EXIT_USAGE, "%s is about this machine and cannot be used with %s", flag,
                            where);
    if (is_command && !f->make.image && !f->print)
        return command_fail(EXIT_USAGE,
                            "%s needs --image: a cluster does not have the files of this machine",
                            where);
    return -1;
}

/* A context is one of the user's own kubeconfig, also while a `muster up` runs here. */
static const char *users_kubeconfig(struct run *r)
{
    const char *home = getenv("HOME");
    const char *named = getenv("KUBECONFIG");

    if (r->f->kubeconfig || (named && *named) || !home)
        return r->f->kubeconfig;
    const char *path = arena_printf(r->a, "%s/.kube/config", home).p;
    return access(path, R_OK) == 0 ? path : NULL;
}

int run_open_cluster(struct run *r)
{
    struct session_opts o = { .kubeconfig = users_kubeconfig(r),
                              .context = r->f->context,
                              .ns = r->f->ns };

    if (r->made.n && !r->f->upload)
        command_note("muster: no files are uploaded: the command sees those of image %s; --upload "
                     "sends the scripts of this directory",
                     r->f->make.image);
    const char *kubeconfig = r->f->kubeconfig;
    const char *context = r->f->context;
    r->submit.there = arena_printf(r->a, "%s%s%s%s%s", kubeconfig ? "--kubeconfig " : "",
                                   kubeconfig ? kubeconfig : "", kubeconfig && context ? " " : "",
                                   context ? "--context " : "", context ? context : "")
                          .p;
    r->open = true;
    return session_open(&r->s, &o);
}

/* ---- scripts */

int run_add_upload(struct run *r, struct make_opts *o, jv *map)
{
    struct err e = { 0 };

    if (!r->f->upload)
        return -1;
    o->files = arena_printf(r->a, "%" PRI_STR "-scripts", STR_ARG(make_name(r->a, o)));
    o->files_dir = S(UPLOAD_DIR);
    if (make_upload(r->a, ".", o->files, o->ns, map, &e) < 0)
        return command_fail(EXIT_USAGE, "%s", e.msg);
    return -1;
}

/* Whoever deletes the job deletes its scripts, also if we are gone by then. */
void run_own_upload(struct run *r)
{
    static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
    const struct submit_object *map = NULL, *job = NULL;
    const struct job_kind *kind;
    struct arena *a = r->s.a;

    for (size_t i = 0; i < r->submit.n && r->f->upload; i++) {
        const struct submit_object *o = &r->submit.at[i];
        if (submit_is_job(o->obj, &kind))
            job = o;
        else if (o->created)
            map = o;
    }
    if (!map || !job)
        return;
    jv owner = jobj(a, { "apiVersion", jv_at(job->obj, "apiVersion") },
                    { "kind", jv_at(job->obj, "kind") }, { "name", jstr(a, job->name) },
                    { "uid", jstr(a, meta_uid(job->live)) });
    struct ask q = {
        .req = { .verb = KUBE_PATCH,
                 .res = &maps,
                 .ns = map->ns,
                 .name = map->name,
                 .body = jobj(a, { "metadata", jobj(a, { "ownerReferences", jarr(a, owner) }) }) }
    };
    if (session_ask(&r->s, &q, 1) < 0 && q.err.code)
        command_note("muster: configmap %" PRI_STR " is not deleted with the job: %s",
                     STR_ARG(map->name), q.err.msg);
}
