/* All processes of the machine with their CPU time and memory, from one read of /proc/PID/stat
 * each. For sums over many trees at once; sys_children() follows a single tree. Any thread. */
#pragma once

#include "base/str.h"
#include "base/vec.h"

#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    pid_t parent;
    int64_t cpu_ticks; /* its own, and of the children that it has waited for */
    int64_t rss_pages;
};

struct process_table {
    VEC(struct process); /* by pid */
};

/* A tree: CPU time of the root too, as it waits for children; memory of those below it alone. */
struct process_sum {
    size_t n;          /* processes below the root */
    int64_t cpu_ticks; /* falls only when a process ends that nobody waits for */
    int64_t rss_pages; /* a page that several processes share counts for each of them */
    int64_t pss_bytes; /* such a page counts once; -1: not measured */
};

/* The text of /proc/PID/stat; false: it is not one. */
bool process_parse(str text, struct process *out);
/* The number after "Pss:" in the text of /proc/PID/smaps_rollup, in bytes; -1: there is none. */
int64_t process_parse_pss(str text);

/* proc: a descriptor of /proc. Processes that end meanwhile are left out. */
void process_table_read(struct process_table *t, int proc);
const struct process *process_find(const struct process_table *t, pid_t pid); /* NULL: none */
/* Each root with all below it; a root below another root counts for itself alone. roots and sums
 * have n elements; a root may be 0, which has no processes. */
void process_table_sum(const struct process_table *t, const pid_t *roots, struct process_sum *sums,
                       size_t n);
/* Fills pss_bytes of sums with more than one process. This is slower: the kernel looks at every
 * page. */
void process_table_add_pss(const struct process_table *t, int proc, const pid_t *roots,
                           struct process_sum *sums, size_t n);
