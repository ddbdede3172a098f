/* Paths evaluated: each step turns a list of values into the next. */

#include "kube/jsonpath_internal.h"

#include "base/gofloat.h"
#include "base/limits.h"
#include "base/vec.h"

struct work { /* one evaluation */
    struct arena *a;
    size_t left; /* values that may still be gathered, in all lists and filters together */
};

struct list {
    struct work *w;
    jv *at;
    size_t n;
    size_t cap;
};

static int push(struct list *l, jv v)
{
    if (!l->w->left)
        return -1;
    l->w->left--;
    vec_push_in(l->w->a, l, v);
    return 0;
}

static int push_children(struct list *out, jv v)
{
    JV_EACH (it, v)
        if (push(out, it.value) < 0)
            return -1;
    return 0;
}

/* v and all below it; leaves other than text do not count, as in client-go. */
static int push_all(struct list *out, jv v)
{
    if (!jv_len(v) && !(jv_is(v, JV_STR) && v.node->n))
        return 0;
    if (push(out, v) < 0)
        return -1;
    JV_EACH (it, v)
        if (push_all(out, it.value) < 0)
            return -1;
    return 0;
}

static int slice(const struct step *s, jv v, struct list *out)
{
    int64_t length = (int64_t)jv_len(v);
    int64_t from = s->bounds[0].known ? s->bounds[0].value : 0;
    int64_t to = s->bounds[1].known ? s->bounds[1].value : length;
    int64_t step = s->bounds[2].known ? s->bounds[2].value : 1;

    if (jv_is_null(v))
        return 0;
    if (!jv_is(v, JV_ARR))
        return -1;
    if (from < 0)
        from += length;
    if (to < 0 || (to == 0 && s->bounds[1].derived))
        to += length;
    if (from == to)
        return 0;
    if (from < 0 || from >= length || to < from || to > length || step <= 0)
        return -1;
    for (int64_t i = from; i < to; i += step)
        if (push(out, jv_index(v, (size_t)i)) < 0)
            return -1;
    return 0;
}

/* -1, 0, 1; 2: not ordered (booleans). Unlike types do not compare. */
static int compare(jv x, jv y, int *out)
{
    if (jv_is_null(x) || jv_is_null(y) || jv_is(x, JV_OBJ) || jv_is(x, JV_ARR) ||
        jv_is(y, JV_OBJ) || jv_is(y, JV_ARR))
        return -1;
    if (jv_type(x) != jv_type(y))
        return -1;
    if (jv_is(x, JV_STR)) {
        int c = str_cmp(jv_str(x, STR_NONE), jv_str(y, STR_NONE));
        *out = (c > 0) - (c < 0);
    } else if (jv_is(x, JV_INT)) {
        int64_t a = jv_int(x, 0);
        int64_t b = jv_int(y, 0);
        *out = (a > b) - (a < b);
    } else if (jv_is(x, JV_NUM)) {
        double a = jv_double(x, 0);
        double b = jv_double(y, 0);
        *out = (a > b) - (a < b);
    } else {
        *out = jv_bool(x, false) == jv_bool(y, false) ? 0 : 2;
    }
    return 0;
}

static int holds(enum filter_op op, jv x, jv y, bool *out)
{
    int c = 0;

    if (compare(x, y, &c) < 0)
        return -1;
    if (jv_is(x, JV_BOOL) && op != FILTER_EQ && op != FILTER_NE)
        return -1;
    switch (op) {
    case FILTER_EXISTS:
        *out = true;
        break;
    case FILTER_EQ:
        *out = c == 0;
        break;
    case FILTER_NE:
        *out = c != 0;
        break;
    case FILTER_LT:
        *out = c < 0;
        break;
    case FILTER_LE:
        *out = c <= 0;
        break;
    case FILTER_GT:
        *out = c > 0;
        break;
    case FILTER_GE:
        *out = c >= 0;
        break;
    }
    return 0;
}

static int eval(const struct jsonpath *p, struct work *w, struct jv_list in, struct jv_list *out);

/* One side of a comparison: 1 when there is one value, 0 when there is none. */
static int operand(const struct jsonpath *p, struct work *w, jv v, jv *out)
{
    struct jv_list found = { 0 };

    if (eval(p, w, (struct jv_list){ &v, 1 }, &found) < 0)
        return -1;
    if (found.n > 1)
        return -1;
    if (found.n)
        *out = found.at[0];
    return (int)found.n;
}

static int passes(const struct step *s, struct work *w, jv v, bool *out)
{
    struct jv_list found = { 0 };
    jv x = JV_ABSENT;
    jv y = JV_ABSENT;

    *out = false;
    if (s->op == FILTER_EXISTS) { /* what cannot be evaluated does not exist */
        *out = eval(s->left, w, (struct jv_list){ &v, 1 }, &found) == 0 && found.n > 0;
        return w->left ? 0 : -1;
    }
    int left = operand(s->left, w, v, &x);
    if (left <= 0)
        return left;
    int right = operand(s->right, w, v, &y);
    if (right <= 0)
        return right;
    return holds(s->op, x, y, out);
}

static int filter(const struct step *s, jv v, struct list *out)
{
    if (!jv_is(v, JV_ARR))
        return -1;
    JV_EACH (it, v) {
        bool pass;
        if (passes(s, out->w, it.value, &pass) < 0)
            return -1;
        if (pass && push(out, it.value) < 0)
            return -1;
    }
    return 0;
}

static int apply(const struct step *s, jv v, struct list *out)
{
    jv member;

    switch (s->type) {
    case STEP_FIELD:
        member = jv_get(v, s->name);
        return jv_exists(member) ? push(out, member) : 0;
    case STEP_ALL:
        return push_children(out, v);
    case STEP_RECURSIVE:
        return push_all(out, v);
    case STEP_SLICE:
        return slice(s, v, out);
    case STEP_FILTER:
        return filter(s, v, out);
    case STEP_VALUE:
        return push(out, s->value);
    case STEP_UNION:
        break; /* over the whole list: see run */
    }
    return 0;
}

static int run_union(const struct step *s, struct jv_list in, struct list *out)
{
    for (size_t i = 0; i < s->n_parts; i++) {
        struct jv_list part = { 0 };
        if (eval(s->parts[i], out->w, in, &part) < 0)
            return -1;
        for (size_t j = 0; part.at && j < part.n; j++)
            if (push(out, part.at[j]) < 0)
                return -1;
    }
    return 0;
}

static int run(const struct step *s, struct jv_list in, struct list *out)
{
    if (s->type == STEP_UNION)
        return run_union(s, in, out);
    if (s->type == STEP_VALUE && jv_is(s->value, JV_STR))
        return push(out, s->value); /* once, whatever there was */
    for (size_t i = 0; i < in.n; i++)
        if (apply(s, in.at[i], out) < 0)
            return -1;
    return 0;
}

static int eval(const struct jsonpath *p, struct work *w, struct jv_list in, struct jv_list *out)
{
    for (size_t i = 0; i < p->n; i++) {
        struct list next = { .w = w };
        if (run(&p->at[i], in, &next) < 0)
            return -1;
        in = (struct jv_list){ next.at, next.n };
    }
    if (!p->n) { /* the input itself, which may be on the caller's stack */
        struct list same = { .w = w };
        for (size_t i = 0; i < in.n; i++)
            if (push(&same, in.at[i]) < 0)
                return -1;
        in.at = same.at;
    }
    *out = in;
    return 0;
}

int jsonpath_eval(const struct jsonpath *p, struct arena *a, jv root, struct jv_list *out)
{
    struct work w = { a, LIMIT_JSONPATH_RESULTS };

    return eval(p, &w, (struct jv_list){ &root, 1 }, out);
}

str jsonpath_print(struct arena *a, jv v)
{
    char text[GOFLOAT_BYTES];

    if (jv_is(v, JV_STR))
        return jv_str(v, STR_NONE);
    if (jv_is(v, JV_NUM))
        return arena_str(a, (str){ text, gofloat_g(text, jv_double(v, 0), 64) });
    return json_text(a, v);
}
