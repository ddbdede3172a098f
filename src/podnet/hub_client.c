/* Finds the hub by its socket, or runs one and talks over the pair it was given. */

#include "podnet/hub_client.h"

#include "loop/loop.h"
#include "sys/helper_process.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALL_TIMEOUT_MS = 30 * 1000, PAUSE_MS = 5, LOOK_MS = 100 };

static int time_left_ms(const struct net_call *c)
{
    int64_t over = atomic_load(c->give_up_ms), left = over - boot_now_ms();

    return !over ? CALL_TIMEOUT_MS : left > 0 ? (int)left : 0;
}

/* ---- messages */

int net_hub_say(struct msgsock *w, jv v, int fd)
{
    AUTO(buf) struct buf b = { 0 };

    json_print(&b, v);
    return msgsock_say(w, buf_str(&b), &fd, fd >= 0);
}

/* The next one; it is valid until the next call. */
static int next_message(struct net_call *c, str *message, int64_t until, struct err *e)
{
    struct err why = { 0 };
    int rc = msgsock_used(&c->wire, &why);

    while (!msgsock_next(&c->wire, message)) {
        if (rc < 0)
            return err_set(e, why.code == ERR_INVALID ? ERR_INVALID : ERR_UNAVAILABLE,
                           "the hub has died: %s", why.msg);
        struct pollfd at = { .fd = c->wire.fd,
                             .events = (short)(POLLIN | (msgsock_waits(&c->wire) ? POLLOUT : 0)) };
        int64_t left = until - sys_tick_ms(), over = atomic_load(c->give_up_ms);
        if (left <= 0 || (over && boot_now_ms() >= over))
            return err_set(e, ERR_TIMEOUT, "the hub does not answer");
        if (poll(&at, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) < 0 && errno != EINTR)
            return err_sys(e, "poll");
        if ((at.revents & POLLOUT) && msgsock_flush(&c->wire) < 0)
            return err_set(e, ERR_UNAVAILABLE, "the hub has died");
        rc = msgsock_fill(&c->wire, &why);
    }
    return 0;
}

jv net_call_ask(struct net_call *c, struct arena *a, jv request, int *fd, struct err *e)
{
    int64_t until = sys_tick_ms() + CALL_TIMEOUT_MS;
    int64_t id = (int64_t)++c->id;
    str message;

    if (fd)
        *fd = -1;
    if (net_hub_say(&c->wire, jv_with_key(a, request, S("id"), jint(a, id)), -1) < 0) {
        err_set(e, ERR_UNAVAILABLE, "the hub has died");
        return JV_ABSENT;
    }
    while (next_message(c, &message, until, e) == 0) {
        jv got = json_parse(a, arena_str(a, message), NULL, e);
        if (!jv_exists(got))
            break;
        if (jv_int(jv_at(got, "id"), 0) != id) { /* an answer that was waited for too long */
            int late = jv_bool(jv_at(got, "fd"), false) ? msgsock_take_fd(&c->wire) : -1;
            sys_fd_auto(&late);
            continue;
        }
        int with = msgsock_take_fd(&c->wire);
        if (fd)
            *fd = with;
        else if (with >= 0)
            close(with);
        if (!jv_exists(jv_at(got, "ok")))
            err_set(e, ERR_UNAVAILABLE, "%" PRI_STR,
                    STR_ARG(jv_str(jv_at(got, "error"), S("the hub refuses"))));
        return jv_at(got, "ok");
    }
    return JV_ABSENT;
}

void net_call_tell(struct net_call *c, jv request)
{
    net_hub_say(&c->wire, request, -1);
}

/* ---- beginning */

static int dial(const char *data)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/hub", data);
    AUTO(sys_fd) int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/ctl", dir);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int run(struct net_call *c, const struct net_call_to *to, struct err *e)
{
    char words[][16] = { "muster", "hub", "3", "--with-node" };
    char dir[PATH_MAX];
    char *const argv[] = {
        words[0], words[1], dir, words[2], to->with_node ? words[3] : NULL, NULL
    };

    snprintf(dir, sizeof(dir), "%s", to->data);
    return helper_run(to->exe, argv, SOCK_STREAM, &c->child, e);
}

void net_call_drop(struct net_call *c)
{
    msgsock_done(&c->wire);
    if (c->pidfd >= 0)
        close(c->pidfd);
    c->pidfd = -1;
    if (c->child)
        waitpid(c->child, NULL, 0);
    c->child = 0;
}

/* One of an older version, which does not speak in messages: its place is needed. */
static void end_stranger(const struct net_call *c)
{
    struct ucred who = { 0 };
    socklen_t n = sizeof(who);

    if (getsockopt(c->wire.fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.pid > 0)
        kill(who.pid, SIGTERM);
}

/* Reads what it says first. 1: it could not begin for good; -1: it is about to go. */
static int greet(struct net_call *c, struct arena *a, struct err *e)
{
    str message;

    if (next_message(c, &message, sys_tick_ms() + CALL_TIMEOUT_MS, e) < 0) {
        if (e->code == ERR_INVALID)
            end_stranger(c);
        return -1;
    }
    jv said = json_parse(a, arena_str(a, message), NULL, e), hello = jv_at(said, "hello");
    if (!jv_exists(hello)) {
        str why = jv_str(jv_at(said, "failed"), S("the hub uses another protocol version"));
        err_set(e, ERR_UNAVAILABLE, "%" PRI_STR, STR_ARG(why));
        return str_contains(why, S("is held by another")) ? -1 : 1;
    }
    snprintf(c->gateway, sizeof(c->gateway), "%" PRI_STR,
             STR_ARG(jv_str(jv_at(hello, "gateway"), S(""))));
    snprintf(c->words, sizeof(c->words), "%" PRI_STR,
             STR_ARG(jv_str(jv_at(hello, "words"), S(""))));
    c->has_egress = jv_bool(jv_at(hello, "egress"), false);
    c->has_services = jv_bool(jv_at(hello, "services"), false);
    c->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)jv_int(jv_at(hello, "outer"), 0), 0);
    return 0;
}

int net_call_begin(struct net_call *c, const struct net_call_to *to, struct err *e)
{
    *c = (struct net_call){
        .pidfd = -1, .wire = { .fd = -1 }, .with_node = to->with_node, .give_up_ms = to->give_up_ms
    };
    int fd = dial(to->data);
    if (fd < 0)
        fd = run(c, to, e);
    if (fd < 0)
        return -1;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    msgsock_init(&c->wire, fd);
    return 0;
}

int net_call_open(struct net_call *c, const struct net_call_to *to, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t until = sys_tick_ms() + CALL_TIMEOUT_MS;
    int rc = -1;

    /* One that is going may still hold the place: then it is tried again. */
    while (rc < 0 && sys_tick_ms() < until && time_left_ms(c) > 0) {
        if (c->wire.fd < 0 && net_call_begin(c, to, e) < 0)
            return -1;
        rc = greet(c, a, e);
        if (rc == 0)
            return 0;
        net_call_drop(c);
        nanosleep(&(struct timespec){ .tv_nsec = 1000L * 1000 * PAUSE_MS }, NULL);
    }
    return -1;
}

bool net_call_is_lost(struct net_call *c)
{
    str message;
    int rc = c->wire.fd < 0 ? -1 : msgsock_fill(&c->wire, NULL);

    while (rc == 0 && msgsock_next(&c->wire, &message))
        ; /* nobody waits for it any more */
    return rc < 0 || msgsock_used(&c->wire, NULL) < 0;
}

static bool goes(struct net_call *c)
{
    AUTO(arena) struct arena *a = arena_new();
    jv n = net_call_ask(c, a, jobj(a, { "do", jstrz(a, "count") }), NULL, NULL);

    return jv_exists(n) && jv_int(n, 0) == 0;
}

void net_call_close(struct net_call *c)
{
    struct pollfd at = { .fd = c->pidfd, .events = POLLIN };
    bool wait = c->with_node || goes(c);

    msgsock_done(&c->wire);
    if (wait && c->pidfd >= 0)
        poll(&at, 1, time_left_ms(c));
    if (!wait || (c->pidfd >= 0 && !(at.revents & POLLIN)))
        c->child = 0; /* it is left to itself */
    net_call_drop(c);
}
