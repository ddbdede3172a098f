/* Names and addresses where pods share the machine's network, in a node with a whole API server and
 * a runtime without processes; and the addresses by themselves. */

#include "base/map.h"
#include "fake.h"
#include "names/loopback.h"
#include "node/node.h"
#include "node/volumes.h"
#include "world.h"

#include <sys/stat.h>
#include <unistd.h>

static struct fake *fake;
static struct node *node;
static char data[] = "/tmp/muster-shared-XXXXXX";

static void addresses_are_given_once(void)
{
    enum { N = 3000 };
    AUTO(arena) struct arena *a = arena_new();
    struct names_addrs *one = names_addrs_new(S("/one")), *two = names_addrs_new(S("/one"));
    struct map seen = { 0 };
    bool once = true;

    for (int i = 0; i < N; i++) {
        str ip = names_addrs_take(one, a);
        once &= ip.n && !map_put(&seen, ip, &seen);
    }
    ok(once, "each address is given once");
    for (int i = 0; i < N; i++)
        once &= !map_get(&seen, names_addrs_take(two, a));
    ok(once, "another cluster on the machine has others");
    str first = names_addrs_take(one, a);
    names_addrs_give(one, first);
    ok(!str_eq(names_addrs_take(one, a), first), "one that was given back rests");
    names_addrs_free(two);
    names_addrs_free(one);
    map_done(&seen);
    one = names_addrs_new(S("/one"));
    names_addrs_mark(one, first);
    ok(!str_eq(names_addrs_take(one, a), first), "one that is known to be in use is not given");
    names_addrs_mark(one, S("10.0.0.1"));
    names_addrs_give(one, S("nonsense"));
    names_addrs_free(one);
}

static void all_addresses_can_be_used(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_addrs *s = names_addrs_new(S("/all"));
    int n = 0;
    str last = STR_NONE, ip;

    while ((ip = names_addrs_take(s, a)).n) {
        last = ip;
        n++;
    }
    ok(n > 60000, "there are enough (%d)", n);
    names_addrs_give(s, last);
    is_str(names_addrs_take(s, a), last, "the last one that is free is given again");
    names_addrs_free(s);
}

/* ---- in a node */

static void node_up(void)
{
    struct node_opts o = { .loop = box.loop,
                           .api = box.kube,
                           .runtime = fake_runtime(fake),
                           .names = true,
                           .api_ip = S("127.0.0.1"),
                           .api_port = 6443,
                           .name = S("here"),
                           .host_ip = S("10.0.0.9"),
                           .data = str_of(data),
                           .path = S("/usr/bin:/bin"),
                           .isolation = S("shared") };

    node = begin_node(&o);
}

static str variable(jv sandbox, const char *name)
{
    JV_EACH (it, jv_at(sandbox, "env")) {
        str value = jv_str(it.value, S(""));
        if (str_eqz(str_cut(&value, '='), name))
            return value;
    }
    return S("");
}

static void pods_have_addresses_of_their_own(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str one = make_pod(a, "one", "", "'command': ['sh', '-c', 'run']");
    str two = make_pod(a, "two", "'hostNetwork': true,", "'command': ['sh', '-c', 'run']");
    struct stat st;

    UNTIL("one", "Running", "a pod runs", "status", "phase");
    UNTIL("two", "Running", "and one on the machine's own network", "status", "phase");
    jv box_of = fake_sandbox(fake, one);
    str lib = jv_str(jv_at(box_of, "preload"), S("")), ip = ip_of(a, "one");
    ok(str_starts(ip, S("127.")) && !str_eq(ip, S("127.0.0.1")), "%.*s is its address",
       STR_ARG(ip));
    is_str(variable(box_of, "MUSTER_POD_IP"), ip, "the library is told of it");
    is_str(variable(box_of, "MUSTER_POD_HOSTNAME"), S("one"), "and of its name");
    is_str(variable(box_of, "MUSTER_HOSTS"), arena_printf(a, "%s/names/hosts/default", data),
           "and where names are");
    ok(stat(arena_z(a, lib), &st) == 0 && (st.st_mode & 0777) == 0755 && st.st_size > 4096,
       "the library is there");
    is_int((int64_t)jv_len(jv_at(box_of, "mounts")), 0, "nothing is mounted");
    ok(!jv_exists(jv_at(fake_sandbox(fake, two), "preload")), "the other has none");
    is_str(ip_of(a, "two"), S("10.0.0.9"), "and the machine's address");
    ok(jv_exists(meta_condition(get(a, &nodes, "", "here"), S("SharedNetwork"))),
       "the node says what pods do without");
    str services = arena_printf(a, "%s/names/services", data);
    WAIT(access(services.p, F_OK) == 0);
    FILE *f = fopen(services.p, "re");
    char line[200] = "";
    ok(f && fgets(line, sizeof(line), f), "ClusterIPs are written down");
    is_str(str_of(line), S("tcp 10.96.0.1 443 127.0.0.1:6443\n"), "with what is behind them");
    if (f)
        fclose(f);
}

static void addresses_stay_over_a_restart(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str before = arena_str(a, ip_of(a, "one"));

    fake_keep(fake, data, meta_uid(get(a, &pods, "default", "one")));
    node_free(node);
    node_up();
    make_pod(a, "three", "", "'command': ['sh', '-c', 'run']");
    UNTIL("three", "Running", "a new node runs another", "status", "phase");
    ok(!str_eq(ip_of(a, "three"), before), "at another address");
    is_str(ip_of(a, "one"), before, "the first keeps its own");
}

int main(void)
{
    if (!mkdtemp(data))
        return 1;
    addresses_are_given_once();
    all_addresses_can_be_used();
    box_open(&box, NULL, NULL);
    fake = fake_new(box.loop);
    node_up();
    pods_have_addresses_of_their_own();
    addresses_stay_over_a_restart();
    node_free(node);
    for (int i = 0; i < 10; i++)
        box_turn(&box);
    fake_free(fake);
    box_close(&box);
    volumes_remove(data, NULL);
    return tap_done();
}
