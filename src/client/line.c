/* Easy handles: set up once with all that stays the same, then used for one request after another,
 * so that a request costs a handful of settings. */

#include "client/internal.h"

#include <dirent.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* A peer that is gone without a word is noticed within a minute: when idle by probes, else by data
 * that is not acknowledged. */
static int on_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    static const struct {
        int level;
        int name;
        int value;
    } rows[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, 30 },
        { IPPROTO_TCP, TCP_KEEPINTVL, 10 },
        { IPPROTO_TCP, TCP_KEEPCNT, 3 },
    };
    const struct client_config *cfg = ctx;
    int unacked_ms = (int)(cfg->unacked_ms ? cfg->unacked_ms : UNACKED_MS);

    (void)purpose;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms, sizeof(unacked_ms));
    for (size_t i = 0; i < COUNT(rows); i++)
        setsockopt(fd, rows[i].level, rows[i].name, &rows[i].value, sizeof(rows[i].value));
    return CURL_SOCKOPT_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is curl's */
static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    struct kube_call *call = ctx;

    call_got(call, (str){ p, size * n });
    return call->too_large ? 0 : size * n;
}

static void set_blob(CURL *easy, CURLoption option, str pem)
{
    struct curl_blob blob = { (void *)(uintptr_t)pem.p, pem.n, CURL_BLOB_COPY };

    curl_easy_setopt(easy, option, pem.n ? &blob : NULL);
}

static bool has_hashed_names(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;
    bool found = false;

    while (d && !found && (entry = readdir(d)))
        found =
            strspn(entry->d_name, "0123456789abcdef") == 8 && strcmp(entry->d_name + 8, ".0") == 0;
    if (d)
        closedir(d);
    return found;
}

/* The system's authorities are looked up one by one where its directory has them by the hashes of
 * their names: reading the file with all of them takes longer than a turn of the loop may (L1). */
static void set_system_ca(CURL *easy)
{
    const char *dir = NULL;

    if (curl_easy_getinfo(easy, CURLINFO_CAPATH, &dir) == CURLE_OK && dir && has_hashed_names(dir))
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
}

static void set_ca(CURL *easy, const struct client_config *cfg)
{
    if (cfg->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (!cfg->ca.n && !cfg->ca_file) {
        set_system_ca(easy);
        return;
    }
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* this one and no other */
    if (cfg->ca.n)
        set_blob(easy, CURLOPT_CAINFO_BLOB, cfg->ca);
    else
        curl_easy_setopt(easy, CURLOPT_CAINFO, cfg->ca_file);
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 60L); /* the file may change */
}

static void set_cert(const struct client *c, struct line *l)
{
    const struct client_config *cfg = c->cfg;
    str cert = cfg->cert;
    str key = cfg->key;
    uint64_t generation = 0;

    credential_cert(c, &cert, &key, &generation);
    if (l->cert_generation == generation + 1)
        return;
    l->cert_generation = generation + 1;
    if (cert.n)
        set_blob(l->easy, CURLOPT_SSLCERT_BLOB, cert);
    else
        curl_easy_setopt(l->easy, CURLOPT_SSLCERT, cfg->cert_file);
    if (key.n)
        set_blob(l->easy, CURLOPT_SSLKEY_BLOB, key);
    else
        curl_easy_setopt(l->easy, CURLOPT_SSLKEY, cfg->key_file);
}

/* Go's programs never go through a proxy of the environment to reach their own machine. */
static void set_proxy(const struct client *c, CURL *easy)
{
    str host = str_of(c->host);

    if (c->cfg->proxy)
        curl_easy_setopt(easy, CURLOPT_PROXY, c->cfg->proxy);
    else if (str_starts(host, S("127.")) || str_starts(host, S("localhost")) ||
             str_starts(host, S("[::1]")))
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

static struct line *line_new(struct client *c)
{
    struct line *l = mem_new(sizeof(*l));
    CURL *easy = mem_or_abort(curl_easy_init());
    AUTO(arena) struct arena *a = arena_new();

    l->easy = easy;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, c->cfg);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, l->error);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, c->connect_to);
    curl_easy_setopt(easy, CURLOPT_USERAGENT,
                     arena_printf(a, "muster/%s (%s)", MUSTER_VERSION,
                                  c->cfg->component ? c->cfg->component : "client")
                         .p);
    set_ca(easy, c->cfg);
    set_proxy(c, easy);
    return l;
}

static void set_version(const struct kube_call *call, CURL *easy)
{
    bool shared = !call_is_stream(call);

    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     (long)(shared ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    /* Without TLS nothing but the end of a request would tell it that there is no use in waiting.
     */
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, shared && !call->c->http1 ? 1L : 0L);
}

static void set_method(const struct kube_call *call, CURL *easy)
{
    if (call->type) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.p);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
    } else {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL); /* makes it a POST, too */
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
}

struct line *line_get(struct kube_call *call, struct headers *h)
{
    struct client *c = call->c;
    struct line *l = c->pool;

    if (l) {
        c->pool = l->next;
        c->pool_n--;
    } else {
        l = line_new(c);
    }
    l->next = NULL;
    l->error[0] = 0;
    l->headers = headers_ref(h);
    l->type.data = (char *)(uintptr_t)call->type;
    l->type.next = &l->accept;
    l->accept.data = (char *)(uintptr_t)call->accept;
    l->accept.next = h->list;
    set_cert(c, l);
    set_version(call, l->easy);
    set_method(call, l->easy);
    curl_easy_setopt(l->easy, CURLOPT_URL, call->url);
    curl_easy_setopt(l->easy, CURLOPT_HTTPHEADER, call->type ? &l->type : &l->accept);
    curl_easy_setopt(l->easy, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    curl_easy_setopt(l->easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(l->easy, CURLOPT_WRITEDATA, call);
    return l;
}

struct line *line_connect(struct client *c, struct headers *h, struct err *e)
{
    struct line *l = line_new(c);

    set_cert(c, l);
    curl_easy_setopt(l->easy, CURLOPT_URL, c->base);
    curl_easy_setopt(l->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(l->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    curl_easy_setopt(l->easy, CURLOPT_CONNECT_ONLY, 1L);
    CURLcode rc = curl_easy_perform(l->easy);
    if (rc != CURLE_OK) {
        err_set(e, ERR_UNAVAILABLE, "%s: %s", c->host,
                l->error[0] ? l->error : curl_easy_strerror(rc));
        line_free(l);
        return NULL;
    }
    l->headers = headers_ref(h);
    return l;
}

void line_put(struct client *c, struct line *l)
{
    headers_unref(TAKE(l->headers));
    if (c->pool_n >= LINES_KEPT || c->stopped) {
        line_free(l);
        return;
    }
    l->next = c->pool;
    c->pool = l;
    c->pool_n++;
}

void line_free(struct line *l)
{
    curl_easy_cleanup(l->easy);
    free(l);
}
