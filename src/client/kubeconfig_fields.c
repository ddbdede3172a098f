/* The fields of a kubeconfig's clusters, users and contexts, as rows of tables. */

#include "client/kubeconfig_internal.h"

#include "base/base64.h"

enum field_type {
    TEXT,
    BOOL,
    PATH,   /* relative to the folder of its file */
    DATA,   /* base64 */
    TEXTS,  /* a list */
    MAP,    /* from texts to lists of texts */
    IGNORED /* known, and of no use to us */
};

struct field {
    const char *name;
    enum field_type type;
    size_t at; /* in struct client_config */
};

#define AT(member) offsetof(struct client_config, member)

static const struct field cluster_fields[] = {
    { "server", TEXT, AT(server) },
    { "tls-server-name", TEXT, AT(tls_server_name) },
    { "proxy-url", TEXT, AT(proxy) },
    { "insecure-skip-tls-verify", BOOL, AT(insecure) },
    { "certificate-authority", PATH, AT(ca_file) },
    { "certificate-authority-data", DATA, AT(ca) },
    { "disable-compression", IGNORED, 0 },
    { NULL, IGNORED, 0 },
};

static const struct field user_fields[] = {
    { "client-certificate", PATH, AT(cert_file) },
    { "client-certificate-data", DATA, AT(cert) },
    { "client-key", PATH, AT(key_file) },
    { "client-key-data", DATA, AT(key) },
    { "token", TEXT, AT(token) },
    { "tokenFile", PATH, AT(token_file) },
    { "username", TEXT, AT(username) },
    { "password", TEXT, AT(password) },
    { "as", TEXT, AT(as) },
    { "as-uid", TEXT, AT(as_uid) },
    { "as-groups", TEXTS, AT(as_groups) },
    { "as-user-extra", MAP, AT(as_extra) },
    { NULL, IGNORED, 0 },
};

static const struct field context_fields[] = {
    { "namespace", TEXT, AT(ns) },
    { NULL, IGNORED, 0 },
};

/* ---- fields */

static bool is_line(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 32 || s.p[i] == 127)
            return false;
    return true;
}

static bool are_texts(jv v)
{
    if (!jv_is(v, JV_ARR))
        return false;
    JV_EACH (it, v)
        if (!jv_is(it.value, JV_STR) || !is_line(jv_str(it.value, STR_NONE)))
            return false;
    return true;
}

static bool is_text_map(jv v)
{
    if (!jv_is(v, JV_OBJ))
        return false;
    JV_EACH (it, v)
        if (!is_line(it.key) || !are_texts(it.value))
            return false;
    return true;
}

static const char *resolved(struct arena *a, const struct kubeconfig_doc *d, str path)
{
    if (path.p[0] == '/' || !d->folder.n)
        return arena_z(a, path);
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(d->folder), STR_ARG(path)).p;
}

static int set_text(struct arena *a, const struct kubeconfig_entry *in, const struct field *f, jv v,
                    void *to, struct err *e)
{
    str text = jv_str(v, STR_NONE);
    str where = kubeconfig_below(a, in->path, f->name);

    if (!jv_is(v, JV_STR))
        return kubeconfig_fail(in->doc, where, e, "must be text");
    if (f->type != DATA && !is_line(text)) /* would end a header, or cut a name short */
        return kubeconfig_fail(in->doc, where, e, "must be one line of text");
    if (!text.n)
        return 0; /* as if it were not there */
    if (f->type == TEXT)
        *(const char **)to = arena_z(a, text);
    else if (f->type == PATH)
        *(const char **)to = resolved(a, in->doc, text);
    else if (base64_decode(a, text, (str *)to, e) < 0)
        return kubeconfig_fail(in->doc, where, e, "%s",
                               arena_z(a, str_of(e ? e->msg : "not base64")));
    return 0;
}

static int set_field(struct arena *a, const struct kubeconfig_entry *in, const struct field *f,
                     struct client_config *out, struct err *e)
{
    jv v = jv_at(in->value, f->name);
    char *to = (char *)out + f->at;

    if (jv_is_null(v))
        return 0;
    switch (f->type) {
    case TEXT:
    case PATH:
    case DATA:
        return set_text(a, in, f, v, to, e);
    case BOOL:
        if (!jv_is(v, JV_BOOL))
            return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, f->name), e,
                                   "must be true or false");
        *(bool *)to = jv_bool(v, false);
        return 0;
    case TEXTS:
        if (!are_texts(v))
            return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, f->name), e,
                                   "must be a list of texts");
        *(jv *)to = v;
        return 0;
    case MAP:
        if (!is_text_map(v))
            return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, f->name), e,
                                   "must be an object of lists of texts");
        *(jv *)to = v;
        return 0;
    case IGNORED:
        return 0;
    }
    return 0;
}

static int set_fields(struct arena *a, const struct kubeconfig_entry *in, const struct field *rows,
                      struct client_config *out, struct err *e)
{
    for (; rows->name; rows++)
        if (set_field(a, in, rows, out, e) < 0)
            return -1;
    return 0;
}

/* ---- exec */

static const char *const exec_versions[] = {
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
};

static int check_env(struct arena *a, const struct kubeconfig_entry *in, jv env, struct err *e)
{
    if (jv_is_null(env))
        return 0;
    if (!jv_is(env, JV_ARR))
        return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "env"), e, "must be a list");
    JV_EACH (it, env) {
        str name = jv_str(jv_at(it.value, "name"), STR_NONE);
        str value = jv_str(jv_at(it.value, "value"), STR_NONE);
        if (!name.n || !is_line(name) || str_find(name, '=') >= 0 ||
            memchr(value.p ? value.p : "", 0, value.n))
            return kubeconfig_fail(
                in->doc, arena_printf(a, "%" PRI_STR ".env[%zu]", STR_ARG(in->path), it.i - 1), e,
                "must have a name and a value");
    }
    return 0;
}

static int check_exec_version(struct arena *a, const struct kubeconfig_entry *in,
                              const struct client_exec *x, struct err *e)
{
    for (size_t i = 0; x->api_version && i < COUNT(exec_versions); i++)
        if (strcmp(x->api_version, exec_versions[i]) == 0)
            return 0;
    return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "apiVersion"), e,
                           "must be %s or %s", exec_versions[0], exec_versions[1]);
}

static int text_of(struct arena *a, const struct kubeconfig_entry *in, const char *name,
                   const char **out, struct err *e)
{
    const struct field f = { name, TEXT, 0 };
    jv v = jv_at(in->value, name);

    return jv_is_null(v) ? 0 : set_text(a, in, &f, v, out, e);
}

static int exec_read(struct arena *a, const struct kubeconfig_entry *in, struct client_exec *x,
                     struct err *e)
{
    const char *mode = NULL;

    if (!jv_is(in->value, JV_OBJ))
        return kubeconfig_fail(in->doc, in->path, e, "must be an object");
    if (text_of(a, in, "apiVersion", &x->api_version, e) < 0 ||
        text_of(a, in, "command", &x->command, e) < 0 ||
        text_of(a, in, "installHint", &x->install_hint, e) < 0 ||
        text_of(a, in, "interactiveMode", &mode, e) < 0 || check_exec_version(a, in, x, e) < 0)
        return -1;
    if (!x->command)
        return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "command"), e,
                               "must be given");
    if (strchr(x->command, '/')) /* else it is looked for in $PATH */
        x->command = resolved(a, in->doc, str_of(x->command));
    if (mode && strcmp(mode, "Always") == 0)
        return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "interactiveMode"), e,
                               "is Always, but there is no terminal to ask on");
    x->args = jv_at(in->value, "args");
    if (!jv_is_null(x->args) && !are_texts(x->args))
        return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "args"), e,
                               "must be a list of texts");
    x->env = jv_at(in->value, "env");
    x->cluster_info = jv_bool(jv_at(in->value, "provideClusterInfo"), false);
    return check_env(a, in, x->env, e);
}

static jv exec_extension(jv cluster)
{
    JV_EACH (it, jv_at(cluster, "extensions"))
        if (str_eqz(jv_str(jv_at(it.value, "name"), STR_NONE), "client.authentication.k8s.io/exec"))
            return jv_at(it.value, "extension");
    return JV_ABSENT;
}

/* ---- entries */

int kubeconfig_context(struct arena *a, const struct kubeconfig_entry *in,
                       struct client_config *out, struct err *e)
{
    return set_fields(a, in, context_fields, out, e);
}

int kubeconfig_user(struct arena *a, const struct kubeconfig_entry *in, struct client_config *out,
                    struct err *e)
{
    struct client_exec *x = ARENA_NEW(a, struct client_exec);
    struct kubeconfig_entry exec = { in->doc, kubeconfig_below(a, in->path, "exec"),
                                     jv_at(in->value, "exec") };

    if (set_fields(a, in, user_fields, out, e) < 0)
        return -1;
    if (!jv_is_null(jv_at(in->value, "auth-provider")))
        return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "auth-provider"), e,
                               "was removed from Kubernetes; use exec");
    if ((out->cert.n || out->cert_file) && !out->key.n && !out->key_file)
        return kubeconfig_fail(in->doc, in->path, e,
                               "a client certificate needs client-key or client-key-data");
    if (out->username && (out->token || out->token_file))
        return kubeconfig_fail(in->doc, in->path, e, "has a token and a username; remove one");
    if ((out->as_uid || jv_len(out->as_groups) || jv_len(out->as_extra)) && !out->as)
        return kubeconfig_fail(in->doc, in->path, e, "as-uid, as-groups and as-user-extra need as");
    if (jv_is_null(exec.value))
        return 0;
    if (exec_read(a, &exec, x, e) < 0)
        return -1;
    out->exec = x;
    return 0;
}

static int check_server(struct arena *a, const struct kubeconfig_entry *in,
                        struct client_config *out, struct err *e)
{
    str s = str_of(out->server);
    str where = kubeconfig_below(a, in->path, "server");

    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    if (!s.n)
        return kubeconfig_fail(in->doc, where, e, "must be given");
    if (!str_contains(s, S("://"))) /* as client-go takes it */
        s = arena_cat(a, out->ca.n || out->ca_file || out->insecure ? S("https://") : S("http://"),
                      s);
    if (!str_starts(s, S("https://")) && !str_starts(s, S("http://")))
        return kubeconfig_fail(in->doc, where, e, "must be a http or https URL");
    if (str_find(s, ' ') >= 0 || str_find(s, '?') >= 0 || str_find(s, '#') >= 0)
        return kubeconfig_fail(in->doc, where, e, "must be a URL without query");
    out->server = arena_z(a, s);
    return 0;
}

int kubeconfig_cluster(struct arena *a, const struct kubeconfig_entry *in,
                       struct client_config *out, struct err *e)
{
    if (set_fields(a, in, cluster_fields, out, e) < 0 || check_server(a, in, out, e) < 0)
        return -1;
    if (out->insecure && (out->ca.n || out->ca_file))
        return kubeconfig_fail(in->doc, kubeconfig_below(a, in->path, "insecure-skip-tls-verify"),
                               e, "excludes a certificate authority");
    if (out->exec && out->exec->cluster_info) {
        struct client_exec *x = ARENA_NEW(a, struct client_exec);
        *x = *out->exec;
        x->cluster_config = exec_extension(in->value);
        out->exec = x;
    }
    return 0;
}
