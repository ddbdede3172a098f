/* Which file is ours and how it is started again: by the kernel, and by a loader that was run as a
 * program, as in a copy that brings its own libraries. */

#include "sys/self.h"

#include "base/arena.h"
#include "sys/helper_process.h"
#include "tap.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char self_path[PATH_MAX];

static void started_by_the_kernel(void)
{
    const struct sys_self *s = sys_self();

    ok(!s->is_bundled, "the kernel started this program");
    is_str(str_of(s->program), S("/proc/self/exe"),
           "its file can be opened even if it was replaced");
    is_str(str_of(s->launcher), str_of(self_path), "others start it by its path");
    is_str(str_of(s->files), str_of(self_path), "and need no other file");
}

/* ---- in the copy */

static int answer(void)
{
    dprintf(3, "%s", sys_self()->program);
    return 0;
}

/* Starts itself again, and says what both know. */
static int child(void)
{
    char words[][8] = { "muster", "again" }, said[PATH_MAX] = "";
    char *const argv[] = { words[0], words[1], NULL };
    const struct sys_self *s = sys_self();
    pid_t pid;
    int fd = helper_run(NULL, argv, SOCK_STREAM, &pid, NULL);

    if (fd < 0 || read(fd, said, sizeof(said) - 1) < 0)
        return 1;
    waitpid(pid, NULL, 0);
    printf("%d %s %s %s %s", s->is_bundled, s->program, s->launcher, s->files, said);
    return 0;
}

/* ---- around it */

static int on_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    (void)size;
    if (slash && strncmp(slash, "/ld-", 4) == 0)
        snprintf(ctx, PATH_MAX, "%s", info->dlpi_name);
    return 0;
}

static int copy_self(const char *to)
{
    int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    struct stat st;
    int rc = in >= 0 && out >= 0 && fstat(in, &st) == 0 ? 0 : -1;

    while (rc == 0 && st.st_size > 0) {
        ssize_t n = sendfile(out, in, NULL, (size_t)st.st_size);
        rc = n <= 0 ? -1 : 0;
        st.st_size -= n;
    }
    close(in);
    close(out);
    return rc;
}

static void started_by_a_loader(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char dir[] = "/tmp/self-XXXXXX", loader[PATH_MAX] = "", said[4096] = "";

    dl_iterate_phdr(on_library, loader);
    if (!mkdtemp(dir))
        abort();
    const char *lib = arena_printf(a, "%s/lib", dir).p;
    const char *program = arena_printf(a, "%s/muster", lib).p;
    const char *launcher = arena_printf(a, "%s/muster", dir).p;
    mkdir(lib, 0700);
    is_int(copy_self(program), 0, "a copy of the program");
    is_int(copy_self(launcher), 0, "and something beside it that starts it");

    FILE *p = popen(arena_printf(a, "%s %s child", loader, program).p, "re");
    size_t n = p ? fread(said, 1, sizeof(said) - 1, p) : 0;
    is_int(p ? pclose(p) : -1, 0, "it runs, and again as its own helper");
    is_str((str){ said, n }, arena_printf(a, "1 %s %s %s %s", program, launcher, dir, program),
           "both know their file, and the first what starts it and what that needs");
    unlink(program);
    unlink(launcher);
    rmdir(lib);
    rmdir(dir);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "again") == 0 ? answer() : child();
    ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
    self_path[n < 0 ? 0 : n] = '\0';
    started_by_the_kernel();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they start themselves anew \
                                                                     */
    started_by_a_loader();
#endif
    return tap_done();
}
