/* A program of ours in somebody else's image finds none of its libraries there, or others of the
 * same name. So it brings along its own, and the loader that starts it with them. */

#include "cli/exec.h"

#include "sys/self.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY_FILES = 128 };

struct file {
    const char *from;
    const char *name;
};

struct files {
    struct arena *a;
    struct file files[MANY_FILES];
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
    bool is_loader = strncmp(name, "ld-", 3) == 0;

    if (f->n == MANY_FILES)
        return;
    if (is_loader)
        f->loader = arena_z(f->a, str_of(name));
    /* A loader that was started as a program has the name that the program asks for, not its own.
     */
    f->files[f->n++] = (struct file){
        .from = is_loader && sys_self()->is_bundled ? SYS_SELF_EXE : arena_z(f->a, str_of(path)),
        .name = arena_z(f->a, str_of(name)),
    };
}

/* By the names under which the loader looks for them. */
static int on_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    if (strchr(info->dlpi_name, '/'))
        add(ctx, info->dlpi_name);
    return 0;
}

/* In a pod LD_PRELOAD names a library by its name alone, to be found in LD_LIBRARY_PATH. */
static int write_start(const struct files *f, const char *dir, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/muster", dir).p;
    str text = arena_printf(a,
                            "#!/bin/sh\n"
                            "self=$0\n"
                            "[ ! -L \"$self\" ] || self=$(readlink -f \"$self\")\n"
                            "case $self in */*) ;; *) self=./$self ;; esac\n"
                            "here=${self%%/*}\n"
                            "exec \"$here/lib/%s\" --library-path "
                            "\"$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" "
                            "\"$here/lib/muster\" \"$@\"\n",
                            f->loader);
    __attribute__((cleanup(fd_auto))) int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

    if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || fchmod(fd, 0755) < 0)
        return err_sys(e, "write %s", path);
    return 0;
}

/* What libraries load at run time, some from threads that end, and what preloaded ones may need: of
 * another C library these would not fit. Not all systems have all of them. */
static void load_others(void)
{
    static const char *const names[] = { "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0",
                                         "librt.so.1" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
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
    load_others();
    dl_iterate_phdr(on_library, &f);
    if (!f.loader)
        return copy_file(sys_self()->program, arena_printf(a, "%s/muster", dir).p, e);
    if (mkdir(lib, 0755) < 0 && errno != EEXIST)
        return err_sys(e, "make %s", lib);
    for (size_t i = 0; i < f.n; i++)
        if (copy_file(f.files[i].from, arena_printf(a, "%s/%s", lib, f.files[i].name).p, e) < 0)
            return -1;
    if (copy_file(sys_self()->program, arena_printf(a, "%s/muster", lib).p, e) < 0)
        return -1;
    return write_start(&f, dir, e);
}
