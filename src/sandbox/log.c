/* `<RFC3339Nano> stdout|stderr F|P <text>`: F ends a line, P does not. On a full disk lines are
 * dropped, and one says how much, as soon as there is room; the container never waits for it. */

#include "sandbox/log.h"

#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int reopen(struct warden_log *l)
{
    struct stat s;

    l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (l->fd < 0)
        return -1;
    l->size = fstat(l->fd, &s) < 0 ? 0 : s.st_size;
    return 0;
}

int warden_log_open(struct warden_log *l, const char *path, int64_t max_bytes, int64_t files,
                    struct err *e)
{
    *l = (struct warden_log){ .fd = -1, .max_bytes = max_bytes, .files = files };
    if (!path)
        return 0;
    l->path = strdup(path);
    char *slash = strrchr(l->path, '/');
    *slash = 0;
    int made = *l->path ? sys_mkdirs(l->path, 0755) : 0;
    *slash = '/';
    if ((made < 0 || reopen(l) < 0) && errno != ENOSPC) { /* full: tried again at each line */
        err_sys(e, "log %s", path);
        warden_log_done(l);
        return -1;
    }
    return 0;
}

void warden_log_done(struct warden_log *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    free(TAKE(l->path));
    buf_done(&l->line);
}

static void rotate(struct warden_log *l)
{
    char from[PATH_MAX];
    char to[PATH_MAX];

    close(l->fd);
    l->fd = -1;
    for (int64_t i = l->files - 1; i >= 1; i--) {
        snprintf(to, sizeof(to), "%s.%" PRId64, l->path, i);
        snprintf(from, sizeof(from), "%s.%" PRId64, l->path, i - 1);
        rename(i == 1 ? l->path : from, to);
    }
    if (l->files == 1)
        unlink(l->path);
    reopen(l);
}

/* Whole, or not at all: half a line would spoil the next one. */
static bool put(struct warden_log *l, str text)
{
    if (l->fd < 0 && reopen(l) < 0)
        return false;
    ssize_t n;
    do
        n = write(l->fd, text.p, text.n);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)text.n) {
        l->size += n;
        return true;
    }
    if (n > 0 && ftruncate(l->fd, l->size) < 0)
        l->size += n;
    return false;
}

static void stamp(struct buf *b, const char *stream, char tag)
{
    struct timespec t;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d.%09ldZ %s %c ", tm.tm_year + 1900, tm.tm_mon + 1,
               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, t.tv_nsec, stream, tag);
}

static void write_out(struct warden_log *l)
{
    if (l->line.n == 0)
        return;
    if (l->size > 0 && l->size + (int64_t)l->line.n > l->max_bytes && l->fd >= 0)
        rotate(l);
    if (l->lost) {
        struct buf b = { 0 };
        stamp(&b, "stderr", 'F');
        buf_printf(&b, "[muster: %" PRId64 " bytes of output were lost: no space on the disk]\n",
                   l->lost);
        if (put(l, buf_str(&b)))
            l->lost = 0;
        buf_done(&b);
    }
    if (l->lost || !put(l, buf_str(&l->line)))
        l->lost += (int64_t)l->line.n;
    buf_clear(&l->line);
}

static void add_line(struct warden_log *l, const char *stream, char tag, str a, str b)
{
    enum { BATCH = 64 * 1024 };

    if (!l->path)
        return;
    if (l->line.n + a.n + b.n > BATCH || (int64_t)(l->line.n + a.n + b.n) > l->max_bytes / 2)
        write_out(l);
    stamp(&l->line, stream, tag);
    buf_add(&l->line, a);
    buf_add(&l->line, b);
    buf_addc(&l->line, '\n');
}

void warden_log_add(struct warden_log *l, struct warden_stream *s, str text)
{
    while (text.n) {
        size_t room = WARDEN_LOG_LINE - s->rest.n;
        str seen = str_sub(text, 0, room);
        ptrdiff_t at = str_find(seen, '\n');
        str part = at < 0 ? seen : str_sub(text, 0, (size_t)at);
        text = str_sub(text, part.n + (at >= 0), text.n);
        if (at < 0 && part.n < room) { /* more of this line may come */
            buf_add(&s->rest, part);
            break;
        }
        add_line(l, s->name, at < 0 ? 'P' : 'F', buf_str(&s->rest), part);
        buf_clear(&s->rest);
    }
    if (l->live && s->rest.n) {
        add_line(l, s->name, 'P', buf_str(&s->rest), STR_NONE);
        buf_clear(&s->rest);
    }
    write_out(l);
}

void warden_log_end(struct warden_log *l, struct warden_stream *s)
{
    if (s->rest.n)
        add_line(l, s->name, 'P', buf_str(&s->rest), STR_NONE);
    write_out(l);
    buf_done(&s->rest);
}
