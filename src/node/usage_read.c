/* CPU time and memory from control groups, where a container has its own, and from /proc. */

#include "base/mem.h"
#include "loop/loop.h"
#include "node/usage.h"
#include "sys/process_table.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { KIB = 1024, TEXT_BYTES = 64 * 1024 };
static const int64_t NS = 1000000000;

/* ---- texts */

bool usage_parse_number(str text, int64_t *out)
{
    return str_to_int(str_trim(text), out) && *out >= 0;
}

bool usage_parse_key(str text, const char *key, int64_t *out)
{
    for (str rest = text; rest.p;) {
        str line = str_cut(&rest, '\n');
        if (str_eqz(str_cut(&line, ' '), key))
            return usage_parse_number(line, out);
    }
    return false;
}

static bool kib_of(str text, const char *key, int64_t *bytes)
{
    for (str rest = text; rest.p;) {
        str line = str_cut(&rest, '\n');
        if (!str_eqz(str_cut(&line, ':'), key))
            continue;
        line = str_trim(line);
        if (!usage_parse_number(str_cut(&line, ' '), bytes))
            return false;
        *bytes *= KIB;
        return true;
    }
    return false;
}

bool usage_parse_meminfo(str text, int64_t *used_bytes)
{
    int64_t all, available;

    if (!kib_of(text, "MemTotal", &all) || !kib_of(text, "MemAvailable", &available))
        return false;
    *used_bytes = all > available ? all - available : 0;
    return true;
}

/* "cpu0 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...": time of guests is in USER already, and
 * stolen time is another machine's. */
static int64_t busy_of(str line)
{
    enum { IDLE = 3, IOWAIT = 4, FIELDS = 7 };
    int64_t busy = 0;

    for (int i = 0; i < FIELDS && line.p; i++) {
        int64_t n;
        if (!str_to_int(str_cut(&line, ' '), &n))
            return -1;
        busy += i == IDLE || i == IOWAIT ? 0 : n;
    }
    return busy;
}

bool usage_parse_stat(str text, const cpu_set_t *of, int64_t *busy)
{
    bool any = false;

    *busy = 0;
    for (str rest = text; rest.p;) {
        str line = str_cut(&rest, '\n'), word = str_cut(&line, ' ');
        int64_t cpu, n;
        if (!str_starts(word, S("cpu")) || !str_to_int(str_sub(word, 3, word.n), &cpu))
            continue;
        if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, of))
            continue;
        n = busy_of(line);
        if (n < 0)
            return false;
        *busy += n;
        any = true;
    }
    return any;
}

/* ---- files */

static bool read_text(const char *dir, const char *file, char *text, str *out)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.3900s/%s", dir, file);
    ssize_t n = sys_read_file(AT_FDCWD, path, text, TEXT_BYTES);
    *out = (str){ text, n > 0 ? (size_t)n : 0 };
    return n > 0;
}

static bool number_in(const char *dir, const char *file, int64_t *out)
{
    char text[TEXT_BYTES];
    str s;

    return dir && read_text(dir, file, text, &s) && usage_parse_number(s, out);
}

static bool key_in(const char *dir, const char *file, const char *key, int64_t *out)
{
    char text[TEXT_BYTES];
    str s;

    return dir && read_text(dir, file, text, &s) && usage_parse_key(s, key, out);
}

static bool group_cpu(const struct usage_container *c, int64_t *ns)
{
    int64_t us;

    if (number_in(c->cpu1, "cpuacct.usage", ns)) /* where cpu and cpuacct are one hierarchy */
        return true;
    if (!key_in(c->group2, "cpu.stat", "usage_usec", &us))
        return false;
    *ns = us * 1000;
    return true;
}

/* As kubelet: without the file pages that the kernel can drop first. */
static bool group_memory(const struct usage_container *c, int64_t *bytes)
{
    int64_t inactive = 0;

    if (number_in(c->group2, "memory.current", bytes))
        key_in(c->group2, "memory.stat", "inactive_file", &inactive);
    else if (number_in(c->memory1, "memory.usage_in_bytes", bytes))
        key_in(c->memory1, "memory.stat", "total_inactive_file", &inactive);
    else
        return false;
    *bytes = *bytes > inactive ? *bytes - inactive : 0;
    return true;
}

static void read_machine(struct usage_sample *s, const char *root)
{
    char dir[PATH_MAX], text[TEXT_BYTES];
    int64_t ticks = 0;
    cpu_set_t set;
    str found;

    snprintf(dir, sizeof(dir), "%s/proc", root);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set); /* node_resources counts these CPUs */
    s->found = read_text(dir, "stat", text, &found) && usage_parse_stat(found, &set, &ticks) &&
               read_text(dir, "meminfo", text, &found) &&
               usage_parse_meminfo(found, &s->memory_bytes);
    s->cpu_ns = ticks * (NS / sysconf(_SC_CLK_TCK));
}

/* A container's processes are below its minder, the parent of the first one: what loses its parent
 * becomes the minder's child. */
static void read_processes(struct usage_sample *s, int proc)
{
    struct process_table t = { 0 };
    pid_t *roots = mem_array(s->n + 1, sizeof(*roots));
    struct process_sum *sums = mem_array(s->n + 1, sizeof(*sums));

    process_table_read(&t, proc);
    for (size_t i = 0; i < s->n; i++) {
        const struct process *p = process_find(&t, s->at[i].main);
        roots[i] = p && p->parent > 1 ? p->parent : 0;
    }
    process_table_sum(&t, roots, sums, s->n);
    process_table_add_pss(&t, proc, roots, sums, s->n);
    for (size_t i = 0; i < s->n; i++) {
        struct usage_container *c = &s->at[i];
        c->found = sums[i].n > 0;
        c->cpu_ns = sums[i].cpu_ticks * (NS / sysconf(_SC_CLK_TCK));
        c->memory_bytes =
            sums[i].pss_bytes >= 0 ? sums[i].pss_bytes : sums[i].rss_pages * sysconf(_SC_PAGESIZE);
    }
    free(roots);
    free(sums);
    vec_done(&t);
}

void usage_read(struct usage_sample *s, const char *root)
{
    char dir[PATH_MAX];

    snprintf(dir, sizeof(dir), "%s/proc", root);
    AUTO(sys_fd) int proc = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    s->wall_ms = wall_now_ms();
    s->tick_ms = boot_now_ms();
    read_machine(s, root);
    if (proc >= 0 && s->n)
        read_processes(s, proc);
    for (size_t i = 0; i < s->n; i++) {
        struct usage_container *c = &s->at[i];
        c->by_group = group_cpu(c, &c->cpu_ns);
        c->found = group_memory(c, &c->memory_bytes) || c->found;
    }
}

void usage_sample_free(struct usage_sample *s)
{
    if (!s)
        return;
    vec_done(s);
    arena_free(s->a);
    free(s);
}
