/* Overlays for roots. An overlay shows one file system: what is mounted below its lower directory
 * has to be put in place again, mount by mount. */

#include "node/warden_over.h"

#include "node/warden_sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of /: the system's. What a pod changes there is its own. */
static const char *const system_dirs[] = { "bin",    "boot", "etc",  "lib", "lib32", "lib64",
                                           "libx32", "opt",  "sbin", "usr", "var",   NULL };

static bool has(const char *const *list, str name)
{
    for (; *list; list++)
        if (str_eqz(name, *list))
            return true;
    return false;
}

/* Of characters that mount's options take as they are. */
static bool plain(const char *path)
{
    return !strpbrk(path, ",:\\\"");
}

/* An overlay over `lower` at the path `to`; its changes go below `at`, in directories by the
 * name. */
static int over(const char *lower, const char *to, const char *at, const char *name)
{
    char opts[4 * PATH_MAX];
    char dir[PATH_MAX];

    if (!plain(lower) || !plain(at))
        return -1;
    snprintf(dir, sizeof(dir), "%.3800s/.upper%s", at, name);
    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return -1;
    snprintf(dir, sizeof(dir), "%.3800s/.work%s", at, name);
    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return -1;
    for (int user = 0; user < 2; user++) {
        snprintf(opts, sizeof(opts), "lowerdir=%s,upperdir=%s/.upper%s,workdir=%s/.work%s%s", lower,
                 at, name, at, name, user ? ",userxattr" : "");
        if (mount("overlay", to, "overlay", 0, opts) == 0)
            return 0;
    }
    return -1;
}

int warden_over_root(struct warden_root *r, const char *lower, const char *at)
{
    char to[PATH_MAX];

    snprintf(to, sizeof(to), "%.4000s/.root", at);
    mkdirat(r->fd, ".root", 0755);
    int fd = over(lower, to, at, "") < 0 ? -1 : open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        unlinkat(r->fd, ".upper", AT_REMOVEDIR);
        unlinkat(r->fd, ".work", AT_REMOVEDIR);
        unlinkat(r->fd, ".root", AT_REMOVEDIR);
        return -1;
    }
    close(r->fd);
    r->fd = fd;
    warden_root_own(r, fd);
    return 0;
}

/* ---- what is mounted */

/* A mount point as /proc/self/mountinfo writes it: \040 for a space. */
static bool unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p; to++) {
        if (p[0] == '\\' && p[1] && p[2] && p[3]) {
            *to = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
            p += 4;
        } else {
            *to = *p++;
        }
    }
    *to = '\0';
    return text[0] == '/';
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static str first_part(const char *path)
{
    str rest = str_of(path + 1);

    return str_cut(&rest, '/');
}

/* One mount, with all below it; one of the system's own directories under an overlay, too. */
static int put_back(struct warden_root *r, const char *path, const char *at, struct err *e)
{
    char to[PATH_MAX];
    char name[NAME_MAX];
    str top = first_part(path);

    if (top.n + 1 == strlen(path)) {
        snprintf(to, sizeof(to), "/proc/self/fd/%d%.4000s", r->fd, path);
        snprintf(name, sizeof(name), ".%" PRI_STR, STR_ARG(top));
        if (over(path, to, at, name) == 0) {
            AUTO(warden_fd) int fd = open(to, O_PATH | O_CLOEXEC);
            warden_root_own(r, fd);
            return 0;
        }
    }
    if (warden_bind(AT_FDCWD, path, r->fd, path + 1) < 0 && errno != ENOENT && errno != EACCES)
        return err_sys(e, "mount %s", path);
    return 0;
}

/* Mounts come parents first. Below one that was bound, all is there; below one of our overlays,
 * nothing is. */
static int put_mounts_back(struct warden_root *r, const char *at, const char *dir, struct err *e)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t cap = 0;
    char last[PATH_MAX] = "";
    int rc = f ? 0 : err_sys(e, "open /proc/self/mountinfo");

    while (rc == 0 && getline(&line, &cap, f) > 0) {
        char path[PATH_MAX];
        if (sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1 || !unescape(path))
            continue;
        if (!has(system_dirs, first_part(path)) || is_below(path, dir) ||
            (last[0] && is_below(path, last)))
            continue;
        rc = put_back(r, path, at, e);
        if (first_part(path).n + 1 != strlen(path))
            snprintf(last, sizeof(last), "%s", path);
    }
    free(line);
    if (f)
        fclose(f);
    return rc;
}

int warden_over_rest(struct warden_root *r, const char *at, const char *dir,
                     const char *const *skip, struct err *e)
{
    int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = root < 0 ? NULL : fdopendir(root);

    if (!d)
        return err_sys(e, "open /");
    for (struct dirent *one; (one = readdir(d));) {
        struct stat s;
        if (one->d_name[0] == '.' || has(skip, str_of(one->d_name)) ||
            has(system_dirs, str_of(one->d_name)) ||
            fstatat(root, one->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(s.st_mode))
            continue;
        if (warden_bind(root, one->d_name, r->fd, one->d_name) < 0)
            fprintf(stderr, "bind /%s: %s\n", one->d_name, strerror(errno)); /* in warden.log */
    }
    closedir(d);
    return put_mounts_back(r, at, dir, e);
}
