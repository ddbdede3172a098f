/* One directory is open at a time; the way back is "..", taken only if it leads where we came from,
 * as somebody may have moved it. Names still to be looked at are on a stack, which is all that
 * grows with the depth: paths could get too long, and recursion has an end. */

#include "sys/tree.h"

#include "base/buf.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TO_READ = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    TO_PASS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, /* enough for names in it */
    WALKS = 4,
    STEPS = 256, /* between looks at is_over */
};

struct level {
    dev_t dev;
    ino_t ino;
    size_t names; /* where those of its directories begin */
};

struct walk {
    bool removes;
    bool (*is_over)(void *ctx); /* may be NULL */
    void *ctx;
    size_t steps;
    bool over;
    int base; /* what the top is in */
    int fd;   /* of the last level */
    int error;
    int64_t bytes;
    struct buf names; /* each with its NUL; a level's directories above its own */
    struct {
        VEC(struct level);
    } in;
};

/* Kernels and sandboxes without openat2 see other file systems by their numbers only. */
static int open_dir(int dir, const char *name, int flags)
{
    struct open_how how = { .flags = (uint64_t)flags,
                            .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };
    int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));

    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? openat(dir, name, flags) : fd;
}

/* By its descriptor, as the name may be a link by now. */
static int open_by_force(int dir, const char *name)
{
    int at = open_dir(dir, name, TO_PASS), fd = -1;
    char self[32];

    if (at < 0)
        return -1;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
    if (chmod(self, 0700) == 0)
        fd = openat(at, ".", TO_READ);
    close(at);
    return fd;
}

static bool is_at(int dir, const char *name, const struct level *at)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == at->dev &&
           st.st_ino == at->ino;
}

static void move_to(struct walk *w, int fd)
{
    if (w->fd != w->base)
        close(w->fd);
    w->fd = fd;
}

/* The first failure is what is told: others follow from it. */
static void fail(struct walk *w, int error)
{
    if (!w->error)
        w->error = error;
}

static bool has_to_stop(struct walk *w)
{
    if (w->is_over && !w->over && ++w->steps % STEPS == 0)
        w->over = w->is_over(w->ctx);
    return w->over;
}

/* ---- one directory */

/* Whether it may be a directory. */
static bool look(struct walk *w, const struct dirent *at)
{
    struct stat st;

    if (!w->removes) {
        if (fstatat(w->fd, at->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return false;
        w->bytes += (int64_t)st.st_blocks * 512;
        return S_ISDIR(st.st_mode);
    }
    if (at->d_type == DT_DIR)
        return true;
    if (unlinkat(w->fd, at->d_name, 0) == 0 || errno == ENOENT)
        return false;
    if (errno == EISDIR || at->d_type == DT_UNKNOWN)
        return true;
    fail(w, errno);
    return false;
}

static void read_all(struct walk *w)
{
    int fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d) {
        fail(w, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *at; !has_to_stop(w) && (at = readdir(d));) {
        if (strcmp(at->d_name, ".") == 0 || strcmp(at->d_name, "..") == 0 || !look(w, at))
            continue;
        buf_add(&w->names, str_of(at->d_name));
        buf_addc(&w->names, '\0');
    }
    closedir(d);
}

/* Goes into a directory that there is a way back from, and reads it. */
static bool enter(struct walk *w, const char *name)
{
    const struct level *above = w->in.n ? &w->in.at[w->in.n - 1] : NULL;
    int fd = open_dir(w->fd, name, TO_READ);
    struct stat st;

    if (fd < 0 && errno == EACCES && w->removes)
        fd = open_by_force(w->fd, name);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) < 0)
        goto refused;
    if (w->removes && (st.st_mode & 0700) != 0700)
        fchmod(fd, 0700); /* if it is not ours, what follows tells */
    errno = EXDEV;
    if (above && (st.st_dev != above->dev || !is_at(fd, "..", above)))
        goto refused;
    vec_push(&w->in, (struct level){ st.st_dev, st.st_ino, w->names.n });
    move_to(w, fd);
    read_all(w);
    return true;
refused:
    close(fd);
    return false;
}

static bool leave(struct walk *w)
{
    bool first = --w->in.n == 0;
    int up = first ? w->base : open_dir(w->fd, "..", TO_PASS);

    if (up < 0)
        return false;
    move_to(w, up);
    return first || is_at(up, ".", &w->in.at[w->in.n - 1]);
}

/* ---- all of them */

static const char *last_name(const struct walk *w)
{
    const char *z = memrchr(w->names.p, '\0', w->names.n - 1);

    return z ? z + 1 : w->names.p;
}

/* why: it was not gone into. */
static void done_with(struct walk *w, int why)
{
    const char *name = last_name(w);

    if (w->removes && unlinkat(w->fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        fail(w, why ? why : errno);
    w->names.n = (size_t)(name - w->names.p);
}

static void walk(struct walk *w, const char *top)
{
    w->fd = w->base;
    w->error = 0;
    w->in.n = 0;
    buf_clear(&w->names);
    buf_add(&w->names, str_of(top));
    buf_addc(&w->names, '\0');
    while (w->names.n && !has_to_stop(w)) {
        if (w->names.n > (w->in.n ? w->in.at[w->in.n - 1].names : 0)) {
            if (!enter(w, last_name(w)))
                done_with(w, errno);
        } else if (leave(w)) {
            done_with(w, 0);
        } else {
            fail(w, ESTALE); /* no way back */
            break;
        }
    }
    move_to(w, w->base);
}

/* Opens what name is in, and leaves its last part. */
static int open_base(int dir, const char *name, struct buf *last)
{
    str rest = str_of(name);

    while (rest.n > 1 && rest.p[rest.n - 1] == '/')
        rest.n--;
    const char *slash = memrchr(rest.p, '/', rest.n);
    size_t above = slash ? (size_t)(slash - rest.p) + 1 : 0;
    AUTO(buf) struct buf path = { 0 };

    buf_add(&path, above ? (str){ rest.p, above } : S("."));
    buf_addc(&path, '\0');
    buf_add(last, (str){ rest.p + above, rest.n - above });
    buf_addc(last, '\0');
    return openat(dir, path.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int tree_remove(int dir, const char *name, struct err *e)
{
    return tree_remove_until(dir, name, NULL, NULL, e);
}

int tree_remove_until(int dir, const char *name, bool (*is_over)(void *ctx), void *ctx,
                      struct err *e)
{
    AUTO(buf) struct buf top = { 0 };
    struct walk w = {
        .removes = true, .is_over = is_over, .ctx = ctx, .base = open_base(dir, name, &top)
    };

    if (w.base < 0)
        return errno == ENOENT ? 0 : err_sys(e, "remove %s", name);
    if (unlinkat(w.base, top.p, 0) < 0 && errno != ENOENT) {
        int why = errno;
        w.error = EAGAIN;
        for (int i = 0; i < WALKS && w.error && !w.over; i++) /* somebody may write there */
            walk(&w, top.p);
        if (w.error == ENOTDIR || w.error == ELOOP)
            w.error = why;
    }
    buf_done(&w.names);
    vec_done(&w.in);
    close(w.base);
    errno = w.error;
    return w.error && !w.over ? err_sys(e, "remove %s", name) : 0;
}

int64_t tree_bytes(const char *path)
{
    AUTO(buf) struct buf top = { 0 };
    struct walk w = { .base = open_base(AT_FDCWD, path, &top) };
    struct stat st;

    if (w.base < 0)
        return 0;
    if (fstatat(w.base, top.p, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        w.bytes = (int64_t)st.st_blocks * 512;
        walk(&w, top.p);
    }
    buf_done(&w.names);
    vec_done(&w.in);
    close(w.base);
    return w.bytes;
}

int tree_make(struct arena *a, const char *path, mode_t mode, struct err *e)
{
    char *p = (char *)(uintptr_t)arena_str(a, str_of(path)).p;
    int rc = mkdir(p, mode);

    if (rc < 0 && errno == ENOENT) {
        for (char *s = p + 1; (s = strchr(s, '/')); *s++ = '/') {
            *s = '\0';
            if (mkdir(p, 0755) < 0 && errno != EEXIST)
                return err_sys(e, "mkdir %s", p);
        }
        rc = mkdir(p, mode);
    }
    if (rc < 0)
        return errno == EEXIST ? 0 : err_sys(e, "mkdir %s", p);
    chmod(p, mode); /* whatever the umask is */
    return 0;
}
