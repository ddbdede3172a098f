/* The list of what is hidden, and the wait until it is. */

#include "sandbox/registry.h"

#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAIT_MS = 3000, /* for pods */
    LOOK_US = 2000,
};

const char *registry_place(struct arena *a)
{
    struct passwd row;
    struct passwd *me = NULL;
    char text[1 << 14];

    if (geteuid() == 0)
        return "/var/lib/muster/servers";
    getpwuid_r(geteuid(), &row, text, sizeof(text), &me);
    if (me && me->pw_dir[0] == '/' && access(me->pw_dir, W_OK | X_OK) == 0)
        return arena_printf(a, "%s/.local/state/muster/servers", me->pw_dir).p;
    return arena_printf(a, "/var/tmp/.muster-%u", (unsigned)geteuid()).p; /* the user has no home */
}

/* Ours alone: what others could change, or read, is no such place. */
static int open_place(const char *place, struct err *e)
{
    struct stat s;

    if (sys_mkdirs(place, 0755) < 0)
        return err_sys(e, "make %s", place);
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "open %s", place);
    if (fstat(fd, &s) < 0 || s.st_uid != geteuid() || fchmod(fd, 0700) < 0) {
        close(fd);
        return err_set(e, ERR_FORBIDDEN, "%s belongs to another user", place);
    }
    return fd;
}

static bool is_entry(const char *name)
{
    return strchr(name, '.') && name[0] != '.';
}

/* ---- generations */

/* g with a number; 0: another file. */
static int64_t number_of(const char *name)
{
    int64_t n;

    return name[0] == 'g' && str_to_int(str_of(name + 1), &n) && n > 0 ? n : 0;
}

static DIR *list(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !d)
        close(fd);
    return d;
}

int64_t registry_generation(int dir)
{
    DIR *d = list(dir);
    int64_t newest = 1;

    for (struct dirent *at; d && (at = readdir(d));)
        if (number_of(at->d_name) > newest)
            newest = number_of(at->d_name);
    if (d)
        closedir(d);
    return newest;
}

static int open_generation(int dir, int64_t n, int flags)
{
    char name[32];

    snprintf(name, sizeof(name), "g%" PRId64, n);
    return openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

int registry_join(int dir, int64_t generation)
{
    int fd = open_generation(dir, generation, generation == 1 ? O_CREAT : 0);

    if (fd >= 0 && (flock(fd, LOCK_SH | LOCK_NB) < 0 || registry_generation(dir) != generation)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Those before the newest go when nobody is in them any more. 1: not all in time. */
static int wait_for_pods(int dir, int64_t newest)
{
    int64_t end = sys_tick_ms() + WAIT_MS;
    DIR *d = list(dir);
    int late = 0;

    for (struct dirent *at; d && (at = readdir(d));) {
        int64_t n = number_of(at->d_name);
        if (n == 0 || n >= newest)
            continue;
        AUTO(sys_fd) int fd = open_generation(dir, n, 0);
        while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && sys_tick_ms() < end)
            usleep(LOOK_US); /* a lock cannot be waited for until a time */
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
            late = 1;
        else
            unlinkat(dir, at->d_name, 0);
    }
    if (d)
        closedir(d);
    return late;
}

bool registry_has_pods(const char *place)
{
    AUTO(sys_fd) int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = dir < 0 ? NULL : list(dir);
    bool has = false;

    for (struct dirent *at; d && (at = readdir(d));) {
        int64_t n = number_of(at->d_name);
        AUTO(sys_fd) int fd = n ? open_generation(dir, n, 0) : -1;
        has = has || (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0);
    }
    if (d)
        closedir(d);
    return has;
}

/* ---- entries */

/* Of the path before, when another file was there, and of what there is no more. */
static void clear_old(int dir, const char *name, const char *path)
{
    DIR *d = list(dir);
    char target[PATH_MAX];

    for (struct dirent *at; d && (at = readdir(d));) {
        if (!is_entry(at->d_name) || strcmp(at->d_name, name) == 0)
            continue;
        ssize_t n = readlinkat(dir, at->d_name, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        if (n > 0 && (strcmp(target, path) == 0 || (access(target, F_OK) < 0 && errno == ENOENT)))
            unlinkat(dir, at->d_name, 0);
    }
    if (d)
        closedir(d);
}

struct entry {
    char name[64];
};

/* One file's: another at the same path has another name. */
static int entry_of(const char *path, struct entry *out)
{
    struct stat s;

    if (stat(path, &s) < 0)
        return -1;
    snprintf(out->name, sizeof(out->name), "%016" PRIx64 ".%" PRIx64 ".%" PRIx64,
             (uint64_t)str_hash(str_of(path)), (uint64_t)s.st_dev, (uint64_t)s.st_ino);
    return 0;
}

/* Whether it, or a directory above it, is hidden already. */
static bool is_known(int dir, const char *real)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    struct entry at;

    snprintf(path, sizeof(path), "%s", real);
    for (; *path; *strrchr(path, '/') = '\0') {
        ssize_t n =
            entry_of(path, &at) < 0 ? -1 : readlinkat(dir, at.name, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strcmp(target, path) == 0)
            return true;
    }
    return false;
}

int registry_add(const char *place, const char *path, struct err *e)
{
    AUTO(sys_fd) int dir = open_place(place, e);
    char real[PATH_MAX];
    struct entry new;

    if (dir < 0)
        return -1;
    if (!realpath(path, real) || entry_of(real, &new) < 0)
        return err_sys(e, "%s", path);
    if (is_known(dir, real))
        return 0;
    AUTO(sys_fd) int lock = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) < 0)
        return err_sys(e, "lock %s", place);
    int64_t next = registry_generation(dir) + 1;
    unlinkat(dir, new.name, 0);
    if (symlinkat(real, dir, new.name) < 0)
        return err_sys(e, "write to %s", place);
    clear_old(dir, new.name, real);
    AUTO(sys_fd) int now = open_generation(dir, next, O_CREAT);
    if (now < 0)
        return err_sys(e, "write to %s", place);
    return wait_for_pods(dir, next);
}

int registry_read(struct arena *a, const char *place, struct registry_list *out, struct err *e)
{
    AUTO(sys_fd) int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = dir < 0 ? NULL : list(dir);
    size_t cap = 0;
    char target[PATH_MAX];

    *out = (struct registry_list){ 0 };
    if (!d)
        return err_sys(e, "read %s", place);
    for (struct dirent *at; (at = readdir(d));) {
        ssize_t n =
            is_entry(at->d_name) ? readlinkat(dir, at->d_name, target, sizeof(target) - 1) : -1;
        if (n <= 0)
            continue;
        if (out->n == cap) {
            const char **more = ARENA_ARRAY(a, const char *, cap ? 2 * cap : 16);
            for (size_t i = 0; i < out->n; i++)
                more[i] = out->at[i];
            out->at = more;
            cap = cap ? 2 * cap : 16;
        }
        out->at[out->n++] = arena_z(a, (str){ target, (size_t)n });
    }
    closedir(d);
    return 0;
}
