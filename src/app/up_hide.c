/* See up_hide.h. */

#include "app/up_hide.h"

#include "app/up_files.h"
#include "app/up_net.h"
#include "cli/data.h"
#include "loop/log.h"
#include "sandbox/registry.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a home. */
static const char *const secrets[] = { ".ssh",           ".kube",  ".docker", ".aws",
                                       ".config/gcloud", ".gnupg", ".netrc",  ".git-credentials" };

/* Sockets of those who run programs for whoever asks, outside of any pod. */
static const char *const doors[] = {
    "/run/user",
    "/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/libvirt",
    "/run/lxd.socket",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/dbus",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
};

/* ---- servers */

static void add(struct up_hide *h, const char *path)
{
    int rc = h->registry ? registry_add(h->registry, path, &h->why) : 0;

    if (rc < 0)
        h->registry = NULL;
    if (rc > 0)
        log_warn("pods of other servers have not confirmed that they see nothing of it",
                 KVZ("path", path));
}

/* A file has to be there to be hidden: what covers it in a pod covers a place. */
static int hide_empty(struct up_hide *h, const char *path, struct err *e)
{
    if (data_write_into(path, STR_NONE, e) < 0)
        return -1;
    add(h, path);
    return 0;
}

int up_hide_begin(struct arena *a, const char *dir, const char *kubeconfig, struct up_hide *out,
                  struct err *e)
{
    *out = (struct up_hide){ .registry = registry_place(a) };
    add(out, dir);
    return kubeconfig && out->registry && registry_has_pods(out->registry)
               ? hide_empty(out, kubeconfig, e)
               : 0;
}

int up_hide_write(struct up_hide *h, const char *kubeconfig, str text, struct err *e)
{
    if (!h->registry || registry_has_pods(h->registry))
        return hide_empty(h, kubeconfig, e) < 0 ? -1 : data_write_into(kubeconfig, text, e);
    if (data_write(kubeconfig, text, e) < 0)
        return -1;
    add(h, kubeconfig); /* a pod that has begun in the meantime hides it now */
    return 0;
}

/* ---- homes */

static void add_home(struct arena *a, struct jbuild *b, const char *home, bool all)
{
    for (size_t i = 0; i < COUNT(secrets); i++) {
        str path = arena_printf(a, "%s/%s", home, secrets[i]);
        if (all || access(path.p, F_OK) == 0)
            jb_push(b, jstr(a, path));
    }
}

/* Those of other people: what they have now. */
static void add_homes_in(struct arena *a, struct jbuild *b, const char *dir)
{
    DIR *d = opendir(dir);

    for (struct dirent *at; d && (at = readdir(d));)
        if (at->d_name[0] != '.')
            add_home(a, b, arena_printf(a, "%s/%s", dir, at->d_name).p, false);
    if (d)
        closedir(d);
}

/* ---- */

int up_hide_check(const char *roots, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct stat st;

    for (str rest = str_of(roots ? roots : ""); rest.n;) {
        const char *root = arena_z(a, str_cut(&rest, ','));
        if (*root != '/' || stat(root, &st) < 0 || !S_ISDIR(st.st_mode))
            return err_set(e, ERR_INVALID,
                           "--host-path-roots: '%s' is not the absolute path of a directory", root);
    }
    return 0;
}

static jv roots_json(struct arena *a, const char *roots)
{
    struct jbuild b = jb_arr(a);
    char real[PATH_MAX];

    for (str rest = str_of(roots ? roots : ""); rest.n;) {
        const char *root = arena_z(a, str_cut(&rest, ','));
        jb_push(&b, jstr(a, arena_str(a, str_of(realpath(root, real) ? real : root))));
    }
    return jb_done(&b);
}

jv up_hide_json(struct arena *a, const struct up_hide_opts *o)
{
    struct jbuild b = jb_arr(a);

    jb_push(&b, jstr(a, str_of(o->dir)));
    for (size_t i = 0; !o->show_home_secrets && i < COUNT(doors); i++)
        jb_push(&b, jstr(a, str_of(doors[i])));
    JV_EACH (it, o->show_home_secrets ? JV_ABSENT : up_files_homes(a)) {
        str home = jv_str(it.value, S("/"));
        if (str_eqz(home, "/home"))
            add_homes_in(a, &b, "/home");
        else
            add_home(a, &b, arena_z(a, home), true);
    }
    return jobj(
        a, { "hide", jb_done(&b) },
        { "registry", o->begun->registry ? jstr(a, str_of(o->begun->registry)) : JV_ABSENT },
        { "host_roots", roots_json(a, o->roots) });
}

/* ---- told */

static jv condition(struct arena *a, bool is, const char *reason, const char *message)
{
    return up_condition(a, "PrivateCredentials", is, reason, str_of(message));
}

jv up_hide_condition(struct arena *a, const struct up_hide_opts *o)
{
    if (o->shared && geteuid() != 0) {
        static const char text[] =
            "pods run as this user with this machine's files: they can read this server's "
            "credentials, and this user's";
        log_warn(text, KVZ("isolation", "shared"));
        return condition(a, false, "Shared", text);
    }
    if (o->shared) {
        static const char text[] =
            "pods that run as root can read this server's credentials, and everything else; those "
            "with runAsUser cannot";
        log_warn(text, KVZ("isolation", "shared"));
        return condition(a, false, "Shared", text);
    }
    if (!o->begun->registry) {
        log_warn("pods may see credentials of other servers", KVZ("why", o->begun->why.msg));
        return condition(a, false, "NoRegistry",
                         arena_printf(a,
                                      "this server's credentials are out of pods' sight, those of "
                                      "other servers of this user may not be: %s",
                                      o->begun->why.msg)
                             .p);
    }
    return condition(
        a, true, o->show_home_secrets ? "HomesShown" : "Hidden",
        o->show_home_secrets
            ? "credentials of this user's servers are out of pods' sight; those in "
              "homes are not (--show-home-secrets)"
            : "credentials of this user's servers, and the usual ones in homes, are out "
              "of pods' sight");
}
