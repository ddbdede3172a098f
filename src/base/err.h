/* How things fail: a code, errno if the system said so, and one sentence. On the caller's stack. */
#pragma once

#include <stddef.h>

/* code, HTTP status, Kubernetes reason, what a client that retries should do */
#define ERR_TABLE(X)                                         \
    X(OK, 200, "", NEVER)                                    \
    X(BAD_REQUEST, 400, "BadRequest", NEVER)                 \
    X(UNAUTHORIZED, 401, "Unauthorized", BACKOFF)            \
    X(FORBIDDEN, 403, "Forbidden", BACKOFF)                  \
    X(NOT_FOUND, 404, "NotFound", REFRESH)                   \
    X(METHOD_NOT_ALLOWED, 405, "MethodNotAllowed", NEVER)    \
    X(NOT_ACCEPTABLE, 406, "NotAcceptable", NEVER)           \
    X(EXISTS, 409, "AlreadyExists", REFRESH)                 \
    X(CONFLICT, 409, "Conflict", REFRESH)                    \
    X(EXPIRED, 410, "Expired", RELIST)                       \
    X(TOO_LARGE, 413, "RequestEntityTooLarge", NEVER)        \
    X(UNSUPPORTED_MEDIA, 415, "UnsupportedMediaType", NEVER) \
    X(INVALID, 422, "Invalid", NEVER)                        \
    X(TOO_MANY_REQUESTS, 429, "TooManyRequests", BACKOFF)    \
    X(INTERNAL, 500, "InternalError", BACKOFF)               \
    X(UNKNOWN, 500, "", NEVER)                               \
    X(NOT_IMPLEMENTED, 501, "NotImplemented", NEVER)         \
    X(UNAVAILABLE, 503, "ServiceUnavailable", BACKOFF)       \
    X(TIMEOUT, 504, "Timeout", BACKOFF)                      \
    X(STORAGE_FULL, 507, "InsufficientStorage", BACKOFF)     \
    X(IO, 500, "InternalError", BACKOFF)

enum err_code {
#define X(code, status, reason, retry) ERR_##code,
    ERR_TABLE(X)
#undef X
};

enum err_retry { RETRY_NEVER, RETRY_BACKOFF, RETRY_REFRESH, RETRY_RELIST };

struct err {
    enum err_code code;
    int sys; /* errno, or 0 */
    char msg[232];
};

/* All return -1, so that `return err_set(...)` ends a function. e may be NULL. */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "fmt: " before what e says. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int err_http_status(enum err_code code);
const char *err_reason(enum err_code code);
enum err_retry err_retry(enum err_code code);
