/* Layers become files, and nothing outside of their directory changes, whatever they say. */

#include "image/unpack.h"
#include "sys/tree.h"
#include "tap.h"
#include "tarball.h"

#include <errno.h>
#include <sys/stat.h>

static char top[] = "/tmp/muster-unpack-XXXXXX"; /* with root/ and outside */
static struct image_limits limits = { 1 << 20, 300, 10, 1 << 20 };
static struct image_dropped dropped;

static const char *at(const char *name)
{
    static char path[4][600];
    static int i;

    i = (i + 1) % 4;
    snprintf(path[i], sizeof(path[i]), "%s/%s", top, name);
    return path[i];
}

static void clear_all(void)
{
    tree_remove(AT_FDCWD, at("root"), NULL);
    tree_remove(AT_FDCWD, at("dir"), NULL);
    mkdir(at("root"), 0755);
    mkdir(at("dir"), 0755);
    file_write(at("outside"), S("as it was"));
}

static int unpack(struct buf *tar, struct err *e)
{
    int fd = fd_of(buf_str(tar)), rc = -1;
    int root = open(at("root"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct image_unpack u;
    AUTO(image_stream) struct image_stream *s = image_stream_open(fd, 2 * limits.bytes, e);

    image_unpack_init(&u, root, &limits);
    if (s)
        rc = image_unpack(&u, s, e);
    dropped = u.dropped;
    image_unpack_done(&u);
    close(root);
    close(fd);
    return rc;
}

static str content(struct arena *a, const char *name)
{
    char text[200] = "";
    int fd = open(at(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

    if (fd >= 0)
        close(fd);
    return n < 0 ? S("(none)") : arena_str(a, (str){ text, (size_t)n });
}

static size_t entries(const char *name)
{
    struct stat st;

    return stat(at(name), &st) == 0 ? (size_t)st.st_nlink - 2 : 99;
}

static void nothing_outside_changed(const char *why)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(content(a, "outside"), S("as it was"), why);
    ok(entries("dir") == 0 && rmdir(at("dir")) == 0, "and the directory beside is empty: %s", why);
    mkdir(at("dir"), 0755);
}

/* ---- what it is to be */

static void files_are_made(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf t = { 0 };
    struct err e = { 0 };
    struct stat st, other;

    clear_all();
    tar_add(&t, '5', "./", NULL, "");
    tar_add(&t, '5', "etc/", NULL, "");
    tar_add(&t, '0', "/etc/absolute", NULL, "a");
    tar_add(&t, '0', "deep/down/file", NULL, "d");
    tar_add(&t, '1', "etc/hard", "etc/absolute", "");
    tar_add(&t, '2', "etc/soft", "/etc/absolute", "");
    tar_mode(&t, '0', "etc/suid", NULL, S("s"), 06755);
    tar_add(&t, '3', "etc/device", NULL, "");
    tar_add(&t, '0', "caf\xc3\xa9", NULL, "u");
    tar_add(&t, '0', "etc/.wh.gone", NULL, "");
    tar_end(&t);
    is_int(unpack(&t, &e), 0, e.msg);
    is_str(content(a, "root/etc/absolute"), S("a"), "absolute paths are below the directory");
    is_str(content(a, "root/deep/down/file"), S("d"), "directories without an entry are made");
    ok(access(at("root/deep/down/" IMAGE_IMPLICIT), F_OK) == 0, "and marked");
    ok(access(at("root/etc/" IMAGE_IMPLICIT), F_OK) < 0, "others are not");
    ok(stat(at("root/etc/absolute"), &st) == 0 && stat(at("root/etc/hard"), &other) == 0 &&
           st.st_ino == other.st_ino,
       "hard links are kept");
    is_int(st.st_mtime, 1000000000, "and times of files");
    ok(lstat(at("root/etc/soft"), &st) == 0 && S_ISLNK(st.st_mode), "symbolic links are kept");
    ok(stat(at("root/etc/suid"), &st) == 0 && (st.st_mode & 07777) == 0755, "setuid is dropped");
    ok(access(at("root/etc/device"), F_OK) < 0, "so are devices");
    ok(dropped.devices == 1 && dropped.setuid == 1, "both are counted");
    is_str(content(a, "root/caf\xc3\xa9"), S("u"), "names are bytes");
    ok(access(at("root/etc/.wh.gone"), F_OK) == 0, "a whiteout stays one");
}

/* A file twice, a file in place of a directory, and the other way round. */
static void later_entries_win(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf t = { 0 };
    struct err e = { 0 };
    struct stat st;

    clear_all();
    tar_add(&t, '0', "a", NULL, "1");
    tar_add(&t, '0', "a", NULL, "2");
    tar_add(&t, '0', "d/x", NULL, "x");
    tar_add(&t, '0', "d", NULL, "now a file");
    tar_add(&t, '0', "f", NULL, "f");
    tar_add(&t, '5', "f", NULL, "");
    tar_add(&t, '5', "link", NULL, "");
    tar_add(&t, '2', "link", "d", "");
    tar_add(&t, '5', "link", NULL, "");
    tar_add(&t, '0', "link/in", NULL, "in");
    tar_end(&t);
    is_int(unpack(&t, &e), 0, e.msg);
    is_str(content(a, "root/a"), S("2"), "of two files the later one");
    is_str(content(a, "root/d"), S("now a file"), "a file replaces a directory");
    ok(lstat(at("root/f"), &st) == 0 && S_ISDIR(st.st_mode), "a directory replaces a file");
    ok(lstat(at("root/link"), &st) == 0 && S_ISDIR(st.st_mode), "and a link");
    is_str(content(a, "root/link/in"), S("in"), "and holds what comes later");
}

/* ---- what it must not do */

struct hostile {
    const char *what;
    struct {
        char type;
        const char *name, *link;
    } at[4];
    const char *why; /* NULL: it may pass */
};

static const struct hostile hostile[] = {
    { "a path with ..", { { '0', "../outside", NULL } }, "its path has \"..\"" },
    { "one in the middle", { { '0', "a/../../outside", NULL } }, "its path has \"..\"" },
    { "an absolute path", { { '0', "//../outside", NULL } }, "its path has \"..\"" },
    { "a directory ..", { { '5', "..", NULL } }, "its path has \"..\"" },
    { "through a link to ..", { { '2', "l", ".." }, { '0', "l/outside", NULL } }, NULL },
    { "through a link to many ..",
      { { '2', "l", "../../../../../../tmp" }, { '0', "l/dir/x", NULL } },
      NULL },
    { "through an absolute link", { { '2', "l", top }, { '0', "l/outside", NULL } }, NULL },
    { "through two links",
      { { '2', "a", "b" }, { '2', "b", top }, { '0', "a/dir/x", NULL } },
      NULL },
    { "a file on a link", { { '2', "l", "../outside" }, { '0', "l", NULL } }, NULL },
    { "a directory on a link",
      { { '2', "l", "../dir" }, { '5', "l", NULL }, { '0', "l/x", NULL } },
      NULL },
    { "a hard link to the outside", { { '1', "h", "../outside" }, { '0', "h", NULL } }, ".." },
    { "an absolute one", { { '1', "h", "/etc/passwd" } }, "which the layer does not have" },
    { "a hard link through a link",
      { { '2', "l", ".." }, { '1', "h", "l/outside" }, { '0', "h", NULL } },
      "which the layer does not have" },
    { "a hard link to a link",
      { { '2', "l", "../outside" }, { '1', "h", "l" }, { '0', "h", NULL } },
      NULL },
    { "a hard link to a directory", { { '5', "d", NULL }, { '1', "h", "d" } }, "is not a file" },
    { "a hard link to the root", { { '1', "h", "/" } }, "which the layer does not have" },
    { "a whiteout of ..", { { '0', ".wh...", NULL } }, "a whiteout of no file" },
    { "a whiteout of .", { { '0', "d/.wh..", NULL } }, "a whiteout of no file" },
    { "a whiteout of nothing", { { '0', ".wh.", NULL } }, "a whiteout of no file" },
    { "files in a whiteout", { { '0', ".wh.d/x", NULL } }, "a whiteout cannot be a directory" },
    { "the root as a file", { { '0', ".", NULL } }, "the root must be a directory" },
    { "the root as a link", { { '2', "/", "../dir" } }, "the root must be a directory" },
    { "the root as a hard link", { { '1', ".", "x" } }, "the root cannot be a link" },
    { "a file as a directory", { { '0', "f", NULL }, { '0', "f/x", NULL } }, "its directory" },
    { "a link to itself", { { '2', "l", "l" }, { '0', "l/x", NULL } }, "its directory" },
    { "a link to nothing", { { '2', "l", "none" }, { '0', "l/x", NULL } }, "its directory" },
    { "an empty link", { { '2', "l", "" } }, "empty or too long" },
};

static void nothing_outside_is_touched(void)
{
    for (size_t i = 0; i < COUNT(hostile); i++) {
        const struct hostile *h = &hostile[i];
        AUTO(buf) struct buf t = { 0 };
        struct err e = { 0 };
        clear_all();
        for (size_t k = 0; k < COUNT(h->at) && h->at[k].name; k++)
            tar_add(&t, h->at[k].type, h->at[k].name, h->at[k].link,
                    h->at[k].type == '0' ? "evil" : "");
        tar_end(&t);
        int rc = unpack(&t, &e);
        if (h->why)
            ok(rc < 0 && strstr(e.msg, h->why) && strstr(e.msg, "entry "), "%s is refused: %s",
               h->what, e.msg);
        nothing_outside_changed(h->what);
    }
}

static void limits_hold(void)
{
    AUTO(buf) struct buf many = { 0 }, deep = { 0 }, large = { 0 }, name = { 0 };
    char path[600], data[5000];
    struct err e = { 0 };

    clear_all();
    for (int i = 0; i <= 300; i++) {
        snprintf(path, sizeof(path), "f%d", i);
        tar_add(&many, '0', path, NULL, "");
    }
    ok(unpack(&many, &e) < 0 && strstr(e.msg, "entry f300: the image has more than"), "%s", e.msg);
    clear_all();
    memset(data, 0, sizeof(data));
    for (int i = 0; i < 205; i++)
        memcpy(data + 2 * i, "d/", 2);
    tar_mode(&deep, 'L', "././@LongLink", NULL, (str){ data, 411 }, 0644);
    tar_add(&deep, '0', "x", NULL, "");
    ok(unpack(&deep, &e) < 0 && strstr(e.msg, "has more than 200 parts"), "%s", e.msg);
    clear_all();
    memset(data, 'n', 300);
    data[300] = '\0';
    tar_mode(&name, 'L', "././@LongLink", NULL, (str){ data, 301 }, 0644);
    tar_add(&name, '0', "x", NULL, "");
    ok(unpack(&name, &e) < 0 && strstr(e.msg, "longer than the limit"), "%s", e.msg);
    clear_all();
    char *big = calloc(1, (1 << 20) + 1);
    tar_mode(&large, '0', "large", NULL, (str){ big, (1 << 20) + 1 }, 0644);
    free(big);
    ok(unpack(&large, &e) < 0 && strstr(e.msg, "entry large: the image is larger than"), "%s",
       e.msg);
}

/* A header alone can claim any size. */
static void claims_are_checked(void)
{
    AUTO(buf) struct buf t = { 0 };
    struct err e = { 0 };

    clear_all();
    tar_add(&t, '0', "cut", NULL, "whole");
    tar_mode(&t, '0', "short", NULL, S("0123456789"), 0644);
    t.n -= 512;
    t.p[t.n - 512 + 124 + 8] = '7'; /* of its size */
    ok(unpack(&t, &e) < 0, "a file that ends early: %s", e.msg);
    clear_all();
    is_int(unpack(&(struct buf){ (char *)(uintptr_t) "not a tar file at all", 21, 0 }, &e), -1,
           "what is no tar file");
    clear_all();
    is_int(unpack(&(struct buf){ (char *)(uintptr_t) "", 0, 0 }, &e), 0,
           "nothing is an empty layer");
}

/* Some tools leave out what comes after the last file. */
static void padding_may_be_missing(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf t = { 0 };
    struct err e = { 0 };

    clear_all();
    tar_add(&t, '0', "last", NULL, "four");
    t.n -= 508;
    is_int(unpack(&t, &e), 0, e.msg);
    is_str(content(a, "root/last"), S("four"), "the file is whole");
}

int main(void)
{
    if (!mkdtemp(top))
        return 1;
    umask(022);
    files_are_made();
    later_entries_win();
    nothing_outside_is_touched();
    limits_hold();
    claims_are_checked();
    padding_may_be_missing();
    tree_remove(AT_FDCWD, top, NULL);
    return tap_done();
}
