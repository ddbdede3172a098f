/* Ephemeral storage: what is counted, and what is said of too much. */

#include "node/storage.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char pod_text[] =
    "{'spec': {'containers': [{'name': 'a', 'resources': {'limits': {'ephemeral-storage': '1Mi'}}},"
    "{'name': 'b', 'resources': {'limits': {'ephemeral-storage': '2Mi'}}}], 'volumes': [{'name': "
    "'disk', 'emptyDir': {'sizeLimit': '1Ki'}}, {'name': 'ram', 'emptyDir': {'medium': 'Memory', "
    "'sizeLimit': '1Ki'}}, {'name': 'conf', 'configMap': {'name': 'c'}}]}}";

static void says(const char *use, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J(pod_text), *u = J(use);

    is_str(storage_exceeded(a, jdoc_root(pod), jdoc_root(u)), str_of(want), what);
}

static void limits_are_kept_as_by_kubelet(void)
{
    says("{'containers': {'a': 1048576, 'b': 2000000}, 'volumes': {'disk': 1024}}", "",
         "as much as it may");
    says("{'containers': {}, 'volumes': {'disk': 1025}}",
         "Usage of EmptyDir volume \"disk\" exceeds the limit \"1Ki\". ", "an emptyDir");
    says("{'containers': {'a': 1048577}, 'volumes': {}}",
         "Container a exceeded its local ephemeral storage limit \"1Mi\". ", "a container");
    says("{'containers': {'a': 1048576, 'b': 2097152}, 'volumes': {'disk': 1024}}",
         "Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ",
         "all of it");
    says("{}", "", "nothing is not too much");
}

static void who_has_no_limit_is_left_alone(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J(pod_text);
    AUTO(jdoc)
    struct jdoc *free = J("{'spec': {'containers': [{'name': 'a'}], 'volumes': [{'name': "
                          "'ram', 'emptyDir': {'medium': 'Memory', 'sizeLimit': "
                          "'1Ki'}}, {'name': 'd', 'emptyDir': {}}]}}");
    AUTO(jdoc) struct jdoc *use = J("{'containers': {'a': 1000000000}, 'volumes': {'d': 5}}");

    ok(storage_is_limited(jdoc_root(pod)), "limits are seen");
    ok(!storage_is_limited(jdoc_root(free)), "one in memory is not on disk");
    is_str(storage_exceeded(a, jdoc_root(free), jdoc_root(use)), S(""), "as much as there is");
}

static void files_are_counted(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J(pod_text);
    char dir[] = "/tmp/muster-storage-XXXXXX";

    if (!mkdtemp(dir))
        exit(1);
    str make = arena_printf(a,
                            "cd %s && mkdir -p over/a/0/home tmp/a volumes/disk volumes/ram && "
                            "head -c 100000 /dev/urandom >over/a/0/home/x && "
                            "head -c 50000 /dev/urandom >tmp/a/y && ln -s /usr tmp/a/usr && "
                            "head -c 200000 /dev/urandom >volumes/disk/z",
                            dir);
    ok(system(make.p) == 0, "files of a pod");
    jv use = storage_measure(a, jdoc_root(pod), dir);
    int64_t box = jv_int(jv_at(use, "containers", "a"), 0);
    int64_t disk = jv_int(jv_at(use, "volumes", "disk"), 0);
    ok(box >= 150000 && box < 1000000, "changes and /tmp, but not where links lead: %lld",
       (long long)box);
    ok(disk >= 200000 && disk < 1000000, "a volume: %lld", (long long)disk);
    is_int(jv_int(jv_at(use, "containers", "b"), -1), 0, "one that has nothing");
    ok(!jv_exists(jv_at(use, "volumes", "ram")), "memory is not counted");
    ok(system(arena_printf(a, "rm -rf %s", dir).p) == 0, "clean");
}

int main(void)
{
    limits_are_kept_as_by_kubelet();
    who_has_no_limit_is_left_alone();
    files_are_counted();
    return tap_done();
}
