/* One of several acts: a Lease (coordination.k8s.io/v1), held as client-go holds it, so that ours
 * and theirs can stand by for each other. Who holds it may write until elect_until_ms() on its own
 * clock, never longer; others take it over only after it stood unchanged for its whole duration on
 * theirs. No wall clock decides anything. On the loop thread. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct elect;

struct elect_opts { /* copied, texts too */
    struct loop *loop;
    struct kube_api *api;
    str ns;
    str name;
    str identity;
    int64_t lease_ms;        /* 0: 15,000; what others wait for */
    int64_t renew_ms;        /* 0: 10,000; without a renewal for so long it is given up */
    int64_t retry_ms;        /* 0: 2,000 */
    int64_t (*now_ms)(void); /* NULL: boot_now_ms */
    /* Held from now until that time, which moves with each renewal; 0: let go by us. */
    void (*on_held)(void *ctx, int64_t until_ms);
    /* Was held, and is no longer: told once, and nothing happens after it. */
    void (*on_lost)(void *ctx, const char *why);
    void *ctx;
};

struct elect *elect_new(const struct elect_opts *o);
void elect_start(struct elect *e);
/* What is due now; elect_start sees to it that it is called in time. */
void elect_tick(struct elect *e);
bool elect_holds(const struct elect *e); /* now, by the clock: asked before each write */
bool elect_leads(const struct elect *e); /* took the lease and was not told that it is lost */
str elect_holder(const struct elect *e); /* as last seen; empty: nobody, or not known */
/* What keeps us from taking part, for people; empty: nothing. */
str elect_trouble(const struct elect *e);
bool elect_is_reached(const struct elect *e); /* the lease was read or written at least once */
/* Lets go of the lease, so that another need not wait; then done(arg), never from within. Nobody
 * may write any more when it is called. */
void elect_release(struct elect *e, void (*done)(void *arg), void *arg);
void elect_free(struct elect *e); /* at any time; NULL is fine */
