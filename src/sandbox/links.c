/* Mount paths as symbolic links. A link that is there already with the same target is shared by the
 * pods that have noted it, and goes with the last; with another target, or any other file, it is
 * somebody else's. */

#include "sandbox/links.h"

#include "base/buf.h"
#include "sandbox/mount.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pods' wardens make and remove links one at a time. Gives a descriptor; its closing unlocks. */
static int lock_links(const char *dir)
{
    char pods[PATH_MAX];
    int fd;

    snprintf(pods, sizeof(pods), "%.4000s/..", dir);
    fd = open(pods, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
        ;
    return fd;
}

static int note(const char *dir, const char *kind, const char *path)
{
    char file[PATH_MAX];

    snprintf(file, sizeof(file), "%s/links", dir);
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "a");
    if (!f)
        return -1;
    fprintf(f, "%s %s\n", kind, path);
    return fclose(f);
}

static int unsupported(struct err *e, const char *path, const char *why)
{
    return err_set(e, ERR_INVALID,
                   "VolumeMountUnsupported: %s: %s; without namespaces a mount path is a link on "
                   "this machine (--isolation namespaces gives each pod its own)",
                   path, why);
}

static bool has_line(const char *path, const char *line)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t cap = 0;
    bool found = false;

    while (f && !found && getline(&text, &cap, f) > 0)
        found = strcmp(text, line) == 0;
    free(text);
    if (f)
        fclose(f);
    return found;
}

/* Whether another pod beside dir has made it, or uses it. */
static bool is_noted_by_others(const char *dir, const char *kind, const char *path)
{
    char line[PATH_MAX + 8];
    char pods[PATH_MAX];
    const char *own = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir;
    bool found = false;

    snprintf(line, sizeof(line), "%s %s\n", kind, path);
    snprintf(pods, sizeof(pods), "%.4000s/..", dir);
    DIR *d = opendir(pods);
    for (struct dirent *at; d && !found && (at = readdir(d));) {
        char file[2 * PATH_MAX];
        if (at->d_name[0] == '.' || strcmp(at->d_name, own) == 0)
            continue;
        snprintf(file, sizeof(file), "%s/%s/links", pods, at->d_name);
        found = has_line(file, line);
    }
    if (d)
        closedir(d);
    return found;
}

/* Its missing parents, each noted; so are those that other pods have made. */
static int make_dirs(const char *dir, const char *path, bool last)
{
    char part[PATH_MAX];

    for (const char *p = path + 1;; p++) {
        if (*p != '/' && *p)
            continue;
        if (!*p && !last)
            return 0;
        snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
        bool there = access(part, F_OK) == 0;
        if (!there && (strchr(part, '\n') || note(dir, "dir", part) < 0 || mkdir(part, 0755) < 0))
            return -1;
        if (there && is_noted_by_others(dir, "dir", part) && note(dir, "dir", part) < 0)
            return -1;
        if (!*p)
            return 0;
    }
}

static int make_link(const char *dir, const char *from, const char *to, struct err *e)
{
    char there[PATH_MAX];
    ssize_t n = readlink(to, there, sizeof(there) - 1);

    if (n >= 0) {
        there[n] = 0;
        if (strcmp(there, from) != 0)
            return unsupported(e, to, "is a link to somewhere else");
        if (is_noted_by_others(dir, "link", to) &&
            (make_dirs(dir, to, false) < 0 || note(dir, "link", to) < 0))
            return err_sys(e, "note %s", to);
        return 0;
    }
    if (errno != ENOENT)
        return unsupported(e, to, "exists");
    if (strchr(to, '\n') || make_dirs(dir, to, false) < 0 || note(dir, "link", to) < 0 ||
        symlink(from, to) < 0)
        return unsupported(e, to, strerror(errno));
    return 0;
}

/* Made when it is missing, and within the volume. */
static int check_subpath(const struct warden_mount *m, struct err *e)
{
    AUTO(sys_fd) int whole = open(m->from, O_PATH | O_CLOEXEC);
    AUTO(sys_fd) int part = whole < 0 ? -1 : warden_beneath(whole, m->subpath, e);

    return whole < 0 ? err_sys(e, "open %s", m->from) : part < 0 ? -1 : 0;
}

static int make_mount(const struct warden_view *v, const struct warden_mount *m, struct buf *moves,
                      struct err *e)
{
    struct err why = { 0 };
    char from[PATH_MAX];
    struct stat a;
    struct stat b;

    snprintf(from, sizeof(from), "%s%s%s", m->from, m->subpath ? "/" : "",
             m->subpath ? m->subpath : "");
    if (m->subpath && check_subpath(m, e) < 0)
        return err_wrap(e, "mount %s on %s", m->from, m->to);
    if (stat(from, &a) < 0)
        return err_sys(e, "mount %s on %s", from, m->to);
    if (stat(m->to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
        !is_noted_by_others(v->dir, "link", m->to))
        return 0; /* hostPath at its own place */
    if (make_link(v->dir, from, m->to, &why) == 0)
        return 0;
    /* Nobody's, or another pod's: what is only read can be had by the preload library. */
    bool free = lstat(m->to, &b) < 0 ? errno == ENOENT : S_ISLNK(b.st_mode);
    if (!m->ro || !v->sandbox->preload || !free) {
        if (e)
            *e = why;
        return -1;
    }
    buf_printf(moves, "%s\n%s\n", m->to, from);
    return 0;
}

int warden_links_make(const struct warden_view *v, struct buf *moves, struct err *e)
{
    const struct warden_start *s = v->start;

    if (s->rootfs)
        return err_set(e, ERR_INVALID,
                       "VolumeMountUnsupported: /: an image's own files need --isolation "
                       "namespaces");
    AUTO(sys_fd) int lock = lock_links(v->dir);
    for (size_t i = 0; i < v->sandbox->nmounts; i++)
        if (make_mount(v, &v->sandbox->mounts[i], moves, e) < 0)
            return -1;
    for (size_t i = 0; i < s->nmounts; i++)
        if (make_mount(v, &s->mounts[i], moves, e) < 0)
            return -1;
    if (s->cwd && make_dirs(v->dir, s->cwd, true) < 0)
        return err_sys(e, "make working directory %s", s->cwd);
    return 0;
}

/* What others use is left to the last of them. */
static void remove_one(const char *dir, const char *line)
{
    bool link = strncmp(line, "link ", 5) == 0;
    const char *path = line + (link ? 5 : 4);
    struct stat s;

    if ((!link && strncmp(line, "dir ", 4) != 0) ||
        is_noted_by_others(dir, link ? "link" : "dir", path))
        return;
    if (!link)
        rmdir(path); /* not when something is in it */
    else if (lstat(path, &s) == 0 && S_ISLNK(s.st_mode))
        unlink(path);
}

/* Last made, first removed. */
void warden_links_remove(const char *dir)
{
    char path[PATH_MAX];
    struct stat s;

    AUTO(sys_fd) int lock = lock_links(dir);
    snprintf(path, sizeof(path), "%s/links", dir);
    if (stat(path, &s) < 0 || s.st_size <= 0)
        return;
    char *text = malloc((size_t)s.st_size + 1);
    ssize_t n = text ? sys_read_file(AT_FDCWD, path, text, (size_t)s.st_size + 1) : -1;
    for (ssize_t at = n - 1; at >= 0; at--) {
        if (text[at] == '\n')
            text[at] = 0;
        if (at == 0 || text[at - 1] == '\n')
            remove_one(dir, text + at);
    }
    free(text);
    unlink(path);
}
