/* What `muster run` adds to containers: working directory, volumes, environment. */

#include "cli/extras.h"
#include "tap.h"

#include <stdlib.h>

static jv read_json(struct arena *a, const char *text)
{
    struct err e = { 0 };
    char *copy = strdup(text);

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    jv v = json_parse(a, arena_str(a, str_of(copy)), NULL, &e);
    free(copy);
    if (!jv_exists(v))
        printf("Bail out! %s\n", e.msg);
    return v;
}

static void is_object(struct arena *a, jv got, const char *want, const char *what)
{
    is_str(json_text(a, got), json_text(a, read_json(a, want)), what);
}

static str image_dir(void *ctx, jv container)
{
    (void)ctx;
    return str_eqz(jv_str(jv_at(container, "image"), S("")), "has-dir") ? S("/app") : STR_NONE;
}

static void containers_get_the_directory(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct extras x = { .workdir = "/w", .image_dir = image_dir };

    is_object(
        a,
        extras_add(a, &x,
                   read_json(a, "{'apiVersion': 'v1', 'kind': 'Pod', 'spec': {'containers': "
                                "[{'name': 'a'}, {'name': 'b', 'workingDir': '/b'}]}}")),
        "{'apiVersion': 'v1', 'kind': 'Pod', 'spec': {'containers': [{'name': 'a', "
        "'volumeMounts': [{'name': 'muster-workdir', 'mountPath': '/w'}], 'workingDir': '/w'}, "
        "{'name': 'b', 'workingDir': '/b'}], 'volumes': [{'name': 'muster-workdir', "
        "'hostPath': {'path': '/w', 'type': 'Directory'}}]}}",
        "the one that names none, and the pod gets the volume");
    is_object(a,
              extras_add(a, &x,
                         read_json(a, "{'apiVersion': 'v1', 'kind': 'Pod', 'spec': {'containers': "
                                      "[{'name': 'b', 'workingDir': '/b'}]}}")),
              "{'apiVersion': 'v1', 'kind': 'Pod', 'spec': {'containers': [{'name': 'b', "
              "'workingDir': '/b'}]}}",
              "nothing is added where all name one");
    x.workdir_ro = true;
    is_object(
        a,
        extras_add(a, &x,
                   read_json(a, "{'apiVersion': 'v1', 'kind': 'Pod', 'spec': "
                                "{'initContainers': [{'image': 'has-dir'}], 'containers': "
                                "[{'volumeMounts': [{'name': 'v', 'mountPath': '/w'}]}]}}")),
        "{'apiVersion': 'v1', 'kind': 'Pod', 'spec': {'initContainers': [{'image': 'has-dir', "
        "'volumeMounts': [{'name': 'muster-workdir', 'mountPath': '/w', 'readOnly': true}]}], "
        "'containers': [{'volumeMounts': [{'name': 'v', 'mountPath': '/w'}], 'workingDir': "
        "'/w'}], 'volumes': [{'name': 'muster-workdir', 'hostPath': {'path': '/w', 'type': "
        "'Directory'}}]}}",
        "an image's own directory counts before it, and a mount at its path stays");
}

static void every_role_gets_all(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct extra_mount m = { "/h", "/p", true };
    struct extras x = { .mounts = &m,
                        .n_mounts = 1,
                        .env = read_json(a, "{'A': '$(B)$', 'C': ''}") };
    const char *job = "{'apiVersion': 'kubeflow.org/v1', 'kind': 'TFJob', 'spec': "
                      "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'env': "
                      "[{'name': 'A', 'value': 'was'}], 'volumeMounts': [{'name': 'v', "
                      "'mountPath': '/p'}]}]}}}, 'PS': {}}}}";

    is_object(
        a, extras_add(a, &x, read_json(a, job)),
        "{'apiVersion': 'kubeflow.org/v1', 'kind': 'TFJob', 'spec': {'tfReplicaSpecs': "
        "{'Worker': {'template': {'spec': {'containers': [{'env': [{'name': 'A', 'value': "
        "'$$(B)$$'}, {'name': 'C', 'value': ''}], 'volumeMounts': [{'name': 'muster-volume-1', "
        "'mountPath': '/p', 'readOnly': true}]}], 'volumes': [{'name': 'muster-volume-1', "
        "'hostPath': {'path': '/h'}}]}}}, 'PS': {}}}}",
        "values are literal; what the command line says counts before the file");
    ok(extras_want_workdir(read_json(a, job)), "a container of it names no workingDir");
    is_object(a, extras_add(a, &x, read_json(a, "{'apiVersion': 'v1', 'kind': 'Secret'}")),
              "{'apiVersion': 'v1', 'kind': 'Secret'}", "other objects stay as they are");
}

static void pods_are_watched(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct extras x = { .stall_after = "5m0s" };

    is_object(a, extras_add(a, &x, read_json(a, "{'apiVersion':'v1','kind':'Pod','spec':{}}")),
              "{'apiVersion':'v1','kind':'Pod','spec':{},"
              "'metadata':{'annotations':{'muster.dev/stall-after':'5m0s'}}}",
              "a pod");
    const char *own = "{'apiVersion':'v1','kind':'Pod','metadata':{'annotations':{"
                      "'muster.dev/stall-after':'0'}},'spec':{}}";
    is_object(a, extras_add(a, &x, read_json(a, own)), own, "its own annotation stays");
    is_object(a,
              extras_add(a, &x,
                         read_json(a, "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','spec':{"
                                      "'tfReplicaSpecs':{'PS':{'template':{'metadata':{"
                                      "'annotations':{'muster.dev/stall-after':'1m','x':'y'}}}},"
                                      "'Worker':{'replicas':2,'template':{}},'Chief':null}}}")),
              "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','spec':{'tfReplicaSpecs':{"
              "'PS':{'template':{'metadata':{'annotations':{'muster.dev/stall-after':'1m','x':'y'}"
              "}}},'Worker':{'replicas':2,'template':{'metadata':{'annotations':{"
              "'muster.dev/stall-after':'5m0s'}}}},'Chief':null}}}",
              "templates of a job");
    const char *job = "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','metadata':{'annotations':{"
                      "'muster.dev/stall-after':'1h'}},'spec':{'tfReplicaSpecs':{'Worker':{"
                      "'template':{}}}}}";
    is_object(a, extras_add(a, &x, read_json(a, job)), job, "the operator knows the job's own");
    is_object(a, extras_add(a, &x, read_json(a, "{'apiVersion':'v1','kind':'Secret'}")),
              "{'apiVersion':'v1','kind':'Secret'}", "other objects have no pods");
}

static void mounts_are_read(void)
{
    static const struct {
        const char *text, *host, *pod, *why;
        bool ro;
    } rows[] = {
        { "/a:/b", "/a", "/b", NULL, false },
        { "a/b:/c:ro", "a/b", "/c", NULL, true },
        { "a:/c:rw", "a", "/c", NULL, false },
        { "/a", NULL, NULL, "must be HOST:POD", false },
        { ":/b", NULL, NULL, "must be HOST:POD", false },
        { "/a:/b:/c", NULL, NULL, "must be HOST:POD", false },
        { "/a:b", NULL, NULL, "must be absolute", false },
        { "/a:ro", NULL, NULL, "must be HOST:POD", false },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct extra_mount m;
        struct err e = { 0 };
        int rc = extras_read_mount(a, rows[i].text, &m, &e);
        if (rows[i].why)
            ok(rc < 0 && strstr(e.msg, rows[i].why), "%s: %s", rows[i].text, e.msg);
        else
            ok(rc == 0 && !strcmp(m.host, rows[i].host) && !strcmp(m.pod, rows[i].pod) &&
                   m.ro == rows[i].ro,
               "%s", rows[i].text);
    }
}

static void environment_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild b = jb_obj(a);
    struct err e = { 0 };

    setenv("EXTRAS_SET", "own", 1);
    unsetenv("EXTRAS_NOT_SET");
    is_int(extras_read_env_file(
               a, "f", S("# c\r\n\nA=1\r\n  B= x=y \nEXTRAS_SET\nEXTRAS_NOT_SET\nA=2"), &b, &e),
           0, "a file is read");
    is_object(a, jb_done(&b), "{'A': '2', 'B': ' x=y ', 'EXTRAS_SET': 'own'}", "line by line");
    is_int(extras_read_env_file(a, "f", S("A=1\n=2\n"), &b, &e), -1, "a line without a name");
    is_str(str_of(e.msg), S("f:2: '=2': must be NAME=VALUE or NAME"), "is told with its number");
    is_int(extras_read_env_file(a, "f", S("export A=1\n"), &b, &e), -1, "a name with a blank");
    is_str(str_of(e.msg),
           S("f:1: 'export A=1': the name has a blank in it; must be NAME=VALUE or NAME"),
           "is told with its number, too");
    is_int(extras_read_env("A=\xff", &b, &e), -1, "a value that is no UTF-8");
    is_str(str_of(e.msg), S("A: the value is not valid UTF-8"), "is told");
}

int main(void)
{
    containers_get_the_directory();
    every_role_gets_all();
    pods_are_watched();
    mounts_are_read();
    environment_is_read();
    return tap_done();
}
