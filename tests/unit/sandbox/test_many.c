/* Two hundred pods at once, and how long a start takes. Times are told, not judged: the machine may
 * be busy. */

#include "rig.h"

#include <time.h>
#include <unistd.h>

enum { PODS = 200, STARTS = 40 };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The container itself says when it began, by a file that it makes. */
static void starts_are_quick(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    double took[STARTS];

    for (int i = 0; i < STARTS; i++) {
        double at = now_ms();
        struct rig_pod *p = rig_pod(r, i, NULL);
        rig_start(p, "", "{'argv': ['date', '+%s.%N']}");
        struct timespec wall;
        clock_gettime(CLOCK_REALTIME, &wall);
        double began = (double)wall.tv_sec * 1e3 + (double)wall.tv_nsec / 1e6 - (now_ms() - at);
        rig_wait_n(r, &p->exited, 1);
        took[i] = strtod(rig_log(a, p).p, NULL) * 1e3 - began;
        rig_end(p, 0);
        unlink(arena_printf(a, "%s/logs/%s/0.log", r->dir, p->uid).p);
        free(p);
    }
    qsort(took, STARTS, sizeof(*took), by_size);
    ok(took[0] > 0, "spawn to main() of the first container: p50 %.2f ms, best %.2f, p90 %.2f",
       took[STARTS / 2], took[0], took[STARTS * 9 / 10]);
}

/* Memory of all wardens: each page counted once, however many share it. */
static void memory(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str cmd =
        arena_printf(a,
                     "for p in $(pgrep -f '%s'); do cat /proc/$p/smaps_rollup 2>/dev/null; done |"
                     "awk '/^Pss:/ { s += $2; n++ } END { print n, s }'",
                     r->dir);
    FILE *f = popen(cmd.p, "r");
    int n = 0;
    int kb = 0;

    if (f && fscanf(f, "%d %d", &n, &kb) == 2 && n)
        printf("# %d processes of %d pods: %d KB, %d a pod\n", n, PODS, kb, kb / PODS);
    if (f)
        pclose(f);
}

static double cpu_ms(struct arena *a, const struct rig *r)
{
    str cmd = arena_printf(a,
                           "for p in $(pgrep -f '%s'); do cat /proc/$p/stat 2>/dev/null; done |"
                           "sed 's/.*) //' | awk '{ s += $12 + $13 } END { print s }'",
                           r->dir);
    FILE *f = popen(cmd.p, "r");
    double ticks = 0;

    if (!f || fscanf(f, "%lf", &ticks) != 1)
        ticks = -1;
    if (f)
        pclose(f);
    return ticks * 1000 / (double)sysconf(_SC_CLK_TCK);
}

static void many_at_once(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    static struct rig_pod *p[PODS];
    double at = now_ms();
    int running = 0;
    int ended = 0;

    for (int i = 0; i < PODS; i++) {
        p[i] = rig_pod(r, 1000 + i, NULL);
        rig_start(p[i], "", "{'argv': ['sleep', '1000']}");
    }
    double spawned = now_ms() - at;
    for (int i = 0; i < PODS; i++)
        running += rig_wait_n(r, &p[i]->started, 1);
    is_int(running, PODS, "two hundred pods run");
    printf("# spawned in %.0f ms, all running after %.0f ms\n", spawned, now_ms() - at);
    memory(r);
    double cpu = cpu_ms(a, r);
    usleep(1000 * 1000);
    printf("# %.0f ms of CPU in a second while nothing happens\n", cpu_ms(a, r) - cpu);
    at = now_ms();
    for (int i = 0; i < PODS; i++)
        r->rt->ops->end(p[i]->p, 2000);
    for (int i = 0; i < PODS; i++)
        ended += rig_wait(r, &p[i]->gone);
    is_int(ended, PODS, "and end");
    printf("# all gone after %.0f ms\n", now_ms() - at);
    for (int i = 0; i < PODS; i++) {
        r->rt->ops->drop(p[i]->p);
        rig_forget(p[i]);
        free(p[i]);
    }
    ok(rig_processes_are(r->dir, 0), "N1: no process of theirs is left");
}

int main(int argc, char **argv)
{
    struct rig r;

    rig_main(argc, argv, &r);
    starts_are_quick(&r);
    many_at_once(&r);
    rig_done(&r);
    return tap_done();
}
