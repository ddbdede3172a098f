/* See make_upload.h. */

#include "cli/make_upload.h"

#include "base/base64.h"
#include "cli/data.h"
#include "kube/names.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *const endings[] = { ".py",   ".sh",  ".r",    ".jl",  ".json", ".yaml", ".yml",
                                       ".toml", ".cfg", ".conf", ".ini", ".txt",  ".csv",  ".md" };

static int is_script(const struct dirent *d)
{
    str name = str_of(d->d_name);

    if (name.p[0] == '.')
        return 0;
    for (size_t i = 0; i < COUNT(endings); i++) {
        str end = str_of(endings[i]);
        if (name.n > end.n && str_eq_nocase(str_sub(name, name.n - end.n, name.n), end))
            return 1;
    }
    return 0;
}

struct upload {
    struct arena *a;
    const char *dir;
    struct jbuild text;
    struct jbuild binary;
    int64_t bytes;
    size_t n_text;
    size_t n_binary;
};

static int add(struct upload *u, const char *name, struct err *e)
{
    const char *path = arena_printf(u->a, "%s/%s", u->dir, name).p;
    struct stat st;
    str text;

    if (lstat(path, &st) < 0)
        return err_sys(e, "--upload: look at %s", path);
    if (!S_ISREG(st.st_mode))
        return 0;
    if (!name_ok(str_of(name), name_config_key))
        return err_set(e, ERR_INVALID,
                       "--upload: '%s' cannot be uploaded: names may have letters, digits, '-', "
                       "'_' and '.'",
                       name);
    u->bytes += st.st_size;
    if (u->bytes > UPLOAD_MOST_BYTES)
        return err_set(e, ERR_TOO_LARGE,
                       "--upload: the scripts of this directory have more than %d KB; put what is "
                       "large into the image or a volume",
                       UPLOAD_MOST_BYTES / 1000);
    if (data_read(u->a, path, &text, e) < 0)
        return err_wrap(e, "--upload");
    str key = arena_str(u->a, str_of(name));
    if (str_is_utf8(text) && str_find(text, '\0') < 0) {
        jb_set(&u->text, key, jstr(u->a, text));
        u->n_text++;
    } else {
        jb_set(&u->binary, key, jstr(u->a, base64_encode(u->a, text)));
        u->n_binary++;
    }
    return 0;
}

int make_upload(struct arena *a, const char *dir, str name, const char *ns, jv *out, struct err *e)
{
    struct upload u = { .a = a, .dir = dir, .text = jb_obj(a), .binary = jb_obj(a) };
    struct dirent **found = NULL;
    int n = scandir(dir, &found, is_script, alphasort);
    int code = n < 0 ? err_sys(e, "--upload: read %s", dir) : 0;

    for (int i = 0; i < n; i++) {
        if (code == 0)
            code = add(&u, found[i]->d_name, e);
        free(found[i]);
    }
    free(found);
    if (code == 0 && !u.n_text && !u.n_binary)
        code = err_set(e, ERR_NOT_FOUND,
                       "--upload: there is no script in this directory (*.py, *.sh, *.json, *.yaml "
                       "and the like)");
    if (code < 0)
        return -1;
    *out = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "ConfigMap") },
                { "metadata", jobj(a, { "name", jstr(a, name) },
                                   { "namespace", ns ? jstr(a, str_of(ns)) : JV_ABSENT }) },
                { "data", u.n_text ? jb_done(&u.text) : JV_ABSENT },
                { "binaryData", u.n_binary ? jb_done(&u.binary) : JV_ABSENT });
    return 0;
}
