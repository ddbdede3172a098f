/* What the cells of many kinds are made of. */

#include "builtin/cells/internal.h"

#include "base/quantity.h"
#include "base/time.h"
#include "kube/selector.h"

#include <inttypes.h>
#include <stdlib.h>

jv cell_name(const struct kind_ctx *c, jv obj)
{
    return cell_text(c, jv_at(obj, "metadata", "name"));
}

jv cell_text(const struct kind_ctx *c, jv v)
{
    return jv_is(v, JV_STR) ? v : jstrz(c->a, "");
}

jv cell_or(const struct kind_ctx *c, jv v, const char *other)
{
    return jv_str(v, S("")).n ? v : jstr(c->a, str_of(other));
}

jv cell_set(const struct kind_ctx *c, jv v, const char *other)
{
    return jv_is_null(v) ? jstr(c->a, str_of(other)) : v;
}

jv cell_int(const struct kind_ctx *c, jv v)
{
    return jv_is(v, JV_INT) ? v : jint(c->a, 0);
}

jv cell_count(const struct kind_ctx *c, jv list)
{
    return jint(c->a, (int64_t)jv_len(list));
}

jv cell_ratio(const struct kind_ctx *c, int64_t part, int64_t whole)
{
    return jstr(c->a, arena_printf(c->a, "%" PRId64 "/%" PRId64, part, whole));
}

jv cell_age(const struct kind_ctx *c, jv obj)
{
    return cell_since(c, jv_at(obj, "metadata", "creationTimestamp"));
}

jv cell_since(const struct kind_ctx *c, jv time)
{
    int64_t us;

    if (!jv_is(time, JV_STR) || time_parse(jv_str(time, STR_NONE), &us, NULL) < 0)
        return jstrz(c->a, "<unknown>");
    return jstr(c->a, age_text(c->a, c->now_ms - us / 1000));
}

void join(struct buf *b, const char *separator, str s)
{
    if (b->n)
        buf_add(b, str_of(separator));
    buf_add(b, s);
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

void sort_texts(str *at, size_t n)
{
    qsort(at, n, sizeof(*at), by_text);
}

str join_set(struct arena *a, str *at, size_t n)
{
    AUTO(buf) struct buf b = { 0 };

    sort_texts(at, n);
    for (size_t i = 0; i < n; i++)
        if (!i || !str_eq(at[i], at[i - 1]))
            join(&b, ",", at[i]);
    return arena_str(a, buf_str(&b));
}

void lower(struct buf *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->p[i] >= 'A' && b->p[i] <= 'Z')
            b->p[i] = (char)(b->p[i] - 'A' + 'a');
}

jv cell_take(const struct kind_ctx *c, const struct buf *b)
{
    return jstr(c->a, arena_str(c->a, buf_str(b)));
}

jv cell_joined(const struct kind_ctx *c, jv list, const char *field)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, list) {
        str s = jv_str(field ? jv_at(it.value, field) : it.value, S(""));
        if (it.i > 1)
            buf_addc(&b, ',');
        buf_add(&b, s);
    }
    return cell_take(c, &b);
}

jv cell_labels(const struct kind_ctx *c, jv labels)
{
    struct selector s = selector_from_labels(c->a, labels);

    return s.n ? jstr(c->a, selector_text(c->a, &s)) : jstrz(c->a, "<none>");
}

jv cell_selector(const struct kind_ctx *c, jv selector)
{
    struct selector s = { 0 };
    str why;

    if (selector_from_object(c->a, selector, &s, &why) < 0)
        return jstrz(c->a, "<error>");
    return s.n ? jstr(c->a, selector_text(c->a, &s)) : jstrz(c->a, "<none>");
}

str quantity_of_cell(struct arena *a, jv v)
{
    struct quantity q;

    return quantity_from_json(a, v, &q, NULL) < 0 ? S("0") : quantity_text(a, &q);
}

jv quantity_cell(const struct kind_ctx *c, jv v)
{
    return jstr(c->a, quantity_of_cell(c->a, v));
}

void few_add(struct few *f, str s)
{
    if (f->n++ >= f->max)
        return;
    if (f->n > 1)
        buf_addc(&f->text, ',');
    buf_add(&f->text, s);
}

jv few_cell(const struct kind_ctx *c, struct few *f, const char *other)
{
    if (f->n > f->max)
        buf_printf(&f->text, " + %zu more...", f->n - f->max);
    jv text = f->text.n ? cell_take(c, &f->text) : jstr(c->a, str_of(other));
    buf_done(&f->text);
    return text;
}

bool cells_condition(jv conditions, str type)
{
    JV_EACH (it, conditions)
        if (str_eq(text_at(it.value, "type"), type))
            return str_eq(text_at(it.value, "status"), S("True"));
    return false;
}
