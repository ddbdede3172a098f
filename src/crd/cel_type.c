/* Typing CEL against a schema. What cannot be typed is not ours to run: times, durations, bytes,
 * fields that the schema does not declare, overloads that we do not have. */

#include "crd/cel_internal.h"
#include "crd/rules.h"

struct scope {
    struct arena *a;
    const struct schema *self;
    str names[CEL_MAX_VARS];
    struct cel_type types[CEL_MAX_VARS];
    size_t n;
    bool uses_old;
    struct err *e;
};

static int check(struct scope *s, struct cel_node *n);

static int refuse(struct scope *s, const char *what, str name)
{
    return err_set(s->e, ERR_NOT_IMPLEMENTED, "%s%" PRI_STR, what, STR_ARG(name));
}

/* ---- types of schemas */

static const struct cel_type *boxed(struct arena *a, struct cel_type t)
{
    struct cel_type *out = ARENA_NEW(a, struct cel_type);

    *out = t;
    return out;
}

static bool is_plain_text(const struct crd_rules *r)
{
    static const char *const typed[] = { "date", "date-time", "datetime", "duration", "byte" };

    for (size_t i = 0; i < COUNT(typed); i++)
        if (str_eqz(r->format, typed[i]))
            return false;
    return true;
}

/* CEL_NONE: not ours */
static struct cel_type cel_type_of(struct arena *a, const struct schema *s)
{
    const struct crd_rules *r = s ? s->rules : NULL;
    struct cel_type none = { .kind = CEL_NONE };

    if (!r)
        return none;
    switch (s->type) {
    case SCHEMA_STRING:
        return is_plain_text(r) ? (struct cel_type){ .kind = CEL_STRING } : none;
    case SCHEMA_BOOL:
        return (struct cel_type){ .kind = CEL_BOOL };
    case SCHEMA_INT64:
        return (struct cel_type){ .kind = CEL_INT };
    case SCHEMA_NUMBER:
        return (struct cel_type){ .kind = CEL_DOUBLE };
    case SCHEMA_INT_OR_STRING:
        return (struct cel_type){ .kind = CEL_DYN };
    case SCHEMA_LIST:
        if (!r->items)
            return none;
        return (struct cel_type){ CEL_LIST, s, boxed(a, cel_type_of(a, r->items)) };
    case SCHEMA_MAP:
        if (!r->more)
            return none;
        return (struct cel_type){ CEL_MAP, s, boxed(a, cel_type_of(a, r->more)) };
    case SCHEMA_OBJECT:
        return (struct cel_type){ CEL_MAP, s, NULL };
    case SCHEMA_ANY:
    case SCHEMA_INT32:
    case SCHEMA_QUANTITY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
        break;
    }
    return none;
}

/* Rules write __dot__, __dash__, __slash__ and __underscores__, and __if__ for reserved words. */
static str unescaped(struct arena *a, str name)
{
    static const struct {
        const char *from;
        const char *to;
    } rows[] = {
        { "__underscores__", "__" }, { "__dot__", "." }, { "__dash__", "-" }, { "__slash__", "/" }
    };
    AUTO(buf) struct buf b = { 0 };

    if (!str_contains(name, S("__")))
        return name;
    if (str_starts(name, S("__")) && str_ends(name, S("__")) && name.n > 4) {
        str word = str_sub(name, 2, name.n - 2);
        bool special = str_contains(word, S("__"));
        for (size_t k = 0; k < COUNT(rows); k++)
            special = special || str_eqz(name, rows[k].from);
        if (!special)
            return word;
    }
    for (size_t i = 0; i < name.n;) {
        size_t k = 0;
        while (k < COUNT(rows) && !str_starts(str_sub(name, i, name.n), str_of(rows[k].from)))
            k++;
        buf_add(&b, k < COUNT(rows) ? str_of(rows[k].to) : str_sub(name, i, i + 1));
        i += k < COUNT(rows) ? strlen(rows[k].from) : 1;
    }
    return arena_str(a, buf_str(&b));
}

const struct schema *cel_field(const struct schema *s, str name)
{
    if (!s || !s->rules)
        return NULL;
    if (s->rules->resource && str_eq(name, S("metadata")))
        return schema_metadata;
    const struct schema *prop = rules_prop(s->rules, name);
    if (!prop && s->rules->resource && (str_eq(name, S("kind")) || str_eq(name, S("apiVersion"))))
        return schema_text;
    return prop;
}

/* ---- nodes */

static bool is_number(enum cel_kind k)
{
    return k == CEL_INT || k == CEL_DOUBLE || k == CEL_DYN;
}

static int check_ident(struct scope *s, struct cel_node *n)
{
    static const struct {
        const char *name;
        enum cel_kind kind;
    } types[] = { { "int", CEL_INT },       { "double", CEL_DOUBLE }, { "string", CEL_STRING },
                  { "bool", CEL_BOOL },     { "list", CEL_LIST },     { "map", CEL_MAP },
                  { "null_type", CEL_NULL } };

    for (size_t i = s->n; i-- > 0;)
        if (str_eq(s->names[i], n->name)) {
            n->slot = i;
            n->type = s->types[i];
            s->uses_old = s->uses_old || i == 1;
            return n->type.kind == CEL_NONE ? refuse(s, "untyped ", n->name) : 0;
        }
    for (size_t i = 0; i < COUNT(types); i++)
        if (str_eqz(n->name, types[i].name)) {
            n->op = CEL_LITERAL;
            n->literal = (struct cel_value){ .kind = CEL_TYPE, .i = types[i].kind };
            n->type = (struct cel_type){ .kind = CEL_TYPE };
            return 0;
        }
    return refuse(s, "undeclared reference to ", n->name);
}

static int check_select(struct scope *s, struct cel_node *n)
{
    struct cel_type of = n->kids[0]->type;

    n->name = unescaped(s->a, n->name);
    if (of.kind != CEL_MAP)
        return refuse(s, "no field ", n->name);
    if (of.item) {
        n->type = *of.item;
    } else {
        const struct schema *field = cel_field(of.schema, n->name);
        if (!field)
            return refuse(s, "undefined field ", n->name);
        n->type = cel_type_of(s->a, field);
    }
    if (n->op == CEL_HAS)
        n->type = (struct cel_type){ .kind = CEL_BOOL };
    return n->type.kind == CEL_NONE ? refuse(s, "unsupported type of ", n->name) : 0;
}

static int check_index(struct scope *s, struct cel_node *n)
{
    struct cel_type of = n->kids[0]->type;
    enum cel_kind by = n->kids[1]->type.kind;
    bool fits = (of.kind == CEL_LIST && by == CEL_INT) || (of.kind == CEL_MAP && by == CEL_STRING);

    if (!fits || !of.item || of.item->kind == CEL_NONE)
        return refuse(s, "unsupported index", STR_NONE);
    n->type = *of.item;
    return 0;
}

static int check_macro(struct scope *s, struct cel_node *n)
{
    struct cel_type range;
    bool maps = str_eq(n->name, S("map"));

    if (check(s, n->kids[0]) < 0)
        return -1;
    range = n->kids[0]->type;
    if ((range.kind != CEL_LIST && range.kind != CEL_MAP) || s->n == CEL_MAX_VARS)
        return refuse(s, "unsupported range of ", n->name);
    struct cel_type element = range.kind == CEL_MAP ? (struct cel_type){ .kind = CEL_STRING }
                              : range.item          ? *range.item
                                                    : (struct cel_type){ 0 };
    n->slot = s->n;
    s->names[s->n] = n->variable;
    s->types[s->n++] = element;
    for (size_t i = 1; i < n->n; i++)
        if (check(s, n->kids[i]) < 0)
            return -1;
    s->n--;
    struct cel_type last = n->kids[n->n - 1]->type;
    if (n->kids[1]->type.kind != CEL_BOOL && (!maps || n->n == 3))
        return refuse(s, "not a condition in ", n->name);
    n->type = (struct cel_type){ .kind = CEL_BOOL };
    if (maps)
        n->type = (struct cel_type){ CEL_LIST, NULL, boxed(s->a, last) };
    else if (str_eq(n->name, S("filter")))
        n->type = (struct cel_type){ CEL_LIST, NULL, boxed(s->a, element) };
    return 0;
}

static int check_call(struct scope *s, struct cel_node *n)
{
    n->func = cel_func_find(n);
    if (!n->func)
        return refuse(s, "unsupported function ", n->name);
    n->type = (struct cel_type){ .kind = n->func->result };
    if (n->func->item != CEL_NONE)
        n->type.item = boxed(s->a, (struct cel_type){ .kind = n->func->item });
    if (n->func->result == CEL_DYN && n->n && n->kids[0]->type.item)
        n->type = *n->kids[0]->type.item; /* min() and its like */
    if (!str_eq(n->name, S("matches")))
        return 0;
    struct cel_node *pattern = n->kids[1];
    if (pattern->op != CEL_LITERAL)
        return refuse(s, "unsupported: a computed pattern", STR_NONE);
    n->pattern = pattern_new(s->a, pattern->literal.s, s->e);
    return n->pattern ? 0 : -1;
}

static int check_list(struct scope *s, struct cel_node *n)
{
    size_t step = n->op == CEL_MAKE_MAP ? 2 : 1;
    struct cel_type item = { .kind = CEL_DYN };

    for (size_t i = step - 1; i < n->n; i += step) {
        struct cel_type t = n->kids[i]->type;
        if (i >= step && t.kind != item.kind)
            return refuse(s, "unsupported: elements of several types", STR_NONE);
        if (step == 2 && n->kids[i - 1]->type.kind != CEL_STRING)
            return refuse(s, "unsupported: keys that are not text", STR_NONE);
        item = t;
    }
    n->type = (struct cel_type){ step == 2 ? CEL_MAP : CEL_LIST, NULL, boxed(s->a, item) };
    return 0;
}

static bool is_merged_list(struct cel_type t)
{
    return t.schema && t.schema->list != LIST_ATOMIC;
}

static int check_arithmetic(struct scope *s, struct cel_node *n)
{
    struct cel_type x = n->kids[0]->type;
    struct cel_type y = n->kids[1]->type;
    bool same = x.kind == y.kind;
    bool fits = same && (x.kind == CEL_INT || (x.kind == CEL_DOUBLE && n->op != CEL_MOD));

    if (n->op == CEL_ADD && same && x.kind == CEL_STRING)
        fits = true;
    if (n->op == CEL_ADD && same && x.kind == CEL_LIST && !is_merged_list(x) && !is_merged_list(y))
        fits = true;
    n->type = x;
    n->type.schema = NULL;
    return fits ? 0 : refuse(s, "unsupported operands", STR_NONE);
}

static int check_relation(struct scope *s, struct cel_node *n)
{
    struct cel_type x = n->kids[0]->type;
    struct cel_type y = n->kids[1]->type;
    bool same = x.kind == y.kind || x.kind == CEL_DYN || y.kind == CEL_DYN;
    bool fits = same;

    n->type = (struct cel_type){ .kind = CEL_BOOL };
    if (n->op == CEL_IN)
        fits = (y.kind == CEL_MAP && x.kind == CEL_STRING) ||
               (y.kind == CEL_LIST && y.item &&
                (y.item->kind == x.kind || y.item->kind == CEL_DYN || x.kind == CEL_DYN));
    else if (n->op != CEL_EQ && n->op != CEL_NE)
        fits = (is_number(x.kind) && is_number(y.kind)) ||
               (same && (x.kind == CEL_STRING || x.kind == CEL_BOOL || x.kind == CEL_DYN));
    return fits ? 0 : refuse(s, "unsupported comparison", STR_NONE);
}

static int check_logic(struct scope *s, struct cel_node *n)
{
    n->type = (struct cel_type){ .kind = CEL_BOOL };
    for (size_t i = 0; i < n->n; i++)
        if (n->kids[i]->type.kind != CEL_BOOL)
            return refuse(s, "not a condition", STR_NONE);
    return 0;
}

static int check_cond(struct scope *s, struct cel_node *n)
{
    n->type = n->kids[1]->type;
    if (n->kids[0]->type.kind != CEL_BOOL || n->type.kind != n->kids[2]->type.kind)
        return refuse(s, "unsupported branches", STR_NONE);
    return 0;
}

static int check(struct scope *s, struct cel_node *n)
{
    if (n->op == CEL_MACRO)
        return check_macro(s, n);
    for (size_t i = 0; i < n->n; i++)
        if (check(s, n->kids[i]) < 0)
            return -1;
    switch (n->op) {
    case CEL_LITERAL:
        n->type = (struct cel_type){ .kind = n->literal.kind };
        return 0;
    case CEL_IDENT:
        return check_ident(s, n);
    case CEL_SELECT:
    case CEL_HAS:
        return check_select(s, n);
    case CEL_INDEX:
        return check_index(s, n);
    case CEL_CALL:
        return check_call(s, n);
    case CEL_MAKE_LIST:
    case CEL_MAKE_MAP:
        return check_list(s, n);
    case CEL_COND:
        return check_cond(s, n);
    case CEL_AND:
    case CEL_OR:
    case CEL_NOT:
        return check_logic(s, n);
    case CEL_NEG:
        n->type = n->kids[0]->type;
        return is_number(n->type.kind) ? 0 : refuse(s, "unsupported operand", STR_NONE);
    case CEL_ADD:
    case CEL_SUB:
    case CEL_MUL:
    case CEL_DIV:
    case CEL_MOD:
        return check_arithmetic(s, n);
    case CEL_EQ:
    case CEL_NE:
    case CEL_LT:
    case CEL_LE:
    case CEL_GT:
    case CEL_GE:
    case CEL_IN:
        return check_relation(s, n);
    case CEL_MACRO:
        break; /* above */
    }
    return -1;
}

int cel_check(struct arena *a, struct cel_node *n, const struct schema *self, bool *uses_old,
              struct err *e)
{
    struct cel_type t = cel_type_of(a, self);
    struct scope s = { .a = a, .self = self, .n = 2, .e = e };

    s.names[0] = S("self");
    s.names[1] = S("oldSelf");
    s.types[0] = s.types[1] = t;
    if (check(&s, n) < 0)
        return -1;
    *uses_old = s.uses_old;
    return 0;
}
