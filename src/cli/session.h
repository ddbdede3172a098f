/* A command's talk with an API server: which one, and questions one after another. The loop runs
 * while an answer is waited for, and only then. */
#pragma once

#include "cli/options.h"
#include "client/client.h"

/* What all commands that talk to a server take. */
struct session_opts {
    const char *kubeconfig;
    const char *context;
    const char *data;
    const char *ns;
};

#define SESSION_OPTIONS(type, member)                                            \
    { "namespace", 'n',                                                          \
      OPT_TEXT,    offsetof(type, member.ns),                                    \
      "NS",        "the namespace (default: from the kubeconfig)",               \
      NULL },                                                                    \
        { "kubeconfig", 0,                                                       \
          OPT_TEXT,     offsetof(type, member.kubeconfig),                       \
          "FILE",       "kubeconfig with the cluster and the credentials",       \
          NULL },                                                                \
        { "context", 0,                                                          \
          OPT_TEXT,  offsetof(type, member.context),                             \
          "NAME",    "use this context of the kubeconfig",                       \
          NULL },                                                                \
    {                                                                            \
        "data", 0, OPT_TEXT, offsetof(type, member.data), "DIR",                 \
            "use the `muster up` on this directory and ignore $KUBECONFIG", NULL \
    }

struct session;

struct ask {
    struct kube_request req;
    str path; /* not empty: this instead, with req.accept */
    /* the answer */
    bool done;
    int status;
    jv obj;
    struct err err;
    str message; /* the server's own, whole */
    struct session *s;
};

struct session {
    struct arena *a; /* of the command: answers live in it */
    struct loop *loop;
    bool within; /* the loop is another's */
    struct client_config config;
    struct client *client; /* NULL: the server is in this process */
    struct kube_api *api;
    str ns;              /* never empty */
    int64_t deadline_ms; /* of the loop; 0: none */
    bool interrupted;
    int signals;          /* that asked us to stop */
    struct ask served[2]; /* served.c: what the server serves */
};

/* --kubeconfig, $KUBECONFIG, the `muster up` that runs here, ~/.kube/config, the pod's service
 * account: the first there is. -1: all was set up; else an exit code, and why was said. In any case
 * session_close follows. */
int session_open(struct session *s, const struct session_opts *o);
/* The same, but that there is none is only told to e: 0, or -1. */
int session_try(struct session *s, const struct session_opts *o, struct err *e);
/* Over a server in this process, on its loop, both of whom outlive the session. server: for people.
 */
int session_within(struct session *s, struct loop *l, struct kube_api *api, const char *ns,
                   const char *server);
void session_close(struct session *s);
/* The data directory of the `muster up` that a session is or would be with, also once that is
 * stopped: --data, or where the kubeconfig lies; NULL: it is the usual one, or elsewhere. */
const char *session_data(struct arena *a, const struct session_opts *o);
void session_limit(struct session *s, int64_t timeout_ms); /* from now; 0: none */

/* Sends all and waits for all. -1: done, look at each; else an exit code (interrupted, or the
 * limit), said if there is something to say. */
int session_ask(struct session *s, struct ask *asks, size_t n);
/* Waits until *flag, as long as nothing is against it: as session_ask. */
int session_wait(struct session *s, const bool *flag);
/* "muster: cannot WHAT at SERVER: why"; gives EXIT_FAILED. */
int session_fail(const struct session *s, const struct ask *q, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
