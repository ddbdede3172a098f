/* cgroup v1: a directory that is renamed; processes are moved by a word to cgroup.procs. */

#include "sandbox/spare.h"

#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "spare-"

static int enter(const char *dir)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    return sys_write_file(AT_FDCWD, path, "0");
}

static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = 0;
}

void spare_learn(struct spare_group *s, const char *group)
{
    if (!*group)
        return;
    snprintf(s->root, sizeof(s->root), "%s", group);
    cut_last(s->root);
}

/* Those of a nursery that was killed. */
static void sweep(const char *root)
{
    DIR *d = opendir(root);

    for (struct dirent *at; d && (at = readdir(d));)
        if (strncmp(at->d_name, PREFIX, strlen(PREFIX)) == 0)
            unlinkat(dirfd(d), at->d_name, AT_REMOVEDIR);
    if (d)
        closedir(d);
}

bool spare_is_wanted(const struct spare_group *s)
{
    return *s->root && (!*s->dir || s->taken);
}

void spare_renew(struct spare_group *s)
{
    char old[PATH_MAX];

    if (!s->made++)
        sweep(s->root);
    memcpy(old, s->dir, sizeof(old));
    snprintf(s->dir, sizeof(s->dir), "%.*s/" PREFIX "%u", (int)sizeof(s->dir) - 32, s->root,
             s->made);
    s->taken = false;
    if ((mkdir(s->dir, 0755) < 0 && errno != EEXIST) || enter(s->dir) < 0) {
        rmdir(s->dir);
        if (*old)
            _exit(1); /* a pod's group is no place to stay; the node starts another of us */
        *s->dir = *s->root = 0;
    }
    if (*old)
        rmdir(old); /* if its keeper died before it used it */
}

void spare_leave(const struct spare_group *s)
{
    char home[PATH_MAX];

    if (!*s->dir)
        return;
    memcpy(home, s->root, sizeof(home));
    cut_last(home);
    if (enter(home) < 0)
        fprintf(stderr, "leave %s: %m\n", s->dir);
    if (!s->taken)
        rmdir(s->dir); /* unless it is a pod's, or another is in it, who will */
}

bool spare_use(const struct spare_group *s, const char *group)
{
    return *s->dir && !s->taken && group && rename(s->dir, group) == 0;
}
