/* See screen.h. */

#include "cli/screen.h"

#include "base/terminal.h"
#include "cli/outlet.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SOON_MS = 40, SECOND_MS = 1000, MUCH = 64 * 1024 };

struct screen {
    struct screen_opts o;
    struct outlet *out;
    struct buf log;  /* yet to be put out */
    struct buf said; /* the same, of ours; after the log lines */
    size_t *drawn;   /* widths of the view's lines, as they stand now */
    size_t n_drawn;
    size_t cap_drawn;
    struct loop_timer *soon;
    struct loop_timer *ticks; /* times pass by themselves */
    bool over;
};

bool screen_can_draw(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool screen_wants_color(int fd)
{
    const char *no = getenv("NO_COLOR");

    return screen_can_draw(fd) && !(no && *no);
}

bool screen_has_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static void size_of(int fd, size_t *columns, size_t *rows)
{
    struct winsize w = { 0 };

    *columns = 80;
    *rows = 24;
    if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col && w.ws_row) {
        *columns = w.ws_col;
        *rows = w.ws_row;
    }
}

/* Terminals that have become narrower have wrapped what was drawn. Line by line: where all of the
 * screen is cleared at once, some keep what was there to scroll back to. */
static void erase(const struct screen *s, struct buf *b, size_t columns)
{
    size_t rows = 0;

    for (size_t i = 0; i < s->n_drawn; i++)
        rows += s->drawn[i] > columns ? (s->drawn[i] + columns - 1) / columns : 1;
    buf_addc(b, '\r');
    buf_add(b, S("\033[K")); /* what was typed */
    while (rows--)
        buf_add(b, S("\033[A\033[K"));
}

static void draw(struct screen *s, struct buf *b, size_t columns, size_t rows)
{
    AUTO(arena) struct arena *a = arena_new();
    struct view v = s->over ? (struct view){ 0 } : s->o.view(s->o.ctx, a, columns, rows);

    if (v.n > s->cap_drawn) {
        s->cap_drawn = v.n;
        s->drawn = mem_resize(s->drawn, v.n * sizeof(*s->drawn));
    }
    s->n_drawn = v.n;
    for (size_t i = 0; i < v.n; i++) {
        terminal_line(b, v.lines[i], s->o.color);
        buf_addc(b, '\n');
        s->drawn[i] = v.widths[i];
    }
}

static void flush(struct screen *s)
{
    size_t columns;
    size_t rows;

    loop_timer_stop(TAKE(s->soon));
    if (!s->o.live) {
        outlet_put(s->out, s->o.logs, buf_str(&s->log));
        outlet_put(s->out, STDERR_FILENO, buf_str(&s->said));
        buf_clear(&s->log);
        buf_clear(&s->said);
        return;
    }
    AUTO(buf) struct buf b = { 0 };
    size_of(s->o.logs, &columns, &rows);
    erase(s, &b, columns);
    buf_add(&b, buf_str(&s->log));
    if (s->said.n) { /* above the view, if it is the same terminal */
        outlet_put(s->out, s->o.logs, buf_str(&b));
        outlet_put(s->out, STDERR_FILENO, buf_str(&s->said));
        buf_clear(&b);
    }
    draw(s, &b, columns, rows);
    outlet_put(s->out, s->o.logs, buf_str(&b));
    buf_clear(&s->log);
    buf_clear(&s->said);
}

static void on_soon(void *arg)
{
    flush(arg);
}

static void later(struct screen *s)
{
    if (s->log.n + s->said.n > MUCH)
        flush(s);
    else if (!s->soon)
        s->soon = loop_timer_start(s->o.loop, s->o.live ? SOON_MS : 0, 0, on_soon, s);
}

static void on_size(void *arg, int signo)
{
    (void)signo;
    screen_touch(arg);
}

struct screen *screen_new(const struct screen_opts *o)
{
    struct screen *s = mem_new(sizeof(*s));

    s->o = *o;
    s->out = outlet_new();
    if (o->live) {
        loop_on_signal(o->loop, SIGWINCH, on_size, s, NULL);
        s->ticks = loop_timer_start(o->loop, SECOND_MS, SECOND_MS, on_soon, s);
    }
    return s;
}

static void add_lines(const struct screen *s, struct buf *b, str lines, int fd)
{
    bool is_terminal = isatty(fd);

    if (!is_terminal && !(fd == STDERR_FILENO && s->o.color)) {
        buf_add(b, lines);
        return;
    }
    while (lines.n) { /* colours are for the terminal that the view is on */
        terminal_line(b, str_cut(&lines, '\n'), s->o.color && is_terminal);
        buf_addc(b, '\n');
    }
}

void screen_log(struct screen *s, str lines)
{
    if (s->o.live && s->said.n)
        flush(s); /* in the order of things */
    add_lines(s, &s->log, lines, s->o.logs);
    later(s);
}

void screen_say(struct screen *s, str lines)
{
    if (!s->o.live && s->log.n) { /* in the order of things, should both go to one place */
        outlet_put(s->out, s->o.logs, buf_str(&s->log));
        buf_clear(&s->log);
    }
    add_lines(s, &s->said, lines, STDERR_FILENO);
    if (s->o.live)
        later(s);
    else
        flush(s);
}

void screen_touch(struct screen *s)
{
    if (s->o.live && !s->over)
        later(s);
}

bool screen_is_terminal(const struct screen *s)
{
    return isatty(s->o.logs);
}

bool screen_is_unread(struct screen *s)
{
    return outlet_is_broken(s->out, s->o.logs);
}

void screen_last(struct screen *s, str lines)
{
    s->over = true;
    loop_timer_stop(TAKE(s->ticks));
    screen_say(s, lines);
    flush(s);
}

void screen_free(struct screen *s)
{
    if (!s)
        return;
    s->over = true;
    flush(s);
    loop_timer_stop(s->ticks);
    outlet_free(s->out);
    buf_done(&s->log);
    buf_done(&s->said);
    free(s->drawn);
    free(s);
}
