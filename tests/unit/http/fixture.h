/* A server with a few routes, running its loop on a thread of its own, so that a test can talk to
 * it like any client. */
#pragma once

#include "http/server.h"

#include <stdatomic.h>

/*  /              "ok"                       POST /echo     the body back
 *  /bytes?n       n bytes, known length      /stream?n      n bytes, unknown length
 *  /held          answered by fixture_release; /held?source: with a source
 *  /watch         an endless source          POST /event    the body to all watches
 *  /head          the request's head as text /abort?n       n bytes, then HTTP_ABORT
 *  /short         promises more than it has  /ws            a WebSocket echo
 *  /slow-source?n n bytes, one KB per turn of the loop, known length
 *  /patient?n     as /stream, patient        /ws?patient    as /ws, patient
 *  /whoami        user and groups            /inject        a header with a line break in it
 *  On /ws, "close" closes and "pause" pauses. */
struct fixture;

struct fixture *fixture_start(struct http_limits limits);
struct fixture *fixture_start_plain(struct http_limits limits); /* on all addresses, no TLS */
bool fixture_is_plain(const struct fixture *f);
/* One of another process: only for clients to connect to; free() it. */
struct fixture *fixture_attach(int port, const char *dir);
/* Stops it gracefully within grace_ms; asserts that all sources were closed once. */
void fixture_stop(struct fixture *f, int64_t grace_ms);
void fixture_begin_stop(struct fixture *f, int64_t grace_ms); /* goes on in fixture_stop */
int fixture_port(const struct fixture *f);
const char *fixture_dir(const struct fixture *f); /* of the certificates */
struct http_stats fixture_stats(struct fixture *f);
void fixture_release(struct fixture *f); /* answers all held requests */

struct fixture_counts {
    atomic_int held;         /* requests now held */
    atomic_int held_gone;    /* that were gone when released */
    atomic_int watches;      /* open */
    atomic_int opened;       /* sources */
    atomic_int closed;       /* sources */
    atomic_int closed_twice; /* must stay 0 */
    atomic_llong produced;   /* bytes read out of sources */
    atomic_int ws_closed;
    atomic_int ws_code; /* of the last one closed */
    atomic_int ws_drained;
};
struct fixture_counts *fixture_counts(struct fixture *f);

/* Waits until *p >= want; false after five seconds. */
bool fixture_await(atomic_int *p, int want);
