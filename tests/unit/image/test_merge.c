/* A layer on another file system than the image: files are copied, as where there are no hard
 * links.
 */

#include "image/merge.h"
#include "sys/tree.h"
#include "tap.h"
#include "tarball.h"

#include <sys/stat.h>

static int dir_of(const char *top, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/%s", top, name).p;

    mkdir(path, 0755);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(int dir, const char *name, const char *text, mode_t mode)
{
    struct timespec times[2] = { { 1000000000, 5 }, { 1000000000, 5 } };
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0 &&
           futimens(fd, times) == 0,
       "layer: %s", name);
    close(fd);
}

static void files_are_copied(int layer, int root)
{
    char text[16] = "", to[16] = "";
    struct err e = { 0 };
    struct stat st = { 0 };

    put(layer, "file", "new", 0751);
    put(layer, ".wh.gone", "", 0600);
    ok(mkdirat(layer, "sub", 0711) == 0 && symlinkat("../file", layer, "sub/link") == 0, "layer");
    put(root, "file", "old and longer", 0600);
    put(root, "gone", "x", 0600);
    put(root, "kept", "x", 0600);
    is_int(image_merge(layer, root, &e), 0, e.msg);
    int fd = openat(root, "file", O_RDONLY | O_CLOEXEC);
    ok(read(fd, text, sizeof(text)) == 3 && strcmp(text, "new") == 0, "its content");
    ok(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0751, "its mode");
    ok(st.st_mtim.tv_sec == 1000000000 && st.st_mtim.tv_nsec == 5, "its time");
    close(fd);
    ok(readlinkat(root, "sub/link", to, sizeof(to)) == 7 && strcmp(to, "../file") == 0, "a link");
    ok(fstatat(root, "sub", &st, 0) == 0 && (st.st_mode & 07777) == 0711, "a directory's mode");
    ok(faccessat(root, "gone", F_OK, 0) < 0 && faccessat(root, "kept", F_OK, 0) == 0, "whiteouts");
    is_int(image_merge(layer, root, &e), 0, "once more");
}

/* What lies in an image is no way out of it, for the layers that come later. */
static void links_lead_nowhere_else(const char *top, int layer, int root)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    struct stat st;

    mkdir(arena_printf(a, "%s/beside", top).p, 0755);
    ok(symlinkat("../beside", root, "up") == 0 && symlinkat(top, root, "absolute") == 0, "links");
    ok(mkdirat(layer, "up", 0755) == 0 && mkdirat(layer, "absolute", 0755) == 0, "layer");
    put(layer, "up/.wh..wh..implicit", "", 0600);
    put(layer, "up/file", "evil", 0644);
    put(layer, "absolute/.wh..wh..implicit", "", 0600);
    put(layer, "absolute/file", "evil", 0644);
    is_int(image_merge(layer, root, &e), 0, e.msg);
    ok(lstat(arena_printf(a, "%s/beside/file", top).p, &st) < 0, "nothing is beside the image");
    ok(lstat(arena_printf(a, "%s/file", top).p, &st) < 0, "nor above it");
    ok(fstatat(root, "up/file", &st, AT_SYMLINK_NOFOLLOW) == 0, "but in it");
}

int main(void)
{
    char top[] = "/tmp/muster-merge-XXXXXX", other[] = "/dev/shm/muster-merge-XXXXXX";

    if (!mkdtemp(top) || !mkdtemp(other))
        return 1;
    umask(022);
    int layer = dir_of(top, "layer"), root = dir_of(other, "root");
    int second = dir_of(top, "second"), same = dir_of(top, "root");
    files_are_copied(layer, root);
    links_lead_nowhere_else(top, second, same);
    close(layer);
    close(root);
    close(second);
    close(same);
    tree_remove(AT_FDCWD, top, NULL);
    tree_remove(AT_FDCWD, other, NULL);
    return tap_done();
}
