/* Directories of runs, below the data directory: DATA/runs/NAME-xxxxx. While it runs each is a data
 * directory of its own; afterwards its logs and what came of it. */

#include "cli/data.h"

#include "base/vec.h"
#include "loop/loop.h"
#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 20, NAME_MOST = 40 };

static bool is_kept(const char *name)
{
    static const char *const names[] = { ".", "..", "logs", "summary.json", "lock" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The directory, if it has the lock; -1: it is another. */
static int open_run(const char *run, int lock)
{
    int dir = open(run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat have;
    struct stat want;

    if (dir >= 0 && fstatat(dir, "lock", &have, AT_SYMLINK_NOFOLLOW) == 0 &&
        fstat(lock, &want) == 0 && have.st_dev == want.st_dev && have.st_ino == want.st_ino)
        return dir;
    if (dir >= 0)
        close(dir);
    return -1;
}

bool data_run_is(const char *run, int lock)
{
    int dir = open_run(run, lock);

    if (dir >= 0)
        close(dir);
    return dir >= 0;
}

void data_run_end(const char *run, int lock)
{
    int dir = open_run(run, lock);
    int again = dir < 0 ? -1 : dup(dir); /* closedir takes one */
    DIR *d = again < 0 ? NULL : fdopendir(again);

    for (struct dirent *x; d && (x = readdir(d));)
        if (!is_kept(x->d_name))
            tree_remove(dir, x->d_name, NULL);
    if (d)
        closedir(d);
    if (dir < 0)
        return;
    unlinkat(dir, "logs", AT_REMOVEDIR); /* if nothing was written */
    close(dir);
}

/* ---- which there are */

struct one {
    const char *path;
    int64_t ns; /* when it began */
};

struct all {
    VEC(struct one);
};

static int latest_first(const void *x, const void *y)
{
    const struct one *a = x;
    const struct one *b = y;

    return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->path, b->path);
}

static void list_in(struct arena *a, const char *dir, struct all *out)
{
    DIR *d = opendir(dir);

    for (struct dirent *x; d && (x = readdir(d));) {
        struct stat st;
        const char *path = arena_printf(a, "%s/%s", dir, x->d_name).p;
        const char *lock = arena_printf(a, "%s/lock", path).p;
        if (x->d_name[0] == '.')
            continue;
        if (stat(lock, &st) < 0 && stat(path, &st) < 0)
            continue;
        vec_push(out, (struct one){ path, st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec });
    }
    if (d)
        closedir(d);
    if (out->n)
        qsort(out->at, out->n, sizeof(*out->at), latest_first);
}

static void list(struct arena *a, const char *dir, struct all *out)
{
    list_in(a, arena_printf(a, "%s/runs", dir).p, out);
}

const char **data_places(struct arena *a, const char *dir)
{
    struct all all = { 0 };
    size_t n = 0;

    list(a, dir, &all);
    const char **out = ARENA_ARRAY(a, const char *, all.n + 2);
    out[n++] = dir;
    for (size_t i = 0; i < all.n; i++)
        out[n++] = all.at[i].path;
    vec_done(&all);
    return out;
}

static bool is_listed(const struct data_run *at, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(at[i].name, name) == 0)
            return true;
    return false;
}

static int later_first(const void *x, const void *y)
{
    const struct data_run *a = x;
    const struct data_run *b = y;

    return a->began_ms != b->began_ms ? (a->began_ms > b->began_ms ? -1 : 1)
                                      : strcmp(a->name, b->name);
}

size_t data_runs(struct arena *a, const char *dir, struct data_run **out)
{
    static const char *const places[] = { "runs", "claims" };
    struct all all = { 0 };
    size_t n = 0;

    int holder = 0; /* of the data directory: a run with --data has no directory of its own */
    bool held = data_holder(dir, &holder, NULL) == 0 && holder > 0 && data_is_run(dir);
    for (size_t i = 0; i < COUNT(places); i++)
        list_in(a, arena_printf(a, "%s/%s", dir, places[i]).p, &all);
    *out = ARENA_ARRAY(a, struct data_run, all.n + 1);
    for (size_t i = 0; i < all.n; i++) {
        const char *name = strrchr(all.at[i].path, '/') + 1;
        struct data_run *r = &(*out)[n];
        int pid = 0;
        if (is_listed(*out, n, name)) /* it left claims, too */
            continue;
        *r = (struct data_run){ .name = name,
                                .path = arena_printf(a, "%s/runs/%s", dir, name).p,
                                .claims = arena_printf(a, "%s/claims/%s", dir, name).p,
                                .began_ms = all.at[i].ns / 1000000 };
        r->is_running = data_holder(r->path, &pid, NULL) == 0 && pid > 0;
        r->is_running |= held && access(r->path, F_OK) < 0;
        n++;
    }
    vec_done(&all);
    if (n)
        qsort(*out, n, sizeof(**out), later_first);
    return n;
}

int data_run_remove(const struct data_run *r, struct err *e)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/lock", r->path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int rc = 0;
    if (r->is_running || (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0))
        rc = err_set(e, ERR_CONFLICT, "run %s is still running", r->name);
    if (rc == 0 &&
        (tree_remove(AT_FDCWD, r->path, e) < 0 || tree_remove(AT_FDCWD, r->claims, e) < 0))
        rc = -1;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Those that nobody holds: whole if they are beyond what is kept, else down to the logs. */
static void clear_old(const char *dir)
{
    AUTO(arena) struct arena *a = arena_new();
    struct all all = { 0 };

    list(a, dir, &all);
    for (size_t i = 0; i < all.n; i++) {
        const char *pki = arena_printf(a, "%s/pki", all.at[i].path).p;
        bool left = access(pki, F_OK) == 0; /* it did not get to its end */
        if (i + 1 < KEPT && !left)
            continue;
        int fd = open(arena_printf(a, "%s/lock", all.at[i].path).p, O_RDWR | O_CLOEXEC);
        bool free = fd < 0 ? errno == ENOENT : flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (free && i + 1 >= KEPT)
            tree_remove(AT_FDCWD, all.at[i].path, NULL);
        else if (free)
            data_run_end(all.at[i].path, fd);
        if (fd >= 0)
            close(fd);
    }
    vec_done(&all);
}

/* ---- one more */

const char *data_run_name(struct arena *a, str name)
{
    unsigned char dice[4];

    random_bytes(dice, sizeof(dice));
    return arena_printf(a, "%" PRI_STR "-%02x%02x%02x%02x", STR_ARG(str_clip(name, NAME_MOST)),
                        dice[0], dice[1], dice[2], dice[3])
        .p;
}

int data_run_new(struct arena *a, const char *dir, str name, const char **out, int *lock,
                 struct err *e)
{
    const char *runs = arena_printf(a, "%s/runs", dir).p;

    if (data_make(dir, e) < 0 || data_make(runs, e) < 0)
        return -1;
    clear_old(dir);
    *out = arena_printf(a, "%s/%s", runs, data_run_name(a, name)).p;
    if (data_lock(*out, lock, e) < 0)
        return -1;
    data_hold_run(*lock);
    /* Images are mapped once for all. */
    if (symlink("../../images.yaml", arena_printf(a, "%s/images.yaml", *out).p) < 0 ||
        symlink("../../agent", arena_printf(a, "%s/agent", *out).p) < 0)
        return err_sys(e, "make links in %s", *out);
    return 0;
}

/* ---- whose the lock is: "PID\nrun\n" */

void data_hold_run(int fd)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%d\nrun\n", (int)getpid());

    if (pwrite(fd, text, (size_t)n, 0) != n)
        return; /* then it reads as any other's */
}

bool data_is_run(const char *dir)
{
    AUTO(arena) struct arena *a = arena_new();
    str text;

    if (data_read(a, arena_printf(a, "%s/lock", dir).p, &text, NULL) < 0)
        return false;
    str_cut(&text, '\n');
    return str_starts(text, S("run"));
}
