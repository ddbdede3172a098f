/* Watch streams in pieces of any size. */

#include "base/limits.h"
#include "kube/api.h"
#include "tap.h"

struct seen {
    struct buf text;
    struct kube_lines *lines;
    int free_at; /* 0: never */
    int n;
};

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct seen *s = ctx;

    buf_printf(&s->text, "%d", (int)type);
    json_print(&s->text, obj);
    if (++s->n == s->free_at)
        kube_lines_free(s->lines);
}

static const char stream[] = "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n"
                             "\r\n"
                             "{\"object\":{\"a\":\"x\\ny\"},\"type\":\"MODIFIED\"}\r\n"
                             "{\"type\":\"DELETED\",\"object\":{}}\n"
                             "{\"type\":\"BOOKMARK\",\"object\":{\"a\":4}}\n";
static const char events[] = "0{\"a\":1}1{\"a\":\"x\\ny\"}2{}3{\"a\":4}";

static void a2_any_cut_gives_the_same_events(void)
{
    bool same = true;

    for (size_t piece = 1; piece <= sizeof(stream); piece++) {
        struct seen s = { 0 };
        struct kube_lines *l = kube_lines_new(NULL, on_event, &s);
        str rest = str_of(stream);
        while (rest.n) {
            same = same && kube_lines_feed(l, str_sub(rest, 0, piece), NULL) == 0;
            rest = str_sub(rest, piece, rest.n);
        }
        same = same && str_eqz(buf_str(&s.text), events) && !kube_lines_is_partial(l);
        kube_lines_free(l);
        buf_done(&s.text);
    }
    ok(same, "pieces of every size give the same events");
}

static void feeds(const char *text, int want, enum err_code code, const char *msg, const char *what)
{
    struct seen s = { 0 };
    struct kube_lines *l = kube_lines_new(NULL, on_event, &s);
    struct err e = { 0 };

    is_int(kube_lines_feed(l, str_of(text), &e), want, what);
    is_int(e.code, code, "with the code");
    if (msg)
        is_str(str_of(e.msg), str_of(msg), "and the message");
    kube_lines_free(l);
    buf_done(&s.text);
}

static void errors_end_the_stream(void)
{
    feeds("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
          "\"message\":\"too old resource version\"}}\n",
          -1, ERR_EXPIRED, "too old resource version", "an expired version");
    feeds("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"m\"}}\n",
          -1, ERR_EXPIRED, "m", "one that only has a code");
    feeds("{\"type\":\"ERROR\",\"object\":{}}\n", -1, ERR_INTERNAL, "the server answered 500",
          "one that says nothing");
    feeds("{\"type\":\"ADDED\"}\n", -1, ERR_INTERNAL, "unreadable watch event: it has no object",
          "an event without object");
    feeds("{\"type\":\"GONE\",\"object\":{}}\n", -1, ERR_INTERNAL,
          "unreadable watch event: of type \"GONE\"", "an unknown type");
    feeds("<html>\n", -1, ERR_INTERNAL, NULL, "garbage");
    feeds("{\"type\":\"ADDED\",\"obj", 0, ERR_OK, NULL, "half a line is no error");
}

static void lines_have_a_limit(void)
{
    struct seen s = { 0 };
    struct kube_lines *l = kube_lines_new(NULL, on_event, &s);
    static char block[1024 * 1024];
    struct err e = { 0 };
    int n = 0;

    memset(block, ' ', sizeof(block));
    while (kube_lines_feed(l, (str){ block, sizeof(block) }, &e) == 0 && n < 100)
        n++;
    is_int(n, LIMIT_WATCH_LINE / (int)sizeof(block), "so many bytes are kept");
    is_int(e.code, ERR_TOO_LARGE, "and no more");
    kube_lines_free(l);
    buf_done(&s.text);
}

static void may_be_freed_from_within(void)
{
    struct seen s = { .free_at = 2 };

    s.lines = kube_lines_new(NULL, on_event, &s);
    is_int(kube_lines_feed(s.lines, str_of(stream), NULL), 1, "feed says that it is gone");
    is_int(s.n, 2, "and no event follows");
    buf_done(&s.text);
}

int main(void)
{
    a2_any_cut_gives_the_same_events();
    errors_end_the_stream();
    lines_have_a_limit();
    may_be_freed_from_within();
    return tap_done();
}
