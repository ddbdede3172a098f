/* kbench drives any Kubernetes API named by a kubeconfig, over HTTP/2 and TLS, with as little CPU
 * as it can, since client and server share the machine. One thread, one epoll. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

#include <openssl/ssl.h>

/* ---- the server: target.c */

struct target {
    const char *host;
    const char *port;
    str authority;
    str authorization; /* "Bearer ...", or STR_NONE with a client certificate */
    SSL_CTX *tls;
};
/* Reads the current context of a kubeconfig. Text lives in a; target_done frees the rest. */
int target_open(struct arena *a, const char *kubeconfig, struct target *out, struct err *e);
void target_done(struct target *t);

/* ---- connections and requests: net.c, wire.c */

struct net;
struct wire; /* one connection */

struct call {
    const char *method;
    str path;
    str body;           /* JSON; must live until on_end; empty: none */
    const char *type;   /* of the body; NULL: application/json */
    const char *accept; /* NULL: application/json */
    bool gzip;
    void (*on_data)(struct call *c, str bytes); /* may be NULL */
    void (*on_end)(struct call *c);             /* may be NULL; may make the next call */
    void *ctx;

    int status; /* 0: no answer (yet) */
    bool is_over;
    bool is_cut; /* ended otherwise than by the end of the answer */
    int64_t sent_ns;
    size_t body_sent;
};

struct net *net_new(const struct target *t); /* borrows t */
void net_free(struct net *n);                /* and its wires; no callbacks run */
/* Connects, and waits for the server's settings. NULL: failed. */
struct wire *net_connect(struct net *n, struct err *e);
/* Hands out what was asked for and takes in what has come. -1: a connection broke. */
int net_step(struct net *n, int timeout_ms, struct err *e);
size_t wire_room(const struct wire *w); /* streams the server takes beside those open */
/* The fields above the gap are read, those below are set. c must live until it is over. */
int wire_call(struct wire *w, struct call *c, struct err *e);
/* One call, waited for; the answer's body goes to out (may be NULL). */
int net_ask(struct net *n, struct wire *w, struct call *c, struct buf *out, struct err *e);

int64_t now_ns(void);

/* ---- what was measured: tally.c */

struct tally {
    VEC(int64_t);
};
void tally_sort(struct tally *t);
double tally_us(const struct tally *t, double share); /* sorted; 0.5: the median, in microseconds */

/* The processes of the server, as the kernel accounts them. */
struct procs {
    int pid[8];
    size_t n;
};
long procs_rss_kb(const struct procs *p);
double procs_cpu_s(const struct procs *p);
double own_cpu_s(void);

/* One JSON line on stdout, one for people on stderr. */
struct line {
    struct buf json;
    struct buf human;
};
void line_start(struct line *l, const char *bench);
void line_int(struct line *l, const char *key, long value);
void line_num(struct line *l, const char *key, double value);
void line_end(struct line *l);

/* ---- the commands, one file each */

struct opts {
    const char *kubeconfig;
    const char *name_space;
    const char *log;
    long count;
    long first;
    long in_flight;
    long connections;
    long watchers;
    long rounds;
    long timeout_s;
    struct procs procs;
    char **command; /* after "--" */
};

/* What most commands begin with: the target, a net, one wire, the namespace made. */
struct session {
    struct arena *a;
    struct target target;
    struct net *net;
    struct wire *wire;
    const struct opts *o;
};
int session_start(struct session *s, const struct opts *o, bool make_namespace, struct err *e);
void session_stop(struct session *s);

int cmd_clean(const struct opts *o, struct err *e);
int cmd_create(const struct opts *o, struct err *e);
int cmd_fanout(const struct opts *o, struct err *e);
int cmd_latency(const struct opts *o, struct err *e);
int cmd_list(const struct opts *o, struct err *e);
int cmd_memory(const struct opts *o, struct err *e);
int cmd_ready(const struct opts *o, struct err *e);
int cmd_replay(const struct opts *o, struct err *e);

str body_pod(struct arena *a, const char *name_space, long i); /* 1.5 KB, as trainers make them */
str body_configmap(struct arena *a, const char *name_space, long i);
/* The text after "resourceVersion":" as a number; 0: not there. */
int64_t find_revision(str json);
