/* One API request, from its path to its answer. Lives in the arena of its HTTP request. */
#pragma once

#include "api/api.h"
#include "api/resource.h"
#include "api/target.h"
#include "base/map.h"
#include "kube/selector.h"

enum api_verb {
    VERB_GET,
    VERB_LIST,
    VERB_WATCH,
    VERB_CREATE,
    VERB_UPDATE,
    VERB_PATCH,
    VERB_DELETE,
    VERB_DELETE_COLLECTION,
    VERB_OTHER, /* served by nobody */
};

enum validation { VALIDATE_WARN, VALIDATE_IGNORE, VALIDATE_STRICT };
enum form { FORM_OBJECT, FORM_TABLE, FORM_META }; /* as it is, Table, PartialObjectMetadata */
enum rv_match { RV_UNSET, RV_EXACT, RV_NOT_OLDER };

struct api_user {
    str name;
    str uid;
    const str *groups;
    size_t n_groups;
    jv extra; /* lists of texts by key; absent: none */
};

struct api_query {
    const struct selector *labels; /* NULL: everything */
    const struct field_selector *fields;
    bool bookmarks;
    bool send_initial; /* sendInitialEvents=true */
    bool send_initial_given;
    bool dry_run;
    bool force; /* apply */
    bool force_given;
    bool pretty;
    bool pretty_given;
    bool grace_given;
    bool orphan;
    bool orphan_given;
    str propagation;
    int64_t grace_s;
    int64_t timeout_s; /* 0: none given; less: no time at all */
    int64_t limit;
    str cont;             /* continue */
    str resource_version; /* as sent */
    str match_text;       /* resourceVersionMatch */
    enum rv_match match;
    str field_manager;
    enum validation validation;
    str include_object; /* Table rows: None, Metadata, Object */
};

struct api_req {
    struct api *api;
    struct arena *a;
    struct http_req *http;
    struct target target; /* what is asked for; read once */
    enum api_verb verb;   /* of target */
    struct resource *res;
    str ns; /* empty: all, or not namespaced */
    str name;
    str sub; /* subresource */
    struct api_query q;
    struct api_user user;
    enum form form;
    bool beta_form; /* ... of meta.k8s.io/v1beta1 */
    bool yaml;      /* the answer */
    str *warnings;
    size_t n_warnings;
    int64_t started_us;
    jv sent_managed; /* metadata.managedFields of the body, undecoded: [] and [{}] clear them */
};

struct api {
    struct loop *loop;
    struct store *store;
    struct registry registry;
    struct api_opts o;
    struct http_server *server;
    struct arena *a; /* lives as long as the api */
    struct gc *gc;
    struct namespaces *namespaces;
    struct expiry *expiry;
    struct crds *crds;
    struct addresses *addresses;
    struct quotas *quotas;
    struct rbac *rbac;
    struct metrics *metrics;
    struct event_cache *event_cache;
    struct watcher *watchers; /* doubly linked */
    size_t n_watchers;
    struct pod_wait *pod_waits;
    struct loop_timer *basics_due; /* something of basics.c is to be made again */
    bool stopping;
};

/* ---- query.c: 0, or answered with 400 already and -1 */
int query_parse(struct api_req *r);
/* The manager named in managedFields: the option, or the first word of the client's name. */
str query_manager(const struct api_req *r);
/* A resourceVersion; 0 and -1 as above. before: what the refusal begins with. */
int parse_revision(struct api_req *r, str text, const char *before, int64_t *out);
/* negotiate.c: what the client takes; 0 or -1 with 406 answered */
int negotiate(struct api_req *r);

void request_warn(struct api_req *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- answers: each ends the request */
size_t answer_headers(struct api_req *r, str content_type, struct http_header **out);
bool wants_pretty(const struct api_req *r);
/* What went wrong with a patch; message: all of it, where e has only its start. */
void answer_patch_err(struct api_req *r, const struct err *e, str message);
void answer_json(struct api_req *r, int code, jv body);          /* as it is */
void answer_object(struct api_req *r, int code, jv obj);         /* in the form asked for */
void answer_stored(struct api_req *r, int code, struct blob *b); /* borrowed */
void answer_text(struct http_req *h, int code, str content_type, str text);
void answer_status(struct api_req *r, jv status);        /* a Status object with its code */
void answer_err(struct api_req *r, const struct err *e); /* by the table of base/err.h */
/* Success of a deletion: Status with details of what went. */
void answer_deleted(struct api_req *r, str name, str uid);

/* ---- status.c: the errors kube-apiserver words in its own way */
jv status_new(struct arena *a, int code, str reason, str message, jv details);
void fail_not_found(struct api_req *r, const struct resource *res, str name);
void fail_unknown_resource(struct api_req *r); /* nothing is served at this path */
void fail_no_page(struct api_req *r);          /* nor by anything else */
void fail_method(struct api_req *r);
void fail_exists(struct api_req *r, str name, bool being_deleted);
void fail_conflict(struct api_req *r, str name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fail_precondition(struct api_req *r, str name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fail_invalid(struct api_req *r, str kind, str group, str name, const struct problems *ps);
void fail_bad_request(struct api_req *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void fail_forbidden(struct api_req *r, str name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Some of kube-apiserver's errors carry no reason; clients see a plain 500. */
void fail_plain(struct api_req *r, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fail_code(struct api_req *r, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* What the server itself could not do. */
void fail_internal(struct api_req *r, const struct err *e);
void fail_with(struct api_req *r, enum err_code code, str message, jv details);

const char *verb_name(enum api_verb v);
void run_verb(struct api_req *r); /* by r->verb */

/* ---- the verbs, a file each */
void verb_get(struct api_req *r);
void verb_list(struct api_req *r);
void verb_watch(struct api_req *r);
void verb_create(struct api_req *r);
void verb_update(struct api_req *r);
void verb_patch(struct api_req *r);
void verb_delete(struct api_req *r);
void verb_delete_collection(struct api_req *r);
