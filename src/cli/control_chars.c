/* Lines of others on a screen of ours: see strip_control_chars in screen.h. */

#include "cli/screen.h"

enum { ESC = 0x1b, BEL = 7 };

/* How many bytes the control sequence at s takes; *is_color: it only changes colours. */
static size_t sequence(str s, bool *is_color)
{
    size_t i = 2;

    *is_color = false;
    if (s.n < 2)
        return s.n;
    if (s.p[1] == '[') {
        while (i < s.n && (unsigned char)s.p[i] >= 0x20 && (unsigned char)s.p[i] < 0x40)
            i++;
        *is_color = i < s.n && s.p[i] == 'm';
        return i < s.n ? i + 1 : s.n;
    }
    if (s.p[1] == ']' || s.p[1] == 'P' || s.p[1] == '_' || s.p[1] == '^') {
        while (i < s.n && s.p[i] != BEL && !(s.p[i] == '\\' && s.p[i - 1] == ESC))
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    while (i < s.n && (unsigned char)s.p[i - 1] >= 0x20 && (unsigned char)s.p[i - 1] < 0x30)
        i++;
    return i;
}

void strip_control_chars(struct buf *b, str line, bool color)
{
    bool colored = false;

    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    ptrdiff_t cr = str_rfind(line, '\r');
    if (cr >= 0)
        line = str_sub(line, (size_t)cr + 1, line.n);
    for (size_t i = 0; i < line.n;) {
        unsigned char c = (unsigned char)line.p[i];
        str rest = str_sub(line, i, line.n);
        if (c == ESC) {
            bool is_color;
            size_t n = sequence(rest, &is_color);
            if (is_color && color)
                buf_add(b, str_sub(rest, 0, n));
            colored = colored || (is_color && color);
            i += n;
            continue;
        }
        bool c1 = c == 0xc2 && rest.n > 1 && (unsigned char)rest.p[1] < 0xa0;
        if (c == '\t' || (c >= 32 && c != 127 && !c1))
            buf_addc(b, line.p[i]);
        i += c1 ? 2 : 1;
    }
    if (colored)
        buf_add(b, S("\033[0m"));
}
