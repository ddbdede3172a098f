/* Tar files made by hand, for what no tool would write. */
#pragma once

#include "base/buf.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* type: '0' file, '1' hard link, '2' symbolic link, '3' device, '5' directory, 'L' long name of the
 * next. Names up to 100 bytes. */
__attribute__((unused)) static void tar_mode(struct buf *b, char type, const char *name,
                                             const char *link, str data, unsigned mode)
{
    char h[512] = { 0 };
    unsigned sum = 0;

    strncpy(h, name, 100);
    snprintf(h + 100, 8, "%07o", mode);
    snprintf(h + 108, 8, "%07o", 0);
    snprintf(h + 116, 8, "%07o", 0);
    snprintf(h + 124, 12, "%011o", (unsigned)data.n);
    snprintf(h + 136, 12, "%011o", 1000000000);
    memset(h + 148, ' ', 8);
    h[156] = type;
    if (link)
        strncpy(h + 157, link, 100);
    memcpy(h + 257,
           "ustar\0"
           "00",
           8);
    for (size_t i = 0; i < sizeof(h); i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    buf_add(b, (str){ h, sizeof(h) });
    buf_add(b, data);
    memset(buf_room(b, 512), 0, 512);
    b->n += (512 - data.n % 512) % 512;
}

__attribute__((unused)) static void tar_add(struct buf *b, char type, const char *name,
                                            const char *link, const char *data)
{
    tar_mode(b, type, name, link, str_of(data), type == '5' ? 0755 : 0644);
}

__attribute__((unused)) static void tar_end(struct buf *b)
{
    memset(buf_room(b, 1024), 0, 1024);
    b->n += 1024;
}

/* A descriptor that reads these bytes. */
__attribute__((unused)) static int fd_of(str bytes)
{
    int fd = memfd_create("bytes", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

__attribute__((unused)) static void file_write(const char *path, str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n)
        abort();
    close(fd);
}
