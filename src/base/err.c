/* Errors as values; the table in the header is the only place that knows what a code means. */

#include "base/err.h"

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

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return -1;
    e->code = code;
    e->sys = 0;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
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
    int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(e->msg))
        snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s",
                 strerror_r(sys, text, sizeof(text)));
    return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char before[sizeof(e->msg)];
    char after[sizeof(e->msg)];
    va_list ap;

    if (!e)
        return -1;
    va_start(ap, fmt);
    vsnprintf(before, sizeof(before), fmt, ap);
    va_end(ap);
    memcpy(after, e->msg, sizeof(after));
    snprintf(e->msg, sizeof(e->msg), "%.110s: %.118s", before, after);
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
