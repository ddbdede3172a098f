/* Values of CEL: from JSON by schema, their parts, and how they compare. */

#include "crd/cel_internal.h"
#include "crd/rules.h"

struct cel_value cel_json(jv json, const struct schema *s)
{
    struct cel_value v = { .kind = CEL_NULL, .json = json, .schema = s };
    bool real = s && s->type == SCHEMA_NUMBER;

    switch (jv_type(json)) {
    case JV_NONE:
    case JV_NULL:
        break;
    case JV_BOOL:
        v.kind = CEL_BOOL;
        v.b = jv_bool(json, false);
        break;
    case JV_INT:
        v.kind = real ? CEL_DOUBLE : CEL_INT;
        v.i = jv_int(json, 0);
        v.d = (double)v.i;
        break;
    case JV_NUM:
        v.kind = s && s->type == SCHEMA_INT64 ? CEL_INT : CEL_DOUBLE;
        v.d = jv_double(json, 0);
        v.i = v.d > -9e18 && v.d < 9e18 ? (int64_t)v.d : 0;
        break;
    case JV_STR:
        v.kind = CEL_STRING;
        v.s = jv_str(json, STR_NONE);
        break;
    case JV_ARR:
        v.kind = CEL_LIST;
        break;
    case JV_OBJ:
        v.kind = CEL_MAP;
        break;
    }
    return v;
}

size_t cel_len(const struct cel_value *v)
{
    size_t n = 0;

    if (v->kind == CEL_LIST)
        return jv_exists(v->json) ? jv_len(v->json) : v->n;
    if (v->kind == CEL_MAP)
        return jv_exists(v->json) ? jv_len(v->json) : v->n / 2;
    for (size_t i = 0; i < v->s.n; i++)
        n += ((unsigned char)v->s.p[i] & 0xc0) != 0x80;
    return n;
}

struct cel_value cel_item(const struct cel_value *list, size_t i)
{
    const struct crd_rules *r = list->schema ? list->schema->rules : NULL;

    return jv_exists(list->json) ? cel_json(jv_index(list->json, i), r ? r->items : NULL)
                                 : list->at[i];
}

static struct cel_value member(const struct cel_value *map, str key, jv v)
{
    const struct schema *s = map->schema;
    const struct schema *field = cel_field(s, key);

    return cel_json(v, !field && s && s->rules ? s->rules->more : field);
}

/* Members of a large object are found by way of an index: rules often ask for each in turn. */
static jv get(struct cel_env *env, jv obj, str key)
{
    size_t i = 0;

    if (jv_len(obj) < 64)
        return jv_get(obj, key);
    while (i < CEL_INDEXES &&
           !(env->index[i] && env->index[i]->obj.node->u.items == obj.node->u.items))
        i++;
    if (i == CEL_INDEXES) {
        if (cel_spend_steps(env, jv_len(obj)) < 0)
            return JV_ABSENT;
        i = env->n_indexes++ % CEL_INDEXES;
        env->index[i] = ARENA_NEW(env->a, struct members);
        *env->index[i] = members_of(env->a, obj);
    }
    return members_get(env->index[i], key);
}

bool cel_find(struct cel_env *env, const struct cel_value *map, str key, struct cel_value *out)
{
    if (jv_exists(map->json)) {
        jv v = get(env, map->json, key);
        if (!jv_exists(v))
            return false;
        *out = member(map, key, v);
        return true;
    }
    for (size_t i = 0; i + 1 < map->n; i += 2)
        if (str_eq(map->at[i].s, key)) {
            *out = map->at[i + 1];
            return true;
        }
    return false;
}

static bool is_merged(const struct cel_value *v)
{
    return v->schema && v->schema->list != LIST_ATOMIC;
}

/* Sets and maps are equal in any order. */
static bool lists_equal(struct cel_env *env, const struct cel_value *a, const struct cel_value *b)
{
    bool any_order = is_merged(a) || is_merged(b);
    size_t n = cel_len(a);

    if (n != cel_len(b))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct cel_value x = cel_item(a, i);
        bool found = false;
        for (size_t k = any_order ? 0 : i; !found && !env->spent && k < (any_order ? n : i + 1);
             k++) {
            struct cel_value y = cel_item(b, k);
            found = cel_equal(env, &x, &y);
        }
        if (!found)
            return false;
    }
    return true;
}

static bool maps_equal(struct cel_env *env, const struct cel_value *a, const struct cel_value *b)
{
    struct cel_value x;
    struct cel_value y;

    if (cel_len(a) != cel_len(b))
        return false;
    JV_EACH (it, a->json) {
        x = member(a, it.key, it.value);
        if (!cel_find(env, b, it.key, &y) || !cel_equal(env, &x, &y))
            return false;
    }
    for (size_t i = 0; !jv_exists(a->json) && i + 1 < a->n; i += 2)
        if (!cel_find(env, b, a->at[i].s, &y) || !cel_equal(env, &a->at[i + 1], &y))
            return false;
    return true;
}

static bool is_number(const struct cel_value *v)
{
    return v->kind == CEL_INT || v->kind == CEL_DOUBLE;
}

int cel_compare(const struct cel_value *a, const struct cel_value *b)
{
    if (a->kind == CEL_INT && b->kind == CEL_INT)
        return (a->i > b->i) - (a->i < b->i);
    if (is_number(a) && is_number(b)) {
        double x = a->kind == CEL_INT ? (double)a->i : a->d;
        double y = b->kind == CEL_INT ? (double)b->i : b->d;
        return (x > y) - (x < y);
    }
    if (a->kind == CEL_BOOL)
        return a->b - b->b;
    return str_cmp(a->s, b->s);
}

bool cel_equal(struct cel_env *env, const struct cel_value *a, const struct cel_value *b)
{
    if (cel_spend_steps(env, 1 + (a->s.n < b->s.n ? a->s.n : b->s.n) / 64) < 0)
        return false;
    if (is_number(a) && is_number(b))
        return cel_compare(a, b) == 0;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_NONE:
    case CEL_DYN:
    case CEL_NULL:
        return true;
    case CEL_TYPE:
        return a->i == b->i;
    case CEL_LIST:
        return lists_equal(env, a, b);
    case CEL_MAP:
        return maps_equal(env, a, b);
    case CEL_BOOL:
    case CEL_INT:
    case CEL_DOUBLE:
    case CEL_STRING:
        break;
    }
    return cel_compare(a, b) == 0;
}
