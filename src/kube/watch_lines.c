/* The body of a watch: one event a line, in pieces as they come off the wire. A line that comes in
 * one piece is read where it lies. In protobuf an event is a frame: its length in four bytes, then
 * the message. No length begins as a line does, so the first byte tells which it is. */

#include "kube/api.h"

#include "base/limits.h"
#include "base/mem.h"
#include "kube/form.h"

enum { HEAD = 4 }; /* bytes, of a frame */

struct kube_lines {
    const struct kube_form *form; /* NULL: JSON only */
    bool began;
    bool framed;
    void (*on_event)(void *ctx, enum kube_event type, jv obj);
    void *ctx;
    struct buf part; /* the start of a line or frame whose end is yet to come */
    bool feeding;
    bool freed; /* from within on_event */
};

enum { KEEP_BYTES = 64 * 1024 }; /* a buffer larger than this goes when its line is done */

struct kube_lines *kube_lines_new(const struct kube_form *f,
                                  void (*on_event)(void *ctx, enum kube_event type, jv obj),
                                  void *ctx)
{
    struct kube_lines *l = mem_new(sizeof(*l));

    l->form = f;
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

static int unreadable(struct err *e)
{
    if (e)
        e->code = ERR_INTERNAL; /* the server's fault, and it may pass */
    return err_wrap(e, "unreadable watch event");
}

static int tell(struct kube_lines *l, str word, jv obj, struct err *e)
{
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
                   STR_ARG(str_clip(word, 40)));
}

static int read_line(struct kube_lines *l, str line, struct err *e)
{
    AUTO(arena) struct arena *a = NULL;

    line = str_trim(line);
    if (!line.n)
        return 0;
    a = arena_new();
    jv event = json_parse(a, line, NULL, e);
    if (!jv_exists(event))
        return unreadable(e);
    return tell(l, jv_str(jv_at(event, "type"), STR_NONE), jv_at(event, "object"), e);
}

static int read_frame(struct kube_lines *l, str message, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    str word, bytes;

    if (kube_form_event(message, &word, &bytes, e) < 0)
        return unreadable(e);
    jv obj = kube_form_read(a, l->form, bytes, e);
    return jv_exists(obj) ? tell(l, word, obj, e) : unreadable(e);
}

static int keep(struct kube_lines *l, str bytes, struct err *e)
{
    if (bytes.n > (size_t)LIMIT_WATCH_LINE - l->part.n)
        return err_set(e, ERR_TOO_LARGE, "a watch event has more than %d bytes", LIMIT_WATCH_LINE);
    buf_add(&l->part, bytes);
    return 0;
}

static void part_done(struct kube_lines *l)
{
    if (l->part.cap > KEEP_BYTES)
        buf_done(&l->part);
    else
        buf_clear(&l->part);
}

static int whole_line(struct kube_lines *l, str line, struct err *e)
{
    if (!l->part.n)
        return line.n <= LIMIT_WATCH_LINE ? read_line(l, line, e) : keep(l, line, e);
    if (keep(l, line, e) < 0 || read_line(l, buf_str(&l->part), e) < 0)
        return -1;
    part_done(l);
    return 0;
}

static size_t frame_bytes(str head)
{
    size_t n = 0;

    for (size_t i = 0; i < HEAD; i++)
        n = n << 8 | (unsigned char)head.p[i];
    return HEAD + n;
}

/* Takes from *bytes what the frame that is under way still lacks, at most up to n of it. */
static void fill(struct kube_lines *l, str *bytes, size_t n)
{
    str more = str_sub(*bytes, 0, n > l->part.n ? n - l->part.n : 0);

    buf_add(&l->part, more);
    *bytes = str_sub(*bytes, more.n, bytes->n);
}

/* One frame, or the start of one. */
static int next_frame(struct kube_lines *l, str *bytes, struct err *e)
{
    if (l->part.n || bytes->n < HEAD)
        fill(l, bytes, HEAD);
    str head = l->part.n ? buf_str(&l->part) : *bytes;
    if (head.n < HEAD)
        return 0;
    size_t n = frame_bytes(head);
    if (n > LIMIT_WATCH_LINE)
        return err_set(e, ERR_TOO_LARGE, "a watch event has more than %d bytes", LIMIT_WATCH_LINE);
    if (!l->part.n && bytes->n >= n) {
        str whole = str_sub(*bytes, HEAD, n);
        *bytes = str_sub(*bytes, n, bytes->n);
        return read_frame(l, whole, e);
    }
    fill(l, bytes, n);
    if (l->part.n < n)
        return 0;
    if (read_frame(l, str_sub(buf_str(&l->part), HEAD, n), e) < 0)
        return -1;
    part_done(l);
    return 0;
}

static int feed_frames(struct kube_lines *l, str bytes, struct err *e)
{
    while (bytes.n && !l->freed)
        if (next_frame(l, &bytes, e) < 0)
            return -1;
    return 0;
}

static int feed(struct kube_lines *l, str bytes, struct err *e)
{
    if (bytes.n && !l->began) {
        l->began = true;
        l->framed = l->form && bytes.p[0] == '\0';
    }
    if (l->framed)
        return feed_frames(l, bytes, e);
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
