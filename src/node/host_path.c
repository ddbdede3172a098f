/* Directories and files of this machine as volumes: what their type asks for, and whether pods may
 * have them. Where pods have namespaces the warden checks the file that it mounts once more, as
 * links may change in between. */

#include "node/host_path.h"

#include "sandbox/hide.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct warden_list texts(struct arena *a, jv list)
{
    struct warden_list l = { .at = ARENA_ARRAY(a, const char *, jv_len(list) + 1) };

    JV_EACH (it, list)
        l.at[l.n++] = arena_z(a, jv_str(it.value, S("/")));
    return l;
}

int host_path_check(struct arena *a, jv hidden, const char *path, struct err *e)
{
    str registry = jv_str(jv_at(hidden, "registry"), STR_NONE);
    struct warden_sandbox s = { .registry = registry.n ? arena_z(a, registry) : NULL,
                                .hide = texts(a, jv_at(hidden, "hide")),
                                .host_roots = texts(a, jv_at(hidden, "host_roots")) };

    return warden_host_path_check(&s, path, e);
}

static const struct {
    const char *type;
    const char *name;
    mode_t is;
    mode_t make; /* 0: it must be there */
} types[] = {
    { "DirectoryOrCreate", "a directory", S_IFDIR, 0755 },
    { "Directory", "a directory", S_IFDIR, 0 },
    { "FileOrCreate", "a file", S_IFREG, 0644 },
    { "File", "a file", S_IFREG, 0 },
    { "Socket", "a socket", S_IFSOCK, 0 },
    { "CharDevice", "a character device", S_IFCHR, 0 },
    { "BlockDevice", "a block device", S_IFBLK, 0 },
};

static int missing(const char *path, struct err *e)
{
    err_set(e, ERR_NOT_FOUND, "hostPath %s does not exist on this machine", path);
    if (e)
        e->sys = ENOENT; /* known to pod_volumes_are_set */
    return -1;
}

int host_path_make(struct arena *a, jv hidden, jv source, str *path, struct err *e)
{
    str type = jv_str(jv_at(source, "type"), S(""));
    const char *p = arena_z(a, jv_str(jv_at(source, "path"), S("")));
    struct stat st;

    *path = str_of(p);
    if (*p != '/')
        return err_set(e, ERR_INVALID, "hostPath %s is not an absolute path", p);
    if (host_path_check(a, hidden, p, e) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(types); i++) {
        if (!str_eqz(type, types[i].type))
            continue;
        bool there = stat(p, &st) == 0;
        if (!there && types[i].is == S_IFDIR && types[i].make)
            return tree_make(a, p, types[i].make, e);
        if (!there && types[i].make) {
            int fd = open(p, O_WRONLY | O_CREAT | O_CLOEXEC, types[i].make);
            if (fd < 0)
                return err_sys(e, "hostPath type check failed: create %s", p);
            close(fd);
            return 0;
        }
        if (!there || (st.st_mode & S_IFMT) != types[i].is)
            return err_set(e, ERR_INVALID, "hostPath type check failed: %s is not %s", p,
                           types[i].name);
    }
    return access(p, F_OK) < 0 ? missing(p, e) : 0;
}
