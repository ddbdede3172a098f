/* The head of a request while it is put together: texts packed in one piece, fields as offsets. */
#pragma once

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

struct span {
    uint32_t at;
    uint32_t n;
};

struct http_head {
    struct http_head *next; /* in the server's store */
    struct buf text;
    struct span method, target, authority;
    struct {
        struct span name, value;
    } fields[LIMIT_HEADER_COUNT];
    size_t n;
    size_t size; /* as SETTINGS_MAX_HEADER_LIST_SIZE counts */
    int status;  /* not 0: why it is refused */
};

static inline str head_str(const struct http_head *h, struct span s)
{
    return (str){ h->text.p + s.at, s.n };
}

static inline struct span head_add(struct http_head *h, str s)
{
    struct span at = { (uint32_t)h->text.n, (uint32_t)s.n };

    buf_add(&h->text, s);
    return at;
}

void head_clear(struct http_head *h);
void head_free(struct http_head *h);
/* The only field of that name, STR_NONE if there is none; *n: how many there are. */
str head_find(const struct http_head *h, str lower_name, size_t *n);
/* Is this an origin-form target, of visible ASCII? */
bool target_is_plain(str target);
