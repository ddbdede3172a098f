/* What the files of this room share. The loop thread owns all of it but the queue of the writer. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "store/changes.h"
#include "store/db.h"
#include "store/history.h"
#include "store/young.h"

#include <assert.h>

struct busy;
struct writer;

/* One write as the writer thread sees it: all it reads is constant while it is under way. */
struct op {
    struct store_coll *coll;
    struct obj *obj; /* referenced */
    struct busy *busy;
    struct blob *value;
    int64_t rev;
    int64_t create_rev;
    bool is_delete;
    bool is_new;
    bool is_ending; /* may use the reserve */
};

struct commit {
    struct commit *next;
    void (*fn)(void *ctx, const struct err *e);
    void *ctx;
    struct err e; /* code ERR_OK: written */
    size_t n;
    struct op ops[];
};

struct store_coll {
    struct store *store;
    struct index index;
    struct history history;
    struct packer packer;
    struct map busy; /* key to struct busy */
    struct link armed;
    struct link reading;
    size_t pending; /* writes under way */
    size_t place;   /* in store.colls */
    bool touched;   /* has news that watchers were not told */
    size_t name_n;
    char name[];
};

/* What outlives the store: calls on their way through the loop hold it. */
struct store_handle {
    struct store *store; /* NULL: closed */
    unsigned calls;      /* on their way */
};

struct store {
    struct loop *loop;
    struct store_handle *handle;
    struct writer *writer;
    struct map by_name;
    struct {
        VEC(struct store_coll *);
    } colls, touched;
    int64_t rev;        /* committed */
    int64_t taken_rev;  /* handed out */
    int64_t queued_rev; /* the last one that came back in a commit */
    int64_t next_id;
    int64_t new_floor; /* history of a collection made now starts here */
    struct store_opts opts;
    struct young young;
    size_t history_bytes; /* of all collections */
    void (*on_event)(void *ctx, struct store_coll *c, struct store_event *ev);
    void *on_event_ctx;
    struct link lost_armed; /* watchers of forgotten collections */
    struct link lost;
    struct link waking;      /* being called one by one; any call may stop any of them */
    struct busy *free_first; /* keys whose waiters are to run */
    struct busy **free_end;
    bool is_deferred; /* a call to run them is on its way */
    size_t in_flight; /* commits */
    struct store_stats stats;
    struct arena *damage_arena;
    struct {
        VEC(struct store_damage);
    } damages;
};

/* coll.c */
void coll_trim_history(struct store_coll *c);
void coll_free(struct store_coll *c);

/* watch.c */
void watch_wake_all(struct store *s, struct link *armed);

/* busy.c: keys with a write under way, and who waits for them. */
struct busy *busy_begin(struct store_coll *c, str key, const struct commit *by);
/* What the key will hold once the writes under way are done: NULL for nothing. */
struct obj **busy_obj(struct busy *b);
void busy_end(struct busy *b);       /* one write less under way */
void busy_run_free(struct store *s); /* runs waiters of keys that have become free */
void store_defer(struct store *s);   /* has busy_run_free and the lost watchers run soon */

/* missing.c: before the database is opened, whether it is gone; afterwards, whether it ends before
 * what was acknowledged. 0 when it does not, or when that is accepted: then the revision goes on
 * after the last one acknowledged. was_salvaged: the damaged file is kept aside, so go on too. */
int missing_check_file(const char *path, const struct changes_past *past,
                       const struct store_opts *o, struct err *e);
int missing_check(struct store *s, struct db *db, const struct changes_past *past,
                  bool was_salvaged, struct err *e);

/* commit.c: makes visible what is on disk, tells everybody, frees the commits. */
void commit_deliver(struct store *s, struct commit *done);

/* writer.c: the thread. Owns db from start to stop. */
struct writer *writer_start(struct db *db, struct store *s, int64_t changes_end);
void writer_push(struct writer *w, struct commit *c);
/* Waits until something is done and returns all that is. */
struct commit *writer_wait(struct writer *w);
/* Nothing may be under way. Closes the database and frees it. */
void writer_stop(struct writer *w);
