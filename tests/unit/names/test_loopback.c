/* Addresses of pods at level shared. */

#include "names/loopback.h"
#include "tap.h"

static bool is_pods(str ip)
{
    int part[4];

    if (sscanf(ip.p, "%d.%d.%d.%d", &part[0], &part[1], &part[2], &part[3]) != 4)
        return false;
    return part[0] == 127 && part[1] >= 64 && part[3] > 0 && part[3] < 255 &&
           !(part[2] == 0 && part[3] == 1);
}

static str block(str ip)
{
    str rest = ip;

    str_cut(&rest, '.');
    return str_cut(&rest, '.');
}

static void a_later_server_begins_elsewhere(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str first[3];
    bool differ = false;

    for (size_t i = 0; i < COUNT(first); i++) {
        struct names_addrs *s = names_addrs_new(S("/data/of/this/test"));
        first[i] = names_addrs_take(s, a);
        ok(is_pods(first[i]), "an address: %s", first[i].p);
        is_str(block(first[i]), block(first[0]), "of the same block");
        names_addrs_free(s);
        differ |= !str_eq(first[i], first[0]);
    }
    ok(differ, "ports that connections of earlier pods still hold are not in the way");
}

static void addresses_in_use_are_left_out(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_addrs *s = names_addrs_new(S("/data/of/this/test"));
    str one = names_addrs_take(s, a), two = names_addrs_take(s, a);

    ok(!str_eq(one, two), "two pods have two addresses");
    names_addrs_give(s, one);
    ok(!str_eq(names_addrs_take(s, a), one), "one that was given back is not the next one");
    names_addrs_mark(s, S("10.0.0.1"));
    names_addrs_give(s, S("no address"));
    ok(is_pods(names_addrs_take(s, a)), "those of others do not matter");
    names_addrs_free(s);
}

int main(void)
{
    a_later_server_begins_elsewhere();
    addresses_in_use_are_left_out();
    return tap_done();
}
