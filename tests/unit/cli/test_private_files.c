/* Which changed files are told, and copied: not caches, not what was removed. */

#include "cli/private_files.h"
#include "sys/tree.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/private.XXXXXX";

static void caches_do_not_count(void)
{
    static const char *const caches[] = {
        "/tmp/x",          "/var/tmp/x",   "/var/cache/apt/x", "/srv/a/p/__pycache__/m.pyc",
        "/srv/a/.cache/x", "/opt/x.pyc",   "/run/x",           "/opt/.bash_history",
        "/opt/.nv/x",      "/var/lib/x/y",
    };
    static const char *const files[] = { "/opt/model", "/opt/x", "/srv/a/tmp/x", "/tmpfile",
                                         "/var/tmp/home/model" };

    for (size_t i = 0; i < COUNT(caches); i++)
        ok(private_is_cache(str_of(caches[i]), S("/var/tmp/home")), "a cache: %s", caches[i]);
    for (size_t i = 0; i < COUNT(files); i++)
        ok(!private_is_cache(str_of(files[i]), S("/var/tmp/home")), "none: %s", files[i]);
}

static void put(const char *name, const char *text, mode_t mode)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/%s", dir, name).p;
    str up = str_of(path);

    tree_make(a, arena_z(a, str_sub(up, 0, (size_t)str_rfind(up, '/'))), 0755, NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) < 0)
        printf("Bail out! cannot write %s\n", path);
    close(fd);
}

static void changes_are_counted_and_copied(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct private_files p = { .a = a };
    struct err e = { 0 };
    struct stat st;
    char link[64];
    const char *place = arena_printf(a, "%s/over", dir).p;

    put("over/main/0/root/model", "weights", 04755);
    put("over/main/0/root/empty", "", 0644);
    put("over/main/0/tmp/x", "x", 0644);
    put("over/main/1/deep/er/file", "y", 0600);
    put("over/main/2/lost", "nobody knows where", 0600);
    ok(symlink("/", arena_printf(a, "%s/main/0.of", place).p) == 0 &&
           symlink("/srv/me", arena_printf(a, "%s/main/1.of", place).p) == 0 &&
           symlink("/etc/shadow", arena_printf(a, "%s/main/0/root/link", place).p) == 0,
       "a place with two overlays");
    is_int(private_files_add(&p, place, "worker-0", &e), 0, "is looked at");
    is_int(p.n, 3, "files and links count; not empty files, caches, or what belongs nowhere");
    ok(p.n_dirs == 2 && !p.more_dirs, "in two directories");
    p = (struct private_files){ .a = a, .copy_to = arena_printf(a, "%s/out", dir).p };
    is_int(private_files_add(&p, place, "worker-0", &e), 0, "and copied");
    const char *out = arena_printf(a, "%s/out/worker-0", dir).p;
    ok(stat(arena_printf(a, "%s/root/model", out).p, &st) == 0 && st.st_size == 7 &&
           (st.st_mode & 07777) == 0755,
       "with their content and mode, but no setuid bit");
    ok(access(arena_printf(a, "%s/srv/me/deep/er/file", out).p, F_OK) == 0, "by their paths");
    is_int(readlink(arena_printf(a, "%s/root/link", out).p, link, sizeof(link)), 11,
           "links are copied, not followed");
    ok(access(arena_printf(a, "%s/tmp/x", out).p, F_OK) < 0, "caches are not");
    is_int(private_files_add(&p, "/no/such/place", "x", &e), 0, "no place: nothing");
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    caches_do_not_count();
    changes_are_counted_and_copied();
    tree_remove(AT_FDCWD, dir, NULL);
    return tap_done();
}
