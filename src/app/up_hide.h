/* What holds credentials, and is kept from pods: data directories and kubeconfigs of all servers of
 * this user, and what homes have of the kind. */
#pragma once

#include "base/json.h"

struct up_hide {
    const char *registry; /* NULL: it cannot be used */
    struct err why;       /* why registry is NULL */
};

/* Before anything secret is written: dir (made) is hidden from pods that run already, and so is the
 * file kubeconfig (may be NULL), which is made empty for that. -1: the file cannot be. */
int up_hide_begin(struct arena *a, const char *dir, const char *kubeconfig, struct up_hide *out,
                  struct err *e);
/* Writes the kubeconfig. Where no pod runs it appears whole: people wait for the file to be there.
 */
int up_hide_write(struct up_hide *h, const char *kubeconfig, str text, struct err *e);

struct up_hide_opts {
    const char *dir;
    const char *roots; /* by commas; NULL: none */
    bool show_home_secrets;
    bool shared; /* pods share this machine's files */
    const struct up_hide *begun;
};

/* Whether the roots are directories; -1: which is not. */
int up_hide_check(const char *roots, struct err *e);
/* For node_opts. */
jv up_hide_json(struct arena *a, const struct up_hide_opts *o);
/* The condition of the node that says how far it goes; and the log does, where it is not all the
 * way. */
jv up_hide_condition(struct arena *a, const struct up_hide_opts *o);
