/* HTTP/1.1 requests out of bytes, without any I/O: llhttp behind stricter rules of our own. Where
 * two servers could read a request in two ways we refuse it: that is what smuggling lives on. */
#pragma once

#include "http/head.h"

#include <llhttp.h>

enum h1_event {
    H1_MORE, /* all bytes are used */
    H1_HEAD, /* the head is there; the body, if any, comes with the next feeds */
    H1_DONE, /* the request is complete; the next feed starts another */
    H1_BAD,  /* refuse with p->status and close; feed no more */
};

struct h1_parser {
    llhttp_t ll;
    struct http_head *head; /* borrowed; filled from the first byte on */
    int (*on_body)(void *ctx, const char *p, size_t n); /* 0, or the status to refuse with */
    void *ctx;
    size_t max_head, max_url, max_body;
    size_t line_at;
    size_t raw, decoded; /* bytes of the body */
    struct span value;   /* of the field at work */
    int status;
    bool in_body;
    bool head_done;
    bool message_done;
    bool skipped; /* the one empty line that may come before a request */
    bool keep_alive;
    bool expects; /* Expect: 100-continue */
    bool old;     /* HTTP/1.0 */
};

/* Set head, on_body, ctx and the max_ fields first; called again for each request. */
void h1_parser_begin(struct h1_parser *p);
bool h1_parser_is_idle(const struct h1_parser *p); /* not a byte of a request is there */
enum h1_event h1_parser_feed(struct h1_parser *p, const char *in, size_t n, size_t *used);
