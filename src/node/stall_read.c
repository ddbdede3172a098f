/* The files of /proc that say where the processes of a container wait. What may not be read stays
 * empty. */

#include "node/stall.h"
#include "sys/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MANY_PROCESSES = 64,
    MANY_THREADS = 64,
    MANY_FDS = 256,
    DEEPEST = 64, /* of a tree of processes */
    FILE_BYTES = 512,
    TABLE_BYTES = 1024 * 1024,
};

static str read_text(struct arena *a, int proc, const char *file, size_t most)
{
    char *text = mem_or_abort(malloc(most));
    ssize_t n = sys_read_file(proc, file, text, most);
    str out = n > 0 ? arena_str(a, (str){ text, (size_t)n }) : S("");

    free(text);
    return out;
}

static DIR *dir_of(int proc, pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static void read_threads(struct arena *a, int proc, pid_t pid, struct stall_process *p)
{
    DIR *d = dir_of(proc, pid, "task");

    p->threads = ARENA_ARRAY(a, str, MANY_THREADS);
    p->sleeps = ARENA_ARRAY(a, str, MANY_THREADS);
    for (struct dirent *x; d && p->n_threads < MANY_THREADS && (x = readdir(d));) {
        char path[NAME_MAX + 64];
        if (x->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%d/task/%s/syscall", (int)pid, x->d_name);
        p->threads[p->n_threads] = read_text(a, proc, path, FILE_BYTES);
        snprintf(path, sizeof(path), "%d/task/%s/wchan", (int)pid, x->d_name);
        p->sleeps[p->n_threads++] = read_text(a, proc, path, FILE_BYTES);
    }
    if (d)
        closedir(d);
}

static void read_fds(struct arena *a, int proc, pid_t pid, struct stall_process *p)
{
    DIR *d = dir_of(proc, pid, "fd");

    p->fds = ARENA_ARRAY(a, struct stall_fd, MANY_FDS);
    for (struct dirent *x; d && p->n_fds < MANY_FDS && (x = readdir(d));) {
        char link[PATH_MAX];
        ssize_t n = readlinkat(dirfd(d), x->d_name, link, sizeof(link));
        struct stall_fd *f = &p->fds[p->n_fds];
        if (n <= 0 || !str_to_int(str_of(x->d_name), &f->fd))
            continue;
        f->link = arena_str(a, (str){ link, (size_t)n });
        p->n_fds++;
    }
    if (d)
        closedir(d);
}

static void read_process(struct arena *a, int proc, pid_t pid, struct stall_view *v)
{
    struct stall_process p = { 0 };
    char path[64];

    snprintf(path, sizeof(path), "%d/comm", (int)pid);
    p.name = read_text(a, proc, path, FILE_BYTES);
    if (str_starts(p.name, S("muster-"))) /* a minder */
        return;
    read_threads(a, proc, pid, &p);
    read_fds(a, proc, pid, &p);
    vec_push(&v->processes, p);
}

static bool is_below(const struct process_table *t, const struct process *p, pid_t root)
{
    for (int depth = 0; p && depth < DEEPEST; depth++) {
        if (p->parent == root)
            return true;
        p = p->parent > 1 ? process_find(t, p->parent) : NULL;
    }
    return false;
}

/* Its parent is its minder, whose parent is the pod's warden. */
pid_t stall_root(const struct process_table *t, pid_t main)
{
    const struct process *first = process_find(t, main);
    const struct process *minder = first ? process_find(t, first->parent) : NULL;

    return minder && minder->parent > 1 ? minder->parent : 0;
}

void stall_read(struct arena *a, int proc, const struct process_table *t, pid_t main,
                struct stall_view *v)
{
    pid_t root = stall_root(t, main);
    char path[64];

    for (size_t i = 0; root && i < t->n && v->processes.n < MANY_PROCESSES; i++)
        if (is_below(t, &t->at[i], root))
            read_process(a, proc, t->at[i].pid, v);
    snprintf(path, sizeof(path), "%d/net/tcp", (int)main);
    v->tcp = read_text(a, proc, path, TABLE_BYTES);
    snprintf(path, sizeof(path), "%d/net/tcp6", (int)main);
    v->tcp6 = read_text(a, proc, path, TABLE_BYTES);
}
