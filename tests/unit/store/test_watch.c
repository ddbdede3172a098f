/* A watcher sees every change after its revision once, in order, or is told that it is lost. */

#include "base/vec.h"
#include "help.h"

static void count_wake(void *ctx)
{
    ++*(int *)ctx;
}

static struct store_watch *watch(struct store_coll *c, int64_t after, int *wakes)
{
    return store_watch_start(c, after, count_wake, wakes, NULL);
}

static void events_tell_what_was_and_what_is(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    int wakes = 0;
    bool lost = false;
    struct store_watch *w = watch(c, store_rev(s), &wakes);

    ok(!store_watch_peek(w, &lost) && !lost, "nothing yet");
    put(l, s, c, "a", "1");
    put(l, s, c, "a", "2");
    del(l, s, c, "a");
    struct store_event *ev = store_watch_peek(w, &lost);
    ok(ev && ev->rev == 2 && !ev->prev && !ev->is_delete, "created");
    is_str(ev->key, S("a"), "key");
    is_int(store_watch_rev(w), 1, "not seen before it is passed");
    store_watch_advance(w);
    ev = store_watch_peek(w, &lost);
    ok(ev && ev->rev == 3 && ev->prev_rev == 2, "changed");
    is_str(text_of(ev->prev), S("1"), "before");
    is_str(text_of(ev->value), S("2"), "after");
    store_watch_advance(w);
    ev = store_watch_peek(w, &lost);
    ok(ev && ev->rev == 4 && ev->is_delete, "deleted");
    is_str(text_of(ev->value), S("last"), "with the last state");
    is_str(text_of(ev->prev), S("2"), "and the one before");
    store_watch_advance(w);
    ok(!store_watch_peek(w, &lost) && !lost, "no more");
    put(l, s, store_coll(s, S("nodes")), "n", "1");
    is_int(store_watch_rev(w), 5, "seen up to what others wrote");
    store_watch_stop(w);
    store_close(s);
    loop_free(l);
}

static void one_wake_a_batch_until_all_is_read(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    int wakes = 0;
    bool lost = false;
    struct store_watch *w = watch(c, store_rev(s), &wakes);
    struct answer a = { 0 };
    struct store_op ops[] = { op_put(s, c, "a", "1"), op_put(s, c, "b", "1") };

    store_commit(s, ops, 2, on_answer, &a);
    is_int(wakes, 0, "not from within the commit");
    turn_until(l, &a.done);
    is_int(wakes, 1, "two events, one wake");
    put(l, s, c, "c", "1");
    is_int(wakes, 1, "none while there is something to read");
    while (store_watch_peek(w, &lost))
        store_watch_advance(w);
    put(l, s, store_coll(s, S("nodes")), "n", "1");
    is_int(wakes, 1, "none for other collections");
    put(l, s, c, "d", "1");
    is_int(wakes, 2, "again once all was read");
    store_watch_stop(w);
    store_close(s);
    loop_free(l);
}

static void a_revision_to_come_is_waited_for(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    int wakes = 0;
    bool lost = false;
    struct store_watch *w = watch(c, 3, &wakes);

    put(l, s, c, "a", "1");
    put(l, s, c, "b", "1");
    ok(!store_watch_peek(w, &lost) && !lost, "what comes before is passed over");
    is_int(store_watch_rev(w), 3, "seen up to there");
    put(l, s, c, "c", "1");
    struct store_event *ev = store_watch_peek(w, &lost);
    ok(ev && ev->rev == 4, "then it begins");
    store_watch_stop(w);
    store_close(s);
    loop_free(l);
}

static void too_old_is_told(void)
{
    struct loop *l = loop_new();
    struct store_opts o = { .history_events = 3 };
    struct store *s = open_store(l, ":memory:", &o);
    struct store_coll *c = store_coll(s, S("pods"));
    int wakes = 0;
    bool lost = false;
    struct store_watch *w = watch(c, 1, &wakes);
    char value[8];

    for (int i = 0; i < 5; i++) {
        snprintf(value, sizeof(value), "%d", i);
        put(l, s, c, "a", value);
    }
    ok(!store_watch_peek(w, &lost) && lost, "a watcher that fell out of history");
    struct err e = { 0 };
    ok(!store_watch_start(c, 2, count_wake, &wakes, &e) && e.code == ERR_EXPIRED, "expired");
    is_str(str_of(e.msg), S("too old resource version: 2 (3)"), "says what is kept");
    struct store_watch *from_floor = watch(c, 3, &wakes);
    struct store_event *ev = store_watch_peek(from_floor, &lost);
    ok(ev && ev->rev == 4 && !lost, "right at the edge it works");
    store_watch_stop(from_floor);
    store_watch_stop(w);
    store_close(s);
    loop_free(l);
}

static void big_histories_give_way_to_small_ones(void)
{
    struct loop *l = loop_new();
    struct store_opts o = { .history_bytes = 64 * 1024 };
    struct store *s = open_store(l, ":memory:", &o);
    struct store_coll *small = store_coll(s, S("leases"));
    struct store_coll *big = store_coll(s, S("secrets"));
    static char value[4001];
    int wakes = 0;
    bool lost = false;
    bool bounded = true;

    memset(value, 'x', sizeof(value) - 1);
    struct store_watch *w = watch(small, store_rev(s), &wakes);
    put(l, s, small, "a", "1");
    put(l, s, small, "a", "2");
    for (int i = 0; i < 100; i++) {
        put(l, s, big, "b", value);
        bounded = bounded && store_stats(s).history_bytes <= o.history_bytes;
    }
    ok(bounded, "bounded at every step");
    ok(store_stats(s).history_bytes > o.history_bytes / 2, "and used");
    ok(store_watch_peek(w, &lost) && !lost, "the small collection has all its history");
    for (int i = 0; i < 2000; i++)
        put(l, s, store_coll(s, S("pods")), "same", "small");
    ok(store_stats(s).history_bytes <= o.history_bytes, "events without values count too");
    store_watch_stop(w);
    store_close(s);
    loop_free(l);
}

struct stopper {
    struct store_watch *self;
    struct store_watch *other;
    int wakes;
};

static void stop_both(void *ctx)
{
    struct stopper *p = ctx;

    p->wakes++;
    store_watch_stop(TAKE(p->self));
    store_watch_stop(TAKE(p->other));
}

static void a_watcher_may_stop_itself_and_others_when_woken(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    struct stopper p = { 0 };
    int wakes = 0;

    p.self = store_watch_start(c, 1, stop_both, &p, NULL);
    p.other = watch(c, 1, &wakes);
    put(l, s, c, "a", "1");
    is_int(p.wakes, 1, "woken once");
    is_int(wakes, 0, "the stopped one not at all");
    is_int((int64_t)store_stats(s).watchers, 0, "none left");
    store_close(s);
    loop_free(l);
}

static void a_forgotten_collection_loses_its_watchers(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("things"));
    struct store_coll *other = store_coll(s, S("others"));
    int wakes = 0;
    int reading_wakes = 0;
    bool lost = false;

    put(l, s, c, "a", "1");
    ok(!store_coll_forget(c), "not while it has objects");
    struct store_watch *armed = watch(c, store_rev(s), &wakes);
    struct store_watch *reading = watch(c, store_rev(s), &reading_wakes);
    del(l, s, c, "a");
    is_int(wakes + reading_wakes, 2, "both woken by the deletion");
    ok(store_watch_peek(armed, &lost) != NULL, "a deletion to read");
    store_watch_advance(armed);
    ok(!store_watch_peek(armed, &lost) && !lost, "one has read it");
    ok(store_coll_forget(c), "forgotten once empty");
    is_int(wakes, 1, "not woken from within");
    turn(l);
    is_int(wakes, 2, "but soon");
    is_int(reading_wakes, 1, "only who waits is woken");
    ok(!store_watch_peek(armed, &lost) && lost, "and is lost");
    ok(!store_watch_peek(reading, &lost) && lost, "so is the other");
    store_watch_advance(reading);
    ok(store_watch_rev(reading) <= store_rev(s), "asking on does no harm");
    ok(store_coll_next(s, NULL) == other && !store_coll_next(s, other), "it is not listed");
    c = store_coll(s, S("things"));
    ok(!store_watch_start(c, 2, count_wake, &wakes, NULL), "made again: no old history");
    store_watch_stop(armed);
    store_watch_stop(reading);
    store_close(s);
    loop_free(l);
}

/* ---- against a model: all events there ever were */
enum { WATCHERS = 12, KEYS = 10, STEPS = 3000 };

struct seen {
    int64_t rev;
    char key[8];
    char value[16];
    bool is_delete;
};

struct model {
    VEC(struct seen);
};

struct reader {
    struct store_watch *w;
    int coll;
    size_t at; /* next in the model */
    int wakes;
    bool awaits; /* read to the end: the next event must wake it */
};

static void note(struct model *m, int64_t rev, const char *key, const char *value, bool is_delete)
{
    struct seen n = { .rev = rev, .is_delete = is_delete };

    snprintf(n.key, sizeof(n.key), "%s", key);
    snprintf(n.value, sizeof(n.value), "%s", value);
    vec_push(m, n);
}

static bool same(const struct store_event *ev, const struct seen *n)
{
    return ev->rev == n->rev && str_eqz(ev->key, n->key) && str_eqz(text_of(ev->value), n->value) &&
           ev->is_delete == n->is_delete;
}

/* Reads up to `most`; false if what it saw is not what happened. */
static bool read_some(struct reader *r, const struct model *m, uint32_t most, size_t bound)
{
    bool lost = false;

    for (uint32_t i = 0; i < most; i++) {
        struct store_event *ev = store_watch_peek(r->w, &lost);
        if (lost)
            return m->n - r->at > bound;
        if (!ev) {
            r->awaits = true;
            r->wakes = 0;
            return r->at == m->n;
        }
        if (r->at >= m->n || !same(ev, &m->at[r->at]))
            return false;
        store_watch_advance(r->w);
        r->at++;
    }
    return true;
}

static void random_write(struct loop *l, struct store *s, struct store_coll **colls,
                         struct model *models, uint64_t *seed)
{
    struct store_op ops[3];
    size_t n = 0;
    char keys[3][8];

    for (uint32_t want = 1 + roll(seed, 3); n < want; n++) {
        int which = (int)roll(seed, 2);
        snprintf(keys[n], sizeof(keys[n]), "k%u%zu", roll(seed, KEYS), n);
        char value[16];
        snprintf(value, sizeof(value), "v%u", roll(seed, 100000));
        bool gone = store_get(colls[which], str_of(keys[n])) && roll(seed, 4) == 0;
        ops[n] = gone ? op_delete(s, colls[which], keys[n], value)
                      : op_put(s, colls[which], keys[n], value);
        note(&models[which], ops[n].rev, keys[n], value, gone);
    }
    commit(l, s, ops, n);
}

static void start_reader(struct reader *r, struct store *s, struct store_coll **colls,
                         const struct model *models, uint64_t *seed)
{
    int64_t after = store_rev(s) - (int64_t)roll(seed, 12);

    *r = (struct reader){ .coll = (int)roll(seed, 2) };
    r->w = store_watch_start(colls[r->coll], after, count_wake, &r->wakes, NULL);
    const struct model *m = &models[r->coll];
    while (r->at < m->n && m->at[r->at].rev <= after)
        r->at++;
}

static void random_reads_match_a_model(uint64_t seed)
{
    struct loop *l = loop_new();
    struct store_opts o = { .history_events = 24 };
    struct store *s = open_store(l, ":memory:", &o);
    struct store_coll *colls[] = { store_coll(s, S("one")), store_coll(s, S("two")) };
    struct model models[2] = { 0 };
    struct reader readers[WATCHERS] = { 0 };
    int wrong = 0;
    int lost_n = 0;
    int unwoken = 0;

    for (int step = 0; step < STEPS; step++) {
        struct reader *r = &readers[roll(&seed, WATCHERS)];
        bool lost = false;
        if (!r->w) {
            start_reader(r, s, colls, models, &seed);
        } else {
            size_t before = models[r->coll].n;
            random_write(l, s, colls, models, &seed);
            unwoken += r->awaits && models[r->coll].n > before && r->wakes != 1;
            r->awaits = false;
            wrong += !read_some(r, &models[r->coll], roll(&seed, 12), o.history_events);
            store_watch_peek(r->w, &lost);
        }
        lost_n += lost;
        if (lost || roll(&seed, 40) == 0) {
            store_watch_stop(r->w);
            r->w = NULL;
        }
        for (int i = 0; i < WATCHERS; i++)
            readers[i].awaits = readers[i].awaits && &readers[i] == r;
    }
    is_int(wrong, 0, "every event once, in order");
    is_int(unwoken, 0, "who had read all was woken once");
    ok(lost_n > 5, "some were lost (%d)", lost_n);
    for (int i = 0; i < WATCHERS; i++)
        store_watch_stop(readers[i].w);
    vec_done(&models[0]);
    vec_done(&models[1]);
    store_close(s);
    loop_free(l);
}

static void on_every_event(void *ctx, struct store_coll *c, struct store_event *ev)
{
    int *wrong = ctx;
    struct store_obj *o = store_get(c, ev->key);

    *wrong += !o || (!ev->is_delete && o->rev != ev->rev);
}

static void the_hook_sees_each_event_and_its_object(void)
{
    struct loop *l = loop_new();
    struct store_opts o = { .history_events = 4 };
    struct store *s = open_store(l, ":memory:", &o);
    struct store_coll *c = store_coll(s, S("pods"));
    int wrong = 0;

    store_on_event(s, on_every_event, &wrong);
    for (int i = 0; i < 6; i++)
        put(l, s, c, "a", "1");
    del(l, s, c, "a");
    is_int(wrong, 0, "the object is as the event says");
    store_close(s);
    loop_free(l);
}

int main(void)
{
    events_tell_what_was_and_what_is();
    one_wake_a_batch_until_all_is_read();
    a_revision_to_come_is_waited_for();
    too_old_is_told();
    big_histories_give_way_to_small_ones();
    a_watcher_may_stop_itself_and_others_when_woken();
    a_forgotten_collection_loses_its_watchers();
    for (uint64_t seed = 1; seed <= 4; seed++)
        random_reads_match_a_model(seed);
    the_hook_sees_each_event_and_its_object();
    return tap_done();
}
