/* Who we are: headers of a fixed credential, of a token file that may change under us, or of what a
 * plugin prints. Each change makes a new generation. */

#include "client/internal.h"

#include "base/base64.h"
#include "base/url.h"
#include "loop/child.h"
#include "loop/log.h"

enum { TOKEN_FILE_MS = 10 * 1000 }; /* how old what we know of the file may get */

struct headers *headers_ref(struct headers *h)
{
    h->refs++;
    return h;
}

void headers_unref(struct headers *h)
{
    if (!h || --h->refs > 0)
        return;
    curl_slist_free_all(h->list);
    free(h);
}

static void add(struct headers *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct headers *h, const char *fmt, ...)
{
    AUTO(arena) struct arena *a = arena_new();
    va_list ap;

    va_start(ap, fmt);
    str line = arena_vprintf(a, fmt, ap);
    va_end(ap);
    h->list = mem_or_abort(curl_slist_append(h->list, line.p));
}

static void add_impersonation(struct headers *h, const struct client_config *cfg)
{
    if (!cfg->as)
        return;
    add(h, "Impersonate-User: %s", cfg->as);
    if (cfg->as_uid)
        add(h, "Impersonate-Uid: %s", cfg->as_uid);
    JV_EACH (g, cfg->as_groups)
        add(h, "Impersonate-Group: %" PRI_STR, STR_ARG(jv_str(g.value, STR_NONE)));
    JV_EACH (k, cfg->as_extra) {
        AUTO(buf) struct buf key = { 0 };
        url_encode(&key, k.key); /* header names are not free in what they hold */
        JV_EACH (v, k.value)
            add(h, "Impersonate-Extra-%" PRI_STR ": %" PRI_STR, STR_ARG(buf_str(&key)),
                STR_ARG(jv_str(v.value, STR_NONE)));
    }
}

int credential_set(struct client *c, str token, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct client_config *cfg = c->cfg;

    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= ' ' || token.p[i] == 127)
            return err_set(e, ERR_UNAUTHORIZED,
                           "the token has characters that a header cannot have");
    struct headers *h = mem_new(sizeof(*h));
    h->refs = 1;
    h->generation = ++c->cred.generation;
    add(h, "Expect:"); /* do not ask before sending a large body */
    if (c->connect_to)
        add(h, "Host: %s", c->host);
    if (token.n) {
        add(h, "Authorization: Bearer %" PRI_STR, STR_ARG(token));
    } else if (cfg->username) {
        str pair = arena_printf(a, "%s:%s", cfg->username, cfg->password ? cfg->password : "");
        add(h, "Authorization: Basic %" PRI_STR, STR_ARG(base64_encode(a, pair)));
    }
    add_impersonation(h, cfg);
    headers_unref(c->cred.now);
    c->cred.now = h;
    return 0;
}

/* ---- token files */

static bool is_same(const struct stat *x, const struct stat *y)
{
    return x->st_ino == y->st_ino && x->st_dev == y->st_dev && x->st_size == y->st_size &&
           x->st_mtim.tv_sec == y->st_mtim.tv_sec && x->st_mtim.tv_nsec == y->st_mtim.tv_nsec;
}

/* Reads it again if it has changed; a file that cannot be read leaves what we had. */
static int file_check(struct client *c, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = c->cfg->token_file;
    struct credential *cred = &c->cred;
    struct stat now;
    str text;

    cred->checked_ms = loop_now_ms(c->loop) + 1; /* never 0 */
    if (stat(path, &now) < 0)
        return err_sys(e, "token file %s", path);
    if (cred->now && is_same(&now, &cred->seen))
        return 0;
    if (client_file_read(a, path, &text, e) < 0)
        return -1;
    text = str_trim(text);
    if (!text.n)
        return err_set(e, ERR_UNAUTHORIZED, "token file %s is empty", path);
    if (credential_set(c, text, e) < 0)
        return err_wrap(e, "token file %s", path);
    cred->seen = now;
    return 0;
}

static struct headers *file_get(struct client *c, bool must, struct err *e)
{
    struct credential *cred = &c->cred;
    struct err why = { 0 };

    if (!must && cred->checked_ms && cred->now &&
        loop_now_ms(c->loop) - cred->checked_ms < TOKEN_FILE_MS)
        return cred->now;
    if (file_check(c, &why) < 0) {
        why.code = ERR_UNAUTHORIZED;
        if (cred->now)
            log_warn("cannot read the token file, keeping the last token", KVZ("err", why.msg));
        else if (e)
            *e = why;
    }
    return cred->now;
}

/* ---- all of them */

static bool uses_exec(const struct client *c)
{
    return c->cfg->exec && !c->cfg->token && !c->cfg->token_file && !c->cfg->username;
}

int credential_init(struct client *c, struct err *e)
{
    if (c->cfg->token_file || uses_exec(c))
        return 0; /* at the first request, so that a plugin is not run for nothing */
    return credential_set(c, str_of(c->cfg->token), e);
}

void credential_done(struct client *c)
{
    loop_child_stop(TAKE(c->cred.child));
    headers_unref(TAKE(c->cred.now));
    arena_free(TAKE(c->cred.a));
}

struct headers *credential_get(struct client *c, struct err *e)
{
    struct credential *cred = &c->cred;

    if (c->cfg->token_file)
        return file_get(c, false, e);
    if (!uses_exec(c))
        return cred->now;
    if (cred->good && (!cred->expires_ms || wall_now_ms() < cred->expires_ms))
        return cred->now;
    if (!cred->child)
        exec_start(c, e);
    return NULL;
}

bool credential_refused(struct client *c, uint64_t generation)
{
    if (c->cfg->token_file) {
        file_get(c, true, NULL);
        return c->cred.generation != generation;
    }
    if (!uses_exec(c))
        return false;
    if (c->cred.generation == generation)
        c->cred.good = false;
    return true;
}

void credential_cert(const struct client *c, str *cert, str *key, uint64_t *generation)
{
    if (!c->cred.cert.n)
        return;
    *cert = c->cred.cert;
    *key = c->cred.key;
    *generation = c->cred.generation;
}
