#include "cli/make_upload.h"

#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *dir;

static const char *in(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", dir, name).p;
}

static void put(const char *name, const char *text, size_t n)
{
    AUTO(arena) struct arena *a = arena_new();
    FILE *f = fopen(in(a, name), "we");

    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0)
        printf("Bail out! cannot write %s\n", name);
}

static void gone(const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    unlink(in(a, name));
}

static str refusal(struct arena *a)
{
    struct err *e = ARENA_NEW(a, struct err);
    jv map = JV_ABSENT;

    return make_upload(a, dir, S("x"), NULL, &map, e) < 0 ? str_of(e->msg) : S("none");
}

static void scripts_become_a_config_map(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    jv map = JV_ABSENT;

    put("train.py", "print(1)\n", 9);
    put("Data.TXT", "\377", 1);
    put("nul.txt", "a\0b", 3);
    put(".hidden.py", "x", 1);
    put("model.bin", "x", 1);
    put("py", "x", 1);
    ok(symlink("/etc/passwd", in(a, "link.py")) == 0 && mkdir(in(a, "sub.py"), 0755) == 0,
       "a link and a directory");
    is_int(make_upload(a, dir, S("train-scripts"), "team", &map, &e), 0, "taken");
    is_json(map,
            "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'train-scripts', "
            "'namespace': 'team'}, 'data': {'train.py': 'print(1)\\n'}, 'binaryData': {'Data.TXT': "
            "'/w==', 'nul.txt': 'YQBi'}}",
            "files by their endings, no links, directories or hidden ones");
    gone("link.py");
    rmdir(in(a, "sub.py"));
}

static void too_much_is_refused(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char *much = arena_zalloc(a, UPLOAD_MOST_BYTES);

    memset(much, 'x', UPLOAD_MOST_BYTES);
    put("large.csv", much, UPLOAD_MOST_BYTES - 13); /* and the 13 bytes of the others */
    is_str(refusal(a), S("none"), "900 KB are fine");
    put("large.csv", much, UPLOAD_MOST_BYTES - 12);
    is_str(
        refusal(a),
        S("--upload: the scripts of this directory have more than 900 KB; put what is large into "
          "the image or a volume"),
        "one byte more is not");
    gone("large.csv");
}

static void names_are_checked(void)
{
    AUTO(arena) struct arena *a = arena_new();

    put("my script.py", "x", 1);
    is_str(
        refusal(a),
        S("--upload: 'my script.py' cannot be uploaded: names may have letters, digits, '-', '_' "
          "and '.'"),
        "a blank in a name");
    gone("my script.py");
}

static void nothing_is_refused(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char *const all[] = { "train.py", "Data.TXT", "nul.txt" };

    for (size_t i = 0; i < COUNT(all); i++)
        gone(all[i]);
    is_str(refusal(a),
           S("--upload: there is no script in this directory (*.py, *.sh, *.json, *.yaml and the "
             "like)"),
           "no script at all");
}

int main(void)
{
    char place[] = "/tmp/muster-upload.XXXXXX";

    dir = mkdtemp(place);
    scripts_become_a_config_map();
    too_much_is_refused();
    names_are_checked();
    nothing_is_refused();
    gone(".hidden.py");
    gone("model.bin");
    gone("py");
    ok(rmdir(dir) == 0, "nothing is left");
    return tap_done();
}
