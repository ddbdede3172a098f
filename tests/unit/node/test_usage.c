/* Usage of CPU and memory: what files say, trees of processes, and rates. The tree of files is in
 * tests/golden/usage. */

#include "node/usage.h"

#include "base/mem.h"
#include "sys/process_table.h"
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

static const char *golden;

static int64_t tick_ns(void)
{
    return 1000000000 / sysconf(_SC_CLK_TCK);
}

static struct usage_sample *sample_of(const struct usage_container *at, size_t n)
{
    struct usage_sample *s = mem_new(sizeof(*s));

    s->a = arena_new();
    for (size_t i = 0; i < n; i++)
        vec_push(s, at[i]);
    return s;
}

static const char *dir_of(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s/pod/main", golden, name).p;
}

static void files_of_control_groups(void)
{
    int64_t n = 0;

    ok(usage_parse_number(S("9876543210\n"), &n) && n == 9876543210, "cpuacct.usage is a number");
    ok(!usage_parse_number(S(""), &n) && !usage_parse_number(S("max\n"), &n) &&
           !usage_parse_number(S("-4\n"), &n),
       "an empty file, a word and a negative number are none");
    ok(usage_parse_key(S("a 1\nusage_usec 77\n"), "usage_usec", &n) && n == 77,
       "a key is found on its line");
    ok(!usage_parse_key(S("xusage_usec 77\nusage_usec"), "usage_usec", &n),
       "a longer word or a line without a number is not it");
}

static void files_of_the_machine(void)
{
    int64_t n = 0;
    cpu_set_t one, two;

    CPU_ZERO(&one);
    CPU_SET(1, &one);
    two = one;
    CPU_SET(0, &two);
    str text =
        S("cpu  9 9 9 9\ncpu0 600 60 200 4400 25 3 12 4 200 0\ncpu1 400 40 100 4600 25 2 8 3\n");
    ok(usage_parse_stat(text, &one, &n) && n == 400 + 40 + 100 + 2 + 8,
       "idle, waiting and stolen time are not use");
    ok(usage_parse_stat(text, &two, &n) && n == 550 + 875, "each CPU that we may use counts");
    ok(!usage_parse_stat(S("cpu  1 2 3 4\n"), &two, &n), "without a CPU of ours nothing is known");
    ok(!usage_parse_stat(S("cpu0 1 x 3 4\n"), &two, &n), "nor if a number is none");
    ok(usage_parse_meminfo(S("MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable:  40 kB\n"), &n) &&
           n == 60 * 1024,
       "memory in use is what is not available");
    ok(!usage_parse_meminfo(S("MemTotal: 100 kB\n"), &n), "which old kernels do not tell");
}

static void texts_of_processes(void)
{
    struct process p = { 0 };

    ok(process_parse(S("7 (a) b (c)) R 3 7 7 0 -1 0 1 2 3 4 10 20 30 40 20 0 1 0 5 6 99 0\n"),
                     &p) &&
           p.pid == 7 && p.parent == 3 && p.cpu_ticks == 100 && p.rss_pages == 99,
       "a name may hold brackets and spaces");
    ok(!process_parse(S(""), &p) && !process_parse(S("7 (a"), &p) &&
           !process_parse(S("7 (a) R 3 7"), &p) && !process_parse(S("x (a) R 3"), &p) &&
           !process_parse(S(")"), &p),
       "what is cut short is none");
    is_int(process_parse_pss(S("x\nRss: 9 kB\nPss:       12 kB\n")), 12 * 1024, "Pss is read");
    is_int(process_parse_pss(S("Pss_Anon: 12 kB\n")), -1, "and nothing else for it");
}

static void trees_of_processes(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct process_table t = { 0 };
    pid_t roots[] = { 200, 100, 0 };
    struct process_sum sums[3];
    int proc = open(arena_printf(a, "%s/proc", golden).p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    process_table_read(&t, proc);
    is_int((int64_t)t.n, 7, "all processes are read");
    ok(process_find(&t, 102) && process_find(&t, 102)->parent == 101 && !process_find(&t, 103),
       "and found by number");
    process_table_sum(&t, roots, sums, 3);
    is_int(sums[1].cpu_ticks, 50 + 4 + 1050,
           "time of the root, of its ended children, of all below");
    is_int(sums[1].rss_pages, 50200, "memory of those below");
    is_int((int64_t)sums[0].n, 1, "another tree is apart");
    is_int((int64_t)sums[2].n, 0, "and no root has nothing");
    process_table_add_pss(&t, proc, roots, sums, 3);
    is_int(sums[1].pss_bytes, 150100 * 1024, "shared pages count once where there are several");
    is_int(sums[0].pss_bytes, -1, "a single process is not looked at again");
    pid_t nested[] = { 100, 101 };
    process_table_sum(&t, nested, sums, 2);
    ok(sums[0].n == 0 && sums[0].cpu_ticks == 50 && sums[1].n == 1, "a root below a root is apart");
    vec_done(&t);
    close(proc);
}

static void counts_come_from_groups_and_processes(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct usage_container of[] = {
        { .name = S("v2"), .group2 = dir_of(a, "v2") },
        { .name = S("v1"), .cpu1 = dir_of(a, "v1cpu"), .memory1 = dir_of(a, "v1mem") },
        { .name = S("none"), .main = 101 },
        { .name = S("split"), .main = 210, .cpu1 = dir_of(a, "split") },
        { .name = S("gone"), .main = 4711 },
    };
    struct usage_sample *s = sample_of(of, COUNT(of));

    usage_read(s, golden);
    ok(s->at[0].found && s->at[0].by_group, "v2: found");
    is_int(s->at[0].cpu_ns, 12345678000, "v2: CPU time of cpu.stat");
    is_int(s->at[0].memory_bytes, 104857600 - 20971520, "v2: without inactive file pages");
    is_int(s->at[1].cpu_ns, 9876543210, "v1: CPU time of cpuacct.usage");
    is_int(s->at[1].memory_bytes, 52428800 - 2097152, "v1: without inactive file pages");
    ok(s->at[2].found && !s->at[2].by_group, "without a group: processes");
    is_int(s->at[2].cpu_ns, 1104 * tick_ns(), "their CPU time");
    is_int(s->at[2].memory_bytes, 150100 * 1024, "their memory");
    ok(!s->at[3].by_group && s->at[3].cpu_ns == 2 * tick_ns() &&
           s->at[3].memory_bytes == 150 * sysconf(_SC_PAGESIZE),
       "v1 with cpuacct elsewhere: processes");
    ok(!s->at[4].found, "a container whose process is gone is not found");
    cpu_set_t set; /* the tree has CPUs 0 and 1 */
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    bool ours = CPU_ISSET(0, &set) || CPU_ISSET(1, &set);
    ok(s->found == ours, "the machine is found");
    is_int(s->memory_bytes, ours ? (24684112 - 23506680) * (int64_t)1024 : 0, "its memory");
    usage_sample_free(s);
}

static void rates(void)
{
    is_int(usage_rate(0, 1500000000, 1000), 1500000000, "1.5 s in a second: 1.5 cores");
    is_int(usage_rate(5000000000, 5000000000, 1000), 0, "nothing used");
    is_int(usage_rate(10, 5, 1000), 0, "a count that fell is no use");
    is_int(usage_rate(0, 5, 0), 0, "no time, no rate");
    is_int(usage_rate(0, INT64_MAX, 60000), INT64_MAX / 60, "large counts do not overflow");
}

/* pod, uid, container, attempt, started, CPU time in ms */
static struct usage_container count(const char *pod, const char *name, int64_t attempt,
                                    int64_t started_ms, int64_t cpu_ms)
{
    return (struct usage_container){ .pod = str_of(pod),
                                     .uid = str_of(pod),
                                     .name = str_of(name),
                                     .attempt = attempt,
                                     .started_ms = started_ms,
                                     .found = true,
                                     .cpu_ns = cpu_ms * 1000000,
                                     .memory_bytes = 4096 };
}

static struct usage_sample *at(struct usage_sample *s, int64_t ms, int64_t cpu_ms)
{
    s->wall_ms = 1000000 + ms;
    s->tick_ms = ms;
    s->found = true;
    s->cpu_ns = cpu_ms * 1000000;
    s->memory_bytes = 8192;
    return s;
}

static int64_t nano(jv report, const char *pod, size_t i)
{
    jv list = jv_at(report, "pods", pod, "containers");

    return jv_int(jv_at(jv_index(list, i), "cpu_nano"), -1);
}

static void reports(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct usage_container old[] = {
        count("a/x", "main", 0, 900000, 50000),
        count("a/x", "side", 0, 900000, 100),
        count("a/y", "main", 0, 900000, 70000),
        count("b/z", "main", 0, 900000, 10),
    };
    struct usage_container new[] = {
        count("a/x", "main", 0, 900000, 60000),   count("a/x", "side", 0, 900000, 100),
        count("a/y", "main", 1, 1006000, 2000),   count("b/new", "main", 0, 1009900, 100),
        count("b/two", "one", 0, 900000, 100000), count("b/two", "late", 0, 1009900, 1),
        count("b/z", "main", 0, 900000, 10),
    };
    new[6].by_group = true;
    struct usage_sample *before = at(sample_of(old, COUNT(old)), 0, 1000);
    struct usage_sample *now = at(sample_of(new, COUNT(new)), 10000, 21000);
    jv r = usage_report(a, before, now);

    is_int(nano(r, "a/x", 0), 1000000000, "10 s in 10 s: one core");
    is_int(nano(r, "a/x", 1), 0, "beside an idle container");
    is_int(jv_int(jv_at(r, "pods", "a/x", "window_ms"), 0), 10000, "over the time between samples");
    is_int(nano(r, "a/y", 0), 500000000, "a container that was started again: since its start");
    is_int(jv_int(jv_at(r, "pods", "a/y", "window_ms"), 0), 4000, "over that time");
    ok(!jv_exists(jv_at(r, "pods", "b/new")), "one that started just now has no rate yet");
    ok(!jv_exists(jv_at(r, "pods", "b/two")), "nor has a pod of which one container has none");
    is_int(nano(r, "b/z", 0), 10 * 1000000000LL / 1000 * 1000 / 110000,
           "a count from another source is not compared");
    is_int(jv_int(jv_at(r, "cpu_nano"), -1), 2000000000, "the machine: 20 s in 10 s");
    is_int(jv_int(jv_at(r, "memory_bytes"), -1), 8192, "and its memory");
    is_int(jv_int(jv_at(r, "at_ms"), -1), 1010000, "at that time");
    ok(usage_is_early(before, now), "some started just now");
    now->n = 3;
    ok(!usage_is_early(before, now), "and others did not");
    before->found = false;
    ok(!jv_exists(jv_at(usage_report(a, before, now), "cpu_nano")),
       "a machine that was read once has no rate");
    usage_sample_free(before);
    usage_sample_free(now);
}

int main(int argc, char **argv)
{
    golden = argc > 1 ? argv[1] : "tests/golden/usage";
    files_of_control_groups();
    files_of_the_machine();
    texts_of_processes();
    trees_of_processes();
    counts_come_from_groups_and_processes();
    rates();
    reports();
    return tap_done();
}
