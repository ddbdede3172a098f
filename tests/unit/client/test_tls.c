/* Whom the client trusts, under which name, and that it speaks HTTP/2. Against our own server. */

#include "help.h"
#include "spawn.h"

static const struct kube_resource spaces = { "", "v1", "namespaces", "Namespace", true };

struct rig {
    struct arena *a;
    struct loop *loop;
    struct client_config cfg;
};

/* A list with this configuration. */
static struct got ask(struct rig *r, const struct client_config *cfg)
{
    struct client *c = NULL;
    struct got g = { 0 };
    struct err e = { 0 };

    if (client_new(&c, r->loop, cfg, &e) < 0) {
        g.err = e;
        return g;
    }
    kube_send(client_api(c), &(struct kube_request){ .verb = KUBE_LIST, .res = &spaces }, on_got,
              &g);
    ok(run_until(r->loop, &g.n, 1, 60000), "an answer comes");
    client_free(c);
    return g;
}

static void fails(struct rig *r, const struct client_config *cfg, const char *what)
{
    struct got g = ask(r, cfg);

    ok(g.status == 0 && g.err.code == ERR_UNAVAILABLE, "%s: %s", what, g.err.msg);
    got_done(&g);
}

static void succeeds(struct rig *r, const struct client_config *cfg, const char *what)
{
    struct got g = ask(r, cfg);

    ok(g.status == 200, "%s: %d %s", what, g.status, g.err.msg);
    got_done(&g);
}

static const char *put(struct rig *r, const char *dir, const char *name, str text)
{
    const char *path = arena_printf(r->a, "%s/%s", dir, name).p;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (write(fd, text.p, text.n) < 0)
        abort();
    close(fd);
    return path;
}

static void names_and_authorities_are_checked(struct rig *r, const char *dir)
{
    struct client_config c = r->cfg;
    str rest = str_of(r->cfg.server);
    str port = str_sub(rest, (size_t)str_rfind(rest, ':'), rest.n);

    succeeds(r, &c, "the authority of the kubeconfig");
    c.tls_server_name = "localhost";
    succeeds(r, &c, "under another of the server's names");
    c.tls_server_name = "example.org";
    fails(r, &c, "under a name it does not have");
    c.tls_server_name = "localhost";
    c.server = arena_printf(r->a, "https://127.0.0.1%" PRI_STR "/prefix", STR_ARG(port)).p;
    struct got g = ask(r, &c);
    is_int(g.err.code, ERR_NOT_FOUND, "a prefix is part of the path");
    got_done(&g);
    c = r->cfg;
    c.ca = STR_NONE;
    fails(r, &c, "the system's authorities do not know it");
    c.insecure = true;
    succeeds(r, &c, "no check at all");
    c = r->cfg;
    c.ca_file = put(r, dir, "ca.crt", c.ca);
    c.cert_file = put(r, dir, "c.crt", c.cert);
    c.key_file = put(r, dir, "c.key", c.key);
    c.ca = c.cert = c.key = STR_NONE;
    succeeds(r, &c, "certificates in files");
    c.ca_file = c.cert_file; /* a certificate, but nobody's authority */
    fails(r, &c, "another authority");
}

static void who_we_are_is_checked(struct rig *r, const char *dir)
{
    struct client_config c = r->cfg;
    str token = STR_NONE;

    c.cert = c.key = STR_NONE;
    struct got g = ask(r, &c);
    is_int(g.err.code, ERR_UNAUTHORIZED, "nobody");
    got_done(&g);
    c.token = "wrong";
    g = ask(r, &c);
    is_int(g.err.code, ERR_UNAUTHORIZED, "a wrong token");
    got_done(&g);
    ok(client_file_read(r->a, arena_printf(r->a, "%s/data/token", dir).p, &token, NULL) == 0,
       "there is a token");
    c.token = arena_z(r->a, str_trim(token));
    succeeds(r, &c, "a good token");
    c = r->cfg;
    c.key = S("no PEM");
    fails(r, &c, "a key that is none");
}

static void servers_may_die_and_come_back(struct rig *r, struct spawned *server,
                                          const char *program)
{
    const struct kube_request list = { .verb = KUBE_LIST, .res = &spaces };
    const struct kube_request watch = { .verb = KUBE_WATCH, .res = &spaces };
    struct client *c = NULL;
    struct seen s = { 0 };
    struct got g = { 0 };
    struct kube_watcher w = watcher(&s);
    int tries = 0;

    client_new(&c, r->loop, &r->cfg, NULL);
    kube_watch(client_api(c), &watch, &w);
    ok(run_until(r->loop, &s.events, 1, 60000), "a watch is open");
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    ok(run_until(r->loop, &s.ends, 1, 60000) && s.failed, "it ends with its server: %s", s.err.msg);
    is_int(s.err.code, ERR_UNAVAILABLE, "which is not there any more");
    kube_send(client_api(c), &list, on_got, &g);
    ok(run_until(r->loop, &g.n, 1, 60000), "a request is answered");
    is_int(g.err.code, ERR_UNAVAILABLE, g.err.msg);
    spawn_run(server, r->a, program, r->cfg.server + strlen("https://"));
    for (; g.status != 200 && tries < 6000; tries++) {
        got_done(&g);
        kube_send(client_api(c), &list, on_got, &g);
        run_until(r->loop, &g.n, 1, 60000);
        usleep(10000);
    }
    is_int(g.status, 200, "the next server is found by the same client");
    seen_done(&s);
    kube_watch(client_api(c), &watch, &w);
    ok(run_until(r->loop, &s.events, 1, 60000), "and watched again");
    client_free(c);
    got_done(&g);
    seen_done(&s);
}

int main(int argc, char **argv)
{
    struct rig r = { .a = arena_new(), .loop = loop_new() };
    struct spawned server = { 0 };
    struct err e = { 0 };

    if (argc < 2)
        return 1;
    signal(SIGPIPE, SIG_IGN);
    spawn_server(&server, r.a, argv[1]);
    struct client_from from = { .file = server.kubeconfig };
    ok(client_config_load(r.a, &from, &r.cfg, &e) == 0, "the configuration is read: %s", e.msg);
    names_and_authorities_are_checked(&r, server.dir);
    who_we_are_is_checked(&r, server.dir);
    servers_may_die_and_come_back(&r, &server, argv[1]);
    spawn_stop(&server, r.a);
    loop_free(r.loop);
    arena_free(r.a);
    return tap_done();
}
