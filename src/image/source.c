/* Files of an archive or a layout, by their names in it. */

#include "image/source.h"

#include "image/stream.h"
#include "image/unpack.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 20000, MOST_ALIASES = 8 };

/* ---- an archive */

/* Old versions of docker save have links to layers: ../ID/layer.tar. By its text alone, as what it
 * leads to is only a name here. */
static str linked_name(struct arena *a, str name, const char *target)
{
    AUTO(buf) struct buf b = { 0 };
    ptrdiff_t slash = str_rfind(name, '/');
    str rest = str_of(target);

    if (target[0] != '/' && slash > 0)
        buf_add(&b, str_sub(name, 0, (size_t)slash));
    while (rest.p) {
        str part = str_cut(&rest, '/');
        if (!part.n || str_eqz(part, "."))
            continue;
        if (str_eqz(part, "..")) {
            ptrdiff_t up = str_rfind(buf_str(&b), '/');
            b.n = up < 0 ? 0 : (size_t)up;
            continue;
        }
        if (b.n)
            buf_addc(&b, '/');
        buf_add(&b, part);
    }
    return arena_printf(a, "=%" PRI_STR, STR_ARG(buf_str(&b)));
}

static int spool_file(struct image_source *s, struct image_stream *in, const char *to,
                      struct err *e)
{
    AUTO(sys_fd) int fd = openat(s->dir, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const void *from;
    size_t n;
    int64_t at;
    int rc;

    if (fd < 0)
        return err_sys(e, "make a temporary file");
    while ((rc = image_stream_data(in, &from, &n, &at, e)) > 0)
        if (sys_write_all(fd, (str){ from, n }, at) < 0)
            return err_sys(e, "write a temporary file");
    return rc;
}

static int spool_entry(struct image_source *s, struct image_stream *in, struct archive_entry *at,
                       struct err *e)
{
    const char *path = archive_entry_pathname(at), *hard = archive_entry_hardlink(at);
    mode_t type = archive_entry_filetype(at);
    char clean[IMAGE_PATH_BYTES + 1];

    if (!path)
        return err_set(e, ERR_INVALID, "an entry has no path");
    if (image_path_clean(path, clean, e) < 0)
        return err_wrap(e, "entry %.80s", path);
    str name = arena_str(s->a, str_of(clean));
    const char *to;
    if (s->files.n >= MOST_FILES)
        return err_set(e, ERR_TOO_LARGE, "entry %.80s: more than the limit of %d files", path,
                       MOST_FILES);
    if (hard)
        to = arena_printf(s->a, "=%s", hard).p;
    else if (type == S_IFLNK && archive_entry_symlink(at))
        to = linked_name(s->a, name, archive_entry_symlink(at)).p;
    else if (type == S_IFREG)
        to = arena_printf(s->a, "%zu", s->files.n).p;
    else
        return 0;
    if (map_get(&s->files, name))
        return err_set(e, ERR_INVALID, "entry %.80s: appears twice", path);
    map_put(&s->files, name, (void *)(uintptr_t)to);
    if (to[0] == '=' || spool_file(s, in, to, e) == 0)
        return 0;
    return err_wrap(e, "entry %.80s", path);
}

static int spool(struct image_source *s, int fd, struct err *e)
{
    AUTO(image_stream) struct image_stream *in = image_stream_open(fd, s->limits->bytes, e);
    struct archive_entry *at;
    int rc = in ? 1 : -1;

    while (rc > 0 && (rc = image_stream_next(in, &at, e)) > 0)
        if (spool_entry(s, in, at, e) < 0)
            rc = -1;
    return rc;
}

/* ---- both */

int image_source_open(struct image_source *s, struct arena *a, const char *from, int room,
                      const struct image_limits *limits, struct err *e)
{
    struct stat st;

    *s = (struct image_source){ .a = a, .dir = -1, .limits = limits };
    AUTO(sys_fd)
    int fd = strcmp(from, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(e, "open %.150s", from);
    s->is_archive = !S_ISDIR(st.st_mode);
    s->dir = fcntl(s->is_archive ? room : fd, F_DUPFD_CLOEXEC, 3);
    if (s->dir < 0)
        return err_sys(e, "open %.150s", from);
    if (s->is_archive && spool(s, fd, e) < 0) {
        image_source_done(s);
        return -1;
    }
    return 0;
}

void image_source_done(struct image_source *s)
{
    map_done(&s->files);
    if (s->dir >= 0)
        close(s->dir);
    s->dir = -1;
}

/* Names of an archive are looked up; the files they lead to are ours. */
static int open_name(const struct image_source *s, str name)
{
    char clean[IMAGE_PATH_BYTES + 1];
    const char *to = NULL;
    struct stat st;

    if (!s->is_archive) {
        to = arena_z(s->a, name);
    } else {
        if (image_path_clean(arena_z(s->a, name), clean, NULL) < 0)
            return -1;
        name = str_of(clean);
        for (int i = 0; i < MOST_ALIASES && (to = map_get(&s->files, name)) && to[0] == '='; i++)
            name = str_of(to + 1);
        errno = ENOENT;
        if (!to || to[0] == '=')
            return -1;
    }
    int fd =
        sys_openat2(s->dir, to, O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

bool image_source_has(const struct image_source *s, const char *name)
{
    AUTO(sys_fd) int fd = open_name(s, str_of(name));

    return fd >= 0;
}

static str name_of(const struct image_source *s, const struct image_blob *b)
{
    return b->file.n ? b->file : arena_printf(s->a, "blobs/sha256/%s", b->digest.hex);
}

int image_source_blob(const struct image_source *s, const struct image_blob *b, struct err *e)
{
    str name = name_of(s, b);
    int fd = open_name(s, name);

    name = str_clip(name, 120);
    return fd < 0 ? err_sys(e, "%" PRI_STR, STR_ARG(name)) : fd;
}

static int read_all(const struct image_source *s, int fd, str *out, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_sys(e, "read");
    if (st.st_size > s->limits->json_bytes)
        return err_set(e, ERR_TOO_LARGE, "%lld bytes, more than the limit of %lld",
                       (long long)st.st_size, (long long)s->limits->json_bytes);
    size_t n = (size_t)st.st_size, got = 0;
    char *text = arena_alloc(s->a, n + 1);
    while (got < n) {
        ssize_t more = read(fd, text + got, n - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return err_sys(e, "read");
        if (more == 0)
            break;
        got += (size_t)more;
    }
    *out = (str){ text, got };
    return 0;
}

jv image_source_json(const struct image_source *s, const struct image_blob *b, struct err *e)
{
    str name = str_clip(name_of(s, b), 100), text = S("");
    AUTO(sys_fd) int fd = image_source_blob(s, b, e);
    jv v = JV_ABSENT;
    struct digest d;

    if (fd < 0)
        return v;
    if (read_all(s, fd, &text, e) == 0) {
        digest_of(text, &d);
        if (b->digest.hex[0] && !digest_eq(&d, &b->digest))
            err_set(e, ERR_INVALID, "its digest is sha256:%s", d.hex);
        else
            v = json_parse(s->a, text, NULL, e);
    }
    if (!jv_exists(v))
        err_wrap(e, "%" PRI_STR, STR_ARG(name));
    return v;
}
