/* The data directory and its small files. */

#include "cli/data.h"

#include "base/str.h"
#include "loop/loop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static void fd_auto(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int data_dir(struct arena *a, const char *given, const char **out, struct err *e)
{
    const char *xdg = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");

    if (given && !*given)
        return err_set(e, ERR_INVALID, "--data names no directory");
    if (given)
        *out = given;
    else if (xdg && xdg[0] == '/')
        *out = arena_printf(a, "%s/muster", xdg).p;
    else if (home && home[0] == '/')
        *out = arena_printf(a, "%s/.local/share/muster", home).p;
    else
        return err_set(e, ERR_INVALID,
                       "neither --data nor XDG_DATA_HOME nor HOME says where to keep data");
    return 0;
}

int data_make(const char *dir, struct err *e)
{
    char path[PATH_MAX];
    size_t n = strlen(dir);

    if (n == 0 || n >= sizeof(path))
        return err_set(e, ERR_INVALID, "data directory name of %zu bytes", n);
    memcpy(path, dir, n + 1);
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_sys(e, "make %s", path);
        *p = '/';
    }
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_sys(e, "make %s", path);
    return 0;
}

/* What is there before the database is, should the first start be cut short. */
static bool is_early(const char *name)
{
    static const char *const names[] = { ".",    "..",          "lock",   "pki",   "token", "log",
                                         "runs", "images.yaml", "images", "agent", "claims" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "token.", 6) == 0; /* half written */
}

/* Ours, or empty. A directory with other people's files is not to be written into. */
static int check_ours(const char *dir, struct err *e)
{
    struct stat st;
    char path[PATH_MAX + 16];
    DIR *d;

    if (stat(dir, &st) < 0)
        return err_sys(e, "stat %s", dir);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_INVALID, "%s is not a directory", dir);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_INVALID, "%s belongs to another user", dir);
    static const char *const ours[] = { "muster.db", "changes" }; /* the store misses its file */
    for (size_t i = 0; i < COUNT(ours); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, ours[i]);
        if (access(path, F_OK) == 0)
            return 0;
    }
    d = opendir(dir);
    if (!d)
        return err_sys(e, "read %s", dir);
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(d));)
        empty = empty && is_early(entry->d_name);
    closedir(d);
    if (!empty)
        return err_set(e, ERR_INVALID, "%s is not empty and was not made by muster", dir);
    return 0;
}

static int read_pid(int fd)
{
    char text[32] = { 0 };

    if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    return (int)strtol(text, NULL, 10);
}

int data_hold(int fd, struct err *e)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    /* in this order it needs no room on a full disk */
    if (pwrite(fd, text, (size_t)n, 0) != n || ftruncate(fd, n) < 0)
        return err_sys(e, "write the lock");
    return 0;
}

int data_close(const char *dir, struct err *e)
{
    struct stat st; /* pods of other users may be running, and passing through */
    bool open = stat(dir, &st) == 0 && (st.st_mode & 0777) == 0711;

    return !open && chmod(dir, 0700) < 0 ? err_sys(e, "protect %s", dir) : 0;
}

static int take_lock(const char *dir, const char *path, int fd, struct err *e)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return err_sys(e, "lock %s", path);
        return err_set(e, ERR_CONFLICT, "another muster (pid %d) uses %s", read_pid(fd), dir);
    }
    if (data_close(dir, e) < 0)
        return -1;
    return data_hold(fd, e) < 0 ? err_wrap(e, "%s", path) : 0;
}

int data_lock(const char *dir, int *out, struct err *e)
{
    char path[PATH_MAX + 16];

    if (data_make(dir, e) < 0 || check_ours(dir, e) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/lock", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, "open %s", path);
    if (take_lock(dir, path, fd, e) < 0) {
        close(fd);
        return -1;
    }
    *out = fd;
    return 0;
}

int data_holder(const char *dir, int *pid, struct err *e)
{
    char path[PATH_MAX + 16];

    *pid = 0;
    snprintf(path, sizeof(path), "%s/lock", dir);
    __attribute__((cleanup(fd_auto))) int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_sys(e, "open %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return err_sys(e, "lock %s", path);
    *pid = read_pid(fd);
    return 0;
}

static void on_alarm(int signo)
{
    (void)signo; /* only to interrupt flock */
}

int data_wait_free(const char *dir, int seconds, struct err *e)
{
    char path[PATH_MAX + 16];
    struct sigaction act = { .sa_handler = on_alarm };

    snprintf(path, sizeof(path), "%s/lock", dir);
    __attribute__((cleanup(fd_auto))) int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_sys(e, "open %s", path);
    sigaction(SIGALRM, &act, NULL);
    alarm((unsigned)seconds);
    int rc = flock(fd, LOCK_EX);
    int why = errno;
    alarm(0);
    if (rc == 0)
        return 0;
    errno = why;
    return why == EINTR ? err_set(e, ERR_TIMEOUT, "still running after %d s", seconds)
                        : err_sys(e, "lock %s", path);
}

/* Then nothing needs writing, which works on a full disk too. */
static bool has_text(const char *path, str text)
{
    AUTO(arena) struct arena *a = arena_new();
    struct stat st;
    str have = STR_NONE;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600 &&
           data_read(a, path, &have, NULL) == 0 && str_eq(have, text);
}

/* On a full disk there is no room for a second file, but there is that of the first. */
static int write_over(const char *path, str text, struct err *e)
{
    __attribute__((cleanup(fd_auto))) int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    bool fits = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
                st.st_uid == geteuid() && (st.st_mode & 07777) == 0600 &&
                (int64_t)text.n <= (int64_t)st.st_blocks * 512;

    errno = ENOSPC;
    if (!fits || pwrite(fd, text.p, text.n, 0) != (ssize_t)text.n ||
        ftruncate(fd, (off_t)text.n) < 0)
        return err_sys(e, "write %s", path);
    return 0;
}

static int write_all(int fd, str text)
{
    for (size_t done = 0; done < text.n;) {
        ssize_t n = write(fd, text.p + done, text.n - done);
        if (n < 0)
            return -1;
        done += (size_t)n;
    }
    return 0;
}

static int replace(const char *path, str text, struct err *e)
{
    char temp[PATH_MAX + 16];

    snprintf(temp, sizeof(temp), "%s.%d.new", path, (int)getpid());
    unlink(temp); /* whatever is there is not ours: its owner would read along */
    __attribute__((cleanup(fd_auto))) int fd =
        open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(e, "write %s", path);
    if (write_all(fd, text) < 0 || fchmod(fd, 0600) < 0 || fsync(fd) < 0 ||
        rename(temp, path) < 0) {
        err_sys(e, "write %s", path);
        unlink(temp);
        return -1;
    }
    return 0;
}

int data_write(const char *path, str text, struct err *e)
{
    struct err why = { 0 };

    if (has_text(path, text) || replace(path, text, &why) == 0)
        return 0;
    if (why.sys == ENOSPC || why.sys == EDQUOT)
        return write_over(path, text, e);
    if (e)
        *e = why;
    return -1;
}

int data_write_into(const char *path, str text, struct err *e)
{
    struct stat st;

    if (lstat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
                                  st.st_nlink != 1 || (st.st_mode & 07777) != 0600))
        unlink(path); /* who has it open would read along */
    __attribute__((cleanup(fd_auto))) int fd =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || fchmod(fd, 0600) < 0)
        return err_sys(e, "write %s", path);
    if (!text.p || has_text(path, text))
        return 0;
    if (write_all(fd, text) < 0 || ftruncate(fd, (off_t)text.n) < 0 || fsync(fd) < 0)
        return err_sys(e, "write %s", path);
    return 0;
}

int data_read(struct arena *a, const char *path, str *out, struct err *e)
{
    __attribute__((cleanup(fd_auto))) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0) {
        err_sys(e, "open %s", path);
        if (e && e->sys == ENOENT)
            e->code = ERR_NOT_FOUND;
        return -1;
    }
    if (fstat(fd, &st) < 0 || st.st_size > FILE_MAX)
        return err_set(e, ERR_TOO_LARGE, "%s is larger than %d bytes", path, FILE_MAX);
    char *room = arena_alloc(a, (size_t)st.st_size + 1);
    ssize_t n = read(fd, room, (size_t)st.st_size);
    if (n < 0)
        return err_sys(e, "read %s", path);
    room[n] = 0;
    *out = (str){ room, (size_t)n };
    return 0;
}

int data_token(struct arena *a, const char *dir, str *out, struct err *e)
{
    const char *path = arena_printf(a, "%s/token", dir).p;
    unsigned char dice[24];
    AUTO(buf) struct buf b = { 0 };
    struct err why = { 0 };
    str text = STR_NONE;

    if (data_read(a, path, &text, &why) == 0 && str_trim(text).n >= 32) {
        *out = str_trim(text);
        return 0;
    }
    if (why.code != ERR_OK && why.code != ERR_NOT_FOUND) {
        *e = why;
        return -1;
    }
    random_bytes(dice, sizeof(dice));
    for (size_t i = 0; i < sizeof(dice); i++)
        buf_printf(&b, "%02x", dice[i]);
    *out = arena_str(a, buf_str(&b));
    buf_addc(&b, '\n');
    return data_write(path, buf_str(&b), e);
}
