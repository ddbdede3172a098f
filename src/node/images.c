/* The image table: read, matched, and put together with what a container says. */

#include "node/images.h"

#include "base/mem.h"
#include "base/yaml.h"
#include "kube/image_name.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

/* PATH in a root of its own, as container engines set it: this machine's means nothing there. */
#define ROOTFS_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct images {
    struct jdoc *doc;
    struct timespec changed; /* of the file; 0: there was none */
    off_t size;
};

static const char *const known[] = { "match",      "path", "venv",   "command", "args",
                                     "workingDir", "env",  "rootfs", "user",    NULL };

/* ---- reading */

/* UID[:GID] */
static bool user_read(str text, int64_t *uid, int64_t *gid)
{
    str group = text, user = str_cut(&group, ':');

    *uid = *gid = -1;
    if (!text.n)
        return true;
    return str_to_int(user, uid) && *uid >= 0 && *uid < UINT32_MAX &&
           (!group.p || (str_to_int(group, gid) && *gid >= 0 && *gid < UINT32_MAX));
}

static int entry_check(jv entry, size_t i, struct err *e)
{
    if (!jv_is(jv_at(entry, "match"), JV_STR))
        return err_set(e, ERR_INVALID, "images[%zu].match: must be a pattern", i);
    JV_EACH (it, entry) {
        size_t k = 0;
        while (known[k] && !str_eqz(it.key, known[k]))
            k++;
        if (!known[k])
            return err_set(e, ERR_INVALID, "images[%zu].%" PRI_STR ": unknown field", i,
                           STR_ARG(it.key));
    }
    int64_t uid, gid;
    jv user = jv_at(entry, "user");
    if (!jv_is_null(user) && (!jv_is(user, JV_STR) || !user_read(jv_str(user, S("")), &uid, &gid)))
        return err_set(e, ERR_INVALID, "images[%zu].user: must be \"UID\" or \"UID:GID\"", i);
    for (size_t k = 0; k < 2; k++) {
        jv list = jv_at(entry, k ? "args" : "command");
        if (!jv_is_null(list) && !jv_is(list, JV_ARR))
            return err_set(e, ERR_INVALID, "images[%zu].%s: must be a list", i,
                           k ? "args" : "command");
    }
    return 0;
}

/* What nobody would look at is a mistake: a list without its name, a name misspelt. */
static int table_check(jv table, struct err *e)
{
    size_t i = 0;

    if (!jv_is_null(table) && !jv_is(table, JV_OBJ))
        return err_set(e, ERR_INVALID, "must be images: with a list below it");
    JV_EACH (it, table)
        if (!str_eqz(it.key, "images"))
            return err_set(e, ERR_INVALID, "%" PRI_STR ": unknown field", STR_ARG(it.key));
    jv list = jv_at(table, "images");
    if (!jv_is_null(list) && !jv_is(list, JV_ARR))
        return err_set(e, ERR_INVALID, "images: must be a list");
    JV_EACH (it, list)
        if (entry_check(it.value, i++, e) < 0)
            return -1;
    return 0;
}

/* A run's table is a link to the one that its user knows, and outlives its run. */
static const char *known_as(struct arena *a, const char *path)
{
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof(to));
    char *full = n > 0 ? realpath(path, NULL) : NULL;
    const char *name = full ? arena_z(a, str_of(full)) : path;

    free(full);
    return name;
}

struct images *images_of(jv table)
{
    struct images *im = mem_new(sizeof(*im));
    struct arena *a = arena_new();

    im->doc = jdoc_of(a, jv_copy(a, table));
    return im;
}

bool images_is_stale(const struct images *im, const char *path)
{
    struct stat st = { 0 };

    if (stat(path, &st) < 0)
        st = (struct stat){ 0 };
    return st.st_mtim.tv_sec != im->changed.tv_sec || st.st_mtim.tv_nsec != im->changed.tv_nsec ||
           st.st_size != im->size;
}

int images_load(struct images **out, const char *path, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct yaml_docs docs = { 0 };
    FILE *f = fopen(path, "re");
    struct stat st = { 0 };
    const char *name = known_as(a, path);

    if (f && fstat(fileno(f), &st) < 0)
        st = (struct stat){ 0 };
    if (!f && access(path, F_OK) == 0)
        return err_sys(e, "open %s", name);
    for (size_t n = 1; f && n && b.n < MOST_BYTES; b.n += n)
        n = fread(buf_room(&b, 65536), 1, 65536, f);
    if (f)
        fclose(f);
    if (b.n && yaml_parse(a, str_of(name), buf_str(&b), NULL, &docs, e) < 0)
        return -1;
    jv table = docs.n ? docs.at[0].root : JV_EMPTY_OBJ;
    if (table_check(table, e) < 0)
        return err_wrap(e, "%s", name);
    *out = images_of(table);
    (*out)->changed = st.st_mtim;
    (*out)->size = st.st_size;
    return 0;
}

bool images_have_rootfs(const struct images *im)
{
    JV_EACH (it, jv_at(jdoc_root(im->doc), "images"))
        if (jv_exists(jv_at(it.value, "rootfs")))
            return true;
    return false;
}

void images_free(struct images *im)
{
    if (!im)
        return;
    jdoc_unref(im->doc);
    free(im);
}

/* ---- matching */

/* The names that an image goes by. */
struct names {
    const char *at[6];
    size_t n;
};

static struct names names_of(struct arena *a, str image)
{
    str s = image_name_short(image);
    struct names out = { { arena_z(a, image), arena_z(a, image_name_bare(image)), arena_z(a, s),
                           arena_z(a, image_name_bare(s)) },
                         4 };

    if (str_find(s, '@') >= 0)
        out.at[out.n++] = arena_z(a, str_cut(&(str){ s.p, s.n }, '@'));
    if (image_name_is_bare(s))
        out.at[out.n++] = arena_printf(a, "%" PRI_STR ":latest", STR_ARG(s)).p;
    return out;
}

static jv entry_of(struct arena *a, const struct images *im, str image)
{
    struct names names = names_of(a, image);

    JV_EACH (it, im ? jv_at(jdoc_root(im->doc), "images") : JV_ABSENT) {
        const char *pattern = arena_z(a, jv_str(jv_at(it.value, "match"), S("")));
        for (size_t i = 0; i < names.n; i++)
            if (image_name_is_valid(str_of(pattern)) ? strcmp(pattern, names.at[i]) == 0
                                                     : fnmatch(pattern, names.at[i], 0) == 0)
                return it.value;
    }
    return JV_ABSENT;
}

/* ---- putting together */

static jv joined(struct arena *a, jv x, jv y)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, x)
        jb_push(&b, it.value);
    JV_EACH (it, y)
        jb_push(&b, it.value);
    return jb_done(&b);
}

/* env: {A: b}, or [{name, value}] as in pods. */
static jv entry_env(struct arena *a, jv entry, str path)
{
    struct jbuild b = jb_obj(a);
    AUTO(buf) struct buf p = { 0 };
    jv env = jv_at(entry, "env"), dirs = jv_at(entry, "path");
    str venv = jv_str(jv_at(entry, "venv"), S(""));

    if (venv.n) {
        buf_printf(&p, "%" PRI_STR "/bin:", STR_ARG(venv));
        jb_set(&b, S("VIRTUAL_ENV"), jstr(a, venv));
    }
    if (jv_is(dirs, JV_STR))
        buf_printf(&p, "%" PRI_STR ":", STR_ARG(jv_str(dirs, S(""))));
    JV_EACH (it, dirs)
        buf_printf(&p, "%" PRI_STR ":", STR_ARG(jv_str(it.value, S(""))));
    buf_add(&p, jv_exists(jv_at(entry, "rootfs")) ? S(ROOTFS_PATH) : path);
    jb_set(&b, S("PATH"), jstr(a, arena_str(a, buf_str(&p))));
    JV_EACH (it, env) {
        bool pair = jv_is(it.value, JV_OBJ);
        jv value = pair ? jv_at(it.value, "value") : it.value;
        str name = pair ? jv_str(jv_at(it.value, "name"), S("")) : it.key;
        str text = jv_is(value, JV_STR) ? jv_str(value, S("")) : json_text(a, value);
        jb_set(&b, name, jstr(a, text));
    }
    return jb_done(&b);
}

static str line_to_add(struct arena *a, str image)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("image "));
    json_print_str(&b, image);
    buf_add(&b, S(" is not mapped to anything on this machine and the container names no command; "
                  "import it: muster image pull "));
    buf_add(&b, image);
    buf_add(&b, S("; or say what it is: muster image map "));
    buf_add(&b, image_name_bare(image));
    buf_add(&b, S(" --host --command PROGRAM, or in images.yaml, below images: - {match: "));
    json_print_str(&b, image_name_bare(image));
    buf_add(&b, S(", command: [\"PROGRAM\"]}"));
    return arena_str(a, buf_str(&b));
}

void images_resolve(struct arena *a, const struct images *im, jv container, str path,
                    struct image_run *out)
{
    str image = jv_str(jv_at(container, "image"), S(""));
    jv entry = entry_of(a, im, image);
    jv command = jv_at(container, "command"), args = jv_at(container, "args");
    bool own = jv_len(command) > 0;

    *out = (struct image_run){ .uid = -1, .gid = -1, .mapped = jv_exists(entry) };
    if (!own)
        command = jv_at(entry, "command");
    if (!own && jv_len(args) == 0)
        args = jv_at(entry, "args");
    out->env = entry_env(a, entry, path);
    out->rootfs = jv_str(jv_at(entry, "rootfs"), S(""));
    out->venv = jv_str(jv_at(entry, "venv"), S(""));
    user_read(jv_str(jv_at(entry, "user"), S("")), &out->uid, &out->gid);
    out->cwd = jv_str(jv_at(container, "workingDir"), S(""));
    if (!out->cwd.n)
        out->cwd = jv_str(jv_at(entry, "workingDir"), S(""));
    out->id = out->rootfs.n ? arena_cat(a, S("muster://"), out->rootfs)
              : out->mapped ? S("muster://this-machine/mapped")
                            : S("muster://this-machine"); /* known to runstate.c */
    out->argv = joined(a, command, args);
    if (jv_len(out->argv) == 0 && out->mapped) {
        out->reason = S("CreateContainerError");
        out->message = S("no command specified: neither the container nor the mapping of its image "
                         "names a command or arguments");
    } else if (jv_len(command) == 0 && !out->mapped) {
        out->reason = S("ImageNotMapped");
        out->message = line_to_add(a, image);
    } else if (!out->mapped) {
        AUTO(buf) struct buf b = { 0 };
        buf_add(&b, S("Container image "));
        json_print_str(&b, image);
        buf_add(&b, S(" is not mapped: running "));
        json_print_str(&b, jv_str(jv_index(command, 0), S("")));
        buf_add(&b, S(" from this machine's own file system"));
        out->told = arena_str(a, buf_str(&b));
    }
}

/* ---- programs */

/* What the path leads to, O_PATH, or -1. Links in a root of its own are resolved inside it. */
static int open_in(int root, const char *path)
{
    return root < 0 ? open(path, O_PATH | O_CLOEXEC)
                    : sys_openat2(root, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

static bool exists(int root, const char *path)
{
    AUTO(sys_fd) int fd = open_in(root, path);

    return fd >= 0;
}

static bool is_program(int root, const char *path)
{
    AUTO(sys_fd) int fd = open_in(root, path);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    return root < 0 ? access(path, X_OK) == 0 : (st.st_mode & 0111) != 0;
}

static str in_path(struct arena *a, str name, str path, int root)
{
    for (str rest = path; rest.p;) {
        str dir = str_cut(&rest, ':');
        str at = arena_printf(a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(dir), dir.n ? "/" : "./",
                              STR_ARG(name));
        if (is_program(root, at.p))
            return at;
    }
    return STR_NONE;
}

static bool is_below(str path, jv mounts)
{
    JV_EACH (it, mounts) {
        str at = jv_str(it.value, S(""));
        while (at.n > 1 && at.p[at.n - 1] == '/')
            at.n--;
        if (str_starts(path, at) && (path.n == at.n || path.p[at.n] == '/' || at.n == 1))
            return true;
    }
    return false;
}

/* What may be meant by a program that is not found. */
static const char *hint_of(str program)
{
    if (str_find(program, ' ') >= 0)
        return "; it has a blank in it: write each word of the command by itself";
    if (str_eqz(program, "python"))
        return "; try python3";
    return program.n && program.p[0] == '/' ? ", nor at its own path" : "";
}

void images_find_program(struct arena *a, str program, str path, str rootfs, jv mounts,
                         struct image_run *out)
{
    AUTO(sys_fd)
    int root = rootfs.n ? open(arena_z(a, rootfs), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    bool absolute = program.n && program.p[0] == '/';
    ptrdiff_t slash = str_rfind(program, '/');
    str name = slash < 0 ? program : str_sub(program, (size_t)slash + 1, program.n);

    if (rootfs.n && root < 0)
        return; /* the start of the container says why */
    if ((slash >= 0 && !absolute) || is_below(program, mounts))
        return; /* by the working directory, or a volume: the container itself will find out */
    if (absolute && exists(root, arena_z(a, program)))
        return;
    str at = name.n ? in_path(a, name, path, root) : STR_NONE;
    if (!at.n) {
        out->reason = S("ContainerCannotRun");
        out->message = arena_printf(
            a, "exec: \"%" PRI_STR "\": executable file not found in $PATH (%" PRI_STR ")%s",
            STR_ARG(program), STR_ARG(path), hint_of(program));
    } else if (absolute) {
        out->told = arena_printf(a, "%" PRI_STR " is not here: running %" PRI_STR " instead",
                                 STR_ARG(program), STR_ARG(at));
        struct jbuild b = jb_from(a, out->argv);
        jv first = jstr(a, at);
        out->argv = jv_with_index(a, jb_done(&b), 0, first);
    }
}
