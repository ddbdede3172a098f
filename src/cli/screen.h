/* What `muster run` shows: log lines that scroll and, on a terminal, a view below them that is
 * redrawn in place. Elsewhere plain lines. */
#pragma once

#include "cli/view.h"
#include "loop/loop.h"

struct screen_opts {
    struct loop *loop;
    int logs;  /* descriptor for log lines, 1 or 2, and for the view; what we say goes to 2 */
    bool live; /* there is a view */
    bool color;
    struct view (*view)(void *ctx, struct arena *a, size_t columns, size_t rows);
    void *ctx;
};

struct screen;

struct screen *screen_new(const struct screen_opts *o);
/* Whole lines. A terminal gets them without control characters, all else gets them as they are. */
void screen_log(struct screen *s, str lines);
void screen_say(struct screen *s, str lines);    /* ours, among them */
void screen_touch(struct screen *s);             /* the view has changed */
bool screen_is_terminal(const struct screen *s); /* the logs go to one */
bool screen_is_unread(struct screen *s);         /* nobody reads the logs any more */
void screen_last(struct screen *s, str lines);   /* no view any more, and these below all */
void screen_free(struct screen *s);              /* when all is written */

/* A terminal that can be drawn on: by fd and $TERM. */
bool screen_can_draw(int fd);
bool screen_wants_color(int fd); /* and $NO_COLOR */
bool screen_has_utf8(void);      /* by $LC_ALL, $LC_CTYPE and $LANG */
