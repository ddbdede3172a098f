/* get and list. */

#include "api/list.h"
#include "api/request.h"
#include "api/select.h"
#include "api/table.h"
#include "base/base64.h"

#include <inttypes.h>

int parse_revision(struct api_req *r, str text, const char *before, int64_t *out)
{
    *out = 0;
    if (!text.n || (str_to_int(text, out) && *out >= 0 && text.p[0] != '-'))
        return 0;
    str message = arena_printf(r->a,
                               "%sresourceVersion: Invalid value: \"%" PRI_STR
                               "\": strconv.ParseUint: parsing \"%" PRI_STR "\": invalid syntax",
                               before, STR_ARG(text), STR_ARG(text));
    if (*before)
        fail_bad_request(r, "%" PRI_STR, STR_ARG(message));
    else
        fail_plain(r, 500, "%" PRI_STR, STR_ARG(message));
    return -1;
}

static void fail_future_revision(struct api_req *r, int64_t asked)
{
    jv cause = jobj(r->a, { "reason", jstrz(r->a, "ResourceVersionTooLarge") },
                    { "message", jstrz(r->a, "Too large resource version") });

    fail_with(r, ERR_TIMEOUT,
              arena_printf(r->a,
                           "Timeout: Too large resource version: %" PRId64 ", current: %" PRId64,
                           asked, store_rev(r->api->store)),
              jobj(r->a, { "causes", jarr(r->a, cause) }, { "retryAfterSeconds", jint(r->a, 1) }));
}

void verb_get(struct api_req *r)
{
    int64_t rev;

    if (parse_revision(r, r->q.resource_version, "", &rev) < 0 || table_check(r) < 0)
        return;
    if (rev > store_rev(r->api->store)) {
        fail_future_revision(r, rev);
        return;
    }
    struct store_obj *o = store_get(r->res->coll, resource_key(r->a, r->res, r->ns, r->name));
    AUTO(blob) struct blob *stored = o ? value_blob(o->value) : NULL;
    if (!o)
        fail_not_found(r, r->res, r->name);
    else
        answer_stored(r, 200, stored);
}

struct page {
    int64_t rev; /* 0: now */
    str after;   /* key of the last one shown */
};

/* Tokens travel in URLs: base64 with - and _, without padding. */
static int token_decode(struct arena *a, str token, str *out)
{
    char *text = arena_alloc(a, token.n + 4);
    size_t n = token.n;

    for (size_t i = 0; i < n; i++)
        text[i] = token.p[i] == '-' ? '+' : token.p[i] == '_' ? '/' : token.p[i];
    while (n % 4)
        text[n++] = '=';
    return base64_decode(a, (str){ text, n }, out, NULL);
}

static str token_encode(struct arena *a, str bytes)
{
    str text = base64_encode(a, bytes);
    char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;

    for (; n < text.n && text.p[n] != '='; n++)
        p[n] = text.p[n] == '+' ? '-' : text.p[n] == '/' ? '_' : text.p[n];
    return (str){ p, n };
}

/* Our token reads like kube-apiserver's: {"v","rv","start"}. */
static int read_token(struct api_req *r, const struct selection *sel, struct page *out)
{
    struct err e = { 0 };
    str text;

    if (token_decode(r->a, r->q.cont, &text) < 0) {
        fail_bad_request(r,
                         "invalid continue token: continue key is not valid: illegal base64 data");
        return -1;
    }
    jv token = json_parse(r->a, text, NULL, &e);
    if (!jv_is(token, JV_OBJ)) {
        fail_bad_request(r, "invalid continue token: continue key is not valid: %s", e.msg);
        return -1;
    }
    str start = jv_str(jv_at(token, "start"), STR_NONE);
    int64_t rev = jv_int(jv_at(token, "rv"), 0);
    if (!str_eqz(jv_str(jv_at(token, "v"), STR_NONE), "meta.k8s.io/v1") || start.n < 3 ||
        start.p[0] != '/' || start.p[start.n - 1] != 0 || rev == 0) {
        fail_bad_request(r,
                         "invalid continue token: continue key is not valid: it was not made here");
        return -1;
    }
    out->rev = rev < 0 ? 0 : rev; /* -1: go on with the present, made by an inconsistent answer */
    out->after = arena_cat(r->a, sel->prefix, str_sub(start, 1, start.n - 1));
    return 0;
}

static str write_token(struct arena *a, const struct selection *sel, int64_t rev, str last_key)
{
    str rest = str_sub(last_key, sel->prefix.n, last_key.n);
    jv token = jobj(a, { "v", jstrz(a, "meta.k8s.io/v1") }, { "rv", jint(a, rev) },
                    { "start", jstr(a, arena_cat(a, arena_cat(a, S("/"), rest), S("\0"))) });

    return token_encode(a, json_text(a, token));
}

static int which_page(struct api_req *r, const struct selection *sel, struct page *out)
{
    *out = (struct page){ 0 };
    if (r->q.cont.n) {
        if (r->q.resource_version.n && !str_eqz(r->q.resource_version, "0")) {
            fail_bad_request(r, "specifying resource version is not allowed when using continue");
            return -1;
        }
        return read_token(r, sel, out);
    }
    int64_t rev;
    if (parse_revision(r, r->q.resource_version, "invalid resource version: ", &rev) < 0)
        return -1;
    if (rev > store_rev(r->api->store)) {
        fail_future_revision(r, rev);
        return -1;
    }
    if (r->q.match == RV_EXACT || (r->q.match == RV_UNSET && rev > 0 && r->q.limit > 0))
        out->rev = rev;
    return 0;
}

/* History no longer reaches back to the page's revision: say so, with a token that goes on. */
static void expired(struct api_req *r, const struct selection *sel, const struct page *p)
{
    if (!r->q.cont.n) {
        fail_code(r, ERR_EXPIRED, "The resourceVersion for the provided list is too old.");
        return;
    }
    jv status = status_new(
        r->a, 410, S("Expired"),
        S("The provided continue parameter is too old to display a consistent list result. You can "
          "start a new list without the continue parameter, or use the continue token in this "
          "response to retrieve the remainder of the results. Continuing with the provided token "
          "results in an inconsistent list - objects that were created, modified, or deleted between "
          "the time the first chunk was returned and now may show up in the list."),
        JV_ABSENT);
    status = jv_with(r->a, status, jstr(r->a, write_token(r->a, sel, -1, p->after)), "metadata",
                     "continue");
    answer_status(r, status);
}

struct finding {
    struct api_req *r;
    struct selection sel;
    struct store_snapshot snap;
    size_t i; /* the next of snap to be looked at */
    struct list_found *out;
    void (*found)(void *ctx);
    void *ctx;
};

/* About the bytes that are read to look at an object: each term reads its labels again. */
static size_t cost_of(const struct selection *s, const struct store_item *item)
{
    size_t terms = (s->labels ? s->labels->n : 0) + (s->fields ? s->fields->n : 0);

    return 64 + (s->needs_object ? value_size(item->value) * (1 + terms / 16) : 0);
}

/* False: the page is full. */
static bool find_one(struct finding *f)
{
    struct api_req *r = f->r;
    struct list_found *out = f->out;
    const struct store_item *item = &f->snap.items[f->i];
    int64_t limit = r->q.limit > 0 ? r->q.limit : INT64_MAX;

    if (!selection_has_stored(&f->sel, item->key, item->value))
        return true;
    if ((int64_t)out->n < limit) {
        out->items[out->n++] = *item;
        return true;
    }
    out->meta.cont = write_token(r->a, &f->sel, f->snap.rev, out->items[out->n - 1].key);
    if (!f->sel.labels && !f->sel.fields)
        out->meta.remaining = (int64_t)(f->snap.n - f->i);
    return false;
}

static void find_some(void *arg)
{
    struct finding *f = arg;
    size_t cost = 0;

    for (; f->i < f->snap.n && cost < LIST_SLICE_BYTES; f->i++) {
        cost += cost_of(&f->sel, &f->snap.items[f->i]);
        if (!find_one(f))
            f->snap.n = f->i; /* those behind are for the next page */
    }
    if (f->i < f->snap.n)
        loop_defer(f->r->api->loop, find_some, f);
    else
        f->found(f->ctx);
}

void list_find(struct api_req *r, struct list_found *out, void (*found)(void *ctx), void *ctx)
{
    struct finding *f = ARENA_NEW(r->a, struct finding);
    struct page page;
    struct err e = { 0 };

    *f = (struct finding){ .r = r, .out = out, .found = found, .ctx = ctx };
    if (selection_of(r, &f->sel) < 0 || which_page(r, &f->sel, &page) < 0)
        return;
    if (store_snapshot(r->res->coll, r->a, page.rev, f->sel.prefix, page.after, &f->snap, &e) < 0) {
        if (e.code == ERR_EXPIRED)
            expired(r, &f->sel, &page);
        else
            answer_err(r, &e);
        return;
    }
    *out = (struct list_found){ .meta = { .rev = f->snap.rev },
                                .items = arena_alloc(r->a,
                                                     (f->snap.n + 1) * sizeof(struct store_item)) };
    find_some(f);
}

struct listing {
    struct api_req *r;
    struct list_found found;
};

static void on_listed(void *ctx)
{
    const struct listing *l = ctx;

    answer_list(l->r, l->found.meta, l->found.items, l->found.n);
}

void verb_list(struct api_req *r)
{
    struct listing *l = ARENA_NEW(r->a, struct listing);

    l->r = r;
    if (table_check(r) == 0)
        list_find(r, &l->found, on_listed, l);
}
