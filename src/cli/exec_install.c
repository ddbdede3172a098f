/* A program of ours in somebody else's image finds none of its libraries there, or others of the
 * same name. So it brings along its own, and the loader that starts it with them. */

#include "cli/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY_FILES = 128 };

struct files {
    struct arena *a;
    const char *paths[MANY_FILES];
    size_t n;
    const char *loader; /* name of it; NULL: the program needs none */
};

static void fd_auto(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static int copy_file(const char *from, const char *to, struct err *e)
{
    __attribute__((cleanup(fd_auto))) int in = open(from, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (in < 0 || fstat(in, &st) < 0)
        return err_sys(e, "open %s", from);
    unlink(to); /* one that runs cannot be written */
    __attribute__((cleanup(fd_auto))) int out =
        open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (out < 0)
        return err_sys(e, "create %s", to);
    for (off_t at = 0; at < st.st_size;)
        if (sendfile(out, in, &at, (size_t)(st.st_size - at)) <= 0)
            return err_sys(e, "write %s", to);
    /* an umask is not ours to keep: whoever runs in the pod must be able to */
    return fchmod(out, 0755) < 0 ? err_sys(e, "chmod %s", to) : 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void add(struct files *f, const char *path)
{
    const char *name = base_name(path);

    if (f->n == MANY_FILES)
        return;
    f->paths[f->n++] = arena_z(f->a, str_of(path));
    if (strncmp(name, "ld-", 3) == 0)
        f->loader = base_name(f->paths[f->n - 1]);
}

/* By the names under which the loader looks for them. */
static int on_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    if (strchr(info->dlpi_name, '/'))
        add(ctx, info->dlpi_name);
    return 0;
}

static int write_start(const struct files *f, const char *dir, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/muster", dir).p;
    str text = arena_printf(a,
                            "#!/bin/sh\n"
                            "here=${0%%/*}\n"
                            "exec \"$here/lib/%s\" --library-path \"$here/lib\" "
                            "\"$here/lib/muster\" \"$@\"\n",
                            f->loader);
    __attribute__((cleanup(fd_auto))) int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

    if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || fchmod(fd, 0755) < 0)
        return err_sys(e, "write %s", path);
    return 0;
}

int exec_install(const char *dir, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct files f = { .a = a };
    const char *lib = arena_printf(a, "%s/lib", dir).p;

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return err_sys(e, "make %s", dir);
    if (client_load(e) < 0)
        return -1;
    dl_iterate_phdr(on_library, &f);
    if (!f.loader)
        return copy_file("/proc/self/exe", arena_printf(a, "%s/muster", dir).p, e);
    if (mkdir(lib, 0755) < 0 && errno != EEXIST)
        return err_sys(e, "make %s", lib);
    for (size_t i = 0; i < f.n; i++)
        if (copy_file(f.paths[i], arena_printf(a, "%s/%s", lib, base_name(f.paths[i])).p, e) < 0)
            return -1;
    if (copy_file("/proc/self/exe", arena_printf(a, "%s/muster", lib).p, e) < 0)
        return -1;
    return write_start(&f, dir, e);
}
