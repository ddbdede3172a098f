/* Rules of a schema (x-kubernetes-validations): compiled with it, run on objects after all else. */

#include "base/limits.h"
#include "crd/cel.h"
#include "crd/check.h"
#include "crd/define.h"

const struct rule *rules_compile(struct arena *a, jv list, const struct schema *s)
{
    struct rule *out = ARENA_ARRAY(a, struct rule, jv_len(list));

    JV_EACH (it, list) {
        struct rule *r = &out[it.i - 1];
        str words = text_of(it.value, "messageExpression");
        if (jv_bool(jv_at(it.value, "optionalOldSelf"), false))
            continue;
        r->program = cel_compile(a, text_of(it.value, "rule"), s, NULL);
        if (r->program && cel_result(r->program) != CEL_BOOL)
            r->program = NULL;
        if (words.n)
            r->message = cel_compile(a, words, s, NULL);
        if (r->message && cel_result(r->message) != CEL_STRING)
            r->message = NULL;
    }
    return out;
}

/* ---- running */

/* Where old and new may be compared: here, or at the nearest place above where they can. */
struct ratchet {
    const struct pair *here;
    const struct pair *above;
};

struct run { /* of all rules on one object */
    struct problems *ps;
    struct cel_budget budget;
    bool over;            /* they are used up: no further rule is run */
    struct pair compared; /* the last: elements that fail all ask for the list they are in */
    bool unchanged;
};

static bool is_unchanged(struct run *run, struct ratchet r)
{
    const struct pair *p = r.here ? r.here : r.above;

    if (!p)
        return false;
    if (run->compared.now.node != p->now.node || run->compared.old.node != p->old.node)
        run->unchanged = pair_unchanged(p);
    run->compared = *p;
    return run->unchanged;
}

static str rule_name(jv rule)
{
    str message = text_of(rule, "message");

    return str_trim(message.n ? message : text_of(rule, "rule"));
}

static str failure(struct run *run, struct arena *scratch, const struct rule *r, jv rule, jv v,
                   jv old)
{
    struct arena *a = run->ps->a;
    struct cel_value words;

    struct err e = { 0 };
    int rc = r->message ? cel_run(r->message, scratch, v, old, &run->budget, &words, &e) : -1;

    run->ps->cut = run->ps->cut || (run->ps->brief && e.code == ERR_TOO_LARGE);
    if (rc == 0) {
        str text = str_trim(words.s);
        if (text.n && str_find(text, '\n') < 0 && text.n <= 5120)
            return arena_str(a, text);
    }
    if (text_of(rule, "message").n)
        return rule_name(rule);
    return arena_printf(a, "failed rule: %" PRI_STR, STR_ARG(rule_name(rule)));
}

/* fieldPath as it is shown: keys of maps stand in brackets, however they are written. */
static str shown_field(struct arena *a, const struct schema *s, str path)
{
    AUTO(buf) struct buf b = { 0 };

    while (path.n) {
        bool bracket = str_eq(path_token(&path), S("["));
        str name = path_token(&path);
        if (bracket) {
            name = str_sub(name, 1, name.n ? name.n - 1 : 0);
            path_token(&path);
        }
        const struct crd_rules *r = s ? s->rules : NULL;
        const struct schema *prop = r ? rules_prop(r, name) : NULL;
        bool key = !prop && r && r->more;
        buf_printf(&b, key ? "[%" PRI_STR "]" : b.n ? ".%" PRI_STR : "%" PRI_STR, STR_ARG(name));
        s = key ? r->more : prop;
    }
    return arena_str(a, buf_str(&b));
}

static void tell(struct problems *ps, const struct schema *s, const struct path *p, jv rule,
                 jv shown, str words)
{
    static const struct {
        const char *reason;
        enum problem_type type;
    } rows[] = { { "FieldValueForbidden", PROBLEM_FORBIDDEN },
                 { "FieldValueRequired", PROBLEM_REQUIRED },
                 { "FieldValueDuplicate", PROBLEM_DUPLICATE } };
    enum problem_type type = PROBLEM_INVALID;
    str field = shown_field(ps->a, s, text_of(rule, "fieldPath"));

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz(text_of(rule, "reason"), rows[i].reason))
            type = rows[i].type;
    if (type == PROBLEM_DUPLICATE)
        words = S("");
    const struct path *whole = p ? p : ROOT("<nil>");
    problem_add(ps, type, field.n ? ATS(p, field) : whole, shown, "%" PRI_STR, STR_ARG(words));
}

static void tell_error(struct run *run, const struct path *at, jv shown, const struct err *e,
                       str name)
{
    struct problems *ps = run->ps;

    if (e->code != ERR_TOO_LARGE) {
        bool overload = str_starts(str_of(e->msg), S("no such overload"));
        problem_invalid(
            ps, at, shown,
            overload ? "'%s': call arguments did not match a supported operator, function or "
                       "macro signature for rule: %" PRI_STR
                     : "%s evaluating rule: %" PRI_STR,
            e->msg, STR_ARG(name));
        return;
    }
    run->over = true;
    if (ps->brief)
        ps->cut = true;
    else if (run->budget.steps_left)
        problem_invalid(ps, at, shown,
                        "'%s': no further validation rules will be run due to call cost exceeds "
                        "limit for rule: %" PRI_STR,
                        e->msg, STR_ARG(name));
    else
        problem_invalid(ps, at, shown,
                        "validation failed due to running out of cost budget, no further "
                        "validation rules will be run");
}

static void run_rule(struct run *run, const struct schema *s, const struct rule *r, jv rule,
                     const struct path *p, struct ratchet ratchet, jv v, jv old)
{
    AUTO(arena) struct arena *scratch = arena_new();
    struct problems *ps = run->ps;
    struct cel_value result;
    struct err e = { 0 };
    unsigned types = s->rules->types;
    jv shown = jstr(ps->a, types & (types - 1) ? S("") : s->rules->type_text);

    if (cel_run(r->program, scratch, v, old, &run->budget, &result, &e) < 0) {
        tell_error(run, p ? p : ROOT("<nil>"), shown, &e, rule_name(rule));
        return;
    }
    if (result.b)
        return;
    if (!cel_uses_old(r->program) && is_unchanged(run, ratchet))
        ps = ps->waived;
    if (ps)
        tell(ps, s, p, rule, shown, failure(run, scratch, r, rule, v, old));
}

static void run(struct run *walk, const struct schema *s, const struct path *p,
                struct ratchet ratchet, jv v, jv old);

static struct ratchet below(struct ratchet r, const struct pair *child)
{
    return r.here ? (struct ratchet){ child, r.here } : r;
}

static void run_members(struct run *walk, const struct schema *s, const struct path *p,
                        struct ratchet ratchet, jv v, jv old)
{
    const struct crd_rules *r = s->rules;
    struct pair whole = { s, v, old };
    struct old_list before;
    struct old_list beside;

    old_list_init(&before, &whole);
    old_list_init(&beside, ratchet.here);
    JV_EACH (it, v) {
        const struct schema *prop = rules_prop(r, it.key);
        struct path at = prop ? path_field(p, it.key) : path_key(p, it.key);
        struct pair pair;
        bool type_meta = !p && (str_eq(it.key, S("kind")) || str_eq(it.key, S("apiVersion")));
        if (!prop && !r->more)
            continue;
        struct ratchet sub = { 0 };
        if (!type_meta)
            sub = below(ratchet, pair_key(&beside, it.key, it.value, &pair) ? &pair : NULL);
        run(walk, prop ? prop : r->more, &at, sub, it.value, old_list_get(&before, it.key));
    }
    old_list_done(&beside);
    old_list_done(&before);
}

static void run_elements(struct run *walk, const struct schema *s, const struct path *p,
                         struct ratchet ratchet, jv v, jv old)
{
    struct pair whole = { s, v, old };
    struct old_list before;
    struct old_list beside;

    old_list_init(&before, &whole);
    old_list_init(&beside, ratchet.here);
    JV_EACH (it, v) {
        struct pair pair;
        struct ratchet sub = below(ratchet, pair_index(&beside, it.i - 1, &pair) ? &pair : NULL);
        run(walk, s->rules->items, EACH_AT(p, it), sub, it.value, old_list_find(&before, it.value));
    }
    old_list_done(&beside);
    old_list_done(&before);
}

static void run(struct run *walk, const struct schema *s, const struct path *p,
                struct ratchet ratchet, jv v, jv old)
{
    const struct crd_rules *r = s->rules;

    if (!r || !(r->below & BELOW_CEL) || jv_is_null(v))
        return;
    for (size_t i = 0; i < jv_len(r->cel) && !walk->over; i++) {
        const struct rule *one = &r->programs[i];
        if (one->program && !(cel_uses_old(one->program) && jv_is_null(old)))
            run_rule(walk, s, one, jv_index(r->cel, i), p, ratchet, v, old);
    }
    if (walk->over)
        return;
    if (jv_is(v, JV_ARR) && r->items)
        run_elements(walk, s, p, ratchet, v, old);
    if (jv_is(v, JV_OBJ))
        run_members(walk, s, p, ratchet, v, old);
}

/* Rules expect values of the right shape; these say that some are not. */
static bool is_blocking(enum problem_type type)
{
    return type == PROBLEM_NOT_SUPPORTED || type == PROBLEM_REQUIRED || type == PROBLEM_TOO_LONG ||
           type == PROBLEM_TOO_MANY || type == PROBLEM_TYPE_INVALID;
}

void check_rules(struct problems *ps, const struct schema *s, jv v, jv old)
{
    struct pair pair = { s, v, old };
    struct ratchet ratchet = { jv_exists(old) ? &pair : NULL, NULL };

    if (!(s->rules->below & BELOW_CEL))
        return;
    for (size_t i = 0; i < ps->n; i++)
        if (is_blocking(ps->at[i].type)) {
            problem_invalid(
                ps, ROOT("<nil>"), JV_ABSENT,
                "some validation rules were not checked because the object was invalid; "
                "correct the existing errors to complete validation");
            return;
        }
    struct run walk = { .ps = ps, .budget = cel_budget(ps->a, ps->brief) };
    run(&walk, s, NULL, ratchet, v, old);
}
