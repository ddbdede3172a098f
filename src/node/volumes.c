/* Volumes: directories made, checked, found. Files of objects are in volumes_write.c. */

#include "node/volumes.h"

#include "base/quantity.h"
#include "kube/meta.h"
#include "node/env.h"
#include "node/host_path.h"
#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- claims */

/* Any user of a pod may write there, as with local-path on a cluster: who else is on this machine
 * does not get so far, since what is above cannot be listed by others. Those that were made 0770
 * once become so, too. */
static int make_own(struct arena *a, const struct volumes_of *of, const char *path, struct err *e)
{
    struct stat st;

    if (tree_make(a, arena_z(a, of->claims), 0711, e) < 0 || tree_make(a, path, 0777, e) < 0)
        return -1;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0770 &&
        st.st_uid == geteuid() && st.st_gid == getegid() && chmod(path, 0777) < 0)
        return err_sys(e, "chmod %s", path);
    return 0;
}

static bool is_own(str claims, str path)
{
    str name = str_sub(path, claims.n, path.n);

    return claims.n && str_starts(path, claims) && name.n > 1 && name.p[0] == '/' &&
           name.p[1] != '.' && !str_contains(str_sub(name, 1, name.n), S("/"));
}

static int claimed(struct arena *a, const struct volumes_of *of, str name, str *path, bool *ro,
                   struct err *e)
{
    str ns = meta_namespace(of->from.fields.pod);
    jv claim = of->claim(of->from.ctx, ns, name);

    if (!jv_exists(claim))
        return err_set(e, ERR_NOT_FOUND, "persistentvolumeclaim \"%" PRI_STR "\" not found",
                       STR_ARG(name));
    str volume = jv_str(jv_at(claim, "spec", "volumeName"), S(""));
    jv pv = volume.n ? of->persistent(of->from.ctx, S(""), volume) : JV_ABSENT;
    if (!jv_exists(pv) || !str_eq(jv_str(jv_at(claim, "status", "phase"), S("")), S("Bound")))
        return err_set(e, ERR_NOT_FOUND, "PVC is not bound: %" PRI_STR "/%" PRI_STR, STR_ARG(ns),
                       STR_ARG(name));
    str own = jv_str(jv_at(pv, "spec", "hostPath", "path"), S(""));
    *path = jv_str(jv_at(pv, "spec", "local", "path"), own);
    JV_EACH (it, jv_at(claim, "status", "accessModes"))
        *ro |= jv_len(jv_at(claim, "status", "accessModes")) == 1 &&
               str_eq(jv_str(it.value, S("")), S("ReadOnlyMany"));
    if (!path->n)
        return err_set(e, ERR_INVALID,
                       "persistentvolume \"%" PRI_STR
                       "\" is neither hostPath nor local: not available on this node",
                       STR_ARG(volume));
    const char *made = arena_z(a, *path);
    if (of->again) /* the pod has it; its claim, and with it the directory, may go at any moment */
        return 0;
    if (is_own(of->claims, *path))
        return make_own(a, of, made, e);
    return host_path_check(a, of->hidden, made, e) < 0 ? -1 : tree_make(a, made, 0770, e);
}

/* ---- where pods share this machine's files */

/* Whether the files are called as in the object, if not all of it is wanted. */
static bool keeps_names(jv source)
{
    JV_EACH (it, jv_at(source, "items"))
        if (!jv_equal(jv_at(it.value, "key"), jv_at(it.value, "path")))
            return false;
    return true;
}

static str controller(jv obj)
{
    JV_EACH (it, jv_at(obj, "metadata", "ownerReferences"))
        if (jv_bool(jv_at(it.value, "controller"), false))
            return jv_str(jv_at(it.value, "uid"), STR_NONE);
    return STR_NONE;
}

/* What a job made for its own pods, who may want different parts of it. */
static bool is_of_its_job(const struct volumes_of *of, jv map)
{
    str ns = meta_namespace(of->from.fields.pod), name = jv_str(jv_at(map, "name"), STR_NONE);
    str owner = controller(of->from.fields.pod);

    return owner.n && keeps_names(map) &&
           str_eq(controller(of->from.config(of->from.ctx, ns, name)), owner);
}

static bool runs_as(jv security)
{
    return jv_int(jv_at(security, "runAsUser"), 0) > 0;
}

bool volumes_are_others(jv pod)
{
    bool is = runs_as(jv_at(pod, "spec", "securityContext"));

    JV_EACH (c, jv_at(pod, "spec", "containers"))
        is |= runs_as(jv_at(c.value, "securityContext"));
    JV_EACH (c, jv_at(pod, "spec", "initContainers"))
        is |= runs_as(jv_at(c.value, "securityContext"));
    return is;
}

/* ConfigMaps and Secrets are the same for all pods of a namespace. In one place for all who want
 * them in the same way, pods can have them at the same path there. Of a job's own ConfigMap all of
 * it is there, to be read and run. */
static str common_path(struct arena *a, const struct volumes_of *of, jv *volume)
{
    str ns = meta_namespace(of->from.fields.pod);
    jv map = jv_at(*volume, "configMap"), secret = jv_at(*volume, "secret");

    if (!of->common || (!jv_is(map, JV_OBJ) && !jv_is(secret, JV_OBJ)))
        return STR_NONE;
    if (jv_is(secret, JV_OBJ) &&
        volumes_are_others(of->from.fields.pod)) /* which is for it alone */
        return STR_NONE;
    if (jv_is(map, JV_OBJ) && is_of_its_job(of, map)) {
        str name = jv_str(jv_at(map, "name"), STR_NONE);
        map = jv_with(a, jv_without(a, map, "items"), jint(a, 0755), "defaultMode");
        *volume = jobj(a, { "configMap", map });
        return arena_printf(a, "%s/%" PRI_STR ".map.%" PRI_STR, of->common, STR_ARG(ns),
                            STR_ARG(name));
    }
    str text = json_text(a, jobj(a, { "c", map }, { "s", secret }));
    return arena_printf(a, "%s/%" PRI_STR ".%016llx", of->common, STR_ARG(ns),
                        (unsigned long long)str_hash(text));
}

/* A pod's own token, where it is told by a file of ours and not at its usual place: of what comes
 * with it nothing else is looked at. */
static bool is_token_alone(const struct volumes_of *of, jv volume)
{
    static const char *const lists[] = { "initContainers", "containers" };
    str name = jv_str(jv_at(volume, "name"), S(""));

    if (!of->common || !str_starts(name, S("kube-api-access-")))
        return false;
    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (c, jv_get(jv_at(of->from.fields.pod, "spec"), str_of(lists[i])))
            JV_EACH (m, jv_at(c.value, "volumeMounts"))
                if (str_eq(jv_str(jv_at(m.value, "name"), S("")), name) &&
                    !str_eqz(jv_str(jv_at(m.value, "mountPath"), S("")), VOLUMES_TOKEN_PATH))
                    return false;
    return true;
}

static int write_token(const char *dir, const struct projection *files, struct err *e)
{
    for (size_t i = 0; i < files->n; i++)
        if (str_eqz(files->at[i].path, "token"))
            return volumes_write_one(dir, &files->at[i], e);
    return 0;
}

/* ---- by type */

struct made {
    str path;
    bool ro;
    bool on_host;
    bool exact;
    bool memory;
    int64_t size;
};

typedef int set_up_fn(struct arena *a, const struct volumes_of *of, jv volume, struct made *out,
                      struct err *e);

static int make_files(struct arena *a, const struct volumes_of *of, jv volume, struct made *out,
                      struct err *e)
{
    struct projection files;
    str common = common_path(a, of, &volume);
    bool secret = common.n && jv_exists(jv_at(volume, "secret"));

    out->ro = true;
    if (projection_make(a, &of->from, volume, &files, e) < 0)
        return -1;
    if (is_token_alone(of, volume)) {
        out->path = arena_printf(a, "%s/account", of->dir);
        return tree_make(a, out->path.p, 0755, e) < 0 ? -1 : write_token(out->path.p, &files, e);
    }
    out->path = common.n ? common : out->path;
    if (tree_make(a, out->path.p, secret ? 0700 : 0755, e) < 0)
        return -1;
    return volumes_write(out->path.p, &files, e) < 0 ? -1 : 0;
}

static int find_on_host(struct arena *a, const struct volumes_of *of, jv volume, struct made *out,
                        struct err *e)
{
    out->on_host = true;
    /* Added by `muster run`, for a directory that it has looked up: not for where a pod then puts a
     * link in its place. */
    out->exact = str_starts(jv_str(jv_at(volume, "name"), S("")), S("muster-"));
    return host_path_make(a, of->hidden, jv_at(volume, "hostPath"), &out->path, e);
}

static int find_claimed(struct arena *a, const struct volumes_of *of, jv volume, struct made *out,
                        struct err *e)
{
    jv claim = jv_at(volume, "persistentVolumeClaim");

    out->ro = jv_bool(jv_at(claim, "readOnly"), false);
    if (claimed(a, of, jv_str(jv_at(claim, "claimName"), S("")), &out->path, &out->ro, e) < 0)
        return -1;
    out->on_host = !is_own(of->claims, out->path);
    return 0;
}

static int64_t size_of(struct arena *a, jv v)
{
    struct quantity q;

    return jv_is_null(v) || quantity_from_json(a, v, &q, NULL) < 0 ? 0 : quantity_value(&q);
}

static int make_empty(struct arena *a, const struct volumes_of *of, jv volume, struct made *out,
                      struct err *e)
{
    jv empty = jv_at(volume, "emptyDir");

    (void)of;
    out->memory = str_eq(jv_str(jv_at(empty, "medium"), S("")), S("Memory"));
    out->size = size_of(a, jv_at(empty, "sizeLimit"));
    return tree_make(a, out->path.p, 0777, e);
}

static const struct {
    const char *type;
    set_up_fn *set_up;
} types[] = {
    { "configMap", make_files },
    { "downwardAPI", make_files },
    { "emptyDir", make_empty },
    { "hostPath", find_on_host },
    { "persistentVolumeClaim", find_claimed },
    { "projected", make_files },
    { "secret", make_files },
};

static set_up_fn *find_type(struct arena *a, jv volume, struct err *e)
{
    if (jv_len(volume) <= 1) /* its name alone */
        return make_empty;
    for (size_t i = 0; i < COUNT(types); i++)
        if (jv_is(jv_get(volume, str_of(types[i].type)), JV_OBJ))
            return types[i].set_up;
    struct jv_iter it = jv_iter(jv_without(a, volume, "name"));
    jv_next(&it);
    err_set(e, ERR_INVALID, "volumes of type %" PRI_STR " are not available on this node",
            STR_ARG(it.key));
    return NULL;
}

static int set_up_one(struct arena *a, const struct volumes_of *of, jv volume, jv *out,
                      struct err *e)
{
    str name = jv_str(jv_at(volume, "name"), S(""));
    struct made m = { .path = arena_printf(a, "%s/volumes/%" PRI_STR, of->dir, STR_ARG(name)) };
    set_up_fn *set_up = find_type(a, volume, e);

    if (!set_up || set_up(a, of, volume, &m, e) < 0)
        return -1;
    *out = jobj(a, { "path", jstr(a, m.path) }, { "ro", jbool(m.ro) },
                { "host", m.on_host ? JV_TRUE : JV_ABSENT },
                { "exact", m.exact ? JV_TRUE : JV_ABSENT },
                { "memory", m.memory ? JV_TRUE : JV_ABSENT },
                { "size_bytes", m.memory ? jint(a, m.size) : JV_ABSENT });
    return 0;
}

int volumes_set_up(struct arena *a, const struct volumes_of *of, jv *out, struct err *e)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, jv_at(of->from.fields.pod, "spec", "volumes")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        jv one = JV_ABSENT;
        if (set_up_one(a, of, it.value, &one, e) < 0)
            return err_wrap(e, "MountVolume.SetUp failed for volume \"%" PRI_STR "\" ",
                            STR_ARG(name));
        jb_set(&b, name, one);
    }
    *out = jb_done(&b);
    return 0;
}

int volumes_mounts(struct arena *a, jv container, jv volumes, jv env, jv *out, struct err *e)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(container, "volumeMounts")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        jv volume = jv_get(volumes, name);
        str sub = jv_str(jv_at(it.value, "subPath"), S(""));
        str expr = jv_str(jv_at(it.value, "subPathExpr"), S(""));
        if (!jv_exists(volume))
            return err_set(e, ERR_NOT_FOUND, "cannot find volume \"%" PRI_STR "\" to mount",
                           STR_ARG(name));
        if (expr.n) {
            sub = env_expand(a, expr, env, JV_ABSENT);
            if (str_contains(sub, S("$(")))
                return err_set(e, ERR_INVALID,
                               "failed to expand subPath for volumeMount \"%" PRI_STR "\"",
                               STR_ARG(name));
        }
        if (str_starts(sub, S("/")) || str_contains(sub, S("..")))
            return err_set(e, ERR_INVALID, "subPath \"%" PRI_STR "\" must be below the volume",
                           STR_ARG(sub));
        bool ro =
            jv_bool(jv_at(it.value, "readOnly"), false) || jv_bool(jv_at(volume, "ro"), false);
        str to = jv_str(jv_at(it.value, "mountPath"), S(""));
        if (!str_starts(to, S("/")))
            to = arena_cat(a, S("/"), to);
        jb_push(&b, jobj(a, { "from", jv_at(volume, "path") }, { "to", jstr(a, to) },
                         { "subpath", sub.n ? jstr(a, sub) : JV_ABSENT }, { "ro", jbool(ro) },
                         { "host", jv_at(volume, "host") }, { "exact", jv_at(volume, "exact") }));
    }
    *out = jb_done(&b);
    return 0;
}

bool volumes_use(jv volumes, str path)
{
    JV_EACH (it, volumes)
        if (str_eq(jv_str(jv_at(it.value, "path"), STR_NONE), path))
            return true;
    return false;
}

jv volumes_in_memory(struct arena *a, jv volumes)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, volumes)
        if (jv_bool(jv_at(it.value, "memory"), false))
            jb_push(&b, jobj(a, { "path", jv_at(it.value, "path") },
                             { "size_bytes", jv_at(it.value, "size_bytes") }));
    return jb_done(&b);
}

int volumes_remove(const char *dir, struct err *e)
{
    return tree_remove(AT_FDCWD, dir, e);
}
