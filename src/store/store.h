/* Objects as bytes: durable, in memory, with revisions and a history to watch. Knows nothing of
 * what the bytes mean. All functions are called on the loop thread; one thread of its own writes
 * to SQLite and commits in groups. Reads see only what is on disk. */
#pragma once

#include "base/arena.h"
#include "base/blob.h"
#include "base/err.h"
#include "loop/loop.h"
#include "store/value.h"

struct store;
struct store_coll; /* a collection, "pods" or "apps/deployments": ordered by key */

struct store_opts {
    size_t history_bytes;  /* replaced values kept for watchers, all collections; 0: 16 MB */
    size_t history_events; /* kept a collection; 0: 20,000 */
    bool accept_loss;      /* open it even if acknowledged changes are missing */
};

/* path: the database file, or ":memory:". Takes an exclusive lock on it; a second opener gets
 * ERR_CONFLICT. A file that is not ours, or of a newer format, is ERR_INVALID. One that ends before
 * the last acknowledged change (its log was cut off or removed, or it is an older copy) is ERR_IO,
 * and left as it is; what is missing is logged by name. */
int store_open(struct store **out, struct loop *l, const char *path, const struct store_opts *o,
               struct err *e);
/* Commits what was handed in, then closes. Their callbacks run before it returns. All watches must
 * have been stopped. */
void store_close(struct store *s);

/* Made on first use; lives as long as s, unless forgotten. */
struct store_coll *store_coll(struct store *s, str name);
str store_coll_name(const struct store_coll *c);
struct store_coll *store_coll_next(struct store *s, struct store_coll *after); /* NULL: first */
size_t store_coll_count(const struct store_coll *c);
bool store_coll_is_busy(const struct store_coll *c); /* some key is */
/* Forgets the collection and its history, once it has no objects (a CRD is gone): its watchers are
 * told that they are lost, c is freed. False, and nothing done: it has objects, or writes or
 * waiters under way. */
bool store_coll_forget(struct store_coll *c);

int64_t store_rev(const struct store *s); /* the last committed revision; at least 1 */

/* ---- reading */
struct store_obj {
    str key; /* "namespace/name" or "name" */
    int64_t rev;
    int64_t create_rev;
    struct value *value;
};
/* Valid until the next write to that key is committed (take value_ref to keep the value). */
struct store_obj *store_get(struct store_coll *c, str key);
/* In order: the first object with key >= from (STR_NONE: the very first), and the one after. */
struct store_obj *store_seek(struct store_coll *c, str from);
struct store_obj *store_next(struct store_coll *c, const struct store_obj *o);

/* The objects with that key prefix as they were at revision rev (0: now), after the key `after`.
 * A revision within a commit stands for all of it: the one it was taken at is in out.
 * ERR_EXPIRED if the history no longer reaches back to rev; ERR_BAD_REQUEST if rev is yet to come.
 * Values are referenced and released with the arena. */
struct store_item {
    str key;
    int64_t rev;
    struct value *value;
};
struct store_snapshot {
    struct store_item *items;
    size_t n;
    int64_t rev;
};
int store_snapshot(struct store_coll *c, struct arena *a, int64_t rev, str prefix, str after,
                   struct store_snapshot *out, struct err *e);

/* ---- writing. A key with a write under way is busy: wait, look again, then decide. So:
 *   if (store_is_busy(c, key)) { store_when_free(c, key, retry, ctx); return; }
 *   look at store_get(); encode with rev = store_take_rev(s); store_commit(...). */
bool store_is_busy(struct store_coll *c, str key);
/* fn(ctx) runs, never from within this call, once the key is free and all who asked before have
 * had their turn. Who asks only when busy, and writes or gives up when called, never starves. */
void store_when_free(struct store_coll *c, str key, void (*fn)(void *ctx), void *ctx);
/* A free key is busy until released: for who takes his time to decide. Release it, then commit. */
void store_hold(struct store_coll *c, str key);
void store_release(struct store_coll *c, str key);

struct store_op {
    struct store_coll *coll;
    str key;            /* copied */
    int64_t rev;        /* from store_take_rev, ascending within a commit */
    struct blob *value; /* taken; for a deletion the last state, for watchers */
    bool is_delete;
    bool is_ending; /* a step towards deletion that adds little: it may use the room kept for those
                     */
};
int64_t store_take_rev(struct store *s); /* must be followed by its commit before anything else */
/* All or nothing. fn(ctx, NULL) once it is on disk and visible, fn(ctx, e) if it could not be
 * written: ERR_STORAGE_FULL, ERR_IO. In order; events are handed to watchers before fn. */
void store_commit(struct store *s, const struct store_op *ops, size_t n,
                  void (*fn)(void *ctx, const struct err *e), void *ctx);

/* ---- watching: a place in the shared history, not a queue. A slow watcher costs nothing; when
 * history has moved past it, it is told. */
struct store_event {
    int64_t rev;
    str key;
    struct value *value; /* the new state; of a deletion the last, with the deletion's revision */
    struct value *prev;  /* before; NULL: created */
    int64_t prev_rev;
    int64_t commit_first, commit_last; /* revisions of the commit that it is part of */
    bool is_delete;
};
struct store_watch;
/* Everything after revision `after`. wake(ctx) when there is news since the last peek said none.
 * ERR_EXPIRED: history does not reach back that far. after > store_rev() is fine: it waits. */
struct store_watch *store_watch_start(struct store_coll *c, int64_t after, void (*wake)(void *ctx),
                                      void *ctx, struct err *e);
/* The next event, NULL if there is none yet; *lost: fell out of the history. Valid until the loop
 * goes on; hold value refs to keep more. */
struct store_event *store_watch_peek(struct store_watch *w, bool *lost);
void store_watch_advance(struct store_watch *w);
int64_t store_watch_rev(const struct store_watch *w); /* all events up to here were seen */
void store_watch_stop(struct store_watch *w);
/* Called for every committed event of every collection, in order, before watchers wake. The object
 * is as the event leaves it; a deleted one is still there during the call. */
void store_on_event(struct store *s,
                    void (*fn)(void *ctx, struct store_coll *c, struct store_event *ev), void *ctx);

/* ---- for the one on call */
struct store_damage {
    str coll, key;
    int64_t rev;
    const char *what;
};
size_t store_damaged(const struct store *s, const struct store_damage **out);
struct store_stats {
    uint64_t commits, ops, bytes_written, failures;
    uint64_t objects, object_bytes, history_events, history_bytes, watchers;
    int64_t last_commit_us; /* how long the last one took */
};
struct store_stats store_stats(const struct store *s);
