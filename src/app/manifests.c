/* muster manifests: prints the CustomResourceDefinitions of the job kinds, for kubectl apply. Here
 * rather than in cli/, which knows of kinds but not of their definitions. */

#include "app/manifests.h"

#include "base/yaml.h"
#include "manifest/crd.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static void print_yaml(struct buf *b, jv items)
{
    JV_EACH (it, items) {
        buf_add(b, S("---\n"));
        yaml_print(b, it.value);
    }
}

static void print_json(struct arena *a, struct buf *b, jv items)
{
    jv list =
        jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "List") }, { "items", items });

    json_print_indent(b, list, 2);
    buf_addc(b, '\n');
}

static jv crds(struct arena *a)
{
    struct jbuild out = jb_arr(a);

    for (size_t i = 0; job_kind_at(i); i++)
        jb_push(&out, manifest_crd(a, job_kind_at(i)));
    return jb_done(&out);
}

static int run(const struct command *c, int argc, char **argv)
{
    static const struct option options[] = { { "output", required_argument, NULL, 'o' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    const char *format = "yaml";
    struct err e = { 0 };

    for (int opt; (opt = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
        if (opt == 'h')
            return fputs(c->help, stdout), EXIT_DONE;
        if (opt != 'o')
            return command_usage(c);
        format = optarg;
    }
    if (optind < argc && strcmp(argv[optind], "crds") != 0)
        return command_fail(EXIT_USAGE, "there are no manifests called '%s'", argv[optind]);
    if (optind + 1 < argc)
        return command_fail(EXIT_USAGE, "manifests takes no argument '%s'", argv[optind + 1]);
    if (strcmp(format, "json") == 0)
        print_json(a, &b, crds(a));
    else if (strcmp(format, "yaml") == 0)
        print_yaml(&b, crds(a));
    else
        return command_fail(EXIT_USAGE, "there is no output format '%s'", format);
    if (fwrite(b.p, 1, b.n, stdout) != b.n || fflush(stdout) != 0) {
        err_sys(&e, "cannot write");
        return command_fail(EXIT_FAILED, "%s", e.msg);
    }
    return EXIT_DONE;
}

const struct command command_manifests = {
    .name = "manifests",
    .summary = "print the CustomResourceDefinitions of the job kinds",
    .help = "Usage: muster manifests [-o yaml|json] [crds]\n"
            "\n"
            "Prints the CustomResourceDefinitions of all job kinds, for use on a cluster:\n"
            "\n"
            "  muster manifests | kubectl apply --server-side -f -\n"
            "\n"
            "  -o, --output FORMAT   yaml (the default) or json\n",
    .run = run,
};
