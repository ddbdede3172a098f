/* Names in a node with a whole API server and a runtime without processes: which file a pod reads,
 * and that it follows services and pods. */

#include "base/map.h"
#include "base/mem.h"
#include "fake.h"
#include "kube/meta.h"
#include "node/node.h"
#include "node/volumes.h"
#include "world.h"

#include <sys/stat.h>
#include <unistd.h>

static const struct kube_resource services = { "", "v1", "services", "Service", false };

static struct fake *fake;
static struct node *node;
static char data[] = "/tmp/muster-names-XXXXXX";
static int next_ip = 2;
static int adopted;
static struct map held; /* uids with an address */
static struct jdoc *routes;

struct net_ask {
    struct net_then then;
    bool cancelled;
    int ip;
};

static void answer(void *arg)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net_ask *q = arg;
    jv net = jobj(a, { "ip", jstr(a, arena_printf(a, "10.42.0.%d", q->ip)) });

    if (!q->cancelled)
        q->then.done(q->then.arg, net, -1, &(struct err){ 0 });
    free(q);
}

static struct net_ask *attach(void *ctx, jv pod, struct net_then then)
{
    (void)ctx;
    char *uid = mem_or_abort(strndup(meta_uid(pod).p, meta_uid(pod).n));
    struct net_ask *q = mem_new(sizeof(*q));

    free(map_put(&held, str_of(uid), uid));
    q->then = then;
    q->ip = next_ip++;
    loop_post(box.loop, answer, q);
    return q;
}

static void cancel(struct net_ask *q)
{
    q->cancelled = true;
}

static void detach(void *ctx, str uid)
{
    (void)ctx;
    free(map_remove(&held, uid));
}

static void adopt(void *ctx, str uid, jv net)
{
    (void)ctx, (void)uid;
    adopted += str_starts(jv_str(jv_at(net, "ip"), S("")), S("10.42.0."));
}

static void on_services(void *ctx, jv list)
{
    struct arena *a = arena_new();

    (void)ctx;
    jdoc_unref(routes);
    routes = jdoc_of(a, jv_copy(a, list));
}

static const struct pod_network net = {
    .attach = attach, .cancel = cancel, .detach = detach, .adopt = adopt, .services = on_services
};

static void node_up(void)
{
    struct node_opts o = { .loop = box.loop,
                           .api = box.kube,
                           .runtime = fake_runtime(fake),
                           .net = &net,
                           .names = true,
                           .api_ip = S("10.42.0.1"),
                           .api_port = 6443,
                           .name = S("here"),
                           .host_ip = S("10.0.0.9"),
                           .data = str_of(data),
                           .path = S("/usr/bin:/bin"),
                           .isolation = S("namespaces") };

    node = begin_node(&o);
}

static str hosts_path(struct arena *a, str uid)
{
    JV_EACH (it, jv_at(fake_sandbox(fake, uid), "mounts"))
        if (str_eqz(jv_str(jv_at(it.value, "to"), S("")), "/etc/hosts"))
            return arena_str(a, jv_str(jv_at(it.value, "from"), S("")));
    return S("");
}

/* Whether the name stands for the address in that file; STR_NONE: for none. */
static bool resolves(str path, const char *name, str ip)
{
    FILE *f = fopen(path.p, "re");
    char line[4096];
    bool found = false;

    while (f && fgets(line, sizeof(line), f)) {
        str rest = str_trim(str_of(line));
        str at = str_cut(&rest, ' ');
        if (line[0] == '#')
            continue;
        while (rest.p)
            if (str_eqz(str_cut(&rest, ' '), name))
                found |= !ip.n || str_eq(at, ip);
    }
    if (f)
        fclose(f);
    return ip.n ? found : !found;
}

static void until_resolves(str path, const char *name, str ip, const char *what)
{
    WAIT(resolves(path, name, ip));
    ok(resolves(path, name, ip), "%s", what);
}

static void make_service(const char *name, const char *spec)
{
    AUTO(arena) struct arena *a = arena_new();

    make(a, &services,
         arena_printf(a,
                      "{'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': '%s'}, 'spec': "
                      "{'ports': [{'port': 80, 'targetPort': 8080}], %s}}",
                      name, spec)
             .p);
}

static void delete_service(const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = {
        .verb = KUBE_DELETE, .res = &services, .ns = S("default"), .name = str_of(name)
    };

    box_ask(&box, a, &r);
}

static str labelled(struct arena *a, const char *name, const char *app, const char *spec,
                    const char *more)
{
    str text = arena_printf(a,
                            "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s', "
                            "'labels': {'app': '%s'}}, 'spec': {'nodeName': 'here', %s 'containers'"
                            ": [{'name': 'c', 'image': 'busybox', 'command': ['sh', '-c', 'run']"
                            "%s}]}}",
                            name, app, spec, more);

    return meta_uid(make(a, &pods, text.p));
}

/* ---- */

static void pods_of_a_namespace_share_a_file(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str one, two;

    make_service("one", "'clusterIP': 'None', 'selector': {'app': 'one'}");
    one = labelled(a, "one", "one", "", "");
    two = labelled(a, "two", "two", "", "");
    UNTIL("one", "Running", "a pod runs", "status", "phase");
    UNTIL("two", "Running", "and another", "status", "phase");
    str hosts = hosts_path(a, one);
    is_str(hosts, arena_printf(a, "%s/names/hosts/default", data), "the namespace's file");
    is_str(hosts_path(a, two), hosts, "is read by both");
    ok(resolves(hosts, "one", ip_of(a, "one")), "the first has known its name since it started");
    ok(resolves(hosts, "two", ip_of(a, "two")), "and the second");
    until_resolves(hosts, "one.default.svc.cluster.local", ip_of(a, "one"), "services have names");
    until_resolves(hosts, "kubernetes.default.svc", S("10.96.0.1"), "the server, too");
    ok(resolves(hosts, "localhost", S("127.0.0.1")), "and localhost");
    make_service("late", "'clusterIP': 'None', 'selector': {'app': 'two'}");
    until_resolves(hosts, "late.default", ip_of(a, "two"), "one that comes later has its name");
    delete_service("late");
    until_resolves(hosts, "late.default", STR_NONE, "and loses it when it goes");
}

static void names_are_of_ready_pods(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str uid;

    make_service("slow", "'clusterIP': 'None', 'selector': {'app': 'slow'}");
    make_service(
        "slow-all",
        "'clusterIP': 'None', 'publishNotReadyAddresses': true, 'selector': {'app': 'slow'}");
    fake_exec_code(fake, 1);
    uid = labelled(a, "slow", "slow", "",
                   ", 'readinessProbe': {'exec': {'command': ['x']}, 'periodSeconds': 1}");
    UNTIL("slow", "Running", "a pod that is not ready runs", "status", "phase");
    str own = hosts_path(a, uid), all = arena_printf(a, "%s/names/hosts/default", data);
    ok(!str_eq(own, all), "it has a file of its own");
    until_resolves(all, "slow-all", ip_of(a, "slow"), "it is known where all are published");
    ok(resolves(all, "slow", STR_NONE), "but not by the service for those that are ready");
    ok(resolves(own, "slow", ip_of(a, "slow")), "it knows itself all the same");
    until_resolves(own, "one.default", ip_of(a, "one"), "and the others");
    fake_exec_code(fake, 0);
    until_resolves(all, "slow", ip_of(a, "slow"), "it is known once it is ready");
    delete ("slow", 0);
    until_gone("slow", "it goes");
    until_resolves(all, "slow", STR_NONE, "and its name with it");
    ok(access(own.p, F_OK) < 0, "and its file");
}

static void aliases_are_the_pods_own(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str uid = labelled(a, "alias", "x",
                       "'hostAliases': [{'ip': '192.0.2.1', 'hostnames': ['db', 'db.corp']}],", "");

    UNTIL("alias", "Running", "a pod with aliases", "status", "phase");
    str own = hosts_path(a, uid);
    ok(resolves(own, "db.corp", S("192.0.2.1")), "finds them");
    ok(resolves(arena_printf(a, "%s/names/hosts/default", data), "db", STR_NONE), "alone");
    delete ("alias", 0);
    until_gone("alias", "it goes");
}

static void routes_are_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str hosts = arena_printf(a, "%s/names/hosts/default", data);
    jv found = JV_ABSENT;

    make_service("web", "'clusterIP': '10.96.0.77', 'selector': {'app': 'one'}");
    until_resolves(hosts, "web", S("10.96.0.77"), "a ClusterIP service is known by its address");
    JV_EACH (it, routes ? jdoc_root(routes) : JV_ABSENT)
        if (str_eqz(jv_str(jv_at(it.value, "name"), S("")), "web"))
            found = jv_at(it.value, "ports");
    is_json(found,
            arena_printf(a,
                         "[{'protocol': 'TCP', 'port': 80, 'to': [{'ip': '%.*s', 'port': 8080}]}]",
                         STR_ARG(ip_of(a, "one")))
                .p,
            "and the network is told what is behind it");
}

static void a_new_node_goes_on(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str hosts = arena_printf(a, "%s/names/hosts/default", data);
    str stale = arena_printf(a, "%s/names/hosts/nobody", data);
    struct stat before, after;

    stat(hosts.p, &before);
    fake_keep(fake, data, meta_uid(get(a, &pods, "default", "one")));
    fake_keep(fake, data, meta_uid(get(a, &pods, "default", "two")));
    node_free(node);
    fclose(fopen(stale.p, "we"));
    ok(resolves(hosts, "one", ip_of(a, "one")), "names stay while there is no node");
    node_up();
    until_resolves(hosts, "one", ip_of(a, "one"), "and when there is one again");
    make_service("after", "'clusterIP': 'None', 'selector': {'app': 'one'}");
    until_resolves(hosts, "after", ip_of(a, "one"), "which goes on with them");
    stat(hosts.p, &after);
    ok(before.st_ino == after.st_ino, "in the same file");
    ok(access(stale.p, F_OK) < 0, "files of namespaces without pods are gone");
    is_int(adopted, 2, "the network is told of pods that ran before");
}

static void a_new_sandbox_has_a_new_address(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str uid = make_pod(a, "moves", "", "'command': ['sh']");

    UNTIL("moves", "Running", "a pod runs", "status", "phase");
    str first = ip_of(a, "moves");
    fake_kill(fake, uid);
    WAIT(jv_int(jv_at(container(a, "moves"), "restartCount"), 0) > 0);
    WAIT(!str_eq(ip_of(a, "moves"), first));
    jv status = jv_at(get(a, &pods, "default", "moves"), "status");
    is_int((int64_t)jv_len(jv_at(status, "podIPs")), 1, "it has one address");
    JV_EACH (it, jv_at(status, "podIPs"))
        is_str(jv_str(jv_at(it.value, "ip"), S("")), ip_of(a, "moves"), "the new one");
    delete ("moves", 1);
    until_gone("moves", "and it can be deleted");
}

static void addresses_are_given_back_after_a_death(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str dies = make_pod(a, "dies", "'restartPolicy': 'Never',", "'command': ['sh']");

    UNTIL("dies", "Running", "a pod runs", "status", "phase");
    ok(map_get(&held, dies) != NULL, "it has an address");
    node_free(node);
    fake_kill(fake, dies);
    node_up();
    UNTIL("dies", "Failed", "its sandbox died while there was no node", "status", "phase");
    ok(!map_get(&held, dies), "N2: the next one gives its address back");
    delete ("dies", 1);
    until_gone("dies", "and it can be deleted");
}

static void nothing_is_left(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str hosts = arena_printf(a, "%s/names/hosts/default", data);

    delete ("one", 0);
    delete ("two", 0);
    until_gone("one", "all pods go");
    until_gone("two", "all of them");
    is_int((int64_t)held.n, 0, "N2: no address is held");
    ok(access(hosts.p, F_OK) < 0, "N2: the last one takes the namespace's file with it");
}

int main(void)
{
    struct err e = { 0 };

    if (!mkdtemp(data))
        return 1;
    box_open(&box, NULL, NULL);
    fake = fake_new(box.loop);
    node_up();
    pods_of_a_namespace_share_a_file();
    names_are_of_ready_pods();
    aliases_are_the_pods_own();
    routes_are_told();
    a_new_node_goes_on();
    a_new_sandbox_has_a_new_address();
    addresses_are_given_back_after_a_death();
    nothing_is_left();
    node_free(node);
    for (int i = 0; i < 10; i++)
        box_turn(&box);
    fake_free(fake);
    box_close(&box);
    jdoc_unref(routes);
    map_done(&held);
    volumes_remove(data, &e);
    return tap_done();
}
