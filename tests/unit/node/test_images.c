/* What an image means on this machine. */

#include "node/images.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char table[] =
    "{'images': ["
    "{'match': 'tensorflow/*', 'venv': '/opt/tf', 'command': ['python3', '-m', 'tf'], 'args': "
    "['--x'], 'workingDir': '/w', 'env': {'N': 1, 'S': 'a'}},"
    "{'match': 'localhost:5000/own', 'rootfs': '/roots/own', 'path': ['/a', '/b']},"
    "{'match': 'hub/app:1', 'rootfs': '/roots/app', 'user': '1000:7'},"
    "{'match': 'short:latest', 'rootfs': '/roots/short'},"
    "{'match': 'with-path', 'rootfs': '/roots/p', 'env': {'PATH': '/image/bin'}},"
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
          "names no command; import it: muster image pull busybox:1.36; or say what it is: muster image map busybox --host --command PROGRAM, or in "
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

/* Links in an image's files are written for a root that is theirs. */
static void programs_in_a_root_are_found_inside(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char top[] = "/tmp/muster-rootfs-XXXXXX";
    static const struct {
        const char *program, *reason, *why;
    } rows[] = {
        { "tool", "", "an absolute link to a program inside" },
        { "/bin/tool", "", "the same, by its path" },
        { "deep", "", "links to directories on the way" },
        { "up", "", ".. stops at the root" },
        { "outside", "ContainerCannotRun", "a link to what only this machine has" },
        { "/bin/outside", "ContainerCannotRun", "the same, by its path" },
        { "plain", "ContainerCannotRun", "a file without x" },
        { "loop", "ContainerCannotRun", "a link to itself" },
        { "sh", "ContainerCannotRun", "a program of this machine" },
    };

    int dir = mkdtemp(top) ? open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    ok(dir >= 0 && mkdirat(dir, "opt", 0755) == 0 && mkdirat(dir, "bin", 0755) == 0, "a root");
    close(openat(dir, "opt/only-here", O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
    close(openat(dir, "bin/plain", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ok(symlinkat("/opt/only-here", dir, "bin/tool") == 0 && symlinkat("/opt", dir, "alias") == 0 &&
           symlinkat("/alias/only-here", dir, "bin/deep") == 0 &&
           symlinkat("../../../opt/only-here", dir, "bin/up") == 0 &&
           symlinkat("/usr/bin/env", dir, "bin/outside") == 0 &&
           symlinkat("loop", dir, "bin/loop") == 0,
       "with links");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct image_run r = { .argv = jarr(a, jstr(a, str_of(rows[i].program))) };
        images_find_program(a, str_of(rows[i].program), S("/bin"), str_of(top), JV_ABSENT, &r);
        is_str(r.reason, str_of(rows[i].reason), rows[i].why);
    }
    static const char *const made[] = { "opt/only-here", "bin/plain", "bin/tool",    "alias",
                                        "bin/deep",      "bin/up",    "bin/outside", "bin/loop" };
    for (size_t i = 0; i < COUNT(made); i++)
        unlinkat(dir, made[i], 0);
    unlinkat(dir, "opt", AT_REMOVEDIR);
    unlinkat(dir, "bin", AT_REMOVEDIR);
    close(dir);
    rmdir(top);
}

/* An imported image is found by every name that Docker would find it by. */
static void names_are_normalised(void)
{
    static const struct {
        const char *image, *rootfs;
    } rows[] = {
        { "{'image': 'hub/app:1', 'command': ['x']}", "/roots/app" },
        { "{'image': 'docker.io/hub/app:1', 'command': ['x']}", "/roots/app" },
        { "{'image': 'hub/app:1@sha256:00', 'command': ['x']}", "/roots/app" },
        { "{'image': 'hub/app:2', 'command': ['x']}", "" },
        { "{'image': 'hub/app', 'command': ['x']}", "" },
        { "{'image': 'short', 'command': ['x']}", "/roots/short" },
        { "{'image': 'docker.io/library/short', 'command': ['x']}", "/roots/short" },
        { "{'image': 'docker.io/library/short:latest', 'command': ['x']}", "/roots/short" },
        { "{'image': 'short:1', 'command': ['x']}", "" },
        { "{'image': 'quay.io/library/short', 'command': ['x']}", "" },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++)
        is_str(resolve(a, rows[i].image).rootfs, str_of(rows[i].rootfs), rows[i].image);
    struct image_run r = resolve(a, rows[0].image);
    ok(r.uid == 1000 && r.gid == 7, "the user of an image");
    r = resolve(a, rows[5].image);
    ok(r.uid == -1 && r.gid == -1, "and of one that names none");
}

/* resolve() passes /usr/bin:/bin as this machine's. */
static void a_root_has_its_own_path(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct image_run r = resolve(a, "{'image': 'localhost:5000/own', 'command': ['x']}");

    is_json(r.env, "{'PATH': '/a:/b:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}",
            "the usual one, after the directories of the entry");
    r = resolve(a, "{'image': 'with-path', 'command': ['x']}");
    is_json(r.env, "{'PATH': '/image/bin'}", "the image's own");
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
        { "images: [{match: a, user: app}]\n", ": images[0].user: must be" },
        { "images: [{match: a, user: '1:x'}]\n", ": images[0].user: must be" },
        { "images: [{match: a, user: '1:2'}]\n", NULL },
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
    programs_in_a_root_are_found_inside();
    a_root_has_its_own_path();
    names_are_normalised();
    files_are_read();
    files_say_what_they_are();
    return tap_done();
}
