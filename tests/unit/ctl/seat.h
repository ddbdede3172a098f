/* Candidates of an election by hand: the clock moves when a test says so, and a Lease is kept by a
 * server of a few lines that can be cut off, for one candidate or for all. */
#pragma once

#include "ctl/elect.h"

extern int64_t clock_ms;
extern struct loop *loop; /* main makes it */

struct lease_server {
    struct jdoc *lease; /* NULL: none */
    int rev;
};

struct link { /* one candidate's way to the server */
    struct kube_api api;
    struct lease_server *server;
    struct kube_request r; /* under way; done NULL: none */
    struct arena *a;
    kube_done *done;
    void *ctx;
    int sent;
    enum kube_verb last;
};

struct seat {
    struct link link;
    struct elect *e;
    int64_t until_ms;
    int held, lost;
    char why[100];
};

/* ---- the server */

void lease_put(struct lease_server *f, struct arena *a, jv obj);
jv lease_spec(const struct lease_server *f);
void lease_server_done(struct lease_server *f);
struct kube_answer lease_refuse(enum err_code code, const char *msg);
/* What the server does with it, whether or not the answer gets through. */
struct kube_answer lease_serve(struct link *l);
void lease_reply(struct link *l, struct kube_answer ans);
void lease_settle(struct link *l); /* serves until nothing is under way */

/* ---- a candidate */

void seat_take(struct seat *s, struct lease_server *f, const char *identity);
void seat_leave(struct seat *s);
void seat_tick(struct seat *s); /* and serves it */
void seat_wait_ms(struct seat *s, int64_t ms, int64_t step_ms);
