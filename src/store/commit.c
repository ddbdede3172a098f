/* A write from the caller's hands to the writer's queue, and back into memory once it is on disk.
 */

#include "store/internal.h"

#include "base/mem.h"

enum { ENDING_BYTES = 4096 }; /* that a step towards deletion may add: a status and its like */

int64_t store_take_rev(struct store *s)
{
    assert_on_loop(s->loop);
    return ++s->taken_rev;
}

static struct op make_op(struct store *s, const struct store_op *from, const struct commit *by)
{
    struct op op = { .coll = from->coll,
                     .busy = busy_begin(from->coll, from->key, by),
                     .value = from->value,
                     .rev = from->rev,
                     .is_delete = from->is_delete };
    struct obj **now = busy_obj(op.busy);

    assert(*now || !op.is_delete); /* only what is there can be deleted */
    if (*now) {
        op.obj = obj_ref(*now);
    } else {
        op.is_new = true;
        op.obj = obj_new(from->key);
        op.obj->id = s->next_id++;
        op.obj->pub.create_rev = op.rev;
    }
    op.create_rev = op.obj->pub.create_rev;
    op.is_ending =
        op.is_delete || (from->is_ending && !op.is_new &&
                         blob_str(op.value).n <= value_size(op.obj->pub.value) + ENDING_BYTES);
    *now = op.is_delete ? NULL : op.obj;
    return op;
}

void store_commit(struct store *s, const struct store_op *ops, size_t n,
                  void (*fn)(void *ctx, const struct err *e), void *ctx)
{
    struct commit *c = mem_room(sizeof(*c) + n * sizeof(struct op));

    assert_on_loop(s->loop);
    *c = (struct commit){ .fn = fn, .ctx = ctx, .n = n };
    for (size_t i = 0; i < n; i++) {
        assert(ops[i].rev > (i ? ops[i - 1].rev : s->queued_rev) && ops[i].rev <= s->taken_rev);
        c->ops[i] = make_op(s, &ops[i], c);
    }
    if (n)
        s->queued_rev = ops[n - 1].rev;
    s->in_flight++;
    writer_push(s->writer, c);
}

static void touch(struct store_coll *c)
{
    if (c->touched)
        return;
    c->touched = true;
    vec_push(&c->store->touched, c);
}

/* The event goes into history while prev is still the object's, so both are shared, not copied. */
static struct store_event *record(struct store *s, const struct commit *c, const struct op *op,
                                  struct value *now)
{
    struct history *h = &op->coll->history;
    struct store_event ev = { .rev = op->rev,
                              .key = op->obj->pub.key,
                              .value = now,
                              .prev = op->obj->pub.value,
                              .prev_rev = op->obj->pub.rev,
                              .commit_first = c->ops[0].rev,
                              .commit_last = c->ops[c->n - 1].rev,
                              .is_delete = op->is_delete };
    size_t before = h->bytes;
    struct store_event *kept = history_add(h, &ev);

    s->history_bytes += h->bytes - before;
    return kept;
}

static void apply(struct store *s, const struct commit *c, struct op *op)
{
    struct store_obj *o = &op->obj->pub;
    struct value *now = value_new(TAKE(op->value));
    struct store_event *ev = record(s, c, op, now);

    s->rev = op->rev;
    s->stats.ops++;
    s->stats.bytes_written += op->is_delete ? 0 : value_size(now);
    s->stats.object_bytes -= value_size(o->value);
    s->stats.object_bytes += op->is_delete ? 0 : value_size(now);
    young_add(&s->young, &op->coll->packer, now);
    if (!op->is_delete) {
        value_unref(o->value);
        o->value = value_ref(now);
        o->rev = op->rev;
        if (op->is_new)
            index_insert(&op->coll->index, obj_ref(op->obj));
    }
    s->stats.objects += op->is_new;
    s->stats.objects -= op->is_delete;
    if (s->on_event)
        s->on_event(s->on_event_ctx, op->coll, ev);
    if (op->is_delete)
        index_remove(&op->coll->index, op->obj);
    value_unref(now);
    coll_trim_history(op->coll);
    touch(op->coll);
}

/* All of a commit becomes visible, or nothing of it; the keys become free. */
static void settle(struct store *s, struct commit *c)
{
    s->stats.commits += c->e.code == ERR_OK;
    s->stats.failures += c->e.code != ERR_OK;
    for (size_t i = 0; i < c->n; i++) {
        struct op *op = &c->ops[i];
        if (c->e.code == ERR_OK)
            apply(s, c, op);
        busy_end(op->busy);
        blob_unref(op->value);
        obj_unref(op->obj);
    }
}

static void wake_touched(struct store *s)
{
    for (size_t i = 0; i < s->touched.n; i++) {
        struct store_coll *c = s->touched.at[i];
        if (!c) /* forgotten by somebody just woken */
            continue;
        c->touched = false;
        watch_wake_all(s, &c->armed);
    }
    s->touched.n = 0;
}

void commit_deliver(struct store *s, struct commit *done)
{
    for (struct commit *c = done; c; c = c->next)
        settle(s, c);
    wake_touched(s);
    for (struct commit *c = done, *next; c; c = next) {
        next = c->next;
        s->in_flight--;
        if (c->fn)
            c->fn(c->ctx, c->e.code == ERR_OK ? NULL : &c->e);
        free(c);
    }
    busy_run_free(s);
}
