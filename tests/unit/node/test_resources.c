/* What a machine has, with a tree of files that stands for it. */

#include "node/resources.h"
#include "sys/device_lock.h"
#include "tap.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/muster-machine-XXXXXX";

static void file(struct arena *a, const char *path, const char *text)
{
    char *p = (char *)(uintptr_t)arena_printf(a, "%s%s", root, path).p;

    for (char *s = p + strlen(root) + 1; (s = strchr(s, '/')); *s++ = '/') {
        *s = '\0';
        mkdir(p, 0700);
        *s = '/';
    }
    FILE *f = fopen(p, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void machine_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct resources_opts o = { .root = root, .data = "/tmp" };
    struct err e = { 0 };
    jv out = JV_ABSENT;

    file(a, "/proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\n");
    file(a, "/dev/nvidia0", "");
    file(a, "/dev/nvidia1", "");
    file(a, "/dev/nvidiactl", "");
    file(a, "/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t NVIDIA H200\n");
    file(a, "/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
    is_int(node_resources(a, &o, &out, &e), 0, "a machine is read");
    jv c = jv_at(out, "capacity");
    is_str(jv_str(jv_at(c, "memory"), S("")), S("16000Mi"), "its memory");
    is_str(jv_str(jv_at(c, "nvidia.com/gpu"), S("")), S("2"), "its GPUs, by device files");
    is_str(jv_str(jv_at(out, "model"), S("")), S("NVIDIA H200"), "their model, by the driver's");
    is_str(jv_str(jv_at(out, "info", "osImage"), S("")), S("Debian 12"), "its system");
    ok(jv_exists(jv_at(c, "ephemeral-storage")) && jv_exists(jv_at(c, "pods")), "and the rest");
    o.given = S("nvidia.com/gpu=8,memory=1Gi,example.com/x=3");
    is_int(node_resources(a, &o, &out, &e), 0, "what is given");
    c = jv_at(out, "capacity");
    is_str(jv_str(jv_at(c, "nvidia.com/gpu"), S("")), S("8"), "counts instead");
    is_str(jv_str(jv_at(c, "memory"), S("")), S("1Gi"), "for all of them");
    is_str(jv_str(jv_at(c, "example.com/x"), S("")), S("3"), "others too");
    o.given = S("cpu=x");
    is_int(node_resources(a, &o, &out, &e), -1, "what is no amount");
    is_str(str_of(e.msg), S("resources: cpu: \"x\" is not an amount, as 2, 500m or 4Gi are"),
           "is named");
    o.given = S("memory=1Gi,cpu");
    is_int(node_resources(a, &o, &out, &e), -1, "what has no amount");
    is_str(str_of(e.msg), S("resources: \"cpu\" is not NAME=AMOUNT"), "likewise");
    o.given = S("nvidia.com/gpu=2");
    o.told = S("nvidia.com/gpu=4,memory=2Gi");
    is_int(node_resources(a, &o, &out, &e), 0, "what it is told later");
    is_str(jv_str(jv_at(out, "capacity", "nvidia.com/gpu"), S("")), S("4"), "counts above that");
    is_str(jv_str(jv_at(out, "capacity", "memory"), S("")), S("2Gi"), "and above what is found");
}

static void lists_change(void)
{
    static const struct {
        const char *word;
        const char *list; /* afterwards; NULL: as before */
        const char *why;
    } rows[] = {
        { "nvidia.com/gpu=4", "nvidia.com/gpu=4", NULL },
        { "cpu=500m,memory=1Gi", "nvidia.com/gpu=4,cpu=500m,memory=1Gi", NULL },
        { "nvidia.com/gpu=2", "nvidia.com/gpu=2,cpu=500m,memory=1Gi", NULL },
        { "cpu-", "nvidia.com/gpu=2,memory=1Gi", NULL },
        { "cpu-", NULL, "resources: cpu was not declared" },
        { "-", NULL, "resources:  was not declared" },
        { "", "nvidia.com/gpu=2,memory=1Gi", NULL },
        { "cpu", NULL, "resources: \"cpu\" is not NAME=AMOUNT" },
        { "a b=1", NULL,
          "resources: \"a b\" is not the name of a resource, as cpu and nvidia.com/gpu are" },
        { "gpu=4", NULL,
          "resources: \"gpu\" is not the name of a resource, as cpu and nvidia.com/gpu are" },
        { "nvidia.com/gpu=500m", NULL,
          "resources: nvidia.com/gpu: \"500m\" is not a whole number" },
        { "pods=1.5", NULL, "resources: pods: \"1.5\" is not a whole number" },
        { "cpu=-1", NULL, "resources: cpu: \"-1\" is not an amount, as 2, 500m or 4Gi are" },
    };
    AUTO(arena) struct arena *a = arena_new();
    jv amounts = JV_EMPTY_OBJ;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = { 0 };
        str before = resources_text(a, amounts);
        int rc = resources_change(a, str_of(rows[i].word), &amounts, &e);
        is_int(rc, rows[i].why ? -1 : 0, rows[i].word);
        is_str(str_of(e.msg), str_of(rows[i].why ? rows[i].why : ""), "what is said");
        is_str(resources_text(a, amounts), rows[i].list ? str_of(rows[i].list) : before,
               "the list");
    }
}

static void devices_are_lent(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct devices d = { .n = 4 };

    is_json(devices_take(&d, a, S("one"), 2), "[0,1]", "the first two");
    is_json(devices_take(&d, a, S("two"), 1), "[2]", "the next");
    is_json(devices_take(&d, a, S("one"), 2), "[0,1]", "asked again: the same");
    ok(!jv_exists(devices_take(&d, a, S("three"), 2)), "too few are left");
    is_int((int64_t)devices_free(&d), 1, "and none is taken for it");
    devices_release(&d, S("one"));
    is_json(devices_take(&d, a, S("three"), 2), "[0,1]", "free again");
    devices_mark(&d, S("four"), jarr(a, jint(a, 3), jint(a, 99)));
    is_int((int64_t)devices_free(&d), 0, "marked after a restart");
    devices_release(&d, S("four"));
    d.n = 1; /* 2 is in use, and so are 0 and 1 */
    is_int((int64_t)devices_free(&d), 0, "fewer than are in use");
    devices_release(&d, S("three"));
    is_int((int64_t)devices_free(&d), 0, "one beyond them counts");
    devices_release(&d, S("two"));
    is_int((int64_t)devices_free(&d), 1, "until it is given back");
}

static void a_pod_has_the_nodes_of_its_own_gpus(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_json(devices_nodes(a, root, jarr(a, jint(a, 1))),
            "[\"nvidia1\",\"nvidiactl\",\"nvidia-uvm\",\"nvidia-uvm-tools\",\"nvidia-modeset\"]",
            "its own and those that all share");
    ok(!jv_exists(devices_nodes(a, root, jarr(a, jint(a, 77)))), "none for one that is not there");
    ok(!jv_exists(devices_nodes(a, root, JV_EMPTY_ARR)), "none for a pod without GPUs");
}

/* Another process that holds a device until it is killed. */
static pid_t hold(const char *path)
{
    int ready[2];
    char c = 0;

    if (pipe(ready) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        c = device_lock_take(path, NULL) >= 0 ? 'y' : 'n';
        if (write(ready[1], &c, 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    ok(read(ready[0], &c, 1) == 1 && c == 'y', "another process takes a device");
    close(ready[0]);
    return pid;
}

static void others_use_gpus(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/dev/nvidia1", root).p;
    struct devices d = { .n = 2 };
    struct err e = { 0 };

    ok(!devices_look(&d, root), "nobody uses any");
    pid_t pid = hold(path);
    ok(devices_look(&d, root) && !devices_look(&d, root), "that is seen once");
    is_int((int64_t)devices_elsewhere(&d), 1, "one is in use");
    is_int((int64_t)devices_free(&d), 1, "and is not free");
    is_str(devices_elsewhere_text(a, &d),
           arena_printf(a, "GPU 1 is in use by process %d of another run or server on this machine",
                        (int)pid),
           "by whom");
    ok(!jv_exists(devices_take(&d, a, S("both"), 2)), "it is given to nobody");
    is_json(devices_take(&d, a, S("one"), 1), "[0]", "the other is");
    is_int(device_lock_take(path, &e), -1, "nor can it be locked");
    is_str(str_of(e.msg),
           arena_printf(a, "%s is in use by process %d of another run or server on this machine",
                        path, (int)pid),
           "and who tries is told why");
    struct device_lock_seen at[] = { { .path = "/nowhere" }, { .path = path }, { .path = root } };
    device_lock_holders(at, COUNT(at));
    is_int(at[0].holder, 0, "of several, nobody has what is not there");
    is_int(at[1].holder, pid, "each has its own holder");
    is_int(at[2].holder, 0, "or none");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ok(devices_look(&d, root), "kill -9 gives it back");
    is_int((int64_t)devices_free(&d), 1, "it is free again");
    ok(device_lock_is_for("nvidia12") && !device_lock_is_for("nvidiactl") &&
           !device_lock_is_for("nvidia-uvm") && !device_lock_is_for("nvidia"),
       "devices that all share are not locked");
}

int main(void)
{
    if (!mkdtemp(root))
        return 1;
    machine_is_read();
    lists_change();
    devices_are_lent();
    a_pod_has_the_nodes_of_its_own_gpus();
    others_use_gpus();
    char cmd[200];
    snprintf(cmd, sizeof(cmd), "rm -r %s", root);
    ok(system(cmd) == 0, "clean");
    return tap_done();
}
