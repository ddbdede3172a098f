/* Resident memory of a process tree, from /proc. */

#include "sandbox/memory.h"

#include "sys/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct sum {
    int proc;
    bool exact;
    int64_t bytes;
};

static void add_one(struct sum *s, pid_t pid)
{
    char file[64];
    char text[4096];

    snprintf(file, sizeof(file), "%d/%s", (int)pid, s->exact ? "smaps_rollup" : "statm");
    if (sys_read_file(s->proc, file, text, sizeof(text)) < 0)
        return;
    if (!s->exact) {
        const char *resident = strchr(text, ' '); /* the second number, in pages */
        s->bytes += resident ? strtoll(resident, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
        return;
    }
    const char *pss = strstr(text, "\nPss:");
    s->bytes += pss ? strtol(pss + 5, NULL, 10) * 1024 : 0;
}

static void add_tree(void *ctx, pid_t pid)
{
    struct sum *s = ctx;

    add_one(s, pid);
    sys_children(s->proc, pid, add_tree, s);
}

int64_t warden_memory_below(int proc, pid_t pid, int64_t limit)
{
    struct sum s = { .proc = proc };

    sys_children(proc, pid, add_tree, &s);
    if (s.bytes <= limit)
        return s.bytes;
    s = (struct sum){ .proc = proc, .exact = true };
    sys_children(proc, pid, add_tree, &s);
    return s.bytes;
}
