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
    struct private_files p = { .a = a, .copy_to = -1 };
    struct stat st;
    char link[64];
    const char *place = arena_printf(a, "%s/over", dir).p;

    put("over/main/0/root/model", "weights", 04755);
    put("over/main/0/root/empty", "", 0644);
    put("over/main/0/tmp/x", "x", 0644);
    put("over/main/1/deep/er/file", "y", 0600);
    put("over/main/2/lost", "nobody knows where", 0600);
    put("over/main/0.of", "/", 0600);
    put("over/main/1.of", "/srv/me", 0600);
    ok(symlink("/etc/shadow", arena_printf(a, "%s/main/0/root/link", place).p) == 0,
       "a place with two overlays");
    private_files_add(&p, place, "worker-0");
    is_int(p.n, 3, "files and links count; not empty files, caches, or what belongs nowhere");
    ok(p.n_dirs == 2 && !p.more_dirs, "in two directories");
    const char *out_dir = arena_printf(a, "%s/out", dir).p;
    mkdir(out_dir, 0755);
    p = (struct private_files){ .a = a, .copy_to = open(out_dir, O_RDONLY | O_DIRECTORY) };
    private_files_add(&p, place, "worker-0");
    is_int(p.failed, 0, "all are copied");
    const char *out = arena_printf(a, "%s/out/worker-0", dir).p;
    ok(stat(arena_printf(a, "%s/root/model", out).p, &st) == 0 && st.st_size == 7 &&
           (st.st_mode & 07777) == 0755,
       "with their content and mode, but no setuid bit");
    ok(access(arena_printf(a, "%s/srv/me/deep/er/file", out).p, F_OK) == 0, "by their paths");
    is_int(readlink(arena_printf(a, "%s/root/link", out).p, link, sizeof(link)), 11,
           "links are copied, not followed");
    ok(access(arena_printf(a, "%s/tmp/x", out).p, F_OK) < 0, "caches are not");
    private_files_add(&p, "/no/such/place", "x");
    is_int(p.n, 3, "no place: nothing");
    close(p.copy_to);
}

/* What pods could put where files are copied to: links, pipes, and files in the place of
 * directories. */
static void no_link_is_followed(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *out = arena_printf(a, "%s/trap", dir).p;
    const char *place = arena_printf(a, "%s/over2", dir).p;
    struct stat st;

    put("victim/file", "mine", 0600);
    put("over2/main/0/opt/d/file", "evil", 0600);
    put("over2/main/0/opt/pipe", "evil", 0600);
    put("over2/main/0/opt/leaf", "evil", 0600);
    put("over2/main/0/opt/big", "x", 0600);
    put("over2/main/0.of", "/", 0600);
    put("trap/pod/opt/x", "x", 0600);
    ok(truncate(arena_printf(a, "%s/main/0/opt/big", place).p, 1LL << 40) == 0 &&
           symlink(arena_printf(a, "%s/victim", dir).p, arena_printf(a, "%s/pod/opt/d", out).p) ==
               0 &&
           symlink(arena_printf(a, "%s/victim/file", dir).p,
                   arena_printf(a, "%s/pod/opt/leaf", out).p) == 0 &&
           mkfifo(arena_printf(a, "%s/pod/opt/pipe", out).p, 0600) == 0,
       "a place with traps");
    struct private_files p = { .a = a, .copy_to = open(out, O_RDONLY | O_DIRECTORY) };
    private_files_add(&p, place, "pod");
    is_int(p.n, 4, "all files are seen");
    is_int(p.failed, 1, "the one behind a link is not copied");
    ok(stat(arena_printf(a, "%s/victim/file", dir).p, &st) == 0 && st.st_size == 4 &&
           st.st_mode == (S_IFREG | 0600),
       "and what links lead to is as it was");
    ok(lstat(arena_printf(a, "%s/pod/opt/leaf", out).p, &st) == 0 && S_ISREG(st.st_mode),
       "a link in the place of a file goes");
    ok(lstat(arena_printf(a, "%s/pod/opt/pipe", out).p, &st) == 0 && S_ISREG(st.st_mode),
       "a pipe is not waited for");
    ok(stat(arena_printf(a, "%s/pod/opt/big", out).p, &st) == 0 && st.st_size == 1LL << 40 &&
           st.st_blocks < 100,
       "a hole stays a hole");
    close(p.copy_to);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    caches_do_not_count();
    changes_are_counted_and_copied();
    no_link_is_followed();
    tree_remove(AT_FDCWD, dir, NULL);
    return tap_done();
}
