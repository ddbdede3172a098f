/* What `muster manifests install` and its parts hold, but for the definitions: golden files.
 * Usage: test_install FOLDER; with GOLDEN_WRITE=1 the files in it are written anew. */

#include "base/yaml.h"
#include "manifest/install.h"
#include "slurp.h"

struct golden {
    const char *name;
    enum manifest_part part;
    const char *kind; /* NULL: all */
    struct manifest_options o;
};

static const struct golden rows[] = {
    { "install",
      MANIFEST_INSTALL,
      NULL,
      { .home = S_INIT("muster-system"), .image = S_INIT("muster:1"), .replicas = 2 } },
    { "uninstall",
      MANIFEST_UNINSTALL,
      NULL,
      { .home = S_INIT("muster-system"), .image = S_INIT("muster:1"), .replicas = 1 } },
    { "namespace",
      MANIFEST_INSTALL,
      "TFJob",
      { .home = S_INIT("team-a"),
        .watched = S_INIT("team-a"),
        .image = S_INIT("muster:1"),
        .replicas = 1,
        .gang = S_INIT("volcano") } },
    { "original",
      MANIFEST_INSTALL,
      NULL,
      { .home = S_INIT("kubeflow"),
        .image = S_INIT("muster:1"),
        .replicas = 1,
        .like_original = true } },
};

static bool spit(const char *path, str text)
{
    FILE *f = fopen(path, "w");
    bool fine = f && fwrite(text.p, 1, text.n, f) == text.n;

    return f && fclose(f) == 0 && fine;
}

static struct manifest_options with_kinds(const struct golden *g)
{
    struct manifest_options o = g->o;

    o.is_some = g->kind != NULL;
    for (size_t i = 0; job_kind_at(i); i++)
        if (!g->kind || job_kind_find(str_of(g->kind)) == job_kind_at(i))
            o.kinds[o.n_kinds++] = job_kind_at(i);
    return o;
}

static bool is_definition(jv obj)
{
    return str_eqz(jv_str(jv_get(obj, S("kind")), STR_NONE), "CustomResourceDefinition");
}

static void objects_are_as_written(const char *folder)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(buf) struct buf b = { 0 };
        struct manifest_options o = with_kinds(&rows[i]);
        const char *path = arena_printf(a, "%s/%s.yaml", folder, rows[i].name).p;

        JV_EACH (it, manifest_objects(a, &o, rows[i].part)) {
            if (is_definition(it.value))
                continue;
            buf_add(&b, S("---\n"));
            yaml_print(&b, it.value);
        }
        if (getenv("GOLDEN_WRITE"))
            ok(spit(path, buf_str(&b)), "%s is written anew", path);
        else
            is_str(buf_str(&b), slurp(a, path), rows[i].name);
    }
}

/* kubectl apply keeps a copy of each object in an annotation, of at most 256 KiB. */
static void all_fits_in_an_annotation(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct manifest_options o = with_kinds(&rows[0]);

    JV_EACH (it, manifest_objects(a, &o, MANIFEST_INSTALL)) {
        ok(json_text(a, it.value).n < 200000, "object %zu is less than 200 KB", it.i);
        yaml_print_compact(&b, it.value);
    }
    ok(b.n < 600000, "and all of them less than 600 KB");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    objects_are_as_written(argv[1]);
    all_fits_in_an_annotation();
    return tap_done();
}
