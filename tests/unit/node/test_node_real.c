/* The node with real wardens and processes, at a level of isolation: LEVEL root|user. */

#include "node/node.h"
#include "node/warden.h"
#include "rig.h"
#include "sandbox/keeper.h"
#include "sandbox/probe.h"
#include "world.h"

#include <sys/prctl.h>
#include <sys/stat.h>

enum { ORDINARY = 12345 };

static struct runtime *rt;
static struct node *node;
static const char *level;
static char data[] = "/tmp/muster-real-XXXXXX";

static void node_up(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str dir = arena_printf(a, "%s/pods", data);
    struct warden_opts w = { .pods = dir.p };

    rt = warden_runtime_new(box.loop, &w);
    struct node_opts o = { .loop = box.loop,
                           .api = box.kube,
                           .runtime = rt,
                           .name = S("here"),
                           .host_ip = S("127.0.0.1"),
                           .data = str_of(data),
                           .path = S("/usr/local/bin:/usr/bin:/bin"),
                           .isolation = str_of(level) };
    node = begin_node(&o);
}

static void node_down(void)
{
    node_free(node);
    warden_runtime_free(rt);
    for (int i = 0; i < 20; i++) {
        box_turn(&box);
        usleep(1000);
    }
}

/* sh -c script */
static str run(struct arena *a, const char *name, const char *spec, const char *script,
               const char *more)
{
    return make_pod(a, name, spec,
                    arena_printf(a, "'command': ['sh', '-c', '%s'] %s", script, more).p);
}

static str ended(struct arena *a, const char *name, const char *what)
{
    jv v = jv_get(jv_at(container(a, name), "state", "terminated"), str_of(what));

    return jv_is(v, JV_STR) ? jv_str(v, S("")) : jv_exists(v) ? json_text(a, v) : S("(none)");
}

/* Unlike those of other tests beside us. */
static const char *nap(void)
{
    static char text[40];

    snprintf(text, sizeof(text), "sleep 4711.%07d", (int)getpid());
    return text;
}

static int nappers(void)
{
    return rig_processes(nap() + strlen("sleep "));
}

/* ---- */

static void ends_are_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t before = wall_now_ms();
    str uid = run(a, "three", "'restartPolicy': 'Never',", "echo hello $A; exit 3",
                  ", 'env': [{'name': 'A', 'value': 'you'}]");
    char line[300] = "";

    UNTIL("three", "Failed", "a process fails", "status", "phase");
    printf("# create to Failed: %d ms\n", (int)(wall_now_ms() - before));
    is_str(ended(a, "three", "exitCode"), S("3"), "with its code");
    is_str(ended(a, "three", "reason"), S("Error"), "and reason");
    jv pod = get(a, &pods, "default", "three");
    FILE *f = fopen(node_log_path(a, str_of(data), pod, S("c"), 0).p, "r");
    ok(f && fgets(line, sizeof(line), f) && strstr(line, " stdout F hello you\n"), "its log: %s",
       strtok(line, "\n"));
    if (f)
        fclose(f);
    (void)uid;
    run(a, "tail", "'restartPolicy': 'Never',", "echo one; echo two >&2; kill -9 $$$$",
        ", 'terminationMessagePolicy': 'FallbackToLogsOnError'");
    UNTIL("tail", "Failed", "one is killed", "status", "phase");
    is_str(ended(a, "tail", "exitCode"), S("137"), "by a signal");
    is_str(ended(a, "tail", "message"), S("one\ntwo\n"), "its log is its message");
    /* Where the machine's files are shared, its /dev is not ours to write into. */
    bool own = strcmp(level, "namespaces") == 0;
    run(a, "words", "'restartPolicy': 'Never',",
        own ? "printf done > /dev/termination-log" : "exit 0", "");
    UNTIL("words", "Succeeded", "one succeeds", "status", "phase");
    is_str(ended(a, "words", "message"), own ? S("done") : S("(none)"), "with its last words");
}

static void init_and_sidecar(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *spec =
        arena_printf(
            a,
            "'restartPolicy': 'Never', 'terminationGracePeriodSeconds': 2, "
            "'initContainers': [{'name': 'i', 'image': 'x', 'command': ['true']}, {'name': "
            "'s', 'image': 'x', 'restartPolicy': 'Always', 'command': ['sleep', '%s']}],",
            nap() + strlen("sleep "))
            .p;

    run(a, "side", spec, "sleep 0.2", "");
    UNTIL("side", "Succeeded", "with an init container and a sidecar", "status", "phase");
    jv st = jv_at(get(a, &pods, "default", "side"), "status", "initContainerStatuses");
    is_str(jv_str(jv_at(jv_index(st, 0), "state", "terminated", "reason"), S("")), S("Completed"),
           "the first completed");
    ok(jv_exists(jv_at(jv_index(st, 1), "state", "terminated")), "the second was ended");
    is_int(nappers(), 0, "nothing of it runs");
}

static void everything_dies(void)
{
    AUTO(arena) struct arena *a = arena_new();

    run(a, "family", "", arena_printf(a, "setsid %s & trap : TERM; %s; %s", nap(), nap(), nap()).p,
        "");
    UNTIL("family", "Running", "a family of processes", "status", "phase");
    WAIT(nappers() >= 3);
    ok(nappers() >= 3, "runs");
    delete ("family", 1);
    until_gone("family", "the pod goes");
    is_int(nappers(), 0, "with all of them");
}

/* A directory of ours in every pod that says so: ', 'volumeMounts' for its container. */
static str shared_at;

static const char *shared_volume(struct arena *a)
{
    return arena_printf(a, "'volumes': [{'name': 'h', 'hostPath': {'path': '%s/ours'}}],", data).p;
}

static const char *shared_mount(struct arena *a)
{
    return arena_printf(a, ", 'volumeMounts': [{'name': 'h', 'mountPath': '%" PRI_STR "'}]",
                        STR_ARG(shared_at))
        .p;
}

static size_t lines_in(const char *path)
{
    AUTO(arena) struct arena *a = arena_new();

    return rig_read(a, path).n;
}

static void probes_ask(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str alive = arena_printf(a, "%s/ours/alive", data),
        asked = arena_printf(a, "%s/ours/asked", data);
    const char *at = arena_printf(a, "%" PRI_STR, STR_ARG(shared_at)).p;

    mkdir(alive.p, 0777);
    run(a, "probed", arena_printf(a, "'terminationGracePeriodSeconds': 1, %s", shared_volume(a)).p,
        nap(),
        arena_printf(
            a,
            "%s, 'livenessProbe': {'exec': {'command': ['sh', '-c', 'echo >> %s/asked; ls "
            "%s/alive']}, 'periodSeconds': 1, 'timeoutSeconds': 60, 'failureThreshold': 2}",
            shared_mount(a), at, at)
            .p);
    UNTIL("probed", "Running", "a pod with a probe", "status", "phase");
    WAIT(lines_in(asked.p) >= 3);
    ok(lines_in(asked.p) >= 3, "it is asked again and again");
    is_int(jv_int(jv_at(container(a, "probed"), "restartCount"), -1), 0, "alive");
    rmdir(alive.p);
    WAIT(jv_int(jv_at(container(a, "probed"), "restartCount"), 0) >= 1);
    ok(jv_int(jv_at(container(a, "probed"), "restartCount"), 0) >= 1, "dead, and started again");
    delete ("probed", 1);
    until_gone("probed", "gone");
}

static void volumes_are_seen(void)
{
    static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
    AUTO(arena) struct arena *a = arena_new();
    str at = arena_printf(a, "%s/seen", data);

    make(a, &maps, "{'metadata': {'name': 'm'}, 'data': {'k': 'from a map'}}");
    run(a, "mounts",
        "'restartPolicy': 'Never', 'volumes': [{'name': 'v', 'configMap': {'name': 'm'}}, {'name': "
        "'e', 'emptyDir': {}}],",
        arena_printf(a, "cat %s/map/k; echo x > %s/own/file && cat %s/own/file; exit 1", at.p, at.p,
                     at.p)
            .p,
        arena_printf(a,
                     ", 'terminationMessagePolicy': 'FallbackToLogsOnError', 'volumeMounts': "
                     "[{'name': 'v', 'mountPath': '%s/map'}, {'name': 'e', 'mountPath': '%s/own', "
                     "'subPath': 'sub'}]",
                     at.p, at.p)
            .p);
    UNTIL("mounts", "Failed", "a pod with volumes", "status", "phase");
    is_str(ended(a, "mounts", "message"), S("from a mapx\n"), "sees them");
    delete ("mounts", 1);
    until_gone("mounts", "gone");
}

static void is_adopted(void)
{
    AUTO(arena) struct arena *a = arena_new();

    run(a, "stays", "", nap(), "");
    str script = arena_printf(a, "until [ -e %" PRI_STR "/go ]; do sleep 0.05; done; exit 5",
                              STR_ARG(shared_at));
    run(a, "ends", arena_printf(a, "'restartPolicy': 'Never', %s", shared_volume(a)).p, script.p,
        shared_mount(a));
    UNTIL("stays", "Running", "one stays", "status", "phase");
    UNTIL("ends", "Running", "one ends", "status", "phase");
    str before = json_text(a, jv_at(container(a, "stays"), "state"));
    node_down();
    mkdir(arena_printf(a, "%s/ours/go", data).p, 0777);
    ok(rig_processes_are(arena_printf(a, "%" PRI_STR "/go ]", STR_ARG(shared_at)).p, 0),
       "it ends without the node");
    ok(nappers() > 0, "the other runs");
    node_up();
    UNTIL("ends", "Failed", "an end that no node saw is told", "status", "phase");
    is_str(ended(a, "ends", "exitCode"), S("5"), "with its code");
    UNTIL("stays", "Running", "what runs is adopted", "status", "phase");
    is_str(json_text(a, jv_at(container(a, "stays"), "state")), before, "as it was");
    is_int(jv_int(jv_at(container(a, "stays"), "restartCount"), -1), 0, "not started again");
}

static void all_goes(void)
{
    static const char *const names[] = { "three", "words", "tail", "side", "stays", "ends" };

    for (size_t i = 0; i < COUNT(names); i++)
        delete (names[i], 1);
    for (size_t i = 0; i < COUNT(names); i++)
        until_gone(names[i], names[i]);
    is_int(nappers(), 0, "no process is left");
    WAIT(node_count_pods(node) == 0);
    char left[100];
    snprintf(left, sizeof(left), "%s/pods", data);
    WAIT(rmdir(left) == 0); /* removed beside the loop */
    ok(access(left, F_OK) < 0, "no directory either");
}

int main(int argc, char **argv)
{
    struct err e = { 0 };

    if (argc > 1 && strcmp(argv[1], "warden") == 0)
        return warden_main(argc - 1, argv + 1);
    level = argc > 1 ? argv[1] : "shared";
    bool user = argc > 2 && strcmp(argv[2], "user") == 0;
    if (user && geteuid() == 0 &&
        (setresgid(ORDINARY, ORDINARY, ORDINARY) < 0 ||
         setresuid(ORDINARY, ORDINARY, ORDINARY) < 0)) {
        printf("1..0 # SKIP root may not become an ordinary user here\n");
        return 0;
    }
    prctl(PR_SET_DUMPABLE, 1); /* or /proc/self is root's */
    if ((!user && geteuid() != 0) ||
        (strcmp(level, "namespaces") == 0 && !warden_can_isolate(NULL, &e))) {
        printf("1..0 # SKIP %s\n", e.msg[0] ? e.msg : "not root");
        return 0;
    }
    if (!mkdtemp(data) || chdir("/") < 0)
        return 1;
    box_open(&box, NULL, NULL);
    AUTO(arena) struct arena *a = arena_new();
    mkdir(arena_printf(a, "%s/ours", data).p, 0777);
    shared_at = arena_printf(a, "%s/in", data);
    node_up();
    ends_are_told();
    init_and_sidecar();
    everything_dies();
    probes_ask();
    volumes_are_seen();
    is_adopted();
    all_goes();
    node_down();
    box_close(&box);
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", data);
    return system(cmd) == 0 ? tap_done() : 1;
}
