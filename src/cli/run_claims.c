/* See run_claims.h. */

#include "cli/run_claims.h"

#include "cli/data.h"
#include "sys/tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

static int is_shown(const struct dirent *x)
{
    return x->d_name[0] != '.';
}

size_t run_claims_list(struct arena *a, const char *dir, struct run_claim **out)
{
    struct dirent **found = NULL;
    int n = scandir(dir, &found, is_shown, by_name);

    *out = ARENA_ARRAY(a, struct run_claim, n > 0 ? (size_t)n : 1);
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(a, "%s/%s", dir, found[i]->d_name).p;
        (*out)[i] =
            (struct run_claim){ arena_str(a, str_of(found[i]->d_name)).p, path, tree_bytes(path) };
        free(found[i]);
    }
    free(found);
    return n > 0 ? (size_t)n : 0;
}

/* Without what tells runs of one job apart. */
static str job_of(const char *run)
{
    str s = str_of(run);
    ptrdiff_t dash = str_rfind(s, '-');

    return dash < 0 ? s : str_sub(s, 0, (size_t)dash);
}

int run_claims_reuse(struct arena *a, const char *data, const char *run, const char *claim,
                     struct err *e)
{
    const char *dir = arena_printf(a, "%s/claims/%s", data, run).p;
    struct data_run *runs;
    size_t n = data_runs(a, data, &runs);

    for (size_t i = 0; i < n; i++) {
        const char *from = arena_printf(a, "%s/%s", runs[i].claims, claim).p;
        if (strcmp(runs[i].name, run) == 0 || !str_eq(job_of(runs[i].name), job_of(run)) ||
            access(from, F_OK) < 0)
            continue;
        if (runs[i].is_running)
            return err_set(e, ERR_CONFLICT, "claim %s is in use: run %s is still running", claim,
                           runs[i].name);
        if (tree_make(a, dir, 0711, e) < 0)
            return -1;
        chmod(from, 0777); /* as the node made it; a pod may have closed it */
        if (rename(from, arena_printf(a, "%s/%s", dir, claim).p) < 0)
            return err_sys(e, "reuse %s", from);
        rmdir(runs[i].claims); /* if that was all */
        return 1;
    }
    return 0;
}

jv run_claims_json(struct arena *a, const struct run_claim *at, size_t n)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b,
                jobj(a, { "name", jstr(a, str_of(at[i].name)) },
                     { "path", jstr(a, str_of(at[i].path)) }, { "bytes", jint(a, at[i].bytes) }));
    return jb_done(&b);
}

str run_claims_size(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
    double v = (double)bytes / 1024;
    size_t i = 0;

    for (; v >= 1024 && i + 1 < COUNT(units); i++)
        v /= 1024;
    return arena_printf(a, v < 10 ? "%.1f %s" : "%.0f %s", v, units[i]);
}
