/* Names of container images. */

#include "kube/image_name.h"

str image_name_short(str name)
{
    static const char *const prefixes[] = { "index.docker.io/", "docker.io/" };

    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (str_starts(name, str_of(prefixes[i]))) {
            name = str_sub(name, strlen(prefixes[i]), name.n);
            return str_starts(name, S("library/")) ? str_sub(name, 8, name.n) : name;
        }
    return name;
}

/* A colon before a slash is a registry's port. */
str image_name_bare(str name)
{
    ptrdiff_t at = str_find(name, '@');
    str s = at >= 0 ? str_sub(name, 0, (size_t)at) : name;
    ptrdiff_t colon = str_rfind(s, ':'), slash = str_rfind(s, '/');

    return colon > slash && colon >= 0 ? str_sub(s, 0, (size_t)colon) : s;
}

bool image_name_is_bare(str name)
{
    return image_name_bare(name).n == name.n;
}

/* The length of [IPV6] before a port or a path; 0: the name does not begin with one. */
static size_t literal(str name)
{
    ptrdiff_t end = name.n && name.p[0] == '[' ? str_find(name, ']') : -1;

    for (ptrdiff_t i = 1; i < end; i++)
        if (!strchr("0123456789abcdefABCDEF:.", name.p[i]) || !name.p[i])
            return 0;
    return end > 1 && (size_t)end + 1 < name.n && strchr(":/", name.p[end + 1]) ? (size_t)end + 1
                                                                                : 0;
}

bool image_name_is_valid(str name)
{
    for (size_t i = literal(name); i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (!c || !strchr("._/:@-", c)))
            return false;
    }
    return name.n > 0 && name.n <= 512;
}
