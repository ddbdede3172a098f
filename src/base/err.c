/* Errors as values; the table in the header is the only place that knows what a code means. */

#include "base/err.h"

#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int status;
    const char *reason;
} rows[] = {
#define X(code, status, reason) { status, reason },
    ERR_TABLE(X)
#undef X
};

/* vsnprintf that cuts between characters. */
__attribute__((format(printf, 3, 0))) static size_t format(char *to, size_t size, const char *fmt,
                                                           va_list ap)
{
    int n = vsnprintf(to, size, fmt, ap);

    if (n < 0)
        n = 0;
    if ((size_t)n >= size)
        n = (int)str_clip((str){ to, size - 1 }, size - 1).n;
    to[n] = 0;
    return (size_t)n;
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return -1;
    e->code = code;
    e->sys = 0;
    va_start(ap, fmt);
    format(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
    int sys = errno;
    char text[128];
    va_list ap;

    if (!e)
        return -1;
    e->code = sys == ENOSPC || sys == EDQUOT ? ERR_STORAGE_FULL : ERR_IO;
    e->sys = sys;
    va_start(ap, fmt);
    size_t n = format(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", strerror_r(sys, text, sizeof(text)));
    return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    enum { BEFORE = 110 };
    char after[sizeof(e->msg)];
    va_list ap;

    if (!e)
        return -1;
    memcpy(after, e->msg, sizeof(after));
    va_start(ap, fmt);
    size_t n = format(e->msg, BEFORE + 1, fmt, ap);
    va_end(ap);
    memcpy(e->msg + n, ": ", 2);
    str_clip_z(e->msg + n + 2, sizeof(e->msg) - n - 2, str_of(after));
    return -1;
}

int err_http_status(enum err_code code)
{
    return rows[code].status;
}

const char *err_reason(enum err_code code)
{
    return rows[code].reason;
}
