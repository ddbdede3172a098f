/* Events on jobs: told once each, within a budget, after everything else. Losing one never fails
 * anything; the ones that tell how a job ended are not lost. */
#pragma once

#include "loop/loop.h"
#include "plan/plan.h"

struct events;

/* What was told of a job, and how much more may be. Warnings have tokens of their own: what goes
 * wrong with a large job is heard after all that was made for it, too. Embedded; starts as
 * { 0 }. */
struct event_budget {
    uint64_t *told; /* an open hash of facts */
    uint32_t n, cap;
    struct event_tokens {
        float n;
        int64_t at_ms; /* monotonic: when they were counted; 0: never, all are there */
    } normal, warning;
};
void event_budget_done(struct event_budget *b);
/* Whether it was not told yet; it was, from now on. Forgets all when it gets too much. */
bool event_first_time(struct event_budget *b, str fact);

struct event_about {
    jv job;
    const struct kube_resource *res; /* of the job; lives as long as the events */
    const char *component;           /* likewise */
};

/* on_answer: one was answered, or it is time to try again: the next call may be events_kick. */
struct events *events_new(struct loop *l, struct kube_api *api, int64_t (*wall_ms)(void),
                          void (*on_answer)(void *ctx), void *ctx);
void events_free(struct events *ev);
/* The note is a NOTE_EVENT. */
void events_tell(struct events *ev, const struct event_about *about, struct event_budget *b,
                 const struct plan_note *note);
/* Sends some. busy: others have something to send, so only what has waited for long goes. */
void events_kick(struct events *ev, bool busy);
size_t events_pending(const struct events *ev); /* queued and sent, but not answered */
uint64_t events_sent(const struct events *ev);
uint64_t events_dropped(const struct events *ev);
