/* See spdy_upgrade.h. */

#include "api/stream/spdy_upgrade.h"

static bool offers(const struct http_req *r, str protocol)
{
    const struct http_header *h;
    size_t n = http_headers(r, &h);

    for (size_t i = 0; i < n; i++)
        if (str_eq(h[i].name, S("x-stream-protocol-version")))
            for (str rest = h[i].value; rest.p;)
                if (str_eq(str_trim(str_cut(&rest, ',')), protocol))
                    return true;
    return false;
}

bool spdy_is_asked(struct api_req *r, str protocol)
{
    if (!http_wants_upgrade(r->http, S(SPDY_NAME))) {
        fail_bad_request(r, "Upgrade request required");
        return false;
    }
    if (!offers(r->http, protocol)) {
        fail_bad_request(r,
                         "unable to upgrade: X-Stream-Protocol-Version must offer %" PRI_STR
                         ", which this server speaks over SPDY",
                         STR_ARG(protocol));
        return false;
    }
    return true;
}

struct ws *spdy_accept(struct http_req *r, str protocol, const struct ws_handler *h)
{
    struct http_header spoken = { S("x-stream-protocol-version"), protocol };

    return http_accept_upgrade(r, S(SPDY_NAME), spoken, h);
}
