/* See process_table.h. */

#include "sys/process_table.h"

#include "sys/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ANCESTORS = 4096, KIB = 1024 };
/* Fields of stat(5) that follow the name in brackets: state is 0. */
enum { PARENT = 1, UTIME = 11, STIME, CUTIME, CSTIME, RSS = 21, LAST = RSS };

bool process_parse(str text, struct process *out)
{
    ptrdiff_t end = str_rfind(text, ')'); /* the name itself may contain brackets and spaces */
    int64_t at[LAST + 1] = { 0 };
    str rest = text;
    int64_t pid;

    if (end < 0 || !str_to_int(str_cut(&rest, ' '), &pid))
        return false;
    rest = str_sub(text, (size_t)end + 2, text.n);
    for (size_t i = 0; i <= LAST; i++) {
        str field = str_cut(&rest, ' ');
        if (i && !str_to_int(field, &at[i]))
            return false;
    }
    *out = (struct process){ .pid = (pid_t)pid,
                             .parent = (pid_t)at[PARENT],
                             .cpu_ticks = at[UTIME] + at[STIME] + at[CUTIME] + at[CSTIME],
                             .rss_pages = at[RSS] };
    return true;
}

int64_t process_parse_pss(str text)
{
    for (str rest = text; rest.p;) {
        str line = str_cut(&rest, '\n');
        int64_t kib;
        if (!str_starts(line, S("Pss:")))
            continue;
        line = str_trim(str_sub(line, S("Pss:").n, line.n));
        return str_to_int(str_cut(&line, ' '), &kib) ? kib * KIB : -1;
    }
    return -1;
}

static int by_pid(const void *x, const void *y)
{
    const struct process *a = x, *b = y;

    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

void process_table_read(struct process_table *t, int proc)
{
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    t->n = 0;
    for (struct dirent *x; d && (x = readdir(d));) {
        char file[300], text[1024];
        struct process p;
        if (x->d_name[0] < '1' || x->d_name[0] > '9')
            continue;
        snprintf(file, sizeof(file), "%s/stat", x->d_name);
        ssize_t n = sys_read_file(proc, file, text, sizeof(text));
        if (n > 0 && process_parse((str){ text, (size_t)n }, &p))
            vec_push(t, p);
    }
    if (d)
        closedir(d);
    if (t->n)
        qsort(t->at, t->n, sizeof(*t->at), by_pid);
}

const struct process *process_find(const struct process_table *t, pid_t pid)
{
    struct process key = { .pid = pid };

    return t->n ? bsearch(&key, t->at, t->n, sizeof(*t->at), by_pid) : NULL;
}

struct owned {
    pid_t pid;
    size_t root;
};

static int by_owned(const void *x, const void *y)
{
    const struct owned *a = x, *b = y;

    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The nearest root at or above the process; n: there is none. */
static size_t root_of(const struct process_table *t, const struct owned *roots, size_t n,
                      const struct process *p)
{
    for (int depth = 0; p && depth < MOST_ANCESTORS; depth++) {
        struct owned key = { .pid = p->pid };
        const struct owned *found = bsearch(&key, roots, n, sizeof(*roots), by_owned);
        if (found)
            return found->root;
        p = p->parent > 0 && p->parent != p->pid ? process_find(t, p->parent) : NULL;
    }
    return n;
}

/* is_root: the process is the root itself. */
typedef void see_process(void *ctx, size_t root, const struct process *p, bool is_root);

static void each_of(const struct process_table *t, const pid_t *roots, size_t n, see_process *see,
                    void *ctx)
{
    struct owned *sorted = mem_array(n + 1, sizeof(*sorted));

    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct owned){ roots[i], i };
    qsort(sorted, n, sizeof(*sorted), by_owned);
    for (size_t i = 0; n && i < t->n; i++) {
        size_t root = root_of(t, sorted, n, &t->at[i]);
        if (root < n)
            see(ctx, root, &t->at[i], t->at[i].pid == roots[root]);
    }
    free(sorted);
}

static void add(void *ctx, size_t root, const struct process *p, bool is_root)
{
    struct process_sum *s = (struct process_sum *)ctx + root;

    s->cpu_ticks += p->cpu_ticks;
    s->n += !is_root;
    s->rss_pages += is_root ? 0 : p->rss_pages;
}

void process_table_sum(const struct process_table *t, const pid_t *roots, struct process_sum *sums,
                       size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = (struct process_sum){ .pss_bytes = -1 };
    each_of(t, roots, n, add, sums);
}

struct pss {
    int proc;
    struct process_sum *sums;
};

static void add_pss(void *ctx, size_t root, const struct process *p, bool is_root)
{
    const struct pss *x = ctx;
    struct process_sum *s = &x->sums[root];
    char file[64], text[4096];

    if (is_root || s->n < 2)
        return;
    snprintf(file, sizeof(file), "%d/smaps_rollup", (int)p->pid);
    ssize_t n = sys_read_file(x->proc, file, text, sizeof(text));
    int64_t bytes = n > 0 ? process_parse_pss((str){ text, (size_t)n }) : -1;
    /* Another user's process shows the number of its pages only. */
    s->pss_bytes += bytes >= 0 ? bytes : p->rss_pages * sysconf(_SC_PAGESIZE);
}

void process_table_add_pss(const struct process_table *t, int proc, const pid_t *roots,
                           struct process_sum *sums, size_t n)
{
    struct pss x = { proc, sums };

    for (size_t i = 0; i < n; i++)
        if (sums[i].n > 1)
            sums[i].pss_bytes = 0;
    each_of(t, roots, n, add_pss, &x);
}
