/* How things fail: a code, errno if the system said so, and one sentence. On the caller's stack. */
#pragma once

#include <stddef.h>

/* code, HTTP status, Kubernetes reason */
#define ERR_TABLE(X)                                  \
    X(OK, 200, "")                                    \
    X(BAD_REQUEST, 400, "BadRequest")                 \
    X(UNAUTHORIZED, 401, "Unauthorized")              \
    X(FORBIDDEN, 403, "Forbidden")                    \
    X(NOT_FOUND, 404, "NotFound")                     \
    X(METHOD_NOT_ALLOWED, 405, "MethodNotAllowed")    \
    X(NOT_ACCEPTABLE, 406, "NotAcceptable")           \
    X(EXISTS, 409, "AlreadyExists")                   \
    X(CONFLICT, 409, "Conflict")                      \
    X(EXPIRED, 410, "Expired")                        \
    X(TOO_LARGE, 413, "RequestEntityTooLarge")        \
    X(UNSUPPORTED_MEDIA, 415, "UnsupportedMediaType") \
    X(INVALID, 422, "Invalid")                        \
    X(TOO_MANY_REQUESTS, 429, "TooManyRequests")      \
    X(INTERNAL, 500, "InternalError")                 \
    X(UNKNOWN, 500, "")                               \
    X(NOT_IMPLEMENTED, 501, "NotImplemented")         \
    X(UNAVAILABLE, 503, "ServiceUnavailable")         \
    X(TIMEOUT, 504, "Timeout")                        \
    X(STORAGE_FULL, 507, "InsufficientStorage")       \
    X(IO, 500, "InternalError")

enum err_code {
#define X(code, status, reason) ERR_##code,
    ERR_TABLE(X)
#undef X
};

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
