/* See self.h. The kernel says whether it started a loader as a program (then there is no base
 * address of an interpreter), and which file our code is mapped from. */

#include "sys/self.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static struct sys_self self;

/* The file that the code at an address comes from; false: /proc does not say. */
static bool mapped_file(uintptr_t at, char out[PATH_MAX])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    bool found = false;

    while (maps && !found && fgets(line, sizeof(line), maps)) {
        uintptr_t from, to;
        char *path = strchr(line, '/');
        if (!path || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2)
            continue;
        path[strcspn(path, "\n")] = '\0';
        found = at >= from && at < to && strlen(path) < PATH_MAX;
        if (found)
            memcpy(out, path, strlen(path) + 1);
    }
    if (maps)
        fclose(maps);
    return found;
}

/* DIR/lib/muster has its launcher as DIR/muster. */
static void find_launcher(struct sys_self *s)
{
    char dir[PATH_MAX], path[PATH_MAX];

    snprintf(dir, sizeof(dir), "%s", s->program);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(dir, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
    int n = snprintf(path, sizeof(path), "%s/muster", dir);
    if (n < 0 || n >= (int)sizeof(path) || access(path, X_OK) < 0)
        return;
    memcpy(s->launcher, path, sizeof(path));
    memcpy(s->files, dir, sizeof(dir));
}

static void find(void)
{
    ssize_t n = readlink(SYS_SELF_EXE, self.launcher, sizeof(self.launcher) - 1);

    self.launcher[n < 0 ? 0 : n] = '\0';
    memcpy(self.files, self.launcher, sizeof(self.launcher));
    /* A static program has no interpreter either, but it is the file that was started. */
    self.is_bundled = getauxval(AT_BASE) == 0 &&
                      mapped_file((uintptr_t)find_launcher, self.program) &&
                      strcmp(self.program, self.launcher) != 0;
    if (self.is_bundled)
        find_launcher(&self);
    else
        snprintf(self.program, sizeof(self.program), SYS_SELF_EXE);
}

const struct sys_self *sys_self(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    return &self;
}

/* The loader takes options and the program's file first. */
char *const *sys_self_argv(struct arena *a, char *const *argv)
{
    const char *program = sys_self()->program, *more = getenv("LD_LIBRARY_PATH");
    str path = arena_printf(a, "%.*s%s%s", (int)(strrchr(program, '/') - program), program,
                            more && *more ? ":" : "", more ? more : "");
    str first[] = { str_of(argv[0]), S("--library-path"), path,
                    S("--argv0"),    str_of(argv[0]),     str_of(program) };
    size_t n = 1;

    if (!sys_self()->is_bundled)
        return argv;
    while (argv[n])
        n++;
    char **out = arena_alloc(a, (COUNT(first) + n) * sizeof(*out));
    for (size_t i = 0; i < COUNT(first); i++)
        out[i] = (char *)(uintptr_t)arena_z(a, first[i]);   /* nobody changes it */
    memcpy(out + COUNT(first), argv + 1, n * sizeof(*out)); /* with the NULL */
    return out;
}
