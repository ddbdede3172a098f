/* String formats about networks: addresses, host names, URIs, mail. */

#include "crd/format.h"

#include <arpa/inet.h>
#include <ctype.h>

/* Four decimal numbers; leading zeros are let pass as Kubernetes does. */
static bool is_dotted(str s)
{
    int parts = 0;

    for (str rest = s; rest.p; parts++) {
        str part = str_cut(&rest, '.');
        int value = 0;
        for (size_t i = 0; i < part.n; i++) {
            if (!isdigit((unsigned char)part.p[i]))
                return false;
            value = value * 10 + (part.p[i] - '0');
            if (value > 255)
                return false;
        }
        if (!part.n)
            return false;
    }
    return parts == 4;
}

static bool is_colons(str s)
{
    char text[INET6_ADDRSTRLEN + 1];
    unsigned char raw[16];

    if (s.n >= sizeof(text) || memchr(s.p ? s.p : "", 0, s.n))
        return false;
    memcpy(text, s.p ? s.p : "", s.n);
    text[s.n] = 0;
    return inet_pton(AF_INET6, text, raw) == 1;
}

bool format_ipv4(str s)
{
    return str_find(s, '.') >= 0 && (str_find(s, ':') >= 0 ? is_colons(s) : is_dotted(s));
}

bool format_ipv6(str s)
{
    return str_find(s, ':') >= 0 && is_colons(s);
}

bool format_cidr(str s)
{
    str bits = s;
    str address = str_cut(&bits, '/');
    int64_t n;

    if (!bits.p || !bits.n || !isdigit((unsigned char)bits.p[0]) || !str_to_int(bits, &n))
        return false;
    if (str_find(address, ':') >= 0)
        return is_colons(address) && n <= 128;
    return is_dotted(address) && n <= 32;
}

bool format_mac(str s)
{
    size_t digits = 0;

    for (size_t i = 0; i < s.n; i++)
        digits += isxdigit((unsigned char)s.p[i]) != 0;
    if (digits == s.n)
        return digits == 12 || digits == 16 || digits == 40;
    size_t group = s.n > 2 && (s.p[2] == ':' || s.p[2] == '-') ? 2 : 4;

    if (s.n < 14 || (group == 4 && s.p[4] != '.'))
        return false;
    char sep = s.p[group];
    for (size_t i = 0; i < s.n; i++) {
        if (i % (group + 1) == group) {
            if (s.p[i] != sep)
                return false;
        } else if (!isxdigit((unsigned char)s.p[i])) {
            return false;
        }
    }
    return s.n % (group + 1) == group && (digits == 12 || digits == 16 || digits == 40);
}

static bool is_escaped_right(str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
        if (s.p[i] == '%' && (i + 2 >= s.n || !isxdigit((unsigned char)s.p[i + 1]) ||
                              !isxdigit((unsigned char)s.p[i + 2])))
            return false;
    }
    return true;
}

/* user@host:port: no blanks in the host, digits after the last colon. */
static bool is_authority(str s)
{
    ptrdiff_t at = str_rfind(s, '@');
    str host = str_sub(s, (size_t)(at + 1), s.n);
    ptrdiff_t bracket = str_rfind(host, ']');
    ptrdiff_t colon = str_rfind(host, ':');

    if (host.n && host.p[0] == '[' && bracket < 0)
        return false;
    if (colon > bracket)
        for (size_t i = (size_t)colon + 1; i < host.n; i++)
            if (!isdigit((unsigned char)host.p[i]))
                return false;
    for (size_t i = 0; i < host.n; i++)
        if (strchr(" \"<>\\^`{|}", host.p[i]))
            return false;
    return true;
}

/* As Go's url.ParseRequestURI: an absolute URI or an absolute path. */
bool format_uri(str s)
{
    size_t i = 0;

    if (!s.n || !is_escaped_right(s))
        return false;
    if (str_eq(s, S("*")))
        return true;
    if (isalpha((unsigned char)s.p[0]))
        while (i < s.n && (isalnum((unsigned char)s.p[i]) || (s.p[i] && strchr("+-.", s.p[i]))))
            i++;
    bool scheme = i > 0 && i < s.n && s.p[i] == ':';
    str rest = scheme ? str_sub(s, i + 1, s.n) : s;
    if (!scheme && s.p[0] != '/')
        return false;
    if (str_starts(rest, S("//")) && (scheme || !str_starts(rest, S("///")))) {
        str authority = str_sub(rest, 2, rest.n);
        for (size_t k = 0; k < authority.n; k++)
            if (authority.p[k] == '/' || authority.p[k] == '?')
                authority.n = k;
        return is_authority(authority);
    }
    return true;
}

static bool is_atext(unsigned char c)
{
    return isalnum(c) || c >= 0x80 || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

static bool is_dot_atom(str s)
{
    for (str rest = s; rest.p;) {
        str part = str_cut(&rest, '.');
        if (!part.n)
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!is_atext((unsigned char)part.p[i]))
                return false;
    }
    return s.p != NULL;
}

/* As Go's mail.ParseAddress: local@domain, or words and then <local@domain>. */
bool format_email(str s)
{
    ptrdiff_t open;

    s = str_trim(s);
    if (str_ends(s, S(">")) && (open = str_find(s, '<')) >= 0)
        s = str_sub(s, (size_t)open + 1, s.n - 1);
    ptrdiff_t at = str_rfind(s, '@');
    if (at < 1)
        return false;
    str local = str_sub(s, 0, (size_t)at);
    str domain = str_sub(s, (size_t)at + 1, s.n);
    bool quoted = local.n > 2 && local.p[0] == '"' && local.p[local.n - 1] == '"';
    bool literal = domain.n > 2 && domain.p[0] == '[' && domain.p[domain.n - 1] == ']';
    return (quoted || is_dot_atom(local)) && (literal || is_dot_atom(domain));
}

static bool is_host_byte(unsigned char c)
{
    return isalnum(c) || c >= 0x80 || (c && strchr("$+<=>^`|~", c)); /* letters and symbols */
}

/* A name without dots: a dash only as its second byte, as the expression behind it happens to say.
 */
static bool is_lone_host(str s)
{
    size_t from = s.n > 1 && s.p[1] == '-' ? 2 : 1;

    for (size_t i = from; i < s.n; i++)
        if (!is_host_byte((unsigned char)s.p[i]))
            return false;
    return is_host_byte((unsigned char)s.p[0]) && s.n - from <= 62;
}

/* One name of up to 63, or several with a top-level domain of letters. */
bool format_hostname(str s)
{
    if (!s.n || s.n > 255)
        return false;
    if (str_find(s, '.') < 0)
        return s.n <= 63 && is_lone_host(s);
    for (str rest = s; rest.p;) {
        str part = str_cut(&rest, '.');
        bool top = !rest.p;
        if (part.n < (top ? 2 : 1) || part.n > 63 || part.p[0] == '-' || part.p[part.n - 1] == '-')
            return false;
        for (size_t i = 0; i < part.n; i++) {
            unsigned char c = (unsigned char)part.p[i];
            if (top ? !isalpha(c) && c < 0x80 : c != '-' && !is_host_byte(c))
                return false;
        }
    }
    return true;
}
