/* See self.h. The kernel says whether it started a loader as a program (then there is no base
 * address of an interpreter), and which file our code is mapped from. */

#include "sys/self.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
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
    ssize_t n = readlink("/proc/self/exe", self.launcher, sizeof(self.launcher) - 1);

    self.launcher[n < 0 ? 0 : n] = '\0';
    memcpy(self.files, self.launcher, sizeof(self.launcher));
    /* A static program has no interpreter either, but it is the file that was started. */
    self.is_bundled = getauxval(AT_BASE) == 0 &&
                      mapped_file((uintptr_t)find_launcher, self.program) &&
                      strcmp(self.program, self.launcher) != 0;
    if (self.is_bundled)
        find_launcher(&self);
    else
        snprintf(self.program, sizeof(self.program), "/proc/self/exe");
}

const struct sys_self *sys_self(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    return &self;
}
