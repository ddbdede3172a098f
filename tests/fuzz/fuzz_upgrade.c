/* A server's answer to a request for a WebSocket: the head, then what may be a body. */

#include "client/upgrade.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str text = arena_str(a, (str){ (const char *)data, size });
    size_t n = upgrade_head_size(text);
    struct upgrade u;
    struct err e = { 0 };

    if (n > size || (n && upgrade_read(str_sub(text, 0, n), &u, &e) < 0 && !e.msg[0]))
        abort();
    if (!n || e.msg[0])
        return 0;
    str body = str_sub(text, n, text.n);
    upgrade_body_is_whole(&u, body);
    if (u.status < 0 || u.status > 999 || upgrade_body(a, &u, body).n > body.n)
        abort();
    return 0;
}
