/* Credential plugins (client.authentication.k8s.io): a program is run, told of the cluster in its
 * environment, and prints an ExecCredential. */

#include "client/internal.h"

#include "base/base64.h"
#include "base/time.h"
#include "loop/child.h"

#include <errno.h>
#include <sys/wait.h>

enum { EXEC_MS = 60 * 1000, EXEC_BYTES = 1024 * 1024 };

/* ---- what it is told */

static jv cluster_info(struct arena *a, const struct client_config *cfg)
{
    str ca = cfg->ca;

    if (!ca.n && cfg->ca_file)
        client_file_read(a, cfg->ca_file, &ca, NULL);
    return jobj(a, { "server", jstr(a, str_of(cfg->server)) },
                { "tls-server-name",
                  cfg->tls_server_name ? jstr(a, str_of(cfg->tls_server_name)) : JV_ABSENT },
                { "insecure-skip-tls-verify", cfg->insecure ? JV_TRUE : JV_ABSENT },
                { "certificate-authority-data", ca.n ? jstr(a, base64_encode(a, ca)) : JV_ABSENT },
                { "proxy-url", cfg->proxy ? jstr(a, str_of(cfg->proxy)) : JV_ABSENT },
                { "config", cfg->exec->cluster_config });
}

static const char *info_text(struct arena *a, const struct client_config *cfg)
{
    jv info = jobj(
        a, { "kind", jstrz(a, "ExecCredential") },
        { "apiVersion", jstr(a, str_of(cfg->exec->api_version)) },
        { "spec", jobj(a, { "cluster", cfg->exec->cluster_info ? cluster_info(a, cfg) : JV_ABSENT },
                       { "interactive", JV_FALSE }) });

    return arena_printf(a, "KUBERNETES_EXEC_INFO=%" PRI_STR, STR_ARG(json_text(a, info))).p;
}

/* ---- what it prints */

/* Reads what it printed. expires_ms 0: never. */
static int exec_read(struct arena *a, const struct client_exec *x, str text, str *token, str *cert,
                     str *key, int64_t *expires_ms, struct err *e)
{
    jv v = json_parse(a, text, NULL, e);
    str version = jv_str(jv_at(v, "apiVersion"), STR_NONE);
    str until = jv_str(jv_at(v, "status", "expirationTimestamp"), STR_NONE);
    int64_t us = 0;

    if (!jv_exists(v))
        return err_wrap(e, "it printed no JSON");
    if (!str_eqz(jv_str(jv_at(v, "kind"), STR_NONE), "ExecCredential"))
        return err_set(e, ERR_UNAUTHORIZED, "it printed no ExecCredential");
    if (!str_eqz(version, x->api_version))
        return err_set(e, ERR_UNAUTHORIZED, "it printed apiVersion %" PRI_STR " and not %s",
                       STR_ARG(version), x->api_version);
    *token = str_trim(jv_str(jv_at(v, "status", "token"), STR_NONE));
    *cert = jv_str(jv_at(v, "status", "clientCertificateData"), STR_NONE);
    *key = jv_str(jv_at(v, "status", "clientKeyData"), STR_NONE);
    if (!token->n && !cert->n)
        return err_set(e, ERR_UNAUTHORIZED, "it printed neither token nor certificate");
    if (!cert->n != !key->n)
        return err_set(e, ERR_UNAUTHORIZED, "it printed a certificate or key without the other");
    if (until.n && time_parse(until, &us, e) < 0)
        return err_wrap(e, "status.expirationTimestamp");
    *expires_ms = us / 1000;
    return 0;
}

static int use(struct client *c, str text, struct err *e)
{
    struct credential *cred = &c->cred;
    struct arena *a = arena_new();
    str token = STR_NONE;
    str cert = STR_NONE;
    str key = STR_NONE;
    int64_t expires_ms = 0;

    if (exec_read(a, c->cfg->exec, arena_str(a, text), &token, &cert, &key, &expires_ms, e) < 0 ||
        credential_set(c, token, e) < 0) {
        arena_free(a);
        return -1;
    }
    arena_free(cred->a); /* curl has its own copy of the old certificate */
    cred->a = a;
    cred->cert = cert;
    cred->key = key;
    cred->expires_ms = expires_ms;
    cred->good = true;
    return 0;
}

/* ---- running it */

static int judge(struct client *c, const struct loop_child_end *end, struct err *e)
{
    if (end->timed_out)
        return err_set(e, ERR_UNAUTHORIZED, "it took longer than %d s", EXEC_MS / 1000);
    if (end->too_large)
        return err_set(e, ERR_UNAUTHORIZED, "it printed more than %d bytes", EXEC_BYTES);
    if (WIFSIGNALED(end->status))
        return err_set(e, ERR_UNAUTHORIZED, "it was killed by signal %d", WTERMSIG(end->status));
    if (WEXITSTATUS(end->status))
        return err_set(e, ERR_UNAUTHORIZED, "it failed with exit code %d",
                       WEXITSTATUS(end->status));
    return use(c, end->out, e);
}

static void on_end(void *ctx, const struct loop_child_end *end)
{
    struct client *c = ctx;
    struct err e = { 0 };

    c->cred.child = NULL;
    if (judge(c, end, &e) == 0) {
        /* One that has expired already would be asked for again at once, without end. */
        if (c->cred.expires_ms && c->cred.expires_ms <= wall_now_ms()) {
            c->cred.good = false;
            err_set(&e, ERR_UNAUTHORIZED, "the credentials that it printed have expired already");
        } else {
            calls_authorized(c, NULL);
            return;
        }
    }
    e.code = ERR_UNAUTHORIZED;
    err_wrap(&e, "credential plugin %s", c->cfg->exec->command);
    calls_authorized(c, &e);
}

int exec_start(struct client *c, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct client_exec *x = c->cfg->exec;
    const char **argv = ARENA_ARRAY(a, const char *, jv_len(x->args) + 2);
    const char **env = ARENA_ARRAY(a, const char *, jv_len(x->env) + 2);
    size_t n = 0;

    argv[0] = x->command;
    JV_EACH (it, x->args)
        argv[it.i] = arena_z(a, jv_str(it.value, STR_NONE));
    env[n++] = info_text(a, c->cfg);
    JV_EACH (it, x->env)
        env[n++] = arena_printf(a, "%" PRI_STR "=%" PRI_STR,
                                STR_ARG(jv_str(jv_at(it.value, "name"), STR_NONE)),
                                STR_ARG(jv_str(jv_at(it.value, "value"), STR_NONE)))
                       .p;
    struct loop_child_opts o = {
        .argv = argv,
        .env = env,
        .most_bytes = EXEC_BYTES,
        .timeout_ms = EXEC_MS,
        .done = on_end,
        .ctx = c,
    };
    if (loop_child_start(&c->cred.child, c->loop, &o, e) == 0)
        return 0;
    if (e) {
        e->code = ERR_UNAUTHORIZED;
        if (e->sys == ENOENT && x->install_hint)
            err_set(e, ERR_UNAUTHORIZED, "there is no %s. %s", x->command, x->install_hint);
    }
    return err_wrap(e, "credential plugin");
}
