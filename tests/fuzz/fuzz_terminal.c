/* What passes the terminal filter holds no control character but tab, newline and, if wanted,
 * colours; it is UTF-8, and passes again unchanged. */

#include "base/terminal.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) struct buf plain = { 0 };
    AUTO(buf) struct buf color = { 0 };
    AUTO(buf) struct buf again = { 0 };
    str in = { (const char *)data, size };

    terminal_text(&plain, in, false);
    terminal_text(&color, in, true);
    terminal_text(&again, buf_str(&color), true);
    check(str_eq(buf_str(&color), buf_str(&again)));
    check(str_is_utf8(buf_str(&plain)));
    for (size_t i = 0; i < plain.n; i++)
        check((unsigned char)plain.p[i] >= 0x20 || plain.p[i] == '\n' || plain.p[i] == '\t');
    return 0;
}
