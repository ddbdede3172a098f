/* Running CEL. Errors travel as CEL says: && and || and the macros over lists pass over an error
 * where the other side decides. */

#include "crd/cel_internal.h"
#include "crd/rules.h"

#include "base/limits.h"

#include <inttypes.h>

enum { BRIEF_STEPS = 50 * 1000, BRIEF_BYTES = 1024 * 1024 };

static int eval(struct cel_env *env, const struct cel_node *n, struct cel_value *out);

static int fail(struct cel_env *env, const char *words)
{
    return err_set(env->e, ERR_INVALID, "%s", words);
}

static struct cel_value boolean(bool b)
{
    return (struct cel_value){ .kind = CEL_BOOL, .b = b };
}

static int fail_spent(struct cel_env *env)
{
    env->spent = true;
    return err_set(env->e, ERR_TOO_LARGE, "operation cancelled: actual cost limit exceeded");
}

int cel_spend_steps(struct cel_env *env, size_t n)
{
    if (env->spent || n > env->steps_left)
        return fail_spent(env);
    env->steps_left -= n;
    return 0;
}

int cel_spend_bytes(struct cel_env *env, size_t n)
{
    if (n > env->bytes_left)
        return fail_spent(env);
    env->bytes_left -= n;
    return cel_spend_steps(env, n / 16);
}

static int spend_values(struct cel_env *env, size_t n)
{
    return cel_spend_bytes(env, n * sizeof(struct cel_value));
}

/* ---- and, or: 1 true, 0 false, -1 an error */

static int eval_bool(struct cel_env *env, const struct cel_node *n)
{
    struct cel_value v = { 0 };

    if (eval(env, n, &v) < 0)
        return -1;
    return v.kind == CEL_BOOL ? v.b : fail(env, "no such overload");
}

static int eval_logic(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    int decides = n->op == CEL_OR;
    int x = eval_bool(env, n->kids[0]);

    if (x == decides) {
        *out = boolean(decides);
        return 0;
    }
    struct err first = { 0 };
    if (x < 0 && env->e)
        first = *env->e;
    int y = eval_bool(env, n->kids[1]);
    if (y == decides) {
        *out = boolean(decides);
        return 0;
    }
    if (x < 0 && env->e)
        *env->e = first;
    *out = boolean(!decides);
    return x < 0 || y < 0 ? -1 : 0;
}

/* ---- members */

static int no_such_key(struct cel_env *env, str key)
{
    return err_set(env->e, ERR_INVALID, "no such key: %" PRI_STR, STR_ARG(key));
}

static int eval_select(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    struct cel_value of = { 0 };

    if (eval(env, n->kids[0], &of) < 0)
        return -1;
    if (of.kind != CEL_MAP)
        return fail(env, "no such overload");
    struct cel_value v = { 0 };
    bool there = cel_find(env, &of, n->name, &v);
    if (n->op == CEL_HAS)
        *out = boolean(there);
    else if (!there)
        return no_such_key(env, n->name);
    else
        *out = v;
    return 0;
}

static int eval_index(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    struct cel_value of = { 0 };
    struct cel_value by = { 0 };

    if (eval(env, n->kids[0], &of) < 0 || eval(env, n->kids[1], &by) < 0)
        return -1;
    if (of.kind == CEL_MAP && by.kind == CEL_STRING)
        return cel_find(env, &of, by.s, out) ? 0 : no_such_key(env, by.s);
    if (of.kind != CEL_LIST || by.kind != CEL_INT)
        return fail(env, "no such overload");
    if (by.i < 0 || (size_t)by.i >= cel_len(&of))
        return err_set(env->e, ERR_INVALID, "index out of bounds: %" PRId64, by.i);
    *out = cel_item(&of, (size_t)by.i);
    return 0;
}

/* ---- operators */

static int eval_ints(struct cel_env *env, enum cel_op op, int64_t x, int64_t y, int64_t *out)
{
    bool over = false;

    if ((op == CEL_DIV || op == CEL_MOD) && y == 0)
        return fail(env, op == CEL_DIV ? "division by zero" : "modulus by zero");
    if ((op == CEL_DIV || op == CEL_MOD) && x == INT64_MIN && y == -1)
        return fail(env, "integer overflow");
    if (op == CEL_ADD)
        over = __builtin_add_overflow(x, y, out);
    else if (op == CEL_SUB)
        over = __builtin_sub_overflow(x, y, out);
    else if (op == CEL_MUL)
        over = __builtin_mul_overflow(x, y, out);
    else
        *out = op == CEL_DIV ? x / y : x % y;
    return over ? fail(env, "integer overflow") : 0;
}

static int concat(struct cel_env *env, const struct cel_value *x, const struct cel_value *y,
                  struct cel_value *out)
{
    size_t n = cel_len(x);
    size_t m = cel_len(y);

    if (spend_values(env, n + m) < 0)
        return -1;
    struct cel_value *at = ARENA_ARRAY(env->a, struct cel_value, n + m);
    for (size_t i = 0; i < n + m; i++)
        at[i] = i < n ? cel_item(x, i) : cel_item(y, i - n);
    *out = (struct cel_value){ .kind = CEL_LIST, .at = at, .n = n + m };
    return 0;
}

static int eval_arithmetic(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    struct cel_value x = { 0 };
    struct cel_value y = { 0 };

    if (eval(env, n->kids[0], &x) < 0 || eval(env, n->kids[1], &y) < 0)
        return -1;
    if (x.kind != y.kind)
        return fail(env, "no such overload");
    *out = (struct cel_value){ .kind = x.kind };
    if (x.kind == CEL_INT)
        return eval_ints(env, n->op, x.i, y.i, &out->i);
    if (x.kind == CEL_LIST)
        return concat(env, &x, &y, out);
    if (x.kind == CEL_STRING) {
        if (cel_spend_bytes(env, x.s.n + y.s.n) < 0)
            return -1;
        out->s = arena_cat(env->a, x.s, y.s);
        return 0;
    }
    if (x.kind != CEL_DOUBLE)
        return fail(env, "no such overload");
    out->d = n->op == CEL_ADD   ? x.d + y.d
             : n->op == CEL_SUB ? x.d - y.d
             : n->op == CEL_MUL ? x.d * y.d
                                : x.d / y.d;
    return 0;
}

static bool is_in(struct cel_env *env, const struct cel_value *x, const struct cel_value *y)
{
    struct cel_value v = { 0 };

    if (y->kind == CEL_MAP)
        return x->kind == CEL_STRING && cel_find(env, y, x->s, &v);
    for (size_t i = 0; i < cel_len(y) && !env->spent; i++) {
        v = cel_item(y, i);
        if (cel_equal(env, x, &v))
            return true;
    }
    return false;
}

static bool is_number(enum cel_kind k)
{
    return k == CEL_INT || k == CEL_DOUBLE;
}

static int eval_relation(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    struct cel_value x = { 0 };
    struct cel_value y = { 0 };

    if (eval(env, n->kids[0], &x) < 0 || eval(env, n->kids[1], &y) < 0)
        return -1;
    if (n->op == CEL_EQ || n->op == CEL_NE) {
        *out = boolean(cel_equal(env, &x, &y) == (n->op == CEL_EQ));
        return 0;
    }
    if (n->op == CEL_IN) {
        *out = boolean(is_in(env, &x, &y));
        return 0;
    }
    bool ordered = (x.kind == y.kind && (x.kind == CEL_STRING || x.kind == CEL_BOOL)) ||
                   (is_number(x.kind) && is_number(y.kind));
    if (!ordered)
        return fail(env, "no such overload");
    if (cel_spend_steps(env, (x.s.n < y.s.n ? x.s.n : y.s.n) / 64) < 0)
        return -1;
    int c = cel_compare(&x, &y);
    *out = boolean(n->op == CEL_LT   ? c < 0
                   : n->op == CEL_LE ? c <= 0
                   : n->op == CEL_GT ? c > 0
                                     : c >= 0);
    return 0;
}

/* ---- macros */

static struct cel_value element(const struct cel_value *range, size_t i)
{
    if (range->kind == CEL_LIST)
        return cel_item(range, i);
    if (!jv_exists(range->json))
        return range->at[2 * i];
    struct jv_iter it = { .of = range->json, .i = i };
    jv_next(&it);
    return (struct cel_value){ .kind = CEL_STRING, .s = it.key };
}

/* all and exists: the element that decides, or the first error, or neither. */
static int eval_quantifier(struct cel_env *env, const struct cel_node *n,
                           const struct cel_value *range, struct cel_value *out)
{
    int decides = str_eq(n->name, S("exists"));
    struct err first = { 0 };
    bool failed = false;

    for (size_t i = 0; i < cel_len(range); i++) {
        env->vars[n->slot] = element(range, i);
        int x = eval_bool(env, n->kids[1]);
        if (x == decides) {
            *out = boolean(decides);
            return 0;
        }
        if (x < 0 && !failed && env->e)
            first = *env->e;
        failed = failed || x < 0;
    }
    if (failed && env->e)
        *env->e = first;
    *out = boolean(!decides);
    return failed ? -1 : 0;
}

static int eval_collect(struct cel_env *env, const struct cel_node *n,
                        const struct cel_value *range, struct cel_value *out)
{
    bool maps = str_eq(n->name, S("map"));
    bool counts = str_eq(n->name, S("exists_one"));
    const struct cel_node *condition = maps && n->n < 3 ? NULL : n->kids[1];
    size_t kept = 0;

    if (spend_values(env, cel_len(range)) < 0)
        return -1;
    struct cel_value *at = ARENA_ARRAY(env->a, struct cel_value, cel_len(range));

    for (size_t i = 0; i < cel_len(range); i++) {
        struct cel_value v = element(range, i);
        env->vars[n->slot] = v;
        int holds = condition ? eval_bool(env, condition) : 1;
        if (holds < 0)
            return -1;
        if (!holds)
            continue;
        if (maps && eval(env, n->kids[n->n - 1], &v) < 0)
            return -1;
        at[kept++] = v;
    }
    *out =
        counts ? boolean(kept == 1) : (struct cel_value){ .kind = CEL_LIST, .at = at, .n = kept };
    return 0;
}

static int eval_macro(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    struct cel_value range = { 0 };

    if (eval(env, n->kids[0], &range) < 0)
        return -1;
    if (range.kind != CEL_LIST && range.kind != CEL_MAP)
        return fail(env, "no such overload");
    if (cel_spend_steps(env, cel_len(&range)) < 0)
        return -1;
    bool quantifier = str_eq(n->name, S("all")) || str_eq(n->name, S("exists"));
    return quantifier ? eval_quantifier(env, n, &range, out) : eval_collect(env, n, &range, out);
}

static int eval_list(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    if (spend_values(env, n->n) < 0)
        return -1;
    struct cel_value *at = ARENA_ARRAY(env->a, struct cel_value, n->n);

    for (size_t i = 0; i < n->n; i++)
        if (eval(env, n->kids[i], &at[i]) < 0)
            return -1;
    *out = (struct cel_value){
        .kind = n->op == CEL_MAKE_LIST ? CEL_LIST : CEL_MAP,
        .at = at,
        .n = n->n,
    };
    return 0;
}

static int eval_call(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    struct cel_value args[4] = { 0 };

    for (size_t i = 0; i < n->n; i++) {
        if (eval(env, n->kids[i], &args[i]) < 0)
            return -1;
        enum cel_kind want = n->func->args[i];
        if (want != CEL_DYN && args[i].kind != want)
            return fail(env, "no such overload");
        if (cel_spend_steps(env, args[i].s.n / 64 + (want == CEL_LIST ? cel_len(&args[i]) : 0)) < 0)
            return -1;
    }
    return n->func->call(env, n, args, out);
}

static int eval(struct cel_env *env, const struct cel_node *n, struct cel_value *out)
{
    if (cel_spend_steps(env, 1) < 0)
        return -1;
    switch (n->op) {
    case CEL_LITERAL:
        *out = n->literal;
        return 0;
    case CEL_IDENT:
        *out = env->vars[n->slot];
        return 0;
    case CEL_SELECT:
    case CEL_HAS:
        return eval_select(env, n, out);
    case CEL_INDEX:
        return eval_index(env, n, out);
    case CEL_CALL:
        return eval_call(env, n, out);
    case CEL_MAKE_LIST:
    case CEL_MAKE_MAP:
        return eval_list(env, n, out);
    case CEL_MACRO:
        return eval_macro(env, n, out);
    case CEL_COND: {
        int x = eval_bool(env, n->kids[0]);
        return x < 0 ? -1 : eval(env, n->kids[x ? 1 : 2], out);
    }
    case CEL_AND:
    case CEL_OR:
        return eval_logic(env, n, out);
    case CEL_NOT: {
        int x = eval_bool(env, n->kids[0]);
        *out = boolean(x == 0);
        return x < 0 ? -1 : 0;
    }
    case CEL_NEG:
        if (eval(env, n->kids[0], out) < 0)
            return -1;
        out->d = -out->d;
        return out->kind == CEL_INT      ? eval_ints(env, CEL_SUB, 0, out->i, &out->i)
               : out->kind == CEL_DOUBLE ? 0
                                         : fail(env, "no such overload");
    case CEL_ADD:
    case CEL_SUB:
    case CEL_MUL:
    case CEL_DIV:
    case CEL_MOD:
        return eval_arithmetic(env, n, out);
    case CEL_EQ:
    case CEL_NE:
    case CEL_LT:
    case CEL_LE:
    case CEL_GT:
    case CEL_GE:
    case CEL_IN:
        return eval_relation(env, n, out);
    }
    return -1;
}

/* ---- programs */

const struct cel_program *cel_compile(struct arena *a, str text, const struct schema *self,
                                      struct err *e)
{
    struct cel_program *p = ARENA_NEW(a, struct cel_program);

    p->self = self;
    p->root = cel_parse(a, arena_str(a, text), e);
    return p->root && cel_check(a, p->root, self, &p->uses_old, e) == 0 ? p : NULL;
}

enum cel_kind cel_result(const struct cel_program *p)
{
    return p->root->type.kind;
}

bool cel_uses_old(const struct cel_program *p)
{
    return p->uses_old;
}

struct cel_budget cel_budget(struct arena *a, bool brief)
{
    return (struct cel_budget){
        .steps_left = brief ? BRIEF_STEPS : LIMIT_CEL_OBJECT_STEPS,
        .run_steps = LIMIT_CEL_STEPS,
        .run_bytes = brief ? BRIEF_BYTES : LIMIT_CEL_BYTES,
        .patterns = pattern_work_new(a, brief),
    };
}

int cel_run(const struct cel_program *p, struct arena *a, jv self, jv old, struct cel_budget *b,
            struct cel_value *out, struct err *e)
{
    size_t most = b->steps_left < b->run_steps ? b->steps_left : b->run_steps;
    struct cel_env env = {
        .a = a, .steps_left = most, .bytes_left = b->run_bytes, .patterns = b->patterns, .e = e
    };

    env.vars[0] = cel_json(self, p->self);
    env.vars[1] = cel_json(old, p->self);
    int rc = eval(&env, p->root, out);
    b->steps_left -= env.spent ? most : most - env.steps_left;
    return env.spent ? fail_spent(&env) : rc;
}
