/* The Kubernetes API as its clients see it: requests out, answers and watch events in. Two
 * implementations: client/ over HTTP to any cluster, api/ in-process to our own server. All calls
 * and callbacks are on the loop thread. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* A row of somebody's static table. */
struct kube_resource {
    const char *group; /* "": core */
    const char *version;
    const char *plural;
    const char *kind;
    bool cluster_wide;
};

enum kube_verb {
    KUBE_GET,
    KUBE_LIST,
    KUBE_WATCH,
    KUBE_CREATE,
    KUBE_UPDATE,
    KUBE_PATCH,
    KUBE_DELETE
};
enum kube_patch { KUBE_PATCH_MERGE, KUBE_PATCH_JSON, KUBE_PATCH_STRATEGIC, KUBE_PATCH_APPLY };

/* Everything in it is copied by the call it is given to. */
struct kube_request {
    enum kube_verb verb;
    const struct kube_resource *res;
    str ns; /* empty: all of them, or not in one */
    str name;
    str sub; /* subresource: "status" */
    enum kube_patch patch;
    jv body;            /* of a DELETE: DeleteOptions, may be absent */
    str labels;         /* selectors, as text; lists and watches */
    str fields;         /* */
    str version;        /* resourceVersion to start from */
    str cont;           /* continue; lists */
    int64_t limit;      /* 0: none; lists */
    int64_t timeout_ms; /* 0: the implementation's; watches: when the server ends it */
    const char *accept; /* media types wanted, as for Tables; NULL: JSON */
    bool metadata;      /* of the objects in the answer that is enough; all of them may come */
};

struct kube_answer {
    int status;     /* HTTP's; 0: there was no answer, err says why */
    jv obj;         /* the object, list or Status; absent: none, or unreadable */
    struct err err; /* code ERR_OK on 2xx that reads, else by reason and code of the Status */
    str message;    /* the server's own, whole; empty when err is ERR_OK */
    int64_t retry_after_ms; /* 0: not said; five minutes at most */
};

enum kube_event { KUBE_ADDED, KUBE_MODIFIED, KUBE_DELETED, KUBE_BOOKMARK };

struct kube_watcher {
    /* obj: with kind, apiVersion and metadata.resourceVersion; borrowed until it returns. */
    void (*on_event)(void *ctx, enum kube_event type, jv obj);
    /* Exactly once, unless cancelled: e NULL when the server just ended it; ERR_EXPIRED: list
     * again; else wait (retry_after_ms if not 0) and resume from the last version seen. */
    void (*on_end)(void *ctx, const struct err *e, int64_t retry_after_ms);
    void *ctx;
};

typedef void kube_done(void *ctx, const struct kube_answer *ans); /* borrowed until it returns */

/* What the verbs have no words for: logs, discovery. */
struct kube_get {
    str path;           /* "/api/v1/namespaces/a/pods/b/log?follow=true" */
    const char *accept; /* NULL: JSON */
    /* Of a good answer the bytes as they come, however long that takes; done then gets an answer
     * without an object. NULL: the answer is an object. It may cancel the call. */
    void (*on_bytes)(void *ctx, str bytes);
};

struct kube_call;
struct kube_api;
struct kube_form;

struct kube_api_ops {
    struct kube_call *(*send)(struct kube_api *api, const struct kube_request *r, kube_done *done,
                              void *ctx);
    struct kube_call *(*watch)(struct kube_api *api, const struct kube_request *r,
                               const struct kube_watcher *w);
    void (*cancel)(struct kube_api *api, struct kube_call *c);
    struct kube_call *(*get)(struct kube_api *api, const struct kube_get *g, kube_done *done,
                             void *ctx); /* NULL: cannot */
};

/* First member of whatever implements it. */
struct kube_api {
    const struct kube_api_ops *ops;
};

/* done is called exactly once, never from within kube_send, unless the call is cancelled. */
static inline struct kube_call *kube_send(struct kube_api *api, const struct kube_request *r,
                                          kube_done *done, void *ctx)
{
    return api->ops->send(api, r, done, ctx);
}

/* As kube_send. */
static inline struct kube_call *kube_get(struct kube_api *api, const struct kube_get *g,
                                         kube_done *done, void *ctx)
{
    return api->ops->get(api, g, done, ctx);
}

/* Asks for bookmarks. No event comes from within kube_watch. */
static inline struct kube_call *kube_watch(struct kube_api *api, const struct kube_request *r,
                                           const struct kube_watcher *w)
{
    return api->ops->watch(api, r, w);
}

/* No callback follows. What was sent may be done by the server all the same. */
static inline void kube_cancel(struct kube_api *api, struct kube_call *c)
{
    api->ops->cancel(api, c);
}

/* ---- request.c: what both implementations share */

const char *kube_method(const struct kube_request *r); /* "PATCH" */
/* "/apis/kubeflow.org/v1/namespaces/a/tfjobs?labelSelector=..." with what the verb needs. A list or
 * watch with a name is of that one object; a DELETE without one is of the whole collection. Writes
 * name "muster" as their field manager. */
str kube_path(struct arena *a, const struct kube_request *r);
const char *kube_content_type(const struct kube_request *r); /* of the body; NULL: none */
/* Reads an answer's body; f: what was asked for beside JSON, may be NULL; retry_after: the header,
 * may be empty. Texts live in a, or in body, which must live as long. */
void kube_answer_read(struct arena *a, int status, str body, const struct kube_form *f,
                      str retry_after, struct kube_answer *out);
/* A list that is read page by page. Starts as { 0 }, and is that again after the last page. */
struct kube_pages {
    struct buf cont; /* for the next request */
    unsigned n;
};
/* After each page. 1: ask for another one. 0: that was the last. -1: the server never ends. */
int kube_pages_next(struct kube_pages *p, jv list, struct err *e);
void kube_pages_done(struct kube_pages *p); /* given up, or begun anew */
/* The error a Status stands for; code: of the answer it came with, 0: not known. */
void kube_status_err(jv status, int code, struct err *e);
/* The namespace is being deleted: nothing can be made in it, now or later. */
bool kube_namespace_ends(const struct kube_answer *ans);

/* ---- watch_lines.c: a watch's stream cut into lines, or frames of protobuf, and read */

struct kube_lines;
/* f: what was asked for beside JSON, may be NULL. */
struct kube_lines *kube_lines_new(const struct kube_form *f,
                                  void (*on_event)(void *ctx, enum kube_event type, jv obj),
                                  void *ctx);
/* In pieces of any size; a line has a limit (LIMIT_WATCH_LINE in base/limits.h). -1: the stream is
 * over, as e says: an ERROR event is told as the error its Status stands for. 1: on_event called
 * kube_lines_free, which it may. */
int kube_lines_feed(struct kube_lines *l, str bytes, struct err *e);
bool kube_lines_is_partial(const struct kube_lines *l); /* within a line: the end comes too early */
void kube_lines_free(struct kube_lines *l);
