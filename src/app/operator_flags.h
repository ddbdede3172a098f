/* What `muster operator` is asked for: flags, and the environment that stands in for them. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "plan/planner.h"

enum { OPERATOR_KINDS = 16 };

struct operator_flags {
    const char *kubeconfig;
    const char *ns; /* empty: all */
    const char *metrics_address;
    const char *probe_address;
    bool elect;
    const char *lease_name;
    const char *lease_ns; /* empty: where we are */
    int64_t lease_ms;     /* how long others wait for a holder that does not renew */
    int64_t renew_ms;     /* how long a holder tries to renew before it gives up */
    int64_t retry_ms;
    double qps;
    int64_t burst;
    const char *gang_name;
    bool gang;
    int64_t gang_hold_s, gang_max_restarts;
    const char *init_image; /* of PyTorchJobs */
    const char *init_template_file;
    int64_t init_tries;
    const char *kubectl_image; /* of MPIJobs */
    const char *agent_image;
    bool zap_devel;
    int zap_level;                               /* enum log_level; -1: not given */
    int zap_format;                              /* enum log_format; -1: not given */
    int log_format;                              /* likewise */
    const struct planner *kinds[OPERATOR_KINDS]; /* as asked for, or all */
    size_t n_kinds;
    struct plan_settings settings; /* what planners are told of it */
};

/* Reads them and sets up the log. -1: go on; else the status to exit with, all being said. */
int operator_flags_read(struct arena *a, struct operator_flags *f, int argc, char **argv);

/* ---- operator_check.c */

/* Whether they make sense, in the words of Go's package flag. */
int operator_flags_check(struct arena *a, const struct operator_flags *f, struct err *e);
bool operator_address_is_none(const char *address); /* nothing is to be served */
/* *host: NULL for all of them. */
int operator_address_parse(struct arena *a, str text, const char **host, int *port, struct err *e);
