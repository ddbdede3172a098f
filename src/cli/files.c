/* See files.h. */

#include "cli/files.h"

#include "base/buf.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 * 1024 * 1024 };

static void push(struct files *f, const char *path, str shown)
{
    vec_push_in(f->a, f, (struct file_named){ path, shown });
}

static bool is_manifest(str name)
{
    return str_ends(name, S(".yaml")) || str_ends(name, S(".yml")) || str_ends(name, S(".json"));
}

static int by_name(const FTSENT **x, const FTSENT **y)
{
    return strcmp((*x)->fts_name, (*y)->fts_name);
}

static void fts_auto(FTS **t)
{
    if (*t)
        fts_close(*t);
}

static int add_dir(struct files *f, const char *dir, struct err *e)
{
    char *roots[] = { (char *)(uintptr_t)dir, NULL }; /* fts does not write to them */
    AUTO(fts) FTS *t = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    size_t before = f->n;

    if (!t)
        return err_sys(e, "read %s", dir);
    for (FTSENT *x; (x = fts_read(t));) {
        if (x->fts_info == FTS_DNR || x->fts_info == FTS_ERR || x->fts_info == FTS_NS) {
            errno = x->fts_errno;
            return err_sys(e, "read %s", x->fts_path);
        }
        if ((x->fts_info == FTS_F || x->fts_info == FTS_SL) && is_manifest(str_of(x->fts_name))) {
            str path = arena_str(f->a, str_of(x->fts_path));
            push(f, path.p, path);
        }
    }
    if (f->n == before)
        return err_set(e, ERR_NOT_FOUND, "%s has no *.yaml, *.yml or *.json in it", dir);
    return 0;
}

int files_add(struct files *f, const char *operand, struct err *e)
{
    struct stat st;

    if (strcmp(operand, "-") == 0) {
        push(f, NULL, S("<stdin>"));
        return 0;
    }
    if (stat(operand, &st) < 0)
        return err_sys(e, "cannot read %s", operand);
    if (S_ISDIR(st.st_mode))
        return add_dir(f, operand, e);
    push(f, operand, str_of(operand));
    return 0;
}

static void fd_auto(const int *fd)
{
    if (*fd > 0)
        close(*fd);
}

int files_read(const struct files *f, size_t i, str *out, struct err *e)
{
    const struct file_named *x = &f->at[i];
    AUTO(fd) int fd = x->path ? open(x->path, O_RDONLY | O_CLOEXEC) : 0;
    AUTO(buf) struct buf b = { 0 };

    if (fd < 0)
        return err_sys(e, "cannot read %s", x->path);
    for (;;) {
        ssize_t n = read(fd, buf_room(&b, 65536), 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, "cannot read %s", x->shown.p);
        if (n == 0)
            break;
        b.n += (size_t)n;
        if (b.n > FILE_MAX)
            return err_set(e, ERR_TOO_LARGE, "%s is larger than %d bytes", x->shown.p, FILE_MAX);
    }
    *out = arena_str(f->a, buf_str(&b));
    return 0;
}
