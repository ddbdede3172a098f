/* kube_api over HTTP, to any cluster: libcurl's multi interface on the loop, HTTP/2 multiplexed
 * over a few connections where the server speaks it. What it does by itself:
 * - 429 and 503 with Retry-After are obeyed: the request goes again when the server said so.
 * - 401 makes it look for a newer credential, and try once more if there is one.
 * - A watch without a byte, not even a bookmark, for watch_idle_ms ends with ERR_TIMEOUT.
 * All other failures are the caller's to judge. When a kept connection turns out to be dead, a
 * request may reach the server twice, as one that a caller repeats may. */
#pragma once

#include "client/config.h"
#include "kube/api.h"

struct client;
struct loop;

/* Loads the libraries a client needs, as client_new does. Call it to have them in memory. */
int client_load(struct err *e);
/* c and what it points to must live as long as the client. Nothing is sent yet. */
int client_new(struct client **out, struct loop *l, const struct client_config *c, struct err *e);
/* Cancels what is under way. The memory goes while the loop runs on, at the latest in loop_free. */
void client_free(struct client *c);
struct kube_api *client_api(struct client *c);

/* ---- counters */

struct client_stats {
    int64_t requests; /* answered, or failed without an answer; tries, not calls */
    int64_t retries;  /* of those, sent again after 429, 503 or 401 */
    int64_t watches;  /* open now, other streams too */
    int64_t open;     /* calls now, watches too */
};
struct client_stats client_stats(const struct client *c);
const char *client_host(const struct client *c); /* "10.0.0.1:6443" */
/* rest_client_requests_total: fn for each method and code; code "<error>": there was no answer. */
void client_requests_each(const struct client *c,
                          void (*fn)(void *ctx, const char *method, const char *code, int64_t n),
                          void *ctx);
