/* Joins what does not know of each other: the API, the binder, the node and its wardens. */

#include "app/up_node.h"

#include "api/inproc.h"
#include "app/image.h"
#include "app/up_files.h"
#include "app/up_net.h"
#include "app/up_rights.h"
#include "base/mem.h"
#include "binder/binder.h"
#include "loop/log.h"
#include "node/groups.h"
#include "node/images.h"
#include "node/node.h"
#include "node/resources.h"
#include "node/warden.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    GRACE_MS = 1000, /* for pods when all of this stops */
    STOP_MS = 1500,
    NAME_MAX_BYTES = 63,
    DISCARD = 9,
};

struct up_node {
    struct loop *loop;
    struct kube_api *node_api, *binder_api;
    struct runtime *runtime;
    struct up_net *net; /* NULL: this machine's */
    struct node *node;
    struct up_pods *pods;
    struct binder *binder;
    struct arena *a; /* of groups */
    jv groups;
    struct loop_timer *deadline;
    void (*on_stopped)(void *ctx);
    void *ctx;
};

/* ---- this machine */

/* The host's name as the API takes it: lower case letters, digits, dashes, dots. */
static str machine_name(struct arena *a)
{
    char text[NAME_MAX_BYTES + 1] = "";
    size_t n = 0;

    if (gethostname(text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    for (const char *at = text; *at; at++) {
        bool upper = *at >= 'A' && *at <= 'Z';
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9');
        bool inner = n > 0 && text[n - 1] != '.' && text[n - 1] != '-';
        if (upper)
            text[n++] = (char)(*at - 'A' + 'a');
        else if (plain)
            text[n++] = *at;
        else if (inner)
            text[n++] = *at == '.' ? '.' : '-';
    }
    while (n && (text[n - 1] == '.' || text[n - 1] == '-'))
        n--;
    text[n] = '\0';
    return n ? arena_str(a, str_of(text)) : S("localhost");
}

/* The address this machine would be seen under from elsewhere: nothing is sent to find out. */
static str machine_ip(struct arena *a)
{
    struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(DISCARD) };
    struct sockaddr_in here = { 0 };
    socklen_t n = sizeof(here);
    char text[INET_ADDRSTRLEN] = "127.0.0.1";
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, "192.0.2.1", &there.sin_addr); /* for documentation, hence routed outwards */
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&there, sizeof(there)) == 0 &&
        getsockname(fd, (struct sockaddr *)&here, &n) == 0)
        inet_ntop(AF_INET, &here.sin_addr, text, sizeof(text));
    if (fd >= 0)
        close(fd);
    return arena_str(a, str_of(text));
}

/* Where this machine itself reaches what listens there; IPv4, as pods have no other. */
static str local_ip(const char *host)
{
    struct in_addr any;

    if (!host || inet_pton(AF_INET, host, &any) != 1 || any.s_addr == htonl(INADDR_ANY))
        return S("127.0.0.1");
    return str_of(host);
}

/* What programs of this machine expect of it. */
static jv machine_env(struct arena *a)
{
    static const char *const names[] = {
        "HOME",     "USER",       "LOGNAME",         "LANG",       "LC_ALL",
        "LC_CTYPE", "TZ",         "LD_LIBRARY_PATH", "http_proxy", "https_proxy",
        "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",     "NO_PROXY"
    };
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value)
            jb_add(&b, str_of(names[i]), jstr(a, arena_str(a, str_of(value))));
    }
    return jb_done(&b);
}

/* ---- isolation */

static const char *level(struct up_node_opts *o, struct err *why)
{
    AUTO(arena) struct arena *a = arena_new();
    jv homes = up_files_homes(a);
    const char **list = ARENA_ARRAY(a, const char *, jv_len(homes) + 1);

    if (o->isolation && strcmp(o->isolation, "shared") == 0)
        return "shared";
    for (size_t i = 0; i < jv_len(homes); i++)
        list[i] = arena_z(a, jv_str(jv_index(homes, i), S("/")));
    o->ground =
        (struct warden_ground){ .pods = arena_printf(a, "%s/pods", o->dir).p, .homes = list };
    bool can = warden_can_isolate(&o->ground, why);
    o->ground.pods = NULL;
    o->ground.homes = NULL;
    return can || o->isolation ? "namespaces" : "shared";
}

static void tell_level(const struct up_node_opts *o)
{
    const char *why = o->why.msg;

    if (o->isolation && strcmp(o->isolation, "shared") == 0)
        log_info("pods share this machine's namespaces", KVZ("isolation", "shared"),
                 KVZ("why", "--isolation shared"));
    else if (!*why)
        log_info("pods have their own namespaces", KVZ("isolation", "namespaces"));
    else if (o->isolation)
        log_warn("--isolation namespaces is not possible here: pods will not start",
                 KVZ("isolation", "namespaces"), KVZ("why", why));
    else
        log_info("pods share this machine's namespaces: private ones are not possible here",
                 KVZ("isolation", "shared"), KVZ("why", why));
}

/* ---- limits */

/* Groups by a name that no other data directory has. */
static void find_groups(struct up_node *u, const char *dir)
{
    str name = arena_printf(u->a, "muster-%08x", (unsigned)str_hash(str_of(dir)));

    u->groups = groups_find(u->a, NULL, name);
}

static const char *how_kept(const struct up_node *u, const char *limit, const char *without)
{
    if (!groups_keep(u->groups, limit))
        return without;
    return jv_exists(jv_at(u->groups, "v2")) ? "cgroup v2" : "cgroup v1";
}

/* The log and the node's condition LimitsKept say the same: each limit, and by what it is kept. */
static jv tell_limits(const struct up_node *u, struct arena *a)
{
    const char *cpu = how_kept(u, "cpu", "not kept"), *pids = how_kept(u, "pids", "not kept");
    const char *memory = how_kept(u, "memory", "watching");
    bool all = groups_keep(u->groups, "cpu") && groups_keep(u->groups, "memory") &&
               groups_keep(u->groups, "pids");

    log_info("limits of pods", KVZ("cpu", cpu), KVZ("memory", memory), KVZ("processes", pids));
    return up_condition(
        a, "LimitsKept", all, all ? "ControlGroups" : "Partly",
        arena_printf(
            a, "limits of cpu: %s; of memory: %s%s; of %d processes a pod: %s", cpu, memory,
            groups_keep(u->groups, "memory") ? "" : ", a container that takes too much is killed",
            NODE_POD_PIDS, pids));
}

/* ---- starting */

int up_node_check(const struct up_node_opts *o, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(images) struct images *images = NULL;
    struct resources_opts r = { .data = o->dir, .given = str_of(o->resources ? o->resources : "") };
    jv out;

    if (o->resources && node_resources(a, &r, &out, e) < 0)
        return err_wrap(e, "--resources %s", o->resources);
    if (up_hide_check(o->host_path_roots, e) < 0)
        return -1;
    if (images_load(&images, arena_printf(a, "%s/images.yaml", o->dir).p, e) < 0)
        return -1;
    struct err why = { 0 };
    if (images_have_rootfs(images) && image_agent_install(o->dir, &why) < 0)
        log_warn("rootfs images get no muster agent", KVZ("error", why.msg));
    return 0;
}

void up_node_prepare(struct up_node_opts *o, struct loop *l)
{
    o->level = level(o, &o->why);
    if (strcmp(o->level, "namespaces") == 0 && !*o->why.msg)
        o->net = up_net_begin(l, o->dir, o->ephemeral);
}

void up_node_unprepare(struct up_node_opts *o)
{
    up_net_free(TAKE(o->net));
}

static str claims_dir(struct arena *a, const char *dir, const struct up_node_opts *o)
{
    return o->claims ? str_of(o->claims) : arena_printf(a, "%s/volumes", dir);
}

static int node_begin(struct up_node *u, struct arena *a, struct api *api, const char *dir,
                      struct up_node_opts *o, struct err *e)
{
    const char *path = getenv("PATH");

    find_groups(u, dir);
    struct warden_opts w = { .pods = arena_printf(a, "%s/pods", dir).p };
    struct node_opts n = {
        .loop = u->loop,
        .api = u->node_api,
        .name = machine_name(a),
        .host_ip = machine_ip(a),
        .data = str_of(dir),
        .claims = claims_dir(a, dir, o),
        .path = str_of(path && *path ? path : "/usr/local/bin:/usr/bin:/bin"),
        .env = machine_env(a),
        .isolation = str_of(o->level),
        .groups = u->groups,
        .resources = str_of(o->resources ? o->resources : ""),
        .strict_paths = o->strict_paths,
        .ca = o->api_ca,
        .names = true,
        .api_ip = local_ip(o->api_host),
        .api_port = o->api_port,
        .ephemeral = o->ephemeral,
    };

    struct up_hide_opts hide = { .dir = dir,
                                 .roots = o->host_path_roots,
                                 .show_home_secrets = o->show_home_secrets,
                                 .shared = str_eqz(n.isolation, "shared"),
                                 .begun = &o->hide };

    tell_level(o);
    n.hidden = up_hide_json(a, &hide);
    u->net = TAKE(o->net);
    if (str_eqz(n.isolation, "namespaces") && !up_net_ready(u->net, a, api, &n.conditions))
        up_net_free(TAKE(u->net));
    n.net = up_net_node(u->net);
    if (str_eqz(n.isolation, "namespaces")) {
        struct jbuild all = jb_from(a, n.conditions);
        jb_push(&all, up_files_condition(a, &o->ground));
        n.conditions = jb_done(&all);
        n.files = up_files_json(a, &o->ground);
    } else {
        n.conditions = jarr(a, up_files_shared(a));
    }
    struct jbuild told = jb_from(a, n.conditions);
    jb_push(&told, up_hide_condition(a, &hide));
    jb_push(&told, tell_limits(u, a));
    n.conditions = jb_done(&told);
    u->runtime = warden_runtime_new(u->loop, &w);
    n.runtime = u->runtime;
    if (node_new(&u->node, &n, e) < 0)
        return -1;
    u->pods = o->pods;
    up_pods_set_node(u->pods, u->node);
    node_start(u->node);
    return 0;
}

int up_node_start(struct up_node **out, struct loop *l, struct api *api, struct up_node_opts *o,
                  struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct up_node *u = mem_new(sizeof(*u));
    char *dir = realpath(o->dir, NULL);
    struct binder_opts b = {
        .volumes_dir = claims_dir(a, dir ? dir : o->dir, o),
        .named = o->claims,
        .volumes_only = o->no_scheduler,
        .strict_classes = o->strict_classes,
    };

    u->loop = l;
    u->a = arena_new();
    str user = arena_cat(a, S("system:node:"), machine_name(a));
    u->node_api = api_inproc_new(api, "node", user.p, UP_NODES_GROUP);
    u->binder_api = api_inproc_new(api, "scheduler", UP_SCHEDULER_USER, NULL);
    u->binder = binder_new(l, u->binder_api, &b);
    int rc = node_begin(u, a, api, dir ? dir : o->dir, o, e);
    free(dir);
    if (rc < 0) {
        up_node_free(u);
        return -1;
    }
    binder_start(u->binder);
    *out = u;
    return 0;
}

/* ---- stopping */

static void clear(struct up_node *u)
{
    loop_timer_stop(TAKE(u->deadline));
    binder_free(TAKE(u->binder));
    if (u->pods)
        up_pods_set_node(u->pods, NULL);
    node_free(TAKE(u->node));
    warden_runtime_free(TAKE(u->runtime));
    groups_remove(u->groups);
    arena_free(TAKE(u->a));
    u->groups = JV_ABSENT;
    up_net_free(TAKE(u->net));
    api_inproc_free(TAKE(u->binder_api));
    api_inproc_free(TAKE(u->node_api));
}

static void end(void *arg)
{
    struct up_node *u = arg;

    clear(u);
    u->on_stopped(u->ctx);
}

static void on_late(void *arg)
{
    log_warn("pods did not end in time", KVI("waited_ms", STOP_MS));
    end(arg);
}

void up_node_stop(struct up_node *u, void (*done)(void *ctx), void *ctx)
{
    u->on_stopped = done;
    u->ctx = ctx;
    u->deadline = loop_timer_start(u->loop, STOP_MS, 0, on_late, u);
    binder_free(TAKE(u->binder)); /* nothing new begins */
    node_end(u->node, GRACE_MS, end, u);
}

void up_node_hurry(struct up_node *u)
{
    if (u->node)
        node_end(u->node, 0, end, u);
}

void up_node_free(struct up_node *u)
{
    if (!u)
        return;
    clear(u);
    free(u);
}
