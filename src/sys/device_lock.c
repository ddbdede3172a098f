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

bool device_lock_is_for(const char *name)
{
    static const char prefix[] = "nvidia";
    const char *number = name + strlen(prefix);

    return strncmp(name, prefix, strlen(prefix)) == 0 && *number &&
           strspn(number, "0123456789") == strlen(number);
}

/* "3: FLOCK  ADVISORY  WRITE 4711 00:05:312 0 EOF" */
static pid_t holder_in(const char *line, dev_t dev, ino_t ino)
{
    unsigned major, minor;
    uintmax_t number;
    int pid;

    /* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
    if (sscanf(line, "%*u: FLOCK %*s %*s %d %x:%x:%ju", &pid, &major, &minor, &number) != 4 ||
        major != major(dev) || minor != minor(dev) || number != ino)
        return 0;
    return pid;
}

pid_t device_lock_holder(const char *path)
{
    struct stat st;
    char line[256];
    pid_t found = 0;
    FILE *f = stat(path, &st) == 0 ? fopen("/proc/locks", "re") : NULL;

    while (f && !found && fgets(line, sizeof(line), f))
        found = holder_in(line, st.st_dev, st.st_ino);
    if (f)
        fclose(f);
    return found;
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
