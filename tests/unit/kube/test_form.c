/* Objects in protobuf: bodies, answers and watches, beside the JSON that servers may send all the
 * same. */

#include "base/limits.h"
#include "builtin/types/types.h"
#include "builtin/wire.h"
#include "kube/form.h"
#include "tap.h"

static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
static const struct kube_resource podlike = { "metrics.k8s.io", "v1", "pods", "PodMetrics", false };
static const struct kube_form forms[] = {
    { &pods, &core_Pod, &builtin_wire, &core_Pod, &builtin_wire },
};
static const char pod[] = "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'n',"
                          "'resourceVersion':'7'},'spec':{'containers':[{'name':'c'}]}}";
/* as kube-apiserver 1.34 sent it */
static const str not_found =
    S_INIT("k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12\x49\x0a\x06\x0a\x00\x12\x00\x1a\x00\x12\x07"
           "Failure\x1a\x15pods \"nono\" not found\"\x08NotFound*\x12\x0a\x04nono\x12\x00\x1a\x04"
           "pods(\x00\x32\x00\x30\x94\x03\x1a\x00\"\x00");

static str written(struct arena *a)
{
    AUTO(jdoc) struct jdoc *d = J(pod);

    return kube_form_write(a, &forms[0], jdoc_root(d));
}

static void a_form_is_of_one_resource(void)
{
    ok(kube_form_find(forms, COUNT(forms), &pods) == &forms[0], "pods are found");
    ok(!kube_form_find(forms, COUNT(forms), &maps), "other resources are not");
    ok(!kube_form_find(forms, COUNT(forms), &podlike), "nor are pods of another group");
    ok(!kube_form_find(NULL, 0, &pods), "and nothing among none");
}

static void a_body_can_be_had_as_json_again(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str body = written(a);

    ok(kube_form_is(body), "it is protobuf");
    is_json(json_parse(a, kube_form_json(a, &forms[0], body), NULL, NULL), pod, "and JSON again");
    ok(!kube_form_write(a, NULL, JV_EMPTY_OBJ).p, "without a form there is none");
    AUTO(jdoc) struct jdoc *odd = J("{'kind':'Pod','apiVersion':'v1','fresh':1}");
    ok(!kube_form_write(a, &forms[0], jdoc_root(odd)).p, "nor of what it cannot say");
}

static void answers_are_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_answer ans;

    kube_answer_read(a, 201, written(a), &forms[0], S(""), &ans);
    is_int(ans.err.code, ERR_OK, "an object");
    is_json(ans.obj, pod, "as in JSON");
    kube_answer_read(a, 201, written(a), NULL, S(""), &ans);
    is_int(ans.err.code, ERR_INTERNAL, "that was not asked for is an error");
    kube_answer_read(a, 404, not_found, NULL, S(""), &ans);
    is_int(ans.err.code, ERR_NOT_FOUND, "a Status always reads");
    is_str(ans.message, S("pods \"nono\" not found"), "with its message");
    kube_answer_read(a, 201, S("k8s\0\x0a\x7f"), &forms[0], S(""), &ans);
    is_int(ans.err.code, ERR_INTERNAL, "half an object is an error");
    kube_answer_read(a, 201, S("{\"kind\":\"Pod\"}"), &forms[0], S(""), &ans);
    is_int(ans.err.code, ERR_OK, "JSON reads as ever");
}

/* ---- watches */

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    buf_printf(ctx, "%d", (int)type);
    json_print(ctx, obj);
}

static void field(struct buf *b, char tag, str s)
{
    buf_addc(b, tag);
    if (s.n >= 128)
        buf_addc(b, (char)((s.n & 127) | 128));
    buf_addc(b, (char)(s.n >= 128 ? s.n >> 7 : s.n));
    buf_add(b, s);
}

static void frame(struct buf *b, str word, str obj)
{
    AUTO(buf) struct buf raw = { 0 };
    AUTO(buf) struct buf event = { 0 };

    field(&raw, 0x0a, obj);
    field(&event, 0x0a, word);
    field(&event, 0x12, buf_str(&raw));
    for (int i = 3; i >= 0; i--)
        buf_addc(b, (char)(event.n >> 8 * i));
    buf_add(b, buf_str(&event));
}

static void a2_any_cut_gives_the_same_events(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf stream = { 0 };
    bool same = true;
    AUTO(jdoc) struct jdoc *d = J(pod);
    str text = json_text(a, jdoc_root(d));

    frame(&stream, S("ADDED"), written(a));
    frame(&stream, S("MODIFIED"), written(a));
    frame(&stream, S("DELETED"), written(a));
    frame(&stream, S("BOOKMARK"), written(a));
    str want = arena_printf(a, "0%.*s1%.*s2%.*s3%.*s", (int)text.n, text.p, (int)text.n, text.p,
                            (int)text.n, text.p, (int)text.n, text.p);
    for (size_t piece = 1; piece <= stream.n; piece++) {
        AUTO(buf) struct buf seen = { 0 };
        struct kube_lines *l = kube_lines_new(&forms[0], on_event, &seen);
        for (str rest = buf_str(&stream); rest.n; rest = str_sub(rest, piece, rest.n))
            same = same && kube_lines_feed(l, str_sub(rest, 0, piece), NULL) == 0;
        same = same && str_eq(buf_str(&seen), want) && !kube_lines_is_partial(l);
        kube_lines_free(l);
    }
    ok(same, "pieces of every size give the same events");
}

static void feeds(const struct kube_form *f, str bytes, enum err_code code, const char *msg,
                  const char *what)
{
    AUTO(buf) struct buf seen = { 0 };
    struct kube_lines *l = kube_lines_new(f, on_event, &seen);
    struct err e = { 0 };

    is_int(kube_lines_feed(l, bytes, &e), code ? -1 : 0, what);
    is_int(e.code, code, "with the code");
    is_str(str_of(e.msg), str_of(msg), "and the message");
    kube_lines_free(l);
}

static void what_is_no_event_ends_the_watch(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf error = { 0 };
    AUTO(buf) struct buf odd = { 0 };
    AUTO(buf) struct buf empty = { 0 };

    frame(&error, S("ERROR"), not_found);
    feeds(&forms[0], buf_str(&error), ERR_NOT_FOUND, "pods \"nono\" not found", "an error");
    frame(&odd, S("ODD"), written(a));
    feeds(&forms[0], buf_str(&odd), ERR_INTERNAL, "unreadable watch event: of type \"ODD\"",
          "another word");
    frame(&empty, S("ADDED"), S(""));
    feeds(&forms[0], buf_str(&empty), ERR_INTERNAL, "unreadable watch event: empty data",
          "no object");
    feeds(&forms[0], S("\0\0\0\x02\x0a\x05"), ERR_INTERNAL,
          "unreadable watch event: unexpected EOF", "half a message");
    feeds(&forms[0], S("\0\xff\xff\xff"), ERR_TOO_LARGE,
          "a watch event has more than 16777216 bytes", "one that is too large");
    feeds(&forms[0], S("\0\xff\xff\x00\xff"), ERR_OK, "", "a large one is waited for");
    feeds(&forms[0], S("\0\0\0"), ERR_OK, "", "so is a length");
}

static void a_server_may_answer_in_json(void)
{
    AUTO(buf) struct buf seen = { 0 };
    struct kube_lines *l = kube_lines_new(&forms[0], on_event, &seen);

    is_int(kube_lines_feed(l, S("{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n"), NULL), 0, "fed");
    is_str(buf_str(&seen), S("0{\"a\":1}"), "and read");
    kube_lines_free(l);
}

int main(void)
{
    a_form_is_of_one_resource();
    a_body_can_be_had_as_json_again();
    answers_are_read();
    a2_any_cut_gives_the_same_events();
    what_is_no_event_ends_the_watch();
    a_server_may_answer_in_json();
    return tap_done();
}
