/* pods/log: which container, from where on, how much; then what the node has of it. */

#include "api/metrics.h"
#include "api/subresource.h"
#include "base/time.h"
#include "base/url.h"
#include "kube/meta.h"
#include "kube/problem.h"

/* ---- which container */

static jv names_of(struct arena *a, jv pod, const char *list)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(pod, "spec", list))
        jb_push(&b, jv_at(it.value, "name"));
    return jb_done(&b);
}

static void add_names(struct buf *b, const char *before, jv names)
{
    buf_printf(b, "%s: [", before);
    JV_EACH (it, names)
        buf_printf(b, "%s%" PRI_STR, it.i > 1 ? " " : "", STR_ARG(jv_str(it.value, STR_NONE)));
    buf_addc(b, ']');
}

str pod_container(struct api_req *r, jv pod, str given)
{
    static const struct {
        const char *list;
        const char *words;
    } rows[] = {
        { "containers", ", choose one of" },
        { "initContainers", " or one of the init containers" },
        { "ephemeralContainers", " or one of the ephemeral containers" },
    };
    AUTO(buf) struct buf b = { 0 };
    jv own = names_of(r->a, pod, "containers");

    if (!given.n && jv_len(own) == 1)
        return jv_str(jv_index(own, 0), STR_NONE);
    for (size_t i = 0; i < COUNT(rows); i++) {
        jv names = names_of(r->a, pod, rows[i].list);
        for (struct jv_iter it = jv_iter(names); given.n && jv_next(&it);)
            if (str_eq(jv_str(it.value, STR_NONE), given))
                return given;
        if (jv_len(names))
            add_names(&b, rows[i].words, names);
    }
    if (given.n)
        fail_bad_request(r, "container %" PRI_STR " is not valid for pod %" PRI_STR, STR_ARG(given),
                         STR_ARG(meta_name(pod)));
    else
        fail_bad_request(r, "a container name must be specified for pod %" PRI_STR "%" PRI_STR,
                         STR_ARG(meta_name(pod)), STR_ARG(buf_str(&b)));
    return STR_NONE;
}

/* ---- the options */

struct given {
    struct problems ps;
    bool seconds, time;
    int64_t since_s;
    int64_t since_us;
};

static int integer(struct api_req *r, str v, int64_t *out)
{
    str digits = v.n && (v.p[0] == '+' || v.p[0] == '-') ? str_sub(v, 1, v.n) : v;
    size_t n = 0;

    if (str_to_int(v.n && v.p[0] == '+' ? digits : v, out))
        return 0;
    while (n < digits.n && digits.p[n] >= '0' && digits.p[n] <= '9')
        n++;
    fail_bad_request(r, "strconv.ParseInt: parsing \"%" PRI_STR "\": %s", STR_ARG(v),
                     n && n == digits.n ? "value out of range" : "invalid syntax");
    return -1;
}

static int take_number(struct api_req *r, struct given *g, str key, str value, int64_t least,
                       int64_t *out)
{
    if (integer(r, value, out) < 0)
        return -1;
    if (*out < least)
        problem_invalid(&g->ps, ATS(NULL, key), jint(r->a, *out), "must be greater than %s0",
                        least ? "" : "or equal to ");
    return 0;
}

static int take(struct api_req *r, struct given *g, str key, str value, struct api_log *out)
{
    struct err e = { 0 };

    if (str_eqz(key, "container"))
        out->container = value;
    else if (str_eqz(key, "follow"))
        out->follow = url_flag(value);
    else if (str_eqz(key, "previous"))
        out->previous = url_flag(value);
    else if (str_eqz(key, "timestamps"))
        out->timestamps = url_flag(value);
    else if (str_eqz(key, "uid"))
        out->uid = value;
    if (!value.n)
        return 0;
    if (str_eqz(key, "tailLines"))
        return take_number(r, g, key, value, 0, &out->tail_lines);
    if (str_eqz(key, "limitBytes"))
        return take_number(r, g, key, value, 1, &out->limit_bytes);
    if (str_eqz(key, "attempt"))
        return take_number(r, g, key, value, 0, &out->attempt);
    if (str_eqz(key, "sinceSeconds")) {
        g->seconds = true;
        return take_number(r, g, key, value, 1, &g->since_s);
    }
    if (!str_eqz(key, "sinceTime"))
        return 0;
    g->time = true;
    if (time_parse(value, &g->since_us, &e) == 0)
        return 0;
    fail_bad_request(r, "%s", e.msg);
    return -1;
}

static int read_options(struct api_req *r, struct api_log *out)
{
    struct given g = { .ps = { .a = r->a } };

    *out = (struct api_log){ .tail_lines = -1, .limit_bytes = -1, .attempt = -1 };
    for (size_t i = 0; i < r->target.n_query; i++) {
        const struct query_pair *q = &r->target.query[i];
        if (!q->again && take(r, &g, q->key, q->value, out) < 0)
            return -1;
    }
    if (g.seconds && g.time)
        problem_forbidden(&g.ps, ROOT(""),
                          "at most one of `sinceTime` or `sinceSeconds` may be specified");
    out->since_us = g.time      ? g.since_us
                    : g.seconds ? wall_now_us() - seconds_ms(g.since_s) * 1000
                                : 0;
    if (!g.ps.n)
        return 0;
    fail_invalid(r, S("PodLogOptions"), STR_NONE, r->name, &g.ps);
    return -1;
}

/* ---- */

int pod_stored(struct api_req *r, jv *out)
{
    struct store_obj *o = store_get(r->res->coll, resource_key(r->a, r->res, r->ns, r->name));

    if (!o) {
        fail_not_found(r, r->res, r->name);
        return -1;
    }
    *out = resource_parse_value(r->a, r->res, o->value);
    return 0;
}

/* The stored pod, unless another is asked for; -1: answered. */
static int find_pod(struct api_req *r, struct api_log *what, struct api_pod *out)
{
    bool there = store_get(r->res->coll, resource_key(r->a, r->res, r->ns, r->name)) != NULL;
    jv pod = JV_ABSENT;

    *out = (struct api_pod){ .ns = r->ns, .name = r->name };
    if (!there && what->uid.n)
        return 0;
    if (pod_stored(r, &pod) < 0)
        return -1;
    if (what->uid.n && !str_eq(meta_uid(pod), what->uid))
        return 0;
    what->container = pod_container(r, pod, what->container);
    if (!what->container.n)
        return -1;
    if (!jv_str(jv_at(pod, "spec", "nodeName"), STR_NONE).n) { /* so there can be none yet */
        metrics_request(r, 204);
        http_reply(r->http, 204, NULL, 0, NULL);
        return -1;
    }
    out->pod = pod;
    return 0;
}

void pod_log_run(struct api_req *r)
{
    const struct api_pods *pods = r->api->o.pods;
    struct http_header *h = NULL;
    struct http_source src = { 0 };
    struct api_log what;
    struct api_pod of;
    struct err e = { 0 };

    if (!pods || !pods->log) {
        subresource_no_runtime(r);
        return;
    }
    if (read_options(r, &what) < 0 || find_pod(r, &what, &of) < 0)
        return;
    if (pods->log(pods->ctx, r->http, &of, &what, &src, &e) < 0) {
        answer_err(r, &e);
        return;
    }
    size_t n = answer_headers(r, S("text/plain"), &h);
    metrics_request(r, 200);
    http_allow_slow_client(r->http); /* a file: it waits on disk */
    http_reply_source(r->http, 200, h, n, src);
}
