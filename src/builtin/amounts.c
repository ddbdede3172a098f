/* Lists of amounts: a handful of entries each, so sorted arrays do. */

#include "builtin/amounts.h"

#include "base/vec.h"
#include "builtin/resources.h"

static size_t place_of(const struct amounts *l, str name, bool *found)
{
    size_t lo = 0;
    size_t hi = l->n;

    *found = false;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(l->at[mid].name, name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct amount *slot(struct amounts *l, str name, bool *found)
{
    size_t i = place_of(l, name, found);

    if (*found)
        return &l->at[i];
    vec_room_in(l->a, l);
    memmove(&l->at[i + 1], &l->at[i], (l->n - i) * sizeof(*l->at));
    l->n++;
    l->at[i].name = name;
    return &l->at[i];
}

struct amounts amounts_of(struct arena *a, jv list)
{
    struct amounts l = amounts_new(a);

    JV_EACH (it, list) {
        struct quantity q = quantity_of_jv(it.value);
        amounts_set(&l, it.key, &q);
    }
    return l;
}

const struct quantity *amounts_get(const struct amounts *l, str name)
{
    bool found;
    size_t i = place_of(l, name, &found);

    return found ? &l->at[i].q : NULL;
}

void amounts_set(struct amounts *l, str name, const struct quantity *q)
{
    bool found;

    slot(l, name, &found)->q = *q;
}

void amounts_set_int(struct amounts *l, str name, int64_t n)
{
    struct quantity q = quantity_of(n, QUANTITY_DECIMAL_SI);

    amounts_set(l, name, &q);
}

void amounts_add_one(struct amounts *l, str name, const struct quantity *q)
{
    bool found;
    struct amount *s = slot(l, name, &found);

    if (!found)
        s->q = *q;
    else
        quantity_add(&s->q, q);
}

void amounts_add(struct amounts *to, const struct amounts *more)
{
    for (size_t i = 0; i < more->n; i++)
        amounts_add_one(to, more->at[i].name, &more->at[i].q);
}

void amounts_add_times(struct amounts *to, const struct amounts *more, int64_t n)
{
    for (size_t i = 0; i < more->n; i++) {
        struct quantity power = more->at[i].q;
        for (int64_t left = n; left > 0; left /= 2) { /* n may be large */
            struct quantity same = power;
            if (left % 2)
                amounts_add_one(to, more->at[i].name, &power);
            quantity_add(&power, &same);
        }
    }
}

void amounts_sub(struct amounts *from, const struct amounts *less)
{
    for (size_t i = 0; i < less->n; i++) {
        bool found;
        size_t at = place_of(from, less->at[i].name, &found);
        if (found)
            quantity_sub(&from->at[at].q, &less->at[i].q);
    }
}

void amounts_max(struct amounts *to, const struct amounts *other)
{
    for (size_t i = 0; i < other->n; i++) {
        bool found;
        struct amount *s = slot(to, other->at[i].name, &found);
        if (!found || quantity_cmp(&other->at[i].q, &s->q) > 0)
            s->q = other->at[i].q;
    }
}

struct amounts amounts_mask(struct arena *a, const struct amounts *l, const struct amounts *which)
{
    struct amounts out = amounts_new(a);

    for (size_t i = 0; i < l->n; i++)
        if (amounts_get(which, l->at[i].name))
            amounts_set(&out, l->at[i].name, &l->at[i].q);
    return out;
}

void amounts_drop_zeros(struct amounts *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (quantity_sign(&l->at[i].q))
            l->at[n++] = l->at[i];
    l->n = n;
}

jv amounts_json(struct arena *a, const struct amounts *l)
{
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < l->n; i++)
        jb_add(&b, l->at[i].name, jstr(a, quantity_text(a, &l->at[i].q)));
    return jb_done(&b);
}

str amounts_text(struct arena *a, const struct amounts *l)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < l->n; i++)
        buf_printf(&b, "%s%" PRI_STR "=%" PRI_STR, i ? "," : "", STR_ARG(l->at[i].name),
                   STR_ARG(quantity_text(a, &l->at[i].q)));
    return arena_str(a, buf_str(&b));
}
