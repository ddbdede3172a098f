/* What the files that read a kubeconfig share. */
#pragma once

#include "base/yaml.h"
#include "client/config.h"

struct kubeconfig_doc {
    const char *path;
    str folder; /* empty: the current one */
    struct yaml_doc doc;
};

/* The value of an entry of one of its lists. */
struct kubeconfig_entry {
    const struct kubeconfig_doc *doc;
    str path; /* "users[2].user" */
    jv value; /* an object, or absent */
};

/* "config:12: users[0].user.token: must be text" */
int kubeconfig_fail(const struct kubeconfig_doc *d, str path, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
str kubeconfig_below(struct arena *a, str path, const char *name);

int kubeconfig_cluster(struct arena *a, const struct kubeconfig_entry *in,
                       struct client_config *out, struct err *e);
int kubeconfig_user(struct arena *a, const struct kubeconfig_entry *in, struct client_config *out,
                    struct err *e);
int kubeconfig_context(struct arena *a, const struct kubeconfig_entry *in,
                       struct client_config *out, struct err *e);
