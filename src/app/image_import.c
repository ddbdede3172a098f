/* muster image import and rm: images in the data directory, and their entries in images.yaml. */

#include "app/image.h"
#include "app/image_internal.h"
#include "cli/command.h"
#include "image/image.h"
#include "kube/image_name.h"

#include <errno.h>
#include <unistd.h>

/* The name that containers use. It becomes a pattern of the table, so it must not be one. */
static int choose_name(const struct image_imported *im, const char *from, const char *given,
                       str *out, struct err *e)
{
    str name = given ? str_of(given) : im->name;
    bool is_tag = !given && str_find(name, ':') < 0 && str_find(name, '/') < 0;

    if (!name.n || is_tag)
        return err_set(e, ERR_INVALID, "%.150s does not name its image: use --name", from);
    if (!image_name_is_valid(name))
        return err_set(e, ERR_INVALID, "\"%.100s\" is not the name of an image: use --name",
                       name.p);
    *out = image_name_short(name);
    return 0;
}

static void tell(struct mapping *t, const struct image_imported *im, const char *name, bool again)
{
    const struct image_dropped *d = &im->dropped;

    if (d->devices)
        command_note("muster: left out %lld device nodes, FIFOs and sockets",
                     (long long)d->devices);
    if (d->setuid)
        command_note("muster: removed the setuid or setgid bit of %lld files",
                     (long long)d->setuid);
    if (im->user.n && geteuid() != 0)
        command_note("muster: the image's user %s is ignored: its processes run as you",
                     arena_z(t->a, im->user));
    command_print(arena_printf(t->a, "image %s %s, %lld layers (%lld new)\n", name,
                               again ? "imported again" : "imported", (long long)im->layers,
                               (long long)im->unpacked));
}

/* Files that no entry of the table uses go. That they stay is no reason to fail. */
static void sweep(struct mapping *t, jv list)
{
    struct err e = { 0 };

    if (image_sweep(t->dir, jobj(t->a, { "images", list }), &e) < 0)
        command_note("muster: cannot remove unused files: %s", e.msg);
}

static int add_entry(struct mapping *t, const struct image_imported *im, const char *from,
                     const char *given, struct err *e)
{
    bool again;
    str name = S("");

    if (choose_name(im, from, given, &name, e) < 0)
        return -1;
    const char *match = arena_z(t->a, name);
    struct jbuild b = jb_obj(t->a);
    jb_set(&b, S("match"), jstr(t->a, name));
    JV_EACH (it, im->entry)
        jb_set(&b, it.key, it.value);
    jv list = image_table_changed(t, match, jb_done(&b), &again);
    if (image_table_write(t, list, e) < 0)
        return -1;
    sweep(t, list);
    tell(t, im, match, again);
    return 0;
}

static void on_signal(int signo)
{
    image_stopped = signo;
}

/* The first signal ends an import, which then clears away what it made; the second ends muster. */
static void catch_signals(void)
{
    static const int list[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

    for (size_t i = 0; i < COUNT(list); i++)
        sigaction(list[i], &act, NULL);
}

/* After an import, which failed if rc is -1. */
static int finish(struct mapping *t, const struct image_imported *im, int rc, const char *from,
                  const char *name, struct err *why)
{
    struct err e = *why;

    if (rc < 0 || add_entry(t, im, from, name, &e) < 0) {
        sweep(t, jv_at(t->root, "images"));
        command_fail(EXIT_FAILED, "%s", e.msg);
        return image_stopped ? 128 + image_stopped : EXIT_FAILED;
    }
    if (image_agent_install(t->dir, &e) < 0)
        command_note("muster: MPIJobs cannot use it: %s", e.msg);
    return EXIT_DONE;
}

int image_import_command(struct mapping *t, const char *from, const char *name)
{
    struct image_imported im;
    struct err e = { 0 };

    catch_signals();
    int rc = image_import(t->a, t->dir, from, name, &image_limits_default, &im, &e);

    return finish(t, &im, rc, from, name, &e);
}

static void on_layer(void *ctx, size_t i, size_t n, int64_t bytes)
{
    (void)ctx;
    if (bytes < 0)
        command_note("muster: layer %zu of %zu", i, n);
    else
        command_note("muster: layer %zu of %zu, %.1f MB", i, n, (double)bytes / 1e6);
}

int image_pull_command(struct mapping *t, const char *ref, const char *name)
{
    struct image_pulling how = {
        .data = t->dir, .ref = ref, .limits = &image_limits_default, .told = on_layer
    };
    struct image_imported im;
    struct err e = { 0 };

    catch_signals();
    int rc = image_pull(t->a, &how, &im, &e);

    return finish(t, &im, rc, ref, name, &e);
}

/* As it was imported, or as containers name it. */
static str find_name(struct mapping *t, str name)
{
    str s = image_name_short(name), latest = arena_cat(t->a, s, S(":latest"));

    JV_EACH (it, jv_at(t->root, "images")) {
        str match = jv_str(jv_at(it.value, "match"), S(""));
        if (str_eq(match, name) || str_eq(match, s) ||
            (image_name_is_bare(s) && str_eq(match, latest)))
            return match;
    }
    return STR_NONE;
}

static str rootfs_of(const struct mapping *t, str match)
{
    JV_EACH (it, jv_at(t->root, "images"))
        if (str_eq(jv_str(jv_at(it.value, "match"), S("")), match))
            return jv_str(jv_at(it.value, "rootfs"), S(""));
    return S("");
}

/* Under its last name: under another one its files stay. */
static int refuse_in_use(struct mapping *t, const char *name, str rootfs)
{
    size_t names = 0;
    str pods;

    JV_EACH (it, jv_at(t->root, "images"))
        names += str_eq(jv_str(jv_at(it.value, "rootfs"), S("")), rootfs);
    if (names > 1 || !image_in_use(t->a, rootfs, &pods))
        return -1;
    return command_fail(EXIT_FAILED,
                        "image %s is in use by running containers%s%s%s: stop them first", name,
                        pods.n ? " (" : "", arena_z(t->a, pods), pods.n ? ")" : "");
}

int image_rm_command(struct mapping *t, const char *name)
{
    struct err e = { 0 };
    str match = find_name(t, str_of(name));
    bool was_there;

    if (!match.n)
        return command_fail(EXIT_FAILED, "there is no image %s in %s", name, t->path);
    str rootfs = rootfs_of(t, match);
    if (!image_is_ours(t->dir, rootfs))
        return command_fail(EXIT_FAILED,
                            "image %s is mapped, not imported: muster image unmap %s removes the "
                            "mapping",
                            name, name);
    int code = refuse_in_use(t, name, rootfs);
    if (code >= 0)
        return code;
    const char *z = arena_z(t->a, match);
    jv list = image_table_changed(t, z, JV_ABSENT, &was_there);
    if (image_table_write(t, list, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    sweep(t, list);
    command_print(arena_printf(t->a, "image %s removed\n", z));
    return EXIT_DONE;
}
