/* Regular expressions: Go's errors in Go's words, and matches where PCRE2 would differ. */

#include "base/json.h"
#include "crd/pattern.h"
#include "slurp.h"
#include "tap.h"

static void errors_are_those_of_go(void)
{
    static const struct {
        const char *pattern;
        const char *words; /* NULL: fine */
    } rows[] = {
        { "(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`" },
        { "(?!a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?!`" },
        { "(?<=a)", "error parsing regexp: invalid named capture: `(?<=a)`" },
        { "(?<n>a", "error parsing regexp: missing closing ): `(?<n>a`" },
        { "(?P<n", "error parsing regexp: invalid named capture: `(?P<n`" },
        { "(?Pn)", "error parsing regexp: invalid or unsupported Perl syntax: `(?P`" },
        { "(?P<n->a)", "error parsing regexp: invalid named capture: `(?P<n->`" },
        { "[abc", "error parsing regexp: missing closing ]: `[abc`" },
        { "a**", "error parsing regexp: invalid nested repetition operator: `**`" },
        { "a{2}{3}", "error parsing regexp: invalid nested repetition operator: `{2}{3}`" },
        { "*a", "error parsing regexp: missing argument to repetition operator: `*`" },
        { "(*a)", "error parsing regexp: missing argument to repetition operator: `*`" },
        { "a|*", "error parsing regexp: missing argument to repetition operator: `*`" },
        { "a)", "error parsing regexp: unexpected ): `a)`" },
        { "(a", "error parsing regexp: missing closing ): `(a`" },
        { "\\1", "error parsing regexp: invalid escape sequence: `\\1`" },
        { "\\", "error parsing regexp: trailing backslash at end of expression: ``" },
        { "[z-a]", "error parsing regexp: invalid character class range: `z-a`" },
        { "\\p{Foo}", "error parsing regexp: invalid character class range: `\\p{Foo}`" },
        { "\\pZ", NULL },
        { "[[:foo:]]", "error parsing regexp: invalid character class range: `[:foo:]`" },
        { "a{1001}", "error parsing regexp: invalid repeat count: `{1001}`" },
        { "a{3,2}", "error parsing regexp: invalid repeat count: `{3,2}`" },
        { "(?x)a", "error parsing regexp: invalid or unsupported Perl syntax: `(?x`" },
        { "(?i", "error parsing regexp: invalid or unsupported Perl syntax: `(?i`" },
        { "a++", "error parsing regexp: invalid nested repetition operator: `++`" },
        { "\\h", "error parsing regexp: invalid escape sequence: `\\h`" },
        { "[\\h]", "error parsing regexp: invalid escape sequence: `\\h`" },
        { "(?>a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?>`" },
        { "(?#c)", "error parsing regexp: invalid or unsupported Perl syntax: `(?#`" },
        { "a\\Q*\\E*", NULL },
        { "^*", NULL },
        { "(?i)*", "error parsing regexp: missing argument to repetition operator: `*`" },
        { "[a-\\d]", "error parsing regexp: invalid escape sequence: `\\d`" },
        { "\\x{110000}", "error parsing regexp: invalid escape sequence: `\\x{110000`" },
        { "\\xg", "error parsing regexp: invalid escape sequence: `\\xg`" },
        { "\\8", "error parsing regexp: invalid escape sequence: `\\8`" },
        { "\\07", NULL },
        { "(?P<n>a)(?P<n>b)", NULL },
        { "[]", "error parsing regexp: missing closing ]: `[]`" },
        { "[^]", "error parsing regexp: missing closing ]: `[^]`" },
        { "x{,3}", NULL },
        { "a{1,", NULL },
        { "(?", "error parsing regexp: invalid or unsupported Perl syntax: `(?`" },
        { "(", "error parsing regexp: missing closing ): `(`" },
        { "(?:", "error parsing regexp: missing closing ): `(?:`" },
        { "(?i-", "error parsing regexp: invalid or unsupported Perl syntax: `(?i-`" },
        { "(?-)a", "error parsing regexp: invalid or unsupported Perl syntax: `(?-)`" },
        { "[a-", "error parsing regexp: missing closing ]: `[a-`" },
        { "[a", "error parsing regexp: missing closing ]: `[a`" },
        { "\\p", "error parsing regexp: invalid character class range: `\\p`" },
        { "\\p{L", "error parsing regexp: invalid character class range: `\\p{L`" },
        { "[[:alpha:]", "error parsing regexp: missing closing ]: `[[:alpha:]`" },
        { "a???", "error parsing regexp: invalid nested repetition operator: `???`" },
        { "(?P=n)", "error parsing regexp: invalid or unsupported Perl syntax: `(?P`" },
        { "(?P>n)", "error parsing regexp: invalid or unsupported Perl syntax: `(?P`" },
        { "(?'n'a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?'`" },
        { "\\d+(?=x)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`" },
        { "\\Z", "error parsing regexp: invalid escape sequence: `\\Z`" },
        { "\\z", NULL },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct err e = { 0 };
        const struct crd_pattern *p = pattern_new(a, str_of(rows[i].pattern), &e);

        if (rows[i].words)
            is_str(str_of(e.msg), str_of(rows[i].words), rows[i].pattern);
        else
            ok(p != NULL, "%s is fine (%s)", rows[i].pattern, e.msg);
    }
}

static void matches_are_those_of_go(void)
{
    static const struct {
        const char *pattern;
        const char *text;
        bool match;
    } rows[] = {
        { "^a$", "a\n", false },
        { "(?m)^a$", "a\n", true },
        { "\\s", "\v", false },
        { "\\v", "\n", false },
        { "[\\s]", "\v", false },
        { "[\\v]", "\v", true },
        { "^.$", "\xc3\xa9", true },
        { "^\\w$", "\xc3\xa9", false },
        { "^\\pL$", "\xc3\xa9", true },
        { "a{,3}", "a{,3}", true },
        { "a{,3}", "aaa", false },
        { "(?i)ABC", "xabcx", true },
        { "\\Qa.b\\E", "a.b", true },
        { "\\Qa.b\\E", "axb", false },
        { "^[[]$", "[", true },
        { "^[]a]$", "]", true },
        { "^\\07$", "\a", true },
        { ".", "\n", false },
        { "(?P<n>a)b", "ab", true },
        { "^(?s).$", "\n", true },
        { "", "", true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        const struct crd_pattern *p = pattern_new(a, str_of(rows[i].pattern), NULL);

        ok(p && (pattern_match(p, str_of(rows[i].text), pattern_work_new(a, false)) ==
                 PATTERN_MATCHES) == rows[i].match,
           "%s %s %zu", rows[i].pattern, rows[i].match ? "matches" : "does not match", i);
    }
}

/* Random ones with Go's answers, by patterns.go. The first that differ are shown. */
/* A state of so many classes of runes takes more than half of the room for states. */
static void states_are_not_mixed_up_when_dropped(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("^xy["));
    for (unsigned c = 0x10000; c < 0x10000 + 2 * 150 * 1000; c += 2)
        buf_printf(&b, "\\x{%x}", c);
    buf_add(&b, S("]"));
    const struct crd_pattern *p = pattern_new(a, buf_str(&b), NULL);
    ok(p != NULL, "a set of 150,000 runes is an expression");
    if (!p)
        return;
    struct pattern_work *w = pattern_work_new(a, false);
    is_int(pattern_match(p, S("xy\xf0\x90\x80\x80"), w), PATTERN_MATCHES, "what matches does");
    is_int(pattern_match(p, S("xxy\xf0\x90\x80\x80"), w), PATTERN_DIFFERS, "what differs does");
}

static void random_ones_do_as_in_go(const char *folder)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = slurp(a, arena_printf(a, "%s/patterns.jsonl", folder).p);
    size_t n = 0;
    size_t wrong = 0;

    for (; rest.n && rest.p; n++) {
        AUTO(arena) struct arena *own = arena_new();
        jv row = json_parse(own, str_cut(&rest, '\n'), NULL, NULL);
        str text = jv_str(jv_index(row, 1), STR_NONE);
        jv says = jv_index(row, 2);
        struct err e = { 0 };
        const struct crd_pattern *p = pattern_new(own, jv_str(jv_index(row, 0), STR_NONE), &e);
        enum pattern_result rc =
            p ? pattern_match(p, text, pattern_work_new(own, false)) : PATTERN_GIVEN_UP;
        bool same = p ? jv_is(says, JV_BOOL) && jv_bool(says, false) == (rc == PATTERN_MATCHES)
                      : str_eq(jv_str(says, STR_NONE), str_of(e.msg));
        wrong += !same;
        if (!same && wrong < 20)
            printf("# %.*s: %s\n", STR_ARG(json_text(own, row)), p ? "differs" : e.msg);
    }
    ok(n > 1000 && !wrong, "%zu random expressions, %zu other than in Go", n, wrong);
}

static enum pattern_result repeated(const char *pattern, const char *unit, size_t n)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf text = { 0 };
    const struct crd_pattern *p = pattern_new(a, str_of(pattern), NULL);

    while (text.n < n)
        buf_add(&text, str_of(unit));
    return p ? pattern_match(p, buf_str(&text), pattern_work_new(a, false)) : PATTERN_GIVEN_UP;
}

static void long_texts_take_linear_time(void)
{
    is_int(repeated("^(.*a){25}$", "aab", 1400000), PATTERN_DIFFERS, "^(.*a){25}$, not at the end");
    is_int(repeated("^(.*a){25}$", "baa", 1400000), PATTERN_MATCHES, "^(.*a){25}$, at the end");
    is_int(repeated("^(.*a){900}$", "baa", 1400000), PATTERN_MATCHES, "^(.*a){900}$ matches");
    is_int(repeated("^(.*a){900}$", "baa", 600), PATTERN_DIFFERS, "^(.*a){900}$ needs so many");
    is_int(repeated("^(a|a)*$", "a", 1400000), PATTERN_MATCHES, "two ways for each letter");
    is_int(repeated("^(a?){500}a{500}$", "a", 500), PATTERN_MATCHES, "a?{500}a{500}");
    is_int(repeated("(x+x+)+y", "x", 1400000), PATTERN_DIFFERS, "(x+x+)+y");
}

/* A state for each of the last hundreds of letters: no automaton is small enough. */
static void what_takes_too_long_is_given_up(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf text = { 0 };
    const struct crd_pattern *p = pattern_new(a, S("(a|b)*a(a|b){900}c"), NULL);
    uint32_t random = 1;

    while (text.n < 1400000) {
        random = random * 1664525 + 1013904223;
        buf_addc(&text, random >> 31 ? 'a' : 'b');
    }
    is_int(pattern_match(p, buf_str(&text), pattern_work_new(a, false)), PATTERN_GIVEN_UP,
           "(a|b)*a(a|b){900}c on random letters");
}

static void briefly_means_a_few_steps(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf text = { 0 };
    const struct crd_pattern *p = pattern_new(a, S("^(.*a){900}$"), NULL);
    struct pattern_work *brief = pattern_work_new(a, true), *full = pattern_work_new(a, false);

    for (int i = 0; i < 900; i++)
        buf_add(&text, S("ba"));
    is_int(pattern_match(p, S("a"), brief), PATTERN_DIFFERS, "what takes little is decided");
    ok(!pattern_work_gave_up(brief), "as ever");
    is_int(pattern_match(p, buf_str(&text), brief), PATTERN_GIVEN_UP, "what takes long is not");
    ok(pattern_work_gave_up(brief), "and that is known");
    is_int(pattern_match(p, buf_str(&text), full), PATTERN_MATCHES, "with time it is");
}

static void large_expressions_are_refused(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf text = { 0 };
    struct err e = { 0 };

    for (int i = 0; i < 1000; i++)
        buf_add(&text, S("a{1000}"));
    ok(!pattern_new(a, buf_str(&text), &e), "a million letters");
    ok(str_starts(str_of(e.msg), S("error parsing regexp: expression too large")), "%s", e.msg);
    buf_clear(&text);
    for (int i = 0; i < 100000; i++)
        buf_add(&text, S("(?:)"));
    ok(!pattern_new(a, arena_printf(a, "(?:%.*s){1000}", STR_ARG(buf_str(&text))), &e),
       "a hundred million times nothing");
}

int main(int argc, char **argv)
{
    errors_are_those_of_go();
    matches_are_those_of_go();
    long_texts_take_linear_time();
    what_takes_too_long_is_given_up();
    briefly_means_a_few_steps();
    large_expressions_are_refused();
    states_are_not_mixed_up_when_dropped();
    random_ones_do_as_in_go(argc > 1 ? argv[1] : ".");
    return tap_done();
}
