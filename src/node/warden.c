/* Wardens from the node's side: started or found again, talked to over their socket, watched by
 * pidfd. A pod's handle ends with GONE, when its keeper is dead and has cleared away. */

#include "node/warden.h"

#include "base/mem.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "node/warden_internal.h"
#include "node/warden_record.h"
#include "sandbox/state.h"
#include "sys/record.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { RETRY_MS = 20, RETRY_FOR_MS = 60 * 1000 }; /* a keeper on a disk that stalls is still one */

static void on_conn(uv_poll_t *h, int status, int events);
static void try_adopt(void *arg);

/* ---- telling */

void warden_pod_tell(struct runtime_pod *p, const struct runtime_event *ev)
{
    if (!p->dropped)
        p->sink.on_event(p->sink.ctx, ev);
}

/* ---- handles */

static void pod_free(struct runtime_pod *p)
{
    msgsock_done(&p->wire);
    if (p->pidfd >= 0)
        close(p->pidfd);
    free(p->uid);
    free(p->dir);
    free(p);
}

void warden_pod_maybe_free(struct runtime_pod *p)
{
    if (p->dropped && p->handles == 0 && !p->deferred && !p->asked)
        pod_free(p);
}

static void on_closed(uv_handle_t *h)
{
    struct runtime_pod *p = h->data;

    p->handles--;
    warden_pod_maybe_free(p);
}

static void hang_up(struct runtime_pod *p)
{
    if (!p->has_talk)
        return;
    p->has_talk = false;
    uv_poll_stop(&p->talk);
    uv_close((uv_handle_t *)&p->talk, on_closed);
    msgsock_done(&p->wire);
}

static void mind_writing(struct runtime_pod *p)
{
    if (p->has_talk)
        uv_poll_start(&p->talk, UV_READABLE | (msgsock_waits(&p->wire) ? UV_WRITABLE : 0), on_conn);
}

void warden_pod_say(struct runtime_pod *p, const struct buf *message, const int *fds, size_t nfds)
{
    if (!p->has_talk)
        return; /* its end is seen, or it is connected again and tells how things are */
    if (msgsock_say(&p->wire, buf_str(message), fds, nfds) < 0)
        return; /* the poll will see it, too */
    mind_writing(p);
}

/* ---- what a warden says */

static const char other_version[] = "the pod was started by another version of muster, and ended";

static void take_box(struct runtime_pod *p, enum runtime_what what, str m)
{
    warden_pod_tell(p, &(struct runtime_event){
                           .what = what,
                           .container = str_of(record_get(m, "name")),
                           .at_ms = record_get_int(m, "at_ms", 0),
                           .pid = record_get_int(m, "pid", 0),
                           .code = (int)record_get_int(m, "code", -1),
                           .signo = (int)record_get_int(m, "signal", 0),
                           .oom = record_get_int(m, "oom", 0),
                           .why = str_of(record_get(m, "why")),
                       });
}

/* Who is not understood cannot be asked for anything. Its keeper's death ends the pod, and so does
 * the keeper of any version. */
static void end_stranger(struct runtime_pod *p, const char *why)
{
    log_warn("ending a pod", KVZ("uid", p->uid), KVZ("why", why));
    p->strange = why;
    if (p->pidfd >= 0)
        sys_pidfd_signal(p->pidfd, SIGTERM);
}

static void take_message(struct runtime_pod *p, str m)
{
    AUTO(arena) struct arena *a = arena_new();
    str event = str_of(record_get(m, "event"));
    uint64_t id = (uint64_t)record_get_int(m, "id", 0);

    if (str_eqz(event, "hello") && record_get_int(m, "version", 0) != WARDEN_VERSION) {
        end_stranger(p, other_version);
    } else if (str_eqz(event, "hello")) {
        p->greeted = true;
        warden_pod_tell(p, &(struct runtime_event){ .what = RUNTIME_HELLO,
                                                    .state = warden_record_state(a, m) });
    } else if (str_eqz(event, "started")) {
        take_box(p, RUNTIME_STARTED, m);
    } else if (str_eqz(event, "exited")) {
        take_box(p, RUNTIME_EXITED, m);
    } else if (str_eqz(event, "failed")) {
        take_box(p, RUNTIME_FAILED, m);
    } else if (str_eqz(event, "exec_tty")) {
        warden_call_tty(p, id, msgsock_take_fd(&p->wire));
    } else if (str_eqz(event, "exec_exited")) {
        warden_call_exited(p, id, (int)record_get_int(m, "code", -1), str_of(record_get(m, "why")));
    }
}

static void take_messages(struct runtime_pod *p)
{
    str message;

    while (!p->dropped && p->has_talk && msgsock_next(&p->wire, &message))
        take_message(p, message);
}

static void on_conn(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct runtime_pod *p = h->data;
    struct err e = { 0 };

    (void)status;
    (void)events;
    int rc = msgsock_fill(&p->wire, &e);
    take_messages(p);
    if (!p->has_talk)
        return;
    if (rc == 0)
        rc = msgsock_used(&p->wire, &e);
    if (rc < 0 && e.code == ERR_INVALID)
        end_stranger(p,
                     p->greeted ? "the pod's warden cannot be understood any more" : other_version);
    if (rc < 0 || msgsock_flush(&p->wire) < 0)
        hang_up(p); /* it is dying: its keeper's end is the end */
    else
        mind_writing(p);
}

static void talk_over(struct runtime_pod *p, int fd)
{
    msgsock_init(&p->wire, fd);
    uv_poll_init(loop_uv(p->rt->loop), &p->talk, fd);
    p->talk.data = p;
    p->has_talk = true;
    p->handles++;
    mind_writing(p);
}

/* ---- its death */

static void on_death(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct runtime_pod *p = h->data;
    struct err e = { 0 };

    (void)status;
    (void)events;
    p->has_death = false;
    uv_poll_stop(&p->death);
    uv_close((uv_handle_t *)&p->death, on_closed);
    if (p->has_talk) { /* its last words */
        msgsock_fill(&p->wire, &e);
        take_messages(p);
    }
    hang_up(p);
    if (p->dropped)
        return;
    p->dead = true;
    p->retry_until_ms = loop_now_ms(p->rt->loop) + RETRY_FOR_MS;
    try_adopt(p); /* were it killed, the one inside may still be clearing away */
}

/* Takes pidfd. */
static void watch_death(struct runtime_pod *p, int pidfd)
{
    p->pidfd = pidfd;
    uv_poll_init(loop_uv(p->rt->loop), &p->death, p->pidfd);
    p->death.data = p;
    p->has_death = true;
    p->handles++;
    uv_poll_start(&p->death, UV_READABLE, on_death);
}

/* ---- starting */

static struct runtime_pod *pod_new(struct warden_runtime *rt, str uid,
                                   const struct runtime_sink *sink)
{
    struct runtime_pod *p = mem_new(sizeof(*p));

    p->rt = rt;
    p->sink = *sink;
    p->pidfd = p->wire.fd = -1;
    p->uid = strndup(uid.p, uid.n);
    if (!p->uid || asprintf(&p->dir, "%s/%s", rt->pods, p->uid) < 0)
        abort();
    p->next = rt->first;
    rt->first = p;
    return p;
}

/* Not replaced whole: whoever dies here has started nothing yet. */
static int write_sandbox(const struct runtime_pod *p, jv sandbox, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    char path[PATH_MAX];

    if (mkdir(p->dir, 0700) < 0 && errno != EEXIST && sys_mkdirs(p->dir, 0700) < 0)
        return err_sys(e, "make %s", p->dir);
    if (chmod(p->dir, 0700) < 0) /* volumes came first, perhaps, with any umask */
        return err_sys(e, "protect %s", p->dir);
    snprintf(path, sizeof(path), "%s/state", p->dir);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_sys(e, "remove %s", path);
    snprintf(path, sizeof(path), "%s/sandbox", p->dir);
    AUTO(sys_fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, "open %s", path);
    warden_record_add(&b, "", sandbox);
    return write(fd, b.p, b.n) != (ssize_t)b.n ? err_sys(e, "write %s", path) : 0;
}

static void look_for(struct runtime_pod *p)
{
    p->retry_until_ms = loop_now_ms(p->rt->loop) + RETRY_FOR_MS;
    try_adopt(p);
}

static void on_born(void *ctx, pid_t pid, int pidfd)
{
    struct runtime_pod *p = ctx;

    p->asked = false;
    if (p->dropped) {
        if (pidfd >= 0)
            close(pidfd);
        warden_pod_maybe_free(p);
    } else if (pid > 0 && pidfd >= 0) {
        watch_death(p, pidfd);
    } else {
        hang_up(p);
        warden_pod_bury(p, "no process for the pod's keeper");
    }
}

/* Those it was asked for and did not tell of: they are there, or they are not. */
static void on_nursery_died(void *of)
{
    struct warden_runtime *rt = of;
    struct runtime_pod *p = rt->first;

    warden_nursery_free(TAKE(rt->nursery));
    while (p) {
        struct runtime_pod *next = p->next;
        if (p->asked) {
            p->asked = false;
            hang_up(p);
            look_for(p);
        }
        p = next;
    }
}

static int ask_nursery(struct runtime_pod *p, jv sandbox, int theirs, struct err *e)
{
    struct warden_runtime *rt = p->rt;
    str group = jv_str(jv_at(sandbox, "cgroup", "v1", "pids"), STR_NONE);

    for (int turn = 0; turn < 2; turn++) {
        if (!rt->nursery) {
            struct warden_nursery_opts o = {
                .exe = rt->exe, .born = on_born, .died = on_nursery_died, .of = rt
            };
            rt->nursery = warden_nursery_new(rt->loop, &o, e);
        }
        if (!rt->nursery)
            return -1;
        if (warden_nursery_ask(rt->nursery, p->dir, group, theirs, p) == 0) {
            p->asked = true;
            return 0;
        }
        if (errno == EAGAIN)
            return err_set(e, ERR_UNAVAILABLE, "too many pods start at once");
        on_nursery_died(rt);
    }
    return err_set(e, ERR_IO, "the pods' nursery dies at once");
}

static void on_failed(void *arg)
{
    struct runtime_pod *p = arg;

    p->deferred = false;
    if (p->dropped)
        warden_pod_maybe_free(p);
    else
        warden_pod_bury(p, p->wire.in.p ? p->wire.in.p : "the warden could not be started");
}

static struct runtime_pod *spawn(struct runtime *base, str uid, jv sandbox,
                                 const struct runtime_sink *sink)
{
    struct warden_runtime *rt = (struct warden_runtime *)base;
    struct runtime_pod *p = pod_new(rt, uid, sink);
    struct err e = { 0 };
    int pair[2];

    assert_on_loop(rt->loop);
    int rc = write_sandbox(p, sandbox, &e);
    if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        rc = err_sys(&e, "socketpair");
    if (rc == 0) {
        rc = ask_nursery(p, sandbox, pair[1], &e);
        close(pair[1]);
        if (rc == 0)
            talk_over(p, pair[0]);
        else
            close(pair[0]);
    }
    if (rc == 0)
        return p;
    buf_add(&p->wire.in, str_of(e.msg));
    buf_addc(&p->wire.in, 0);
    p->deferred = true;
    loop_defer(rt->loop, on_failed, p);
    return p;
}

/* ---- finding again */

/* The one that listened is the keeper: its pidfd. */
static int peer(int fd)
{
    struct ucred who = { 0 };
    socklen_t n = sizeof(who);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || who.pid <= 0)
        return -1;
    return (int)syscall(SYS_pidfd_open, who.pid, 0);
}

static int dial(const struct runtime_pod *p)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    AUTO(sys_fd) int dirfd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/ctl", dirfd);
    if (dirfd >= 0 && fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_held(const struct runtime_pod *p)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/warden.log", p->dir);
    AUTO(sys_fd) int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static void try_adopt(void *arg)
{
    struct runtime_pod *p = arg;
    int fd = dial(p);

    loop_timer_stop(TAKE(p->retry));
    int pidfd = fd >= 0 && !p->dead ? peer(fd) : -1;
    if (pidfd >= 0) {
        watch_death(p, pidfd);
        talk_over(p, fd);
        return;
    }
    if (fd >= 0)
        close(fd);
    if ((fd >= 0 || is_held(p)) && loop_now_ms(p->rt->loop) < p->retry_until_ms)
        p->retry = loop_timer_start(p->rt->loop, RETRY_MS, 0, try_adopt, p);
    else
        warden_pod_bury(p, p->strange ? p->strange
                           : p->dead  ? "the pod's keeper was killed"
                                      : "the pod's warden is not running any more");
}

static void on_adopt(void *arg)
{
    struct runtime_pod *p = arg;

    p->deferred = false;
    if (p->dropped)
        warden_pod_maybe_free(p);
    else
        try_adopt(p);
}

static struct runtime_pod *adopt(struct runtime *base, str uid, const struct runtime_sink *sink)
{
    struct warden_runtime *rt = (struct warden_runtime *)base;
    AUTO(arena) struct arena *a = arena_new();
    str path = arena_printf(a, "%s/%" PRI_STR "/sandbox", rt->pods, STR_ARG(uid));

    assert_on_loop(rt->loop);
    /* sandbox.json: of versions that wrote JSON there. */
    if (access(path.p, F_OK) < 0 && access(arena_cat(a, path, S(".json")).p, F_OK) < 0)
        return NULL;
    struct runtime_pod *p = pod_new(rt, uid, sink);
    p->retry_until_ms = loop_now_ms(rt->loop) + RETRY_FOR_MS;
    p->deferred = true;
    loop_defer(rt->loop, on_adopt, p);
    return p;
}

/* ---- asking */

static void start(struct runtime_pod *p, jv container)
{
    AUTO(buf) struct buf b = { 0 };

    record_add(&b, "do", S("start"));
    warden_record_add(&b, "", container);
    warden_pod_say(p, &b, NULL, 0);
}

static void send_signal(struct runtime_pod *p, str container, int signo)
{
    AUTO(buf) struct buf b = { 0 };

    record_put(&b, { "do", .text = "signal" }, { "signo", .number = signo });
    record_add(&b, "name", container);
    warden_pod_say(p, &b, NULL, 0);
}

static void end(struct runtime_pod *p, int64_t grace_ms)
{
    AUTO(buf) struct buf b = { 0 };

    record_put(&b, { "do", .text = "end" }, { "grace_ms", .number = grace_ms });
    warden_pod_say(p, &b, NULL, 0);
}

static void release_pod(struct warden_runtime *rt, struct runtime_pod *p)
{
    struct runtime_pod **at = &rt->first;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    warden_calls_end(p, false);
    p->dropped = true;
    loop_timer_stop(TAKE(p->retry));
    hang_up(p);
    if (p->has_death) {
        p->has_death = false;
        uv_poll_stop(&p->death);
        uv_close((uv_handle_t *)&p->death, on_closed);
    }
    warden_pod_maybe_free(p);
}

static void drop(struct runtime_pod *p)
{
    release_pod(p->rt, p);
}

/* Those, too, of which only something is left: whoever removed them was interrupted. */
static jv list(struct runtime *base, struct arena *a)
{
    struct warden_runtime *rt = (struct warden_runtime *)base;
    struct jbuild b = jb_arr(a);
    DIR *d = opendir(rt->pods);

    for (struct dirent *at; d && (at = readdir(d));)
        if (at->d_name[0] != '.')
            jb_push(&b, jstr(a, arena_str(a, str_of(at->d_name))));
    if (d)
        closedir(d);
    return jb_done(&b);
}

static const struct runtime_ops ops = {
    .spawn = spawn,
    .adopt = adopt,
    .start = start,
    .signal = send_signal,
    .exec = warden_call_captured,
    .end = end,
    .drop = drop,
    .list = list,
};

struct runtime *warden_runtime_new(struct loop *l, const struct warden_opts *o)
{
    struct warden_runtime *rt = mem_new(sizeof(*rt));

    *rt = (struct warden_runtime){
        .base = { .ops = &ops },
        .loop = l,
        .pods = strdup(o->pods),
        .exe = o->exe ? strdup(o->exe) : NULL,
    };
    return &rt->base;
}

void warden_runtime_free(struct runtime *base)
{
    struct warden_runtime *rt = (struct warden_runtime *)base;

    if (!rt)
        return;
    while (rt->first) {
        rt->first->asked = false; /* no answer comes any more */
        release_pod(rt, rt->first);
    }
    warden_nursery_free(rt->nursery);
    free(rt->pods);
    free(rt->exe);
    free(rt);
}
