/* What the files of `muster operator` share. */
#pragma once

#include "app/operator_flags.h"
#include "client/client.h"
#include "ctl/ctl.h"
#include "ctl/elect.h"
#include "ctl/fence.h"
#include "http/server.h"

struct access;

struct manager {
    struct operator_flags flags;
    struct arena *a;
    struct loop *loop;
    struct client_config config;
    struct client_config lease_config; /* the same, without a rate limit */
    struct client *client;
    struct client *lease_client; /* its own: renewals wait behind nothing. NULL: no election */
    struct elect *elect;         /* NULL: no election */
    struct fence *fence;         /* NULL: no election */
    struct access *access;
    struct ctl *ctl;
    struct http_server *metrics;  /* NULL: not served */
    struct http_server *probes;   /* likewise */
    struct loop_timer *deadline;  /* of what is to end: the lease, or writes under way */
    struct loop_timer *readiness; /* until it was told */
    int servers;                  /* that are still stopping */
    int64_t started_ms;           /* since 1970 */
    bool stopping;
    bool ctl_is_over;
    bool lease_is_over;
    int exit_code;
};

/* ---- operator_serve.c: probes and metrics */

/* Where it is asked for; 0 and "": nowhere, *out stays NULL. */
int operator_listen(struct manager *o, const char *what, const char *address,
                    void (*on_request)(void *ctx, struct http_req *r), struct http_server **out,
                    struct err *e);
void operator_on_probe(void *ctx, struct http_req *r);
/* Acting, or able to at once. If not, why. */
bool operator_is_ready(struct manager *o, const char **why);

/* ---- operator_metrics.c */

void operator_on_metrics(void *ctx, struct http_req *r);
void operator_print_metrics(struct manager *o, struct buf *b);

/* ---- operator_access.c: may we do what we will have to? */

struct access *access_start(struct loop *l, struct kube_api *api,
                            const struct operator_flags *flags);
void access_free(struct access *x);
const char *access_trouble(const struct access *x); /* NULL: none known */
