/* Finding a configuration: files named by flags, environment or habit, or the pod we run in. */

#include "client/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_LIMIT = 4 * 1024 * 1024 };

struct files {
    struct kubeconfig_file *at;
    size_t n;
};

struct client_from client_from_env(void)
{
    return (struct client_from){
        .env_kubeconfig = getenv("KUBECONFIG"),
        .home = getenv("HOME"),
        .service_host = getenv("KUBERNETES_SERVICE_HOST"),
        .service_port = getenv("KUBERNETES_SERVICE_PORT"),
        .account_dir = "/var/run/secrets/kubernetes.io/serviceaccount",
    };
}

int client_file_read(struct arena *a, const char *path, str *out, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t n = 1;

    if (fd < 0) {
        err_sys(e, "open %s", path);
        if (e && errno == ENOENT)
            e->code = ERR_NOT_FOUND;
        return -1;
    }
    while (n > 0 && b.n < FILE_LIMIT) {
        n = read(fd, buf_room(&b, 16384), 16384);
        if (n > 0)
            b.n += (size_t)n;
    }
    if (n < 0)
        err_sys(e, "read %s", path);
    close(fd);
    if (n < 0)
        return -1;
    if (n > 0)
        return err_set(e, ERR_TOO_LARGE, "%s has more than %d bytes", path, FILE_LIMIT);
    *out = arena_str(a, buf_str(&b));
    return 0;
}

/* Whether it was there. */
static int add_file(struct arena *a, const char *path, struct files *to, struct err *e)
{
    struct err why = { 0 };
    str text;

    if (client_file_read(a, path, &text, &why) < 0) {
        if (why.code == ERR_NOT_FOUND)
            return 0;
        if (e)
            *e = why;
        return -1;
    }
    to->at[to->n++] = (struct kubeconfig_file){ path, text };
    return 1;
}

/* The files that are there. */
static int find_files(struct arena *a, const struct client_from *from, struct files *to,
                      struct err *e)
{
    size_t most = 1; /* as many as $KUBECONFIG may name */

    for (const char *p = from->env_kubeconfig; p && *p; p++)
        most += *p == ':';
    to->at = ARENA_ARRAY(a, struct kubeconfig_file, most);
    if (from->file && from->file[0]) {
        int there = add_file(a, from->file, to, e);
        if (there == 0)
            return err_set(e, ERR_NOT_FOUND, "--kubeconfig %s: there is no such file", from->file);
        return there < 0 ? -1 : 0;
    }
    if (from->env_kubeconfig && from->env_kubeconfig[0]) {
        str rest = str_of(from->env_kubeconfig);
        while (rest.p) {
            str path = str_cut(&rest, ':');
            if (path.n && add_file(a, arena_z(a, path), to, e) < 0)
                return err_wrap(e, "KUBECONFIG");
        }
        return 0;
    }
    if (from->home && from->home[0] &&
        add_file(a, arena_printf(a, "%s/.kube/config", from->home).p, to, e) < 0)
        return -1;
    return 0;
}

static int check_readable(const struct client_config *c, struct err *e)
{
    const struct {
        const char *what;
        const char *path;
    } rows[] = {
        { "certificate-authority", c->ca.n ? NULL : c->ca_file },
        { "client-certificate", c->cert.n ? NULL : c->cert_file },
        { "client-key", c->key.n ? NULL : c->key_file },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].path && access(rows[i].path, R_OK) < 0)
            return err_sys(e, "%s: %s %s", c->from, rows[i].what, rows[i].path);
    return 0;
}

static int in_cluster(struct arena *a, const struct client_from *from, struct client_config *out,
                      struct err *e)
{
    const char *port = from->service_port && from->service_port[0] ? from->service_port : "443";
    bool v6 = strchr(from->service_host, ':') != NULL;
    struct client_config c = { 0 };
    str ns = STR_NONE;

    c.server =
        arena_printf(a, "https://%s%s%s:%s", v6 ? "[" : "", from->service_host, v6 ? "]" : "", port)
            .p;
    c.token_file = arena_printf(a, "%s/token", from->account_dir).p;
    c.ca_file = arena_printf(a, "%s/ca.crt", from->account_dir).p;
    c.from = "the pod's service account";
    if (access(c.token_file, R_OK) < 0)
        return err_sys(e, "%s: token %s", c.from, c.token_file);
    if (client_file_read(a, arena_printf(a, "%s/namespace", from->account_dir).p, &ns, NULL) == 0 &&
        str_trim(ns).n)
        c.ns = arena_z(a, str_trim(ns));
    if (check_readable(&c, e) < 0)
        return -1;
    *out = c;
    return 0;
}

int client_config_load(struct arena *a, const struct client_from *from, struct client_config *out,
                       struct err *e)
{
    struct files files = { 0 };
    struct client_config c = { 0 };

    if (find_files(a, from, &files, e) < 0)
        return -1;
    if (!files.n && from->service_host && from->service_host[0])
        return in_cluster(a, from, out, e);
    if (!files.n)
        return err_set(e, ERR_NOT_FOUND,
                       "no kubeconfig: give --kubeconfig FILE or set KUBECONFIG (%s)",
                       from->env_kubeconfig && from->env_kubeconfig[0]
                           ? "none of its files exists"
                           : "there is no ~/.kube/config, and this is not a pod");
    if (kubeconfig_read(a, files.at, files.n, from->context, &c, e) < 0 ||
        check_readable(&c, e) < 0)
        return -1;
    *out = c;
    return 0;
}
