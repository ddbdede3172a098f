/* Heads of requests, common to both versions of HTTP. */

#include "http/head.h"

#include <stdlib.h>

void head_clear(struct http_head *h)
{
    if (h->text.cap > 4096) /* a large one was seen; the next is likely small */
        buf_done(&h->text);
    buf_clear(&h->text);
    h->method = h->target = h->authority = (struct span){ 0 };
    h->n = 0;
    h->size = 0;
    h->status = 0;
}

void head_free(struct http_head *h)
{
    if (!h)
        return;
    buf_done(&h->text);
    free(h);
}

str head_find(const struct http_head *h, str lower_name, size_t *n)
{
    str found = STR_NONE;

    *n = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (!str_eq(head_str(h, h->fields[i].name), lower_name))
            continue;
        if ((*n)++ == 0)
            found = head_str(h, h->fields[i].value);
    }
    return found;
}

bool target_is_plain(str target)
{
    if (target.n == 0 || target.p[0] != '/')
        return false;
    for (size_t i = 0; i < target.n; i++)
        if (target.p[i] <= ' ' || target.p[i] >= 0x7f || target.p[i] == '#')
            return false;
    return true;
}
