/* See reserve.h. Moving the log into the database file may need as much room as the log has, so the
 * reserve is larger than the log gets. On a small disk it is smaller, and so is the log. */

#include "store/reserve.h"

#include "base/mem.h"
#include "loop/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SHARE = 16 }; /* of the disk, that is at most taken */

void reserve_open(struct reserve *r, const char *db_path)
{
    const char *slash = strrchr(db_path, '/');
    size_t dir_n = slash ? (size_t)(slash - db_path) + 1 : 0;
    struct statvfs st = { 0 };

    *r = (struct reserve){ .path = mem_room(dir_n + sizeof("reserve")) };
    memcpy(r->path, db_path, dir_n);
    memcpy(r->path + dir_n, "reserve", sizeof("reserve"));
    if (strcmp(db_path, ":memory:") == 0 || statvfs(db_path, &st) < 0)
        return;
    uint64_t share = (uint64_t)st.f_blocks * st.f_frsize / SHARE;
    r->bytes = share < RESERVE_BYTES ? (int64_t)share : RESERVE_BYTES;
    if (!reserve_take(r))
        log_warn("disk too full to reserve space for deletions", KVZ("path", r->path),
                 KVI("bytes", r->bytes));
}

void reserve_done(struct reserve *r)
{
    free(r->path);
}

bool reserve_take(struct reserve *r)
{
    if (r->is_held || !r->bytes)
        return true;
    int fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    r->is_held = fd >= 0 && fallocate(fd, 0, 0, r->bytes) == 0;
    if (!r->is_held && errno == EOPNOTSUPP)
        r->bytes = 0;
    if (fd >= 0 && !r->is_held && ftruncate(fd, 0) < 0) /* half of it is nobody's */
        log_warn("cannot release the disk reserve", KVZ("error", strerror(errno)));
    if (fd >= 0)
        close(fd);
    return r->is_held || !r->bytes;
}

void reserve_release(struct reserve *r)
{
    if (r->is_held && truncate(r->path, 0) < 0)
        log_warn("cannot release the disk reserve", KVZ("error", strerror(errno)));
    r->is_held = false;
}
