/* What servers register while a pod runs is hidden from its containers, too. */

#include "sandbox/hide.h"
#include "sandbox/mount.h"
#include "sandbox/registry.h"
#include "sandbox/ward.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own: 0, or 1 when something is not hidden. */
static int cover_box(const struct ward_box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_root r = { .fd = -1 };
    struct warden_hide h;
    struct err e = { 0 };

    if (warden_hide_init(&h, a, &b->view, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    if (setns(b->minder_fd, CLONE_NEWNS) < 0 ||
        (r.fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        err_sys(&e, "enter a container");
    else
        warden_hide_cover(&h, &r, "/", &e);
    if (e.msg[0])
        fprintf(stderr, "%s\n", e.msg);
    return e.msg[0] != '\0';
}

static bool cover_all(const struct ward *w)
{
    bool all = true;

    for (size_t i = 0; i < w->boxes.n; i++) {
        const struct ward_box *b = w->boxes.at[i];
        int status = 0;
        if (b->phase != WARD_RUNNING || b->minder <= 0)
            continue;
        pid_t pid = sys_clone(0, NULL);
        if (pid == 0)
            _exit(cover_box(b));
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            all = kill(b->minder, 0) < 0 && all; /* one that is over sees nothing any more */
    }
    return all;
}

static bool any_starting(const struct ward *w)
{
    for (size_t i = 0; i < w->boxes.n; i++)
        if (w->boxes.at[i]->phase == WARD_STARTING && w->boxes.at[i]->minder > 0)
            return true;
    return false;
}

/* One that is being started may have read the list before: it comes first. */
void ward_hide_resume(struct ward *w)
{
    while (w->registry_dir >= 0 && !any_starting(w)) {
        int64_t newest = registry_generation(w->registry_dir);
        if (newest == w->generation || !cover_all(w))
            return;
        int joined = registry_join(w->registry_dir, newest);
        if (joined < 0)
            continue;
        if (w->joined >= 0) {
            flock(w->joined, LOCK_UN); /* a child may have it open still */
            close(w->joined);
        }
        w->joined = joined;
        w->generation = newest;
    }
}

static void on_registry(struct ward *w, void *of)
{
    char events[4096];

    (void)of;
    while (read(w->registry.fd, events, sizeof(events)) > 0)
        ;
    ward_hide_resume(w);
}

void ward_hide_start(struct ward *w)
{
    const char *place = w->sandbox.registry;

    w->registry_dir = w->joined = w->registry.fd = -1;
    if (!place)
        return;
    w->registry =
        (struct ward_source){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), .ready = on_registry };
    w->registry_dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->registry.fd < 0 || w->registry_dir < 0 ||
        inotify_add_watch(w->registry.fd, place, IN_CREATE | IN_MOVED_TO) < 0) {
        fprintf(stderr, "watch %s: what servers add to it is not hidden\n", place);
        return;
    }
    ward_watch(w, &w->registry, EPOLLIN);
    ward_hide_resume(w);
}
