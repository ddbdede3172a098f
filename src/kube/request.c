/* Requests as HTTP puts them, and what answers mean. */

#include "kube/api.h"

#include "base/url.h"
#include "kube/form.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- out */

static const struct {
    const char *method;
    bool one;   /* of one object, by name in the path */
    bool many;  /* of a collection: selectors */
    bool write; /* with a body and a field manager */
} verbs[] = {
    [KUBE_GET] = { "GET", .one = true },
    [KUBE_LIST] = { "GET", .many = true },
    [KUBE_WATCH] = { "GET", .many = true },
    [KUBE_CREATE] = { "POST", .write = true },
    [KUBE_UPDATE] = { "PUT", .one = true, .write = true },
    [KUBE_PATCH] = { "PATCH", .one = true, .write = true },
    [KUBE_DELETE] = { "DELETE", .one = true },
};

static const char *const patch_types[] = {
    [KUBE_PATCH_MERGE] = "application/merge-patch+json",
    [KUBE_PATCH_JSON] = "application/json-patch+json",
    [KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
    [KUBE_PATCH_APPLY] = "application/apply-patch+yaml",
};

const char *kube_method(const struct kube_request *r)
{
    return verbs[r->verb].method;
}

const char *kube_content_type(const struct kube_request *r)
{
    if (!jv_exists(r->body))
        return NULL;
    return r->verb == KUBE_PATCH ? patch_types[r->patch] : "application/json";
}

static void step(struct buf *b, str s)
{
    buf_addc(b, '/');
    url_encode(b, s);
}

static void param(struct buf *b, char *sep, const char *key, str value)
{
    if (!value.n)
        return;
    buf_addc(b, *sep);
    *sep = '&';
    buf_add(b, str_of(key));
    buf_addc(b, '=');
    url_encode(b, value);
}

static void param_int(struct buf *b, char *sep, const char *key, int64_t value)
{
    char text[24];

    if (value > 0)
        param(b, sep, key, (str){ text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value) });
}

static str field_selector(struct arena *a, const struct kube_request *r)
{
    if (!r->name.n)
        return r->fields;
    return arena_printf(a, "metadata.name=%" PRI_STR "%s%" PRI_STR, STR_ARG(r->name),
                        r->fields.n ? "," : "", STR_ARG(r->fields));
}

static void query(struct arena *a, struct buf *b, const struct kube_request *r)
{
    bool many = verbs[r->verb].many || (r->verb == KUBE_DELETE && !r->name.n);
    char sep = '?';

    if (r->verb == KUBE_WATCH) {
        param(b, &sep, "watch", S("true"));
        param(b, &sep, "allowWatchBookmarks", S("true"));
        param_int(b, &sep, "timeoutSeconds", (r->timeout_ms + 999) / 1000);
    }
    if (many) {
        param(b, &sep, "labelSelector", r->labels);
        param(b, &sep, "fieldSelector", field_selector(a, r));
    }
    if (r->verb == KUBE_LIST) {
        param_int(b, &sep, "limit", r->limit);
        param(b, &sep, "continue", r->cont);
    }
    /* a continue token has its own version, and the server refuses another beside it */
    if (!verbs[r->verb].write && r->verb != KUBE_DELETE && !(r->verb == KUBE_LIST && r->cont.n))
        param(b, &sep, "resourceVersion", r->version);
    if (verbs[r->verb].write)
        param(b, &sep, "fieldManager", S("muster"));
    if (r->verb == KUBE_PATCH && r->patch == KUBE_PATCH_APPLY)
        param(b, &sep, "force", S("true"));
}

str kube_path(struct arena *a, const struct kube_request *r)
{
    AUTO(buf) struct buf b = { 0 };
    const struct kube_resource *res = r->res;

    buf_add(&b, res->group[0] ? S("/apis") : S("/api"));
    if (res->group[0])
        step(&b, str_of(res->group));
    step(&b, str_of(res->version));
    if (!res->cluster_wide && r->ns.n) {
        buf_add(&b, S("/namespaces"));
        step(&b, r->ns);
    }
    step(&b, str_of(res->plural));
    /* what is created names itself, but a binding or eviction goes to the object it is about */
    if (r->name.n && (verbs[r->verb].one || (r->verb == KUBE_CREATE && r->sub.n)))
        step(&b, r->name);
    if (r->sub.n)
        step(&b, r->sub);
    query(a, &b, r);
    return arena_str(a, buf_str(&b));
}

/* ---- in */

static const struct {
    const char *reason;
    int status; /* when there is no reason */
    enum err_code code;
} further[] = {
    /* before the table of base/err.h: what it has twice, or under another name */
    { "Gone", 410, ERR_EXPIRED },
    { "ServerTimeout", 408, ERR_TIMEOUT },
    { "", 409, ERR_CONFLICT },
    { "", 502, ERR_UNAVAILABLE },
};

static const enum err_code codes[] = {
#define X(code, status, reason) ERR_##code,
    ERR_TABLE(X)
#undef X
};

/* ERR_OK: no row has it. */
static enum err_code by_reason(str reason)
{
    for (size_t i = 0; reason.n && i < COUNT(further); i++)
        if (str_eqz(reason, further[i].reason))
            return further[i].code;
    for (size_t i = 0; reason.n && i < COUNT(codes); i++)
        if (str_eqz(reason, err_reason(codes[i])))
            return codes[i];
    return ERR_OK;
}

static enum err_code by_status(int status)
{
    for (size_t i = 0; i < COUNT(further); i++)
        if (status == further[i].status)
            return further[i].code;
    for (size_t i = 0; i < COUNT(codes); i++)
        if (codes[i] != ERR_OK && status == err_http_status(codes[i]))
            return codes[i];
    return status >= 400 && status < 500 ? ERR_BAD_REQUEST : ERR_INTERNAL;
}

static void tell(struct err *e, enum err_code code, str msg)
{
    err_set(e, code, "%" PRI_STR, STR_ARG(msg));
}

void kube_status_err(jv status, int code, struct err *e)
{
    str message = jv_str(jv_at(status, "message"), STR_NONE);
    str reason = jv_str(jv_at(status, "reason"), STR_NONE);
    enum err_code c = by_reason(reason);

    if (c == ERR_OK) {
        int64_t said = jv_int(jv_at(status, "code"), 0);
        c = by_status(said >= 100 && said < 1000 ? (int)said : code);
    }
    if (message.n)
        tell(e, c, message);
    else if (reason.n)
        tell(e, c, reason);
    else
        err_set(e, c, "the server answered %d", code);
}

bool kube_namespace_ends(const struct kube_answer *ans)
{
    if (ans->err.code != ERR_FORBIDDEN)
        return false;
    JV_EACH (it, jv_at(ans->obj, "details", "causes"))
        if (str_eqz(jv_str(jv_at(it.value, "reason"), S("")), "NamespaceTerminating"))
            return true;
    return false;
}

enum {
    RETRY_AFTER_MOST_S = 300
}; /* bound of Retry-After, which a faulty server may set to anything */

static int64_t retry_after(str header, jv status)
{
    int64_t s;

    if (!str_to_int(str_trim(header), &s)) /* as a date: nobody sends it, so it is not said */
        s = jv_int(jv_at(status, "details", "retryAfterSeconds"), 0);
    return s <= 0 ? 0 : (s > RETRY_AFTER_MOST_S ? RETRY_AFTER_MOST_S : s) * 1000;
}

enum { PAGES_MOST = 20000 };

int kube_pages_next(struct kube_pages *p, jv list, struct err *e)
{
    str cont = jv_str(jv_at(list, "metadata", "continue"), S(""));

    if (cont.n && str_eq(cont, buf_str(&p->cont)))
        return err_set(e, ERR_INTERNAL, "the list does not end: a page continues where it began");
    if (cont.n && ++p->n >= PAGES_MOST)
        return err_set(e, ERR_INTERNAL, "the list does not end: %d pages were read", PAGES_MOST);
    buf_clear(&p->cont);
    buf_add(&p->cont, cont);
    if (cont.n)
        return 1;
    kube_pages_done(p);
    return 0;
}

void kube_pages_done(struct kube_pages *p)
{
    buf_done(&p->cont);
    *p = (struct kube_pages){ 0 };
}

/* The start of a text for people, on one line. */
static str excerpt(struct arena *a, str body)
{
    str start = str_clip(str_trim(body), 120);
    char *p = arena_alloc(a, start.n + 1);

    for (size_t i = 0; i < start.n; i++)
        p[i] = (unsigned char)start.p[i] < 32 ? ' ' : start.p[i];
    return (str){ p, start.n };
}

static void unreadable(struct arena *a, str body, const char *why, struct kube_answer *out)
{
    str start = excerpt(a, body);

    out->message = arena_printf(a, "the server answered %d, but not with an object: %s%s%" PRI_STR,
                                out->status, why, start.n ? ": " : "", STR_ARG(start));
    tell(&out->err, ERR_INTERNAL, out->message);
}

static jv read_body(struct arena *a, const struct kube_form *f, str body, struct err *e)
{
    if (kube_form_is(body))
        return kube_form_read(a, f, body, e);
    return str_trim(body).n ? json_parse(a, body, NULL, e) : JV_ABSENT;
}

void kube_answer_read(struct arena *a, int status, str body, const struct kube_form *f,
                      str retry_after_header, struct kube_answer *out)
{
    bool good = status >= 200 && status < 300;
    struct err e = { 0 };

    *out = (struct kube_answer){ .status = status };
    jv v = read_body(a, f, body, &e);
    if (jv_is(v, JV_OBJ))
        out->obj = v;
    out->retry_after_ms = retry_after(retry_after_header, out->obj);
    if (good && !jv_exists(out->obj)) {
        if (status != 204)
            unreadable(a, body, e.code ? e.msg : "it is empty", out);
        return;
    }
    if (good)
        return;
    out->message = jv_str(jv_at(out->obj, "message"), STR_NONE);
    if (!out->message.n) {
        str start = excerpt(a, body);
        out->message = arena_printf(a, "the server answered %d%s%" PRI_STR, status,
                                    start.n ? ": " : "", STR_ARG(start));
    }
    kube_status_err(out->obj, status, &out->err);
    tell(&out->err, out->err.code, out->message);
}
