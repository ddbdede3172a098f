/* What an image means on this machine. */

#include "node/images.h"
#include "tap.h"

#include <stdio.h>
#include <unistd.h>

static const char table[] =
    "{'images': ["
    "{'match': 'tensorflow/*', 'venv': '/opt/tf', 'command': ['python3', '-m', 'tf'], 'args': "
    "['--x'], 'workingDir': '/w', 'env': {'N': 1, 'S': 'a'}},"
    "{'match': 'localhost:5000/own', 'rootfs': '/roots/own', 'path': ['/a', '/b']},"
    "{'match': '*:latest', 'command': ['late']}]}";

static struct image_run resolve(struct arena *a, const char *container)
{
    AUTO(jdoc) struct jdoc *t = J(table), *c = J(container);
    AUTO(images) struct images *im = images_of(jdoc_root(t));
    struct image_run r;

    images_resolve(a, im, jv_copy(a, jdoc_root(c)), S("/usr/bin:/bin"), &r);
    r.argv = jv_copy(a, r.argv);
    r.env = jv_copy(a, r.env);
    r.cwd = arena_str(a, r.cwd);
    r.rootfs = arena_str(a, r.rootfs);
    return r;
}

static void entries_match(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct image_run r = resolve(a, "{'image': 'tensorflow/tensorflow:2.1'}");

    is_json(r.argv, "['python3', '-m', 'tf', '--x']", "the image's command and args");
    is_json(r.env,
            "{'VIRTUAL_ENV': '/opt/tf', 'PATH': '/opt/tf/bin:/usr/bin:/bin', 'N': '1', 'S': 'a'}",
            "its env, with the PATH of its venv");
    is_str(r.cwd, S("/w"), "its working directory");
    is_str(r.told, S(""), "nothing to say");
    r = resolve(a, "{'image': 'tensorflow/a', 'args': ['-y'], 'workingDir': '/z'}");
    is_json(r.argv, "['python3', '-m', 'tf', '-y']", "args replace the image's");
    is_str(r.cwd, S("/z"), "workingDir too");
    r = resolve(a, "{'image': 'localhost:5000/own', 'args': ['echo', 'x']}");
    is_json(r.argv, "['echo', 'x']", "args alone are the command of an image that has none");
    is_str(r.reason, S(""), "which is no fault");
    r = resolve(a, "{'image': 'localhost:5000/own'}");
    is_str(r.reason, S("CreateContainerError"), "nothing at all to run is one");
    r = resolve(a, "{'image': 'tensorflow/a', 'command': ['sh']}");
    is_json(r.argv, "['sh']", "a command drops the image's args");
    r = resolve(a, "{'image': 'localhost:5000/own:v1@sha256:00', 'command': ['x']}");
    is_str(r.rootfs, S("/roots/own"), "tag and digest do not matter, a port does");
    is_str(r.id, S("muster:///roots/own"), "the root is its id");
    r = resolve(a, "{'image': 'b:latest'}");
    is_json(r.argv, "['late']", "a pattern on the tag");
}

static void unmapped_images(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct image_run r = resolve(a, "{'image': 'busybox:1.36', 'command': ['sh', '-c', 'x']}");

    ok(!r.mapped && !r.reason.n, "with a command it runs here");
    is_str(r.told,
           S("Container image \"busybox:1.36\" is not mapped: running \"sh\" from this machine's "
             "own file system"),
           "and that is said");
    r = resolve(a, "{'image': 'busybox:1.36', 'args': ['x']}");
    is_str(r.reason, S("ImageNotMapped"), "without one it cannot");
    is_str(
        r.message,
        S("image \"busybox:1.36\" is not mapped to anything on this machine and the container "
          "names no command; say what it is: muster image map busybox --host --command PROGRAM, or in "
          "images.yaml, below images: - {match: \"busybox\", command: [\"PROGRAM\"]}"),
        "and the line to add is said");
}

static void programs_are_found(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv mounts = jarr(a, jstrz(a, "/data/"));
    static const struct {
        const char *program, *argv0, *reason, *told, *message;
    } rows[] = {
        { "/bin/sh", "/bin/sh", "", "", "" },
        { "sh", "sh", "", "", "" },
        { "/opt/conda/bin/sh", "/bin/sh", "",
          "/opt/conda/bin/sh is not here: running /bin/sh instead", "" },
        { "/data/run", "/data/run", "", "", "" },
        { "./run", "./run", "", "", "" },
        { "no-such-program", "no-such-program", "ContainerCannotRun", "",
          "exec: \"no-such-program\": executable file not found in $PATH (/bin)" },
        { "sh -x", "sh -x", "ContainerCannotRun", "",
          "exec: \"sh -x\": executable file not found in $PATH (/bin); it has a blank in it: write "
          "each word of the command by itself" },
        { "/x/no-such", "/x/no-such", "ContainerCannotRun", "",
          "exec: \"/x/no-such\": executable file not found in $PATH (/bin), nor at its own path" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        str program = str_of(rows[i].program);
        struct image_run r = { .argv = jarr(a, jstr(a, program), jstrz(a, "arg")) };
        images_find_program(a, program, S("/bin"), STR_NONE, mounts, &r);
        is_str(jv_str(jv_index(r.argv, 0), S("")), str_of(rows[i].argv0), rows[i].program);
        is_int((int64_t)jv_len(r.argv), 2, "arguments stay");
        is_str(r.reason, str_of(rows[i].reason), "reason");
        is_str(r.told, str_of(rows[i].told), "told");
        is_str(r.message, str_of(rows[i].message), "message");
    }
}

static void files_are_read(void)
{
    char path[] = "/tmp/muster-images-XXXXXX";
    struct err e = { 0 };
    struct images *im = NULL;
    int fd = mkstemp(path);

    is_int(images_load(&im, "/nowhere/images.yaml", &e), 0, "a table that is not there is empty");
    ok(images_is_stale(im, path) && !images_is_stale(im, "/nowhere/images.yaml"), "changes show");
    images_free(im);
    dprintf(fd, "images:\n- match: a*\n  comand: [x]\n");
    is_int(images_load(&im, path, &e), -1, "an unknown field");
    ok(strstr(e.msg, "images[0].comand: unknown field"), "is named: %s", e.msg);
    close(fd);
    unlink(path);
}

/* What would be passed over in silence: the line that was told alone, and words misspelt. */
static void files_say_what_they_are(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "- {match: a, command: [x]}\n", ": must be images: with a list below it" },
        { "imges: [{match: a}]\n", ": imges: unknown field" },
        { "images: a\n", ": images: must be a list" },
        { "images: [a]\n", ": images[0].match: must be a pattern" },
        { "images: [\n", ":2:1: " },
        { "images:\n", NULL },
        { "# nothing yet\n", NULL },
        { "", NULL },
    };
    char path[] = "/tmp/muster-images-XXXXXX";
    int fd = mkstemp(path);
    AUTO(arena) struct arena *a = arena_new();
    const char *link = arena_printf(a, "%s.link", path).p;

    is_int(symlink(path, link), 0, "a run has a link to the table");
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(images) struct images *im = NULL;
        struct err e = { 0 };
        ok(ftruncate(fd, 0) == 0 && pwrite(fd, rows[i].text, strlen(rows[i].text), 0) >= 0, "%s",
           rows[i].text);
        is_int(images_load(&im, link, &e), rows[i].why ? -1 : 0,
               rows[i].why ? "is refused" : "is fine");
        if (rows[i].why)
            ok(str_starts(str_of(e.msg), str_of(path)) &&
                   strstr(e.msg, rows[i].why) == e.msg + strlen(path),
               "and the table is named, not the link: %s", e.msg);
    }
    close(fd);
    unlink(link);
    unlink(path);
}

int main(void)
{
    entries_match();
    unmapped_images();
    programs_are_found();
    files_are_read();
    files_say_what_they_are();
    return tap_done();
}
