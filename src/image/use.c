/* Which containers run in an image: each holds a shared lock on its image.json (sandbox/root.c). */

#include "base/buf.h"
#include "image/image.h"
#include "image/internal.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCKS_BYTES = 1 << 20, HOSTNAME_BYTES = 65, MANY_PODS = 10 };

int image_lock(int store, const char *image)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *file = arena_printf(a, "%s/image.json", image).p;
    int fd = openat(store, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return fd;
    close(fd);
    return IMAGE_IN_USE;
}

/* The pod's name, unless it is told otherwise. Nothing if we may not look. */
static str host_name(struct arena *a, int64_t pid)
{
    char text[HOSTNAME_BYTES];
    str root = arena_printf(a, "/proc/%" PRId64 "/root", pid);
    ssize_t n =
        sys_read_file(AT_FDCWD, arena_cat(a, root, S("/etc/hostname")).p, text, sizeof(text));

    return n < 0 ? S("") : arena_str(a, str_trim((str){ text, (size_t)n }));
}

/* A line of /proc/locks: "1: FLOCK  ADVISORY  READ 4711 fd:01:12345 0 EOF". */
static bool is_shared_lock(str line, int64_t *pid, int64_t *inode)
{
    str words[6];
    size_t n = 0;

    while (line.n && n < COUNT(words)) {
        words[n] = str_cut(&line, ' ');
        n += words[n].n > 0;
    }
    if (n < COUNT(words) || !str_eqz(words[1], "FLOCK") || !str_eqz(words[3], "READ"))
        return false;
    str at = words[5];
    return str_to_int(words[4], pid) &&
           str_to_int(str_sub(at, (size_t)(str_rfind(at, ':') + 1), at.n), inode);
}

/* The device of an overlay is not the one that stat() tells, so only the inode is compared. */
static str holders(struct arena *a, int64_t inode)
{
    char *all = arena_alloc(a, LOCKS_BYTES);
    ssize_t n = sys_read_file(AT_FDCWD, "/proc/locks", all, LOCKS_BYTES);
    AUTO(buf) struct buf b = { 0 };
    str rest = { all, n > 0 ? (size_t)n : 0 };
    size_t told = 0;

    while (rest.n) {
        int64_t pid, at;
        if (!is_shared_lock(str_cut(&rest, '\n'), &pid, &at) || at != inode)
            continue;
        str name = host_name(a, pid);
        if (name.n && told++ < MANY_PODS)
            buf_printf(&b, "%s%" PRI_STR, told > 1 ? ", " : "", STR_ARG(name));
    }
    if (told > MANY_PODS)
        buf_printf(&b, " and %zu more", told - MANY_PODS);
    return arena_str(a, buf_str(&b));
}

bool image_in_use(struct arena *a, str rootfs, str *pods)
{
    ptrdiff_t slash = str_rfind(rootfs, '/');
    str image = str_sub(rootfs, 0, slash < 0 ? 0 : (size_t)slash);
    AUTO(sys_fd) int fd = image_lock(AT_FDCWD, arena_z(a, image));
    struct stat st;

    *pods = S("");
    if (fd != IMAGE_IN_USE)
        return false;
    if (stat(arena_cat(a, image, S("/image.json")).p, &st) == 0)
        *pods = holders(a, (int64_t)st.st_ino);
    return true;
}
