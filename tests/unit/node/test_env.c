/* Environments as kubelet makes them. */

#include "node/env.h"
#include "tap.h"

static jv object;
static jv nul;

static jv find(void *ctx, str ns, str name)
{
    (void)ctx;
    (void)ns;
    return str_eq(name, S("m")) ? object : str_eq(name, S("nul")) ? nul : JV_ABSENT;
}

static void references_expand(void)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "$(A)", "x" },        { "a$(A)b$(A)", "axbx" }, { "$$(A)", "$(A)" },
        { "$$$(A)", "$x" },     { "$(B)", "$(B)" },       { "$", "$" },
        { "$(A", "$(A" },       { "$A", "$A" },           { "$$$$", "$$" },
        { "$(E)", "" },         { "$()", "$()" },         { "$(A)$", "x$" },
        { "$(S)", "service" },  { "no", "no" },           { "$(A)(B)", "x(B)" },
        { "$((A))", "$((A))" },
    };
    AUTO(arena) struct arena *a = arena_new();
    jv env = jobj(a, { "A", jstrz(a, "x") }, { "E", jstrz(a, "") });
    jv more = jobj(a, { "S", jstrz(a, "service") }, { "A", jstrz(a, "no") });

    for (size_t i = 0; i < COUNT(rows); i++)
        is_str(env_expand(a, str_of(rows[i].in), env, more), str_of(rows[i].out), rows[i].in);
}

static void make_is(const char *container, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'metadata': {'name': 'p', 'namespace': 'd', 'uid': 'u', 'labels': {'a/b': 'c', 'A': "
          "'q\\n'}, 'annotations': {}}, 'spec': {'nodeName': 'n', 'serviceAccountName': 'sa'}}");
    AUTO(jdoc) struct jdoc *c = J(container), *data = J("{'data': {'k': 'dg==', 'a=b': 'eA=='}}");
    AUTO(jdoc)
    struct jdoc *services =
        J("[{'metadata': {'name': 'kubernetes', 'namespace': 'default'}, 'spec': {'clusterIP': "
          "'10.0.0.1', 'ports': [{'name': 'https', 'port': 443}]}}, {'metadata': {'name': 'w-0', "
          "'namespace': 'd'}, 'spec': {'clusterIP': 'None', 'ports': [{'port': 1}]}}]");
    AUTO(jdoc) struct jdoc *alloc = J("{'cpu': '2500m', 'memory': '4Gi'}");
    AUTO(buf) struct buf skipped = { 0 };
    struct env_of of = { .fields = { jdoc_root(pod), S("10.1.0.2"), S("10.0.0.9"),
                                     jdoc_root(alloc) },
                         .container = jdoc_root(c),
                         .base = jobj(a, { "PATH", jstrz(a, "/bin") }),
                         .services = jdoc_root(services),
                         .config = find,
                         .secret = find };
    struct err e = { 0 };
    jv env;

    AUTO(jdoc) struct jdoc *bad = J("{'data': {'k': 'YQBi'}}");
    object = jdoc_root(data);
    nul = jdoc_root(bad);
    if (env_make(a, &of, &env, &skipped, &e) < 0) {
        is_str(str_of(e.msg), str_of(want), what);
        return;
    }
    struct jbuild b = jb_obj(a);
    JV_EACH (it, env)
        if (!str_starts(it.key, S("KUBERNETES_")) && !str_eq(it.key, S("PATH")))
            jb_set(&b, it.key, it.value);
    if (skipped.n)
        jb_set(&b, S("skipped"), jstr(a, buf_str(&skipped)));
    is_json(jb_done(&b), want, what);
    is_str(jv_str(jv_at(env, "KUBERNETES_SERVICE_HOST"), S("")), S("10.0.0.1"),
           "the API's address");
    is_str(jv_str(jv_at(env, "PATH"), S("")), S("/bin"), "what the image brings is there");
}

static void makes_env(void)
{
    make_is("{'env': [{'name': 'A', 'value': '1'}, {'name': 'B', 'value': '$(A)$(C)'}, {'name': "
            "'C', 'value': '$(KUBERNETES_SERVICE_PORT)'}, {'name': 'A', 'value': '2'}]}",
            "{'A': '2', 'B': '1$(C)', 'C': '443'}", "references see what stands before them");
    make_is("{'envFrom': [{'prefix': 'X_', 'configMapRef': {'name': 'm'}}, {'configMapRef': "
            "{'name': 'no', 'optional': true}}], 'env': [{'name': 'Y', 'value': '$(X_k)'}]}",
            "{'X_k': 'dg==', 'Y': 'dg==', 'skipped': 'X_a=b'}", "envFrom a config map");
    make_is("{'envFrom': [{'secretRef': {'name': 'm'}}]}", "{'k': 'v', 'skipped': 'a=b'}",
            "envFrom a secret is decoded");
    make_is("{'envFrom': [{'secretRef': {'name': 'no'}}]}", "secret \"no\" not found",
            "a secret that is not there");
    make_is("{'env': [{'name': 'A', 'valueFrom': {'configMapKeyRef': {'name': 'm', 'key': 'x'}}}]}",
            "couldn't find key x in ConfigMap d/m", "a key that is not there");
    make_is("{'env': [{'name': 'A', 'valueFrom': {'secretKeyRef': {'name': 'm', 'key': 'k'}}}, "
            "{'name': 'B', 'valueFrom': {'secretKeyRef': {'name': 'm', 'key': 'z', 'optional': "
            "true}}}]}",
            "{'A': 'v'}", "keys of secrets, one optional");
    make_is(
        "{'env': [{'name': 'A', 'value': 'b\\u0000c'}]}",
        "environment variable A has a NUL character in its value, which programs cannot receive",
        "NUL");
    make_is(
        "{'env': [{'name': 'A', 'valueFrom': {'secretKeyRef': {'name': 'nul', 'key': 'k'}}}]}",
        "environment variable A has a NUL character in its value, which programs cannot receive",
        "NUL of a secret");
    make_is(
        "{'envFrom': [{'secretRef': {'name': 'nul'}}]}",
        "environment variable k has a NUL character in its value, which programs cannot receive",
        "NUL of a whole secret");
    make_is("{'env': [{'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.uid'}}}, "
            "{'name': 'N', 'valueFrom': {'resourceFieldRef': {'resource': 'limits.cpu'}}}]}",
            "{'A': 'u', 'N': '3'}", "the downward API");
}

static void makes_fields(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'metadata': {'name': 'p', 'namespace': 'd', 'uid': 'u', 'labels': {'b': 'c', 'a': "
          "'x'}}, 'spec': {'nodeName': 'n', 'containers': [{'name': 'c', 'resources': {'limits': "
          "{'cpu': '1500m', 'memory': '1000Ki'}, 'requests': {'cpu': '10m'}}}]}}");
    AUTO(jdoc) struct jdoc *alloc = J("{'cpu': '8', 'ephemeral-storage': '10Gi'}");
    struct fields_of f = { jdoc_root(pod), S("1.2.3.4"), S("5.6.7.8"), jdoc_root(alloc) };
    static const struct {
        const char *path, *want;
    } rows[] = {
        { "metadata.name", "p" },
        { "metadata.namespace", "d" },
        { "metadata.uid", "u" },
        { "spec.nodeName", "n" },
        { "status.podIP", "1.2.3.4" },
        { "status.hostIP", "5.6.7.8" },
        { "metadata.labels['b']", "c" },
        { "metadata.labels['z']", "" },
        { "metadata.annotations['a']", "" },
        { "metadata.labels", "a=\"x\"\nb=\"c\"" },
        { "spec.x", NULL },
    };
    static const struct {
        const char *ref, *want;
    } amounts[] = {
        { "{'resource': 'limits.cpu'}", "2" },
        { "{'resource': 'limits.cpu', 'divisor': '1m'}", "1500" },
        { "{'resource': 'limits.memory', 'divisor': '1Mi'}", "1" },
        { "{'resource': 'limits.memory', 'divisor': '0'}", "1024000" },
        { "{'resource': 'requests.cpu'}", "1" },
        { "{'resource': 'requests.memory'}", "0" },
        { "{'resource': 'limits.ephemeral-storage', 'divisor': '1Gi'}", "10" },
    };
    struct err e = { 0 };
    str out;

    for (size_t i = 0; i < COUNT(rows); i++)
        if (fields_get(a, &f, str_of(rows[i].path), &out, &e) < 0)
            ok(!rows[i].want, "%s: %s", rows[i].path, e.msg);
        else
            is_str(out, str_of(rows[i].want), rows[i].path);
    for (size_t i = 0; i < COUNT(amounts); i++) {
        AUTO(jdoc) struct jdoc *ref = J(amounts[i].ref);
        jv c = jv_index(jv_at(jdoc_root(pod), "spec", "containers"), 0);
        is_int(fields_resource(a, &f, c, jdoc_root(ref), &out, &e), 0, amounts[i].ref);
        is_str(out, str_of(amounts[i].want), amounts[i].ref);
    }
}

static void links_services(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J("{'metadata': {'namespace': 'd'}, 'spec': {}}");
    AUTO(jdoc)
    struct jdoc *off = J("{'metadata': {'namespace': 'd'}, 'spec': {'enableServiceLinks': false}}");
    AUTO(jdoc)
    struct jdoc *services =
        J("[{'metadata': {'name': 'my-db', 'namespace': 'd'}, 'spec': {'clusterIP': '10.0.0.2', "
          "'ports': [{'name': 'sql-x', 'port': 5432}, {'port': 53, 'protocol': 'UDP'}]}}, "
          "{'metadata': {'name': 'other', 'namespace': 'e'}, 'spec': {'clusterIP': '10.0.0.3', "
          "'ports': [{'port': 1}]}}]");

    is_json(env_services(a, jdoc_root(pod), jdoc_root(services)),
            "{'MY_DB_SERVICE_HOST': '10.0.0.2', 'MY_DB_SERVICE_PORT': '5432', "
            "'MY_DB_SERVICE_PORT_SQL_X': '5432', 'MY_DB_PORT': 'tcp://10.0.0.2:5432', "
            "'MY_DB_PORT_5432_TCP': 'tcp://10.0.0.2:5432', 'MY_DB_PORT_5432_TCP_PROTO': 'tcp', "
            "'MY_DB_PORT_5432_TCP_PORT': '5432', 'MY_DB_PORT_5432_TCP_ADDR': '10.0.0.2', "
            "'MY_DB_PORT_53_UDP': 'udp://10.0.0.2:53', 'MY_DB_PORT_53_UDP_PROTO': 'udp', "
            "'MY_DB_PORT_53_UDP_PORT': '53', 'MY_DB_PORT_53_UDP_ADDR': '10.0.0.2'}",
            "links to the namespace's services");
    is_json(env_services(a, jdoc_root(off), jdoc_root(services)), "{}", "unless they are off");
}

int main(void)
{
    references_expand();
    makes_env();
    makes_fields();
    links_services();
    return tap_done();
}
