/* What the sandbox adds to a container's environment; what the container says itself comes first.
 */

#include "sandbox/env.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <unistd.h>

static const char *find(const struct warden_list *env, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < env->n; i++)
        if (strncmp(env->at[i], name, n) == 0 && env->at[i][n] == '=')
            return env->at[i] + n + 1;
    return NULL;
}

/* ---- the preload library */

/* One that another user may not read would only have the loader complain, at each program. */
static bool can_read(const char *path, int64_t uid)
{
    bool other = geteuid() == 0 && uid > 0;

    if (other)
        setfsuid((uid_t)uid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (other)
        setfsuid(geteuid());
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* NAME=first, then what the container has in it. */
static const char *joined(struct arena *a, const struct warden_list *own, const char *name,
                          const char *first)
{
    const char *had = find(own, name);
    bool any = had && *had;

    return arena_printf(a, "%s=%s%s%s", name, first, any ? ":" : "", any ? had : "").p;
}

/* LD_PRELOAD is a list by spaces, too: a path that has one goes by the search path. */
static void add_preload(struct arena *a, const char *lib, const struct warden_list *own,
                        struct warden_list *env)
{
    const char *last = strrchr(lib, '/');

    if (!strchr(lib, ' ')) {
        env->at[env->n++] = joined(a, own, "LD_PRELOAD", lib);
        return;
    }
    env->at[env->n++] = joined(a, own, "LD_PRELOAD", last + 1);
    env->at[env->n++] =
        joined(a, own, "LD_LIBRARY_PATH", arena_z(a, (str){ lib, (size_t)(last - lib) }));
}

static bool is_joined(const char *lib, const char *variable)
{
    return lib && (strncmp(variable, "LD_PRELOAD=", 11) == 0 ||
                   (strchr(lib, ' ') && strncmp(variable, "LD_LIBRARY_PATH=", 16) == 0));
}

/* ---- */

struct warden_list warden_env(struct arena *a, const struct warden_sandbox *s,
                              const struct warden_start *start, const char *dir)
{
    struct warden_list own = start->env;
    struct warden_list env = { .at = ARENA_ARRAY(a, const char *, own.n + s->env.n + 7) };
    const char *lib = s->preload && can_read(s->preload, start->uid) ? s->preload : NULL;

    for (size_t i = 0; i < own.n; i++)
        if (!is_joined(lib, own.at[i]))
            env.at[env.n++] = own.at[i];
    if (lib)
        add_preload(a, lib, &own, &env);
    for (size_t i = 0; i < s->env.n; i++) {
        str name = str_of(s->env.at[i]);
        if (!find(&own, arena_z(a, str_cut(&name, '='))))
            env.at[env.n++] = s->env.at[i];
    }
    if (!find(&own, "PATH"))
        env.at[env.n++] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    env.at[env.n++] = arena_printf(a, "MUSTER_POD=%" PRI_STR, STR_ARG(s->uid)).p;
    if (s->shared && !find(&own, "TMPDIR"))
        env.at[env.n++] = arena_printf(a, "TMPDIR=%s/tmp/%" PRI_STR, dir, STR_ARG(start->name)).p;
    return env;
}
