/* A state machine over bytes (ECMA-48, as terminals read them). Whatever a sequence is, a newline
 * ends it: text that never closes its title must not swallow all that follows. */

#include "base/terminal.h"

enum { ESC = 0x1b, BEL = 7, DEL = 0x7f };

#define REPLACEMENT "\xef\xbf\xbd"
#define RESET       "\033[0m"

static void reset_color(struct terminal_filter *f, struct buf *b)
{
    if (f->colored)
        buf_add(b, S(RESET));
    f->colored = false;
}

/* ---- characters of several bytes */

static size_t char_bytes(unsigned char lead)
{
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

static uint32_t char_code(const char *p, size_t n)
{
    uint32_t c = (unsigned char)p[0] & (0xffU >> (n + 1));

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

static bool is_valid(uint32_t c, size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

    return c >= least[n] && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
}

/* C1 controls, and marks that turn the direction in which a line is read: with those, what is shown
 * is not what is there (CVE-2021-42574). */
static bool is_hidden(uint32_t c)
{
    return (c >= 0x80 && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void end_char(struct terminal_filter *f, struct buf *b)
{
    uint32_t c = f->n_held == f->wanted ? char_code(f->held, f->n_held) : UINT32_MAX;

    f->state = TERMINAL_TEXT;
    if (f->n_held < f->wanted || !is_valid(c, f->wanted))
        buf_add(b, S(REPLACEMENT));
    else if (!is_hidden(c))
        buf_add(b, (str){ f->held, f->n_held });
}

/* ---- sequences */

static void on_text(struct terminal_filter *f, struct buf *b, unsigned char c)
{
    f->n_held = 0;
    if (c == ESC) {
        f->state = TERMINAL_ESC;
    } else if (c == '\n') {
        reset_color(f, b);
        buf_addc(b, '\n');
    } else if (c == '\t' || (c >= 0x20 && c < DEL)) {
        buf_addc(b, (char)c);
    } else if (c >= 0x80 && (f->wanted = char_bytes(c)) > 0) {
        f->held[f->n_held++] = (char)c;
        f->state = TERMINAL_CHAR;
    } else if (c >= 0x80) {
        buf_add(b, S(REPLACEMENT));
    }
}

static void on_escape(struct terminal_filter *f, unsigned char c)
{
    if (c == '[')
        f->state = TERMINAL_CSI;
    else if (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X')
        f->state = TERMINAL_STRING;
    else if (c >= 0x20 && c < 0x30)
        f->state = TERMINAL_ESC_MORE;
    else if (c != ESC)
        f->state = TERMINAL_TEXT;
}

static bool is_color(const struct terminal_filter *f)
{
    for (size_t i = 0; i < f->n_held; i++)
        if ((f->held[i] < '0' || f->held[i] > '9') && f->held[i] != ';' && f->held[i] != ':')
            return false;
    return f->n_held < TERMINAL_HELD;
}

static void end_csi(struct terminal_filter *f, struct buf *b, unsigned char last)
{
    str held = { f->held, f->n_held };

    f->state = TERMINAL_TEXT;
    if (last != 'm' || !f->color || !is_color(f))
        return;
    buf_add(b, S("\033["));
    buf_add(b, held);
    buf_addc(b, 'm');
    f->colored = held.n > 0 && !str_eqz(held, "0");
}

/* Returns true if the byte belongs to the sequence. */
static bool on_csi(struct terminal_filter *f, struct buf *b, unsigned char c)
{
    if (c >= 0x20 && c < 0x40) {
        if (f->n_held < TERMINAL_HELD)
            f->held[f->n_held++] = (char)c;
        return true;
    }
    if (c < 0x40 || c >= DEL) {
        f->state = TERMINAL_TEXT;
        return false;
    }
    end_csi(f, b, c);
    return true;
}

/* Returns true if the byte was dealt with. */
static bool on_byte(struct terminal_filter *f, struct buf *b, unsigned char c)
{
    if (c == '\n' && f->state > TERMINAL_CHAR)
        f->state = TERMINAL_TEXT;
    switch (f->state) {
    case TERMINAL_TEXT:
        on_text(f, b, c);
        return true;
    case TERMINAL_CHAR:
        if ((c & 0xc0) == 0x80)
            f->held[f->n_held++] = (char)c;
        if ((c & 0xc0) != 0x80 || f->n_held == f->wanted)
            end_char(f, b);
        return (c & 0xc0) == 0x80;
    case TERMINAL_ESC:
        on_escape(f, c);
        return true;
    case TERMINAL_ESC_MORE:
        if (c < 0x20 || c >= 0x30)
            f->state = TERMINAL_TEXT;
        return true;
    case TERMINAL_CSI:
        return on_csi(f, b, c);
    case TERMINAL_STRING:
        if (c == BEL)
            f->state = TERMINAL_TEXT;
        else if (c == ESC)
            f->state = TERMINAL_STRING_ESC;
        return true;
    case TERMINAL_STRING_ESC:
        f->state = c == '\\' ? TERMINAL_TEXT : c == ESC ? TERMINAL_STRING_ESC : TERMINAL_STRING;
        return true;
    }
    return true;
}

void terminal_filter_add(struct terminal_filter *f, struct buf *b, str bytes)
{
    for (size_t i = 0; i < bytes.n;)
        i += on_byte(f, b, (unsigned char)bytes.p[i]);
}

void terminal_filter_end(struct terminal_filter *f, struct buf *b)
{
    if (f->state == TERMINAL_CHAR)
        end_char(f, b);
    f->state = TERMINAL_TEXT;
    reset_color(f, b);
}

void terminal_text(struct buf *b, str text, bool color)
{
    struct terminal_filter f = { .color = color };

    terminal_filter_add(&f, b, text);
    terminal_filter_end(&f, b);
}

void terminal_line(struct buf *b, str line, bool color)
{
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    ptrdiff_t cr = str_rfind(line, '\r');
    terminal_text(b, cr < 0 ? line : str_sub(line, (size_t)cr + 1, line.n), color);
}
