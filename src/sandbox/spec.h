/* What a warden is told: the file DIR/sandbox and the messages of the node, checked and as structs.
 * Texts live in the arena given. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <limits.h>
#include <sys/types.h>

enum {
    WARDEN_NAME_BYTES = 64,
};

struct warden_mount {
    const char *from;    /* on this machine, absolute */
    const char *to;      /* in the container, absolute */
    const char *subpath; /* below from; NULL: none. Made when missing, never outside from */
    bool ro;
    bool host;  /* somebody named a path of this machine: it may lead to nothing that is hidden */
    bool exact; /* from was without symbolic links, and is not followed through any */
};

struct warden_tmpfs {
    const char *path; /* on this machine: a directory of the pod's, covered inside the sandbox */
    int64_t size_bytes;
};

struct warden_list {
    const char **at; /* ends with NULL */
    size_t n;
};

struct warden_limits {
    int64_t cpu_milli; /* 0: none; so for all of them */
    int64_t cpu_shares;
    int64_t memory_bytes;
    int64_t pids;
};

struct warden_sandbox {
    str uid;
    const char *ip; /* told back in the state; "": none */
    const char *isolation;
    bool shared;          /* isolation is "shared", not "namespaces" */
    const char *hostname; /* NULL: the machine's */
    bool host_net;
    bool with_node;         /* ends when the node's connection does */
    const char *net_ns;     /* file of a prepared network namespace; NULL: an empty one, lo up */
    const char *user_ns;    /* of the user namespace that owns it; NULL: ours */
    const char *preload;    /* for LD_PRELOAD; NULL: none */
    struct warden_list env; /* NAME=value for all containers, unless they have their own */
    struct warden_list devices; /* names below /dev that containers have besides the usual ones */
    struct warden_list sysctls; /* "net/ipv4/ip_forward=1", of the pod's namespaces */
    const char *cgroup2;        /* to be made; NULL: no cgroup v2 */
    const char *cgroup1_cpu;
    const char *cgroup1_memory;
    const char *cgroup1_pids;
    bool cgroup_flat; /* containers have none of their own: all are in the pod's, from the first on
                       */
    int joined;       /* not told: says a byte once the pod's holder is in its group; -1: no need */
    /* At level namespaces: changes of files that are not the pod's go to DIR/over, or into memory
     * of at most so many bytes a container (0: the kernel's default). */
    bool over_disk;
    int64_t over_bytes;
    struct warden_list homes; /* seen, but never changed */
    /* At level namespaces: not seen by containers, whatever path leads there (hide.h). */
    struct warden_list hide;
    const char *registry;          /* where servers add to it (registry.h); NULL: nowhere */
    struct warden_list host_roots; /* what hostPaths must be below, without links; none: anything */
    int64_t pids;                  /* most, in the whole pod; 0: no limit */
    struct warden_mount *mounts;
    size_t nmounts;
    struct warden_tmpfs *tmpfs;
    size_t ntmpfs;
};

struct warden_start {
    str name;
    int64_t attempt;
    struct warden_list argv;
    struct warden_list env; /* NAME=value */
    const char *cwd;        /* NULL: / */
    const char *rootfs;     /* NULL: this machine's files */
    int64_t uid;            /* -1: as we are */
    int64_t gid;
    gid_t *groups;
    size_t ngroups;
    bool privileged;   /* keeps every capability, sees every device, has no filter and no masks */
    int64_t caps;      /* the capabilities it may have, as bits (sandbox/caps.h) */
    int64_t ambient;   /* of these the ones that a user who is not root has at once */
    bool no_new_privs; /* setuid programs give nothing */
    bool unconfined;   /* no filter of system calls */
    bool read_only;    /* its root; mounts are as they are */
    bool unmasked;     /* all of /proc, and writable where the kernel lets it */
    bool any_path;     /* an absolute argv[0] that is not there: its last part through $PATH */
    bool input;        /* standard input stays open for whoever brings some; else there is none */
    bool tty;          /* standard input, output and error are a terminal */
    const char *log;   /* NULL: thrown away */
    const char *term_from; /* file for the termination message, on this machine */
    const char *term_to;   /* and in the container */
    struct warden_limits limits;
    struct warden_mount *mounts;
    size_t nmounts;
};

struct warden_exec {
    int64_t id;
    str container;
    struct warden_list argv;
    struct warden_list env; /* on top of the container's */
    bool tty;
    int64_t rows;
    int64_t cols;
};

/* Read a record (sys/record.h), borrowed; what is filled lives in a. The error names the key. */
int warden_sandbox_read(struct arena *a, str record, struct warden_sandbox *s, struct err *e);
int warden_start_read(struct arena *a, str record, struct warden_start *s, struct err *e);
int warden_exec_read(struct arena *a, str record, struct warden_exec *x, struct err *e);
