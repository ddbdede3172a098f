/* One request, from its first line to its body, to a whole API server: whatever the bytes are, the
 * server answers, and with text. The lines before the first empty one are "METHOD target" and
 * headers; the rest is the body. A first byte '-' makes it the request of a pod, others are the
 * administrator's. */

#include "unit/api/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS_A_SERVER = 2000 }; /* what they made would fill the memory */

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Answers that are text by their type: logs and metrics may quote anything. */
static bool is_json_or_yaml(str type)
{
    return str_starts(type, S("application/json")) || str_starts(type, S("application/yaml"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct box b;
    static size_t n;
    AUTO(arena) struct arena *a = arena_new();
    str all = { (const char *)data, size };
    bool pod = size && data[0] == '-';
    const char *end = size ? memmem(data, size, "\n\n", 2) : NULL;
    size_t head = end ? (size_t)(end - all.p) : size;

    if (n++ % REQUESTS_A_SERVER == 0) {
        if (n > 1)
            box_close(&b);
        box_open(&b, NULL, NULL);
    }
    AUTO(reply)
    struct reply r = ask(&b,
                         pod ? "system:serviceaccount:default:default,system:serviceaccounts"
                             : "admin,system:masters",
                         arena_z(a, str_sub(all, pod, head)), str_sub(all, head + 2, size));
    check(r.status >= 200 && r.status < 600);
    check(!is_json_or_yaml(r.type) || str_is_utf8(buf_str(&r.body)));
    return 0;
}
