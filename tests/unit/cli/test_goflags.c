/* Flags in all the ways that Go takes them, and its words when it does not. */

#include "cli/goflags.h"
#include "tap.h"

struct wish {
    const char *text;
    int64_t n;
    double qps;
    bool on;
    int pushed;
    char last[16];
};

static int push(struct arena *a, void *to, str value, struct err *e)
{
    struct wish *w = to;

    (void)a;
    if (str_eqz(value, "bad"))
        return err_set(e, ERR_INVALID, "never heard of it");
    snprintf(w->last, sizeof(w->last), "%" PRI_STR, STR_ARG(value));
    w->pushed++;
    return 0;
}

static const struct go_flag table[] = {
    { "text", GO_TEXT, offsetof(struct wish, text), .dflt = "a", .arg = "TEXT", .help = "Some." },
    { "n", GO_INT, offsetof(struct wish, n), .dflt = "7", .arg = "N", .help = "How many." },
    { "qps", GO_NUMBER, offsetof(struct wish, qps), .arg = "N", .help = "How fast." },
    { "on", GO_BOOL, offsetof(struct wish, on), .help = "Whether." },
    { "push", GO_TEXT, .set = push, .arg = "KIND", .help = "Again." },
    { "port", GO_INT, .dflt = "9443", .arg = "PORT", .unused = "Nothing listens." },
};

static struct wish w;
static bool given[COUNT(table)];
static const struct go_flags flags = { table, COUNT(table), &w, given };
static struct arena *a;
static struct err e;

static int parse(const char *line)
{
    char *argv[16] = { NULL };
    int argc = 0;
    char *copy = strdup(line);
    char *rest = NULL;

    arena_defer(a, free, copy);
    argv[argc++] = copy + strlen(copy);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    w = (struct wish){ 0 };
    e = (struct err){ 0 };
    memset(given, 0, sizeof(given));
    return go_flags_parse(a, &flags, argc, argv, &e);
}

static void defaults_hold(void)
{
    is_int(parse(""), GO_OK, "nothing is fine");
    is_str(str_of(w.text), S("a"), "a text");
    is_int(w.n, 7, "a number");
    ok(!w.on && w.qps <= 0, "and zeros");
    ok(!go_flag_given(&flags, "text"), "a default was not given");
}

static void all_forms_are_read(void)
{
    static const char *const forms[] = { "-text v", "--text v", "-text=v", "--text=v" };

    for (size_t i = 0; i < COUNT(forms); i++)
        ok(parse(forms[i]) == GO_OK && strcmp(w.text, "v") == 0, "%s", forms[i]);
    ok(go_flag_given(&flags, "text"), "and known to be given");
    ok(parse("--text=a=b") == GO_OK && strcmp(w.text, "a=b") == 0, "a value with =");
    ok(parse("--text=") == GO_OK && strcmp(w.text, "") == 0, "an empty value");
    ok(parse("--text --n") == GO_OK && strcmp(w.text, "--n") == 0, "a value like a flag");
    ok(parse("--n -3 -qps=2.5 --on") == GO_OK && w.n == -3 && w.qps > 2.4 && w.on, "several");
    ok(parse("--on=false") == GO_OK && !w.on, "off");
    ok(parse("--on=T") == GO_OK && w.on, "in any of Go's words");
    ok(parse("--push a --push=b") == GO_OK && w.pushed == 2 && strcmp(w.last, "b") == 0,
       "again and again");
    ok(parse("--port 1") == GO_OK && go_flag_given(&flags, "port"), "without effect");
    ok(parse("--n 1 --") == GO_OK && w.n == 1, "-- ends it");
}

static void mistakes_are_named(void)
{
    static const struct {
        const char *line, *msg;
    } cases[] = {
        { "--nope", "flag provided but not defined: -nope" },
        { "--nope=3", "flag provided but not defined: -nope" },
        { "---n=3", "bad flag syntax: ---n=3" },
        { "--=3", "bad flag syntax: --=3" },
        { "--n", "flag needs an argument: -n" },
        { "--n x", "invalid value \"x\" for flag -n: parse error" },
        { "--qps 1q", "invalid value \"1q\" for flag -qps: parse error" },
        { "--on=maybe", "invalid boolean value \"maybe\" for -on: parse error" },
        { "--push bad", "invalid value \"bad\" for flag -push: never heard of it" },
        { "--port x", "invalid value \"x\" for flag -port: parse error" },
        { "--on false", "unexpected argument 'false'" },
        { "-- x", "unexpected argument 'x'" },
        { "-", "unexpected argument '-'" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        is_int(parse(cases[i].line), GO_FAILED, cases[i].line);
        is_str(str_of(e.msg), str_of(cases[i].msg), cases[i].line);
    }
}

static void help_is_the_table(void)
{
    is_int(parse("--help"), GO_HELP, "--help");
    is_int(parse("-h"), GO_HELP, "-h");
    str help = go_flags_help(a, &flags);
    ok(str_starts(help, S("  --text TEXT\n        Some. (default: a)\n")), "name, help, default");
    ok(str_contains(help, S("  --on\n        Whether.\n")), "without an argument");
    ok(str_contains(help, S("  --port PORT\n        Nothing listens.\n")), "without effect");
}

int main(void)
{
    a = arena_new();
    defaults_hold();
    all_forms_are_read();
    mistakes_are_named();
    help_is_the_table();
    arena_free(a);
    return tap_done();
}
