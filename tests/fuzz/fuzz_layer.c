/* A layer, compressed or not, is unpacked to a directory and put on another one. Whatever it says,
 * a file beside the directory stays as it is, and nothing comes to lie there. */

#include "image/merge.h"
#include "image/unpack.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static int dir_in(int top, const char *name)
{
    check(mkdirat(top, name, 0755) == 0);
    return openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void check_beside(int top)
{
    char text[16];
    int fd = dup(top), n = 0;
    DIR *d = fdopendir(fd);

    while (d && readdir(d))
        n++;
    check(n == 5); /* ., .., layer, root, beside */
    closedir(d);
    check(sys_read_file(top, "beside", text, sizeof(text)) == 6 && strcmp(text, "beside") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct image_limits limits = { 1 << 20, 200, 4, 1 << 16 };
    char path[] = "/tmp/muster-fuzz-XXXXXX";
    struct image_unpack u;
    struct digest blob, diff;
    struct err e = { 0 };

    check(mkdtemp(path));
    AUTO(sys_fd) int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO(sys_fd) int layer = dir_in(top, "layer");
    AUTO(sys_fd) int root = dir_in(top, "root");
    AUTO(sys_fd) int beside = openat(top, "beside", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    AUTO(sys_fd) int in = memfd_create("layer", MFD_CLOEXEC);
    check(write(beside, "beside", 6) == 6);
    check(write(in, data, size) == (ssize_t)size && lseek(in, 0, SEEK_SET) == 0);

    AUTO(image_stream) struct image_stream *s = image_stream_open(in, 4 << 20, &e);
    image_unpack_init(&u, layer, &limits);
    if (s && image_unpack(&u, s, &e) == 0 && image_stream_end(s, &blob, &diff, &e) == 0) {
        check(image_merge(layer, root, &e) == 0); /* on nothing, */
        check(image_merge(layer, root, &e) == 0); /* and on itself */
    }
    check(u.bytes <= limits.bytes);
    image_unpack_done(&u);
    check_beside(top);
    tree_remove(AT_FDCWD, path, NULL);
    return 0;
}
