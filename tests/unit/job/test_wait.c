/* The script with which early workers wait for their master, run by a shell that finds a host only
 * when told to. */

#include "base/yaml.h"
#include "tap.h"
#include "world.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/muster-wait-XXXXXX";

static void put(const char *name, const char *text, mode_t mode)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/%s", dir, name).p;
    FILE *f = fopen(path, "w");

    if (!f)
        return;
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

/* Of worker 0 of a job with a master. */
static str script_of(struct arena *a, struct plan_settings settings)
{
    AUTO(jdoc)
    struct jdoc *job =
        J("{'apiVersion':'kubeflow.org/v1','kind':'PyTorchJob','metadata':{'name':'j'},'spec':{"
          "'pytorchReplicaSpecs':{'Master':{'replicas':1,'template':{'spec':{'containers':[{"
          "'name':'pytorch','image':'i'}]}}},'Worker':{'template':{'spec':{'containers':[{'name':"
          "'pytorch','image':'i'}]}}}}}}");
    AUTO(jdoc) struct jdoc *seen = J("{'now':'2025-01-01T10:00:00Z'}");
    struct world w = { .a = a };
    struct err e = { 0 };

    if (world_read(&w, jdoc_root(job), jdoc_root(seen), &e) < 0)
        return STR_NONE;
    w.settings = settings;
    const struct plan *p = world_plan(&w, a, &e);
    for (size_t i = 0; p && i < p->n_steps; i++)
        if (str_eqz(p->steps[i].name, "j-worker-0") && p->steps[i].res == &kube_pods) {
            jv init = jv_index(jv_at(step_object(a, &p->steps[i]), "spec", "initContainers"), 0);
            return arena_str(a, jv_str(jv_index(jv_get(init, S("command")), 2), STR_NONE));
        }
    return STR_NONE;
}

/* Its exit status, with only what is in dir on its PATH; what it printed is in dir/out. */
static int run(str script)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *text = arena_printf(a, "%" PRI_STR, STR_ARG(script)).p;
    const char *path = arena_printf(a, "PATH=%s", dir).p, *out = arena_printf(a, "%s/out", dir).p;
    const char *const env[] = { path, NULL };
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (!freopen(out, "w", stdout))
            _exit(99);
        execle("/bin/sh", "sh", "-c", text, NULL, env);
        _exit(98);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How often it said that it waits. */
static int waits(void)
{
    AUTO(arena) struct arena *a = arena_new();
    FILE *f = fopen(arena_printf(a, "%s/out", dir).p, "r");
    char line[256];
    int n = 0;

    while (f && fgets(line, sizeof(line), f))
        n += strcmp(line, "waiting for master\n") == 0;
    if (f)
        fclose(f);
    return n;
}

/* Fails twice, then finds the master; only by its name. */
#define LOOK(name)                                                                                 \
    "#!/bin/sh\n[ \"$" name "\" = j-master-0 ] || exit 7\nn=0; read n < %s/n; n=$((n + 1)); echo " \
    "$n > %s/n; [ $n -gt 2 ]\n"

static void tool(const char *name, const char *text)
{
    AUTO(arena) struct arena *a = arena_new();

    unlink(arena_printf(a, "%s/getent", dir).p);
    unlink(arena_printf(a, "%s/nslookup", dir).p);
    put("n", "0\n", 0644);
    put(name, text, 0755);
}

static void the_own_image_waits_for_ever(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str script = script_of(a, (struct plan_settings){ 0 });

    ok(script.n > 0, "a worker has a script");
    tool("sleep", "#!/bin/sh\n");
    is_int(run(script), 0, "an image that cannot look goes on");
    is_int(waits(), 0, "at once");
    tool("getent", arena_printf(a, LOOK("2"), dir, dir).p);
    is_int(run(script), 0, "with getent: goes on when the master is found");
    is_int(waits(), 2, "not before");
    tool("nslookup", arena_printf(a, LOOK("1"), dir, dir).p);
    is_int(run(script), 0, "with nslookup: goes on when the master is found");
    is_int(waits(), 2, "not before");
}

static void the_originals_gives_up(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct plan_settings s = { .pytorch_init_image = S("alpine:3.10"), .pytorch_init_tries = 3 };

    tool("nslookup", arena_printf(a, LOOK("1"), dir, dir).p);
    is_int(run(script_of(a, s)), 0, "by flags: goes on when the master is found");
    is_int(waits(), 2, "not before");
    tool("nslookup", "#!/bin/sh\nexit 1\n");
    is_int(run(script_of(a, s)), 1, "by flags: gives up");
    is_int(waits(), 3, "after so many tries");
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!mkdtemp(dir))
        return 1;
    the_own_image_waits_for_ever();
    the_originals_gives_up();
    static const char *const made[] = { "getent", "nslookup", "sleep", "n", "out" };
    for (size_t i = 0; i < COUNT(made); i++)
        unlink(arena_printf(a, "%s/%s", dir, made[i]).p);
    rmdir(dir);
    return tap_done();
}
