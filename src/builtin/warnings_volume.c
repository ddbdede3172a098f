/* Files that a volume puts in the same place, so that one of them is lost. */

#include "builtin/check.h"
#include "builtin/warnings.h"

struct file {
    str path;
    str source; /* of a projected volume: "ConfigMap "x""; empty: there is but one */
};

struct files {
    struct warnings *w;
    str volume;
    str kind; /* "Secret "x"" */
    struct file *at;
    size_t n;
};

enum { MAX_FILES = 512 }; /* more than that are not compared: the work grows with the square */

static str file_text(struct arena *a, const struct file *f)
{
    return f->source.n ? arena_printf(a, "\"%" PRI_STR "\" (%" PRI_STR ")", STR_ARG(f->path),
                                      STR_ARG(f->source))
                       : arena_printf(a, "\"%" PRI_STR "\"", STR_ARG(f->path));
}

static bool is_below(str path, str dir)
{
    return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

static void add_file(struct files *all, str path, str source)
{
    struct arena *a = all->w->a;
    struct file f = { path, source };

    while (f.path.n && f.path.p[f.path.n - 1] == '/')
        f.path.n--;
    for (size_t i = 0; f.path.n && i < all->n; i++) {
        const struct file *other = &all->at[i];
        if (other->path.n && (is_below(other->path, f.path) || is_below(f.path, other->path)))
            warning_add(all->w,
                        "volume \"%" PRI_STR "\" (%" PRI_STR "): overlapping paths: %" PRI_STR
                        " with %" PRI_STR,
                        STR_ARG(all->volume), STR_ARG(all->kind), STR_ARG(file_text(a, &f)),
                        STR_ARG(file_text(a, other)));
    }
    if (!all->at)
        all->at = arena_alloc(a, MAX_FILES * sizeof(*all->at));
    if (all->n < MAX_FILES)
        all->at[all->n++] = f;
}

static void add_items(struct files *all, jv items, str source)
{
    JV_EACH (it, items)
        add_file(all, FIELD_STR(it.value, "path"), source);
}

static str named(struct arena *a, const char *kind, str name)
{
    return arena_printf(a, "%s \"%" PRI_STR "\"", kind, STR_ARG(name));
}

static void add_certificate(struct files *all, jv cert)
{
    static const struct {
        const char *field;
        const char *source;
    } rows[] = { { "certificateChainPath", "PodCertificate chain" },
                 { "keyPath", "PodCertificate key" },
                 { "credentialBundlePath", "PodCertificate credential bundle" } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        str path = jv_str(jv_get(cert, str_of(rows[i].field)), S(""));
        if (path.n)
            add_file(all, path, str_of(rows[i].source));
    }
}

static void projected_warn(struct files *all, jv sources)
{
    struct arena *a = all->w->a;

    JV_EACH (it, sources) {
        jv map = FIELD(it.value, "configMap");
        jv secret = FIELD(it.value, "secret");
        jv bundle = FIELD(it.value, "clusterTrustBundle");
        jv token = FIELD(it.value, "serviceAccountToken");
        if (!jv_len(it.value))
            warning_add(all->w, "volume \"%" PRI_STR "\" (Projected) has no sources provided",
                        STR_ARG(all->volume));
        add_items(all, FIELD(map, "items"), named(a, "ConfigMap", FIELD_STR(map, "name")));
        add_items(all, FIELD(secret, "items"), named(a, "Secret", FIELD_STR(secret, "name")));
        add_items(all, FIELD(FIELD(it.value, "downwardAPI"), "items"), S("DownwardAPI"));
        if (!jv_is_null(token))
            add_file(all, FIELD_STR(token, "path"), S("ServiceAccountToken"));
        if (!jv_is_null(bundle))
            add_file(all, FIELD_STR(bundle, "path"),
                     named(a, "ClusterTrustBundle",
                           jv_exists(FIELD(bundle, "name")) ? FIELD_STR(bundle, "name")
                                                            : FIELD_STR(bundle, "signerName")));
        add_certificate(all, FIELD(it.value, "podCertificate"));
    }
}

void volume_paths_warn(struct warnings *w, jv volumes)
{
    struct files all = { .w = w };

    JV_EACH (it, volumes) {
        jv map = FIELD(it.value, "configMap");
        jv secret = FIELD(it.value, "secret");
        all.volume = FIELD_STR(it.value, "name");
        all.n = 0;
        all.kind = named(w->a, "ConfigMap", FIELD_STR(map, "name"));
        add_items(&all, FIELD(map, "items"), STR_NONE);
        all.kind = named(w->a, "Secret", FIELD_STR(secret, "secretName"));
        add_items(&all, FIELD(secret, "items"), STR_NONE);
        all.kind = S("DownwardAPI");
        add_items(&all, FIELD(FIELD(it.value, "downwardAPI"), "items"), STR_NONE);
        all.kind = S("Projected");
        projected_warn(&all, FIELD(FIELD(it.value, "projected"), "sources"));
    }
}
