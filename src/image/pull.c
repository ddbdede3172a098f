/* Pulls an image: its documents and the layers that are not here yet become an OCI layout in a
 * temporary directory, which is then imported as any other.
 * https://github.com/opencontainers/distribution-spec/blob/main/spec.md */

#include "base/url.h"
#include "image/http.h"
#include "image/internal.h"
#include "image/registry.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ACCEPT                                                                                      \
    "Accept: application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, " \
    "application/vnd.docker.distribution.manifest.list.v2+json, "                                   \
    "application/vnd.docker.distribution.manifest.v2+json"

enum { TRIES = 3, CONFIG_BYTES = 1 << 20 };

struct pull {
    struct arena *a;
    const struct image_limits *limits;
    struct image_ref ref;
    struct image_login login;
    struct image_http *http;
    const char *authorization; /* what the registry wants to see; NULL: nothing so far */
    const char *origin;        /* http[s]://HOST */
    int store;                 /* images/ */
    int blobs;                 /* blobs/sha256 of the layout */
    image_pull_told *told;
    void *ctx;
};

/* ---- who we are */

static int config_read(struct pull *p, struct err *e)
{
    const char *dir = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
    const char *path = dir && *dir
                           ? arena_printf(p->a, "%s/config.json", dir).p
                           : arena_printf(p->a, "%s/.docker/config.json", home ? home : "").p;
    char *text = arena_alloc(p->a, CONFIG_BYTES);
    ssize_t n = sys_read_file(AT_FDCWD, path, text, CONFIG_BYTES);

    p->login = (struct image_login){ .basic = S(""), .helper = S(""), .identity_token = S("") };
    if (n < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (n < 0)
        return err_sys(e, "%.150s", path);
    if (image_login_find(p->a, (str){ text, (size_t)n }, &p->ref, &p->login, e) < 0)
        return err_wrap(e, "%.150s", path);
    return 0;
}

/* Why there are no credentials, where some were wanted. */
static int no_entry(const struct pull *p, struct err *e)
{
    const struct image_login *l = &p->login;
    str host = p->ref.host, helper = str_clip(l->helper, 60);

    if (l->basic.n || l->identity_token.n)
        return err_set(e, ERR_UNAUTHORIZED,
                       "%" PRI_STR " does not accept the credentials of "
                       "docker's config.json",
                       STR_ARG(host));
    if (helper.n)
        return err_set(e, ERR_UNAUTHORIZED,
                       "%" PRI_STR " requires credentials, and docker's config.json "
                       "leaves them to the credential helper %" PRI_STR ", which is not supported: "
                       "add an entry to auths",
                       STR_ARG(host), STR_ARG(helper));
    return err_set(e, ERR_UNAUTHORIZED,
                   "%" PRI_STR " requires credentials for %" PRI_STR
                   ", or has no such image: docker login writes them to config.json",
                   STR_ARG(host), STR_ARG(p->ref.repository));
}

static int keep_text(void *ctx, str bytes, struct err *e)
{
    (void)e;
    buf_add(ctx, bytes);
    return 0;
}

static bool is_token(str t)
{
    for (size_t i = 0; i < t.n; i++)
        if ((unsigned char)t.p[i] <= ' ' || (unsigned char)t.p[i] >= 127)
            return false;
    return t.n > 0;
}

static int token_get(struct pull *p, const struct image_challenge *c, struct err *e)
{
    AUTO(buf) struct buf query = { 0 }, body = { 0 };
    str scope = arena_printf(p->a, "repository:%" PRI_STR ":pull", STR_ARG(p->ref.repository));
    struct image_get g = { .most_bytes = p->limits->json_bytes,
                           .on_bytes = keep_text,
                           .ctx = &body };

    buf_add(&query, S("service="));
    url_encode(&query, c->service);
    buf_add(&query, S("&scope="));
    url_encode(&query, scope);
    g.url = arena_printf(p->a, "%" PRI_STR "%c%" PRI_STR, STR_ARG(c->realm),
                         str_find(c->realm, '?') < 0 ? '?' : '&', STR_ARG(buf_str(&query)))
                .p;
    if (p->login.identity_token.n) { /* OAuth2 */
        buf_add(&query, S("&grant_type=refresh_token&client_id=muster&refresh_token="));
        url_encode(&query, p->login.identity_token);
        g.url = arena_z(p->a, c->realm);
        g.form = arena_z(p->a, buf_str(&query));
    }
    if (p->login.basic.n)
        g.authorization =
            arena_printf(p->a, "Authorization: Basic %" PRI_STR, STR_ARG(p->login.basic)).p;
    if (image_http_get(p->http, &g, e) < 0)
        return err_wrap(e, "token for %" PRI_STR, STR_ARG(p->ref.host));
    if (g.status != 200)
        return no_entry(p, e);
    jv doc = json_parse(p->a, arena_str(p->a, buf_str(&body)), NULL, e);
    str token = jv_str(jv_at(doc, "token"), jv_str(jv_at(doc, "access_token"), S("")));
    if (!is_token(token))
        return err_set(e, ERR_INVALID, "the token service of %" PRI_STR " returned no token",
                       STR_ARG(p->ref.host));
    p->authorization = arena_printf(p->a, "Authorization: Bearer %" PRI_STR, STR_ARG(token)).p;
    return 0;
}

static int authorize(struct pull *p, str challenge, struct err *e)
{
    struct image_challenge c;
    bool had = p->authorization && !strstr(p->authorization, " Bearer ");

    image_challenge_parse(p->a, challenge, &c);
    if (c.bearer)
        return token_get(p, &c, e); /* the first, or a new one after it expired */
    if (!c.basic || !p->login.basic.n || had)
        return no_entry(p, e);
    p->authorization =
        arena_printf(p->a, "Authorization: Basic %" PRI_STR, STR_ARG(p->login.basic)).p;
    return 0;
}

/* ---- requests */

/* begin: before each try, so that what came before is forgotten. */
static int get(struct pull *p, str what, struct image_get *g, void (*begin)(void *ctx),
               struct err *e)
{
    int broken = 0, refused = 0;

    g->url = arena_printf(p->a, "%s/v2/%" PRI_STR "/%" PRI_STR, p->origin,
                          STR_ARG(p->ref.repository), STR_ARG(what))
                 .p;
    for (;;) {
        g->authorization = p->authorization;
        begin(g->ctx);
        int rc = image_http_get(p->http, g, e);
        if (rc < 0 && g->broken && ++broken < TRIES)
            continue;
        if (rc < 0)
            return err_wrap(e, "%.80s", g->url);
        if (g->status == 401 && ++refused < TRIES) {
            if (authorize(p, g->challenge, e) < 0)
                return -1;
            continue;
        }
        if (g->status == 401 || g->status == 403)
            return no_entry(p, e);
        if (g->status == 404)
            return err_set(e, ERR_NOT_FOUND, "%.150s: not found", g->url);
        if (g->status != 200)
            return err_set(e, ERR_UNAVAILABLE, "%.150s: HTTP status %d", g->url, g->status);
        return 0;
    }
}

static void forget_text(void *ctx)
{
    buf_clear(ctx);
}

static int write_blob(struct pull *p, const struct digest *d, str text, struct err *e)
{
    AUTO(sys_fd) int fd = openat(p->blobs, d->hex, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
        return err_sys(e, "write a temporary file");
    return 0;
}

/* A document, kept as a blob. want: its digest, if that is known. */
static jv document(struct pull *p, str what, const struct digest *want, struct digest *got,
                   struct err *e)
{
    AUTO(buf) struct buf body = { 0 };
    struct image_get g = {
        .accept = ACCEPT, .most_bytes = p->limits->json_bytes, .on_bytes = keep_text, .ctx = &body
    };

    if (get(p, what, &g, forget_text, e) < 0)
        return JV_ABSENT;
    str text = arena_str(p->a, buf_str(&body));
    digest_of(text, got);
    if (want->hex[0] && !digest_eq(want, got)) {
        err_set(e, ERR_INVALID, "%.150s: its digest is sha256:%s", g.url, got->hex);
        return JV_ABSENT;
    }
    if (write_blob(p, got, text, e) < 0)
        return JV_ABSENT;
    jv doc = json_parse(p->a, text, NULL, e);
    if (!jv_exists(doc))
        err_wrap(e, "%.100s", g.url);
    return doc;
}

/* ---- layers */

struct download {
    int fd;
    struct digest_sum *sum;
};

static void download_begin(void *ctx)
{
    struct download *d = ctx;

    digest_sum_free(d->sum);
    d->sum = digest_sum_new();
    if (ftruncate(d->fd, 0) < 0 || lseek(d->fd, 0, SEEK_SET) < 0)
        abort(); /* a file of ours that was just made */
}

static int download_bytes(void *ctx, str bytes, struct err *e)
{
    struct download *d = ctx;

    digest_sum_add(d->sum, bytes.p, bytes.n);
    return sys_write_all(d->fd, bytes, -1) < 0 ? err_sys(e, "write a temporary file") : 0;
}

static int layer_get(struct pull *p, const struct image_blob *b, struct err *e)
{
    AUTO(sys_fd)
    int fd = openat(p->blobs, b->digest.hex, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct download d = { .fd = fd };
    struct digest got;
    struct image_get g = { .most_bytes = b->size >= 0 && b->size < p->limits->bytes
                                             ? b->size
                                             : p->limits->bytes,
                           .on_bytes = download_bytes,
                           .ctx = &d };

    if (fd < 0)
        return err_sys(e, "write a temporary file");
    int rc = get(p, arena_printf(p->a, "blobs/sha256:%s", b->digest.hex), &g, download_begin, e);
    if (rc == 0) {
        digest_sum_end(d.sum, &got);
        if (!digest_eq(&got, &b->digest))
            rc = err_set(e, ERR_INVALID, "%.150s: its digest is sha256:%s", g.url, got.hex);
    }
    digest_sum_free(d.sum);
    return rc;
}

static int layers_get(struct pull *p, const struct image_manifest *m, const struct image_config *c,
                      struct err *e)
{
    struct stat st;

    for (size_t i = 0; i < m->n; i++) {
        const char *there = arena_printf(p->a, "layers/sha256-%s", c->diffs[i].hex).p;
        if (fstatat(p->store, there, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
            fstatat(p->blobs, m->layers[i].digest.hex, &st, 0) == 0)
            continue;
        if (p->told)
            p->told(p->ctx, i + 1, m->n, m->layers[i].size);
        if (layer_get(p, &m->layers[i], e) < 0)
            return -1;
    }
    return 0;
}

/* ---- all of it */

static int manifest_get(struct pull *p, struct digest *got, struct image_manifest *m, struct err *e)
{
    str tag = p->ref.tag, found;
    struct digest want = { 0 };
    struct image_blob at;

    if (str_starts(tag, S("sha256:")) && digest_parse(tag, "digest", &want, e) < 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        jv doc = document(p, arena_cat(p->a, S("manifests/"), tag), &want, got, e);
        if (!jv_exists(doc))
            return -1;
        if (!jv_is(jv_at(doc, "manifests"), JV_ARR))
            return image_manifest_read(p->a, doc, (size_t)p->limits->layers, m, e);
        if (image_index_pick(p->a, doc, NULL, image_architecture(), &at, &found, e) < 0)
            return -1;
        want = at.digest;
        tag = arena_printf(p->a, "sha256:%s", want.hex);
    }
    return err_set(e, ERR_INVALID, "the registry has too many nested indexes");
}

static int layout_get(struct pull *p, int layout, struct err *e)
{
    struct digest manifest, config;
    struct image_manifest m;
    struct image_config c;

    if (manifest_get(p, &manifest, &m, e) < 0)
        return -1;
    jv doc = document(p, arena_printf(p->a, "blobs/sha256:%s", m.config.digest.hex),
                      &m.config.digest, &config, e);
    if (!jv_exists(doc) || image_config_read(p->a, doc, m.n, image_architecture(), &c, e) < 0 ||
        layers_get(p, &m, &c, e) < 0)
        return -1;
    str digest = arena_printf(p->a, "sha256:%s", manifest.hex);
    jv index =
        jobj(p->a, { "manifests", jarr(p->a, jobj(p->a, { "digest", jstr(p->a, digest) })) });
    return sys_replace_file(layout, "index.json", json_text(p->a, index), e);
}

/* A registry on this machine may have TLS or not. */
static int choose_origin(struct pull *p, struct err *e)
{
    struct image_get g = { .most_bytes = p->limits->json_bytes, .on_bytes = keep_text };
    AUTO(buf) struct buf none = { 0 };

    p->origin = arena_printf(p->a, "https://%" PRI_STR, STR_ARG(p->ref.host)).p;
    if (!p->ref.loopback)
        return 0;
    g.url = arena_printf(p->a, "%s/v2/", p->origin).p;
    g.ctx = &none;
    if (image_http_get(p->http, &g, e) == 0)
        return 0;
    struct err why = *e;
    const char *plain = arena_printf(p->a, "http://%" PRI_STR, STR_ARG(p->ref.host)).p;
    g.url = arena_printf(p->a, "%s/v2/", plain).p;
    buf_clear(&none);
    if (image_http_get(p->http, &g, e) < 0)
        return err_wrap(e, "%" PRI_STR, STR_ARG(p->ref.host));
    if (g.status == 400) { /* what a server with TLS says to those without */
        *e = why;
        return err_wrap(e, "%" PRI_STR, STR_ARG(p->ref.host));
    }
    p->origin = plain;
    return 0;
}

static int pull_to(struct pull *p, int layout, struct err *e)
{
    AUTO(image_http) struct image_http *http = image_http_new(p->a, e);

    p->http = http;
    if (!http || mkdirat(layout, "blobs", 0700) < 0 || mkdirat(layout, "blobs/sha256", 0700) < 0)
        return http ? err_sys(e, "make a directory") : -1;
    p->blobs = openat(layout, "blobs/sha256", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->blobs < 0)
        return err_sys(e, "make a directory");
    int rc = config_read(p, e) < 0 || choose_origin(p, e) < 0 ? -1 : layout_get(p, layout, e);
    close(p->blobs);
    return rc;
}

int image_pull(struct arena *a, const struct image_pulling *how, struct image_imported *out,
               struct err *e)
{
    struct pull p = { .a = a, .limits = how->limits, .told = how->told, .ctx = how->ctx };
    char name[32];

    if (image_ref_parse(a, how->ref, &p.ref, e) < 0)
        return -1;
    AUTO(sys_fd) int store = image_store_open(how->data, e);
    if (store < 0)
        return -1;
    AUTO(sys_fd) int layout = image_store_new(store, name, e);
    if (layout < 0)
        return -1;
    p.store = store;
    int rc = pull_to(&p, layout, e);
    if (rc == 0) {
        const char *from = arena_printf(a, "%s/images/%s", how->data, name).p;
        rc = image_import(a, how->data, from, NULL, how->limits, out, e);
        out->name = p.ref.name;
    }
    tree_remove(store, name, NULL);
    return rc;
}
