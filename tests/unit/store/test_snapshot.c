/* A collection as it was at a revision, checked against copies taken at that revision. */

#include "base/vec.h"
#include "help.h"

enum { KEYS = 30, STEPS = 400 };

/* What each key held: the revision of its value, 0 for nothing. */
struct past {
    int64_t rev;
    int64_t held[KEYS];
};

static void key_name(char *to, size_t n, int i)
{
    snprintf(to, n, "%s/k%02d", i % 3 ? "beta" : "alpha", i);
}

/* Values are their revision, so one number says all. */
static int check(struct store_coll *c, const struct past *p, str prefix, str after)
{
    AUTO(arena) struct arena *a = arena_new();
    struct store_snapshot snap = { 0 };
    struct err e = { 0 };

    if (store_snapshot(c, a, p->rev, prefix, after, &snap, &e) < 0)
        return 1;
    size_t want = 0;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        key_name(key, sizeof(key), i);
        if (p->held[i] && str_starts(str_of(key), prefix) &&
            (!after.p || str_cmp(str_of(key), after) > 0))
            want++;
    }
    int wrong = want != snap.n || snap.rev != p->rev;
    for (size_t i = 0; i < snap.n; i++) {
        int k = atoi(snap.items[i].key.p + str_find(snap.items[i].key, 'k') +
                     1); /* NOLINT(cert-err34-c) */
        char text[24];
        snprintf(text, sizeof(text), "%" PRId64, p->held[k]);
        wrong += snap.items[i].rev != p->held[k] || !str_eqz(text_of(snap.items[i].value), text);
        wrong += i && str_cmp(snap.items[i - 1].key, snap.items[i].key) >= 0;
    }
    return wrong;
}

static void every_revision_in_history_can_be_seen_again(uint64_t seed)
{
    struct loop *l = loop_new();
    struct store_opts o = { .history_events = 100 };
    struct store *s = open_store(l, ":memory:", &o);
    struct store_coll *c = store_coll(s, S("pods"));
    struct {
        VEC(struct past);
    } past = { 0 };
    struct past now = { .rev = 1 };
    int wrong = 0;
    int expired = 0;

    for (int step = 0; step < STEPS; step++) {
        int k = (int)roll(&seed, KEYS);
        char key[16];
        char value[24];
        key_name(key, sizeof(key), k);
        snprintf(value, sizeof(value), "%" PRId64, now.rev + 1);
        bool gone = now.held[k] && roll(&seed, 3) == 0;
        now.held[k] = gone ? 0 : now.rev + 1;
        now.rev++;
        gone ? del(l, s, c, key) : put(l, s, c, key, value);
        vec_push(&past, now);
        const struct past *p = &past.at[roll(&seed, (uint32_t)past.n)];
        if (now.rev - p->rev > 100) {
            expired++;
            wrong += check(c, p, STR_NONE, STR_NONE) == 0;
            continue;
        }
        wrong += check(c, p, STR_NONE, STR_NONE);
        wrong += check(c, p, S("beta/"), STR_NONE);
        wrong += check(c, p, S("beta/"), S("beta/k13"));
        wrong += check(c, p, S("beta/"), S("alpha/k15"));
        wrong += check(c, p, STR_NONE, S("alpha/k15"));
    }
    is_int(wrong, 0, "snapshots are as the copies were");
    ok(expired > 20, "some were too old (%d)", expired);
    vec_done(&past);
    store_close(s);
    loop_free(l);
}

static void the_future_and_the_forgotten_are_refused(void)
{
    struct loop *l = loop_new();
    struct store_opts o = { .history_events = 2 };
    struct store *s = open_store(l, ":memory:", &o);
    struct store_coll *c = store_coll(s, S("pods"));
    AUTO(arena) struct arena *a = arena_new();
    struct store_snapshot snap = { 0 };
    struct err e = { 0 };

    for (int i = 0; i < 5; i++)
        put(l, s, c, "a", "1");
    is_int(store_snapshot(c, a, 7, STR_NONE, STR_NONE, &snap, &e), -1, "yet to come");
    is_int(e.code, ERR_BAD_REQUEST, "is a bad request");
    is_int(store_snapshot(c, a, 3, STR_NONE, STR_NONE, &snap, &e), -1, "too old");
    is_int(e.code, ERR_EXPIRED, "is expired");
    is_int(store_snapshot(c, a, 0, STR_NONE, STR_NONE, &snap, &e), 0, "now");
    is_int(snap.rev, 6, "is the last revision");
    del(l, s, c, "a");
    is_str(text_of(snap.items[0].value), S("1"), "and stays when the object goes");
    is_str(snap.items[0].key, S("a"), "with its key");
    store_close(s);
    loop_free(l);
}

static void a_commit_is_seen_whole_or_not_at_all(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    struct store_snapshot snap = { 0 };
    struct err e = { 0 };

    put(l, s, c, "other", "1");
    int64_t before = store_rev(s);
    struct store_op ops[] = { op_put(s, c, "a", "1"), op_put(s, c, "b", "1"),
                              op_put(s, c, "c", "1") };
    commit(l, s, ops, COUNT(ops));
    put(l, s, c, "later", "1");
    store_snapshot(c, a, before, STR_NONE, STR_NONE, &snap, &e);
    is_int((int64_t)snap.n, 1, "before a commit nothing of it is seen");
    for (int64_t rev = before + 1; rev <= before + 3; rev++) {
        store_snapshot(c, a, rev, STR_NONE, STR_NONE, &snap, &e);
        is_int((int64_t)snap.n, 4, "at each of its revisions all of it");
        is_int(snap.rev, before + 3, "which is what there was at the last");
    }
    store_close(s);
    loop_free(l);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        every_revision_in_history_can_be_seen_again(seed);
    the_future_and_the_forgotten_are_refused();
    a_commit_is_seen_whole_or_not_at_all();
    return tap_done();
}
