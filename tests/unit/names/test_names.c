/* Golden worlds and the lines of hosts files that are true in them:
 * tests/golden/names/NNN-name.yaml, two documents: the world, and {lines, routes}. */

#include "base/yaml.h"
#include "kube/meta.h"
#include "names/names.h"
#include "slurp.h"

#include <dirent.h>

static struct names_world world(struct arena *a, jv v)
{
    struct names_pod *pods = ARENA_ARRAY(a, struct names_pod, jv_len(jv_at(v, "pods")) + 1);
    struct names_world w = { .ns = jv_str(jv_at(v, "ns"), S("")),
                             .services = jv_at(v, "services"),
                             .endpoints = jv_at(v, "endpoints"),
                             .slices = jv_at(v, "slices"),
                             .pods = pods,
                             .cluster_ips = jv_bool(jv_at(v, "cluster_ips"), false),
                             .api_ip = jv_str(jv_at(v, "api_ip"), S("")),
                             .api_port = jv_int(jv_at(v, "api_port"), 0) };

    JV_EACH (it, jv_at(v, "pods"))
        pods[w.n++] = (struct names_pod){ .pod = jv_at(it.value, "pod"),
                                          .ip = jv_str(jv_at(it.value, "ip"), S("")),
                                          .ready = jv_bool(jv_at(it.value, "ready"), false),
                                          .hidden = jv_bool(jv_at(it.value, "hidden"), false) };
    return w;
}

static void golden(const char *dir, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct yaml_docs docs = { 0 };
    struct names_lines lines = { 0 };
    struct err e = { 0 };
    str text = slurp(a, arena_printf(a, "%s/%s", dir, name).p);

    if (yaml_parse(a, str_of(name), text, NULL, &docs, &e) < 0 || docs.n != 2) {
        ok(false, "%s: two documents: %s", name, e.msg);
        return;
    }
    struct names_world w = world(a, docs.at[0].root);
    struct jbuild b = jb_arr(a);
    names_lines(a, &w, &lines);
    for (size_t i = 0; i < lines.n; i++)
        jb_push(&b, jstr(a, lines.at[i]));
    vec_done(&lines);
    jv got = jobj(a, { "lines", jb_done(&b) }, { "routes", names_routes(a, &w) });
    if (!ok(jv_equal(got, docs.at[1].root), "%s", name)) {
        AUTO(buf) struct buf out = { 0 };
        yaml_print(&out, got);
        printf("%.*s", (int)out.n, out.p);
    }
}

static void lines_abroad_lack_the_short_name(void)
{
    is_str(names_line_abroad(S("10.0.0.1 a.d.svc a.d a")), S("10.0.0.1 a.d.svc a.d"),
           "abroad a line has no short name");
    is_str(names_line_abroad(S("10.0.0.1 a")), S(""), "one without any other is not there");
}

static void pods_know_themselves(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *plain = J("{'metadata': {'name': 'p', 'namespace': 'd'}, 'spec': {}}");
    AUTO(jdoc)
    struct jdoc *named = J("{'metadata': {'name': 'p', 'namespace': 'd', 'labels': "
                           "{'app': 'x'}}, 'spec': {'hostname': 'h', 'subdomain': 's'}}");
    AUTO(jdoc)
    struct jdoc *headless = J("{'metadata': {'name': 'h', 'namespace': 'd'}, 'spec': "
                              "{'clusterIP': 'None', 'selector': {'app': 'x'}}}");
    AUTO(jdoc)
    struct jdoc *other = J("{'metadata': {'name': 'h', 'namespace': 'd'}, 'spec': "
                           "{'clusterIP': 'None', 'selector': {'app': 'y'}}}");

    is_str(names_own_line(a, jdoc_root(plain), S("10.0.0.1")), S("10.0.0.1 p"), "by its name");
    is_str(names_own_line(a, jdoc_root(named), S("10.0.0.1")),
           S("10.0.0.1 h.s.d.svc.cluster.local h"), "by its host name and domain");
    is_str(names_first_line(a, jdoc_root(named), S("10.0.0.1"), JV_ABSENT),
           S("10.0.0.1 h.s.d.svc.cluster.local h"), "first known by that");
    is_str(names_first_line(a, jdoc_root(named), S("10.0.0.1"), jdoc_root(headless)),
           S("10.0.0.1 h.d.svc.cluster.local h.d.svc h.d h"), "or as its service will have it");
    is_str(names_first_line(a, jdoc_root(named), S("10.0.0.1"), jdoc_root(other)), S(""),
           "a service that stands for others is left alone");
    AUTO(jdoc)
    struct jdoc *lengthy =
        J("{'metadata': {'name': 'a12345678901234567890123456789012345678901234567890123456789-."
          "tail', 'namespace': 'd'}}");
    is_str(names_hostname(jdoc_root(lengthy)),
           S("a12345678901234567890123456789012345678901234567890123456789-.t"), "63 characters");
}

/* A job of many replicas: each pod is compared with few services. */
static void many_services_are_matched_quickly(void)
{
    enum { N = 3000 };
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild services = jb_arr(a);
    struct names_pod *pods = ARENA_ARRAY(a, struct names_pod, N);
    struct names_lines lines = { 0 };

    for (int i = 0; i < N; i++) {
        str name = arena_printf(a, "j-worker-%d", i), index = arena_printf(a, "%d", i);
        jv labels = jobj(a, { "job", jstrz(a, "j") }, { "type", jstrz(a, "worker") },
                         { "index", jstr(a, index) });
        jv meta = jobj(a, { "name", jstr(a, name) }, { "namespace", jstrz(a, "d") },
                       { "labels", labels });
        jb_push(&services, jobj(a, { "metadata", meta },
                                { "spec", jobj(a, { "clusterIP", jstrz(a, "None") },
                                               { "selector", labels }) }));
        pods[i] = (struct names_pod){ .pod = jobj(a, { "metadata", meta }),
                                      .ip = arena_printf(a, "10.42.%d.%d", i / 250, i % 250),
                                      .ready = true };
    }
    struct names_world w = { .ns = S("d"), .services = jb_done(&services), .pods = pods, .n = N };
    names_lines(a, &w, &lines);
    is_int((int64_t)lines.n, N, "a line for each of many");
    vec_done(&lines);
}

static void resolv_conf_is_what_the_pod_asks_for(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str base = S("# here\nnameserver 127.0.0.53\nnameserver 192.0.2.1\nsearch corp\n");
    AUTO(jdoc) struct jdoc *plain = J("{'spec': {'dnsPolicy': 'ClusterFirst'}}");
    AUTO(jdoc)
    struct jdoc *none =
        J("{'spec': {'dnsPolicy': 'None', 'dnsConfig': {'nameservers': ['192.0.2.9', '192.0.2.8'], "
          "'searches': ['a.b', 'c'], 'options': [{'name': 'ndots', 'value': '2'}, {'name': "
          "'edns0'}]}}}");
    AUTO(jdoc) struct jdoc *more = J("{'spec': {'dnsConfig': {'nameservers': ['192.0.2.9']}}}");

    is_str(names_resolv(a, jdoc_root(plain), base, false),
           S("# here\nnameserver 192.0.2.1\nsearch corp\n"), "without what is on the loopback");
    is_str(names_resolv(a, jdoc_root(plain), base, true), base, "unless that is the machine's");
    is_str(names_resolv(a, jdoc_root(none), base, false),
           S("nameserver 192.0.2.9\nnameserver 192.0.2.8\nsearch a.b c\noptions ndots:2 edns0\n"),
           "its own only");
    is_str(names_resolv(a, jdoc_root(more), S("nameserver 192.0.2.1"), false),
           S("nameserver 192.0.2.1\nnameserver 192.0.2.9\n"), "or more of them");
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int n = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;

    for (int i = 0; i < n; i++) {
        if (str_ends(str_of(names[i]->d_name), S(".yaml")))
            golden(argv[1], names[i]->d_name);
        free(names[i]);
    }
    free(names);
    ok(n > 0, "there are cases");
    lines_abroad_lack_the_short_name();
    pods_know_themselves();
    many_services_are_matched_quickly();
    resolv_conf_is_what_the_pod_asks_for();
    return tap_done();
}
