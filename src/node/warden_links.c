/* Mount paths as symbolic links. A link that is there already with the same target is shared by the
 * containers of the pod; with another one, or any other file, it is somebody else's. */

#include "node/warden_links.h"

#include "base/buf.h"
#include "node/warden_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int note(const char *dir, const char *kind, const char *path)
{
    char file[PATH_MAX];

    snprintf(file, sizeof(file), "%s/links", dir);
    FILE *f = fopen(file, "ae");
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

/* Its missing parents, each noted. */
static int make_dirs(const char *dir, const char *path, bool last)
{
    char part[PATH_MAX];

    for (const char *p = path + 1;; p++) {
        if (*p != '/' && *p)
            continue;
        if (!*p && !last)
            return 0;
        snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
        if (access(part, F_OK) < 0) {
            if (strchr(part, '\n') || note(dir, "dir", part) < 0 || mkdir(part, 0755) < 0)
                return -1;
        }
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
        return strcmp(there, from) == 0 ? 0 : unsupported(e, to, "is a link to somewhere else");
    }
    if (errno != ENOENT)
        return unsupported(e, to, "exists");
    if (strchr(to, '\n') || make_dirs(dir, to, false) < 0 || note(dir, "link", to) < 0 ||
        symlink(from, to) < 0)
        return unsupported(e, to, strerror(errno));
    return 0;
}

static int make_mount(const struct warden_view *v, const struct warden_mount *m, struct err *e)
{
    char from[PATH_MAX];
    struct stat a;
    struct stat b;

    snprintf(from, sizeof(from), "%s%s%s", m->from, m->subpath ? "/" : "",
             m->subpath ? m->subpath : "");
    if (m->subpath && access(from, F_OK) < 0 && warden_mkdirs(from, 0755) < 0)
        return err_sys(e, "subPath %s", m->subpath);
    if (stat(from, &a) < 0)
        return err_sys(e, "mount %s on %s", from, m->to);
    if (stat(m->to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return 0; /* hostPath at its own place */
    return make_link(v->dir, from, m->to, e);
}

int warden_links_make(const struct warden_view *v, struct err *e)
{
    const struct warden_start *s = v->start;

    if (s->rootfs || v->sandbox->rootfs)
        return err_set(e, ERR_INVALID,
                       "VolumeMountUnsupported: /: an image's own files need --isolation "
                       "namespaces");
    for (size_t i = 0; i < v->sandbox->nmounts; i++)
        if (make_mount(v, &v->sandbox->mounts[i], e) < 0)
            return -1;
    for (size_t i = 0; i < s->nmounts; i++)
        if (make_mount(v, &s->mounts[i], e) < 0)
            return -1;
    if (s->cwd && make_dirs(v->dir, s->cwd, true) < 0)
        return err_sys(e, "make working directory %s", s->cwd);
    return 0;
}

static void remove_one(const char *line)
{
    struct stat s;

    if (strncmp(line, "dir ", 4) == 0)
        rmdir(line + 4); /* not when something is in it */
    else if (strncmp(line, "link ", 5) == 0 && lstat(line + 5, &s) == 0 && S_ISLNK(s.st_mode))
        unlink(line + 5);
}

/* Last made, first removed. */
void warden_links_remove(const char *dir)
{
    char path[PATH_MAX];
    struct stat s;

    snprintf(path, sizeof(path), "%s/links", dir);
    if (stat(path, &s) < 0 || s.st_size <= 0)
        return;
    char *text = malloc((size_t)s.st_size + 1);
    ssize_t n = text ? warden_get(AT_FDCWD, path, text, (size_t)s.st_size + 1) : -1;
    for (ssize_t at = n - 1; at >= 0; at--) {
        if (text[at] == '\n')
            text[at] = 0;
        if (at == 0 || text[at - 1] == '\n')
            remove_one(text + at);
    }
    free(text);
    unlink(path);
}
