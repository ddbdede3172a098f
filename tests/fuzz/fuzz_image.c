/* The documents of images: what is taken names layers by digests, and texts without NUL. The input
 * is read as an index, a manifest, docker's manifest.json and a config. */

#include "image/document.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(str s)
{
    check(s.n == 0 || !memchr(s.p, 0, s.n));
}

static void check_words(jv list)
{
    JV_EACH (it, list) {
        check(jv_is(it.value, JV_STR));
        check_text(jv_str(it.value, S("")));
    }
}

static void check_manifest(const struct image_manifest *m)
{
    check(m->n <= 8);
    check_text(m->name);
    for (size_t i = 0; i < m->n; i++) {
        check(m->layers[i].file.n || digest_is_hex(str_of(m->layers[i].digest.hex)));
        check_text(m->layers[i].file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    jv doc = json_parse(a, arena_str(a, (str){ (const char *)data, size }), NULL, NULL);
    size_t layers = jv_len(jv_at(doc, "rootfs", "diff_ids"));
    struct image_blob blob;
    struct image_manifest m;
    struct image_config c;
    struct err e = { 0 };
    str found;

    if (image_index_pick(a, doc, NULL, S("amd64"), &blob, &found, &e) == 0) {
        check(digest_is_hex(str_of(blob.digest.hex)));
        check_text(found);
    }
    image_index_pick(a, doc, "a:1", S("amd64"), &blob, &found, &e);
    if (image_manifest_read(a, doc, 8, &m, &e) == 0)
        check_manifest(&m);
    if (image_docker_read(a, doc, "a:1", 8, &m, &e) == 0)
        check_manifest(&m);
    if (image_docker_read(a, doc, NULL, 8, &m, &e) == 0)
        check_manifest(&m);
    if (image_config_read(a, doc, layers, S("amd64"), &c, &e) == 0) {
        check_words(c.command);
        check_words(c.args);
        check_text(c.cwd);
        check_text(c.user);
        JV_EACH (it, c.env)
            check(it.key.n && jv_is(it.value, JV_STR));
    }
    return 0;
}
