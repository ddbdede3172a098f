/* What the files of `muster run` share. */
#pragma once

#include "app/cluster.h"
#include "cli/extras.h"
#include "cli/follow.h"
#include "cli/make_job.h"
#include "cli/submit.h"
#include "cli/summary.h"
#include "lint/lint.h"

struct run_flags {
    const char *data;
    const char *ns;
    const char *output;
    const char *resources;
    const char *isolation;
    struct up_gang_opts gang;
    const char *host_path_roots;
    bool show_home_secrets;
    int64_t timeout_ms; /* 0: none */
    int64_t pending_ms; /* 0: none */
    int64_t linger_ms;
    int64_t stall_after_ms; /* 0: nobody looks; -1: not given */
    bool keep;
    const char *workdir;
    bool no_workdir;
    struct opt_words volumes;
    struct opt_words env;
    struct opt_words env_files;
    const char *keep_files;
    bool reuse_claims;
    bool rm;
    struct make_opts make; /* a command instead of files; replicas -1: not said */
    bool print;
    const char *kubeconfig; /* another cluster instead of this machine */
    const char *context;
    bool upload;
};

enum run_end { RUN_OVER, RUN_INTERRUPTED, RUN_TIMED_OUT, RUN_LOST };

struct run {
    const struct run_flags *f;
    struct arena *a;
    struct lint *lint;
    struct submit submit;
    struct extras extras;
    struct images *images; /* NULL: not needed, or none */
    jv args;               /* the command line, as given */
    jv started_in;         /* the directory: a pod may rename it later */
    /* where */
    const char *data;   /* the data directory */
    const char *dir;    /* of this cluster's data: the same, or one below it */
    const char *name;   /* of this run; NULL: another's server runs it */
    const char *claims; /* the directory for its claims; NULL: they are the server's */
    bool embedded;      /* in this process */
    bool is_private;    /* in a directory of its own, which goes when it is over */
    int lock;           /* -1: another's */
    struct loop *loop;  /* embedded: ours */
    struct cluster *cluster;
    struct kube_api *api;
    struct session s;
    bool open; /* the session is */
    /* what */
    struct run_state state;
    struct screen *screen;
    struct follow *follow;
    struct run_pending *pending; /* NULL: what can never start is waited for */
    bool live;
    bool color;
    str note; /* below the view */
    int64_t began_ms;
    int keep_files;         /* the directory of --keep-files; -1: none */
    bool network_complaint; /* a pod wrote that it can reach nobody */
    str made;               /* YAML of the job made from a command; empty: there are files */
};

/* ---- run_input.c: -1, or an exit code, and why was said */
int run_read_input(struct run *r, char **operands, int n);

/* ---- run_extras.c: -1, or an exit code, and why was said */
/* What the command line adds to the objects that were read. */
int run_read_extras(struct run *r);
/* Whether a server that is there already may mount it. */
int run_check_there(struct run *r);
int run_check_roots(struct run *r, const char *roots);

/* ---- run_make.c: likewise; fills r->made if there is a command */
int run_make(struct run *r, char **operands, int n);
/* The objects that would be sent, as YAML on stdout; gives an exit code. */
int run_print(const struct run *r);

/* ---- run_cluster.c: another cluster; -1, or an exit code, and why was said */
bool run_is_elsewhere(const struct run_flags *f);
int run_check_cluster(const struct run_flags *f); /* whether the flags go together */
int run_open_cluster(struct run *r);
/* With --upload: the scripts of this directory as an object, and where the job sees them. */
int run_add_upload(struct run *r, struct make_opts *o, jv *map);
void run_own_upload(struct run *r); /* once all is created */

/* ---- run_place.c: an `up` that is there, or a cluster of our own; session and all */
int run_open(struct run *r);
void run_close(struct run *r);

/* ---- run_record.c: what `muster ps` knows of a run */
jv run_args(struct arena *a, int argc, char **argv);
jv run_directory(struct arena *a); /* the current one */
/* The summary of a run, with how it was begun; o NULL: it goes on. */
jv run_record(struct run *r, const struct summary_opts *o);
void run_record_write(const struct run *r, jv record);
/* Takes over claims that an earlier run left, as --reuse-claims asks. */
int run_reuse_claims(struct run *r);

/* ---- run_files.c */
int run_open_keep_files(struct run *r);
/* When no pod runs any more: what they changed and nobody keeps is told, or copied out. */
void run_private_files(struct run *r);

/* ---- run_pending.c: gives up on jobs that can never start here */
void run_pending_start(struct run *r, struct follow_opts *f); /* before f is used */
void run_pending_check(struct run *r);                        /* after each turn */
void run_pending_end(struct run *r);

/* ---- run_network.c */
bool run_is_network_complaint(str line);
/* Says why pods cannot reach outside networks, if one has complained and that is so. */
void run_tell_network(struct run *r);

/* ---- run_end.c */
/* Stops what was begun, as the end asks for, and waits for it to be gone. */
void run_stop(struct run *r, enum run_end how);
int run_code(const struct run *r, enum run_end how);
/* The summary, on the screen and for programs. */
int run_report(struct run *r, int code);
