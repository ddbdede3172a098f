/* Trees of files that pods have made: anything may be in them, and others may still write there. */

#include "node/warden_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directories that a pod has made unreadable are made readable first. */
static void remove_tree(int dir, const char *name, int depth)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
        fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *at; d && depth < 256 && (at = readdir(d));) {
        if (strcmp(at->d_name, ".") == 0 || strcmp(at->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, at->d_name, 0) == 0)
            continue;
        if (errno == EACCES && fchmod(fd, 0700) == 0 && unlinkat(fd, at->d_name, 0) == 0)
            continue;
        remove_tree(fd, at->d_name, depth + 1);
    }
    if (d)
        closedir(d);
    unlinkat(dir, name, AT_REMOVEDIR);
}

void warden_tree_remove(int dir, const char *name)
{
    remove_tree(dir, name, 0);
}

static int64_t tree_bytes(int dir, const char *name, int depth)
{
    struct stat st;

    if (depth > 256 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    int64_t sum = (int64_t)st.st_blocks * 512;
    int fd = S_ISDIR(st.st_mode)
                 ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): d is ours alone */
    for (struct dirent *at; d && (at = readdir(d));)
        if (strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0)
            sum += tree_bytes(fd, at->d_name, depth + 1);
    if (d)
        closedir(d);
    return sum;
}

int64_t warden_tree_bytes(const char *path)
{
    return tree_bytes(AT_FDCWD, path, 0);
}
