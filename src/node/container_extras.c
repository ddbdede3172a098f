/* What a container finds besides its volumes.
 * Level shared: a place like /var/run/secrets cannot be each pod's own there. Instead of the token
 * at its usual place a container gets a kubeconfig, and KUBECONFIG says where.
 * Level namespaces: its /tmp is not this machine's, and yet muster itself, which is a launcher's
 * remote shell, and the image's Python environment may lie there. */

#include "base/base64.h"
#include "kube/meta.h"
#include "node/host_path.h"
#include "node/internal.h"
#include "node/volumes.h"
#include "sys/self.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODE_AGENT_DIR "/opt/muster"

static jv one(struct arena *a, const char *what, jv value)
{
    return jarr(a, jobj(a, { "name", jstrz(a, "muster") }, { what, value }));
}

static str config_text(struct arena *a, const struct pod *p, str dir)
{
    /* the preload library knows the way; the machine's own loopback is not the pod's */
    jv cluster = jobj(a, { "server", jstrz(a, "https://10.96.0.1:443") },
                      { "certificate-authority-data", jstr(a, base64_encode(a, p->n->o.ca)) });
    jv user =
        jobj(a, { "tokenFile", jstr(a, arena_printf(a, "%" PRI_STR "/token", STR_ARG(dir))) });
    jv context = jobj(a, { "cluster", jstrz(a, "muster") }, { "user", jstrz(a, "muster") },
                      { "namespace", jstr(a, meta_namespace(p->life->pod)) });

    return json_text(a, jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Config") },
                             { "clusters", one(a, "cluster", cluster) },
                             { "users", one(a, "user", user) },
                             { "contexts", one(a, "context", context) },
                             { "current-context", jstrz(a, "muster") }));
}

static str write_config(struct arena *a, const struct pod *p, str dir)
{
    str path = arena_printf(a, "%s/kubeconfig", p->dir), text = config_text(a, p, dir);
    int fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool whole = fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n;

    if (fd >= 0)
        close(fd);
    return whole ? path : STR_NONE;
}

void pod_access_shared(struct arena *a, struct pod *p, jv *env, jv *mounts)
{
    struct jbuild left = jb_arr(a);
    str dir = STR_NONE;

    if (!str_eq(p->n->o.isolation, S("shared")))
        return;
    JV_EACH (it, *mounts) {
        if (str_eqz(jv_str(jv_at(it.value, "to"), STR_NONE), VOLUMES_TOKEN_PATH))
            dir = jv_str(jv_at(it.value, "from"), STR_NONE);
        else
            jb_push(&left, it.value);
    }
    *mounts = jb_done(&left);
    if (!dir.n || !p->n->o.api_ip.n || jv_exists(jv_at(*env, "KUBECONFIG")))
        return;
    str path = write_config(a, p, dir);
    if (path.n)
        *env = jv_with(a, *env, jstr(a, path), "KUBECONFIG");
}

/* Whether one of the container's volumes is mounted there, or above it: then the place is its own.
 */
static bool is_taken(str path, jv mounts)
{
    JV_EACH (it, mounts) {
        str to = jv_str(jv_at(it.value, "to"), S("/"));
        while (to.n && to.p[to.n - 1] == '/')
            to.n--;
        if (str_starts(path, to) && (path.n == to.n || path.p[to.n] == '/'))
            return true;
    }
    return false;
}

/* host: a pod names it, so it must be one that pods may have. */
static void show(struct arena *a, str path, bool ro, bool host, jv *mounts)
{
    if (!str_starts(path, S("/tmp/")) || access(path.p, F_OK) < 0 || is_taken(path, *mounts))
        return;
    struct jbuild b = jb_from(a, *mounts);
    jb_push(&b, jobj(a, { "from", jstr(a, path) }, { "to", jstr(a, path) }, { "ro", jbool(ro) },
                     { "host", host ? JV_TRUE : JV_ABSENT }));
    *mounts = jb_done(&b);
}

/* In a root of its own a container finds this machine's muster, with the libraries it uses. */
static void show_agent(struct arena *a, const struct pod *p, jv *mounts)
{
    char at[PATH_MAX];
    str dir = arena_printf(a, "%" PRI_STR "/agent", STR_ARG(p->n->o.data));

    if (!realpath(dir.p, at) || is_taken(S(NODE_AGENT_DIR), *mounts))
        return;
    struct jbuild b = jb_from(a, *mounts);
    jb_push(&b, jobj(a, { "from", jstr(a, arena_str(a, str_of(at))) },
                     { "to", jstrz(a, NODE_AGENT_DIR) }, { "ro", JV_TRUE }));
    *mounts = jb_done(&b);
}

void pod_tools_shown(struct arena *a, const struct pod *p, const struct image_run *run, jv *mounts)
{
    if (!str_eq(p->n->o.isolation, S("namespaces")))
        return;
    if (run->rootfs.n) {
        show_agent(a, p, mounts);
        return;
    }
    show(a, str_of(sys_self()->files), true, false, mounts);
    show(a, arena_str(a, run->venv), false, false, mounts);
}

/* One below /tmp that is there and the node's own user's is that directory, not an empty one in the
 * pod's own /tmp. */
void pod_workdir_shown(struct arena *a, const struct pod *p, const struct image_run *run,
                       jv *mounts)
{
    const char *path = arena_z(a, run->cwd);
    struct stat st;

    if (str_eq(p->n->o.isolation, S("namespaces")) && !run->rootfs.n && stat(path, &st) == 0 &&
        S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
        host_path_check(a, p->n->o.hidden, path, NULL) == 0)
        show(a, str_of(path), false, true, mounts);
}

bool pod_workdir_is_missing(struct arena *a, const struct image_run *run, jv mounts)
{
    const char *path =
        arena_printf(a, "%" PRI_STR "%" PRI_STR, STR_ARG(run->rootfs), STR_ARG(run->cwd)).p;

    return run->cwd.n && !is_taken(run->cwd, mounts) && access(path, F_OK) < 0 && errno == ENOENT;
}
