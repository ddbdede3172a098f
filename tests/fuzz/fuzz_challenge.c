/* What a registry sends to an anonymous client (WWW-Authenticate), the URLs that it leads to, and
 * docker's config.json. */

#include "image/registry.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str text = arena_str(a, (str){ (const char *)data, size });
    struct image_challenge c;
    struct image_login l;
    struct image_ref r;
    bool loopback;
    str origin;

    image_challenge_parse(a, text, &c);
    check(!c.bearer || c.realm.n);
    if (image_url_check(a, text, &origin, &loopback, NULL) == 0)
        check(str_starts(text, origin) && str_find(origin, '@') < 0 &&
              (loopback || str_starts(origin, S("https://"))));
    if (image_ref_parse(a, text.p, &r, NULL) == 0) {
        check(r.host.n && r.repository.n && r.tag.n && r.name.n);
        check(!str_contains(r.repository, S("..")) && r.repository.p[0] != '/');
    }
    check(image_ref_parse(a, "h.org/a:1", &r, NULL) == 0);
    if (image_login_find(a, text, &r, &l, NULL) == 0)
        check(!memchr(l.basic.p, '\n', l.basic.n));
    return 0;
}
