/* Trees of files: removed and counted whatever a pod made of them. */

#include "sys/tree.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 1000, NOBODY = 65534, FEW = 64 };

static char place[] = "/tmp/muster-tree-XXXXXX";
static int home;

static void must(bool good, const char *what)
{
    if (!good) {
        printf("Bail out! %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void put(int dir, const char *name, size_t n)
{
    static const char zeros[4096];
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    must(fd >= 0 && write(fd, zeros, n) == (ssize_t)n && close(fd) == 0, name);
}

/* Each level has a file and two directories. */
static void make_deep(const char *top)
{
    char name[201];

    memset(name, 'd', sizeof(name));
    name[200] = '\0';
    must(mkdirat(home, top, 0700) == 0, top);
    int at = openat(home, top, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        must(mkdirat(at, name, 0700) == 0 && mkdirat(at, "beside", 0700) == 0, "mkdir");
        int next = openat(at, name, O_RDONLY | O_DIRECTORY);
        put(at, "file", 4096);
        must(next >= 0 && close(at) == 0, "go down");
        at = next;
    }
    must(close(at) == 0, "close");
}

static bool is_gone(const char *name)
{
    return faccessat(home, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static int files_open(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void no_depth_is_too_much(void)
{
    struct rlimit before, few = { FEW, FEW };
    struct err e = { 0 };

    make_deep("deep");
    getrlimit(RLIMIT_NOFILE, &before);
    few.rlim_max = before.rlim_max;
    int open = files_open();
    setrlimit(RLIMIT_NOFILE, &few);
    char *path = NULL;
    must(asprintf(&path, "%s/deep", place) > 0, "path");
    int64_t bytes = tree_bytes(path);
    ok(bytes >= 4096 * DEPTH, "files at every depth are counted: %lld", (long long)bytes);
    ok(tree_remove(AT_FDCWD, path, &e) == 0, "all of it is removed, with few descriptors: %s",
       e.msg);
    setrlimit(RLIMIT_NOFILE, &before);
    is_int(files_open(), open, "which are closed again");
    ok(is_gone("deep"), "it is gone");
    is_int(tree_bytes(path), 0, "nothing has no bytes");
    is_int(tree_remove(AT_FDCWD, path, &e), 0, "nothing is removed already");
    free(path);
}

static void links_are_not_followed(void)
{
    struct err e = { 0 };

    mkdirat(home, "kept", 0700);
    mkdirat(home, "a", 0700);
    mkdirat(home, "a/b", 0700);
    put(home, "kept/file", 10);
    must(symlinkat("../kept", home, "a/link") == 0 && symlinkat("../..", home, "a/b/up") == 0 &&
             symlinkat("kept", home, "link") == 0,
         "links");
    is_int(tree_remove(home, "a/", &e), 0, "a tree with links in it");
    is_int(tree_remove(home, "link", &e), 0, "a link alone");
    ok(is_gone("a") && is_gone("link"), "are gone");
    ok(!is_gone("kept/file"), "what they led to stays");
    is_int(tree_remove(home, "kept/file", &e), 0, "a file alone");
    is_int(tree_remove(home, "kept", &e), 0, "a directory alone");
    ok(is_gone("kept"), "are gone");
}

/* Root may all, so this is done as somebody else. */
static void rights_are_taken(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(2);
        must(mkdirat(home, "closed", 0700) == 0 && mkdirat(home, "closed/none", 0700) == 0 &&
                 mkdirat(home, "closed/none/x", 0700) == 0 &&
                 mkdirat(home, "closed/read", 0700) == 0,
             "directories");
        put(home, "closed/none/x/file", 1);
        put(home, "closed/read/file", 1);
        fchmodat(home, "closed/none/x", 0, 0);
        fchmodat(home, "closed/none", 0, 0);
        fchmodat(home, "closed/read", 0444, 0);
        fchmodat(home, "closed", 0500, 0);
        char *path = NULL;
        must(asprintf(&path, "%s/closed", place) > 0, "path");
        bool counts = tree_bytes(path) >= 0; /* as far as can be seen */
        _exit(!counts || tree_remove(home, "closed", NULL) < 0);
    }
    must(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
    is_int(status, 0, "directories without rights are removed by who owns them");
    ok(is_gone("closed"), "they are gone");
}

/* One of the same file system too, which has no other number. */
static void mounts_are_not_crossed(void)
{
    char from[64], to[64];
    struct err e = { 0 };

    snprintf(from, sizeof(from), "%s/other", place);
    snprintf(to, sizeof(to), "%s/m/to", place);
    must(mkdir(from, 0700) == 0 && mkdirat(home, "m", 0700) == 0 && mkdir(to, 0700) == 0, "mkdir");
    put(home, "other/file", 4096);
    put(home, "m/mine", 1);
    if (mount(from, to, NULL, MS_BIND, NULL) < 0) {
        ok(true, "mounts are not crossed # SKIP none can be made");
    } else {
        is_int(tree_remove(home, "m", &e), -1, "a tree with a mount in it stays");
        ok(e.sys == EXDEV && strstr(e.msg, "remove m"), "which is said: %s", e.msg);
        ok(is_gone("m/mine") && !is_gone("other/file"), "of it only the mount");
        umount2(to, MNT_DETACH);
    }
    is_int(tree_remove(home, "m", &e), 0, "without it all goes");
    is_int(tree_remove(home, "other", &e), 0, "and so does what was mounted");
}

int main(void)
{
    must(mkdtemp(place) && chmod(place, 0777) == 0, place);
    home = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    no_depth_is_too_much();
    links_are_not_followed();
    rights_are_taken();
    mounts_are_not_crossed();
    is_int(tree_remove(AT_FDCWD, place, NULL), 0, "nothing is left");
    close(home);
    return tap_done();
}
