/* kill -9 at any moment: no acknowledged write is lost, no half transaction is seen, revisions
 * never go back. */

#include "help.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { PAIRS = 40, ROUNDS = 25, IN_FLIGHT = 8 };

struct ack {
    int pair;
    int64_t count;
    int64_t rev;
};

struct child {
    struct store *s;
    struct store_coll *left;
    struct store_coll *right;
    int pipe;
};

struct write {
    struct child *c;
    int pair;
    int64_t count;
    int64_t rev;
};

static void start_write(struct write *w);

static void on_written(void *ctx, const struct err *e)
{
    struct write *w = ctx;
    struct ack a = { w->pair, w->count, w->rev };

    if (e || write(w->c->pipe, &a, sizeof(a)) != sizeof(a))
        _exit(1);
    w->count++;
    w->pair = (w->pair + IN_FLIGHT) % PAIRS;
    start_write(w);
}

/* The same number into both halves; sizes vary so that pages split and overflow. */
static void start_write(struct write *w)
{
    char key[16];
    char value[6000];
    int n = snprintf(value, sizeof(value), "%" PRId64 " ", w->count);
    int size = n + (int)(w->count * 37 % 5000);

    memset(value + n, 'x', (size_t)(size - n));
    snprintf(key, sizeof(key), "p%02d", w->pair);
    bool gone = w->count % 11 == 0 && store_get(w->c->left, str_of(key));
    struct store_op ops[2] = { { .coll = w->c->left }, { .coll = w->c->right } };
    for (int i = 0; i < 2; i++) {
        ops[i].key = str_of(key);
        ops[i].rev = store_take_rev(w->c->s);
        ops[i].value = blob_new((str){ value, (size_t)size });
        ops[i].is_delete = gone;
    }
    w->rev = ops[1].rev;
    store_commit(w->c->s, ops, 2, on_written, w);
}

static void run_child(const char *path, int pipe_fd, int64_t count)
{
    struct loop *l = loop_new();
    struct child c = { .s = open_store(l, path, NULL), .pipe = pipe_fd };
    static struct write writes[IN_FLIGHT];

    c.left = store_coll(c.s, S("left"));
    c.right = store_coll(c.s, S("right"));
    for (int i = 0; i < IN_FLIGHT; i++) {
        writes[i] = (struct write){ &c, i, count, 0 };
        start_write(&writes[i]);
    }
    for (;;)
        uv_run(loop_uv(l), UV_RUN_ONCE);
}

struct known {
    int64_t acked[PAIRS]; /* the highest number acknowledged */
    int64_t rev;
    int64_t acks;
    int64_t highest; /* number ever */
};

static void run_and_kill(const char *path, struct known *k, uint64_t *seed)
{
    int fds[2];
    struct ack a = { 0 };

    if (pipe(fds) < 0)
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        run_child(path, fds[1], k->highest + 1);
    }
    close(fds[1]);
    int64_t until = 1 + roll(seed, 400); /* that many acknowledgements, and a moment more */
    for (int64_t n = 0; read(fds[0], &a, sizeof(a)) == sizeof(a); n++) {
        if (n == until) {
            struct timespec t = { 0, roll(seed, 3000000) };
            nanosleep(&t, NULL);
            kill(child, SIGKILL);
        }
        k->acked[a.pair] = a.count;
        k->rev = a.rev > k->rev ? a.rev : k->rev;
        k->highest = a.count > k->highest ? a.count : k->highest;
        k->acks++;
    }
    close(fds[0]);
    waitpid(child, NULL, 0);
}

static int64_t number_in(struct store_coll *c, const char *key)
{
    str v = value_of(c, key);

    return v.p ? strtoll(v.p, NULL, 10) : -1;
}

static void no_kill_loses_what_was_acknowledged(void)
{
    const char *dir = temp_dir();
    char path[128];
    struct known k = { 0 };
    uint64_t seed = 5;
    int lost = 0;
    int halves = 0;
    int back = 0;
    int damaged = 0;
    struct loop *l = loop_new();

    snprintf(path, sizeof(path), "%s/muster.db", dir);
    for (int round = 0; round < ROUNDS; round++) {
        run_and_kill(path, &k, &seed);
        struct store *s = open_store(l, path, NULL);
        const struct store_damage *d = NULL;
        damaged += (int)store_damaged(s, &d);
        back += store_rev(s) < k.rev;
        for (int i = 0; i < PAIRS; i++) {
            char key[16];
            snprintf(key, sizeof(key), "p%02d", i);
            int64_t left = number_in(store_coll(s, S("left")), key);
            halves += left != number_in(store_coll(s, S("right")), key);
            /* what was not acknowledged may be there as well, and may be a deletion */
            lost += left >= 0 && left < k.acked[i];
            lost +=
                left < 0 && k.acked[i] && k.acked[i] % 11 && (k.acked[i] + PAIRS / IN_FLIGHT) % 11;
            k.acked[i] = left > k.acked[i] ? left : k.acked[i];
            k.highest = left > k.highest ? left : k.highest;
        }
        k.rev = store_rev(s);
        k.highest += 11; /* beyond what was under way */
        k.highest -= k.highest % 11;
        store_close(s);
        turn(l);
    }
    ok(k.acks > 1000, "%" PRId64 " writes were acknowledged in %d rounds", k.acks, ROUNDS);
    is_int(lost, 0, "none is lost");
    is_int(halves, 0, "no half of a transaction is seen");
    is_int(back, 0, "revisions never go back");
    is_int(damaged, 0, "nothing is taken for damage");
    loop_free(l);
    remove_dir(dir);
}

int main(void)
{
    no_kill_loses_what_was_acknowledged();
    return tap_done();
}
