/* Matching. The machine is in many places of the program at once; a set of places is a state of a
 * deterministic automaton, whose states and transitions are made when first needed and kept. Where
 * they take too much memory all are dropped and made anew. */

#include "base/limits.h"
#include "base/mem.h"
#include "crd/pattern_internal.h"

#include <stdlib.h>

enum {
    DFA_BYTES = 2 * 1024 * 1024,
    DFA_KEPT = 8,
    STEPS_FREE = 8 * 1000 * 1000,
    STEPS_BRIEF = 100 * 1000,
    STEPS_A_BYTE = 8
};
enum {
    NEXT_UNKNOWN,
    NEXT_DEAD,
    NEXT_MATCH,
    NEXT_STATE
}; /* a transition; states are from the last */
enum before { BEFORE_START, BEFORE_WORD, BEFORE_LINE, BEFORE_OTHER }; /* what the last rune was */

struct state {
    const uint32_t *places; /* instructions to go on with, sorted */
    uint32_t n;
    enum before before;
    uint64_t hash;
    uint32_t *next; /* by class; the last is the end of the text */
};

struct dfa {
    const struct crd_pattern *p;
    struct arena *a; /* of the states; dropped with them */
    size_t bytes;
    struct state *states;
    uint32_t n;
    uint32_t cap;
    uint32_t drops;  /* how often all were dropped */
    uint32_t *table; /* states by hash: number + 1 */
    uint32_t table_cap;
    uint64_t *seen; /* bit sets of instructions, empty between steps */
    uint64_t *marked;
    uint32_t *stack;
    uint32_t *places; /* of the state in the making */
};

struct pattern_work {
    struct dfa kept[DFA_KEPT];
    size_t next; /* to be replaced */
    size_t steps_left;
    bool gave_up;
};

static void dfa_done(struct dfa *d)
{
    arena_free(d->a);
    free(d->states);
    free(d->table);
    free(d->seen);
    free(d->marked);
    free(d->stack);
    free(d->places);
    *d = (struct dfa){ 0 };
}

static void work_release(void *work)
{
    struct pattern_work *w = work;

    for (size_t i = 0; i < DFA_KEPT; i++)
        dfa_done(&w->kept[i]);
}

struct pattern_work *pattern_work_new(struct arena *a, bool brief)
{
    struct pattern_work *w = ARENA_NEW(a, struct pattern_work);

    w->steps_left = brief ? STEPS_BRIEF : STEPS_FREE;
    arena_defer(a, work_release, w);
    return w;
}

bool pattern_work_gave_up(const struct pattern_work *w)
{
    return w->gave_up;
}

static struct dfa *dfa_of(struct pattern_work *w, const struct crd_pattern *p)
{
    size_t words = p->n / 64 + 1;

    for (size_t i = 0; i < DFA_KEPT; i++)
        if (w->kept[i].p == p)
            return &w->kept[i];
    struct dfa *d = &w->kept[w->next++ % DFA_KEPT];
    dfa_done(d);
    d->p = p;
    d->seen = mem_array(words, sizeof(*d->seen));
    d->marked = mem_array(words, sizeof(*d->marked));
    d->stack = mem_array(p->n, sizeof(*d->stack));
    d->places = mem_array(p->n, sizeof(*d->places));
    return d;
}

/* ---- states */

static void drop_states(struct dfa *d)
{
    arena_free(d->a);
    d->a = arena_new();
    d->bytes = 0;
    d->n = 0;
    d->drops++;
    free(d->table);
    d->table_cap = 1024;
    d->table = mem_array(d->table_cap, sizeof(*d->table));
}

static uint64_t hash_of(const uint32_t *places, uint32_t n, enum before before)
{
    return str_hash((str){ (const char *)places, n * sizeof(*places) }) + before;
}

static void table_put(struct dfa *d, uint32_t number)
{
    uint32_t i = (uint32_t)d->states[number].hash & (d->table_cap - 1);

    while (d->table[i])
        i = (i + 1) & (d->table_cap - 1);
    d->table[i] = number + 1;
}

static void table_grow(struct dfa *d)
{
    free(d->table);
    d->table_cap *= 2;
    d->table = mem_array(d->table_cap, sizeof(*d->table));
    for (uint32_t i = 0; i < d->n; i++)
        table_put(d, i);
}

/* The state of d->places, made if there is none yet. */
static uint32_t find_state(struct dfa *d, uint32_t n, enum before before)
{
    size_t room = (d->p->n_classes + 1 + n) * sizeof(uint32_t) + 64;

    if (!d->a || d->bytes + room > DFA_BYTES)
        drop_states(d);
    uint64_t hash = hash_of(d->places, n, before);
    for (uint32_t i = (uint32_t)hash & (d->table_cap - 1); d->table[i];
         i = (i + 1) & (d->table_cap - 1)) {
        const struct state *s = &d->states[d->table[i] - 1];
        if (s->hash == hash && s->n == n && s->before == before &&
            memcmp(s->places, d->places, n * sizeof(*d->places)) == 0)
            return d->table[i] - 1 + NEXT_STATE;
    }
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 64;
        d->states = mem_resize(d->states, d->cap * sizeof(*d->states));
    }
    uint32_t *places = arena_alloc(d->a, n * sizeof(*places));
    memcpy(places, d->places, n * sizeof(*places));
    d->states[d->n] = (struct state){ .places = places,
                                      .n = n,
                                      .before = before,
                                      .hash = hash,
                                      .next = ARENA_ARRAY(d->a, uint32_t, d->p->n_classes + 1) };
    d->bytes += room;
    if (2 * (d->n + 1) > d->table_cap)
        table_grow(d);
    table_put(d, d->n);
    return d->n++ + NEXT_STATE;
}

/* ---- steps */

static bool is_word(const struct crd_pattern *p, uint32_t class)
{
    uint32_t c = class < p->n_classes ? p->firsts[class] : 0;

    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}

static enum before before_of(const struct crd_pattern *p, uint32_t class)
{
    if ((p->asserts & (ASSERT_WORD | ASSERT_NOT_WORD)) && is_word(p, class))
        return BEFORE_WORD;
    if ((p->asserts & ASSERT_LINE_BEGIN) && p->firsts[class] == '\n')
        return BEFORE_LINE;
    return BEFORE_OTHER;
}

/* What holds between the rune before and the one at hand. */
static unsigned holds(const struct crd_pattern *p, enum before before, uint32_t class)
{
    bool end = class == p->n_classes;
    bool border = (before == BEFORE_WORD) != is_word(p, class);
    unsigned bits = border ? ASSERT_WORD : ASSERT_NOT_WORD;

    if (before == BEFORE_START)
        bits |= ASSERT_BEGIN;
    if (before == BEFORE_START || before == BEFORE_LINE)
        bits |= ASSERT_LINE_BEGIN;
    if (end)
        bits |= ASSERT_END;
    if (end || p->firsts[class] == '\n')
        bits |= ASSERT_LINE_END;
    return bits;
}

static bool set_has(const struct re_set *s, uint32_t class)
{
    size_t lo = 0;
    size_t hi = s->n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->at[mid].hi < class)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && s->at[lo].lo <= class;
}

static bool bit_add(uint64_t *bits, uint32_t i)
{
    bool is_new = !(bits[i / 64] >> (i % 64) & 1);

    bits[i / 64] |= (uint64_t)1 << (i % 64);
    return is_new;
}

/* Walks all that can be reached from the places of a state without a rune, and marks where the rune
 * leads from there. d->stack holds what was seen: those done, then those to do. Returns how many,
 * and whether the end of the program is among them. */
static uint32_t walk(struct dfa *d, const struct state *s, uint32_t class, bool *matches)
{
    const struct crd_pattern *p = d->p;
    unsigned bits = holds(p, s->before, class);
    uint32_t n = 0;

    *matches = false;
    for (uint32_t i = 0; i < s->n; i++)
        if (bit_add(d->seen, s->places[i]))
            d->stack[n++] = s->places[i];
    for (uint32_t i = 0; i < n; i++) {
        struct inst in = p->insts[d->stack[i]];
        switch ((enum inst_op)in.op) {
        case INST_MATCH:
            *matches = true;
            break;
        case INST_SET:
            if (class < p->n_classes && set_has(&p->sets[in.arg], class))
                bit_add(d->marked, in.out);
            break;
        case INST_SPLIT:
            if (bit_add(d->seen, in.arg))
                d->stack[n++] = in.arg;
            if (bit_add(d->seen, in.out))
                d->stack[n++] = in.out;
            break;
        case INST_ASSERT:
            if ((in.arg & bits) && bit_add(d->seen, in.out))
                d->stack[n++] = in.out;
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        d->seen[d->stack[i] / 64] = 0;
    return n;
}

/* Moves what is marked to d->places, sorted. */
static uint32_t take_marked(struct dfa *d)
{
    uint32_t n = 0;

    for (uint32_t w = 0; w < d->p->n / 64 + 1; w++)
        for (; d->marked[w]; d->marked[w] &= d->marked[w] - 1)
            d->places[n++] = w * 64 + (uint32_t)__builtin_ctzll(d->marked[w]);
    return n;
}

/* The transition of a state on a class; NEXT_UNKNOWN: no steps are left. Drops states at times. */
static uint32_t step(struct dfa *d, uint32_t from, uint32_t class, size_t *steps_left)
{
    const struct crd_pattern *p = d->p;
    bool matches;
    uint32_t to = NEXT_DEAD;
    uint32_t drops = d->drops;
    size_t cost = walk(d, &d->states[from], class, &matches) + p->n / 64 + p->n_classes / 16 + 8;

    if (!p->anchored && class < p->n_classes)
        bit_add(d->marked, p->start);
    uint32_t n = take_marked(d);
    if (cost > *steps_left)
        return NEXT_UNKNOWN;
    *steps_left -= cost;
    if (matches)
        to = NEXT_MATCH;
    else if (n)
        to = find_state(d, n, before_of(p, class));
    if (d->drops == drops) /* else the number is another state's now */
        d->states[from].next[class] = to;
    return to;
}

static uint32_t next_class(const struct crd_pattern *p, str s, size_t *i)
{
    const unsigned char *at = (const unsigned char *)s.p + *i;
    uint32_t c = at[0];

    if (c < 0x80) {
        *i += 1;
        return p->ascii[c];
    }
    size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    bool good = c >= 0xc2 && c < 0xf5 && *i + len <= s.n;
    c &= 0xffu >> (len + 1);
    for (size_t k = 1; good && k < len; k++) {
        good = (at[k] & 0xc0) == 0x80;
        c = c << 6 | (at[k] & 0x3f);
    }
    *i += good ? len : 1;
    return pattern_class(p, good ? c : 0xfffd);
}

enum pattern_result pattern_match(const struct crd_pattern *p, str s, struct pattern_work *w)
{
    struct dfa *d = dfa_of(w, p);
    size_t i = 0;
    uint32_t next;

    w->steps_left += s.n * STEPS_A_BYTE;
    d->places[0] = p->start;
    uint32_t state = find_state(d, 1, BEFORE_START) - NEXT_STATE;
    do {
        uint32_t class = i < s.n ? next_class(p, s, &i) : (i++, p->n_classes);
        next = d->states[state].next[class];
        if (next == NEXT_UNKNOWN)
            next = step(d, state, class, &w->steps_left);
        if (next == NEXT_UNKNOWN) {
            w->gave_up = true;
            return PATTERN_GIVEN_UP;
        }
        state = next - NEXT_STATE;
    } while (next >= NEXT_STATE && i <= s.n);
    return next == NEXT_MATCH ? PATTERN_MATCHES : PATTERN_DIFFERS;
}
