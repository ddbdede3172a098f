/* See options.h. */

#include "cli/options.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/time.h"

#include <getopt.h>
#include <stdio.h>

enum { MANY_OPTIONS = 64, LONG = 256, HELP_COLUMN = 28 };

static bool is_one_of(const char *value, const char *values)
{
    str rest = str_of(values);

    while (rest.p)
        if (str_eqz(str_cut(&rest, '|'), value))
            return true;
    return false;
}

static int to_ms(const char *value, int64_t *ms)
{
    int64_t n;

    if (str_to_int(str_of(value), &n) && n >= 0 && n < INT64_MAX / 1000) {
        *ms = n * 1000;
        return 0;
    }
    if (duration_parse(str_of(value), &n, NULL) < 0 || n < 0)
        return -1;
    *ms = n / 1000000;
    return 0;
}

/* For what is kept until we end, as all that is given on the command line is. */
static struct arena *kept(void)
{
    static struct arena *a;

    a = a ? a : arena_new();
    return a;
}

static const char *joined(const char *before, const char *value)
{
    return before ? arena_printf(kept(), "%s,%s", before, value).p : value;
}

static void push(struct opt_words *w, const char *value)
{
    const char **more = ARENA_ARRAY(kept(), const char *, w->n + 1);

    for (size_t i = 0; i < w->n; i++)
        more[i] = w->at[i];
    more[w->n++] = value;
    w->at = more;
}

static int set(const struct command *c, const struct opt *o, void *to, const char *value)
{
    void *field = (char *)to + o->at;
    int64_t n = 0;

    if (o->values && !is_one_of(value, o->values))
        return command_fail(EXIT_USAGE, "%s: --%s is one of %s, not '%s'", c->name, o->name,
                            o->values, value);
    if (o->arg && strcmp(o->arg, "DIR") == 0 && !*value)
        return command_fail(EXIT_USAGE, "%s: --%s '' names no directory", c->name, o->name);
    switch (o->type) {
    case OPT_FLAG:
        *(bool *)field = true;
        return -1;
    case OPT_TEXT:
        *(const char **)field = value;
        return -1;
    case OPT_LIST:
        *(const char **)field = joined(*(const char **)field, value);
        return -1;
    case OPT_EACH:
        push(field, value);
        return -1;
    case OPT_INT:
        if (!str_to_int(str_of(value), &n) || n < 0)
            return command_fail(EXIT_USAGE, "%s: --%s takes a number, not '%s'", c->name, o->name,
                                value);
        break;
    case OPT_DURATION:
        if (to_ms(value, &n) < 0)
            return command_fail(EXIT_USAGE, "%s: --%s takes a time such as 90s or 2m, not '%s'",
                                c->name, o->name, value);
        break;
    }
    *(int64_t *)field = n;
    return -1;
}

struct table {
    struct option longs[MANY_OPTIONS + 2];
    char shorts[2 * MANY_OPTIONS + 5];
};

static void fill(const struct command *c, struct table *t)
{
    size_t n = 0;
    size_t s = 0;

    while (t->shorts[s])
        s++;
    t->shorts[s++] = ':'; /* tells a missing value from an unknown option */
    t->shorts[s++] = 'h';
    t->longs[n++] = (struct option){ "help", no_argument, NULL, 'h' };
    for (const struct opt *o = c->options; o && o->name && n < MANY_OPTIONS; o++, n++) {
        int has = o->type == OPT_FLAG ? no_argument : required_argument;
        t->longs[n] = (struct option){ o->name, has, NULL, LONG + (int)(o - c->options) };
        if (!o->letter)
            continue;
        t->shorts[s++] = o->letter;
        if (has == required_argument)
            t->shorts[s++] = ':';
    }
}

static const struct opt *option_of(const struct command *c, int code)
{
    if (code >= LONG)
        return &c->options[code - LONG];
    for (const struct opt *o = c->options; o && o->name; o++)
        if (o->letter == code)
            return o;
    return NULL;
}

/* "--name=value" without dashes and value; empty: it is a letter. */
static str option_name(const char *word)
{
    str rest = str_of(word);

    if (!str_starts(rest, S("--")))
        return STR_NONE;
    rest = str_sub(rest, 2, rest.n);
    return str_cut(&rest, '=');
}

static int complain(const struct command *c, int code, const char *word)
{
    if (code == ':')
        return command_fail(EXIT_USAGE, "%s: option '%s' needs a value", c->name, word);
    struct nearest n = nearest_to(option_name(word));
    for (const struct opt *o = c->options; o && o->name; o++)
        nearest_try(&n, str_of(o->name));
    if (n.best.n)
        command_fail(EXIT_USAGE, "%s has no option '%s'; did you mean '--%" PRI_STR "'?", c->name,
                     word, STR_ARG(n.best));
    else
        command_fail(EXIT_USAGE, "%s has no option '%s'", c->name, word);
    return command_usage(c);
}

int options_read(const struct command *c, int argc, char **argv, void *to, char ***rest, int *n)
{
    struct table t = { 0 };
    int code = -1;

    fill(c, &t);
    opterr = 0;
    optind = 0; /* begins anew */
    for (int opt; code < 0 && (opt = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1;) {
        const struct opt *o = option_of(c, opt);
        if (opt == 'h') {
            AUTO(arena) struct arena *a = arena_new();
            fputs(options_help(a, c).p, stdout);
            return EXIT_DONE;
        }
        if (opt == '?' || opt == ':') {
            char one[3] = { '-', (char)optopt, 0 };
            bool is_long = optopt == 0 || optopt >= LONG || opt == '?';
            const char *word = optind > 0 ? argv[optind - 1] : "";
            code = complain(c, opt, is_long && strncmp(word, "--", 2) == 0 ? word : one);
        } else if (o) {
            code = set(c, o, to, optarg);
        }
    }
    *rest = argv + optind;
    *n = argc - optind;
    return code;
}

int options_command(const struct command *c, int argc, char **argv)
{
    /* In order, so that optind says where a word stood; getopt moves no words then. */
    struct table t = { .shorts = "-" };

    fill(c, &t);
    opterr = 0;
    optind = 0; /* begins anew, also with the order of words */
    while (getopt_long(argc, argv, t.shorts, t.longs, NULL) != -1)
        ;
    int at = optind;
    optind = 0;
    return at > 1 && strcmp(argv[at - 1], "--") == 0 ? at : argc;
}

str options_help(struct arena *a, const struct command *c)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, str_of(c->help));
    if (!c->options)
        return arena_str(a, buf_str(&b));
    buf_add(&b, S("\nOptions:\n"));
    for (const struct opt *o = c->options; o->name; o++) {
        size_t from = b.n;
        if (o->letter)
            buf_printf(&b, "  -%c, ", o->letter);
        else
            buf_add(&b, S("      "));
        buf_printf(&b, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        if (b.n - from + 2 > HELP_COLUMN) {
            buf_addc(&b, '\n');
            from = b.n;
        }
        buf_printf(&b, "%*s%s\n", (int)(HELP_COLUMN - (b.n - from)), "", o->help);
    }
    return arena_str(a, buf_str(&b));
}
