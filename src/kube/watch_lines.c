/* The body of a watch: one event a line, in pieces as they come off the wire. A line that comes in
 * one piece is read where it lies. */

#include "kube/api.h"

#include "base/limits.h"
#include "base/mem.h"

struct kube_lines {
    void (*on_event)(void *ctx, enum kube_event type, jv obj);
    void *ctx;
    struct buf part; /* the start of a line whose end is yet to come */
    bool feeding;
    bool freed; /* from within on_event */
};

enum { KEEP_BYTES = 64 * 1024 }; /* a buffer larger than this goes when its line is done */

struct kube_lines *kube_lines_new(void (*on_event)(void *ctx, enum kube_event type, jv obj),
                                  void *ctx)
{
    struct kube_lines *l = mem_new(sizeof(*l));

    l->on_event = on_event;
    l->ctx = ctx;
    return l;
}

void kube_lines_free(struct kube_lines *l)
{
    if (!l)
        return;
    if (l->feeding) {
        l->freed = true;
        return;
    }
    buf_done(&l->part);
    free(l);
}

bool kube_lines_is_partial(const struct kube_lines *l)
{
    return l->part.n > 0;
}

static const struct {
    str word;
    enum kube_event type;
} types[] = {
    { S_INIT("ADDED"), KUBE_ADDED },
    { S_INIT("MODIFIED"), KUBE_MODIFIED },
    { S_INIT("DELETED"), KUBE_DELETED },
    { S_INIT("BOOKMARK"), KUBE_BOOKMARK },
};

static int read_line(struct kube_lines *l, str line, struct err *e)
{
    AUTO(arena) struct arena *a = NULL;

    line = str_trim(line);
    if (!line.n)
        return 0;
    a = arena_new();
    jv event = json_parse(a, line, NULL, e);
    if (!jv_exists(event)) {
        if (e)
            e->code = ERR_INTERNAL; /* the server's fault, and it may pass */
        return err_wrap(e, "unreadable watch event");
    }
    str word = jv_str(jv_at(event, "type"), STR_NONE);
    jv obj = jv_at(event, "object");
    if (!jv_is(obj, JV_OBJ))
        return err_set(e, ERR_INTERNAL, "unreadable watch event: it has no object");
    if (str_eq(word, S("ERROR"))) {
        struct err said = { 0 };
        kube_status_err(obj, 500, &said);
        if (e)
            *e = said;
        return -1;
    }
    for (size_t i = 0; i < COUNT(types); i++) {
        if (!str_eq(word, types[i].word))
            continue;
        l->on_event(l->ctx, types[i].type, obj);
        return 0;
    }
    return err_set(e, ERR_INTERNAL, "unreadable watch event: of type \"%" PRI_STR "\"",
                   STR_ARG(str_sub(word, 0, 40)));
}

static int keep(struct kube_lines *l, str bytes, struct err *e)
{
    if (bytes.n > (size_t)LIMIT_WATCH_LINE - l->part.n)
        return err_set(e, ERR_TOO_LARGE, "a watch event has more than %d bytes", LIMIT_WATCH_LINE);
    buf_add(&l->part, bytes);
    return 0;
}

static int whole_line(struct kube_lines *l, str line, struct err *e)
{
    if (!l->part.n)
        return line.n <= LIMIT_WATCH_LINE ? read_line(l, line, e) : keep(l, line, e);
    if (keep(l, line, e) < 0 || read_line(l, buf_str(&l->part), e) < 0)
        return -1;
    if (l->part.cap > KEEP_BYTES)
        buf_done(&l->part);
    else
        buf_clear(&l->part);
    return 0;
}

static int feed(struct kube_lines *l, str bytes, struct err *e)
{
    while (bytes.n && !l->freed) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        if (!end)
            return keep(l, bytes, e);
        size_t n = (size_t)(end - bytes.p);
        if (whole_line(l, str_sub(bytes, 0, n), e) < 0)
            return -1;
        bytes = str_sub(bytes, n + 1, bytes.n);
    }
    return 0;
}

int kube_lines_feed(struct kube_lines *l, str bytes, struct err *e)
{
    l->feeding = true;
    int rc = feed(l, bytes, e);
    l->feeding = false;
    if (!l->freed)
        return rc;
    kube_lines_free(l);
    return 1;
}
