#include "base/terminal.h"

#include "tap.h"

static const struct {
    const char *in;
    const char *plain;
    const char *color; /* NULL: as plain */
} rows[] = {
    { "hello", "hello", NULL },
    { "a\tb", "a\tb", NULL },
    { " 10%\r 20%\r 30%", " 30%", NULL },
    { "windows\r", "windows", NULL },
    { "\033[31mred\033[0m", "red", "\033[31mred\033[0m" },
    { "\033[1;38:5:9mstill red", "still red", "\033[1;38:5:9mstill red\033[0m" },
    { "\033[?25lcursor", "cursor", NULL },
    { "\033[>4mkeys", "keys", NULL },
    { "\033[2J\033[Hgone\033[3A", "gone", NULL },
    { "\033]0;title\007x\033(By", "xy", NULL },
    { "\033]8;;url\033\\link", "link", NULL },
    { "\033]52;c;cm0gLXJmCg==\033\\x", "x", NULL },
    { "\033Pdevice\033\\x\033_app\033\\y\033^pm\033\\z\033Xsos\033\\.", "xyz.", NULL },
    { "bell\a\b\x7f.", "bell.", NULL },
    { "\302\233"
      "31mx\303\251",
      "31mx\303\251", NULL },
    { "\302\235"
      "0;title\302\234",
      "0;title", NULL },
    { "\x9b"
      "31mraw",
      "\xef\xbf\xbd"
      "31mraw",
      NULL },
    { "\xe2\x80\xaeturned\xe2\x80\xac \xe2\x81\xa6kept\xe2\x81\xa9", "turned kept", NULL },
    { "\xd8\x9c\xe2\x80\x8f.", ".", NULL },
    { "\xe2\x82\xac \xf0\x9f\x9a\x80", "\xe2\x82\xac \xf0\x9f\x9a\x80", NULL },
    { "\xc0\x9b"
      "31m",
      "\xef\xbf\xbd\xef\xbf\xbd"
      "31m",
      NULL },
    { "\xe0\x82\x9b.", "\xef\xbf\xbd.", NULL },
    { "\xed\xa0\x80.", "\xef\xbf\xbd.", NULL },
    { "\xe2\x80", "\xef\xbf\xbd", NULL },
    { "\xe2\x80\033[2J.", "\xef\xbf\xbd.", NULL },
    { "cut\033", "cut", NULL },
    { "cut\033[12", "cut", NULL },
    { "\033[11111111111111111111111111111111111111111111mlong", "long", NULL },
};

static void lines_hold_no_control_characters(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(buf) struct buf plain = { 0 };
        AUTO(buf) struct buf color = { 0 };
        terminal_line(&plain, str_of(rows[i].in), false);
        terminal_line(&color, str_of(rows[i].in), true);
        is_str(buf_str(&plain), str_of(rows[i].plain), "without colour");
        is_str(buf_str(&color), str_of(rows[i].color ? rows[i].color : rows[i].plain), "with");
    }
}

static void a_newline_ends_whatever_is_open(void)
{
    AUTO(buf) struct buf b = { 0 };

    terminal_text(&b, S("\033]0;title\nshown\033[3\nshown, too\033[31mred\nplain\r\n"), true);
    is_str(buf_str(&b), S("\nshown\nshown, too\033[31mred\033[0m\nplain\n"),
           "titles, sequences and colours end with their line");
}

static void a_stream_may_be_cut_anywhere(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct terminal_filter f = { .color = true };
        AUTO(buf) struct buf whole = { 0 };
        AUTO(buf) struct buf pieces = { 0 };
        str in = str_of(rows[i].in);
        terminal_text(&whole, in, true);
        for (size_t k = 0; k < in.n; k++)
            terminal_filter_add(&f, &pieces, str_sub(in, k, k + 1));
        terminal_filter_end(&f, &pieces);
        is_str(buf_str(&pieces), buf_str(&whole), "byte by byte");
    }
}

int main(void)
{
    lines_hold_no_control_characters();
    a_newline_ends_whatever_is_open();
    a_stream_may_be_cut_anywhere();
    return tap_done();
}
