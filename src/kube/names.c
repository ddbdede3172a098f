/* Matchers over a table of character classes. The texts are those of k8s.io/apimachinery. */

#include "kube/names.h"

enum {
    LOWER = 1,
    UPPER = 2,
    DIGIT = 4,
    DASH = 8,
    UNDER = 16,
    DOT = 32,
    LOWNUM = LOWER | DIGIT,
    ALPHA = LOWER | UPPER,
    ALNUM = LOWER | UPPER | DIGIT,
};

static const unsigned char class_of[256] = {
    ['a' ... 'z'] = LOWER, ['A' ... 'Z'] = UPPER, ['0' ... '9'] = DIGIT,
    ['-'] = DASH,          ['_'] = UNDER,         ['.'] = DOT,
};

#define MAX_LEN(n)           "must be no more than " #n " characters"
#define REGEX(text, eg, fmt) text " (e.g. " eg ", regex used for validation is '" fmt "')"

#define LABEL_FMT       "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_FMT   LABEL_FMT "(\\." LABEL_FMT ")*"
#define LABEL_UNDER_FMT "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define QNAME_FMT       "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define QNAME_CHARS \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
#define QNAME_EG  "'MyName',  or 'my.name',  or '123-abc'"
#define MSG_QNAME REGEX(QNAME_CHARS, QNAME_EG, QNAME_FMT)
#define SUBDOMAIN_CHARS \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
#define MSG_SUBDOMAIN REGEX(SUBDOMAIN_CHARS, "'example.com'", SUBDOMAIN_FMT)
#define PREFIX_PART   "prefix part "
#define NAME_PART     "name part "
#define MSG_NONEMPTY  "must be non-empty"

static const char msg_label[] = REGEX(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    "'my-name',  or '123-abc'", LABEL_FMT);
static const char msg_1035[] = REGEX(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    "'my-name',  or 'abc-123'", "[a-z]([-a-z0-9]*[a-z0-9])?");
static const char msg_subdomain_under[] = REGEX(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
    "'example.com'", LABEL_UNDER_FMT "(\\." LABEL_UNDER_FMT ")*");
static const char msg_wildcard[] = REGEX(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    "'*.example.com'", "\\*\\." SUBDOMAIN_FMT);
static const char msg_label_value[] = REGEX(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    "'MyValue',  or 'my_value',  or '12345'", "(" QNAME_FMT ")?");
static const char msg_config_key[] =
    REGEX("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
          "'key.name',  or 'KEY_NAME',  or 'key-name'", "[-._a-zA-Z0-9]+");
static const char msg_http_header[] =
    REGEX("a valid HTTP header must consist of alphanumeric characters or '-'", "'X-Header-Name'",
          "[-A-Za-z0-9]+");
static const char msg_percent[] =
    REGEX("a valid percent string must be a numeric string followed by an ending '%'",
          "'1%',  or '93%'", "[0-9]+%");
static const char msg_reason[] = REGEX(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB'",
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?");

static const char msg_c_identifier[] = REGEX(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    "'my_name',  or 'MY_NAME',  or 'MyName'", "[A-Za-z_][A-Za-z0-9_]*");

static void complain(struct name_errors *e, const char *text)
{
    e->at[e->n++] = text;
}

static unsigned cls(char c)
{
    return class_of[(unsigned char)c];
}

/* first, then any of middle, then last; one character must satisfy both ends. */
static bool matches(str s, unsigned first, unsigned middle, unsigned last)
{
    if (!s.n || !(cls(s.p[0]) & first) || !(cls(s.p[s.n - 1]) & last))
        return false;
    for (size_t i = 1; i + 1 < s.n; i++)
        if (!(cls(s.p[i]) & middle))
            return false;
    return true;
}

static bool all(str s, unsigned classes)
{
    return matches(s, classes, classes, classes);
}

static bool is_subdomain(str s)
{
    unsigned before = DOT;

    for (size_t i = 0; i < s.n; i++) {
        unsigned c = cls(s.p[i]);
        if (!(c & (LOWNUM | DASH | DOT)) || ((before & DOT) && !(c & LOWNUM)) ||
            ((c & DOT) && !(before & LOWNUM)))
            return false;
        before = c;
    }
    return (before & LOWNUM) != 0;
}

static bool is_subdomain_under(str s)
{
    do {
        str part = str_cut(&s, '.');
        if (part.n && part.p[0] == '_')
            part = str_sub(part, 1, part.n);
        if (!matches(part, LOWNUM, LOWNUM | DASH | UNDER, LOWNUM))
            return false;
    } while (s.p);
    return true;
}

static bool is_qualified_part(str s)
{
    return matches(s, ALNUM, ALNUM | DASH | UNDER | DOT, ALNUM);
}

static void no_dot_dot(struct name_errors *e, str s)
{
    if (str_eq(s, S(".")))
        complain(e, "must not be '.'");
    else if (str_eq(s, S("..")))
        complain(e, "must not be '..'");
    else if (str_starts(s, S("..")))
        complain(e, "must not start with '..'");
}

struct name_errors name_dns1123_label(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 63)
        complain(&e, MAX_LEN(63));
    if (!matches(s, LOWNUM, LOWNUM | DASH, LOWNUM))
        complain(&e, is_subdomain(s) ? "must not contain dots" : msg_label);
    return e;
}

struct name_errors name_dns1123_subdomain(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 253)
        complain(&e, MAX_LEN(253));
    if (!is_subdomain(s))
        complain(&e, MSG_SUBDOMAIN);
    return e;
}

struct name_errors name_dns1123_subdomain_underscore(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 253)
        complain(&e, MAX_LEN(253));
    if (!is_subdomain_under(s))
        complain(&e, msg_subdomain_under);
    return e;
}

struct name_errors name_dns1035_label(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 63)
        complain(&e, MAX_LEN(63));
    if (!matches(s, LOWER, LOWNUM | DASH, LOWNUM))
        complain(&e, msg_1035);
    return e;
}

struct name_errors name_wildcard_subdomain(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 253)
        complain(&e, MAX_LEN(253));
    if (!str_starts(s, S("*.")) || !is_subdomain(str_sub(s, 2, s.n)))
        complain(&e, msg_wildcard);
    return e;
}

struct name_errors name_qualified(str s)
{
    struct name_errors e = { .n = 0 };
    ptrdiff_t slash = str_find(s, '/');

    if (slash >= 0) {
        str prefix = str_sub(s, 0, (size_t)slash);
        s = str_sub(s, (size_t)slash + 1, s.n);
        if (str_find(s, '/') >= 0) {
            complain(&e,
                     "a qualified name " MSG_QNAME
                     " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
            return e;
        }
        if (!prefix.n)
            complain(&e, PREFIX_PART MSG_NONEMPTY);
        else {
            if (prefix.n > 253)
                complain(&e, PREFIX_PART MAX_LEN(253));
            if (!is_subdomain(prefix))
                complain(&e, PREFIX_PART MSG_SUBDOMAIN);
        }
    }
    if (!s.n)
        complain(&e, NAME_PART MSG_NONEMPTY);
    else if (s.n > 63)
        complain(&e, NAME_PART MAX_LEN(63));
    if (!is_qualified_part(s))
        complain(&e, NAME_PART MSG_QNAME);
    return e;
}

struct name_errors name_label_value(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 63)
        complain(&e, MAX_LEN(63));
    if (s.n && !is_qualified_part(s))
        complain(&e, msg_label_value);
    return e;
}

struct name_errors name_c_identifier(str s)
{
    struct name_errors e = { .n = 0 };
    bool good = s.n && (cls(s.p[0]) & (ALPHA | UNDER));

    for (size_t i = 1; i < s.n && good; i++)
        good = (cls(s.p[i]) & (ALNUM | UNDER)) != 0;
    if (!good)
        complain(&e, msg_c_identifier);
    return e;
}

struct name_errors name_env_var(str s)
{
    struct name_errors e = { .n = 0 };

    if (!s.n)
        complain(&e, "environment variable name " MSG_NONEMPTY);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '=') {
            complain(
                &e,
                "a valid environment variable name must consist only of printable ASCII characters other than '='");
            break;
        }
    }
    return e;
}

struct name_errors name_port(str s)
{
    struct name_errors e = { .n = 0 };
    bool letter = false;

    for (size_t i = 0; i < s.n; i++)
        letter = letter || (cls(s.p[i]) & LOWER);
    if (s.n > 15)
        complain(&e, MAX_LEN(15));
    if (!all(s, LOWNUM | DASH))
        complain(&e, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!letter)
        complain(&e, "must contain at least one letter (a-z)");
    if (str_contains(s, S("--")))
        complain(&e, "must not contain consecutive hyphens");
    if (s.n && (s.p[0] == '-' || s.p[s.n - 1] == '-'))
        complain(&e, "must not begin or end with a hyphen");
    return e;
}

struct name_errors name_config_key(str s)
{
    struct name_errors e = { .n = 0 };

    if (s.n > 253)
        complain(&e, MAX_LEN(253));
    if (!all(s, ALNUM | DASH | UNDER | DOT))
        complain(&e, msg_config_key);
    no_dot_dot(&e, s);
    return e;
}

struct name_errors name_http_header(str s)
{
    struct name_errors e = { .n = 0 };

    if (!all(s, ALNUM | DASH))
        complain(&e, msg_http_header);
    return e;
}

struct name_errors name_percent(str s)
{
    struct name_errors e = { .n = 0 };

    if (!s.n || s.p[s.n - 1] != '%' || !all(str_sub(s, 0, s.n - 1), DIGIT))
        complain(&e, msg_percent);
    return e;
}

struct name_errors name_path_segment(str s)
{
    struct name_errors e = { .n = 0 };

    if (str_eq(s, S(".")))
        complain(&e, "may not be '.'");
    else if (str_eq(s, S("..")))
        complain(&e, "may not be '..'");
    if (str_find(s, '/') >= 0)
        complain(&e, "may not contain '/'");
    if (str_find(s, '%') >= 0)
        complain(&e, "may not contain '%'");
    return e;
}

struct name_errors name_condition_reason(str s)
{
    struct name_errors e = { .n = 0 };
    bool good = s.n && (cls(s.p[0]) & ALPHA) && (cls(s.p[s.n - 1]) & (ALNUM | UNDER));

    for (size_t i = 0; i < s.n && good; i++)
        good = (cls(s.p[i]) & (ALNUM | UNDER)) || s.p[i] == ',' || s.p[i] == ':';
    if (!good)
        complain(&e, msg_reason);
    return e;
}

str name_lower(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]);
    p[s.n] = 0;
    return (str){ p, s.n };
}

bool name_ok(str value, name_rule *rule)
{
    return rule(value).n == 0;
}

static void report(struct problems *ps, const struct path *p, str value,
                   const struct name_errors *e)
{
    for (unsigned i = 0; i < e->n; i++)
        problem_invalid(ps, p, jstr(ps->a, value), "%s", e->at[i]);
}

void name_check(struct problems *ps, const struct path *p, str value, name_rule *rule)
{
    struct name_errors e = rule(value);

    if (e.n)
        report(ps, p, value, &e);
}

str name_join(struct arena *a, const struct name_errors *errs, const char *sep)
{
    str s = STR_NONE;

    for (unsigned i = 0; i < errs->n; i++)
        s = arena_printf(a, "%" PRI_STR "%s%s", STR_ARG(s), i ? sep : "", errs->at[i]);
    return s;
}

/* A generateName may end in '-', as more will follow: it is checked as if it ended in a letter. */
static void check_object_name(struct problems *ps, const struct path *p, str name, bool prefix,
                              name_rule *rule)
{
    str shown = name;

    if (prefix && name.n > 1 && name.p[name.n - 1] == '-')
        name = arena_cat(ps->a, str_sub(name, 0, name.n - 2), S("a"));
    struct name_errors e = rule(name);
    if (e.n)
        report(ps, p, shown, &e);
}

void name_is_subdomain(struct problems *ps, const struct path *p, str name, bool prefix)
{
    check_object_name(ps, p, name, prefix, name_dns1123_subdomain);
}

void name_is_label(struct problems *ps, const struct path *p, str name, bool prefix)
{
    check_object_name(ps, p, name, prefix, name_dns1123_label);
}

void name_is_1035_label(struct problems *ps, const struct path *p, str name, bool prefix)
{
    check_object_name(ps, p, name, prefix, name_dns1035_label);
}

void name_is_path_segment(struct problems *ps, const struct path *p, str name, bool prefix)
{
    (void)prefix;
    name_check(ps, p, name, name_path_segment);
}

bool port_in_range(int64_t port)
{
    return port >= 1 && port <= 65535;
}
