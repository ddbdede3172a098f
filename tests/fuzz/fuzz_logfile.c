/* A log file with anything in it: the last lines are the end of the whole. */

#include "base/buf.h"
#include "loop/logfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buf read_all(const char *path, int64_t tail, int64_t limit)
{
    struct logfile_opts o = { .tail = tail, .limit_bytes = limit };
    AUTO(logfile) struct logfile *f = logfile_open(path, &o);
    struct buf b = { 0 };
    ssize_t n;

    while ((n = logfile_read(f, buf_room(&b, 512), 512)) > 0 || n == LOGFILE_BUSY)
        b.n += n > 0 ? (size_t)n : 0;
    return b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("log", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    AUTO(buf) struct buf all = read_all(path, -1, -1);
    for (int64_t tail = 0; tail < 4; tail++) {
        AUTO(buf) struct buf end = read_all(path, tail, -1);
        if (!str_ends(buf_str(&all), buf_str(&end)) || (tail == 0 && end.n))
            abort();
    }
    AUTO(buf) struct buf some = read_all(path, -1, 10);
    if (some.n > 10 || !str_starts(buf_str(&all), buf_str(&some)))
        abort();
    close(fd);
    return 0;
}
