/* Text from outside on its way to a terminal: the one filter that keeps it from moving the cursor,
 * clearing the screen, setting titles, hiding in C1 bytes or turning the reading direction. Pure.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

enum { TERMINAL_HELD = 32 }; /* most bytes of one colour sequence or character */

/* All zero is a filter that drops colours. Streams may be cut anywhere. */
struct terminal_filter {
    bool color;   /* sequences that set colours and styles pass, and end with their line */
    bool colored; /* one of them is in force */
    enum {
        TERMINAL_TEXT,
        TERMINAL_CHAR,       /* in a character of several bytes */
        TERMINAL_ESC,        /* after ESC */
        TERMINAL_ESC_MORE,   /* after ESC and an intermediate byte */
        TERMINAL_CSI,        /* in ESC [ ... */
        TERMINAL_STRING,     /* in a title, link or other text for the terminal */
        TERMINAL_STRING_ESC, /* after an ESC in it */
    } state;
    char held[TERMINAL_HELD];
    size_t n_held;
    size_t wanted; /* of a character */
};

/* Adds what may be shown to b. Invalid UTF-8 becomes U+FFFD; carriage returns are dropped. */
void terminal_filter_add(struct terminal_filter *f, struct buf *b, str bytes);
/* Ends a sequence that was cut, and colours that are in force. */
void terminal_filter_end(struct terminal_filter *f, struct buf *b);

/* A whole text: terminal_filter_add, then terminal_filter_end. */
void terminal_text(struct buf *b, str text, bool color);
/* One line, as it would stand after its last carriage return. */
void terminal_line(struct buf *b, str line, bool color);
