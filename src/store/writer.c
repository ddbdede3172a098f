/* The thread that owns the database. Takes all that has gathered, writes it as one transaction,
 * hands it back. Waits on a condition otherwise; has no timers. */

#include "store/internal.h"

#include "base/mem.h"
#include "loop/log.h"
#include "store/reserve.h"

#include <time.h>

enum {
    GROUP_BYTES = RESERVE_BYTES / 4,
    LOG_BYTES = RESERVE_BYTES * 3 / 8,
};

struct list {
    struct commit *first;
    struct commit **end; /* where the next one is hung */
};

struct writer {
    struct db *db;
    struct changes changes;
    struct reserve reserve;
    int log_pages;      /* the log is moved into the file after this many */
    size_t group_bytes; /* one transaction takes up to this much */
    struct loop *loop;
    struct store_handle *handle;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t more;
    pthread_cond_t some_done;
    struct list queue;
    struct list done;
    int64_t last_us;
    bool is_posted; /* the loop has been told and has not yet come */
    bool is_stopping;
    bool is_failing; /* writer thread only: the last group failed */
};

static void list_init(struct list *l)
{
    l->first = NULL;
    l->end = &l->first;
}

static void list_push(struct list *l, struct commit *c)
{
    c->next = NULL;
    *l->end = c;
    l->end = &c->next;
}

static struct commit *list_take(struct list *l)
{
    struct commit *c = l->first;

    list_init(l);
    return c;
}

static int write_op(struct db *d, const struct op *op, struct err *e)
{
    if (op->is_delete)
        return db_delete(d, op->obj->id, e);
    struct db_row r = { .id = op->obj->id,
                        .coll = store_coll_name(op->coll),
                        .key = op->obj->pub.key,
                        .rev = op->rev,
                        .create_rev = op->create_rev,
                        .value = blob_str(op->value) };
    r.crc = db_row_crc(&r);
    return db_put(d, &r, op->is_new, e);
}

static int write_all(struct db *d, const struct commit *group, struct err *e)
{
    int64_t rev = 0;

    if (db_begin(d, e) < 0)
        return -1;
    for (const struct commit *c = group; c; c = c->next)
        for (size_t i = 0; i < c->n; i++) {
            if (write_op(d, &c->ops[i], e) < 0)
                return -1;
            rev = c->ops[i].rev;
        }
    return db_commit(d, rev, e);
}

static int try_group(struct writer *w, const struct commit *group, struct err *e)
{
    int rc = write_all(w->db, group, e);

    if (rc < 0)
        db_rollback(w->db);
    return rc;
}

static bool is_ending(const struct commit *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->ops[i].is_ending)
            return false;
    return true;
}

/* Takes out of the group what may use the reserve. */
static struct list take_ending(struct list *group)
{
    struct list all = *group;
    struct list ending;

    list_init(group);
    list_init(&ending);
    for (struct commit *c = all.first, *next; c; c = next) {
        next = c->next;
        list_push(is_ending(c) ? &ending : group, c);
    }
    return ending;
}

/* With the reserve let go there is room to empty the log, and then for a few pages in it. Emptied
 * again, it has given all of that back. */
static int write_ending(struct writer *w, const struct commit *group, struct err *e)
{
    reserve_release(&w->reserve);
    db_empty_log(w->db);
    int rc = try_group(w, group, e);
    db_empty_log(w->db);
    reserve_take(&w->reserve);
    return rc;
}

static void set_err(struct commit *group, const struct err *e)
{
    for (struct commit *c = group; c; c = c->next)
        c->e = *e;
}

/* On a full disk deletions are written all the same. Ordinary writes wait until the reserve is
 * whole again, or they would eat it up. */
static void write_on_full(struct writer *w, struct commit *group, struct err *why)
{
    struct list rest = { .first = group };
    struct list ending = take_ending(&rest);
    struct err e = { 0 };

    set_err(rest.first, why);
    if (ending.first && write_ending(w, ending.first, &e) < 0)
        set_err(ending.first, &e);
}

static void write_group(struct writer *w, struct commit *group)
{
    struct err e = { 0 };
    bool has_room = reserve_take(&w->reserve);
    int rc = has_room ? try_group(w, group, &e)
                      : err_set(&e, ERR_STORAGE_FULL,
                                "write to muster.db: the disk is full, except for the space "
                                "reserved for deletions");
    /* a full disk may have room for all once the log can start over */
    if (rc < 0 && e.code == ERR_STORAGE_FULL && has_room && db_checkpoint(w->db))
        rc = try_group(w, group, &e);
    if (rc < 0 && !w->is_failing)
        log_error("store cannot write", KVZ("error", e.msg));
    if (rc == 0 && w->is_failing)
        log_info("store: writing again");
    w->is_failing = rc < 0;
    if (rc < 0 && e.code == ERR_STORAGE_FULL)
        write_on_full(w, group, &e);
    else if (rc < 0)
        set_err(group, &e);
}

static void note_changes(struct changes *to, const struct commit *group)
{
    for (const struct commit *c = group; c; c = c->next)
        for (size_t i = 0; c->e.code == ERR_OK && i < c->n; i++)
            changes_add(to, &(struct changed){ .coll = store_coll_name(c->ops[i].coll),
                                               .key = c->ops[i].obj->pub.key,
                                               .rev = c->ops[i].rev,
                                               .is_delete = c->ops[i].is_delete });
    changes_write(to);
}

static int64_t now_us(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static size_t commit_bytes(const struct commit *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += blob_str(c->ops[i].value).n;
    return n;
}

/* Cuts off the queue what goes into one transaction. */
static struct commit *take_group(struct list *queue, size_t most)
{
    struct commit *group = queue->first;
    struct commit *last = group;

    for (size_t n = commit_bytes(last); last->next; last = last->next) {
        n += commit_bytes(last->next);
        if (n > most)
            break;
    }
    queue->first = last->next;
    if (!queue->first)
        queue->end = &queue->first;
    last->next = NULL;
    return group;
}

static void on_done(void *arg);

static void hand_back(struct writer *w, struct commit *group, int64_t us)
{
    pthread_mutex_lock(&w->lock);
    for (struct commit *next; group; group = next) {
        next = group->next;
        list_push(&w->done, group);
    }
    bool post = !w->is_posted;
    w->is_posted = true;
    w->last_us = us;
    pthread_cond_signal(&w->some_done);
    pthread_mutex_unlock(&w->lock);
    if (post)
        loop_post(w->loop, on_done, w->handle);
}

static void *work(void *arg)
{
    struct writer *w = arg;

    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (!w->queue.first && !w->is_stopping)
            pthread_cond_wait(&w->more, &w->lock);
        struct commit *group = w->queue.first ? take_group(&w->queue, w->group_bytes) : NULL;
        pthread_mutex_unlock(&w->lock);
        if (!group)
            return NULL;
        int64_t start = now_us();
        write_group(w, group);
        note_changes(&w->changes, group);
        hand_back(w, group, now_us() - start);
        if (w->db->wal_pages > w->log_pages && db_checkpoint(w->db)) {
            w->db->wal_pages = 0;
            changes_restart(&w->changes);
        }
    }
}

/* On the loop. The handle is all that surely still is. */
static void on_done(void *arg)
{
    struct store_handle *h = arg;

    if (!h->store) {
        if (--h->calls == 0)
            free(h);
        return;
    }
    struct writer *w = h->store->writer;
    pthread_mutex_lock(&w->lock);
    w->is_posted = false;
    struct commit *done = list_take(&w->done);
    h->store->stats.last_commit_us = w->last_us;
    pthread_mutex_unlock(&w->lock);
    commit_deliver(h->store, done);
}

/* The log and a group, with what SQLite adds to them, fit into the reserve. */
static void set_sizes(struct writer *w)
{
    int64_t reserve = w->reserve.bytes ? w->reserve.bytes : RESERVE_BYTES;

    w->group_bytes = (size_t)(reserve * GROUP_BYTES / RESERVE_BYTES);
    w->log_pages = (int)(reserve * LOG_BYTES / RESERVE_BYTES / DB_PAGE_BYTES);
}

struct writer *writer_start(struct db *db, struct store *s, int64_t changes_end)
{
    struct writer *w = mem_new(sizeof(*w));

    w->db = db;
    changes_open(&w->changes, db->path, changes_end);
    reserve_open(&w->reserve, db->path);
    set_sizes(w);
    w->loop = s->loop;
    w->handle = s->handle;
    list_init(&w->queue);
    list_init(&w->done);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_cond_init(&w->some_done, NULL);
    if (pthread_create(&w->thread, NULL, work, w) != 0)
        abort();
    return w;
}

void writer_push(struct writer *w, struct commit *c)
{
    pthread_mutex_lock(&w->lock);
    list_push(&w->queue, c);
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
}

struct commit *writer_wait(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->done.first)
        pthread_cond_wait(&w->some_done, &w->lock);
    struct commit *done = list_take(&w->done);
    pthread_mutex_unlock(&w->lock);
    return done;
}

void writer_stop(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    assert(!w->queue.first && !w->done.first);
    w->is_stopping = true;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    w->handle->calls += w->is_posted;
    struct err e = { 0 };
    if (db_tidy(w->db, &e) < 0) /* no harm: the next start reads the log */
        log_warn("cannot truncate the store's log", KVZ("error", e.msg));
    changes_close(&w->changes);
    reserve_done(&w->reserve);
    db_close(w->db);
    free(w->db);
    pthread_cond_destroy(&w->more);
    pthread_cond_destroy(&w->some_done);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
