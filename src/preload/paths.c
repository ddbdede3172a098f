/* Files of the pod at paths that cannot be made on the machine: read-only volumes whose place
 * another pod has, or nobody may make, and the termination message. Calls that look at files by
 * name find them where they really are; MUSTER_PATHS says where: place and file in turn, a line
 * each. */

/* Every function under its own name, as programs have either. */
#undef _FILE_OFFSET_BITS

#include "preload/preload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MOST = 64, TEXT_BYTES = 32 * 1024 };

static char text[TEXT_BYTES];
static struct {
    const char *to, *from;
    size_t n; /* length of to */
} moves[MOST];
static size_t nmoves;

__attribute__((constructor)) static void read_moves(void)
{
    const char *given = getenv("MUSTER_PATHS");
    size_t n = given ? strlen(given) : 0;

    if (n == 0 || n >= sizeof(text))
        return;
    memcpy(text, given, n + 1);
    char *at = text;
    for (size_t i = 0; i < MOST && at && *at; i++) {
        char *from = strchr(at, '\n');
        char *end = from ? strchr(from + 1, '\n') : NULL;
        if (!from || !end)
            return;
        *from = *end = '\0';
        moves[i].to = at;
        moves[i].from = from + 1;
        moves[i].n = strlen(at);
        nmoves = i + 1;
        at = end + 1;
    }
}

/* The path where it is; room: of PATH_MAX. */
__attribute__((noinline)) static const char *moved(const char *path, char *room)
{
    if (nmoves == 0 || !path || path[0] != '/')
        return path;
    for (size_t i = 0; i < nmoves; i++) {
        size_t n = moves[i].n, from = strlen(moves[i].from);
        if (strncmp(path, moves[i].to, n) != 0 || (path[n] != '/' && path[n] != '\0') ||
            from + strlen(path + n) >= PATH_MAX)
            continue;
        memcpy(room, moves[i].from, from);
        memcpy(room + from, path + n, strlen(path + n) + 1);
        return room;
    }
    return path;
}

/* A function that takes a path, stood before: WRAP(type, name, (parameters), path, (arguments)) */
#define WRAP(type, name, params, path, args)                        \
    static void *next_##name;                                       \
    type name params;                                               \
    type name params                                                \
    {                                                               \
        char room[PATH_MAX];                                        \
                                                                    \
        path = moved(path, room);                                   \
        return ((type(*) params)pre_next(&next_##name, #name))args; \
    }

/* ---- opening */

#define WRAP_OPEN(name)                                    \
    static void *next_##name;                              \
    int name(const char *path, int flags, ...)             \
    {                                                      \
        char room[PATH_MAX];                               \
        mode_t mode = 0;                                   \
                                                           \
        if (flags & (O_CREAT | __O_TMPFILE)) {             \
            va_list ap;                                    \
            va_start(ap, flags);                           \
            mode = va_arg(ap, mode_t);                     \
            va_end(ap);                                    \
        }                                                  \
        return NEXT(name)(moved(path, room), flags, mode); \
    }
#define WRAP_OPENAT(name)                                       \
    static void *next_##name;                                   \
    int name(int dir, const char *path, int flags, ...)         \
    {                                                           \
        char room[PATH_MAX];                                    \
        mode_t mode = 0;                                        \
                                                                \
        if (flags & (O_CREAT | __O_TMPFILE)) {                  \
            va_list ap;                                         \
            va_start(ap, flags);                                \
            mode = va_arg(ap, mode_t);                          \
            va_end(ap);                                         \
        }                                                       \
        return NEXT(name)(dir, moved(path, room), flags, mode); \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
/* What compilers make of them where no file is made. */
WRAP(int, __open_2, (const char *path, int flags), path, (path, flags))
WRAP(int, __open64_2, (const char *path, int flags), path, (path, flags))
WRAP(int, __openat_2, (int dir, const char *path, int flags), path, (dir, path, flags))
WRAP(int, __openat64_2, (int dir, const char *path, int flags), path, (dir, path, flags))
WRAP(FILE *, fopen, (const char *path, const char *mode), path, (path, mode))
WRAP(FILE *, fopen64, (const char *path, const char *mode), path, (path, mode))
WRAP(DIR *, opendir, (const char *path), path, (path))

/* ---- looking */

/* glibc before 2.33 has only functions that are told which struct stat is meant: its only one. */
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

#define WRAP_STAT(name, old_name, type)                                         \
    static void *next_##name, *next_##old_name;                                 \
    int name(const char *path, type *s)                                         \
    {                                                                           \
        char room[PATH_MAX];                                                    \
        int (*fn)(const char *, type *) = pre_next_if_any(&next_##name, #name); \
        int (*old)(int, const char *, type *);                                  \
                                                                                \
        path = moved(path, room);                                               \
        if (fn)                                                                 \
            return fn(path, s);                                                 \
        old = pre_next(&next_##old_name, #old_name);                            \
        return old(STAT_VERSION, path, s);                                      \
    }
#define WRAP_FSTATAT(name, old_name, type)                                                \
    static void *next_##name, *next_##old_name;                                           \
    int name(int dir, const char *path, type *s, int flags)                               \
    {                                                                                     \
        char room[PATH_MAX];                                                              \
        int (*fn)(int, const char *, type *, int) = pre_next_if_any(&next_##name, #name); \
        int (*old)(int, int, const char *, type *, int);                                  \
                                                                                          \
        path = moved(path, room);                                                         \
        if (fn)                                                                           \
            return fn(dir, path, s, flags);                                               \
        old = pre_next(&next_##old_name, #old_name);                                      \
        return old(STAT_VERSION, dir, path, s, flags);                                    \
    }

WRAP_STAT(stat, __xstat, struct stat)
WRAP_STAT(stat64, __xstat64, struct stat64)
WRAP_STAT(lstat, __lxstat, struct stat)
WRAP_STAT(lstat64, __lxstat64, struct stat64)
WRAP_FSTATAT(fstatat, __fxstatat, struct stat)
WRAP_FSTATAT(fstatat64, __fxstatat64, struct stat64)

/* Programs that find it by its name use it even if their C library has none, and know this answer.
 */
int statx(int dir, const char *path, int flags, unsigned mask, struct statx *s)
{
    static void *next;
    char room[PATH_MAX];
    __typeof__(&statx) fn = pre_next_if_any(&next, "statx");

    if (fn)
        return fn(dir, moved(path, room), flags, mask, s);
    errno = ENOSYS;
    return -1;
}

WRAP(int, access, (const char *path, int how), path, (path, how))
WRAP(int, eaccess, (const char *path, int how), path, (path, how))
WRAP(int, euidaccess, (const char *path, int how), path, (path, how))
WRAP(int, faccessat, (int dir, const char *path, int how, int flags), path, (dir, path, how, flags))
WRAP(ssize_t, readlink, (const char *path, char *to, size_t size), path, (path, to, size))
WRAP(ssize_t, getxattr, (const char *path, const char *name, void *to, size_t size), path,
     (path, name, to, size))
WRAP(ssize_t, lgetxattr, (const char *path, const char *name, void *to, size_t size), path,
     (path, name, to, size))
WRAP(ssize_t, listxattr, (const char *path, char *to, size_t size), path, (path, to, size))
WRAP(ssize_t, llistxattr, (const char *path, char *to, size_t size), path, (path, to, size))
WRAP(char *, realpath, (const char *path, char *to), path, (path, to))
WRAP(int, chdir, (const char *path), path, (path))

/* As programs built for an older libc look. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the names are libc's */
int __xstat(int version, const char *path, struct stat *s);
int __lxstat(int version, const char *path, struct stat *s);
int __xstat64(int version, const char *path, struct stat64 *s);
int __lxstat64(int version, const char *path, struct stat64 *s);
int __fxstatat(int version, int dir, const char *path, struct stat *s, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *s, int flags);
int __xstat(int version, const char *path, struct stat *s)
{
    (void)version;
    return stat(path, s);
}
int __lxstat(int version, const char *path, struct stat *s)
{
    (void)version;
    return lstat(path, s);
}
int __xstat64(int version, const char *path, struct stat64 *s)
{
    (void)version;
    return stat64(path, s);
}
int __lxstat64(int version, const char *path, struct stat64 *s)
{
    (void)version;
    return lstat64(path, s);
}
int __fxstatat(int version, int dir, const char *path, struct stat *s, int flags)
{
    (void)version;
    return fstatat(dir, path, s, flags);
}
int __fxstatat64(int version, int dir, const char *path, struct stat64 *s, int flags)
{
    (void)version;
    return fstatat64(dir, path, s, flags);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* ---- running */

WRAP(int, execve, (const char *path, char *const argv[], char *const envp[]), path,
     (path, argv, envp))
WRAP(int, execv, (const char *path, char *const argv[]), path, (path, argv))
WRAP(int, execvp, (const char *path, char *const argv[]), path, (path, argv))
WRAP(int, execvpe, (const char *path, char *const argv[], char *const envp[]), path,
     (path, argv, envp))
WRAP(int, posix_spawn,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *files,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     path, (pid, path, files, attr, argv, envp))
WRAP(int, posix_spawnp,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *files,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     path, (pid, path, files, attr, argv, envp))
