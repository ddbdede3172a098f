/* Documents of images: what is chosen, and what is refused. */

#include "image/document.h"
#include "tap.h"

#define D0 "sha256:0000000000000000000000000000000000000000000000000000000000000000"
#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"

static void the_platform_is_chosen(void)
{
    static const struct {
        const char *index, *name, *want, *why;
    } rows[] = {
        { "{'manifests': [{'digest': '" D0
          "', 'platform': {'os': 'linux', 'architecture': 'arm64'}},"
          "{'digest': '" D1 "', 'platform': {'os': 'linux', 'architecture': 'amd64'}},"
          "{'digest': '" D2 "', 'platform': {'os': 'unknown', 'architecture': 'unknown'}}]}",
          NULL, "1111", "" },
        { "{'manifests': [{'digest': '" D0 "'}]}", NULL, "0000", "" },
        { "{'manifests': [{'digest': '" D0 "'}]}", "any", "0000", "" },
        { "{'manifests': [{'digest': '" D0
          "', 'annotations': {'org.opencontainers.image.ref.name': "
          "'a:1'}}, {'digest': '" D1 "', 'annotations': {'io.containerd.image.name': "
          "'docker.io/library/b:1', 'org.opencontainers.image.ref.name': '1'}}]}",
          "b:1", "1111", "" },
        { "{'manifests': [{'digest': '" D0 "'}, {'digest': '" D1 "', 'annotations': "
          "{'vnd.docker.reference.type': 'attestation-manifest'}}]}",
          NULL, "0000", "" },
        { "{'manifests': [{'digest': '" D0 "'}, {'digest': '" D1 "'}]}", NULL, NULL,
          "the index has 2 images for linux/amd64: choose one with --name" },
        { "{'manifests': [{'digest': '" D0 "'}, {'digest': '" D1 "'}]}", "x", NULL,
          "no image is named x for linux/amd64 among the 2 in the index" },
        { "{'manifests': [{'digest': '" D0 "', 'platform': {'os': 'linux', 'architecture': "
          "'arm64'}}]}",
          NULL, NULL, "none of the 1 images in the index is for linux/amd64" },
        { "{'manifests': []}", NULL, NULL, "none of the 0 images in the index is for linux/amd64" },
        { "{'manifests': {}}", NULL, NULL, "index: manifests: must be a list" },
        { "{'manifests': [{'digest': 'sha256:../../etc/passwd'}]}", NULL, NULL,
          "index: manifest: \"sha256:../../etc/passwd\" is not a sha256 digest" },
        { "{'manifests': [{'digest': 'sha512:00'}]}", NULL, NULL,
          "index: manifest: \"sha512:00\" is not a sha256 digest" },
        { "{'manifests': [7]}", NULL, NULL, "index: manifest: must be an object" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(rows[i].index);
        struct image_blob b = { 0 };
        struct err e = { 0 };
        str found = STR_NONE;
        int rc = image_index_pick(a, jdoc_root(d), rows[i].name, S("amd64"), &b, &found, &e);
        if (rows[i].want)
            ok(rc == 0 && strncmp(b.digest.hex, rows[i].want, 4) == 0, "%s %s", rows[i].want,
               e.msg);
        else
            is_str(str_of(rc < 0 ? e.msg : "(none)"), str_of(rows[i].why), "refused");
    }
}

static void manifests_are_checked(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "{'config': {'digest': '" D0 "'}, 'layers': [{'digest': '" D1 "', 'size': 5}]}", NULL },
        { "{'config': {'digest': '" D0 "'}, 'layers': []}", NULL },
        { "{'schemaVersion': 1, 'fsLayers': []}", "manifest: schema version 1 is not supported" },
        { "{'layers': []}", "manifest: config: must be an object" },
        { "{'config': {'digest': '" D0 "'}}", "manifest: layers: must be a list" },
        { "{'config': {'digest': '" D0 "'}, 'layers': [{}]}",
          "manifest: layer: \"\" is not a sha256 digest" },
        { "{'config': {'digest': '" D0 "'}, 'layers': [1,2,3]}",
          "manifest: 3 layers, more than the limit of 2" },
        { "[]", "manifest: config: must be an object" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(rows[i].text);
        struct image_manifest m;
        struct err e = { 0 };
        int rc = image_manifest_read(a, jdoc_root(d), 2, &m, &e);
        is_str(str_of(rc < 0 ? e.msg : ""), str_of(rows[i].why ? rows[i].why : ""), rows[i].text);
    }
}

static void docker_manifests_are_checked(void)
{
    static const struct {
        const char *text, *name, *want, *why;
    } rows[] = {
        { "[{'Config': 'c.json', 'RepoTags': ['a:1', 'b:2'], 'Layers': ['l/layer.tar']}]", NULL,
          "a:1", "" },
        { "[{'Config': 'c.json', 'RepoTags': ['a:1', 'b:2'], 'Layers': []}]", "b:2", "b:2", "" },
        { "[{'Config': 'c.json', 'RepoTags': null, 'Layers': []}]", NULL, "", "" },
        { "[{'Config': 'c', 'RepoTags': ['a:1']}, {'Config': 'd', 'RepoTags': ['b:1'], 'Layers': "
          "[]}]",
          "docker.io/library/b:1", "b:1", "" },
        { "[{'Config': 'c', 'RepoTags': ['a:1']}, {'Config': 'd', 'RepoTags': ['b:1']}]", NULL,
          NULL, "the archive has 2 images: choose one with --name" },
        { "[{'Config': 'c', 'RepoTags': ['a:1']}, {'Config': 'd', 'RepoTags': ['b:1']}]", "c", NULL,
          "no image is named c among the 2 in the archive" },
        { "[]", NULL, NULL, "manifest.json: must be a list of images" },
        { "{}", NULL, NULL, "manifest.json: must be a list of images" },
        { "[{'Config': 7, 'Layers': []}]", NULL, NULL,
          "manifest.json: Config: must be the name of a file" },
        { "[{'Config': 'c', 'Layers': [7]}]", NULL, NULL,
          "manifest.json: Layers: must be names of files" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(rows[i].text);
        struct image_manifest m;
        struct err e = { 0 };
        int rc = image_docker_read(a, jdoc_root(d), rows[i].name, 10, &m, &e);
        if (rows[i].want)
            is_str(rc < 0 ? str_of(e.msg) : m.name, str_of(rows[i].want), "its name");
        else
            is_str(str_of(rc < 0 ? e.msg : ""), str_of(rows[i].why), "refused");
    }
}

static void configs_are_checked(void)
{
#define ROOT "'rootfs': {'diff_ids': ['" D0 "']}"
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "{" ROOT "}", "" },
        { "{" ROOT ", 'config': {'Env': null, 'Cmd': null, 'Entrypoint': []}}", "" },
        { "{" ROOT ", 'os': 'windows'}",
          "the image is for windows/amd64, and this machine is linux/amd64" },
        { "{}", "config: no rootfs: this is not a container image" },
        { "{'rootfs': {'diff_ids': []}}", "config: rootfs.diff_ids: has 0, the manifest 1 layers" },
        { "{'rootfs': {'diff_ids': ['x']}}",
          "config: rootfs.diff_ids: \"x\" is not a sha256 digest" },
        { "{" ROOT ", 'config': {'Env': ['A']}}", "config: Env: must be NAME=VALUE" },
        { "{" ROOT ", 'config': {'Env': ['=x']}}", "config: Env: must be NAME=VALUE" },
        { "{" ROOT ", 'config': {'Env': ['A=\\u0000']}}", "config: Env: must be text without NUL" },
        { "{" ROOT ", 'config': {'Cmd': 'sh'}}", "config: Cmd: must be a list" },
        { "{" ROOT ", 'config': {'Entrypoint': [7]}}",
          "config: Entrypoint: must be text without NUL" },
        { "{" ROOT ", 'config': {'WorkingDir': 7}}",
          "config: WorkingDir: must be text without NUL" },
        { "{" ROOT ", 'config': {'User': ['x']}}", "config: User: must be text without NUL" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(rows[i].text);
        struct image_config c;
        struct err e = { 0 };
        int rc = image_config_read(a, jdoc_root(d), 1, S("amd64"), &c, &e);
        is_str(str_of(rc < 0 ? e.msg : ""), str_of(rows[i].why), rows[i].text);
    }
}

int main(void)
{
    the_platform_is_chosen();
    manifests_are_checked();
    docker_manifests_are_checked();
    configs_are_checked();
    return tap_done();
}
