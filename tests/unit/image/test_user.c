/* The User of an image, by its own files. */

#include "image/internal.h"
#include "sys/tree.h"
#include "tap.h"
#include "tarball.h"

#include <sys/stat.h>

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
                             "broken\n"
                             "::::::\n"
                             "minus:x:-1:-1::/m:\n"
                             "huge:x:99999999999:1::/h:\n"
                             "relative:x:7:7::home:\n"
                             "short:x:8:8\n"
                             "app:x:1000:1001:App:/srv/app:/bin/sh\n"
                             "app:x:2000:2001::/second:";

static void users_are_found(int rootfs)
{
    static const struct {
        const char *user;
        int64_t uid, gid; /* uid -1: refused */
        const char *home;
    } rows[] = {
        { "", 0, 0, "/root" },
        { "root", 0, 0, "/root" },
        { "0", 0, 0, "/root" },
        { "app", 1000, 1001, "/srv/app" },
        { "1000", 1000, 1001, "/srv/app" },
        { "app:staff", 1000, 50, "/srv/app" },
        { "app:7", 1000, 7, "/srv/app" },
        { "12345", 12345, 0, "" },
        { "12345:staff", 12345, 50, "" },
        { "relative", 7, 7, "" },
        { "short", 8, -1, "" },
        { "nobody", -1, 0, "" },
        { "app:nogroup", -1, 0, "" },
        { "minus", -1, 0, "" },
        { "huge", -1, 0, "" },
        { "broken", -1, 0, "" },
        { "-1", -1, 0, "" },
        { "99999999999", -1, 0, "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct image_user u = { 0 };
        struct err e = { 0 };
        int rc = image_user_find(a, rootfs, str_of(rows[i].user), &u, &e);
        is_int(rc, rows[i].uid < 0 ? -1 : 0, rows[i].user);
        if (rc == 0) {
            is_int(u.uid, rows[i].uid, "uid");
            is_str(u.home, str_of(rows[i].home), "home");
        }
        if (rc == 0 && rows[i].gid >= 0)
            is_int(u.gid, rows[i].gid, "gid");
    }
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char top[] = "/tmp/muster-user-XXXXXX";
    struct image_user u;

    if (!mkdtemp(top))
        return 1;
    int rootfs = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    is_int(image_user_find(a, rootfs, S("1:2"), &u, NULL), 0, "numbers need no files");
    is_int(image_user_find(a, rootfs, S("root"), &u, NULL), -1, "names do");
    mkdirat(rootfs, "etc", 0755);
    ok(symlinkat("/etc/real", rootfs, "etc/passwd") == 0, "a link in the image");
    file_write(arena_printf(a, "%s/etc/real", top).p, str_of(passwd));
    file_write(arena_printf(a, "%s/etc/group", top).p, S("root:x:0:\nstaff:x:50:app\n"));
    users_are_found(rootfs);
    close(rootfs);
    tree_remove(AT_FDCWD, top, NULL);
    return tap_done();
}
