/* Collecting flaws, and telling them as problems. */

#include "crd/verdict.h"
#include "base/limits.h"
#include "base/vec.h"
#include "crd/gotext.h"

#include <inttypes.h>

bool verdict_is_full(struct verdict *v)
{
    if (v->quiet) {
        v->n++;
        return true;
    }
    if (v->n < LIMIT_PROBLEMS && *v->spent < LIMIT_PROBLEM_BYTES)
        return false;
    if (!v->n)
        verdict_add(v, (struct flaw){ .type = PROBLEM_INVALID,
                                      .shapeless = true,
                                      .text = S("more is wrong than can be told") });
    return true;
}

/* The same words; those of an enum are made only when told. */
static bool same_flaw(const struct flaw *a, const struct flaw *b)
{
    return str_eq(a->text, b->text) && a->type == b->type && jv_equal(a->enums, b->enums);
}

void verdict_add(struct verdict *v, struct flaw f)
{
    if (v->quiet) {
        v->n++;
        return;
    }
    *v->spent += f.name.n + f.text.n;
    for (size_t i = 0; i < v->n; i++)
        if (same_flaw(&v->at[i], &f))
            return;
    if (v->n >= LIMIT_PROBLEMS)
        return;
    vec_push_in(v->a, v, f);
}

void verdict_merge(struct verdict *into, const struct verdict *from)
{
    if (into->quiet)
        into->n += from->n;
    for (size_t i = 0; !from->quiet && i < from->n; i++)
        verdict_add(into, from->at[i]);
    into->matches += from->matches;
}

static void tell_enum(const struct flaw *f, struct problems *ps, const struct path *p)
{
    AUTO(buf) struct buf b = { 0 };

    if (ps->n >= LIMIT_PROBLEMS || ps->bytes >= LIMIT_PROBLEM_BYTES)
        return; /* a list of values may be long */
    JV_EACH (it, f->enums) {
        str text =
            jv_is(it.value, JV_STR) ? jv_str(it.value, STR_NONE) : json_text(ps->a, it.value);
        buf_add(&b, b.n ? S(", ") : S("supported values: "));
        buf_add(&b, go_quote(ps->a, text));
    }
    problem_add(ps, f->type, p, f->value, "%" PRI_STR, STR_ARG(buf_str(&b)));
}

static void tell(const struct flaw *f, struct problems *ps, const struct path *p)
{
    jv value = jv_is_null(f->value) ? jstr(ps->a, S("")) : f->value;

    switch (f->type) {
    case PROBLEM_REQUIRED:
        problem_required(ps, p, "%s", "");
        return;
    case PROBLEM_NOT_SUPPORTED:
        tell_enum(f, ps, p);
        return;
    case PROBLEM_TOO_LONG:
        problem_add(ps, f->type, p, JV_ABSENT, "may not be more than %" PRId64 " %s", f->limit,
                    f->limit == 1 ? "byte" : "bytes");
        return;
    case PROBLEM_TOO_MANY:
        problem_add(ps, f->type, p, f->value, "must have at most %" PRId64 " %s", f->limit,
                    f->limit == 1 ? "item" : "items");
        return;
    case PROBLEM_NOT_FOUND:
    case PROBLEM_DUPLICATE:
    case PROBLEM_INVALID:
    case PROBLEM_FORBIDDEN:
    case PROBLEM_INTERNAL:
    case PROBLEM_TYPE_INVALID:
        break;
    }
    problem_add(ps, f->type, p, value, "%" PRI_STR, STR_ARG(f->text));
}

void verdict_tell(const struct verdict *v, struct problems *ps, const struct path *prefix)
{
    const struct path nowhere = path_field(NULL, S("<nil>"));

    for (size_t i = 0; i < v->n; i++) {
        const struct flaw *f = &v->at[i];
        str name = f->name.n && f->name.p[0] == '.' ? str_sub(f->name, 1, f->name.n) : f->name;
        if (!f->shapeless && name.n)
            tell(f, ps, ATS(prefix, name));
        else
            tell(f, ps, prefix ? prefix : &nowhere);
    }
}
