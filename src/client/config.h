/* Which server, and as whom: from kubeconfig files as client-go reads them, or from the pod we run
 * in. A configuration and all it points to live in the arena it was loaded into. */
#pragma once

#include "base/json.h"

struct kube_form;

/* A program that prints a credential (client.authentication.k8s.io). */
struct client_exec {
    const char *api_version;
    const char *command;
    jv args; /* texts */
    jv env;  /* objects: name, value */
    const char *install_hint;
    bool cluster_info; /* tell it of the cluster */
    jv cluster_config; /* the cluster's extension of that name; may be absent */
};

struct client_config {
    /* the cluster; NULL and empty: not said */
    const char *server; /* "https://10.0.0.1:6443/prefix", without a '/' at its end */
    const char *tls_server_name;
    const char *proxy;
    const char *ca_file;
    str ca; /* PEM; wins over the file, as do cert and key */
    bool insecure;
    /* the user */
    const char *cert_file;
    const char *key_file;
    str cert;
    str key;
    const char *token;
    const char *token_file; /* wins over token; read again as it changes */
    const char *username;
    const char *password;
    const struct client_exec *exec;
    const char *as;
    const char *as_uid;
    jv as_groups; /* texts */
    jv as_extra;  /* key: texts */
    /* the context */
    const char *ns; /* NULL: none is said */
    const char
        *from; /* for people: "/home/me/.kube/config, context kind", "the pod's service account" */
    /* what the caller wants, 0: the usual */
    const char *component; /* in the User-Agent */
    const struct kube_form
        *forms;     /* what goes and comes as protobuf (kube/form.h), if the server */
    size_t n_forms; /* takes it; all else is JSON */
    double qps;     /* 0: no limit */
    int burst;
    int64_t timeout_ms;    /* of a request */
    int64_t unacked_ms;    /* that bytes sent may go unacknowledged before their connection ends */
    int64_t watch_idle_ms; /* without a byte, not even a bookmark */
};

/* Where to look. */
struct client_from {
    const char *file;           /* --kubeconfig; NULL: not given */
    const char *context;        /* NULL: the current one */
    const char *env_kubeconfig; /* $KUBECONFIG: files, the first to name a thing wins */
    const char *home;
    const char *service_host; /* $KUBERNETES_SERVICE_HOST */
    const char *service_port;
    const char *account_dir; /* of the service account */
};

struct client_from client_from_env(void);
/* --kubeconfig, $KUBECONFIG, ~/.kube/config, the pod's service account: the first there is. */
int client_config_load(struct arena *a, const struct client_from *from, struct client_config *out,
                       struct err *e);

/* A small file's text. Not there: ERR_NOT_FOUND. */
int client_file_read(struct arena *a, const char *path, str *out, struct err *e);

/* ---- kubeconfig.c: files that have been read; touches none itself */

struct kubeconfig_file {
    const char *path; /* absolute or not; what it names relatively is relative to its folder */
    str text;         /* lives as long as the arena */
};
/* Errors name file, line and field. context NULL or empty: the first current-context. */
int kubeconfig_read(struct arena *a, const struct kubeconfig_file *files, size_t n,
                    const char *context, struct client_config *out, struct err *e);
