/* The hub's outer process, and how both are started. */

#include "podnet/hub.h"

#include "base/json.h"
#include "podnet/hub_client.h"
#include "sys/helper_process.h"
#include "sys/record.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct outer {
    struct net_hub h;
    char data[PATH_MAX];
    int dirfd; /* DATA/hub */
    int lock;
    uid_t uid;
    gid_t gid;
};

static int give_up(int first, const struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct msgsock w;

    msgsock_init(&w, first);
    net_hub_say(&w, jobj(a, { "failed", jstr(a, str_of(e->msg)) }), -1);
    fprintf(stderr, "%s\n", e->msg);
    return 1;
}

static int open_dir(struct outer *o, const char *data, struct err *e)
{
    if (!realpath(data, o->data))
        return err_sys(e, "%s", data);
    o->h.data = o->data;
    o->h.datafd = open(o->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->h.datafd < 0)
        return err_sys(e, "%s", data);
    if (mkdirat(o->h.datafd, "hub", 0700) < 0 && errno != EEXIST)
        return err_sys(e, "make %s/hub", data);
    o->dirfd = openat(o->h.datafd, "hub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->dirfd < 0)
        return err_sys(e, "%s/hub", data);
    o->lock = openat(o->dirfd, "hub.log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (o->lock < 0)
        return err_sys(e, "%s/hub/hub.log", data);
    return flock(o->lock, LOCK_EX | LOCK_NB) < 0 ? err_sys(e, "%s/hub is held by another", data)
                                                 : 0;
}

static bool is_born(int64_t pid, int64_t born)
{
    AUTO(sys_fd) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char number[32];

    snprintf(number, sizeof(number), "%d", (int)pid);
    return born && sys_birth_ticks(proc, number) == born;
}

int64_t net_hub_pod_pid(int datafd, str uid, uint32_t *ip)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "pods/%" PRI_STR "/state", STR_ARG(uid)).p;
    str state = str_find(uid, '/') >= 0 ? STR_NONE : record_read(a, datafd, path, NULL);

    if (ip && !net_ip_read(str_of(record_get(state, "ip")), ip))
        *ip = 0;
    int64_t pid = *record_get(state, "ended_ms") ? -1 : record_get_int(state, "pid", -1);
    return pid > 0 && is_born(pid, record_get_int(state, "born", 0)) ? pid : -1;
}

/* ---- the inner process */

/* A process of any pod that lives: its hub has died, if it is not us. -1: there is none. */
static int64_t find_pod(const struct outer *o)
{
    int dir = openat(o->h.datafd, "pods", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = dir < 0 ? NULL : fdopendir(dir);
    int64_t found = -1;

    for (struct dirent *at; d && found < 0 && (at = readdir(d));) {
        int64_t pid =
            at->d_name[0] == '.' ? -1 : net_hub_pod_pid(o->h.datafd, str_of(at->d_name), NULL);
        if (pid > 0)
            found = pid;
    }
    if (d)
        closedir(d);
    return found;
}

/* Pods are in the user namespace of the hub they began with; only from there can they be mended. */
static int find_user_ns(const struct outer *o)
{
    char path[64];
    int64_t pid = find_pod(o);

    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
    return pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static int enter(const struct outer *o, struct err *e)
{
    AUTO(sys_fd) int old = o->uid ? find_user_ns(o) : -1;

    if (old >= 0 && setns(old, CLONE_NEWUSER) < 0)
        return err_sys(e, "join the pods' user namespace");
    if (o->uid && old < 0) {
        if (unshare(CLONE_NEWUSER) < 0)
            return err_sys(e, "a user namespace for pods");
        if (helper_map_ids(o->uid, o->gid, e) < 0)
            return -1;
    }
    if (unshare(CLONE_NEWNET) < 0)
        return err_sys(e, "a network namespace for pods");
    /* Or /proc/PID/fd would not be the user's, and wardens open namespaces there. */
    return prctl(PR_SET_DUMPABLE, 1) < 0 ? err_sys(e, "prctl") : 0;
}

__attribute__((noreturn)) static void inner(struct outer *o, int facts)
{
    struct err e = { 0 };

    prctl(PR_SET_NAME, "muster-hub");
    close(o->lock);
    o->h.outer = facts;
    o->h.is_user = o->uid != 0;
    if (enter(o, &e) < 0)
        _exit(give_up(o->h.first, &e));
    sys_send_fd(facts, "", 1, -1); /* we are in there */
    net_hub_serve(&o->h);
}

/* ---- the outer one */

/* The network that pods of this data directory had before, so that those who live can stay. */
static uint32_t last_base(const struct outer *o)
{
    char text[NET_IP_TEXT];
    uint32_t base = 0;

    return sys_read_file(o->dirfd, "subnet", text, sizeof(text)) > 0 &&
                   net_ip_read(str_of(text), &base)
               ? base
               : 0;
}

static int decide(const struct outer *o, struct net_hub_facts *f, pid_t pid, struct err *e)
{
    AUTO(sys_fd) int lock = net_egress_lock();
    char text[NET_IP_TEXT], tag[16];

    snprintf(tag, sizeof(tag), "%08x", (unsigned)str_hash(str_of(o->data)));
    net_egress_clear(str_of(tag));
    uint32_t last = last_base(o);
    f->base = net_subnet_choose(last, e);
    bool taken = last && f->base != last && find_pod(o) > 0;
    if (taken)
        f->base = last; /* somebody has it by now, but pods live in it */
    if (!f->base)
        return -1;
    sys_replace_file(o->dirfd, "subnet", str_of(net_ip_text(f->base, text)), NULL);
    if (taken && o->uid == 0)
        snprintf(f->egress.words, sizeof(f->egress.words),
                 "another server of this machine has taken over the pods' network");
    else
        net_egress_start(&f->egress, f->base, str_of(tag), pid);
    return 0;
}

static int keep(struct outer *o, struct err *e)
{
    struct net_hub_facts facts = { 0 };
    char in;
    int ends[2];
    int status;

    o->h.home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    o->h.listen = helper_listen(o->dirfd);
    if (o->h.listen < 0)
        return err_sys(e, "listen on %s/hub/ctl", o->data);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_sys(e, "socketpair");
    pid_t pid = sys_clone(0, NULL);
    if (pid == 0) {
        close(ends[0]);
        inner(o, ends[1]);
    }
    if (pid < 0)
        return err_sys(e, "start the hub");
    close(ends[1]);
    close(o->h.listen);
    /* When it does not get in, it says why. */
    int rc = recv(ends[0], &in, 1, 0) == 1 ? decide(o, &facts, pid, e) : 0;
    if (rc == 0) {
        close(o->h.first);
        sys_send_fd(ends[0], &facts, sizeof(facts), -1);
    } else {
        kill(pid, SIGKILL);
    }
    for (pid_t ended; (ended = waitpid(-1, &status, 0)) != pid;)
        if (ended > 0 && ended == facts.egress.helper) {
            fprintf(stderr, "%s: ended, with status %d\n", facts.egress.words, status);
            facts.egress.helper = 0;
        }
    net_egress_stop(&facts.egress);
    unlinkat(o->dirfd, "ctl", 0);
    return rc;
}

int net_hub_main(int argc, char **argv)
{
    struct outer o = { .h = { .datafd = -1, .listen = -1 },
                       .dirfd = -1,
                       .lock = -1,
                       .uid = geteuid(),
                       .gid = getegid() };
    struct err e = { 0 };

    if (argc < 3) {
        fputs("usage: muster hub DATA FD [--with-node]\n", stderr);
        return 2;
    }
    o.h.first = (int)strtol(argv[2], NULL, 10);
    o.h.with_node = argc > 3 && strcmp(argv[3], "--with-node") == 0;
    close_range((unsigned)o.h.first + 1, ~0U, 0);
    fcntl(o.h.first, F_SETFD, FD_CLOEXEC);
    setsid();
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "muster-hub-out");
    if (open_dir(&o, argv[1], &e) < 0)
        return give_up(o.h.first, &e);
    helper_set_stdio(o.dirfd, "hub.log");
    return keep(&o, &e) < 0 ? give_up(o.h.first, &e) : 0;
}
