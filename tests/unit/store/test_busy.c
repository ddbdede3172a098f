/* A key with a write under way is busy; who waits gets a turn, in order, one at a time. */

#include "help.h"

struct line {
    struct loop *l;
    struct store *s;
    struct store_coll *c;
    char order[32];
    int n;
    int again; /* writes that follow one another without a pause */
    struct answer answer;
};

struct waits {
    struct line *line;
    char name;
    bool writes;
    struct answer answer;
};

static void on_turn(void *ctx)
{
    struct waits *w = ctx;

    w->line->order[w->line->n++] = w->name;
    if (store_is_busy(w->line->c, S("k")))
        w->line->order[w->line->n++] = '!';
    if (!w->writes)
        return;
    struct store_op op = op_put(w->line->s, w->line->c, "k", "v");
    store_commit(w->line->s, &op, 1, on_answer, &w->answer);
}

static void waiters_go_first_come_first_served(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct line line = { .l = l, .s = s, .c = store_coll(s, S("pods")) };
    struct waits w[] = { { &line, 'a', true, { 0 } },
                         { &line, 'b', false, { 0 } },
                         { &line, 'c', false, { 0 } },
                         { &line, 'd', true, { 0 } },
                         { &line, 'e', false, { 0 } } };

    struct store_op op = op_put(s, line.c, "k", "v");
    store_commit(s, &op, 1, on_answer, &line.answer);
    for (size_t i = 0; i < COUNT(w); i++)
        store_when_free(line.c, S("k"), on_turn, &w[i]);
    turn_until(l, &line.answer.done);
    is_str(str_of(line.order), S("a"), "the first runs; its write makes the others wait on");
    turn_until(l, &w[0].answer.done);
    is_str(str_of(line.order), S("abcd"), "those that do not write let the next one run");
    turn_until(l, &w[3].answer.done);
    is_str(str_of(line.order), S("abcde"), "to the end");
    ok(!store_is_busy(line.c, S("k")), "then it is free");
    store_close(s);
    loop_free(l);
}

/* As fast as it can: writes again from its own answer, when it may. */
static void on_greedy(void *ctx, const struct err *e);

static void greedy(void *ctx)
{
    struct line *line = ctx;

    if (store_is_busy(line->c, S("k"))) {
        store_when_free(line->c, S("k"), greedy, line);
        return;
    }
    line->order[line->n++] = 'g';
    struct store_op op = op_put(line->s, line->c, "k", "g");
    store_commit(line->s, &op, 1, on_greedy, line);
}

static void on_greedy(void *ctx, const struct err *e)
{
    struct line *line = ctx;

    (void)e;
    if (line->again-- > 0)
        greedy(line);
    else
        line->answer.done = true;
}

static void a_greedy_writer_starves_nobody(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct line line = { .l = l, .s = s, .c = store_coll(s, S("pods")), .again = 3 };
    struct waits w[] = { { &line, 'a', true, { 0 } }, { &line, 'b', true, { 0 } } };

    greedy(&line);
    store_when_free(line.c, S("k"), on_turn, &w[0]);
    store_when_free(line.c, S("k"), on_turn, &w[1]);
    turn_until(l, &line.answer.done);
    is_str(str_of(line.order), S("gabggg"), "who waits goes before who comes again");
    store_close(s);
    loop_free(l);
}

static void a_free_key_is_granted_soon_but_not_at_once(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct line line = { .l = l, .s = s, .c = store_coll(s, S("pods")) };
    struct waits w = { &line, 'a', false, { 0 } };

    store_when_free(line.c, S("k"), on_turn, &w);
    is_int(line.n, 0, "not from within the call");
    turn(l);
    is_str(str_of(line.order), S("a"), "but soon");
    store_when_free(line.c, S("k"), on_turn, &w);
    store_close(s);
    is_str(str_of(line.order), S("aa"), "and when closing");
    turn(l);
    loop_free(l);
}

int main(void)
{
    waiters_go_first_come_first_served();
    a_greedy_writer_starves_nobody();
    a_free_key_is_granted_soon_but_not_at_once();
    return tap_done();
}
