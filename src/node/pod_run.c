/* From a pod's spec to what the runtime is told: the sandbox, and each container. */

#include "base/mem.h"
#include "base/quantity.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "names/names.h"
#include "node/confine.h"
#include "node/env.h"
#include "node/groups.h"
#include "node/internal.h"
#include "node/logs.h"
#include "node/volumes.h"
#include "plan/planner.h"
#include "sys/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    RETRY_MS = 1000,
    RETRY_MAX_MS = 60 * 1000,
    LIST_WAIT_MS = 5 * 1000,
    CONFIG_RETRY_MS = 10 * 1000,
    IMAGE_RETRY_MS = 2 * 1000, /* a stat of the table */
    SHARES_PER_CPU = 1024,
    SHARES_MOST = 262144, /* that the kernel takes */
    FILES_OF_MEMORY = 4,  /* a quarter */
};

/* ---- objects that pods refer to */

static jv find(struct pod *p, enum node_kind kind, str ns, str name)
{
    struct jdoc *d = mirror_get(p->n->mirrors[kind], ns, name);

    return d ? jdoc_root(d) : JV_ABSENT;
}

static jv config(void *ctx, str ns, str name)
{
    struct pod *p = ctx;

    if (str_eq(name, S("kube-root-ca.crt")) && p->n->o.ca.n) /* in every namespace of a cluster */
        return p->n->root_ca;
    return find(ctx, NODE_CONFIGS, ns, name);
}

static jv secret(void *ctx, str ns, str name)
{
    return find(ctx, NODE_SECRETS, ns, name);
}

static unsigned needs(jv v)
{
    static const struct {
        const char *key;
        unsigned what;
    } keys[] = {
        { "configMap", 1u << NODE_CONFIGS },
        { "configMapRef", 1u << NODE_CONFIGS },
        { "configMapKeyRef", 1u << NODE_CONFIGS },
        { "secret", 1u << NODE_SECRETS },
        { "secretRef", 1u << NODE_SECRETS },
        { "secretKeyRef", 1u << NODE_SECRETS },
        { "persistentVolumeClaim", 1u << NODE_CLAIMS | 1u << NODE_VOLUMES },
    };
    unsigned found = 0;

    JV_EACH (it, v) {
        for (size_t i = 0; jv_is(v, JV_OBJ) && i < COUNT(keys); i++)
            if (str_eqz(it.key, keys[i].key))
                found |= keys[i].what;
        found |= needs(it.value);
    }
    return found;
}

/* Whether all that the pod refers to is known as far as the server has it. */
static bool is_informed(struct pod *p)
{
    unsigned what = needs(jv_at(p->life->pod, "spec")) | 1u << NODE_SERVICES;
    bool all = true;

    for (size_t k = 0; k < NODE_KINDS; k++) {
        if (!(what >> k & 1))
            continue;
        mirror_start(p->n->mirrors[k]);
        all &= mirror_is_listed(p->n->mirrors[k]);
    }
    return pod_tokens_are_here(p) && all;
}

static struct fields_of fields(const struct pod *p)
{
    return (struct fields_of){ .pod = p->life->pod,
                               .pod_ip = node_pod_ip(p),
                               .host_ip = p->n->o.host_ip,
                               .allocatable = registration_allocatable(p->n->reg) };
}

/* ---- the sandbox */

bool pod_refresh_volumes(struct pod *p, bool tells)
{
    if (!is_informed(p))
        return false;
    pod_volumes_start(p, tells);
    return true;
}

static void not_yet(struct pod *p, const char *reason, const struct err *e)
{
    int64_t wait = (int64_t)RETRY_MS << (p->box_failures < 6 ? p->box_failures : 6);

    p->box_failures++;
    pod_event(p, true, reason, STR_NONE, str_of(e->msg));
    life_on_box_failed(p->life, node_now(p->n) + (wait < RETRY_MAX_MS ? wait : RETRY_MAX_MS));
}

static int64_t amount_of(struct arena *a, jv v, bool milli)
{
    struct quantity q;

    if (jv_is_null(v) || quantity_from_json(a, v, &q, NULL) < 0)
        return 0;
    return milli ? quantity_milli(&q) : quantity_value(&q);
}

/* A pod without limits of cpu or memory has a group for its number of processes alone. */
jv pod_cgroup(struct arena *a, const struct pod *p)
{
    static const char *const lists[] = { "initContainers", "containers" };
    jv all = groups_of_pod(a, p->n->o.groups, str_of(p->uid)), pids = jv_at(all, "v1", "pids");

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_get(jv_at(p->life->pod, "spec"), str_of(lists[i]))) {
            jv limits = jv_at(it.value, "resources", "limits");
            if (jv_exists(jv_at(limits, "cpu")) || jv_exists(jv_at(limits, "memory")))
                return all;
        }
    if (jv_exists(jv_at(all, "v2")))
        return jv_with(a, all, JV_TRUE, "flat");
    return jv_exists(pids) ? jobj(a, { "v1", jobj(a, { "pids", pids }) }, { "flat", JV_TRUE })
                           : JV_ABSENT;
}

/* What the pod may change of files that are not its own: of those on disk as much as there is room
 * for, of those in memory as its limits say, or a quarter of the machine's. */
static jv over_json(struct arena *a, const struct pod *p)
{
    jv capacity = registration_allocatable(p->n->reg);
    int64_t most = 0;

    JV_EACH (it, jv_at(p->life->pod, "spec", "containers")) {
        jv limits = jv_at(it.value, "resources", "limits");
        int64_t one = amount_of(a, jv_at(limits, "ephemeral-storage"), false);
        if (one == 0)
            one = amount_of(a, jv_at(limits, "memory"), false);
        if (one == 0)
            one = amount_of(a, jv_at(capacity, "memory"), false) / FILES_OF_MEMORY;
        most = one > most ? one : most;
    }
    return jv_exists(p->n->o.files) ? jv_with(a, p->n->o.files, jint(a, most), "bytes") : JV_ABSENT;
}

static enum confine_place place_of(const struct pod *p)
{
    bool root = geteuid() == 0;

    if (str_eq(p->n->o.isolation, S("shared")))
        return root ? CONFINE_SHARED_ROOT : CONFINE_SHARED_USER;
    return root ? CONFINE_NAMESPACES_ROOT : CONFINE_NAMESPACES_USER;
}

static jv sandbox_json(struct arena *a, struct pod *p, jv gpus)
{
    jv pod = p->life->pod, net = jdoc_root(p->net);
    str host = names_hostname(pod);
    jv preload = JV_ABSENT, env = JV_ABSENT;
    jv hidden = str_eqz(p->n->o.isolation, "shared") ? JV_ABSENT : p->n->o.hidden;

    names_box(p->n->names, &p->named, pod, a, &preload, &env);
    jv note = jobj(a, { "namespace", jstr(a, meta_namespace(pod)) },
                   { "name", jstr(a, meta_name(pod)) }, { "devices", gpus });
    return jobj(a, { "uid", jstr(a, str_of(p->uid)) }, { "note", note },
                { "isolation", p->n->o.isolation.n ? jstr(a, p->n->o.isolation) : JV_ABSENT },
                { "hostname", jstr(a, host) }, { "net", jv_at(net, "net") },
                { "mounts", jv_at(net, "mounts") },
                { "with_node", p->n->o.ephemeral ? JV_TRUE : JV_ABSENT },
                { "tmpfs", volumes_in_memory(a, jdoc_root(p->volumes)) },
                { "dev", devices_nodes(a, "", gpus) }, { "sysctls", confine_sysctls(a, pod) },
                { "over", over_json(a, p) }, { "hide", jv_at(hidden, "hide") },
                { "registry", jv_at(hidden, "registry") },
                { "host_roots", jv_at(hidden, "host_roots") }, { "cgroup", pod_cgroup(a, p) },
                { "pids", jint(a, NODE_POD_PIDS) }, { "preload", preload }, { "env", env });
}

static bool is_on_host(const struct pod *p)
{
    return jv_bool(jv_at(p->life->pod, "spec", "hostNetwork"), false);
}

/* how: the pod's network. */
static void start_box(struct pod *p, jv how)
{
    AUTO(arena) struct arena *a = arena_new();
    struct runtime *rt = p->n->o.runtime;
    struct runtime_sink sink = { .on_event = pod_on_runtime, .ctx = p };
    struct names_about about = pod_names_about(p);
    struct err e = { 0 };
    jv mounts = JV_EMPTY_ARR;

    if (!is_on_host(p) && names_attach(p->n->names, &p->named, &about, a, &how, &mounts, &e) < 0) {
        pod_detach(p);
        not_yet(p, "FailedCreatePodSandBox", &e);
        return;
    }
    jdoc_unref(p->net);
    p->net = jdoc_copy(jobj(a, { "net", how }, { "mounts", mounts }));
    p->rt = rt->ops->spawn(rt, str_of(p->uid), sandbox_json(a, p, jdoc_root(p->given)), &sink);
}

static void on_attached(void *arg, jv ok, int fd, const struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod *p = arg;
    struct err why = *e;

    (void)fd;
    p->attaching = NULL;
    if (jv_exists(ok)) {
        start_box(p, ok);
    } else {
        pod_detach(p);
        err_wrap(&why, "network of pod %" PRI_STR, STR_ARG(meta_name(p->life->pod)));
        not_yet(p, "FailedCreatePodSandBox", &why);
    }
    pod_reconcile(p, &out); /* may free it */
}

void pod_volumes_are_set(struct pod *p, const struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct pod_network *net = p->n->o.net;

    if (e) {
        if (e->code == ERR_FORBIDDEN)
            life_on_box_refused(p->life, S("HostPathRefused"), str_of(e->msg));
        if (e->code == ERR_NOT_FOUND && e->sys == ENOENT)
            life_on_box_refused(p->life, S("HostPathMissing"), str_of(e->msg));
        not_yet(p, "FailedMount", e);
    } else if (!net || is_on_host(p)) {
        start_box(p, jobj(a, { "host", JV_TRUE }, { "ip", jstr(a, p->n->o.host_ip) }));
    } else {
        p->attached = true; /* or will be: what is asked later comes later */
        p->attaching =
            net->attach(net->ctx, p->life->pod, (struct net_then){ .done = on_attached, .arg = p });
    }
}

void pod_sandbox(struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!is_informed(p)) { /* asked again when it is */
        life_on_box_failed(p->life, node_now(p->n) + LIST_WAIT_MS);
        return;
    }
    struct confine_refusal no = confine_check(a, p->life->pod, place_of(p));
    if (no.reason.n) {
        pod_event(p, true, arena_z(a, no.reason), STR_NONE, no.message);
        life_fail(p->life, no.reason, no.message);
        life_on_box_failed(p->life, 0);
        return;
    }
    if (jv_len(jv_at(p->life->pod, "spec", "resourceClaims"))) {
        struct err e = { .msg = "pod claims devices, and this node has no driver for any" };
        life_on_box_refused(p->life, S("FailedPrepareDynamicResources"), str_of(e.msg));
        not_yet(p, "FailedPrepareDynamicResources", &e);
        return;
    }
    if (!pod_gpus_take(p))
        return;
    p->box_waits = true;
    pod_volumes_start(p, false);
}

/* ---- a container */

static jv base_env(struct arena *a, const struct pod *p, const struct image_run *run, bool all_dev)
{
    struct jbuild b = jb_from(a, run->rootfs.n ? JV_ABSENT : p->n->o.env);
    str host = names_hostname(p->life->pod);
    bool counted = !all_dev && !str_eq(p->n->o.isolation, S("shared"));

    jb_set(&b, S("HOSTNAME"), jstr(a, host));
    if (p->n->gpus.n) {
        str list = pod_gpus_list(a, p, false);
        jb_set(&b, S("CUDA_VISIBLE_DEVICES"), jstr(a, pod_gpus_list(a, p, counted)));
        jb_set(&b, S("NVIDIA_VISIBLE_DEVICES"), jstr(a, list.n ? list : S("void")));
    }
    JV_EACH (it, run->env)
        jb_set(&b, it.key, it.value);
    return jb_done(&b);
}

static int make_env(struct arena *a, struct pod *p, const struct life_container *c,
                    const struct image_run *run, jv *out, struct err *e)
{
    AUTO(buf) struct buf skipped = { 0 };
    str ns = meta_namespace(p->life->pod);
    struct jbuild services = jb_from(a, mirror_list(p->n->mirrors[NODE_SERVICES], a, ns));
    struct jdoc *master = mirror_get(p->n->mirrors[NODE_SERVICES], S("default"), S("kubernetes"));
    struct env_of of = { .fields = fields(p),
                         .container = c->spec,
                         .base = base_env(a, p, run, confine_is_privileged(c->spec)),
                         .config = config,
                         .secret = secret,
                         .ctx = p };

    if (master && !str_eq(ns, S("default")))
        jb_push(&services, jdoc_root(master));
    of.services = jb_done(&services);
    if (env_make(a, &of, out, &skipped, e) < 0)
        return -1;
    if (skipped.n)
        pod_event(p, true, "InvalidEnvironmentVariableNames", c->name,
                  arena_printf(a,
                               "Keys [%" PRI_STR "] were skipped since they are considered invalid "
                               "environment variable names.",
                               STR_ARG(buf_str(&skipped))));
    return 0;
}

static jv env_list(struct arena *a, jv env, bool tty)
{
    struct jbuild b = jb_arr(a);

    if (tty && !jv_exists(jv_at(env, "TERM")))
        jb_push(&b, jstrz(a, "TERM=xterm"));
    JV_EACH (it, env)
        jb_push(&b, jstr(a, arena_printf(a, "%" PRI_STR "=%" PRI_STR, STR_ARG(it.key),
                                         STR_ARG(jv_str(it.value, S(""))))));
    return jb_done(&b);
}

static jv limits_json(struct arena *a, jv spec)
{
    jv limits = jv_at(spec, "resources", "limits"), requests = jv_at(spec, "resources", "requests");
    int64_t cpu = amount_of(a, jv_at(limits, "cpu"), true);
    int64_t memory = amount_of(a, jv_at(limits, "memory"), false);
    int64_t asked = amount_of(a, jv_at(requests, "cpu"), true);
    int64_t most = SHARES_MOST * 1000 / SHARES_PER_CPU;
    int64_t share = (asked < most ? asked : most) * SHARES_PER_CPU / 1000;

    return jobj(a, { "cpu_milli", cpu > 0 ? jint(a, cpu) : JV_ABSENT },
                { "memory_bytes", memory > 0 ? jint(a, memory) : JV_ABSENT },
                { "cpu_shares", share > 1 ? jint(a, share) : JV_ABSENT });
}

static jv security(const struct pod *p, jv spec, const char *field)
{
    return confine_field(p->life->pod, spec, field);
}

static jv groups_json(struct arena *a, const struct pod *p, jv spec, int64_t own)
{
    struct jbuild b = jb_from(a, security(p, spec, "supplementalGroups"));
    jv fs = security(p, spec, "fsGroup");

    if (!jv_is(jb_done(&b), JV_ARR))
        b = jb_arr(a);
    if (jv_is(fs, JV_INT))
        jb_push(&b, fs);
    if (own >= 0)
        jb_push(&b, jint(a, own));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

struct starting {
    struct image_run run;
    jv env;
    jv mounts;
    str log;
};

static jv start_json(struct arena *a, struct pod *p, const struct life_container *c,
                     int64_t attempt, const struct starting *s)
{
    str message = jv_str(jv_at(c->spec, "terminationMessagePath"), S("/dev/termination-log"));
    bool tty = jv_bool(jv_at(c->spec, "tty"), false);
    jv uid, gid;

    pod_user(a, p, c, &s->run, &uid, &gid);
    int64_t own = pod_own_group(p, jv_int(uid, -1));

    struct jbuild b = jb_from(a, confine_start(a, p->life->pod, c->spec, place_of(p)));
    jv rest = jobj(a, { "name", jstr(a, c->name) }, { "attempt", jint(a, attempt) },
                   { "argv", s->run.argv }, { "env", env_list(a, s->env, tty) },
                   { "cwd", s->run.cwd.n ? jstr(a, s->run.cwd) : JV_ABSENT },
                   { "rootfs", s->run.rootfs.n ? jstr(a, s->run.rootfs) : JV_ABSENT },
                   { "uid", jv_is(uid, JV_INT) ? uid : JV_ABSENT },
                   { "gid", jv_is(gid, JV_INT) ? gid
                            : own >= 0         ? jint(a, own)
                                               : JV_ABSENT },
                   { "groups", groups_json(a, p, c->spec, own) },
                   { "any_path", jbool(!p->n->o.strict_paths) }, { "log", jstr(a, s->log) },
                   { "termination_log", jstr(a, pod_term_path(a, p, c->name)) },
                   { "termination_path", jstr(a, message) }, { "mounts", s->mounts },
                   { "limits", limits_json(a, c->spec) },
                   { "stdin", jv_bool(jv_at(c->spec, "stdin"), false) ? JV_TRUE : JV_ABSENT },
                   { "tty", tty ? JV_TRUE : JV_ABSENT });

    JV_EACH (it, rest)
        jb_set(&b, it.key, it.value);
    return jb_done(&b);
}

/* The table may be edited at any time; one that does not read leaves the old one. */
static void look_at_images(struct arena *a, struct node *n)
{
    const char *path = arena_printf(a, "%" PRI_STR "/images.yaml", STR_ARG(n->o.data)).p;
    struct images *now = NULL;
    struct err e = { 0 };

    if (!images_is_stale(n->images, path))
        return;
    if (images_load(&now, path, &e) < 0) {
        log_warn("cannot read the image map", KVZ("error", e.msg));
        return;
    }
    images_free(n->images);
    n->images = now;
}

/* Makes what a start needs; -1: it cannot be, and life knows why. */
static int prepare(struct arena *a, struct pod *p, size_t i, struct starting *s)
{
    struct life_container *c = &p->life->at[i];
    int64_t now = node_now(p->n);
    struct err e = { 0 };

    if (!p->volumes) { /* it ran before our time and goes on: pod_retry comes when they are there */
        pod_refresh_volumes(p, true);
        life_on_cannot(p->life, i, S("ContainerCreating"), STR_NONE, now + LIST_WAIT_MS);
        return -1;
    }
    look_at_images(a, p->n);
    images_resolve(a, p->n->images, c->spec, p->n->o.path, &s->run);
    if (s->run.reason.n) {
        if (!str_eqz(s->run.reason, c->waiting)) /* told once, however often it is tried */
            pod_event(p, true, "Failed", c->name,
                      arena_printf(a, "Error: %" PRI_STR ": %" PRI_STR, STR_ARG(s->run.reason),
                                   STR_ARG(s->run.message)));
        life_on_cannot(p->life, i, s->run.reason, s->run.message, now + IMAGE_RETRY_MS);
        return -1;
    }
    if (pod_check_user(a, p, c, &s->run, &e) < 0 || make_env(a, p, c, &s->run, &s->env, &e) < 0 ||
        volumes_mounts(a, c->spec, p->volumes ? jdoc_root(p->volumes) : JV_ABSENT, s->env,
                       &s->mounts, &e) < 0) {
        pod_event(p, true, "Failed", c->name, arena_printf(a, "Error: %s", e.msg));
        life_on_cannot(p->life, i, S("CreateContainerConfigError"), str_of(e.msg),
                       now + CONFIG_RETRY_MS);
        return -1;
    }
    pod_access_shared(a, p, &s->env, &s->mounts);
    pod_tools_shown(a, p, &s->run, &s->mounts);
    pod_workdir_shown(a, p, &s->run, &s->mounts);
    return 0;
}

static int make_places(struct arena *a, struct pod *p, const struct life_action *act, str *log,
                       struct err *e)
{
    str name = p->life->at[act->c].name;
    struct log_of of = {
        .data = p->n->o.data, .pod = p->life->pod, .container = name, .run = act->attempt
    };
    str term = pod_term_path(a, p, name);

    if (tree_make(a, arena_z(a, str_sub(term, 0, (size_t)str_rfind(term, '/'))), 0755, e) < 0)
        return -1;
    if (++p->n->log_places % NODE_LOG_SWEEP == 0)
        log_sweep_start(p->n->o.loop, p->n->o.data);
    return log_make(a, &of, node_now(p->n), log, e);
}

static jv mount_paths(struct arena *a, jv mounts)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, mounts)
        jb_push(&b, jv_at(it.value, "to"));
    return jb_done(&b);
}

static void keep_id(struct life_container *c, str id)
{
    if (str_eq(c->image_id, id))
        return;
    free((char *)(uintptr_t)c->image_id.p);
    c->image_id = (str){ mem_or_abort(strndup(id.p, id.n)), id.n };
}

void pod_start(struct pod *p, const struct life_action *act, struct life_out *out)
{
    AUTO(arena) struct arena *a = arena_new();
    struct life_container *c = &p->life->at[act->c];
    struct starting s = { 0 };
    struct err e = { 0 };

    if (!p->rt || prepare(a, p, act->c, &s) < 0)
        return;
    if (make_places(a, p, act, &s.log, &e) < 0) {
        pod_event(p, true, "Failed", c->name, arena_printf(a, "Error: %s", e.msg));
        life_on_cannot(p->life, act->c, S("CreateContainerError"), str_of(e.msg),
                       node_now(p->n) + CONFIG_RETRY_MS);
        return;
    }
    jv argv = env_expand_all(a, s.run.argv, s.env);
    str told = s.run.told, path = jv_str(jv_at(s.env, "PATH"), S(""));
    s.run.argv = argv;
    s.run.told = STR_NONE;
    images_find_program(a, jv_str(jv_index(argv, 0), S("")), path, s.run.rootfs,
                        mount_paths(a, s.mounts), &s.run);
    if (s.run.reason.n) {
        pod_event(p, true, "Failed", c->name,
                  arena_printf(a, "Error: %" PRI_STR, STR_ARG(s.run.message)));
        life_on_failed(p->life, act->c, 127, s.run.reason, s.run.message, node_now(p->n));
        return;
    }
    keep_id(c, s.run.id);
    str image = jv_str(jv_at(c->spec, "image"), S(""));
    life_tell(out, c, false, "Pulled",
              told.n
                  ? told
                  : arena_printf(a, "Container image \"%" PRI_STR "\" already present on machine",
                                 STR_ARG(image)));
    if (s.run.told.n)
        life_tell(out, c, true, "ProgramElsewhere", s.run.told);
    if (pod_workdir_is_missing(a, &s.run, s.mounts))
        life_tell(out, c, true, "WorkingDirMissing",
                  arena_printf(a,
                               "working directory %" PRI_STR
                               " does not exist: the container gets an empty one",
                               STR_ARG(s.run.cwd)));
    pod_tell_user(a, p, c, out);
    life_tell(out, c, false, "Created",
              arena_printf(a, "Created container: %" PRI_STR, STR_ARG(c->name)));
    pod_open_to_user(a, p, c, jv_int(security(p, c->spec, "runAsUser"), -1), out);
    pod_names_starting(p);
    p->n->o.runtime->ops->start(p->rt, start_json(a, p, c, act->attempt, &s));
}
