/* An import: the documents, then each layer that is not here yet, then the image of its layers. */

#include "image/archive_lazy.h"
#include "image/internal.h"
#include "image/merge.h"
#include "image/source.h"
#include "image/unpack.h"
#include "kube/image_name.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

const struct image_limits image_limits_default = {
    .bytes = 256LL << 30,
    .files = 4000000,
    .layers = 500,
    .json_bytes = 4 << 20,
};

volatile sig_atomic_t image_stopped;

struct import {
    struct arena *a;
    const struct image_limits *limits;
    struct image_source source;
    struct image_manifest manifest;
    struct image_config config;
    struct digest id; /* of the config */
    int store;        /* images/ */
    int fresh;        /* a new directory in it */
    int64_t bytes;    /* unpacked */
    int64_t files;
    struct image_imported *out;
};

str image_architecture(void)
{
    static const char *const table[][2] = {
        { "x86_64", "amd64" },    { "aarch64", "arm64" },   { "i686", "386" },
        { "armv7l", "arm" },      { "ppc64le", "ppc64le" }, { "s390x", "s390x" },
        { "riscv64", "riscv64" },
    };
    struct utsname u;

    for (size_t i = 0; uname(&u) == 0 && i < COUNT(table); i++)
        if (strcmp(u.machine, table[i][0]) == 0)
            return str_of(table[i][1]);
    return S("unknown");
}

/* ---- documents */

/* An index may lead to another one, for platforms. */
static int read_layout(struct import *m, const char *name, struct err *e)
{
    struct image_blob at = { .file = S("index.json"), .size = -1 };
    size_t most = (size_t)m->limits->layers;
    str first = S(""), found;

    for (int i = 0; i < 4; i++) {
        jv doc = image_source_json(&m->source, &at, e);
        if (!jv_exists(doc))
            return -1;
        if (!jv_is(jv_at(doc, "manifests"), JV_ARR)) {
            if (image_manifest_read(m->a, doc, most, &m->manifest, e) < 0)
                return -1;
            m->manifest.name = first;
            return 0;
        }
        if (image_index_pick(m->a, doc, i ? NULL : name, image_architecture(), &at, &found, e) < 0)
            return -1;
        first = i ? first : found;
    }
    return err_set(e, ERR_INVALID, "index.json: too many nested indexes");
}

static int read_documents(struct import *m, const char *name, struct err *e)
{
    const struct image_source *s = &m->source;
    struct image_blob docker = { .file = S("manifest.json"), .size = -1 };

    if (image_source_has(s, "manifest.json")) {
        jv list = image_source_json(s, &docker, e);
        if (!jv_exists(list) ||
            image_docker_read(m->a, list, name, (size_t)m->limits->layers, &m->manifest, e) < 0)
            return -1;
    } else if (image_source_has(s, "index.json")) {
        if (read_layout(m, name, e) < 0)
            return -1;
    } else {
        return err_set(e, ERR_INVALID,
                       "has neither manifest.json nor index.json: it is no docker "
                       "archive, OCI archive or OCI layout");
    }
    jv config = image_source_json(s, &m->manifest.config, e);
    if (!jv_exists(config))
        return -1;
    if (!m->manifest.config.digest.hex[0]) /* docker archives of others */
        digest_of(json_text(m->a, config), &m->id);
    else
        m->id = m->manifest.config.digest;
    return image_config_read(m->a, config, m->manifest.n, image_architecture(), &m->config, e);
}

/* ---- layers */

static const char *layer_name(struct import *m, size_t i)
{
    return arena_printf(m->a, "layers/sha256-%s", m->config.diffs[i].hex).p;
}

static int unpack_to(struct import *m, size_t i, int dir, struct err *e)
{
    const struct image_blob *b = &m->manifest.layers[i];
    AUTO(sys_fd) int fd = image_source_blob(&m->source, b, e);
    struct digest blob, diff;
    struct image_unpack u;
    AUTO(image_stream)
    struct image_stream *s = fd < 0 ? NULL : image_stream_open(fd, m->limits->bytes, e);

    if (!s)
        return -1;
    image_unpack_init(&u, dir, m->limits);
    u.bytes = m->bytes;
    u.files = m->files;
    int rc = image_unpack(&u, s, e) < 0 || image_stream_end(s, &blob, &diff, e) < 0 ? -1 : 0;
    image_unpack_done(&u);
    m->bytes = u.bytes;
    m->files = u.files;
    m->out->dropped.devices += u.dropped.devices;
    m->out->dropped.setuid += u.dropped.setuid;
    if (rc < 0)
        return -1;
    if (b->digest.hex[0] && !digest_eq(&blob, &b->digest))
        return err_set(e, ERR_INVALID, "its digest is sha256:%s", blob.hex);
    if (!digest_eq(&diff, &m->config.diffs[i]))
        return err_set(e, ERR_INVALID, "unpacked its digest is sha256:%s, not %s", diff.hex,
                       m->config.diffs[i].hex);
    return 0;
}

static int add_layer(struct import *m, size_t i, struct err *e)
{
    const char *name = layer_name(m, i);
    struct stat st;

    if (fstatat(m->store, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    if (mkdirat(m->fresh, "layer", 0755) < 0)
        return err_sys(e, "make a directory");
    AUTO(sys_fd) int dir = openat(m->fresh, "layer", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(e, "make a directory");
    if (unpack_to(m, i, dir, e) < 0)
        return err_wrap(e, "layer %zu", i + 1);
    m->out->unpacked++;
    return image_store_keep(m->store, m->fresh, "layer", name, e);
}

/* ---- the image */

static int merge_all(struct import *m, int rootfs, struct err *e)
{
    for (size_t i = 0; i < m->manifest.n; i++) {
        AUTO(sys_fd)
        int layer = openat(m->store, layer_name(m, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (layer < 0)
            return err_sys(e, "open images/%s", layer_name(m, i));
        if (image_merge(layer, rootfs, e) < 0)
            return err_wrap(e, "layer %zu", i + 1);
    }
    return 0;
}

static int write_note(struct import *m, int dir, struct err *e)
{
    struct jbuild b = jb_arr(m->a);

    for (size_t i = 0; i < m->manifest.n; i++)
        jb_push(&b, jstr(m->a, str_of(layer_name(m, i) + strlen("layers/"))));
    return sys_replace_file(dir, "image.json",
                            json_text(m->a, jobj(m->a, { "layers", jb_done(&b) })), e);
}

static int build(struct import *m, const char *name, struct err *e)
{
    struct stat st;

    if (fstatat(m->store, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    if (mkdirat(m->fresh, "image", 0700) < 0 || mkdirat(m->fresh, "image/rootfs", 0755) < 0)
        return err_sys(e, "make a directory");
    AUTO(sys_fd) int dir = openat(m->fresh, "image", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO(sys_fd) int rootfs = openat(dir, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || rootfs < 0 || fchmod(rootfs, 0755) < 0)
        return err_sys(e, "make a directory");
    if (merge_all(m, rootfs, e) < 0 || write_note(m, dir, e) < 0)
        return -1;
    return image_store_keep(m->store, m->fresh, "image", name, e);
}

/* What images.yaml is to say. HOME is what container engines set it to. */
static int make_entry(struct import *m, const char *name, struct err *e)
{
    struct arena *a = m->a;
    const struct image_config *c = &m->config;
    AUTO(sys_fd)
    int rootfs =
        openat(m->store, arena_printf(a, "%s/rootfs", name).p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct image_user user;
    jv env = c->env;

    if (rootfs < 0)
        return err_sys(e, "open images/%s/rootfs", name);
    if (image_user_find(a, rootfs, c->user, &user, e) < 0)
        return -1;
    if (!jv_exists(jv_at(env, "HOME")))
        env = jv_with(a, env,
                      jstr(a, user.home.n     ? user.home
                              : user.uid == 0 ? S("/root")
                                              : S("/")),
                      "HOME");
    bool other = user.uid != 0 || user.gid != 0;
    str ids = arena_printf(a, "%lld:%lld", (long long)user.uid, (long long)user.gid);
    m->out->user = other ? c->user : S("");
    m->out->entry =
        jobj(a, { "rootfs", jstr(a, m->out->rootfs) }, { "command", c->command },
             { "args", c->args }, { "workingDir", c->cwd.n ? jstr(a, c->cwd) : JV_ABSENT },
             { "env", env }, { "user", other ? jstr(a, ids) : JV_ABSENT });
    return 0;
}

static int import(struct import *m, const char *from, const char *name, struct err *e)
{
    if (mkdirat(m->fresh, "spool", 0700) < 0)
        return err_sys(e, "make a directory");
    AUTO(sys_fd) int room = openat(m->fresh, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (room < 0)
        return err_sys(e, "make a directory");
    if (image_source_open(&m->source, m->a, from, room, m->limits, e) < 0)
        return -1;
    if (read_documents(m, name, e) < 0)
        return -1;
    for (size_t i = 0; i < m->manifest.n; i++)
        if (add_layer(m, i, e) < 0)
            return -1;
    const char *image = arena_printf(m->a, "sha256-%s", m->id.hex).p;
    m->out->rootfs = arena_printf(m->a, "%" PRI_STR "/%s/rootfs", STR_ARG(m->out->rootfs), image);
    m->out->layers = (int64_t)m->manifest.n;
    m->out->name = image_name_short(m->manifest.name);
    return build(m, image, e) < 0 ? -1 : make_entry(m, image, e);
}

int image_import(struct arena *a, const char *data, const char *from, const char *name,
                 const struct image_limits *limits, struct image_imported *out, struct err *e)
{
    struct import m = { .a = a, .limits = limits, .out = out, .source.dir = -1, .fresh = -1 };
    char fresh[32];

    *out = (struct image_imported){ .rootfs = arena_printf(a, "%s/images", data) };
    m.store = image_store_open(data, e);
    if (m.store < 0)
        return -1;
    m.fresh = image_store_new(m.store, fresh, e);
    int rc = m.fresh < 0 ? -1 : import(&m, from, name, e);
    if (rc < 0)
        err_wrap(e, "%.100s", from);
    image_source_done(&m.source);
    if (m.fresh >= 0) {
        close(m.fresh);
        tree_remove(m.store, fresh, NULL);
    }
    close(m.store);
    archive_lazy_unload();
    return rc;
}
