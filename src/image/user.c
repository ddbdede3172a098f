/* The User of an image, as numbers, and its home directory. The files are the image's: every line
 * is checked. */

#include "image/internal.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 1024 * 1024 };

static str file_text(struct arena *a, int rootfs, const char *path)
{
    AUTO(sys_fd)
    int fd =
        sys_openat2(rootfs, path, O_RDONLY | O_NONBLOCK, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return STR_NONE;
    char *text = arena_alloc(a, FILE_BYTES);
    ssize_t n = pread(fd, text, FILE_BYTES, 0);
    return (str){ text, n < 0 ? 0 : (size_t)n };
}

static bool is_id(str text, int64_t *out)
{
    return str_to_int(text, out) && *out >= 0 && *out < UINT32_MAX;
}

/* The line whose first field is name, or whose third is id; its fields. */
static bool find(str text, str name, int64_t id, str fields[7])
{
    while (text.p) {
        str line = str_cut(&text, '\n');
        int64_t number = -1;
        size_t n = 0;
        for (str rest = line; rest.p && n < 7;)
            fields[n++] = str_cut(&rest, ':');
        bool same =
            name.n ? str_eq(fields[0], name) : n > 2 && is_id(fields[2], &number) && number == id;
        if (n > 2 && same) {
            while (n < 7)
                fields[n++] = S("");
            return true;
        }
    }
    return false;
}

static int group_find(struct arena *a, int rootfs, str group, int64_t *out, struct err *e)
{
    str fields[7] = { 0 }, shown = str_clip(group, 60);

    if (!group.n || is_id(group, out))
        return 0;
    if (find(file_text(a, rootfs, "etc/group"), group, -1, fields) && is_id(fields[2], out))
        return 0;
    return err_set(e, ERR_INVALID, "config: User: the image's /etc/group has no group %" PRI_STR,
                   STR_ARG(shown));
}

int image_user_find(struct arena *a, int rootfs, str user, struct image_user *out, struct err *e)
{
    str group = user, name = str_cut(&group, ':'), fields[7] = { 0 }, shown = str_clip(name, 60);
    int64_t number = 0;
    bool is_number = !name.n || is_id(name, &number);

    *out = (struct image_user){ .uid = -1, .gid = -1, .home = S("") };
    if (find(file_text(a, rootfs, "etc/passwd"), is_number ? STR_NONE : name, number, fields)) {
        if (!is_id(fields[2], &out->uid) || !is_id(fields[3], &out->gid))
            out->uid = out->gid = -1;
        if (fields[5].n && fields[5].p[0] == '/' && !memchr(fields[5].p, 0, fields[5].n))
            out->home = fields[5];
    }
    if (is_number) {
        out->uid = number;
        if (out->gid < 0)
            out->gid = 0;
    }
    if (out->uid < 0)
        return err_set(e, ERR_INVALID,
                       "config: User: the image's /etc/passwd has no user %" PRI_STR,
                       STR_ARG(shown));
    return group_find(a, rootfs, group, &out->gid, e);
}
