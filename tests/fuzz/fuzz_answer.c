/* Answers and watch streams: an error always says something, and where a stream is cut does not
 * change what is read from it. */

#include "kube/form.h"
#include "plan/planner.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bodies and streams may be protobuf. */
static const struct kube_form form = { &kube_pods, NULL, NULL, &seen_pod_type, &seen_wire };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    buf_printf(ctx, "%d", (int)type);
    json_print(ctx, obj);
}

static int watched(str text, size_t piece, struct buf *seen, struct err *e)
{
    struct kube_lines *l = kube_lines_new(&form, on_event, seen);
    int rc = 0;

    while (rc == 0 && text.n) {
        rc = kube_lines_feed(l, str_sub(text, 0, piece), e);
        text = str_sub(text, piece, text.n);
    }
    kube_lines_free(l);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf whole = { 0 };
    AUTO(buf) struct buf pieces = { 0 };
    str text = arena_str(a, (str){ (const char *)data, size });
    struct err e[2] = { 0 };
    struct kube_answer ans;

    if (size < 2)
        return 0;
    kube_answer_read(a, data[0] * 4, text, &form, str_sub(text, 1, 9), &ans);
    check((ans.err.code == ERR_OK) == (ans.err.msg[0] == 0) || ans.message.p != NULL);
    check(ans.retry_after_ms >= 0 && ans.retry_after_ms <= 86400000);
    int rc = watched(text, size, &whole, &e[0]);
    check(rc == watched(text, 1 + data[1] % 32, &pieces, &e[1]));
    check(str_eq(buf_str(&whole), buf_str(&pieces)) && e[0].code == e[1].code);
    return 0;
}
