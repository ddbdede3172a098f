/* Token files that change, and plugins that print credentials. */

#include "faulty.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
#define REFUSED  "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"
#define V1       "client.authentication.k8s.io/v1"

static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
static const struct kube_request list = { .verb = KUBE_LIST, .res = &pods };

struct rig {
    struct arena *a;
    struct loop *loop;
    struct faulty f;
    struct client_config cfg;
    struct client *client;
    char dir[32];
};

static const char *put(struct rig *r, const char *name, const char *text)
{
    const char *path = arena_printf(r->a, "%s/%s", r->dir, name).p;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

    if (write(fd, text, strlen(text)) < 0)
        abort();
    close(fd);
    return path;
}

static void new_client(struct rig *r)
{
    struct err e = { 0 };

    client_free(r->client);
    r->cfg.server = arena_printf(r->a, "http://127.0.0.1:%d", r->f.port).p;
    if (client_new(&r->client, r->loop, &r->cfg, &e) < 0)
        printf("Bail out! %s\n", e.msg);
}

static struct got ask(struct rig *r)
{
    struct got g = { 0 };

    kube_send(client_api(r->client), &list, on_got, &g);
    is_int(g.n, 0, "nothing from within");
    ok(run_until(r->loop, &g.n, 1, 60000), "an answer comes");
    return g;
}

static void is_sent(struct rig *r, const char *token, const char *what)
{
    const char *want = arena_printf(r->a, "\r\nAuthorization: Bearer %s\r\n", token).p;

    ok(str_contains(buf_str(&r->f.text), str_of(want)), "%s", what);
}

static void token_files_may_change(struct rig *r)
{
    const char *path = put(r, "token", "one\n");

    r->cfg.token_file = path;
    r->cfg.token = "not this";
    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 }, { REFUSED, KEEP, 0, 0 }, { REFUSED, KEEP, 0, 0 },
           { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    is_int(g.status, 200, "the token of the file");
    is_sent(r, "one", "is sent");
    g.status = 0;
    got_done(&g);
    g = ask(r);
    is_int(g.err.code, ERR_UNAUTHORIZED, "refused, and the file has no other: told");
    is_int(r->f.asked, 2, "at once");
    got_done(&g);
    put(r, "new", "second");
    rename(arena_printf(r->a, "%s/new", r->dir).p, path);
    buf_clear(&r->f.text);
    g = ask(r);
    is_int(g.status, 200, "refused, and the file has another: tried again");
    is_int(r->f.asked, 4, "once");
    is_sent(r, "one", "first the old one");
    is_sent(r, "second", "then the new one");
    got_done(&g);
    unlink(path);
    SCRIPT(&r->f, { REFUSED, KEEP, 0, 0 });
    g = ask(r);
    is_int(g.err.code, ERR_UNAUTHORIZED, "a file that is gone leaves the last token");
    got_done(&g);
    new_client(r);
    g = ask(r);
    is_int(g.err.code, ERR_UNAUTHORIZED, g.err.msg);
    is_int(g.status, 0, "without any token nothing is sent");
    got_done(&g);
    put(r, "token", "bad\ntoken");
    g = ask(r);
    is_int(g.err.code, ERR_UNAUTHORIZED, g.err.msg);
    got_done(&g);
    r->cfg = (struct client_config){ 0 };
}

/* As a pod's token is renewed long before the old one is refused. */
static void a_token_file_is_read_again_in_time(struct rig *r)
{
    struct step good[4] = { { OK_REPLY, KEEP, 0, 0 } };
    int zero = 0;

    good[1] = good[2] = good[3] = good[0];
    r->cfg.token_file = put(r, "token", "early");
    new_client(r);
    faulty_script(&r->f, good, COUNT(good));
    buf_clear(&r->f.text);
    struct got g = ask(r);
    got_done(&g);
    is_sent(r, "early", "the token of the file is sent");
    put(r, "token", "renewed");
    run_until(r->loop, &zero, 1, 10 * 1000 + 100);
    g = ask(r);
    got_done(&g);
    is_sent(r, "renewed", "and a new one soon, though nobody refused the old one");
    r->cfg = (struct client_config){ 0 };
}

static void watches_find_new_tokens_too(struct rig *r)
{
    struct seen s = { 0 };
    struct kube_watcher w = watcher(&s);

    r->cfg.token_file = put(r, "token", "old");
    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 }, { REFUSED, KEEP, 0, 0 },
           { "HTTP/1.1 200 OK\r\n\r\n{\"type\":\"ADDED\",\"object\":{}}\n", CLOSE, 0, 0 });
    struct got g = ask(r);
    got_done(&g);
    put(r, "token", "newer");
    kube_watch(client_api(r->client), &(struct kube_request){ .verb = KUBE_WATCH, .res = &pods },
               &w);
    ok(run_until(r->loop, &s.ends, 1, 60000) && !s.failed && s.events == 1,
       "a watch that is refused is opened again with the new token");
    is_sent(r, "newer", "it is");
    seen_done(&s);
    r->cfg = (struct client_config){ 0 };
}

/* More than may run at once, and a credential that fails meanwhile: all are told. */
static void none_is_forgotten(struct rig *r)
{
    enum { N = 600 };
    static struct got g[N];
    int told = 0;

    r->cfg.token_file = put(r, "token", "");
    new_client(r);
    for (int i = 0; i < N; i++)
        kube_send(client_api(r->client), &list, on_got, &g[i]);
    for (int i = 0; i < N; i++) {
        run_until(r->loop, &g[i].n, 1, 60000);
        told += g[i].err.code == ERR_UNAUTHORIZED;
        got_done(&g[i]);
    }
    is_int(told, N, "every call is told that there is no credential");
    r->cfg = (struct client_config){ 0 };
}

static struct client_exec plugin(struct rig *r, const char *script)
{
    return (struct client_exec){
        .api_version = V1,
        .command = put(r, "plugin", script),
        .install_hint = "Get it somewhere.",
    };
}

#define COUNTED                                                              \
    "#!/bin/sh\necho x >>${0%/*}/runs\nn=$(wc -l <${0%/*}/runs)\n"           \
    "echo \"{\\\"kind\\\":\\\"ExecCredential\\\",\\\"apiVersion\\\":\\\"" V1 \
    "\\\",\\\"status\\\":{\\\"token\\\":\\\"run-$n-$1-$A\\\"}}\"\n"          \
    "echo \"$KUBERNETES_EXEC_INFO\" >${0%/*}/info\n"

static void plugins_are_run_once_for_many(struct rig *r)
{
    AUTO(jdoc) struct jdoc *args = J("['arg']");
    AUTO(jdoc) struct jdoc *env = J("[{'name':'A','value':'env'}]");
    AUTO(jdoc) struct jdoc *config = J("{'k':'v'}");
    struct client_exec x = plugin(r, COUNTED);
    struct got g[5] = { 0 };
    str info = STR_NONE;

    x.args = jdoc_root(args);
    x.env = jdoc_root(env);
    x.cluster_info = true;
    x.cluster_config = jdoc_root(config);
    r->cfg.exec = &x;
    r->cfg.ca = S("pem");
    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 },
           { OK_REPLY, KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 }, { REFUSED, KEEP, 0, 0 },
           { OK_REPLY, KEEP, 0, 0 }, { REFUSED, KEEP, 0, 0 }, { REFUSED, KEEP, 0, 0 });
    for (size_t i = 0; i < COUNT(g); i++)
        kube_send(client_api(r->client), &list, on_got, &g[i]);
    for (size_t i = 0; i < COUNT(g); i++) {
        run_until(r->loop, &g[i].n, 1, 60000);
        is_int(g[i].status, 200, "one of many is answered");
        got_done(&g[i]);
    }
    is_sent(r, "run-1-arg-env", "with the token, made with arguments and environment");
    ok(!str_contains(buf_str(&r->f.text), S("run-2")), "it was run once");
    ok(client_file_read(r->a, arena_printf(r->a, "%s/info", r->dir).p, &info, NULL) == 0,
       "it was told of the cluster");
    is_str(str_trim(info),
           arena_printf(r->a,
                        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                        "\",\"spec\":{\"cluster\":{\"server\":\"%s\","
                        "\"certificate-authority-data\":\"cGVt\",\"config\":{\"k\":\"v\"}},"
                        "\"interactive\":false}}",
                        r->cfg.server),
           "whole");
    struct got h = ask(r);
    is_int(h.status, 200, "401 runs it again");
    is_sent(r, "run-2-arg-env", "and its new token is used");
    got_done(&h);
    h = ask(r);
    is_int(h.err.code, ERR_UNAUTHORIZED, "but only once for each request");
    is_int(r->f.asked, 9, "which is sent twice");
    got_done(&h);
    r->cfg = (struct client_config){ 0 };
}

static void many_wait_for_a_plugin_that_fails(struct rig *r)
{
    enum { N = 600 };
    static struct got g[N];
    static struct step steps[N];
    struct client_exec x =
        plugin(r, "#!/bin/sh\ntest ! -e ${0%/*}/spent || exit 1\ntouch ${0%/*}/spent\n"
                  "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                  "\",\"status\":{\"token\":\"spent\"}}'\n");
    int told = 0;

    for (int i = 0; i < N; i++)
        steps[i] = (struct step){ REFUSED, KEEP, 0, 0 };
    r->cfg.exec = &x;
    new_client(r);
    faulty_script(&r->f, steps, N);
    for (int i = 0; i < N; i++)
        kube_send(client_api(r->client), &list, on_got, &g[i]);
    for (int i = 0; i < N; i++) {
        run_until(r->loop, &g[i].n, 1, 60000);
        told += g[i].err.code == ERR_UNAUTHORIZED;
        got_done(&g[i]);
    }
    is_int(told, N, "all are told when the first credential is refused and there is no second");
    r->cfg = (struct client_config){ 0 };
}

/* Two requests while what the plugin gave is good for so long; false: they took too long for it. */
static bool served_twice(struct rig *r, int life_s)
{
    static const struct step good[] = { { OK_REPLY, KEEP, 0, 0 },
                                        { OK_REPLY, KEEP, 0, 0 },
                                        { OK_REPLY, KEEP, 0, 0 } };
    int64_t end_s = wall_now_ms() / 1000 + life_s;

    new_client(r);
    faulty_script(&r->f, good, COUNT(good)); /* with one more, for the caller */
    for (int i = 0; i < 2; i++) {
        struct got g = ask(r);
        got_done(&g);
    }
    return wall_now_ms() / 1000 < end_s;
}

static void plugins_are_run_again_after_expiry(struct rig *r)
{
    int life_s = 2;
    int zero = 0;

    for (;; life_s *= 3) { /* a machine that is busy gets more time */
        struct client_exec x =
            plugin(r, arena_printf(r->a,
                                   "#!/bin/sh\necho x >>${0%%/*}/later-%d\n"
                                   "n=$(wc -l <${0%%/*}/later-%d)\n"
                                   "until=$(date -u -d '+%d sec' +%%FT%%TZ)\n"
                                   "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                                   "\",\"status\":{\"token\":\"later-'$n'\","
                                   "\"expirationTimestamp\":\"'$until'\"}}'\n",
                                   life_s, life_s, life_s)
                          .p);
        r->cfg.exec = &x;
        if (!served_twice(r, life_s) && life_s < 50)
            continue;
        ok(!str_contains(buf_str(&r->f.text), S("later-2")), "it serves while it is good");
        run_until(r->loop, &zero, 1, life_s * 1000 + 100);
        struct got g = ask(r);
        is_int(g.status, 200, "after that there is another");
        is_sent(r, "later-2", "from a second run");
        got_done(&g);
        break;
    }
    r->cfg = (struct client_config){ 0 };
}

static void bad_plugins_are_told(struct rig *r)
{
    static const struct {
        const char *script;
        const char *want;
    } rows[] = {
        { "#!/bin/sh\nexit 3\n", "it failed with exit code 3" },
        { "#!/bin/sh\nkill -9 $$\n", "it was killed by signal 9" },
        { "#!/bin/sh\necho hello\n", "it printed no JSON" },
        { "#!/bin/sh\necho '{}'\n", "it printed no ExecCredential" },
        { "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v9\"}'\n",
          "it printed apiVersion v9 and not " V1 },
        { "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}'\n",
          "it printed neither token nor certificate" },
        { "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
          "\",\"status\":{\"token\":\"a b\"}}'\n",
          "the token has characters that a header cannot have" },
        { "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
          "\",\"status\":{\"clientCertificateData\":\"x\"}}'\n",
          "it printed a certificate or key without the other" },
        { "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
          "\",\"status\":{\"token\":\"a\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"}}'\n",
          "the credentials that it printed have expired already" },
        { "#!/bin/sh\nyes\n", "it printed more than 1048576 bytes" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct client_exec x = plugin(r, rows[i].script);
        r->cfg.exec = &x;
        new_client(r);
        SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 });
        struct got g = ask(r);
        is_int(g.err.code, ERR_UNAUTHORIZED, rows[i].want);
        ok(strstr(g.err.msg, rows[i].want) != NULL, "%s", g.err.msg);
        is_int(r->f.asked, 0, "nothing was sent");
        got_done(&g);
    }
    struct client_exec x = { .api_version = V1,
                             .command = "no-such-plugin",
                             .install_hint = "Get it." };
    r->cfg.exec = &x;
    new_client(r);
    struct got g = ask(r);
    is_str(str_of(g.err.msg), S("credential plugin: there is no no-such-plugin. Get it."),
           "one that is not there comes with its hint");
    got_done(&g);
    x = plugin(r, "#!/bin/sh\nsleep 100\n");
    new_client(r);
    kube_send(client_api(r->client), &list, on_got, &g);
    client_free(TAKE(r->client));
    is_int(g.n, 0, "a client that goes takes its plugin with it");
    r->cfg = (struct client_config){ 0 };
}

int main(void)
{
    struct rig r = { .a = arena_new(), .loop = loop_new(), .dir = "/tmp/client-cred-XXXXXX" };

    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(r.dir))
        return 1;
    faulty_start(&r.f, r.loop);
    token_files_may_change(&r);
    a_token_file_is_read_again_in_time(&r);
    watches_find_new_tokens_too(&r);
    none_is_forgotten(&r);
    plugins_are_run_once_for_many(&r);
    many_wait_for_a_plugin_that_fails(&r);
    plugins_are_run_again_after_expiry(&r);
    bad_plugins_are_told(&r);
    client_free(r.client);
    faulty_stop(&r.f);
    loop_free(r.loop);
    if (system(arena_printf(r.a, "rm -r %s", r.dir).p))
        printf("# %s stays\n", r.dir);
    buf_done(&r.f.text);
    arena_free(r.a);
    return tap_done();
}
