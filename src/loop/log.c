/* A line is put together first and leaves in one write(), so lines of threads never mix. */

#include "loop/log.h"

#include "base/buf.h"
#include "base/terminal.h"
#include "loop/loop.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_int least_level = LOG_INFO;
static atomic_int line_format = LOG_LOGFMT;
static atomic_int log_fd = STDERR_FILENO;

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_to(int fd)
{
    atomic_store(&log_fd, fd);
}

void log_setup(enum log_level least, enum log_format format)
{
    atomic_store(&least_level, (int)least);
    atomic_store(&line_format, (int)format);
}

/* JSON's escapes serve logfmt too. What is not UTF-8 becomes U+FFFD. */
static void add_quoted(struct buf *b, str s)
{
    bool utf8 = str_is_utf8(s);

    buf_addc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c == '\n')
            buf_add(b, S("\\n"));
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else if (c >= 0x80 && !utf8)
            buf_add(b, S("\\ufffd"));
        else
            buf_addc(b, (char)c);
    }
    buf_addc(b, '"');
}

static bool is_bare(str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\')
            return false;
    }
    return s.n > 0;
}

static void add_pair(struct buf *b, bool json, str key, str text)
{
    if (json) {
        buf_addc(b, b->n ? ',' : '{');
        add_quoted(b, key);
        buf_addc(b, ':');
        add_quoted(b, text);
        return;
    }
    if (b->n)
        buf_addc(b, ' ');
    buf_add(b, key);
    buf_addc(b, '=');
    if (is_bare(text))
        buf_add(b, text);
    else
        add_quoted(b, text);
}

static void add_number(struct buf *b, bool json, str key, int64_t number)
{
    if (json) {
        buf_addc(b, ',');
        add_quoted(b, key);
        buf_printf(b, ":%" PRId64, number);
    } else {
        buf_printf(b, " %" PRI_STR "=%" PRId64, STR_ARG(key), number);
    }
}

void log_line(enum log_level level, const char *msg, const struct log_kv *kv, size_t n)
{
    if ((int)level < atomic_load_explicit(&least_level, memory_order_relaxed))
        return;
    AUTO(buf) struct buf b = { 0 };
    bool json = atomic_load_explicit(&line_format, memory_order_relaxed) == LOG_JSON;
    int64_t now_ms = wall_now_ms();
    time_t secs = (time_t)(now_ms / 1000);
    char when[64];
    struct tm tm;

    gmtime_r(&secs, &tm);
    size_t at = strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(when + at, sizeof(when) - at, ".%03dZ", (int)(now_ms % 1000));
    add_pair(&b, json, S("time"), str_of(when));
    add_pair(&b, json, S("level"), str_of(level_names[level]));
    add_pair(&b, json, S("msg"), str_of(msg));
    for (size_t i = 0; i < n; i++) {
        if (kv[i].is_number)
            add_number(&b, json, str_of(kv[i].key), kv[i].number);
        else
            add_pair(&b, json, str_of(kv[i].key), kv[i].text);
    }
    buf_add(&b, json ? S("}\n") : S("\n"));
    AUTO(buf) struct buf shown = { 0 };
    int fd = atomic_load(&log_fd);
    if (isatty(fd))
        terminal_text(&shown, buf_str(&b), false);
    str line = shown.n ? buf_str(&shown) : buf_str(&b);
    ssize_t written = write(fd, line.p, line.n);
    (void)written; /* there is nowhere left to complain to */
}
