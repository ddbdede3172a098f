/* Child processes: started in a process group of their own, watched by pidfd on the loop. (Not with
 * uv_spawn, which takes SIGCHLD for itself.) */

#include "loop/child.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

struct loop_child {
    uv_poll_t exit; /* on the pidfd */
    uv_poll_t out;
    int open; /* handles that are not closed */
    pid_t pid;
    int pidfd;
    int pipe;
    struct loop_timer *timer;
    struct loop_child_opts o;
    struct buf text;
    struct loop_child_end end;
};

struct words {
    VEC(const char *);
};

static bool is_set(const char *const *env, const char *pair)
{
    size_t n = (size_t)(strchrnul(pair, '=') - pair);

    for (; env && *env; env++)
        if (strncmp(*env, pair, n) == 0 && (*env)[n] == '=')
            return true;
    return false;
}

static int spawn(struct loop_child *ch, const struct loop_child_opts *o, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t set;
    struct words env = { 0 };

    for (char **p = environ; *p; p++)
        if (!is_set(o->env, *p))
            vec_push(&env, *p);
    for (const char *const *p = o->env; p && *p; p++)
        vec_push(&env, *p);
    vec_push(&env, NULL);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attr, &set);
    int rc = posix_spawnp(&ch->pid, o->argv[0], &files, &attr, (char *const *)(uintptr_t)o->argv,
                          (char *const *)(uintptr_t)env.at);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    vec_done(&env);
    return rc;
}

static void on_closed(uv_handle_t *h)
{
    struct loop_child *ch = h->data;

    if (--ch->open > 0)
        return;
    buf_done(&ch->text);
    free(ch);
}

static void release(struct loop_child *ch)
{
    loop_timer_stop(TAKE(ch->timer));
    uv_close((uv_handle_t *)&ch->exit, on_closed);
    uv_close((uv_handle_t *)&ch->out, on_closed);
    close(ch->pidfd);
    close(ch->pipe);
}

static void kill_group(const struct loop_child *ch)
{
    kill(-ch->pid, SIGKILL);
}

/* All there is now. */
static void drain(struct loop_child *ch)
{
    for (;;) {
        ssize_t n = read(ch->pipe, buf_room(&ch->text, 4096), 4096);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            uv_poll_stop(&ch->out);
        if (n <= 0)
            return;
        ch->text.n += (size_t)n;
        if (ch->text.n <= ch->o.most_bytes)
            continue;
        ch->end.too_large = true;
        uv_poll_stop(&ch->out);
        kill_group(ch);
        return;
    }
}

static void on_out(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    (void)status;
    (void)events;
    drain(h->data);
}

static void on_exit_seen(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct loop_child *ch = h->data;

    (void)status;
    (void)events;
    if (waitpid(ch->pid, &ch->end.status, WNOHANG) != ch->pid)
        return;
    if (!ch->end.too_large)
        drain(ch);
    ch->end.out = buf_str(&ch->text);
    loop_timer_stop(TAKE(ch->timer));
    ch->o.done(ch->o.ctx, &ch->end);
    release(ch);
}

static void on_timeout(void *arg)
{
    struct loop_child *ch = arg;

    ch->end.timed_out = true;
    kill_group(ch);
}

int loop_child_start(struct loop_child **out, struct loop *l, const struct loop_child_opts *o,
                     struct err *e)
{
    struct loop_child *ch = mem_new(sizeof(*ch));
    int fds[2];

    assert_on_loop(l);
    if (pipe2(fds, O_CLOEXEC) < 0) {
        free(ch);
        return err_sys(e, "pipe");
    }
    errno = spawn(ch, o, fds[1]);
    close(fds[1]);
    if (errno) {
        err_sys(e, "run %s", o->argv[0]);
        close(fds[0]);
        free(ch);
        return -1;
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    ch->pipe = fds[0];
    ch->pidfd = (int)syscall(SYS_pidfd_open, ch->pid, 0);
    if (ch->pidfd < 0) {
        err_sys(e, "pidfd of %s", o->argv[0]);
        kill_group(ch);
        waitpid(ch->pid, NULL, 0);
        close(ch->pipe);
        free(ch);
        return -1;
    }
    ch->o = *o;
    ch->o.argv = ch->o.env = NULL; /* borrowed, and no longer needed */
    ch->open = 2;
    uv_poll_init(loop_uv(l), &ch->exit, ch->pidfd);
    uv_poll_init(loop_uv(l), &ch->out, ch->pipe);
    ch->exit.data = ch->out.data = ch;
    uv_poll_start(&ch->exit, UV_READABLE, on_exit_seen);
    uv_poll_start(&ch->out, UV_READABLE | UV_DISCONNECT, on_out);
    ch->timer = loop_timer_start(l, o->timeout_ms, 0, on_timeout, ch);
    *out = ch;
    return 0;
}

void loop_child_stop(struct loop_child *ch)
{
    if (!ch)
        return;
    kill_group(ch);
    while (waitpid(ch->pid, NULL, 0) < 0 && errno == EINTR) /* killed: it does not last */
        ;
    release(ch);
}
