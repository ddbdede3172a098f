/* Directories of runs, and the logs that stay in them. */

#include "cli/data.h"
#include "cli/kept.h"
#include "plan/logs.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static bool is_there(const char *dir, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    return access(arena_printf(a, "%s/%s", dir, name).p, F_OK) == 0;
}

static void put(const char *path, str text)
{
    char *all = strdup(path);
    FILE *f;

    for (char *p = all + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(all, 0700);
            *p = '/';
        }
    f = fopen(path, "w");
    fwrite(text.p, 1, text.n, f);
    fclose(f);
    free(all);
}

static const char *begin(struct arena *a, const char *data, const char *name, int *lock)
{
    struct err e = { 0 };
    const char *run = NULL;

    if (data_run_new(a, data, str_of(name), &run, lock, &e) < 0) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
    return run;
}

static void a_run_leaves_its_logs(const char *data)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    int lock;
    int pid = 0;
    const char *run = begin(a, data, "mnist", &lock);

    ok(str_starts(str_of(run), arena_printf(a, "%s/runs/mnist-", data)), "it is below runs");
    is_int(data_holder(run, &pid, &e), 0, "its lock can be looked at");
    is_int(pid, getpid(), "and is ours");
    ok(data_is_run(run), "it is said to be a run's");
    put(arena_printf(a, "%s/pki/ca.crt", run).p, S("x"));
    put(arena_printf(a, "%s/logs/default/mnist/worker-0/0.log", run).p, S("x"));
    put(arena_printf(a, "%s/summary.json", run).p, S("{}"));
    data_run_end(run, lock);
    ok(!is_there(run, "pki") && !is_there(run, "images.yaml"), "what was of use only to it goes");
    ok(is_there(run, "logs/default/mnist/worker-0/0.log") && is_there(run, "summary.json"),
       "logs and summary stay");
    close(lock);
    is_int(data_holder(run, &pid, &e), 0, "afterwards");
    is_int(pid, 0, "nobody holds it");
}

static void what_a_crash_left_is_cleared(const char *data)
{
    AUTO(arena) struct arena *a = arena_new();
    int lock;
    int other;
    const char *run = begin(a, data, "crashed", &lock);
    const char *live = begin(a, data, "live", &other);

    put(arena_printf(a, "%s/pki/ca.crt", run).p, S("x"));
    put(arena_printf(a, "%s/logs/x/0.log", run).p, S("x"));
    put(arena_printf(a, "%s/pki/ca.crt", live).p, S("x"));
    close(lock);
    begin(a, data, "next", &lock);
    ok(!is_there(run, "pki"), "by the next run");
    ok(is_there(run, "logs/x/0.log"), "but for the logs");
    ok(is_there(live, "pki"), "one that goes on is let alone");
    close(lock);
    close(other);
}

/* R3: a pod that can rename what is above the data directory chooses what is at its path. */
static void another_in_its_place_is_left_alone(const char *data)
{
    AUTO(arena) struct arena *a = arena_new();
    int lock;
    const char *run = begin(a, data, "moved", &lock);
    const char *away = arena_printf(a, "%s.away", run).p;
    const char *prize = arena_printf(a, "%s/prize", data).p;

    put(arena_printf(a, "%s/file", prize).p, S("x"));
    ok(rename(run, away) == 0 && symlink(prize, run) == 0, "a link takes a run's place");
    ok(!data_run_is(run, lock), "which is seen");
    data_run_end(run, lock);
    ok(is_there(prize, "file"), "what it leads to stays");
    unlink(run);
    put(arena_printf(a, "%s/lock", run).p, S("x"));
    put(arena_printf(a, "%s/file", run).p, S("x"));
    data_run_end(run, lock);
    ok(is_there(run, "file"), "and so does a directory with a lock of its own");
    close(lock);
}

static void twenty_are_kept(const char *data)
{
    AUTO(arena) struct arena *a = arena_new();
    size_t n = 0;
    const char *last = NULL;

    for (int i = 0; i < 30; i++) {
        int lock;
        last = begin(a, data, "many", &lock);
        data_run_end(last, lock);
        close(lock);
    }
    for (const char **p = data_places(a, data); p[n]; n++)
        ;
    is_int((int64_t)n, 21, "the directory itself, and twenty runs");
    is_str(str_of(data_places(a, data)[0]), str_of(data), "first the directory");
    is_str(str_of(data_places(a, data)[1]), str_of(last), "then the latest");
}

/* ---- their logs */

static void index_line(struct buf *b, int64_t attempt, const char *owner)
{
    struct logs_run r = { .attempt = attempt,
                          .container = S("tensorflow"),
                          .is_main = true,
                          .pod_uid = S("pod"),
                          .run = attempt,
                          .owner_uid = str_of(owner),
                          .start_ms = 1000 };

    logs_run_print(b, &r);
}

static void replica(struct arena *a, const char *job, const char *name, const char *owners[2],
                    const char *const logs[2])
{
    AUTO(buf) struct buf b = { 0 };

    for (int i = 0; i < 2; i++) {
        index_line(&b, i, owners[i]);
        put(arena_printf(a, "%s/%s/%d.log", job, name, i).p, str_of(logs[i]));
    }
    put(arena_printf(a, "%s/%s/" LOGS_INDEX, job, name).p, buf_str(&b));
}

static bool on_line(void *ctx, str name, str line)
{
    buf_printf(ctx, "%" PRI_STR ": %" PRI_STR "\n", STR_ARG(name), STR_ARG(line));
    return true;
}

static void on_replica(void *ctx, str name)
{
    (void)ctx, (void)name;
}

static void logs_are_read_in_the_order_of_time(const char *data)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    const char *job = arena_printf(a, "%s/logs/default/mnist", data).p;
    struct kept_opts o = { .data = data,
                           .ns = S("default"),
                           .job = S("mnist"),
                           .tail = -1,
                           .on_line = on_line,
                           .ctx = &b };

    ok(!kept_read(&(struct kept_opts){ .data = data, .ns = S("default"), .job = S("no") },
                  on_replica),
       "none of a job that never was");
#define T "2026-01-01T00:00:0"
    replica(a, job, "worker-0", (const char *[]){ "old", "new" },
            (const char *const[]){ T "0.000000000Z stdout F older job\n",
                                   T "1.000000000Z stdout F one\n" T
                                     "4.000000000Z stdout F four\n" });
    replica(a, job, "worker-10", (const char *[]){ "new", "new" },
            (const char *const[]){ T "2.000000000Z stdout F two\n", T
                                   "3.000000000Z stderr P thr\n" T "3.000000001Z stderr F ee\n" });
    ok(kept_read(&o, on_replica), "there are some");
    is_str(buf_str(&b), S("worker-0: one\nworker-10: two\nworker-10: three\nworker-0: four\n"),
           "all runs of the latest job, by time");
    buf_clear(&b);
    o.previous = true;
    kept_read(&o, on_replica);
    is_str(buf_str(&b), S("worker-10: two\n"), "the runs before the last ones");
    buf_clear(&b);
    o.previous = false;
    o.tail = 1;
    o.timestamps = true;
    kept_read(&o, on_replica);
    is_str(buf_str(&b),
           S("worker-10: " T "2.000000000Z two\nworker-10: " T "3.000000000Z three\n"
             "worker-0: " T "4.000000000Z four\n"),
           "the last lines, with times");
}

int main(void)
{
    char data[] = "/tmp/muster-runs-XXXXXX";
    char command[64];

    if (!mkdtemp(data))
        return 1;
    a_run_leaves_its_logs(data);
    what_a_crash_left_is_cleared(data);
    another_in_its_place_is_left_alone(data);
    twenty_are_kept(data);
    logs_are_read_in_the_order_of_time(data);
    snprintf(command, sizeof(command), "rm -rf %s", data);
    return system(command) != 0 || tap_done(); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
}
