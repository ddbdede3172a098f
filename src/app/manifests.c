/* muster manifests: prints what a cluster needs to run Muster, for kubectl apply. Here rather than
 * in cli/, which knows of kinds but not of their definitions. */

#include "app/manifests.h"

#include "base/yaml.h"
#include "cli/options.h"
#include "job/kinds.h"
#include "kube/names.h"
#include "manifest/install.h"

#include <string.h>

enum { MOST_REPLICAS = 10, LONG_IMAGE = 512 };

struct flags {
    const char *output, *ns, *home, *image, *gang;
    int64_t replicas;
    struct opt_words kinds;
    bool like_original;
};

#define FIELD(field) offsetof(struct flags, field)

static const struct opt options[] = {
    { "output", 'o', OPT_TEXT, FIELD(output), "FORMAT", "yaml (the default) or json", NULL },
    { "namespace", 'n', OPT_TEXT, FIELD(ns), "NAME",
      "only jobs of this namespace, with rights in it alone", NULL },
    { "install-namespace", 0, OPT_TEXT, FIELD(home), "NAME",
      "where the operator runs; default: --namespace, muster-system", NULL },
    { "image", 0, OPT_TEXT, FIELD(image), "IMAGE", "its image; default: muster:" MUSTER_VERSION,
      NULL },
    { "replicas", 0, OPT_INT, FIELD(replicas), "N", "operators, of which one is active; default: 2",
      NULL },
    { "gang-scheduler-name", 0, OPT_TEXT, FIELD(gang), "NAME",
      "as the flag of the operator: volcano, kube, ...", NULL },
    { "enable-scheme", 0, OPT_EACH, FIELD(kinds), "KIND",
      "only this kind of job (tfjob); can be repeated", NULL },
    { "like-original", 0, OPT_FLAG, FIELD(like_original), NULL,
      "names, labels and Service of Kubeflow's training operator", NULL },
    { 0 }
};

static const struct {
    const char *name;
    enum manifest_part part;
} parts[] = { { "crds", MANIFEST_CRDS },
              { "rbac", MANIFEST_RBAC },
              { "install", MANIFEST_INSTALL },
              { "uninstall", MANIFEST_UNINSTALL } };

static int part_of(const char *name, enum manifest_part *part)
{
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (strcmp(name, parts[i].name) != 0)
            continue;
        *part = parts[i].part;
        return 0;
    }
    return -1;
}

/* ---- what is asked for */

static int add_kinds(struct manifest_options *o, const struct flags *f)
{
    for (size_t i = 0; i < f->kinds.n; i++)
        if (!job_kind_find(str_of(f->kinds.at[i])))
            return command_fail(EXIT_USAGE, "there is no kind of job called '%s'", f->kinds.at[i]);
    for (size_t i = 0; job_kind_at(i) && o->n_kinds < MANIFEST_KINDS; i++) {
        bool wanted = !f->kinds.n;
        for (size_t k = 0; k < f->kinds.n; k++)
            wanted = wanted || job_kind_find(str_of(f->kinds.at[k])) == job_kind_at(i);
        if (wanted)
            o->kinds[o->n_kinds++] = job_kind_at(i);
        o->is_some = o->is_some || !wanted;
    }
    return -1;
}

static bool is_image(str s)
{
    static const char others[] = "._-/:@";

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && (i == 0 || !memchr(others, c, sizeof(others) - 1)))
            return false;
    }
    return s.n && s.n <= LONG_IMAGE;
}

/* -1: go on; else an exit code, and all was said. */
static int take(struct manifest_options *o, const struct flags *f)
{
    *o = (struct manifest_options){
        .watched = str_of(f->ns),
        .home = str_of(f->home            ? f->home
                       : f->ns && *f->ns  ? f->ns
                       : f->like_original ? "kubeflow"
                                          : "muster-system"),
        .image = str_of(f->image ? f->image : "muster:" MUSTER_VERSION),
        .replicas = f->replicas,
        .gang = str_of(f->gang),
        .like_original = f->like_original,
    };
    if (o->watched.n && !name_ok(o->watched, name_dns1123_label))
        return command_fail(EXIT_USAGE, "'%s' is not a name of a namespace", f->ns);
    if (!name_ok(o->home, name_dns1123_label))
        return command_fail(EXIT_USAGE, "'%s' is not a name of a namespace", f->home);
    if (o->gang.n && !name_ok(o->gang, name_dns1123_subdomain))
        return command_fail(EXIT_USAGE, "'%s' is not a name of a scheduler", f->gang);
    if (!is_image(o->image))
        return command_fail(EXIT_USAGE, "'%s' is not a name of an image", f->image);
    if (o->replicas < 1 || o->replicas > MOST_REPLICAS)
        return command_fail(EXIT_USAGE, "--replicas must be from 1 to %d", MOST_REPLICAS);
    return add_kinds(o, f);
}

/* ---- printing */

static const char how_to_uninstall[] =
    "# What to delete, in this order: first the operator, then its rights.\n"
    "#\n"
    "#   muster manifests uninstall | kubectl delete --ignore-not-found -f -\n"
    "#\n"
    "# The definitions, all jobs and their pods stay. Nothing looks after them until an operator runs\n"
    "# again. To remove them too, delete the jobs while the operator still runs, then at the end:\n"
    "#\n";

static void print_advice(struct buf *b, const struct manifest_options *o)
{
    buf_add(b, str_of(how_to_uninstall));
    buf_add(b, S("#   muster manifests crds | kubectl delete -f -    # and with them every job\n"));
    if (!str_eq(o->home, o->watched) && !o->like_original)
        buf_printf(b, "#   kubectl delete namespace %" PRI_STR "\n", STR_ARG(o->home));
}

/* Definitions are compact: most of their size would be indentation. */
static void print_yaml(struct buf *b, jv items)
{
    JV_EACH (it, items) {
        buf_add(b, S("---\n"));
        if (str_eqz(jv_str(jv_get(it.value, S("kind")), STR_NONE), "CustomResourceDefinition"))
            yaml_print_compact(b, it.value);
        else
            yaml_print(b, it.value);
    }
}

static void print_json(struct arena *a, struct buf *b, jv items)
{
    json_print(b, jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "List") },
                       { "items", items }));
    buf_addc(b, '\n');
}

static int run(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct flags f = { .output = "yaml", .replicas = 2 };
    enum manifest_part part = MANIFEST_CRDS;
    struct manifest_options o;
    char **rest;
    int n;
    int code = options_read(c, argc, argv, &f, &rest, &n);

    if (code >= 0)
        return code;
    if (n > 0 && part_of(rest[0], &part) < 0)
        return command_fail(EXIT_USAGE, "there are no manifests called '%s'", rest[0]);
    if (n > 1)
        return command_fail(EXIT_USAGE, "manifests takes no argument '%s'", rest[1]);
    bool json = strcmp(f.output, "json") == 0;
    if (!json && strcmp(f.output, "yaml") != 0)
        return command_fail(EXIT_USAGE, "there is no output format '%s'", f.output);
    code = take(&o, &f);
    if (code >= 0)
        return code;
    if (json)
        print_json(a, &b, manifest_objects(a, &o, part));
    else {
        if (part == MANIFEST_UNINSTALL)
            print_advice(&b, &o);
        print_yaml(&b, manifest_objects(a, &o, part));
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_manifests = {
    .name = "manifests",
    .summary = "print what a cluster needs: definitions, rights and the operator",
    .help =
        "Usage: muster manifests [OPTION]... [crds|rbac|install|uninstall]\n"
        "\n"
        "Prints manifests for kubectl apply:\n"
        "\n"
        "  crds       the CustomResourceDefinitions of the job kinds; printed if nothing is named\n"
        "  rbac       the operator's ServiceAccount and Roles, and Roles for people who run jobs\n"
        "  install    all of it, with the operator's Deployment\n"
        "  uninstall  what to delete, in order; definitions and jobs stay\n"
        "\n"
        "  muster manifests install | kubectl apply -f -\n",
    .options = options,
    .run = run,
};
