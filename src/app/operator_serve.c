/* Listening, and the probes: paths, texts and codes as the original's framework answers. */

#include "app/operator_internal.h"

#include "base/url.h"
#include "loop/log.h"

#include <stdio.h>

enum { CONNECTIONS = 100 };

int operator_listen(struct manager *o, const char *what, const char *address,
                    void (*on_request)(void *ctx, struct http_req *r), struct http_server **out,
                    struct err *e)
{
    struct http_server_opts opts = { .on_request = on_request,
                                     .ctx = o,
                                     .limits = { .connections = CONNECTIONS } };

    if (operator_address_is_none(address))
        return 0;
    if (operator_address_parse(o->a, str_of(address), &opts.host, &opts.port, e) < 0 ||
        http_server_start(out, o->loop, &opts, e) < 0)
        return err_wrap(e, "--%s-bind-address %s", what, address);
    log_info("serving", KVZ("what", what), KVZ("host", opts.host ? opts.host : "(all)"),
             KVI("port", http_server_port(*out)));
    return 0;
}

/* ---- probes */

bool operator_is_ready(struct manager *o, const char **why)
{
    str trouble = ctl_trouble(o->ctl);

    *why = NULL;
    if (o->stopping)
        *why = "it is being stopped";
    else if (o->elect && elect_trouble(o->elect).n)
        *why = elect_trouble(o->elect).p;
    else if (o->elect && !elect_is_reached(o->elect))
        *why = "the lease was not read yet";
    else if (trouble.n)
        *why = trouble.p;
    else if (!ctl_is_synced(o->ctl))
        *why = "the caches are being filled";
    else
        *why = access_trouble(o->access);
    return !*why;
}

static bool is_healthy(struct manager *o, const char **why)
{
    (void)o;
    *why = NULL;
    return true; /* an answer is the proof */
}

static const struct probe {
    const char *path; /* of all checks; of the one below it: path/name */
    const char *name;
    bool (*check)(struct manager *o, const char **why);
} probes[] = {
    { "/healthz", "healthz", is_healthy },
    { "/readyz", "readyz", operator_is_ready },
};

static void reply(struct http_req *r, int status, str text)
{
    struct http_header h[] = { { S("content-type"), S("text/plain; charset=utf-8") },
                               { S("x-content-type-options"), S("nosniff") } };

    http_reply(r, status, h, COUNT(h), blob_new(text));
}

/* One check, by name: says why not. */
static void reply_one(struct manager *o, const struct probe *p, struct http_req *r)
{
    const char *why = NULL;

    if (p->check(o, &why))
        reply(r, 200, S("ok"));
    else
        reply(r, 500, arena_printf(http_arena(r), "internal server error: %s\n", why));
}

/* All checks, of which there is one: reasons are withheld, as anyone may ask. */
static void reply_all(struct manager *o, const struct probe *p, struct http_req *r)
{
    AUTO(buf) struct buf b = { 0 };
    AUTO(buf) struct buf unknown = { 0 };
    struct arena *a = http_arena(r);
    const char *why = NULL;
    bool excluded = false, verbose = false;

    for (struct url_query q = url_query(http_query(r)); url_query_next(&q, a);) {
        if (str_eqz(q.key, "verbose"))
            verbose = true;
        if (!str_eqz(q.key, "exclude"))
            continue;
        if (str_eqz(q.value, p->name))
            excluded = true;
        else
            buf_printf(&unknown, "%s\"%" PRI_STR "\"", unknown.n ? ", " : "", STR_ARG(q.value));
    }
    bool good = excluded || p->check(o, &why);
    if (good && !verbose) {
        reply(r, 200, S("ok"));
        return;
    }
    buf_printf(&b, "[%c]%s %s\n", good ? '+' : '-', p->name,
               excluded ? "excluded: ok"
               : good   ? "ok"
                        : "failed: reason withheld");
    if (unknown.n)
        buf_printf(&b, "warn: some health checks cannot be excluded: no matches for %" PRI_STR "\n",
                   STR_ARG(buf_str(&unknown)));
    buf_printf(&b, "healthz check %s\n", good ? "passed" : "failed");
    reply(r, good ? 200 : 500, buf_str(&b));
}

void operator_on_probe(void *ctx, struct http_req *r)
{
    str path = http_path(r);

    for (size_t i = 0; i < COUNT(probes); i++) {
        const struct probe *p = &probes[i];
        if (!str_starts(path, str_of(p->path)))
            continue;
        str rest = str_sub(path, strlen(p->path), path.n);
        if (!rest.n || str_eqz(rest, "/")) {
            reply_all(ctx, p, r);
            return;
        }
        if (str_eqz(str_sub(rest, 1, rest.n), p->name)) {
            reply_one(ctx, p, r);
            return;
        }
    }
    reply(r, 404, S("404 page not found\n"));
}
