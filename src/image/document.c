/* Which layers an image has, and how its containers start. */

#include "image/document.h"

#include "kube/image_name.h"

#define REF_NAME "org.opencontainers.image.ref.name"

/* ---- common */

static bool is_text(jv v)
{
    str s = jv_str(v, STR_NONE);

    return jv_is(v, JV_STR) && (s.n == 0 || !memchr(s.p, 0, s.n));
}

static int blob_read(jv descriptor, const char *what, struct image_blob *out, struct err *e)
{
    *out = (struct image_blob){ .size = jv_int(jv_at(descriptor, "size"), -1) };
    if (!jv_is(descriptor, JV_OBJ))
        return err_set(e, ERR_INVALID, "%s: must be an object", what);
    return digest_parse(jv_str(jv_at(descriptor, "digest"), S("")), what, &out->digest, e);
}

static bool same_name(str x, str y)
{
    return str_eq(image_name_short(x), image_name_short(y));
}

/* ---- index */

/* Engines write the whole name in one annotation and the tag in the other, or only the other. */
static str entry_name(jv entry)
{
    jv notes = jv_at(entry, "annotations"), whole = jv_at(notes, "io.containerd.image.name");

    if (!is_text(whole))
        whole = jv_at(notes, REF_NAME);
    return is_text(whole) ? jv_str(whole, S("")) : S("");
}

/* Signatures and provenance lie beside images, for no platform. */
static bool may_run(jv entry, str architecture)
{
    jv platform = jv_at(entry, "platform");

    if (jv_exists(jv_at(entry, "annotations", "vnd.docker.reference.type")))
        return false;
    if (jv_is_null(platform))
        return true; /* its config says */
    return str_eqz(jv_str(jv_at(platform, "os"), S("")), "linux") &&
           str_eq(jv_str(jv_at(platform, "architecture"), S("")), architecture);
}

static int none_fits(jv list, str architecture, const char *name, struct err *e)
{
    if (name)
        return err_set(e, ERR_NOT_FOUND,
                       "no image is named %.100s for linux/%" PRI_STR " among the %zu in the index",
                       name, STR_ARG(architecture), jv_len(list));
    return err_set(e, ERR_NOT_FOUND, "none of the %zu images in the index is for linux/%" PRI_STR,
                   jv_len(list), STR_ARG(architecture));
}

int image_index_pick(struct arena *a, jv index, const char *name, str architecture,
                     struct image_blob *out, str *found, struct err *e)
{
    jv list = jv_at(index, "manifests"), only = JV_ABSENT, named = JV_ABSENT;
    size_t fit = 0;

    if (!jv_is(list, JV_ARR))
        return err_set(e, ERR_INVALID, "index: manifests: must be a list");
    JV_EACH (it, list) {
        if (!may_run(it.value, architecture))
            continue;
        fit++;
        only = fit == 1 ? it.value : only;
        if (name && !jv_exists(named) && same_name(entry_name(it.value), str_of(name)))
            named = it.value;
    }
    if (jv_exists(named))
        only = named;
    else if (fit == 0)
        return none_fits(list, architecture, NULL, e);
    else if (fit > 1 && name)
        return none_fits(list, architecture, name, e);
    else if (fit > 1)
        return err_set(e, ERR_INVALID,
                       "the index has %zu images for linux/%" PRI_STR ": choose one with --name",
                       fit, STR_ARG(architecture));
    *found = arena_str(a, entry_name(only));
    return blob_read(only, "index: manifest", out, e);
}

/* ---- manifests */

static int check_layers(jv layers, size_t most, struct err *e)
{
    if (!jv_is(layers, JV_ARR))
        return err_set(e, ERR_INVALID, "manifest: layers: must be a list");
    if (jv_len(layers) > most)
        return err_set(e, ERR_TOO_LARGE, "manifest: %zu layers, more than the limit of %zu",
                       jv_len(layers), most);
    return 0;
}

int image_manifest_read(struct arena *a, jv manifest, size_t most_layers,
                        struct image_manifest *out, struct err *e)
{
    jv layers = jv_at(manifest, "layers");

    *out = (struct image_manifest){ .name = S("") };
    if (jv_exists(jv_at(manifest, "fsLayers")))
        return err_set(e, ERR_INVALID, "manifest: schema version 1 is not supported");
    if (blob_read(jv_at(manifest, "config"), "manifest: config", &out->config, e) < 0 ||
        check_layers(layers, most_layers, e) < 0)
        return -1;
    out->layers = ARENA_ARRAY(a, struct image_blob, jv_len(layers) + 1);
    JV_EACH (it, layers)
        if (blob_read(it.value, "manifest: layer", &out->layers[out->n++], e) < 0)
            return -1;
    return 0;
}

/* The digest is part of the name: HEX.json, sha256:HEX, or blobs/sha256/HEX. */
static void digest_in_name(str file, struct digest *out)
{
    ptrdiff_t slash = str_rfind(file, '/');
    str last = str_sub(file, (size_t)(slash + 1), file.n);

    if (str_ends(last, S(".json")))
        last.n -= 5;
    if (str_starts(last, S("sha256:")))
        last = str_sub(last, 7, last.n);
    if (digest_is_hex(last))
        memcpy(out->hex, last.p, DIGEST_HEX);
}

static bool has_tag(jv image, str name, str *found)
{
    JV_EACH (it, jv_at(image, "RepoTags")) {
        str tag = is_text(it.value) ? jv_str(it.value, S("")) : S("");
        if (!found->n)
            *found = tag;
        if (name.n && same_name(tag, name)) {
            *found = tag;
            return true;
        }
    }
    return false;
}

static int docker_pick(jv list, const char *name, jv *out, str *tag, struct err *e)
{
    size_t n = jv_len(list);

    if (!jv_is(list, JV_ARR) || n == 0)
        return err_set(e, ERR_INVALID, "manifest.json: must be a list of images");
    JV_EACH (it, list) {
        str found = S("");
        bool named = has_tag(it.value, name ? str_of(name) : S(""), &found);
        if (named || n == 1) {
            *out = it.value;
            *tag = found;
            return 0;
        }
    }
    if (name)
        return err_set(e, ERR_NOT_FOUND, "no image is named %.100s among the %zu in the archive",
                       name, n);
    return err_set(e, ERR_INVALID, "the archive has %zu images: choose one with --name", n);
}

int image_docker_read(struct arena *a, jv list, const char *name, size_t most_layers,
                      struct image_manifest *out, struct err *e)
{
    jv image = JV_ABSENT;
    str tag = S("");

    *out = (struct image_manifest){ .name = S("") };
    if (docker_pick(list, name, &image, &tag, e) < 0)
        return -1;
    jv config = jv_at(image, "Config"), layers = jv_at(image, "Layers");
    if (!is_text(config))
        return err_set(e, ERR_INVALID, "manifest.json: Config: must be the name of a file");
    if (check_layers(layers, most_layers, e) < 0)
        return -1;
    out->name = arena_str(a, tag);
    out->config = (struct image_blob){ .file = jv_str(config, S("")), .size = -1 };
    digest_in_name(out->config.file, &out->config.digest);
    out->layers = ARENA_ARRAY(a, struct image_blob, jv_len(layers) + 1);
    JV_EACH (it, layers) {
        if (!is_text(it.value))
            return err_set(e, ERR_INVALID, "manifest.json: Layers: must be names of files");
        struct image_blob *l = &out->layers[out->n++];
        *l = (struct image_blob){ .file = jv_str(it.value, S("")), .size = -1 };
        if (str_starts(l->file, S("blobs/sha256/")))
            digest_in_name(l->file, &l->digest);
    }
    return 0;
}

/* ---- config */

static int words(jv given, const char *what, jv *out, struct err *e)
{
    *out = JV_ABSENT;
    if (jv_is_null(given))
        return 0;
    if (!jv_is(given, JV_ARR))
        return err_set(e, ERR_INVALID, "config: %s: must be a list", what);
    JV_EACH (it, given)
        if (!is_text(it.value))
            return err_set(e, ERR_INVALID, "config: %s: must be text without NUL", what);
    *out = jv_len(given) ? given : JV_ABSENT;
    return 0;
}

static int text(jv given, const char *what, str *out, struct err *e)
{
    *out = S("");
    if (jv_is_null(given))
        return 0;
    if (!is_text(given))
        return err_set(e, ERR_INVALID, "config: %s: must be text without NUL", what);
    *out = jv_str(given, S(""));
    return 0;
}

static int env_read(struct arena *a, jv given, jv *out, struct err *e)
{
    struct jbuild b = jb_obj(a);
    jv list;

    if (words(given, "Env", &list, e) < 0)
        return -1;
    JV_EACH (it, list) {
        str value = jv_str(it.value, S("")), name = str_cut(&value, '=');
        if (!name.n || !value.p)
            return err_set(e, ERR_INVALID, "config: Env: must be NAME=VALUE");
        jb_set(&b, name, jstr(a, value));
    }
    *out = jb_done(&b);
    return 0;
}

static int diffs_read(struct arena *a, jv rootfs, size_t layers, struct image_config *out,
                      struct err *e)
{
    jv list = jv_at(rootfs, "diff_ids");
    size_t n = 0;

    if (!jv_is(list, JV_ARR) || jv_len(list) != layers)
        return err_set(e, ERR_INVALID, "config: rootfs.diff_ids: has %zu, the manifest %zu layers",
                       jv_len(list), layers);
    out->diffs = ARENA_ARRAY(a, struct digest, layers + 1);
    JV_EACH (it, list)
        if (digest_parse(jv_str(it.value, S("")), "config: rootfs.diff_ids", &out->diffs[n++], e) <
            0)
            return -1;
    return 0;
}

int image_config_read(struct arena *a, jv config, size_t layers, str architecture,
                      struct image_config *out, struct err *e)
{
    str os = jv_str(jv_at(config, "os"), S("linux"));
    str arch = jv_str(jv_at(config, "architecture"), architecture);
    jv how = jv_at(config, "config");

    *out = (struct image_config){ 0 };
    os = str_clip(os, 40);
    arch = str_clip(arch, 40);
    if (!jv_exists(jv_at(config, "rootfs")))
        return err_set(e, ERR_INVALID, "config: no rootfs: this is not a container image");
    if (!str_eqz(os, "linux") || !str_eq(arch, architecture))
        return err_set(e, ERR_INVALID,
                       "the image is for %" PRI_STR "/%" PRI_STR
                       ", and this machine is linux/%" PRI_STR,
                       STR_ARG(os), STR_ARG(arch), STR_ARG(architecture));
    if (diffs_read(a, jv_at(config, "rootfs"), layers, out, e) < 0 ||
        env_read(a, jv_at(how, "Env"), &out->env, e) < 0 ||
        words(jv_at(how, "Entrypoint"), "Entrypoint", &out->command, e) < 0 ||
        words(jv_at(how, "Cmd"), "Cmd", &out->args, e) < 0 ||
        text(jv_at(how, "WorkingDir"), "WorkingDir", &out->cwd, e) < 0)
        return -1;
    return text(jv_at(how, "User"), "User", &out->user, e);
}
