#include "sys/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* The holder before may be on its way out: its last process is gone a moment after its pod. */
enum { TRIES = 10, BETWEEN_NS = 20 * 1000 * 1000 };

/* Any user of this machine may hold as many locks as he likes, and a second of reading is too long.
 * Who looks at too few of them is told when he takes a device. */
enum { LINES_MOST = 8192 };

bool device_lock_is_for(const char *name)
{
    static const char prefix[] = "nvidia";
    const char *number = name + strlen(prefix);

    return strncmp(name, prefix, strlen(prefix)) == 0 && *number &&
           strspn(number, "0123456789") == strlen(number);
}

/* "3: FLOCK  ADVISORY  WRITE 4711 00:05:312 0 EOF" */
static bool read_line(const char *line, pid_t *pid, dev_t *dev, ino_t *ino)
{
    unsigned major, minor;
    uintmax_t number;

    /* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
    if (sscanf(line, "%*u: FLOCK %*s %*s %d %x:%x:%ju", pid, &major, &minor, &number) != 4)
        return false;
    *dev = makedev(major, minor);
    *ino = (ino_t)number;
    return true;
}

void device_lock_holders(struct device_lock_seen *at, size_t n)
{
    char line[256];
    bool any = false;
    pid_t pid;
    dev_t dev;
    ino_t ino;

    for (size_t i = 0; i < n; i++) {
        struct stat st;
        bool is_there = stat(at[i].path, &st) == 0;
        any = any || is_there;
        at[i].dev = is_there ? st.st_dev : 0;
        at[i].ino = is_there ? st.st_ino : 0;
        at[i].holder = 0;
    }
    FILE *f = any ? fopen("/proc/locks", "re") : NULL;
    for (int k = 0; f && k < LINES_MOST && fgets(line, sizeof(line), f); k++)
        if (read_line(line, &pid, &dev, &ino))
            for (size_t i = 0; i < n; i++)
                if (at[i].ino && at[i].dev == dev && at[i].ino == ino && !at[i].holder)
                    at[i].holder = pid;
    if (f)
        fclose(f);
}

pid_t device_lock_holder(const char *path)
{
    struct device_lock_seen one = { .path = path };

    device_lock_holders(&one, 1);
    return one.holder;
}

int device_lock_take(const char *path, struct err *e)
{
    static const struct timespec between = { .tv_nsec = BETWEEN_NS };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) {
        err_sys(e, "open %s", path);
        return -2;
    }
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
        int why = errno;
        if (why == EWOULDBLOCK && i + 1 < TRIES) {
            nanosleep(&between, NULL);
            continue;
        }
        close(fd);
        errno = why;
        if (why != EWOULDBLOCK) {
            err_sys(e, "lock %s", path);
            return -2;
        }
        err_set(e, ERR_EXISTS,
                "%s is in use by process %d of another run or server on this machine", path,
                (int)device_lock_holder(path));
        return -1;
    }
    return fd;
}
