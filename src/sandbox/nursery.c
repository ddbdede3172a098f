/* Both sides of the nursery: packets with a directory and a socket there, a pidfd back. */

#include "sandbox/nursery.h"

#include "base/mem.h"
#include "loop/watchdog.h"
#include "sandbox/filter.h"
#include "sys/helper_process.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

enum { QUIET_MS = 30 };

struct asking {
    void *ctx;
    char paths[2 * PATH_MAX]; /* of the pod and of its group, each ended; no longer than needed */
};

struct answer {
    void *ctx;
    pid_t pid; /* of the keeper; with its pidfd */
};

struct warden_nursery {
    uv_poll_t poll;
    struct warden_nursery_opts o;
    int sock;
    pid_t pid;
};

/* ---- the process */

/* Nobody asked for a while. What pods do with their groups until they run would have to wait for a
 * spare one that is made. */
static bool has_time(int sock)
{
    struct pollfd in = { .fd = sock, .events = POLLIN };

    return poll(&in, 1, QUIET_MS) == 0;
}

void warden_nursery_run(int sock, char *dir, int *first, struct spare_group *spare)
{
    setsid();
    signal(SIGCHLD, SIG_IGN); /* nobody waits for them here */
    prctl(PR_SET_NAME, "muster-nursery");
    warden_filter_prepare();
    for (;;) {
        struct asking ask = { 0 };
        int fds[SYS_FDS];
        size_t nfds;
        int pidfd = -1;
        if (spare_is_wanted(spare) && has_time(sock))
            spare_renew(spare);
        ssize_t n = sys_recv_fds(sock, &ask, sizeof(ask), fds, &nfds);
        if (n <= 0) { /* the node has died, or needs no more */
            spare_leave(spare);
            _exit(0);
        }
        if (nfds != 1 || n <= (ssize_t)offsetof(struct asking, paths))
            _exit(1);
        const char *group = ask.paths + strlen(ask.paths) + 1;
        pid_t pid = sys_clone(0, &pidfd);
        if (pid == 0) {
            signal(SIGCHLD, SIG_DFL);
            close(sock);
            snprintf(dir, PATH_MAX, "%s", ask.paths);
            *first = fds[0];
            return;
        }
        spare->taken = true;
        spare_learn(spare, group);
        struct answer answer = { .ctx = ask.ctx, .pid = pid };
        sys_send_fd(sock, &answer, sizeof(answer), pidfd);
        close(fds[0]);
        if (pidfd >= 0)
            close(pidfd);
    }
}

/* ---- the node's side */

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

void warden_nursery_free(struct warden_nursery *n)
{
    if (!n)
        return;
    uv_poll_stop(&n->poll);
    close(n->sock); /* it ends */
    waitpid(n->pid, NULL, 0);
    uv_close((uv_handle_t *)&n->poll, on_closed);
}

static void on_answer(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct warden_nursery *n = h->data;

    (void)status;
    (void)events;
    for (;;) {
        struct answer answer;
        int fds[SYS_FDS];
        size_t nfds;
        ssize_t got = sys_recv_fds(n->sock, &answer, sizeof(answer), fds, &nfds);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got != (ssize_t)sizeof(answer)) {
            n->o.died(n->o.of); /* frees n */
            return;
        }
        n->o.born(answer.ctx, answer.pid, nfds ? fds[0] : -1);
    }
}

static int run(struct warden_nursery *n, struct err *e)
{
    char words[][12] = { "muster", "warden", "--nursery", "3" };
    char room[256]; /* for the names of keepers */
    char *const argv[] = { words[0], words[1], words[2], words[3], room, NULL };

    memset(room, ' ', sizeof(room) - 1);
    room[sizeof(room) - 1] = 0;
    return helper_run(n->o.exe, argv, SOCK_SEQPACKET, &n->pid, e);
}

struct warden_nursery *warden_nursery_new(struct loop *l, const struct warden_nursery_opts *o,
                                          struct err *e)
{
    struct warden_nursery *n = mem_new(sizeof(*n));

    n->o = *o;
    n->sock = run(n, e);
    if (n->sock < 0) {
        free(n);
        return NULL;
    }
    fcntl(n->sock, F_SETFL, O_NONBLOCK);
    uv_poll_init(loop_uv(l), &n->poll, n->sock);
    n->poll.data = n;
    uv_poll_start(&n->poll, UV_READABLE | UV_DISCONNECT, on_answer);
    return n;
}

int warden_nursery_ask(struct warden_nursery *n, const char *dir, str group, int fd, void *ctx)
{
    struct asking ask = { .ctx = ctx };
    size_t len = strlen(dir) + 1;

    if (len > PATH_MAX || group.n >= PATH_MAX)
        return -1;
    memcpy(ask.paths, dir, len);
    if (group.n)
        memcpy(ask.paths + len, group.p, group.n);
    len += group.n + 1;
    return sys_send_fd(n->sock, &ask, offsetof(struct asking, paths) + len, fd) < 0 ? -1 : 0;
}
