/* Nameservers on 127.0.0.1 are this machine's own; a pod that asks there asks itself. */

#include "podnet/resolv.h"

#include "sys/sys.h"

#include <fcntl.h>

enum { FILE_MAX = 64 * 1024 };

static str word(str *rest)
{
    size_t skip = 0, n = 0;

    while (skip < rest->n && (rest->p[skip] == ' ' || rest->p[skip] == '\t'))
        skip++;
    *rest = str_sub(*rest, skip, rest->n);
    while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
        n++;
    str w = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return w;
}

size_t net_resolv_filter(struct buf *b, str text)
{
    size_t n = 0;

    for (str rest = text; rest.p;) {
        str line = str_cut(&rest, '\n'), words = line;
        str what = word(&words), value = word(&words);
        if (str_eqz(what, "nameserver")) {
            /* IPv6 ends at the hub. */
            if (str_starts(value, S("127.")) || str_find(value, ':') >= 0)
                continue;
            n++;
        } else if (!str_eqz(what, "search") && !str_eqz(what, "domain") &&
                   !str_eqz(what, "options")) {
            continue;
        }
        buf_add(b, line);
        buf_addc(b, '\n');
    }
    return n;
}

bool net_resolv_text(struct buf *b)
{
    static const char *const files[] = { "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf" };
    static char text[FILE_MAX];

    for (size_t i = 0; i < COUNT(files); i++) {
        ssize_t n = sys_read_file(AT_FDCWD, files[i], text, sizeof(text));
        buf_clear(b);
        if (n > 0 && net_resolv_filter(b, (str){ text, (size_t)n }) > 0)
            return true;
    }
    return false;
}
