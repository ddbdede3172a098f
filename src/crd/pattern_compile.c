/* From the tree of an expression to a program: instructions for a machine that is in many places at
 * once (Thompson's). Counts are written out, so a program may be much longer than its text. */

#include "base/limits.h"
#include "base/mem.h"
#include "crd/pattern_internal.h"

#include <stdlib.h>

struct compiler {
    struct crd_pattern *p;
    struct re_set *sets;
    uint32_t n_sets;
    uint32_t sets_cap;
    uint32_t cap;
    size_t visits; /* of nodes: what is counted may be empty */
    bool too_large;
};

static uint32_t emit(struct compiler *c, enum inst_op op, uint32_t out, uint32_t arg)
{
    struct crd_pattern *p = c->p;

    if (p->n >= LIMIT_PATTERN_INSTS) {
        c->too_large = true;
        return 0;
    }
    if (p->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 16;
        p->insts = mem_resize(p->insts, c->cap * sizeof(*p->insts));
    }
    p->insts[p->n] = (struct inst){ .op = op, .arg = arg & 0x3fffffff, .out = out };
    return p->n++;
}

static uint32_t set_number(struct compiler *c, const struct re_set *set)
{
    /* a node that is repeated comes again and again */
    for (uint32_t i = c->n_sets; i-- > 0 && c->n_sets - i < 64;)
        if (c->sets[i].at == set->at && c->sets[i].n == set->n)
            return i;
    if (c->n_sets == c->sets_cap) {
        c->sets_cap = c->sets_cap ? 2 * c->sets_cap : 16;
        c->sets = mem_resize(c->sets, c->sets_cap * sizeof(*c->sets));
    }
    c->sets[c->n_sets] = *set;
    return c->n_sets++;
}

static uint32_t compile(struct compiler *c, const struct re_node *n, uint32_t next);

static uint32_t compile_repeat(struct compiler *c, const struct re_node *n, uint32_t next)
{
    int copies = n->min;

    if (n->max < 0) {
        uint32_t loop = emit(c, INST_SPLIT, 0, next);
        uint32_t body = compile(c, n->kid, loop);
        if (c->too_large)
            return 0;
        c->p->insts[loop].out = body;
        next = copies ? body : loop;
        copies -= copies > 0;
    } else {
        uint32_t end = next;
        for (int i = n->min; i < n->max && !c->too_large; i++)
            next = emit(c, INST_SPLIT, compile(c, n->kid, next), end);
    }
    for (int i = 0; i < copies && !c->too_large; i++)
        next = compile(c, n->kid, next);
    return next;
}

/* The instruction to begin with, so that n is followed by `next`. */
static uint32_t compile(struct compiler *c, const struct re_node *n, uint32_t next)
{
    uint32_t entry;

    if (c->too_large || c->visits++ > 4 * LIMIT_PATTERN_INSTS) {
        c->too_large = true;
        return 0;
    }
    switch (n->op) {
    case RE_EMPTY:
        return next;
    case RE_SET:
        return emit(c, INST_SET, next, set_number(c, n->set));
    case RE_ASSERT:
        c->p->asserts |= n->assertion;
        return emit(c, INST_ASSERT, next, n->assertion);
    case RE_CAT:
        for (const struct re_node *k = n->kid; k; k = k->prev)
            next = compile(c, k, next);
        return next;
    case RE_ALT:
        entry = compile(c, n->kid, next);
        for (const struct re_node *k = n->kid->prev; k; k = k->prev)
            entry = emit(c, INST_SPLIT, compile(c, k, next), entry);
        return entry;
    case RE_REPEAT:
        return compile_repeat(c, n, next);
    }
    return next;
}

static int by_number(const void *x, const void *y)
{
    const uint32_t *a = x;
    const uint32_t *b = y;

    return (*a > *b) - (*a < *b);
}

uint32_t pattern_class(const struct crd_pattern *p, uint32_t rune)
{
    uint32_t lo = 0;
    uint32_t hi = p->n_classes;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->firsts[mid] <= rune)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void make_classes(struct arena *a, struct compiler *c)
{
    static const uint32_t always[] = { 0,       '\n', '\n' + 1, '0', '9' + 1, 'A',
                                       'Z' + 1, '_',  '_' + 1,  'a', 'z' + 1 };
    struct crd_pattern *p = c->p;
    size_t n = COUNT(always);

    for (uint32_t i = 0; i < c->n_sets; i++)
        n += 2 * c->sets[i].n;
    uint32_t *firsts = arena_alloc(a, n * sizeof(*firsts));
    memcpy(firsts, always, sizeof(always));
    n = COUNT(always);
    for (uint32_t i = 0; i < c->n_sets; i++)
        for (size_t k = 0; k < c->sets[i].n; k++) {
            firsts[n++] = c->sets[i].at[k].lo;
            firsts[n++] = c->sets[i].at[k].hi + 1;
        }
    qsort(firsts, n, sizeof(*firsts), by_number);
    for (size_t i = 0; i < n; i++)
        if (!p->n_classes || firsts[p->n_classes - 1] != firsts[i])
            firsts[p->n_classes++] = firsts[i];
    p->firsts = firsts;
    for (uint32_t i = 0; i < 128; i++)
        p->ascii[i] = pattern_class(p, i);
    struct re_set *sets = ARENA_ARRAY(a, struct re_set, c->n_sets);
    for (uint32_t i = 0; i < c->n_sets; i++) {
        sets[i].n = c->sets[i].n;
        sets[i].at = ARENA_ARRAY(a, struct re_range, sets[i].n);
        for (size_t k = 0; k < sets[i].n; k++)
            sets[i].at[k] = (struct re_range){ pattern_class(p, c->sets[i].at[k].lo),
                                               pattern_class(p, c->sets[i].at[k].hi) };
    }
    p->sets = sets;
}

static bool is_anchored(const struct re_node *root)
{
    const struct re_node *first = root->kid->kid;

    if (root->kid->prev || !first)
        return false;
    while (first->prev)
        first = first->prev;
    return first->op == RE_ASSERT && first->assertion == ASSERT_BEGIN;
}

const struct crd_pattern *pattern_new(struct arena *a, str text, struct err *e)
{
    AUTO(arena) struct arena *scratch = arena_new();
    const struct re_node *root = re_parse(scratch, text, e);

    if (!root)
        return NULL;
    struct crd_pattern *p = ARENA_NEW(a, struct crd_pattern);
    struct compiler c = { .p = p };
    p->start = compile(&c, root, emit(&c, INST_MATCH, 0, 0));
    p->anchored = is_anchored(root);
    if (!c.too_large) {
        make_classes(a, &c);
        struct inst *own = arena_alloc(a, p->n * sizeof(*own));
        memcpy(own, p->insts, p->n * sizeof(*own));
        free(p->insts);
        p->insts = own;
    } else {
        free(p->insts);
        err_set(e, ERR_INVALID, "error parsing regexp: expression too large: `%" PRI_STR "`",
                STR_ARG(text));
    }
    free(c.sets);
    return c.too_large ? NULL : p;
}
