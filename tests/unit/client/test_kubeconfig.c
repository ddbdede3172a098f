/* Kubeconfig files: every field, merging, and what is said of bad ones. */

#include "client/config.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAME(cluster, user)                                                                    \
    "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context:\n"      \
    "    cluster: k\n    user: u\n    namespace: ns\nclusters:\n- name: k\n  cluster: " cluster \
    "\nusers:\n- name: u\n  user: " user "\n"
#define SERVER "{server: 'https://h:1'}"

static int reads(struct arena *a, const char *text, struct client_config *c, struct err *e)
{
    struct kubeconfig_file f = { "/etc/k/config", str_of(text) };

    return kubeconfig_read(a, &f, 1, NULL, c, e);
}

static void is_z(const char *got, const char *want, const char *what)
{
    if (!ok(got && want ? strcmp(got, want) == 0 : got == want, "%s", what))
        printf("# got  %s\n# want %s\n", got ? got : "(none)", want ? want : "(none)");
}

static void every_field_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct client_config c = { 0 };
    struct err e = { 0 };
    static const char text[] = FRAME(
        "{server: 'https://h:1/x/', tls-server-name: sni, proxy-url: 'http://p:3128',"
        " certificate-authority: ca.crt, certificate-authority-data: Y2E=,"
        " disable-compression: true,"
        " extensions: [{name: client.authentication.k8s.io/exec, extension: {aud: z}}]}",
        "{client-certificate: c.crt, client-certificate-data: Yw==, client-key: /abs/c.key,"
        " client-key-data: aw==, token: t, tokenFile: sub/token, as: other, as-uid: '7',"
        " as-groups: [g1, g2], as-user-extra: {scopes: [a, b]},"
        " exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/get, args: [x, y z],"
        "  env: [{name: A, value: b}], installHint: apt install it, provideClusterInfo: true,"
        "  interactiveMode: IfAvailable}}");

    ok(reads(a, text, &c, &e) == 0, "it reads: %s", e.msg);
    is_z(c.server, "https://h:1/x", "server, without the last slash");
    is_z(c.tls_server_name, "sni", "tls-server-name");
    is_z(c.proxy, "http://p:3128", "proxy-url");
    is_z(c.ca_file, "/etc/k/ca.crt", "certificate-authority, beside the file");
    is_str(c.ca, S("ca"), "certificate-authority-data");
    is_z(c.cert_file, "/etc/k/c.crt", "client-certificate");
    is_str(c.cert, S("c"), "client-certificate-data");
    is_z(c.key_file, "/abs/c.key", "client-key, an absolute path");
    is_str(c.key, S("k"), "client-key-data");
    is_z(c.token, "t", "token");
    is_z(c.token_file, "/etc/k/sub/token", "tokenFile");
    is_z(c.as, "other", "as");
    is_z(c.as_uid, "7", "as-uid");
    is_json(c.as_groups, "['g1','g2']", "as-groups");
    is_json(c.as_extra, "{'scopes':['a','b']}", "as-user-extra");
    is_z(c.ns, "ns", "namespace");
    is_z(c.from, "/etc/k/config, context c", "where it comes from");
    is_z(c.exec->command, "/etc/k/./bin/get", "exec.command with a path");
    is_json(c.exec->args, "['x','y z']", "exec.args");
    is_json(c.exec->env, "[{'name':'A','value':'b'}]", "exec.env");
    is_z(c.exec->install_hint, "apt install it", "exec.installHint");
    ok(c.exec->cluster_info, "exec.provideClusterInfo");
    is_json(c.exec->cluster_config, "{'aud':'z'}", "the cluster's extension");
    ok(!c.insecure, "insecure-skip-tls-verify is not assumed");
}

static void small_ones_are_enough(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct client_config c = { 0 };
    struct err e = { 0 };

    ok(reads(a, FRAME("{server: 'https://h', insecure-skip-tls-verify: true}", "{}"), &c, &e) == 0,
       "no credential at all: %s", e.msg);
    ok(c.insecure, "insecure");
    ok(reads(a, FRAME("{server: 'h:8080'}", "{username: a, password: b}"), &c, &e) == 0,
       "a host alone: %s", e.msg);
    is_z(c.server, "http://h:8080", "is plain HTTP");
    is_z(c.username, "a", "username");
    is_z(c.password, "b", "password");
    ok(reads(a, FRAME("{server: 'h:8080', certificate-authority: x}", "null"), &c, &e) == 0,
       "with a CA: %s", e.msg);
    is_z(c.server, "https://h:8080", "it is TLS");
    ok(reads(
           a,
           "{'apiVersion':'v1','kind':'Config','current-context':'c','contexts':[{'name':'c',"
           "'context':{'cluster':'k'}}],'clusters':[{'name':'k','cluster':{'server':'http://h'}}]}",
           &c, &e) == 0,
       "no user: %s", e.msg);
    ok(!c.token && !c.exec && !c.ns, "then nothing is said of one");
}

static void the_first_file_wins(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct client_config c = { 0 };
    struct err e = { 0 };
    struct kubeconfig_file files[] = {
        { "/a/one", S("") },
        { "/a/two", S("users:\n- name: u\n  user: {token: first}\n"
                      "contexts:\n- name: x\n  context: {cluster: k, user: u}\n") },
        { "/b/three",
          S("current-context: yy\nclusters:\n- name: k\n  cluster: {server: 'https://h',"
            " certificate-authority: ca}\nusers:\n- name: u\n  user: {token: second, as: me}\n"
            "contexts:\n- name: yy\n  context: {cluster: k, user: u}\n"
            "- name: x\n  context: {cluster: gone}\n") },
        { "/b/four", S("current-context: x\n") },
    };

    ok(kubeconfig_read(a, files, COUNT(files), NULL, &c, &e) == 0, "they read: %s", e.msg);
    is_z(c.from, "/b/three, context yy", "the first current-context counts");
    is_z(c.token, "first", "the first user of a name counts");
    is_z(c.as, NULL, "whole: nothing of the second is mixed in");
    is_z(c.ca_file, "/b/ca", "paths are relative to the file they stand in");
    ok(kubeconfig_read(a, files, COUNT(files), "x", &c, &e) == 0, "another context by name");
    is_z(c.from, "/a/two, context x", "the first of that name");
}

static void bad_files_are_told_by_file_line_and_field(void)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        { "a: [", "/etc/k/config:2:1: did not find expected node content" },
        { "- 1", "/etc/k/config: must hold one object" },
        { "a: 1\n---\nb: 2", "/etc/k/config: must hold one object" },
        { "kind: Pod", "/etc/k/config:1: kind: must be Config" },
        { "apiVersion: v2", "/etc/k/config:1: apiVersion: must be v1" },
        { "", "/etc/k/config: no current-context, and none was asked for" },
        { "current-context: z", "/etc/k/config: there is no context named z" },
        { "\nclusters: 1", "/etc/k/config:2: clusters: must be a list" },
        { "users:\n- 1", "/etc/k/config:2: users[0]: must be an object" },
        { "users:\n- name: 5", "/etc/k/config:2: users[0].name: must be text" },
        { "users:\n- name: a\n  user: [x]", "/etc/k/config:3: users[0].user: must be an object" },
        { "users:\n- name: a\n- name: a", "/etc/k/config:3: users[1]: has the name a of another" },
        { "current-context: c\ncontexts:\n- name: c\n  context: {user: x}",
          "/etc/k/config:4: contexts[0].context.cluster: must be given" },
        { "current-context: c\ncontexts:\n- name: c\n  context: {cluster: x}",
          "/etc/k/config:4: contexts[0].context.cluster: there is no cluster named x" },
        { "current-context: c\nclusters: [{name: x}]\ncontexts:\n- name: c\n"
          "  context: {cluster: x, user: z}",
          "/etc/k/config:5: contexts[0].context.user: there is no user named z" },
        { FRAME("{}", "{}"), "/etc/k/config:12: clusters[0].cluster.server: must be given" },
        { FRAME("{server: 5}", "{}"),
          "/etc/k/config:12: clusters[0].cluster.server: must be text" },
        { FRAME("{server: 'ftp://x'}", "{}"),
          "/etc/k/config:12: clusters[0].cluster.server: must be a http or https URL" },
        { FRAME("{server: 'http://x?y'}", "{}"),
          "/etc/k/config:12: clusters[0].cluster.server: must be a URL without query" },
        { FRAME("{server: 'http://x', certificate-authority-data: '*'}", "{}"),
          "/etc/k/config:12: clusters[0].cluster.certificate-authority-data: illegal base64 data at "
          "input byte 0" },
        { FRAME("{server: 'http://x', insecure-skip-tls-verify: 1}", "{}"),
          "/etc/k/config:12: clusters[0].cluster.insecure-skip-tls-verify: must be true or false" },
        { FRAME("{server: 'http://x', insecure-skip-tls-verify: true, certificate-authority: c}",
                "{}"),
          "/etc/k/config:12: clusters[0].cluster.insecure-skip-tls-verify: excludes a certificate "
          "authority" },
        { FRAME(SERVER, "{token: \"a\\nb\"}"),
          "/etc/k/config:15: users[0].user.token: must be one line of text" },
        { FRAME(SERVER, "{token: a, username: b}"),
          "/etc/k/config:15: users[0].user: has a token and a username; remove one" },
        { FRAME(SERVER, "{client-certificate: a}"),
          "/etc/k/config:15: users[0].user: a client certificate needs client-key or "
          "client-key-data" },
        { FRAME(SERVER, "{as-groups: [a]}"),
          "/etc/k/config:15: users[0].user: as-uid, as-groups and as-user-extra need as" },
        { FRAME(SERVER, "{as: x, as-groups: [1]}"),
          "/etc/k/config:15: users[0].user.as-groups: must be a list of texts" },
        { FRAME(SERVER, "{as: x, as-user-extra: {k: v}}"),
          "/etc/k/config:15: users[0].user.as-user-extra: must be an object of lists of texts" },
        { FRAME(SERVER, "{auth-provider: {name: gcp}}"),
          "/etc/k/config:15: users[0].user.auth-provider: was removed from Kubernetes; use exec" },
        { FRAME(SERVER, "{exec: x}"), "/etc/k/config:15: users[0].user.exec: must be an object" },
        { FRAME(SERVER, "{exec: {command: x}}"),
          "/etc/k/config:15: users[0].user.exec.apiVersion: must be "
          "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1" },
        { FRAME(SERVER, "{exec: {apiVersion: client.authentication.k8s.io/v1}}"),
          "/etc/k/config:15: users[0].user.exec.command: must be given" },
        { FRAME(SERVER, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x,"
                        " args: [[]]}}"),
          "/etc/k/config:15: users[0].user.exec.args: must be a list of texts" },
        { FRAME(SERVER, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x,"
                        " env: [{value: b}]}}"),
          "/etc/k/config:15: users[0].user.exec.env[0]: must have a name and a value" },
        { FRAME(SERVER, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x,"
                        " interactiveMode: Always}}"),
          "/etc/k/config:15: users[0].user.exec.interactiveMode: is Always, but there is no "
          "terminal to ask on" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct client_config c = { 0 };
        struct err e = { 0 };
        is_int(reads(a, rows[i].text, &c, &e), -1, "refused");
        is_z(e.msg, rows[i].want, "and said why");
    }
}

/* ---- where files are */

static char dir[] = "/tmp/client-config-XXXXXX";

static const char *put(struct arena *a, const char *name, const char *text)
{
    const char *path = arena_printf(a, "%s/%s", dir, name).p;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (write(fd, text, strlen(text)) < 0)
        printf("Bail out! cannot write\n");
    close(fd);
    return path;
}

static void places_are_tried_in_order(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct client_config c = { 0 };
    struct err e = { 0 };
    struct client_from from = { .home = dir, .account_dir = dir };

    is_int(client_config_load(a, &from, &c, &e), -1, "with nothing there it fails");
    is_z(e.msg,
         "no kubeconfig: give --kubeconfig FILE or set KUBECONFIG (there is no ~/.kube/config, and "
         "this is not a pod)",
         "and says what to do");
    from.service_host = "fd00::1";
    from.service_port = "6443";
    is_int(client_config_load(a, &from, &c, &e), -1, "a pod without a token fails");
    ok(strstr(e.msg, "/token: No such file") != NULL, "and says which: %s", e.msg);
    put(a, "token", "secret\n");
    put(a, "ca.crt", "pem");
    put(a, "namespace", "mine\n");
    is_int(client_config_load(a, &from, &c, &e), 0, "a pod's account is enough");
    is_z(c.server, "https://[fd00::1]:6443", "the server");
    is_z(c.ns, "mine", "the namespace");
    ok(str_ends(str_of(c.token_file), S("/token")), "the token file");
    mkdir(arena_printf(a, "%s/.kube", dir).p, 0700);
    put(a, ".kube/config", FRAME("{server: 'http://home'}", "{}"));
    is_int(client_config_load(a, &from, &c, &e), 0, "~/.kube/config comes before it");
    is_z(c.server, "http://home", "it does");
    const char *one = put(a, "one", "current-context: c\n");
    const char *two = put(a, "two", FRAME("{server: 'http://two'}", "{}"));
    from.env_kubeconfig = arena_printf(a, "%s::%s/missing:%s", one, dir, two).p;
    is_int(client_config_load(a, &from, &c, &e), 0,
           "KUBECONFIG before that, missing files skipped");
    is_z(c.server, "http://two", "it does");
    from.file = arena_printf(a, "%s/missing", dir).p;
    is_int(client_config_load(a, &from, &c, &e), -1, "--kubeconfig must be there");
    ok(strstr(e.msg, "there is no such file") != NULL, "it says: %s", e.msg);
    from.file = put(a, "bad", FRAME("{server: 'http://x', certificate-authority: nowhere}", "{}"));
    is_int(client_config_load(a, &from, &c, &e), -1, "as must what it names");
    ok(strstr(e.msg, "certificate-authority") && strstr(e.msg, "nowhere: No such file"),
       "it says: %s", e.msg);
}

int main(void)
{
    every_field_is_read();
    small_ones_are_enough();
    the_first_file_wins();
    bad_files_are_told_by_file_line_and_field();
    if (!mkdtemp(dir))
        return 1;
    places_are_tried_in_order();
    AUTO(arena) struct arena *a = arena_new();
    if (system(arena_printf(a, "rm -r %s", dir).p))
        printf("# %s stays\n", dir);
    return tap_done();
}
