/* As root, where pods share this machine's files: one that runs as another user must reach what is
 * its own below the data directory, which is closed to others; and nobody is to find more there
 * than before. Directories above the pod's are opened for passing through alone. The pod's own is
 * for a group that nobody else has: two pods of one user, or with the group 0, do not read each
 * other's.
 */

#include "kube/meta.h"
#include "node/confine.h"
#include "node/internal.h"
#include "node/volumes.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_mode(str data, const char *name, mode_t mode)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%" PRI_STR "%s", STR_ARG(data), name);
    chmod(path, mode); /* what is not there yet needs none */
}

static void give(const char *path, gid_t gid, mode_t mode)
{
    if (chown(path, (uid_t)-1, gid) == 0)
        chmod(path, mode);
}

static void give_to_group(const char *dir, const char *name, gid_t gid, mode_t mode)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    give(path, gid, mode); /* what is not there needs none */
}

/* The first directory on the way that others cannot pass through; empty: none. */
static str closed_part(struct arena *a, str data)
{
    for (size_t i = 1; i <= data.n; i++) {
        struct stat st;
        if (i < data.n && data.p[i] != '/')
            continue;
        const char *part = arena_z(a, str_sub(data, 0, i));
        if (stat(part, &st) == 0 && !(st.st_mode & S_IXOTH))
            return str_of(part);
    }
    return STR_NONE;
}

static bool is_concerned(const struct pod *p)
{
    return geteuid() == 0 && str_eq(p->n->o.isolation, S("shared"));
}

/* Secrets of ours that lie there are closed to others each for itself. */
static void open_data(str data)
{
    set_mode(data, "/logs", 0700);
    set_mode(data, "/runs", 0700);
    set_mode(data, "/volumes", 0711);
    set_mode(data, "/pods/.common", 0711);
    set_mode(data, "/pods", 0711);
    set_mode(data, "", 0711);
}

void pod_open_again(const struct pod *p)
{
    if (is_concerned(p) && volumes_are_others(p->life->pod))
        open_data(p->n->o.data);
}

int64_t pod_own_group(const struct pod *p, int64_t uid)
{
    enum {
        FIRST = 0x70000000,
        MANY = 0x10000000
    }; /* no system or container engine gives these out */

    if (uid <= 0 || !is_concerned(p))
        return -1;
    return FIRST + (int64_t)(str_hash(str_of(p->uid)) % MANY);
}

void pod_open_to_user(struct arena *a, struct pod *p, const struct life_container *c, int64_t uid,
                      struct life_out *out)
{
    str data = p->n->o.data;
    int64_t group = pod_own_group(p, uid);

    if (group < 0)
        return;
    open_data(data);
    give(p->dir, (gid_t)group, 0710);
    give_to_group(p->dir, "volumes", (gid_t)group, 0750);
    give_to_group(p->dir, "account", (gid_t)group, 0750);
    give_to_group(p->dir, "kubeconfig", (gid_t)group, 0640);
    str closed = closed_part(a, data);
    if (closed.n)
        life_tell(out, c, true, "UserCannotReach",
                  arena_printf(a,
                               "user %lld cannot reach the pod's files: %" PRI_STR
                               " is closed to others; start muster with a --data directory that "
                               "everybody can pass to",
                               (long long)uid, STR_ARG(closed)));
}

void pod_user(struct arena *a, const struct pod *p, const struct life_container *c,
              const struct image_run *run, jv *uid, jv *gid)
{
    *uid = confine_field(p->life->pod, c->spec, "runAsUser");
    *gid = confine_field(p->life->pod, c->spec, "runAsGroup");
    if (jv_is(*uid, JV_INT) || geteuid() != 0 || !run->rootfs.n || run->uid < 0)
        return;
    *uid = jint(a, run->uid);
    if (!jv_is(*gid, JV_INT) && run->gid >= 0)
        *gid = jint(a, run->gid);
}

int pod_check_user(struct arena *a, const struct pod *p, const struct life_container *c,
                   const struct image_run *run, struct err *e)
{
    jv user, group, pod = p->life->pod;

    pod_user(a, p, c, run, &user, &group);
    int64_t uid = jv_int(user, (int64_t)geteuid());

    if (!jv_bool(confine_field(p->life->pod, c->spec, "runAsNonRoot"), false) || uid != 0)
        return 0;
    return err_set(e, ERR_FORBIDDEN,
                   "%s (pod: \"%" PRI_STR "_%" PRI_STR "(%s)\", container: %" PRI_STR ")",
                   jv_is(user, JV_INT) ? "container's runAsUser breaks non-root policy"
                                       : "container has runAsNonRoot and image will run as root",
                   STR_ARG(meta_name(pod)), STR_ARG(meta_namespace(pod)), p->uid, STR_ARG(c->name));
}

void pod_tell_user(struct arena *a, const struct pod *p, const struct life_container *c,
                   struct life_out *out)
{
    jv user = confine_field(p->life->pod, c->spec, "runAsUser");
    int64_t own = (int64_t)geteuid();

    if (own != 0 && jv_is(user, JV_INT) && jv_int(user, own) != own)
        life_tell(
            out, c, true, "UserNotChanged",
            arena_printf(a,
                         "runs as user %lld, as muster does, not as runAsUser %lld: only root "
                         "can start processes of other users",
                         (long long)own, (long long)jv_int(user, 0)));
    if (own != 0 && confine_is_privileged(c->spec))
        life_tell(out, c, true, "PrivilegedInPodOnly",
                  S("privileged holds within the pod's user namespace: muster runs as an ordinary "
                    "user and has no more to give"));
}
