/* See runs.h. */

#include "cli/runs.h"

#include "base/time.h"
#include "loop/loop.h"

#include <unistd.h>

static int64_t lasted_ms(jv v)
{
    return jv_exists(v) ? (int64_t)(jv_double(v, 0) * 1000) : -1;
}

static str state_of(const struct run_info *r)
{
    str said = jv_str(jv_at(r->summary, "state"), STR_NONE);

    if (r->run.is_running)
        return S("Running");
    if (access(r->run.path, F_OK) < 0)
        return S("-"); /* only its claims are left */
    return !said.n || str_eqz(said, "Running") ? S("Killed") : said;
}

static struct run_info read_one(struct arena *a, const struct data_run *run, int64_t now_ms)
{
    struct run_info r = { .run = *run, .began_ms = run->began_ms, .ms = -1 };
    str text;

    if (data_read(a, arena_printf(a, "%s/summary.json", run->path).p, &text, NULL) == 0)
        r.summary = json_parse(a, text, NULL, NULL);
    int64_t us;
    if (time_parse(jv_str(jv_at(r.summary, "began"), S("")), &us, NULL) == 0)
        r.began_ms = us / 1000;
    r.state = state_of(&r);
    r.ms = r.run.is_running ? now_ms - r.began_ms : lasted_ms(jv_at(r.summary, "seconds"));
    r.directory = jv_str(jv_at(r.summary, "directory"), S(""));
    r.args = jv_at(r.summary, "args");
    r.jobs = jv_at(r.summary, "jobs");
    return r;
}

int runs_list(struct arena *a, const char *data, int64_t now_ms, struct run_info **out, size_t *n,
              struct err *e)
{
    struct data_run *all;
    const char *dir;

    if (data_dir(a, data, &dir, e) < 0)
        return -1;
    *n = data_runs(a, dir, &all);
    *out = ARENA_ARRAY(a, struct run_info, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = read_one(a, &all[i], now_ms);
    return 0;
}

int runs_find(struct arena *a, const char *data, const char *name, struct run_info *out,
              struct err *e)
{
    struct run_info *all;
    size_t n;

    if (runs_list(a, data, wall_now_ms(), &all, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].run.name, name) == 0) {
            *out = all[i];
            return 0;
        }
    return err_set(e, ERR_NOT_FOUND, "no run %s: 'muster ps' lists them", name);
}
