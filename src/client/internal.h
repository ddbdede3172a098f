/* What the files of this room share; not for other rooms. */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "client/client.h"
#include "kube/form.h"
#include "loop/loop.h"

#include <curl/curl.h>
#include <sys/stat.h>
#include <uv.h>

enum {
    HOST_CONNECTIONS = 4,     /* of HTTP/2 */
    HOST_CONNECTIONS_H1 = 16, /* of HTTP/1.1; each stream has one beside these */
    HOST_STREAMS = 1000,      /* a connection, or fewer as the server says */
    RUNNING_MOST = 256, /* requests curl has; it looks at all that wait whenever one is done */
    BEGUN_MOST = 64,    /* requests that one turn hands to curl, which sends them all in one go */
    CROWD = 32,         /* requests, from which on ... */
    REST_MS = 4,
    LINES_KEPT = 32,
    BUFFER_BYTES = 64 * 1024, /* more than a record of TLS, with headers */
    TIMEOUT_MS = 60 * 1000,   /* as long as kube-apiserver works on a request */
    CONNECT_TIMEOUT_MS = 10 * 1000,
    UNACKED_MS = 45 * 1000,
    WATCH_IDLE_MS = 5 * 60 * 1000,
    WATCH_LEAST_MS = 5 * 60 * 1000, /* when the server is to end a watch: this to twice this */
    TRIES = 10,
    RETRY_AFTER_MOST_MS = 60 * 1000, /* longer ones are told to the caller */
};

/* A call is in at most one queue. */
struct call_queue {
    struct kube_call *first;
    struct kube_call *last;
};

/* The headers all requests of one credential share. Curl reads the list while a request runs. */
struct headers {
    struct curl_slist *list;
    int refs;
    uint64_t generation; /* of the credential */
};

/* An easy handle, used for one request after another. */
struct line {
    CURL *easy;
    struct line *next;        /* in the pool */
    struct curl_slist type;   /* "Content-Type: ...", if any, then ... */
    struct curl_slist accept; /* "Accept: ...", before the shared ones */
    struct headers *headers;
    uint64_t cert_generation; /* of the certificate it was given */
    char error[CURL_ERROR_SIZE];
};

struct kube_call {
    struct client *c;
    struct kube_call *prev; /* all calls */
    struct kube_call *next;
    struct call_queue *queue;
    struct kube_call *queue_prev;
    struct kube_call *queue_next;
    struct arena *a;
    /* what is asked */
    const char *method;
    const char *url;
    const char *type;   /* whole header; NULL: no body */
    const char *accept; /* whole header */
    str body;
    const struct kube_form *written; /* in which body is; NULL: JSON */
    const struct kube_form *read;    /* in which the answer may be; NULL: JSON */
    int64_t timeout_ms;
    kube_done *done; /* NULL: a watch */
    void *ctx;
    void (*on_bytes)(void *ctx, str bytes); /* NULL: the answer is an object */
    struct kube_watcher watcher;
    struct kube_lines *lines; /* watches */
    /* how it goes */
    struct line *line; /* while curl has it */
    struct loop_timer *retry;
    int tries;
    bool reauthorized;
    uint64_t generation; /* of the credential it was sent with */
    int64_t last_byte_ms;
    /* the answer */
    struct buf got;
    bool counted;
    bool too_large;
    bool finished;
    const struct err *failed; /* before it was sent */
    CURLcode rc;
    int status;
    int64_t retry_after_s;
};

struct request_count {
    const char *method;
    int code; /* 0: no answer */
    int64_t n;
};

/* What says who we are. */
struct credential {
    struct headers *now; /* what to send; NULL: nothing yet */
    uint64_t generation; /* of the last one made */
    /* a token file */
    int64_t checked_ms; /* 0: never */
    struct stat seen;   /* the file, when it was read */
    /* an exec plugin */
    struct loop_child *child; /* while it runs */
    struct arena *a;          /* of its certificate */
    str cert;
    str key;
    int64_t expires_ms; /* by the wall's clock; 0: never */
    bool good;
};

/* Curl's, and what it waits for. */
struct multi {
    struct client *c;
    CURLM *curl;
    uv_timer_t *timer;
};

struct client {
    struct kube_api api;
    struct loop *loop;
    const struct client_config *cfg;
    struct arena *a;
    const char *base; /* of all URLs */
    const char *host; /* for people */
    bool stopped;
    int holds; /* handles of libuv and deferred calls that still point here */
    /* multi.c */
    struct multi for_calls, for_streams;
    struct curl_slist *connect_to;
    struct line *pool;
    int pool_n;
    bool http1;     /* the server does not speak HTTP/2 */
    bool only_json; /* nor takes protobuf */
    /* credential.c */
    struct credential cred;
    /* calls */
    struct kube_call *calls;
    struct call_queue waiting; /* for a credential */
    struct call_queue slowed;  /* by the rate limit */
    struct call_queue full;    /* for others to be done, or for curl to look at these */
    int running;               /* requests curl has; watches are not counted */
    int begun;                 /* of these, those that curl has not looked at yet */
    struct call_queue ready;   /* something to tell */
    struct kube_call *telling; /* whose bytes are being told; NULL: none, or it is gone */
    double tokens;
    int64_t tokens_ms; /* when they were counted */
    struct loop_timer *tokens_timer;
    struct loop_timer *idle_timer;
    struct client_stats stats;
    struct {
        VEC(struct request_count);
    } counts;
};

/* One of its holds is gone. The last one after client_free frees it. */
void client_unref(struct client *c);

void queue_push(struct call_queue *q, struct kube_call *call);
struct kube_call *queue_pop(struct call_queue *q); /* the first; NULL: none */

/* ---- multi.c: curl on the loop */

void multi_init(struct client *c);
void multi_done(struct client *c); /* all calls are gone */
void multi_begin(struct kube_call *call, struct headers *h);
void multi_end(struct kube_call *call); /* takes it from curl; fine when curl does not have it */

/* ---- line.c: easy handles */

struct line *line_get(struct kube_call *call, struct headers *h);
/* A connection of its own for bytes to and fro, HTTP/1.1. Waits until it is there. NULL: as e says.
 */
struct line *line_connect(struct client *c, struct headers *h, struct err *e);
void line_put(struct client *c, struct line *l);
void line_free(struct line *l);

/* ---- call.c */

bool call_is_stream(const struct kube_call *call); /* watches, and what comes in bytes */
void call_start(struct kube_call *call);
void call_got(struct kube_call *call, str bytes); /* from curl: only notes it */
void calls_deliver(struct client *c);             /* tells what was noted */
void call_free(struct kube_call *call);
void call_fail(struct kube_call *call, const struct err *e); /* told later */

/* ---- pace.c: the rate limit */

bool pace_take(struct client *c);                         /* whether a request may go now */
void pace_wait(struct client *c, struct kube_call *call); /* call_authorize follows */
void pace_done(struct client *c);
void calls_start_waiting(struct client *c); /* those that there was no room for */
void call_authorize(struct kube_call *call);

/* ---- credential.c: what says who we are */

int credential_init(struct client *c, struct err *e);
void credential_done(struct client *c);
/* What to send now. NULL: not yet, and calls_authorized follows; or it failed, as e says. */
struct headers *credential_get(struct client *c, struct err *e);
/* The one of that generation was refused: whether another is worth a try. */
bool credential_refused(struct client *c, uint64_t generation);
/* PEM of a certificate and key that came with the credential, if any. */
void credential_cert(const struct client *c, str *cert, str *key, uint64_t *generation);
/* From now on this token; STR_NONE: none. */
int credential_set(struct client *c, str token, struct err *e);
void calls_authorized(struct client *c, const struct err *e); /* e NULL: go on; else they fail */

struct headers *headers_ref(struct headers *h);
void headers_unref(struct headers *h);

/* ---- exec.c: credential plugins */

int exec_start(struct client *c, struct err *e); /* calls_authorized follows */
