/* How running jobs look on a terminal: a few lines, made anew whenever something changes. Pure. */
#pragma once

#include "cli/runstate.h"

struct view_opts {
    int64_t now_ms;
    size_t columns; /* no line is wider */
    size_t rows;    /* of the terminal: the view takes at most half */
    bool color;
    bool ascii; /* the terminal shows nothing else */
    str note;   /* a last line, "stopping"; may be empty */
};

struct view {
    str *lines; /* without line feeds */
    size_t *widths;
    size_t n;
};

struct view view_of(struct arena *a, const struct run_state *s, const struct view_opts *o);

/* The colour of a state and of a replica's name, as in "\033[%sm". */
const char *state_hue(str state);
const char *name_hue(str role, int64_t index);
/* "0.8s", "12.3s", "2m5s", "1h2m": from milliseconds. */
str time_short(struct arena *a, int64_t ms);
