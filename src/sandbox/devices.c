/* A tmpfs with links and with binds of single device nodes of this machine. The tmpfs, as every
 * other mount of a container, is nodev, so a node that a program makes itself opens nothing. */

#include "sandbox/devices.h"

#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEV_BYTES = 64 << 20 }; /* as container engines have it */

static const char *const usual[] = { "null", "zero", "full", "random", "urandom", "tty" };
/* Made here, or of a file system of the container's own. */
static const char *const made[] = { "fd",  "stdin", "stdout", "stderr", "ptmx",
                                    "pts", "shm",   "mqueue", "core",   "console" };

static void bind_device(int from, int to, const char *name)
{
    struct stat s;
    const char *slash = strchr(name, '/');
    char dir[NAME_MAX + 1];

    if (fstatat(from, name, &s, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(s.st_mode))
        return;
    if (slash) { /* nvidia-caps/nvidia-cap1 */
        snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
        mkdirat(to, dir, 0755);
    }
    if (S_ISDIR(s.st_mode)) {
        mkdirat(to, name, 0755);
    } else {
        int fd = openat(to, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0)
            close(fd);
    }
    warden_bind(from, name, to, name);
}

static bool is_made(const char *name)
{
    for (size_t i = 0; i < COUNT(made); i++)
        if (strcmp(name, made[i]) == 0)
            return true;
    return false;
}

static int bind_every(int from, int to, struct err *e)
{
    int again = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);

    if (!d)
        return err_sys(e, "read /dev");
    for (struct dirent *at; (at = readdir(d));)
        if (at->d_name[0] != '.' && !is_made(at->d_name))
            bind_device(from, to, at->d_name);
    closedir(d);
    return 0;
}

static int bind_devices(const struct warden_view *v, int to, struct err *e)
{
    const struct warden_list *own = &v->sandbox->devices;
    AUTO(sys_fd) int from = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (from < 0)
        return err_sys(e, "open /dev");
    if (v->start->privileged)
        return bind_every(from, to, e);
    for (size_t i = 0; i < COUNT(usual); i++)
        bind_device(from, to, usual[i]);
    for (size_t i = 0; i < own->n; i++)
        bind_device(from, to, own->at[i]);
    return 0;
}

int warden_devices(struct warden_root *r, const struct warden_view *v, struct err *e)
{
    static const char *const links[][2] = { { "/proc/self/fd", "fd" },
                                            { "/proc/self/fd/0", "stdin" },
                                            { "/proc/self/fd/1", "stdout" },
                                            { "/proc/self/fd/2", "stderr" },
                                            { "pts/ptmx", "ptmx" } };
    char path[PATH_MAX];
    char here[64];
    /* In memory: on an overlay each of these would be made twice. */
    AUTO(sys_fd) int to = warden_tmpfs_on(r->fd, "dev", DEV_BYTES, 0755, e);

    if (to < 0 || bind_devices(v, to, e) < 0)
        return -1;
    warden_root_own(r, to);
    for (size_t i = 0; i < COUNT(links); i++)
        symlinkat(links[i][0], to, links[i][1]);
    mkdirat(to, "pts", 0755);
    mkdirat(to, "shm", 01777);
    mkdirat(to, "mqueue", 0755);
    snprintf(here, sizeof(here), "/proc/self/fd/%d/pts", to);
    if (mount("devpts", here, "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") < 0)
        return err_sys(e, "mount /dev/pts");
    snprintf(here, sizeof(here), "/proc/self/fd/%d/mqueue", to);
    mount("mqueue", here, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL); /* may be missing */
    snprintf(path, sizeof(path), "%s/mnt/shm", v->dir);
    if (warden_bind(AT_FDCWD, path, to, "shm") < 0)
        return err_sys(e, "mount /dev/shm");
    return 0;
}
