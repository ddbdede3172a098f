/* See goflags.h. */

#include "cli/goflags.h"

#include "base/json.h"
#include "base/url.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static const struct go_flag *find(const struct go_flags *f, str name)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_eqz(name, f->at[i].name))
            return &f->at[i];
    return NULL;
}

static bool to_number(const char *text, double *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtod(text, &end);
    return end != text && !*end && errno == 0;
}

/* As Go's %q, near enough. */
static const char *quoted(struct arena *a, const char *text)
{
    AUTO(buf) struct buf b = { 0 };

    json_print_str(&b, str_of(text));
    return arena_str(a, buf_str(&b)).p;
}

static int set(struct arena *a, const struct go_flags *f, const struct go_flag *x,
               const char *value, struct err *e)
{
    char *field = (char *)f->to + x->at;
    union {
        const char *text;
        int64_t i;
        double number;
        bool b;
    } v = { 0 };
    static const size_t sizes[] = { [GO_TEXT] = sizeof(v.text),
                                    [GO_INT] = sizeof(v.i),
                                    [GO_NUMBER] = sizeof(v.number),
                                    [GO_BOOL] = sizeof(v.b) };
    struct err why = { 0 };
    bool good = true;

    if (x->set) {
        if (x->set(a, f->to, str_of(value), &why) == 0)
            return 0;
        return err_set(e, ERR_INVALID, "invalid value %s for flag -%s: %s", quoted(a, value),
                       x->name, why.msg);
    }
    switch (x->type) {
    case GO_TEXT:
        v.text = value;
        break;
    case GO_INT:
        good = str_to_int(str_of(value), &v.i);
        break;
    case GO_NUMBER:
        good = to_number(value, &v.number);
        break;
    case GO_BOOL:
        if (!str_to_bool(str_of(value), &v.b))
            return err_set(e, ERR_INVALID, "invalid boolean value %s for -%s: parse error",
                           quoted(a, value), x->name);
        break;
    }
    if (!good)
        return err_set(e, ERR_INVALID, "invalid value %s for flag -%s: parse error",
                       quoted(a, value), x->name);
    if (!x->unused)
        memcpy(field, &v, sizes[x->type]);
    return 0;
}

static void set_defaults(struct arena *a, const struct go_flags *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct err e = { 0 };
        if (f->at[i].dflt && set(a, f, &f->at[i], f->at[i].dflt, &e) < 0)
            assert(!"a default of the table is no value of its type");
    }
}

/* One flag, and its value where that is the next argument: returns how many were used. */
static int parse_one(struct arena *a, const struct go_flags *f, char **argv, struct err *e)
{
    str name = str_of(argv[0]);

    name = str_sub(name, str_starts(name, S("--")) ? 2 : 1, name.n);
    if (!name.n || name.p[0] == '-' || name.p[0] == '=')
        return err_set(e, ERR_INVALID, "bad flag syntax: %s", argv[0]);
    ptrdiff_t eq = str_find(name, '=');
    const char *value = eq >= 0 ? name.p + eq + 1 : NULL;
    if (eq >= 0)
        name = str_sub(name, 0, (size_t)eq);
    const struct go_flag *x = find(f, name);
    if (!x)
        return err_set(e, ERR_INVALID, "flag provided but not defined: -%" PRI_STR, STR_ARG(name));
    int used = 1;
    if (!value && x->type == GO_BOOL) {
        value = "true";
    } else if (!value) {
        value = argv[1];
        used = 2;
    }
    if (!value)
        return err_set(e, ERR_INVALID, "flag needs an argument: -%s", x->name);
    f->given[x - f->at] = true;
    return set(a, f, x, value, e) < 0 ? -1 : used;
}

int go_flags_parse(struct arena *a, const struct go_flags *f, int argc, char **argv, struct err *e)
{
    set_defaults(a, f);
    for (int i = 1; i < argc;) {
        str arg = str_of(argv[i]);
        if (arg.n < 2 || arg.p[0] != '-')
            return err_set(e, ERR_INVALID, "unexpected argument '%s'", argv[i]);
        if (str_eqz(arg, "-h") || str_eqz(arg, "-help") || str_eqz(arg, "--help"))
            return GO_HELP;
        if (str_eqz(arg, "--")) {
            if (i + 1 < argc)
                return err_set(e, ERR_INVALID, "unexpected argument '%s'", argv[i + 1]);
            return GO_OK;
        }
        int used = parse_one(a, f, argv + i, e);
        if (used < 0)
            return GO_FAILED;
        i += used;
    }
    return GO_OK;
}

bool go_flag_given(const struct go_flags *f, const char *name)
{
    const struct go_flag *x = find(f, str_of(name));

    return x && f->given[x - f->at];
}

str go_flags_help(struct arena *a, const struct go_flags *f)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < f->n; i++) {
        const struct go_flag *x = &f->at[i];
        buf_printf(&b, "  --%s%s%s\n        %s", x->name, x->arg ? " " : "", x->arg ? x->arg : "",
                   x->unused ? x->unused : x->help);
        if (!x->unused && x->dflt && x->dflt[0])
            buf_printf(&b, " (default: %s)", x->dflt);
        buf_addc(&b, '\n');
    }
    return arena_str(a, buf_str(&b));
}
