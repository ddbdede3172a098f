/* The node against a whole API server, with a runtime that has no processes. */

#include "fake.h"
#include "node/exec.h"
#include "node/node.h"
#include "node/usage.h"
#include "node/volumes.h"
#include "world.h"

#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fake *fake;
static struct node *node;
static char data[] = "/tmp/muster-node-XXXXXX";

/* An API that never keeps a pod's hostIP, so that its status stays another than what is told. */
static bool forgetful;

static struct kube_call *api_send(struct kube_api *api, const struct kube_request *r,
                                  kube_done *done, void *ctx)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request less = *r;

    (void)api;
    if (forgetful && r->verb == KUBE_PATCH && str_eqz(r->sub, "status") && r->res->plural[0] == 'p')
        less.body = jv_with(a, jv_with(a, r->body, JV_NULL_V, "status", "hostIP"), JV_NULL_V,
                            "status", "hostIPs");
    return kube_send(box.kube, &less, done, ctx);
}

static struct kube_call *api_watch(struct kube_api *api, const struct kube_request *r,
                                   const struct kube_watcher *w)
{
    (void)api;
    return kube_watch(box.kube, r, w);
}

static void api_cancel(struct kube_api *api, struct kube_call *c)
{
    (void)api;
    kube_cancel(box.kube, c);
}

static const struct kube_api_ops api_ops = { .send = api_send,
                                             .watch = api_watch,
                                             .cancel = api_cancel };
static struct kube_api api = { .ops = &api_ops };

static void node_begin(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct node_opts o = { .loop = box.loop,
                           .api = &api,
                           .runtime = fake_runtime(fake),
                           .name = S("here"),
                           .host_ip = S("10.0.0.9"),
                           .data = str_of(data),
                           .path = S("/usr/bin:/bin"),
                           .env = jobj(a, { "HOME", jstrz(a, "/somewhere") }),
                           .isolation = S("shared"),
                           .resources = S("nvidia.com/gpu=2,cpu=4") };

    node = start_node(&o);
}

static void node_up(void)
{
    node_begin();
    WAIT(node_is_ready(node));
}

/* ---- */

static void registers(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv n = get(a, &nodes, "", "here");

    ok(meta_condition_is(n, S("Ready"), S("True")), "the node is Ready");
    is_str(jv_str(jv_at(n, "status", "capacity", "nvidia.com/gpu"), S("")), S("2"),
           "GPUs as given");
    is_str(jv_str(jv_at(n, "status", "allocatable", "cpu"), S("")), S("4"), "cpu as given");
    ok(jv_exists(jv_at(n, "status", "capacity", "memory")), "memory as found");
    is_str(jv_str(jv_at(n, "metadata", "labels", "muster.dev/isolation"), S("")), S("shared"),
           "its isolation is a label");
    WAIT(jv_exists(get(a, &leases, "kube-node-lease", "here")));
    ok(jv_exists(get(a, &leases, "kube-node-lease", "here")), "a lease is kept");
}

static void runs_to_the_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    uint64_t before = node_count_writes(node);
    str uid = make_pod(a, "one", "'restartPolicy': 'Never',",
                       "'command': ['sh', '-c', 'exit 0'], 'env': [{'name': 'IP', 'valueFrom': "
                       "{'fieldRef': {'fieldPath': 'status.podIP'}}}]");

    UNTIL("one", "Succeeded", "a pod runs to its end", "status", "phase");
    jv c = container(a, "one"), pod = get(a, &pods, "default", "one");
    is_str(jv_str(jv_at(c, "state", "terminated", "reason"), S("")), S("Completed"), "Completed");
    is_str(jv_str(jv_at(c, "imageID"), S("")), S("muster://this-machine"), "on this machine");
    is_str(jv_str(jv_at(pod, "status", "podIP"), S("")), S("10.0.0.9"), "with an address");
    ok(meta_condition_is(pod, S("PodScheduled"), S("True")), "and conditions");
    ok(node_count_writes(node) - before <= 3, "few writes: %d",
       (int)(node_count_writes(node) - before));
    until_told("one", "Started", "Started container c");
    until_told("one", "Pulled",
               "Container image \"busybox\" is not mapped: running \"sh\" from this machine's own "
               "file system");
    AUTO(buf) struct buf env = { 0 };
    json_print(&env, jv_at(fake_told(fake, uid, S("c")), "env"));
    ok(str_contains(buf_str(&env), S("\"IP=10.0.0.9\"")) &&
           str_contains(buf_str(&env), S("HOME=/somewhere")) &&
           str_contains(buf_str(&env), S("\"CUDA_VISIBLE_DEVICES=\"")) &&
           str_contains(buf_str(&env), S("KUBERNETES_SERVICE_HOST=")),
       "its environment");
    delete ("one", 30);
    until_gone("one", "a finished pod goes at once");
}

static void fails_and_restarts(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str uid = make_pod(a, "again", "'restartPolicy': 'OnFailure',", "'command': ['sh', 'x']");

    UNTIL("again", "Running", "it runs", "status", "phase");
    fake_exit(fake, uid, S("c"), 3, 0, false);
    WAIT(fake_starts(fake, uid, S("c")) >= 2);
    is_int(fake_starts(fake, uid, S("c")), 2, "it is started again at once");
    fake_exit(fake, uid, S("c"), -1, SIGKILL, true);
    WAIT(str_eqz(reason_of(a, "again", "waiting"), "CrashLoopBackOff"));
    jv c = container(a, "again");
    is_str(jv_str(jv_at(c, "state", "waiting", "reason"), S("")), S("CrashLoopBackOff"),
           "then it backs off");
    is_str(jv_str(jv_at(c, "lastState", "terminated", "reason"), S("")), S("OOMKilled"),
           "its last end is told");
    is_int(jv_int(jv_at(c, "restartCount"), -1), 1, "restarts are counted");
    until_told(
        "again", "BackOff",
        arena_printf(a, "Back-off restarting failed container c in pod again_default(%" PRI_STR ")",
                     STR_ARG(uid))
            .p);
    delete ("again", 5);
    until_gone("again", "a pod that backs off goes");
}

static void stops_with_grace(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct stat st;
    str uid = make_pod(a, "stub",
                       "'terminationGracePeriodSeconds': 1, 'volumes': [{'name': 'e', "
                       "'emptyDir': {}}],",
                       "'command': ['sh', 'stubborn'], 'volumeMounts': [{'name': 'e', 'mountPath': "
                       "'/x'}]");

    UNTIL("stub", "Running", "it runs", "status", "phase");
    str dir = arena_printf(a, "%s/pods/%" PRI_STR, data, STR_ARG(uid));
    ok(stat(arena_cat(a, dir, S("/volumes/e")).p, &st) == 0, "its emptyDir is there");
    delete ("stub", 1);
    ok(fake_runs(fake, uid, S("c")), "it has its grace");
    until_gone("stub", "and is killed after it");
    WAIT(node_count_pods(node) == 0);
    ok(stat(dir.p, &st) < 0, "its directory is gone");
    is_int((int64_t)fake_count(fake), 0, "no sandbox is left");
    is_int((int64_t)node_count_pods(node), 0, "the node has forgotten it");
    until_told("stub", "Killing", "Stopping container c");
}

static void waits_for_objects(void)
{
    static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
    AUTO(arena) struct arena *a = arena_new();
    make_pod(a, "waits", "'volumes': [{'name': 'v', 'configMap': {'name': 'm'}}],",
             "'command': ['sh'], 'volumeMounts': [{'name': 'v', 'mountPath': '/m'}]");

    until_told("waits", "FailedMount",
               "MountVolume.SetUp failed for volume \"v\" : configmap \"m\" not found");
    make(a, &maps, "{'metadata': {'name': 'm'}, 'data': {'k': 'one'}}");
    UNTIL("waits", "Running", "it runs as soon as that is there", "status", "phase");
    struct kube_request r = { .verb = KUBE_PATCH,
                              .res = &maps,
                              .ns = S("default"),
                              .name = S("m"),
                              .body = box_value(a, "{'data': {'k': 'two'}}") };
    box_ask(&box, a, &r);
    char text[10] = "";
    for (int64_t end = boot_now_ms() + PATIENCE_MS;
         strcmp(text, "two") != 0 && boot_now_ms() < end;) {
        box_turn(&box);
        usleep(500);
        /* where pods share files they share this one */
        glob_t found = { 0 };
        glob(arena_printf(a, "%s/pods/.common/default.*/k", data).p, 0, NULL, &found);
        FILE *f = found.gl_pathc == 1 ? fopen(found.gl_pathv[0], "r") : NULL;
        globfree(&found);
        if (f && !fgets(text, sizeof(text), f))
            text[0] = '\0';
        if (f)
            fclose(f);
    }
    ok(strcmp(text, "two") == 0, "and its files follow the object");
    delete ("waits", 1);
    until_gone("waits", "gone");
}

static void cannot_start(void)
{
    AUTO(arena) struct arena *a = arena_new();

    make_pod(a, "image", "", "'args': ['x']");
    make_pod(a, "config", "", "'command': ['sh'], 'envFrom': [{'secretRef': {'name': 'no'}}]");
    make_pod(a, "program", "'restartPolicy': 'Never',", "'command': ['no-such-program']");
    make_pod(a, "start", "'restartPolicy': 'Never',", "'command': ['sh', 'fail']");
    UNTIL("program", "Failed", "a program that is not there fails", "status", "phase");
    jv c = container(a, "program");
    is_str(jv_str(jv_at(c, "state", "terminated", "reason"), S("")), S("ContainerCannotRun"),
           "with its reason");
    is_str(jv_str(jv_at(c, "state", "terminated", "message"), S("")),
           S("exec: \"no-such-program\": executable file not found in $PATH (/usr/bin:/bin)"),
           "and the PATH that was searched");
    UNTIL("start", "Failed", "one that cannot be run too", "status", "phase");
    is_str(jv_str(jv_at(container(a, "start"), "state", "terminated", "reason"), S("")),
           S("StartError"), "with its reason");
    WAIT(reason_of(a, "image", "waiting").n && reason_of(a, "config", "waiting").n);
    is_str(reason_of(a, "image", "waiting"), S("ImageNotMapped"), "an image without a command");
    FILE *f = fopen(arena_printf(a, "%s/images.yaml", data).p, "w");
    fputs("images:\n- {match: busybox, command: [sh]}\n", f);
    fclose(f);
    UNTIL("image", "Running", "runs once it is mapped", "status", "phase");
    is_str(jv_str(jv_at(container(a, "config"), "state", "waiting", "message"), S("")),
           S("secret \"no\" not found"), "a secret that is not there");
    static const char *const names[] = { "image", "config", "program", "start" };
    for (size_t i = 0; i < COUNT(names); i++)
        delete (names[i], 1);
    for (size_t i = 0; i < COUNT(names); i++)
        until_gone(names[i], names[i]);
}

static void gpus_are_exclusive(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *c = "'command': ['sh'], 'resources': {'limits': {'nvidia.com/gpu': 1}}";
    str one = make_pod(a, "gpu1", "", c), two = make_pod(a, "gpu2", "", c);

    UNTIL("gpu1", "Running", "one", "status", "phase");
    UNTIL("gpu2", "Running", "two", "status", "phase");
    jv x = jv_at(fake_sandbox(fake, one), "note", "devices");
    jv y = jv_at(fake_sandbox(fake, two), "note", "devices");
    ok(jv_len(x) == 1 && jv_len(y) == 1 && !jv_equal(x, y), "each has its own device");
    make_pod(a, "gpu3", "", c);
    UNTIL("gpu3", "UnexpectedAdmissionError", "a third is refused", "status", "reason");
    delete ("gpu1", 1);
    until_gone("gpu1", "one goes");
    make_pod(a, "gpu4", "", c);
    UNTIL("gpu4", "Running", "its device is free again", "status", "phase");
    static const char *const names[] = { "gpu2", "gpu3", "gpu4" };
    for (size_t i = 0; i < COUNT(names); i++)
        delete (names[i], 1);
    for (size_t i = 0; i < COUNT(names); i++)
        until_gone(names[i], names[i]);
}

static void probes_and_hooks(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str uid =
        make_pod(a, "probed", "'terminationGracePeriodSeconds': 1,",
                 "'command': ['sh'], 'livenessProbe': {'exec': {'command': ['x']}, "
                 "'periodSeconds': 1, 'failureThreshold': 1}, 'readinessProbe': {'tcpSocket': "
                 "{'host': '127.0.0.1', 'port': 1}, 'periodSeconds': 1}, 'lifecycle': "
                 "{'postStart': {'exec': {'command': ['y']}}}");

    UNTIL("probed", "Running", "it runs after its hook", "status", "phase");
    until_told("probed", "Unhealthy",
               "Readiness probe failed: dial tcp 127.0.0.1:1: connect: connection refused");
    ok(!jv_bool(jv_at(container(a, "probed"), "ready"), true), "it is not ready");
    fake_exec_code(fake, 1);
    WAIT(fake_starts(fake, uid, S("c")) >= 2);
    fake_exec_code(fake, 0);
    is_int(fake_starts(fake, uid, S("c")), 2, "a liveness probe that fails restarts it");
    until_told("probed", "Killing", "Container c failed liveness probe, will be restarted");
    until_told("probed", "Unhealthy", "Liveness probe failed: said");
    delete ("probed", 1);
    until_gone("probed", "gone");
}

static void sandboxes_die(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str never = make_pod(a, "never", "'restartPolicy': 'Never',", "'command': ['sh']");
    str always = make_pod(a, "always", "", "'command': ['sh']");

    UNTIL("never", "Running", "one", "status", "phase");
    UNTIL("always", "Running", "two", "status", "phase");
    fake_kill(fake, never);
    fake_kill(fake, always);
    UNTIL("never", "SandboxLost", "a sandbox that dies fails its pod", "status", "reason");
    WAIT(fake_starts(fake, always, S("c")) >= 2);
    ok(fake_runs(fake, always, S("c")), "or is made anew");
    WAIT(jv_int(jv_at(container(a, "always"), "restartCount"), 0) > 0);
    UNTIL("always", "Running", "as the pod says", "status", "phase");
    jv c = container(a, "always");
    is_int(jv_int(jv_at(c, "restartCount"), 0), 1, "which counts");
    is_str(jv_str(jv_at(c, "lastState", "terminated", "reason"), S("")),
           S("ContainerStatusUnknown"), "and is told");
    delete ("never", 1);
    delete ("always", 1);
    until_gone("never", "never");
    until_gone("always", "always");
}

static void a_status_that_is_never_kept(void)
{
    AUTO(arena) struct arena *a = arena_new();

    forgetful = true;
    uint64_t before = node_count_writes(node);
    str uid = make_pod(a, "odd", "'restartPolicy': 'Never',", "'command': ['sh']");
    UNTIL("odd", "Running", "a pod whose status the server does not keep", "status", "phase");
    WAIT(node_count_writes(node) > before + 1);
    for (int i = 0; i < 50; i++)
        box_turn(&box);
    ok(node_count_writes(node) - before < 10, "it is not told again and again (%d)",
       (int)(node_count_writes(node) - before));
    fake_exit(fake, uid, S("c"), 0, 0, false);
    UNTIL("odd", "Succeeded", "what else happens is told", "status", "phase");
    delete ("odd", 1);
    until_gone("odd", "and it goes when it is deleted");
    forgetful = false;
}

/* Who asks for it is never told that it does not run. */
static bool is_sought_until_found(str uid)
{
    struct err e = { 0 };
    bool sought = true;

    WAIT(node_exec_check(node, uid, S("c"), &e) == 0 || !(sought = node_seeks(node, uid)));
    return sought && !node_seeks(node, uid);
}

/* As one that was started with other options. */
static void write_old_status(struct arena *a)
{
    struct kube_request r = {
        .verb = KUBE_PATCH,
        .res = &nodes,
        .name = S("here"),
        .sub = S("status"),
        .body = box_value(a, "{'status': {'capacity': {'example.com/old': '1'}, 'allocatable': "
                             "{'example.com/old': '1'}, 'conditions': [{'type': 'Old', 'status': "
                             "'True'}]}}")
    };

    box_ask(&box, a, &r);
    ok(meta_condition_is(get(a, &nodes, "", "here"), S("Old"), S("True")),
       "the node has the status of an earlier process");
}

static void old_status_is_gone(struct arena *a)
{
    jv n = get(a, &nodes, "", "here");

    ok(!jv_exists(jv_at(n, "status", "capacity", "example.com/old")) &&
           !jv_exists(jv_at(n, "status", "allocatable", "example.com/old")),
       "resources that are no longer offered are gone");
    ok(!jv_exists(meta_condition(n, S("Old"))), "and so are conditions");
    is_str(jv_str(jv_at(n, "status", "capacity", "nvidia.com/gpu"), S("")), S("2"),
           "those that are offered are there");
    ok(meta_condition_is(n, S("Ready"), S("True")), "the node is Ready again");
}

static void restarts_of_the_node(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str stays = make_pod(a, "stays", "", "'command': ['sh']");
    str ends = make_pod(a, "ends", "'restartPolicy': 'Never',", "'command': ['sh']");
    str dies = make_pod(a, "dies", "'restartPolicy': 'Never',", "'command': ['sh']");
    str over = make_pod(a, "over", "'restartPolicy': 'Never',", "'command': ['sh']");
    str leaves = make_pod(a, "leaves", "", "'command': ['sh']");
    static const char *const names[] = { "stays", "ends", "dies", "over", "leaves" };

    for (size_t i = 0; i < COUNT(names); i++)
        UNTIL(names[i], "Running", names[i], "status", "phase");
    node_free(node);
    fake_exit(fake, ends, S("c"), 4, 0, false);
    fake_kill(fake, dies);
    fake_exit(fake, over, S("c"), 5, 0, false);
    fake_clear(fake, over);
    delete ("leaves", 0);
    write_old_status(a);
    ok(fake_runs(fake, stays, S("c")) && fake_runs(fake, leaves, S("c")), "they go on without it");
    node_begin();
    ok(is_sought_until_found(stays), "what runs is looked for until it is found");
    WAIT(node_is_ready(node));
    old_status_is_gone(a);
    ok(!node_seeks(node, S("never-was")), "what never was is not");
    UNTIL("ends", "Failed", "an end that nobody saw is told", "status", "phase");
    is_int(jv_int(jv_at(container(a, "ends"), "state", "terminated", "exitCode"), 0), 4,
           "with its code");
    UNTIL("dies", "NodeRestart", "what is lost is said to be", "status", "reason");
    UNTIL("over", "Failed", "what was over and cleared away, too", "status", "phase");
    is_int(jv_int(jv_at(container(a, "over"), "state", "terminated", "exitCode"), 0), 5,
           "ended as it did");
    ok(!jv_exists(jv_at(get(a, &pods, "default", "over"), "status", "reason")),
       "and the node is no reason");
    UNTIL("stays", "Running", "what runs is adopted", "status", "phase");
    is_int(fake_starts(fake, stays, S("c")), 1, "and not started again");
    WAIT(!fake_runs(fake, leaves, S("c")));
    ok(!fake_runs(fake, leaves, S("c")), "what was deleted meanwhile ends");
    for (size_t i = 0; i < 4; i++)
        delete (names[i], 1);
    for (size_t i = 0; i < 4; i++)
        until_gone(names[i], names[i]);
    WAIT(node_count_pods(node) == 0);
    is_int((int64_t)fake_count(fake), 0, "no sandbox is left");
    ok(!fake_twice, "nothing ever ran twice at once");
}

struct usage_told {
    int n, known;
    bool is_ours;
};

static void on_usage(void *arg, jv usage, const struct err *e)
{
    struct usage_told *t = arg;

    t->n++;
    t->known += jv_exists(usage);
    t->is_ours = str_eqz(jv_str(jv_at(usage, "node"), S("")), "here") &&
                 jv_int(jv_at(usage, "window_ms"), 0) >= 500;
    if (!jv_exists(usage) && !e)
        ok(false, "there is no reason");
}

static void usage_is_measured_when_asked_for(void)
{
    struct usage_told t = { 0 };

    node_usage(node, on_usage, &t);
    node_usage(node, on_usage, &t);
    is_int(t.n, 0, "the first answer needs two samples");
    WAIT(t.n == 2);
    ok(t.n == 2 && t.known == 2 && t.is_ours, "which answer all who wait");
    node_usage(node, on_usage, &t);
    is_int(t.known, 3, "and whoever asks at once after");
}

static void ends(void)
{
    struct usage_told t = { 0 };

    node_usage(node, on_usage, &t);
    node_free(node);
    ok(t.n == 1 && !t.known, "a node that goes tells whoever waits for usage");
}

int main(void)
{
    if (!mkdtemp(data))
        return 1;
    box_open(&box, NULL, NULL);
    fake = fake_new(box.loop);
    node_up();
    registers();
    runs_to_the_end();
    fails_and_restarts();
    stops_with_grace();
    waits_for_objects();
    cannot_start();
    gpus_are_exclusive();
    probes_and_hooks();
    sandboxes_die();
    a_status_that_is_never_kept();
    usage_is_measured_when_asked_for();
    restarts_of_the_node();
    ends();
    for (int i = 0; i < 10; i++)
        box_turn(&box);
    fake_free(fake);
    box_close(&box);
    char left[300];
    snprintf(left, sizeof(left), "%s/pods", data);
    ok(rmdir(left) == 0, "nothing is left in the pods' directory");
    is_int(volumes_remove(data, NULL), 0, "clean");
    return tap_done();
}
