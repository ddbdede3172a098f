/* Regular expressions: Go's errors in Go's words, and matches where PCRE2 would differ. */

#include "crd/pattern.h"
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

        ok(p && pattern_match(p, str_of(rows[i].text)) == rows[i].match, "%s %s %zu",
           rows[i].pattern, rows[i].match ? "matches" : "does not match", i);
    }
}

int main(void)
{
    errors_are_those_of_go();
    matches_are_those_of_go();
    return tap_done();
}
