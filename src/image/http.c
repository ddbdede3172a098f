/* One request after another over one curl handle, which keeps connections. */

#include "image/http.h"

#include "base/mem.h"
#include "image/registry.h"

#include <curl/curl.h>
#include <stdlib.h>

enum {
    REDIRECTS = 5,
    CONNECT_S = 30,
    IDLE_S = 60, /* without a byte */
    CHALLENGE_BYTES = 4096,
};

struct image_http {
    struct arena *a;
    CURL *easy;
    struct image_get *get; /* the present one */
    int64_t bytes;
    struct err failed; /* in a callback */
    char error[CURL_ERROR_SIZE];
};

struct image_http *image_http_new(struct arena *a, struct err *e)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(e, ERR_UNAVAILABLE, "cannot load libcurl.so.4: install libcurl (Debian: libcurl4)");
        return NULL;
    }
    struct image_http *h = mem_new(sizeof(*h));
    h->a = a;
    h->easy = mem_or_abort(curl_easy_init());
    return h;
}

void image_http_free(struct image_http *h)
{
    if (!h)
        return;
    curl_easy_cleanup(h->easy);
    free(h);
}

static int status_of(const struct image_http *h)
{
    long status = 0;

    curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type of curl */
static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    struct image_http *h = ctx;
    str bytes = { p, size * n };

    if (status_of(h) != 200)
        return bytes.n; /* what a page of an error says is not for us */
    h->bytes += (int64_t)bytes.n;
    if (h->bytes > h->get->most_bytes) {
        err_set(&h->failed, ERR_TOO_LARGE, "is larger than %lld bytes",
                (long long)h->get->most_bytes);
        return 0;
    }
    return h->get->on_bytes(h->get->ctx, bytes, &h->failed) < 0 ? 0 : bytes.n;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type of curl */
static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct image_http *h = ctx;
    str line = { p, size * n }, value = line, name = str_cut(&value, ':');

    if (value.p && str_eq_nocase(name, S("WWW-Authenticate")) &&
        h->get->challenge.n + value.n < CHALLENGE_BYTES)
        h->get->challenge =
            arena_printf(h->a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(h->get->challenge),
                         h->get->challenge.n ? ", " : "", STR_ARG(str_trim(value)));
    return line.n;
}

/* Called about once a second, whatever curl waits for. */
static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct image_http *h = ctx;

    (void)a, (void)b, (void)c, (void)d;
    if (image_stopped)
        err_set(&h->failed, ERR_UNAVAILABLE, "interrupted");
    return image_stopped;
}

static struct curl_slist *headers_of(const struct image_get *g, bool authorized)
{
    struct curl_slist *list = NULL;

    if (g->accept)
        list = mem_or_abort(curl_slist_append(list, g->accept));
    if (g->authorization && authorized)
        list = mem_or_abort(curl_slist_append(list, g->authorization));
    return list;
}

static int perform(struct image_http *h, const char *url, bool loopback, bool authorized,
                   struct err *e)
{
    struct image_get *g = h->get;
    struct curl_slist *headers = headers_of(g, authorized);
    const char *bundle = getenv("SSL_CERT_FILE");

    g->challenge = S("");
    h->bytes = 0;
    h->failed = (struct err){ 0 };
    h->error[0] = '\0';
    curl_easy_setopt(h->easy, CURLOPT_URL, url);
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, headers);
    if (g->form)
        curl_easy_setopt(h->easy, CURLOPT_COPYPOSTFIELDS, g->form);
    else
        curl_easy_setopt(h->easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->error);
    curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
    curl_easy_setopt(h->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(h->easy, CURLOPT_HEADERDATA, h);
    curl_easy_setopt(h->easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h->easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(h->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(h->easy, CURLOPT_XFERINFODATA, h);
    curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_TIME, (long)IDLE_S);
    curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "muster/" MUSTER_VERSION);
    curl_easy_setopt(h->easy, CURLOPT_NOPROXY,
                     loopback ? "*" : NULL); /* NULL: as the environment */
    if (bundle && *bundle)
        curl_easy_setopt(h->easy, CURLOPT_CAINFO, bundle);
    CURLcode rc = curl_easy_perform(h->easy);
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    g->status = status_of(h);
    if (h->failed.code != ERR_OK)
        return err_set(e, h->failed.code, "%s", h->failed.msg);
    g->broken = rc != CURLE_OK;
    if (rc != CURLE_OK)
        return err_set(e, ERR_UNAVAILABLE, "%.150s",
                       h->error[0] ? h->error : curl_easy_strerror(rc));
    return 0;
}

int image_http_get(struct image_http *h, struct image_get *g, struct err *e)
{
    str origin = S(""), first = S(""), url = str_of(g->url);
    bool loopback, first_loopback = false;

    h->get = g;
    g->broken = false;
    for (int i = 0; i <= REDIRECTS; i++) {
        char *to = NULL;
        if (image_url_check(h->a, url, &origin, &loopback, e) < 0)
            return -1;
        first = i ? first : origin;
        first_loopback = i ? first_loopback : loopback;
        /* Others must not have us ask services of this machine, nor in plain text. */
        if (loopback && !first_loopback)
            return err_set(e, ERR_FORBIDDEN, "the registry redirects to this machine: %.100s",
                           url.p);
        if (str_starts(first, S("https:")) && !str_starts(origin, S("https:")))
            return err_set(e, ERR_FORBIDDEN, "the registry redirects from HTTPS to plain HTTP");
        if (perform(h, url.p, loopback, str_eq(origin, first), e) < 0)
            return -1;
        if (g->status < 301 || g->status > 308 || g->status == 304)
            return 0;
        if (g->form)
            return err_set(e, ERR_FORBIDDEN, "the token service redirects to another URL");
        curl_easy_getinfo(h->easy, CURLINFO_REDIRECT_URL, &to);
        if (!to)
            return err_set(e, ERR_INVALID, "the registry redirects without a location");
        url = arena_str(h->a, str_of(to));
    }
    return err_set(e, ERR_INVALID, "the registry redirects more than %d times", REDIRECTS);
}
