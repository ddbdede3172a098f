/* The examples are jobs that the definition accepts, and so does the operator. Usage: test_examples
 * FOLDER */

#include "base/yaml.h"
#include "builtin/types/types.h"
#include "crd/crd.h"
#include "manifest/crd.h"
#include "slurp.h"

#include <dirent.h>

struct told {
    struct arena *a;
    str words;
};

static void on_unknown(void *ctx, str path)
{
    struct told *t = ctx;

    t->words = arena_printf(t->a, "%" PRI_STR "%" PRI_STR " is unknown\n", STR_ARG(t->words),
                            STR_ARG(path));
}

static str faults_of(struct arena *a, jv job)
{
    const struct job_kind *k = job_kind_of(job);
    AUTO(crd) struct crd *c = k ? crd_compile(manifest_crd(a, k), &meta_ObjectMeta, NULL) : NULL;
    struct told told = { .a = a };
    struct schema_report report = { .on_unknown = on_unknown, .ctx = &told };
    struct problems ps = { .a = a };

    if (!c)
        return S("it is no job");
    job = crd_default(a, c->storage, crd_prune(a, c->storage, job, &report, NULL));
    crd_validate(&ps, c->storage, job, JV_ABSENT);
    job_validate(k, &ps, job, JV_ABSENT);
    for (size_t i = 0; i < ps.n; i++)
        told.words =
            arena_printf(a, "%" PRI_STR "%" PRI_STR ": %" PRI_STR "\n", STR_ARG(told.words),
                         STR_ARG(ps.at[i].field), STR_ARG(ps.at[i].message));
    return told.words;
}

static void check_file(const char *folder, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct yaml_docs docs = { 0 };
    struct err e = { 0 };
    str text = slurp(a, arena_printf(a, "%s/%s", folder, name).p);

    if (!ok(yaml_parse(a, str_of(name), text, NULL, &docs, &e) == 0 && docs.n, "%s reads", name))
        printf("# %s\n", e.msg);
    size_t jobs = 0;
    for (size_t i = 0; i < docs.n; i++) {
        if (!job_kind_of(docs.at[i].root))
            continue; /* what a job needs: a ConfigMap, a claim */
        is_str(faults_of(a, docs.at[i].root), S(""), name);
        jobs++;
    }
    ok(jobs > 0, "%s has a job", name);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    DIR *d = opendir(folder);
    size_t n = 0;

    for (struct dirent *f; d && (f = readdir(d));) {
        str name = str_of(f->d_name);
        if (str_ends(name, S(".yaml")) && str_contains(name, S("job-"))) {
            check_file(folder, f->d_name);
            n++;
        }
    }
    if (d)
        closedir(d);
    ok(n > 0, "there are examples of jobs");
    return tap_done();
}
