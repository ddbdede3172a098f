/* Directories in a home that belong to a group of the user, other than the first: only the first is
 * in the user's namespace. An overlay cannot copy a directory whose owners its namespace does not
 * know (EOVERFLOW), so nothing could be created in it. A directory of the same name in the upper
 * layer, made before the overlay is mounted, is merged with it and needs no copy. */

#include "sandbox/overlay.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Homes can be large: how deep, and at how many entries, a container's start looks. */
enum { DEPTH = 3, ENTRIES = 4000, UNKNOWN_ID = 65534 };

struct shared {
    int lower;
    int upper;
    int left; /* of ENTRIES */
};

/* The directory and those above it, with the modes that they have below. */
static void make(const struct shared *s, const char *path)
{
    char part[PATH_MAX];
    struct stat st;

    for (const char *p = path; p; p = strchr(p + 1, '/')) {
        const char *end = strchr(p + 1, '/');
        snprintf(part, sizeof(part), "%.*s", end ? (int)(end - path) : PATH_MAX - 1, path);
        if (fstatat(s->lower, part, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            (mkdirat(s->upper, part, 0700) < 0 && errno != EEXIST) ||
            fchmodat(s->upper, part, (st.st_mode & 07777) | 0700, 0) < 0)
            return;
    }
}

static bool is_shared(const struct shared *s, const char *path, const struct stat *st)
{
    return (st->st_gid == UNKNOWN_ID || st->st_uid == UNKNOWN_ID) &&
           faccessat(s->lower, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0;
}

static void walk(struct shared *s, const char *path, int depth)
{
    int fd = openat(s->lower, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *at; s->left > 0 && (at = readdir(d));) {
        char next[PATH_MAX];
        struct stat st;
        s->left--;
        if (at->d_name[0] == '.' || (at->d_type != DT_DIR && at->d_type != DT_UNKNOWN) ||
            snprintf(next, sizeof(next), "%s%s%s", depth ? path : "", depth ? "/" : "",
                     at->d_name) >= (int)sizeof(next) ||
            fstatat(s->lower, next, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
            continue;
        if (is_shared(s, next, &st))
            make(s, next);
        if (depth + 1 < DEPTH)
            walk(s, next, depth + 1);
    }
    closedir(d);
}

void warden_overlay_groups(int lower, int upper)
{
    gid_t groups[1024];
    int n = getgroups(COUNT(groups), groups);
    struct shared s = { .lower = lower, .upper = upper, .left = ENTRIES };
    bool others = n < 0; /* more than that */

    for (int i = 0; i < n; i++)
        others |= groups[i] == UNKNOWN_ID;
    if (others)
        walk(&s, ".", 0);
}
