/* muster delete: jobs, other objects, and what a file names. */

#include "cli/files.h"
#include "cli/jobs.h"
#include "cli/served.h"
#include "cli/track.h"

#include "base/vec.h"
#include "base/yaml.h"

struct flags {
    struct session_opts to;
    const char *file;
    bool wait;
    bool ignore;
    int64_t timeout_ms;
};

static const struct opt options[] = {
    { "filename", 'f', OPT_TEXT, offsetof(struct flags, file), "FILE",
      "delete all objects in the file, directory or standard input (-)", NULL },
    { "wait", 0, OPT_FLAG, offsetof(struct flags, wait), NULL,
      "wait until the objects, and the pods of jobs, are gone", NULL },
    { "timeout", 0, OPT_DURATION, offsetof(struct flags, timeout_ms), "TIME",
      "wait at most this long, then exit with 124", NULL },
    { "ignore-not-found", 0, OPT_FLAG, offsetof(struct flags, ignore), NULL,
      "do not fail for objects that do not exist", NULL },
    SESSION_OPTIONS(struct flags, to),
    { 0 }
};

struct doomed {
    const struct kube_resource *res;
    str ns; /* empty: not in one */
    str name;
    str title; /* "tfjob/mnist" */
    bool is_job;
    str uid; /* of what was deleted */
};

struct list {
    VEC(struct doomed);
    int missed; /* an exit code: jobs that are not there were told; the others go all the same */
};

/* ---- which */

static int add_job(struct session *s, const struct flags *f, const char *word, struct list *out)
{
    struct jobs found;
    struct job_found job;
    int code = jobs_named(s, word, &found);

    if (code >= 0)
        return code;
    if (!found.n && f->ignore)
        return -1;
    code = jobs_find(s, word, &job);
    if (code >= 0 && !found.n) {
        out->missed = code;
        return -1;
    }
    if (code >= 0)
        return code;
    vec_push(out, (struct doomed){ .res = job.kind->planner.res,
                                   .ns = s->ns,
                                   .name = meta_name(job.obj),
                                   .title = job_title(s->a, job.kind, job.obj),
                                   .is_job = true });
    return -1;
}

static int add_found(struct session *s, const struct served_resource *r, str ns, str name,
                     struct list *out)
{
    vec_push(out, (struct doomed){ .res = &r->res,
                                   .ns = r->res.cluster_wide ? STR_NONE
                                         : ns.n              ? ns
                                                             : s->ns,
                                   .name = name,
                                   .title = arena_printf(s->a, "%" PRI_STR "/%" PRI_STR,
                                                         STR_ARG(r->singular), STR_ARG(name)),
                                   .is_job = job_kind_named(r->singular) != NULL });
    return -1;
}

static int add_word(struct session *s, const struct flags *f, const char *word, struct list *out)
{
    const struct served_resource *r;
    str name = str_of(word);
    str kind = str_cut(&name, '/');

    if (!name.p || job_kind_named(kind))
        return add_job(s, f, word, out);
    int code = served_find(s, kind, &r);
    if (code >= 0)
        return code;
    if (!r || !name.n)
        return command_fail(EXIT_USAGE, "'%s': %s serves no such resource%" PRI_STR, word,
                            s->config.server, STR_ARG(r ? STR_NONE : served_guess(s, kind)));
    return add_found(s, r, STR_NONE, name, out);
}

static int add_object(struct session *s, str file, jv obj, struct list *out)
{
    const struct served_resource *r;
    str kind = jv_str(jv_at(obj, "kind"), STR_NONE);
    str version = jv_str(jv_at(obj, "apiVersion"), STR_NONE);

    if (str_ends(kind, S("List")) && jv_is(jv_at(obj, "items"), JV_ARR)) {
        int code = -1;
        for (struct jv_iter it = jv_iter(jv_at(obj, "items")); jv_next(&it) && code < 0;)
            code = add_object(s, file, it.value, out);
        return code;
    }
    if (!kind.n || !version.n || !meta_name(obj).n)
        return command_fail(EXIT_USAGE, "%" PRI_STR ": an object without %s", STR_ARG(file),
                            !kind.n      ? "kind"
                            : !version.n ? "apiVersion"
                                         : "a name");
    int code = served_find_kind(s, version, kind, &r);
    if (code >= 0)
        return code;
    if (!r)
        return command_fail(EXIT_FAILED,
                            "%" PRI_STR ": %s serves no kind %" PRI_STR " of %" PRI_STR,
                            STR_ARG(file), s->config.server, STR_ARG(kind), STR_ARG(version));
    return add_found(s, r, meta_namespace(obj), meta_name(obj), out);
}

static int add_file(struct session *s, const char *name, struct list *out)
{
    struct files files = { .a = s->a };
    struct err e = { 0 };

    if (files_add(&files, name, &e) < 0)
        return command_fail(EXIT_USAGE, "%s", e.msg);
    for (size_t i = 0; i < files.n; i++) {
        struct yaml_docs docs;
        str text;
        if (files_read(&files, i, &text, &e) < 0 ||
            yaml_parse(s->a, files.at[i].shown, text, NULL, &docs, &e) < 0)
            return command_fail(EXIT_USAGE, "%s", e.msg);
        for (size_t k = 0; k < docs.n; k++) {
            int code = add_object(s, files.at[i].shown, docs.at[k].root, out);
            if (code >= 0)
                return code;
        }
    }
    return -1;
}

/* ---- deleting */

static int remove_one(struct session *s, const struct flags *f, struct doomed *d)
{
    struct ask q = { .req = { .verb = KUBE_DELETE, .res = d->res, .ns = d->ns, .name = d->name } };

    q.req.body =
        jobj(s->a, { "kind", jstrz(s->a, "DeleteOptions") }, { "apiVersion", jstrz(s->a, "v1") },
             { "propagationPolicy", jstrz(s->a, "Background") });
    int code = session_ask(s, &q, 1);
    if (code >= 0)
        return code;
    if (q.status == 404 && f->ignore)
        return -1;
    if (q.err.code)
        return session_fail(s, &q, "delete %" PRI_STR, STR_ARG(d->title));
    d->uid = meta_uid(q.obj);
    if (!d->uid.n)
        d->uid = jv_str(jv_at(q.obj, "details", "uid"), STR_NONE);
    str line = arena_printf(s->a, "%" PRI_STR " deleted\n", STR_ARG(d->title));
    return command_print(line) < 0 ? EXIT_FAILED : -1;
}

/* ---- waiting */

struct gone {
    str uid;    /* empty: any */
    bool owned; /* those that uid controls, rather than itself */
    int64_t left;
    bool listed;
    bool done;
};

static bool counts(const struct gone *g, jv obj)
{
    if (!g->uid.n)
        return true;
    if (g->owned)
        return str_eq(jv_str(jv_at(meta_controller(obj), "uid"), S("?")), g->uid);
    return str_eq(meta_uid(obj), g->uid);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct gone *g = ctx;

    if (counts(g, obj))
        g->left += (type == KUBE_ADDED) - (type == KUBE_DELETED);
    g->done = g->listed && g->left <= 0;
}

static void on_listed(void *ctx)
{
    struct gone *g = ctx;

    g->listed = true;
    g->done = g->left <= 0;
}

static int wait_for(struct session *s, const struct track_opts *o, struct gone *g, str title)
{
    struct track_opts with = *o;

    with.on_event = on_event;
    with.on_listed = on_listed;
    with.ctx = g;
    struct track *follow = track_start(s, &with);
    int code = session_wait(s, &g->done);
    track_stop(follow);
    if (code == EXIT_TIMEOUT)
        command_fail(code, "%" PRI_STR " is not gone yet", STR_ARG(title));
    return code;
}

static int wait_gone(struct session *s, const struct doomed *d)
{
    struct gone itself = { .uid = d->uid };
    struct gone pods = { .uid = d->uid, .owned = true };
    struct track_opts o = { .res = d->res, .ns = d->ns, .name = d->name };
    int code = wait_for(s, &o, &itself, d->title);

    if (code >= 0 || !d->is_job || !d->uid.n)
        return code;
    struct track_opts p = { .res = &kube_pods,
                            .ns = d->ns,
                            .labels =
                                arena_printf(s->a, LABEL_JOB "=%" PRI_STR, STR_ARG(d->name)) };
    return wait_for(s, &p, &pods,
                    arena_printf(s->a, "%" PRI_STR " still has pods: it", STR_ARG(d->title)));
}

static int remove_all(struct session *s, const struct flags *f, struct list *all)
{
    int worst = all->missed;
    size_t kept = 0;

    session_limit(s, f->timeout_ms);
    for (size_t i = 0; i < all->n; i++) {
        struct doomed d = all->at[i];
        int code = remove_one(s, f, &d);
        if (code >= EXIT_TIMEOUT)
            return code;
        if (code >= 0)
            worst = code;
        else
            all->at[kept++] = d;
    }
    for (size_t i = 0; i < kept && f->wait; i++) {
        int code = wait_gone(s, &all->at[i]);
        if (code >= 0)
            return code;
    }
    return worst;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { 0 };
    struct session s;
    struct list all = { 0 };
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (!n == !f.file) {
        command_fail(EXIT_USAGE, "delete needs either jobs or -f FILE");
        return command_usage(c);
    }
    code = session_open(&s, &f.to);
    for (int i = 0; i < n && code < 0; i++)
        code = add_word(&s, &f, words[i], &all);
    if (code < 0 && f.file)
        code = add_file(&s, f.file, &all);
    if (code < 0)
        code = remove_all(&s, &f, &all);
    vec_done(&all);
    session_close(&s);
    return code;
}

const struct command command_delete = {
    .name = "delete",
    .summary = "delete jobs, or the objects in a file",
    .help = "Usage: muster delete [OPTION]... JOB...\n"
            "       muster delete [OPTION]... KIND/NAME...\n"
            "       muster delete [OPTION]... -f FILE\n"
            "\n"
            "Deletes jobs (NAME or KIND/NAME), other objects, or all objects in a file. The pods\n"
            "and services of a job are deleted with it.\n",
    .options = options,
    .operands = OPERANDS_JOBS,
    .run = run,
};
