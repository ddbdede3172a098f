/* Control groups: found by what /proc says of mounts and of ourselves, then by trying. */

#include "node/groups.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static str read_all(struct arena *a, const char *root, const char *path)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = fopen(arena_printf(a, "%s%s", root ? root : "", path).p, "re");

    for (size_t n = 1; f && n; b.n += n)
        n = fread(buf_room(&b, 65536), 1, 65536, f);
    if (f)
        fclose(f);
    return arena_str(a, buf_str(&b));
}

static bool has_word(str text, char between, const char *word)
{
    for (str rest = text; rest.p;)
        if (str_eqz(str_trim(str_cut(&rest, between)), word))
            return true;
    return false;
}

/* The hierarchy's mount point: of v2, or of a controller of v1. Empty: it is not mounted. */
static str mount_of(str mounts, const char *type, const char *controller)
{
    for (str rest = mounts; rest.p;) {
        str line = str_cut(&rest, '\n'), what[4];
        for (size_t i = 0; i < 4; i++)
            what[i] = str_cut(&line, ' ');
        if (str_eqz(what[2], type) && (!*controller || has_word(what[3], ',', controller)))
            return what[1];
    }
    return S("");
}

/* The group that we are in ourselves, from the hierarchy's root: "/". Absent: empty. */
static str own_of(str groups, const char *controller)
{
    for (str rest = groups; rest.p;) {
        str line = str_cut(&rest, '\n'), number = str_cut(&line, ':'), names = str_cut(&line, ':');
        if (*controller ? has_word(names, ',', controller) : !names.n && str_eqz(number, "0"))
            return line;
    }
    return S("");
}

static int put(const char *dir, const char *file, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.3900s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : 0;
}

static bool may_write(struct arena *a, const char *dir, const char *file)
{
    return access(arena_printf(a, "%s/%s", dir, file).p, W_OK) == 0;
}

/* A group of ours in the parent, with its controllers; NULL: not there. Processes can only be moved
 * in by whoever may write to the parent, which is above both. */
static const char *try_v2(struct arena *a, const char *parent, str name)
{
    static const char *const wanted[] = { "memory", "cpu", "pids" };
    const char *dir = arena_printf(a, "%s/%" PRI_STR, parent, STR_ARG(name)).p;
    bool made = may_write(a, parent, "cgroup.procs") && mkdir(dir, 0755) == 0;

    if (!made && errno != EEXIST)
        return NULL;
    for (size_t i = 0; i < COUNT(wanted); i++) /* refused where processes are in it */
        put(parent, "cgroup.subtree_control", arena_printf(a, "+%s", wanted[i]).p);
    str have = read_all(a, dir, "/cgroup.controllers");
    if (has_word(have, ' ', "memory") && has_word(have, ' ', "cpu"))
        return dir;
    if (made)
        rmdir(dir);
    return NULL;
}

/* From our own group outwards. */
static const char *find_v2(struct arena *a, const char *root, str mounts, str groups, str name)
{
    str top = mount_of(mounts, "cgroup2", ""), own = own_of(groups, "");

    if (!top.n || !own.n)
        return NULL;
    str at = arena_printf(a, "%s%" PRI_STR "%" PRI_STR, root ? root : "", STR_ARG(top),
                          STR_ARG(own.n > 1 ? own : S("")));
    size_t least = strlen(root ? root : "") + top.n;
    while (at.n >= least) {
        const char *dir = try_v2(a, arena_z(a, at), name);
        ptrdiff_t slash = str_rfind(at, '/');
        if (dir || slash < 0)
            return dir;
        at = str_sub(at, 0, (size_t)slash);
    }
    return NULL;
}

static const char *find_v1(struct arena *a, const char *root, str mounts, str groups, str name,
                           const char *controller)
{
    str top = mount_of(mounts, "cgroup", controller), own = own_of(groups, controller);
    /* Somebody keeps accounts of memory by the group that we are in: not to be divided. */
    bool kept = strcmp(controller, "memory") == 0 && !str_eqz(own, "/");

    if (!top.n || !own.n || kept)
        return NULL;
    const char *parent = arena_printf(a, "%s%" PRI_STR "%" PRI_STR, root ? root : "", STR_ARG(top),
                                      STR_ARG(own.n > 1 ? own : S("")))
                             .p;
    const char *dir = arena_printf(a, "%s/%" PRI_STR, parent, STR_ARG(name)).p;
    if (!may_write(a, parent, "cgroup.procs") || (mkdir(dir, 0755) < 0 && errno != EEXIST))
        return NULL;
    return dir;
}

jv groups_find(struct arena *a, const char *root, str name)
{
    static const char *const controllers[] = { "cpu", "memory", "pids" };
    str mounts = read_all(a, root, "/proc/self/mounts");
    str groups = read_all(a, root, "/proc/self/cgroup");
    const char *v2 = find_v2(a, root, mounts, groups, name);
    struct jbuild b = jb_obj(a);

    if (v2)
        return jobj(a, { "v2", jstr(a, str_of(v2)) });
    for (size_t i = 0; i < COUNT(controllers); i++) {
        const char *dir = find_v1(a, root, mounts, groups, name, controllers[i]);
        if (dir)
            jb_add(&b, str_of(controllers[i]), jstr(a, str_of(dir)));
    }
    return b.n ? jobj(a, { "v1", jb_done(&b) }) : JV_ABSENT;
}

bool groups_keep(jv groups, const char *limit)
{
    AUTO(arena) struct arena *a = arena_new();
    jv v2 = jv_at(groups, "v2");

    if (jv_exists(v2))
        return has_word(read_all(a, arena_z(a, jv_str(v2, S(""))), "/cgroup.controllers"), ' ',
                        limit);
    return jv_exists(jv_get(jv_at(groups, "v1"), str_of(limit)));
}

static jv below(struct arena *a, jv dir, str uid)
{
    return jstr(
        a, arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(jv_str(dir, S(""))), STR_ARG(uid)));
}

jv groups_of_pod(struct arena *a, jv groups, str uid)
{
    jv v2 = jv_at(groups, "v2");
    struct jbuild b = jb_obj(a);

    if (jv_exists(v2))
        return jobj(a, { "v2", below(a, v2, uid) });
    JV_EACH (it, jv_at(groups, "v1"))
        jb_add(&b, it.key, below(a, it.value, uid));
    return b.n ? jobj(a, { "v1", jb_done(&b) }) : JV_ABSENT;
}

void groups_remove(jv groups)
{
    AUTO(arena) struct arena *a = arena_new();

    if (jv_exists(jv_at(groups, "v2")))
        rmdir(arena_z(a, jv_str(jv_at(groups, "v2"), S(""))));
    JV_EACH (it, jv_at(groups, "v1"))
        rmdir(arena_z(a, jv_str(it.value, S(""))));
}
