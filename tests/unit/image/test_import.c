/* Layouts and archives become images below a data directory, and go again. */

#include "image/digest.h"
#include "image/image.h"
#include "sys/tree.h"
#include "tap.h"
#include "tarball.h"

#include <dirent.h>
#include <sys/stat.h>

enum { LAYERS = 4 };

static char top[] = "/tmp/muster-import-XXXXXX"; /* with layout/ and data/ */
static const char *data;

struct made {
    struct buf layer[LAYERS]; /* tar files */
    size_t n;
    const char *how;            /* config.config */
    const char *wrong;          /* what is not as it says: "blob", "diff", "config", "manifest" */
    const char *architecture;   /* NULL: this machine's */
    struct digest diff[LAYERS]; /* filled in */
};

static const char *at(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", top, name).p;
}

static struct digest put_blob(struct arena *a, str bytes, bool wrong)
{
    struct digest d;

    digest_of(bytes, &d);
    str path = arena_printf(a, "%s/layout/blobs/sha256/%s", top, d.hex);
    file_write(path.p, bytes);
    if (wrong) { /* one more byte than its name is for */
        int fd = open(path.p, O_WRONLY | O_APPEND | O_CLOEXEC);
        ok(write(fd, " ", 1) == 1, "a damaged blob");
        close(fd);
    }
    return d;
}

static bool is(const struct made *m, const char *what)
{
    return m->wrong && strcmp(m->wrong, what) == 0;
}

static str config_of(struct arena *a, struct made *m)
{
    AUTO(buf) struct buf b = { 0 };
    str arch = m->architecture ? str_of(m->architecture) : image_architecture();

    buf_printf(&b,
               "{\"os\": \"linux\", \"architecture\": \"%" PRI_STR "\", \"config\": %s, "
               "\"rootfs\": {\"type\": \"layers\", \"diff_ids\": [",
               STR_ARG(arch), m->how ? m->how : "{}");
    for (size_t i = 0; i < m->n; i++) {
        digest_of(is(m, "diff") ? S("other") : buf_str(&m->layer[i]), &m->diff[i]);
        buf_printf(&b, "%s\"sha256:%s\"", i ? "," : "", m->diff[i].hex);
    }
    buf_printf(&b, "]}}");
    return arena_str(a, buf_str(&b));
}

static void make_layout(struct arena *a, struct made *m)
{
    AUTO(buf) struct buf b = { 0 };

    tree_remove(AT_FDCWD, at(a, "layout"), NULL);
    tree_make(a, at(a, "layout/blobs/sha256"), 0755, NULL);
    struct digest config = put_blob(a, config_of(a, m), is(m, "config"));
    buf_printf(&b, "{\"config\": {\"digest\": \"sha256:%s\"}, \"layers\": [", config.hex);
    for (size_t i = 0; i < m->n; i++)
        buf_printf(&b, "%s{\"digest\": \"sha256:%s\"}", i ? "," : "",
                   put_blob(a, buf_str(&m->layer[i]), is(m, "blob")).hex);
    buf_printf(&b, "]}");
    struct digest manifest = put_blob(a, buf_str(&b), is(m, "manifest"));
    buf_clear(&b);
    buf_printf(&b,
               "{\"manifests\": [{\"digest\": \"sha256:%s\", \"annotations\": "
               "{\"org.opencontainers.image.ref.name\": \"docker.io/library/made:1\"}}]}",
               manifest.hex);
    file_write(at(a, "layout/index.json"), buf_str(&b));
}

static void made_auto(struct made *m)
{
    for (size_t i = 0; i < LAYERS; i++)
        buf_done(&m->layer[i]);
}

static int import(struct arena *a, const char *from, struct image_imported *im, struct err *e)
{
    return image_import(a, data, at(a, from), NULL, &image_limits_default, im, e);
}

static str content(struct arena *a, const struct image_imported *im, const char *name)
{
    char text[200] = "";
    str path = arena_printf(a, "%" PRI_STR "/%s", STR_ARG(im->rootfs), name);
    int fd = open(path.p, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

    if (fd >= 0)
        close(fd);
    return n < 0 ? S("(none)") : arena_str(a, (str){ text, (size_t)n });
}

static size_t count(struct arena *a, const char *dir)
{
    DIR *d = opendir(arena_printf(a, "%s/%s", data, dir).p);
    size_t n = 0;

    for (struct dirent *x; d && (x = readdir(d));)
        n += strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

static int sweep(struct arena *a, str rootfs)
{
    return image_sweep(data, jobj(a, { "images", jarr(a, jobj(a, { "rootfs", jstr(a, rootfs) })) }),
                       NULL);
}

/* ---- */

static void two_layers(struct made *m)
{
    tar_add(&m->layer[0], '5', "etc", NULL, "");
    tar_add(&m->layer[0], '0', "etc/passwd", NULL,
            "root:x:0:0::/root:/bin/sh\napp:x:1000:1001::/srv/app:\n");
    tar_add(&m->layer[0], '0', "etc/gone", NULL, "x");
    tar_add(&m->layer[0], '0', "etc/changed", NULL, "old");
    tar_add(&m->layer[0], '0', "opaque/old", NULL, "x");
    tar_add(&m->layer[0], '0', "tree/a/b", NULL, "x");
    tar_add(&m->layer[0], '5', "usr/bin", NULL, "");
    tar_add(&m->layer[0], '2', "bin", "/usr/bin", "");
    tar_add(&m->layer[0], '2', "replaced", "usr", "");
    tar_end(&m->layer[0]);
    tar_add(&m->layer[1], '0', "etc/.wh.gone", NULL, "");
    tar_add(&m->layer[1], '0', "etc/changed", NULL, "new");
    tar_add(&m->layer[1], '0', "opaque/new", NULL, "n");
    tar_add(&m->layer[1], '0', "opaque/.wh..wh..opq", NULL, "");
    tar_add(&m->layer[1], '0', ".wh.tree", NULL, "");
    tar_add(&m->layer[1], '0', "bin/tool", NULL, "t");
    tar_add(&m->layer[1], '5', "replaced", NULL, "");
    tar_add(&m->layer[1], '0', "replaced/in", NULL, "in");
    tar_end(&m->layer[1]);
    m->n = 2;
}

static void layers_lie_on_each_other(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(made)
    struct made m = { .how = "{\"Env\": [\"A=b=c\"], \"Entrypoint\": [\"run\"], \"Cmd\": [\"x\"], "
                             "\"WorkingDir\": \"/srv\", \"User\": \"app\"}" };
    struct image_imported im;
    struct err e = { 0 };

    two_layers(&m);
    make_layout(a, &m);
    is_int(import(a, "layout", &im, &e), 0, e.msg);
    is_str(content(a, &im, "etc/changed"), S("new"), "a changed file");
    is_str(content(a, &im, "etc/gone"), S("(none)"), "a removed one");
    is_str(content(a, &im, "opaque/old"), S("(none)"), "an opaque directory hides the old ones");
    is_str(content(a, &im, "opaque/new"), S("n"), "and not its own");
    is_str(content(a, &im, "tree/a/b"), S("(none)"), "a removed tree");
    is_str(content(a, &im, "usr/bin/tool"), S("t"), "a file in a directory that is a link below");
    is_str(content(a, &im, "replaced/in"), S("in"), "a directory in place of a link");
    is_str(content(a, &im, "usr/in"), S("(none)"), "is not the one that it led to");
    is_str(content(a, &im, "etc/.wh.gone"), S("(none)"), "no marks are left");
    is_str(content(a, &im, "opaque/.wh..wh..opq"), S("(none)"), "of any kind");
    is_str(content(a, &im, "opaque/.wh..wh..implicit"), S("(none)"), "nor ours");
    is_str(im.name, S("made:1"), "its name is the short one");
    is_int(im.unpacked, 2, "both layers are new");
    jv entry = jv_without(a, im.entry, "rootfs");
    is_json(entry,
            "{'command': ['run'], 'args': ['x'], 'workingDir': '/srv', 'env': {'A': 'b=c', 'HOME': "
            "'/srv/app'}, 'user': '1000:1001'}",
            "its entry");
    is_int((int64_t)count(a, "images"), 2, "nothing else is left");
}

/* Whoever runs in the image must get through its directories. */
static void modes_do_not_depend_on_the_umask(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(made) struct made m = { 0 };
    struct image_imported im;
    struct err e = { 0 };
    struct stat st;

    tar_add(&m.layer[0], '0', "implicit/dir/file", NULL, "x");
    tar_mode(&m.layer[0], '5', "closed", NULL, S(""), 0711);
    tar_end(&m.layer[0]);
    m.n = 1;
    make_layout(a, &m);
    mode_t was = umask(0077);
    int rc = import(a, "layout", &im, &e);
    umask(was);
    is_int(rc, 0, e.msg);
    const struct {
        const char *name;
        mode_t mode;
    } rows[] = { { "", 0755 },
                 { "implicit", 0755 },
                 { "implicit/dir", 0755 },
                 { "implicit/dir/file", 0644 },
                 { "closed", 0711 } };
    for (size_t i = 0; i < COUNT(rows); i++)
        ok(stat(arena_printf(a, "%" PRI_STR "/%s", STR_ARG(im.rootfs), rows[i].name).p, &st) == 0 &&
               (st.st_mode & 07777) == rows[i].mode,
           "/%s has mode %o", rows[i].name, st.st_mode & 07777);
    sweep(a, S(""));
}

static void layers_are_shared(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(made) struct made m = { 0 }, other = { .how = "{\"Env\": [\"OTHER=1\"]}" };
    struct image_imported im, second;
    struct err e = { 0 };
    struct stat x, y;

    two_layers(&m);
    two_layers(&other);
    make_layout(a, &m);
    is_int(import(a, "layout", &im, &e), 0, e.msg);
    is_int(import(a, "layout", &second, &e), 0, "the same again");
    is_str(second.rootfs, im.rootfs, "is in the same place");
    buf_clear(&other.layer[1]);
    tar_add(&other.layer[1], '0', "own", NULL, "o");
    tar_end(&other.layer[1]);
    make_layout(a, &other);
    is_int(import(a, "layout", &second, &e), 0, e.msg);
    is_int(second.unpacked, 1, "another image with one layer in common unpacks the other one");
    ok(stat(arena_printf(a, "%" PRI_STR "/etc/passwd", STR_ARG(im.rootfs)).p, &x) == 0 &&
           stat(arena_printf(a, "%" PRI_STR "/etc/passwd", STR_ARG(second.rootfs)).p, &y) == 0 &&
           x.st_ino == y.st_ino,
       "and files lie on the disk once");
    is_int(sweep(a, arena_printf(a, "/elsewhere/%" PRI_STR "/../rootfs/",
                                 STR_ARG(str_sub(second.rootfs, strlen(data), second.rootfs.n)))),
           0, "when the first is not mapped any more");
    is_str(content(a, &im, "etc/passwd"), S("(none)"), "it goes");
    is_str(content(a, &second, "own"), S("o"), "and the second stays");
    is_int((int64_t)count(a, "images/layers"), 2, "with its layers alone");
    is_int(sweep(a, S("")), 0, "without any mapping");
    ok(count(a, "images/layers") == 0 && count(a, "images") == 1, "nothing is left");
}

static void damage_is_found(void)
{
    static const struct {
        const char *wrong, *why;
    } rows[] = {
        { "blob", "layer 1: its digest is sha256:" },
        { "diff", "layer 1: unpacked its digest is sha256:" },
        { "config", ": its digest is sha256:" },
        { "manifest", ": its digest is sha256:" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(made) struct made m = { .wrong = rows[i].wrong };
        struct image_imported im;
        struct err e = { 0 };
        two_layers(&m);
        make_layout(a, &m);
        ok(import(a, "layout", &im, &e) < 0 && strstr(e.msg, rows[i].why), "%s: %s", rows[i].wrong,
           e.msg);
        ok(count(a, "images") == 1 && count(a, "images/layers") == 0, "and nothing is left");
    }
}

static void others_are_refused(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(made) struct made m = { .architecture = "pdp11" };
    AUTO(made) struct made small = { 0 };
    AUTO(made) struct made user = { .how = "{\"User\": \"nobody-here\"}" };
    struct image_limits few = image_limits_default;
    struct image_imported im;
    struct err e = { 0 };

    two_layers(&m);
    make_layout(a, &m);
    ok(import(a, "layout", &im, &e) < 0 && strstr(e.msg, "the image is for linux/pdp11"), "%s",
       e.msg);
    two_layers(&small);
    make_layout(a, &small);
    few.layers = 1;
    ok(image_import(a, data, at(a, "layout"), NULL, &few, &im, &e) < 0 &&
           strstr(e.msg, "2 layers, more than the limit of 1"),
       "%s", e.msg);
    few = image_limits_default;
    few.json_bytes = 20;
    ok(image_import(a, data, at(a, "layout"), NULL, &few, &im, &e) < 0 &&
           strstr(e.msg, "index.json: ") && strstr(e.msg, "more than the limit of 20"),
       "%s", e.msg);
    few = image_limits_default;
    few.bytes = 100000;
    memset(buf_room(&small.layer[1], 200000), 0, 200000); /* after the end of the tar file */
    small.layer[1].n += 200000;
    make_layout(a, &small);
    ok(image_import(a, data, at(a, "layout"), NULL, &few, &im, &e) < 0 &&
           strstr(e.msg, "layer 2: is larger than the limit when it is unpacked"),
       "%s", e.msg);
    two_layers(&user);
    make_layout(a, &user);
    ok(import(a, "layout", &im, &e) < 0 && strstr(e.msg, "has no user nobody-here"), "%s", e.msg);
    file_write(at(a, "file"), S("no archive, but a text that is long enough for some reader"));
    ok(import(a, "file", &im, &e) < 0, "%s", e.msg);
    ok(import(a, "none", &im, &e) < 0 && strstr(e.msg, "No such file"), "%s", e.msg);
    mkdir(at(a, "empty"), 0755);
    ok(import(a, "empty", &im, &e) < 0 && strstr(e.msg, "neither manifest.json nor index.json"),
       "%s", e.msg);
    sweep(a, S(""));
}

/* A layout's blob may not be elsewhere. */
static void links_do_not_lead_out_of_a_layout(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(made) struct made m = { 0 };
    struct image_imported im;
    struct err e = { 0 };

    two_layers(&m);
    make_layout(a, &m);
    const char *blob = arena_printf(a, "%s/layout/blobs/sha256/%s", top, m.diff[0].hex).p;
    rename(blob, at(a, "elsewhere"));
    ok(symlink(at(a, "elsewhere"), blob) == 0, "a link");
    ok(import(a, "layout", &im, &e) < 0, "is not followed: %s", e.msg);
    sweep(a, S(""));
}

static void docker_archives_are_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(made) struct made m = { 0 };
    AUTO(buf) struct buf t = { 0 };
    struct image_imported im;
    struct err e = { 0 };

    two_layers(&m);
    str config = config_of(a, &m);
    tar_mode(&t, '0', "0a/layer.tar", NULL, buf_str(&m.layer[0]), 0644);
    tar_add(&t, '2', "0b/layer.tar", "../0c/layer.tar", "");
    tar_mode(&t, '0', "0c/layer.tar", NULL, buf_str(&m.layer[1]), 0644);
    tar_mode(&t, '0', "config.json", NULL, config, 0644);
    tar_add(&t, '0', "manifest.json", NULL,
            "[{\"Config\": \"config.json\", \"RepoTags\": [\"saved:2\"], \"Layers\": "
            "[\"0a/layer.tar\", \"0b/layer.tar\"]}]");
    tar_end(&t);
    file_write(at(a, "saved.tar"), buf_str(&t));
    is_int(import(a, "saved.tar", &im, &e), 0, e.msg);
    is_str(im.name, S("saved:2"), "its name");
    is_str(content(a, &im, "etc/changed"), S("new"),
           "its files, behind a link in the archive, too");
    is_int((int64_t)count(a, "images"), 2, "what was unpacked on the way is gone");
    buf_clear(&t);
    tar_add(&t, '0', "../manifest.json", NULL, "[]");
    tar_end(&t);
    file_write(at(a, "saved.tar"), buf_str(&t));
    ok(import(a, "saved.tar", &im, &e) < 0 && strstr(e.msg, "saved.tar: entry ../manifest.json"),
       "%s", e.msg);
    sweep(a, S(""));
}

static void interrupted_imports_are_cleared(void)
{
    AUTO(arena) struct arena *a = arena_new();

    tree_make(a, at(a, "data/images/.new-0123/layer/etc"), 0755, NULL);
    is_int((int64_t)count(a, "images"), 2, "half an import");
    is_int(sweep(a, S("")), 0, "is swept");
    is_int((int64_t)count(a, "images"), 1, "away");
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!mkdtemp(top))
        return 1;
    umask(022);
    data = at(a, "data");
    mkdir(data, 0700);
    layers_lie_on_each_other();
    sweep(a, S(""));
    modes_do_not_depend_on_the_umask();
    layers_are_shared();
    damage_is_found();
    others_are_refused();
    links_do_not_lead_out_of_a_layout();
    docker_archives_are_read();
    interrupted_imports_are_cleared();
    tree_remove(AT_FDCWD, top, NULL);
    return tap_done();
}
