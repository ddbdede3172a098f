/* Which nameservers pods can use. */

#include "podnet/resolv.h"
#include "tap.h"

static void only_what_can_be_reached_is_left(void)
{
    static const struct {
        const char *text, *want;
        size_t n;
    } cases[] = {
        { "nameserver 192.0.2.53\n", "nameserver 192.0.2.53\n", 1 },
        { "nameserver 127.0.0.53\noptions edns0\nsearch a b\n", "options edns0\nsearch a b\n", 0 },
        { "# mine\nnameserver\t10.0.0.1 \n\n;x\nnameserver 127.1.2.3\nnameserver 10.0.0.2",
          "nameserver\t10.0.0.1 \nnameserver 10.0.0.2\n", 2 },
        { "nameserver ::1\nnameserver fe80::1%eth0\ndomain x.y\n", "domain x.y\n", 0 },
        { "nameserver 127.0.0.1", "", 0 },
        { "", "", 0 },
        { "sortlist 1.2.3.4\nnameservers 10.0.0.1\n", "", 0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO(buf) struct buf b = { 0 };
        is_int((int64_t)net_resolv_filter(&b, str_of(cases[i].text)), (int64_t)cases[i].n,
               "nameservers");
        is_str(buf_str(&b), str_of(cases[i].want), "the text");
    }
}

int main(void)
{
    only_what_can_be_reached_is_left();
    return tap_done();
}
