/* Overlays for roots. An overlay shows one file system: what is mounted below its lower directory
 * has to be put in place again, mount by mount. */

#include "sandbox/overlay.h"

#include "sandbox/mounttab.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of /: the system's. What a pod changes there is its own, and a socket there is nobody's: through
 * an overlay none is found, so that daemons in /run do no work for root's pods. */
static const char *const system_dirs[] = { "bin", "boot", "etc",  "lib", "lib32", "lib64", "libx32",
                                           "opt", "run",  "sbin", "usr", "var",   NULL };

static bool has(const char *const *list, str name)
{
    for (; *list; list++)
        if (str_eqz(name, *list))
            return true;
    return false;
}

void warden_overlay_init(struct warden_overlay *o, int place, bool disk)
{
    char path[64];

    *o = (struct warden_overlay){ .place = place, .disk = disk };
    snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
    o->user =
        setxattr(path, "trusted.muster", "", 0, 0) < 0; /* what overlays keep their notes in */
    if (!o->user)
        removexattr(path, "trusted.muster");
}

void warden_overlay_envs(struct warden_overlay *o, const struct warden_list *env)
{
    static const char *const names[COUNT(o->envs)] = { "VIRTUAL_ENV=", "CONDA_PREFIX=" };
    static char paths[COUNT(names)][PATH_MAX];

    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < env->n; k++)
            if (str_starts(str_of(env->at[k]), str_of(names[i])) &&
                realpath(env->at[k] + strlen(names[i]), paths[i]) && strcmp(paths[i], "/") != 0)
                o->envs[i] = paths[i];
}

void warden_overlay_done(struct warden_overlay *o)
{
    if (o->place >= 0)
        close(o->place);
    o->place = -1;
}

/* A directory for one overlay; that of changes is what is seen of the lower one itself. */
static int make(const struct warden_overlay *o, const char *name, const struct stat *like)
{
    if (mkdirat(o->place, name, 0700) < 0 && errno != EEXIST)
        return -1;
    if (like && fchownat(o->place, name, like->st_uid, like->st_gid, 0) < 0)
        (void)errno; /* an ordinary user's view: then it is his */
    return like ? fchmodat(o->place, name, like->st_mode & 07777, 0) : 0;
}

/* What a lower directory says of others is not followed; kernels from 4.16 on can be told so. */
static int mount_overlay(const char *at, const char *opts)
{
    char strict[320];

    snprintf(strict, sizeof(strict), "%s,redirect_dir=nofollow", opts);
    int rc = mount("overlay", at, "overlay", 0, strict);
    return rc < 0 && errno == EINVAL ? mount("overlay", at, "overlay", 0, opts) : rc;
}

/* For who looks at the changes later. */
static void note_path(const struct warden_overlay *o, size_t i, int lower, const char *as)
{
    char path[PATH_MAX];
    char name[24];

    if (!as && mount_path_of_fd(lower, path, sizeof(path)) < 0)
        return;
    snprintf(name, sizeof(name), "%zu.of", i);
    AUTO(sys_fd) int fd = openat(o->place, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const char *text = as ? as : path;
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        unlinkat(o->place, name, 0); /* then nobody is told of them */
}

int warden_overlay_dir(struct warden_overlay *o, int lower, int to, const char *as)
{
    char opts[256];
    char names[2][16];
    char at[64];
    struct stat s;

    snprintf(names[0], sizeof(names[0]), "%zu", o->tried);
    snprintf(names[1], sizeof(names[1]), "%zu.work", o->tried++);
    if (o->place < 0 || o->n == COUNT(o->shown) || fstat(lower, &s) < 0 ||
        make(o, names[0], &s) < 0 || make(o, names[1], NULL) < 0)
        return -1;
    AUTO(sys_fd) int upper = openat(o->place, names[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->user && !as && upper >= 0)
        warden_overlay_groups(lower, upper);
    /* By descriptors: no character of a path has a meaning of its own. */
    snprintf(
        opts, sizeof(opts),
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d/%s,workdir=/proc/self/fd/%d/%s%s%s",
        lower, o->place, names[0], o->place, names[1], o->user ? ",userxattr" : "",
        o->disk ? ",volatile" : "");
    snprintf(at, sizeof(at), "/proc/self/fd/%d", to);
    if (mount_overlay(at, opts) < 0)
        return -1;
    note_path(o, o->tried - 1, lower, as);
    o->shown[o->n++] = warden_mount_id(lower);
    return 0;
}

int warden_overlay_root(struct warden_overlay *o, struct warden_root *r, const char *lower,
                        const char *at)
{
    char to[PATH_MAX];
    AUTO(sys_fd) int from = open(lower, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(sys_fd) int on = -1;

    snprintf(to, sizeof(to), "%.4000s/.root", at);
    mkdirat(r->fd, ".root", 0755);
    on = open(to, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = from < 0 || on < 0 || warden_overlay_dir(o, from, on, "/") < 0
                 ? -1
                 : open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
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

static bool is_home(const struct warden_overlay *o, const struct warden_view *v, const char *path)
{
    for (size_t i = 0; i < v->sandbox->homes.n; i++)
        if (is_below(path, v->sandbox->homes.at[i]))
            return true;
    for (size_t i = 0; i < COUNT(o->envs); i++)
        if (o->envs[i] && is_below(path, o->envs[i]))
            return true;
    return false;
}

static bool is_shown(const struct warden_overlay *o, uint64_t mount)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->shown[i] == mount)
            return true;
    return false;
}

/* What is at the path on this machine is there in the root, too: through an overlay if it can be,
 * and else as it is, with all that is mounted below it. 1: the latter. */
static int show(struct warden_overlay *o, struct warden_root *r, const char *path, bool over)
{
    AUTO(sys_fd) int from = open(path, O_PATH | O_CLOEXEC);
    AUTO(sys_fd) int to = warden_root_find(r, path);

    if (from < 0 || to < 0)
        return 0;
    bool ours = warden_root_is_ours(r, to);
    if (ours && is_shown(o, warden_mount_id(from)))
        return 0;
    if (over && warden_overlay_dir(o, from, to, NULL) == 0) {
        AUTO(sys_fd) int top = warden_root_find(r, path);
        warden_root_own(r, top);
        return 0;
    }
    if (ours && warden_bind_fd(from, to) < 0)
        fprintf(stderr, "bind %s: %s\n", path, strerror(errno)); /* in warden.log */
    return 1;
}

/* Mounts come parents first. Below one that was bound, all is there; below one of our overlays,
 * nothing is. */
static int show_mounts(struct warden_overlay *o, struct warden_root *r, const struct warden_view *v,
                       bool homes, struct err *e)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t cap = 0;
    char last[PATH_MAX] = "";

    while (f && getline(&line, &cap, f) > 0) {
        char path[PATH_MAX];
        if (sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1 || !unescape(path))
            continue;
        str top = first_part(path);
        if (!(homes ? is_home(o, v, path) : has(system_dirs, top)) || is_below(path, v->dir) ||
            (last[0] && is_below(path, last)))
            continue;
        if (show(o, r, path, homes || top.n + 1 == strlen(path)) > 0)
            snprintf(last, sizeof(last), "%s", path);
    }
    free(line);
    if (!f)
        return err_sys(e, "open /proc/self/mountinfo");
    fclose(f);
    return 0;
}

int warden_overlay_rest(struct warden_overlay *o, struct warden_root *r,
                        const struct warden_view *v, const char *const *skip, struct err *e)
{
    int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = root < 0 ? NULL : fdopendir(root);

    if (!d)
        return err_sys(e, "open /");
    for (struct dirent *one; (one = readdir(d));) {
        char path[NAME_MAX + 2];
        struct stat s;
        snprintf(path, sizeof(path), "/%s", one->d_name);
        if (one->d_name[0] == '.' || has(skip, str_of(one->d_name)) ||
            has(system_dirs, str_of(one->d_name)) || is_home(o, v, path) ||
            fstatat(root, one->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(s.st_mode))
            continue;
        if (warden_bind(root, one->d_name, r->fd, one->d_name) < 0)
            fprintf(stderr, "bind /%s: %s\n", one->d_name, strerror(errno)); /* in warden.log */
    }
    closedir(d);
    return show_mounts(o, r, v, false, e);
}

void warden_overlay_tmp(struct warden_overlay *o, struct warden_root *r,
                        const struct warden_view *v)
{
    bool lived_in = false;

    for (size_t i = 0; i < v->sandbox->homes.n; i++)
        lived_in |= is_below(v->sandbox->homes.at[i], WARDEN_VAR_TMP);
    for (size_t i = 0; i < COUNT(o->envs); i++)
        lived_in |= o->envs[i] && is_below(o->envs[i], WARDEN_VAR_TMP);
    size_t before = o->n;
    o->real_tmp = show(o, r, WARDEN_VAR_TMP, true) > 0 && !lived_in;
    /* A home in it gets one of its own: through this one, nothing can be changed below directories
     * of users that do not exist in a user namespace. */
    o->n = before;
}

int warden_overlay_homes(struct warden_overlay *o, struct warden_root *r,
                         const struct warden_view *v, struct err *e)
{
    bool any = false;

    for (size_t i = 0; i < v->sandbox->homes.n; i++)
        any |= show(o, r, v->sandbox->homes.at[i], true) == 0;
    for (size_t i = 0; i < COUNT(o->envs); i++)
        any |= o->envs[i] && show(o, r, o->envs[i], true) == 0;
    /* An ordinary user's overlay has nothing mounted below it: the kernel sees to that. */
    return any && geteuid() == 0 ? show_mounts(o, r, v, true, e) : 0;
}
