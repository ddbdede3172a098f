/* When a pod counts as stalled, and where its processes wait. */

#include "node/stall.h"
#include "plan/planner.h"
#include "tap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- when */

enum { AFTER = 10000, STEP = 1000 };

struct trial {
    struct stall_mark m;
    struct stall_count c;
    int64_t now;
};

static enum stall_news look_after(struct trial *t, int64_t ms, int64_t cpu_ms, bool writes)
{
    t->now += ms;
    t->c.cpu_ms += cpu_ms;
    t->c.output += writes;
    return stall_see(&t->m, &t->c, AFTER, t->now);
}

/* n looks, a step apart: the number of the one with news, 0: none. */
static int news_in(struct trial *t, int n, int64_t cpu_ms, bool writes, enum stall_news what)
{
    for (int i = 1; i <= n; i++)
        if (look_after(t, STEP, cpu_ms, writes) == what)
            return i;
    return 0;
}

static void idle_pods_stall(void)
{
    struct trial t = { .now = 1000000 };

    is_int(look_after(&t, 0, 0, false), STALL_SAME, "the first look knows nothing");
    is_int(news_in(&t, 20, 0, false, STALL_BEGAN), 10, "without progress it is stalled in time");
    is_int(t.m.since_ms, 1000000, "since the first look");
    is_int(news_in(&t, 50, 0, false, STALL_ENDED), 0, "and stays so");
    is_int(news_in(&t, 1, 0, true, STALL_ENDED), 1, "output ends it");
    is_int(news_in(&t, 20, 0, false, STALL_BEGAN), 10, "it may stall again");
    is_int(news_in(&t, 9, 100, false, STALL_ENDED), 1, "CPU time ends it, too");
}

static void busy_pods_do_not(void)
{
    struct trial t = { .now = 1 };

    is_int(news_in(&t, 100, 0, true, STALL_BEGAN), 0, "one that prints is not stalled");
    is_int(news_in(&t, 100, 500, false, STALL_BEGAN), 0, "nor one that computes");
    is_int(news_in(&t, 100, 20, false, STALL_BEGAN), 0, "nor one that uses 2 % of a core");
    ok(news_in(&t, 100, 5, false, STALL_BEGAN) > 0, "half a percent is waiting");
    is_int(news_in(&t, 100, 5, false, STALL_ENDED), 0, "and does not add up to progress");
}

static void gaps_and_new_runs(void)
{
    struct trial t = { .now = 1 };

    look_after(&t, STEP, 0, false);
    is_int(look_after(&t, 3600 * 1000, 0, false), STALL_SAME,
           "a machine that slept stalls nothing");
    look_after(&t, -3600 * 1000, 0, false);
    ok(!t.m.stalled, "nor does a clock that is set back");
    news_in(&t, 20, 0, false, STALL_BEGAN);
    ok(t.m.stalled, "it is stalled");
    t.c.runs++;
    is_int(news_in(&t, 1, 0, false, STALL_ENDED), 1, "a new run of a container starts anew");
    news_in(&t, 8, 0, false, STALL_BEGAN);
    t.c.cpu_ms--;
    is_int(news_in(&t, 9, 0, false, STALL_BEGAN), 0, "the end of a process is progress");
}

static void annotations(void)
{
    static const struct {
        const char *text;
        int64_t ms, step;
    } rows[] = { { "5m", 300000, 30000 },   { "2s", 2000, 1000 }, { "0", 0, 1000 },
                 { "-1s", 0, 1000 },        { "soon", 0, 1000 },  { "1ms", 1000, 1000 },
                 { "24h", 86400000, 60000 } };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        jv pod = jv_with(a, JV_EMPTY_OBJ, jstr(a, str_of(rows[i].text)), "metadata", "annotations",
                         POD_STALL_AFTER);
        ok(stall_after_ms(pod) == rows[i].ms && stall_step_ms(rows[i].ms) == rows[i].step,
           "%s: watched %lld ms, looked at every %lld ms", rows[i].text, (long long)rows[i].ms,
           (long long)rows[i].step);
    }
    is_int(stall_after_ms(JV_EMPTY_OBJ), 0, "a pod without the annotation is not watched");
}

/* ---- where, from texts */

/* 10.0.0.7:29500, state SYN_SENT, inode 100; 10.0.0.8:2222, established, 101; a listener on 8080,
 * 102; 10.0.0.9:1, established, 103. As a little-endian machine has them; made for this one below.
 */
static str table(struct arena *a)
{
    static const struct {
        const char *ip;
        unsigned port, local, state, inode;
    } rows[] = { { "10.0.0.7", 29500, 4000, 2, 100 },
                 { "10.0.0.8", 2222, 4001, 1, 101 },
                 { "0.0.0.0", 0, 8080, 10, 102 },
                 { "10.0.0.9", 1, 4002, 1, 103 } };
    str text =
        S("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
          "timeout inode\n");

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct in_addr ip;
        inet_pton(AF_INET, rows[i].ip, &ip);
        text =
            arena_printf(a,
                         "%.*s   %zu: 0100000A:%04X %08X:%04X %02X 00000000:00000000 01:00000014 "
                         "00000000  1000        0 %u 1 0000000000000000 20 4 30 10 -1\n",
                         (int)text.n, text.p, i, rows[i].local, ip.s_addr, rows[i].port,
                         rows[i].state, rows[i].inode);
    }
    return text;
}

static struct stall_fd fds[] = { { 0, S_INIT("/dev/null") },      { 3, S_INIT("socket:[100]") },
                                 { 4, S_INIT("socket:[101]") },   { 5, S_INIT("socket:[102]") },
                                 { 6, S_INIT("pipe:[9]") },       { 7, S_INIT("socket:[999]") },
                                 { 8, S_INIT("/data/lockfile") }, { 9, S_INIT("socket:[103]") } };

/* Of a process with some of these descriptors, in one system call. */
static str where_of(struct arena *a, const char *call, const char *wchan, size_t first, size_t n)
{
    str calls = str_of(call), sleeps = str_of(wchan);
    struct stall_process p = { .name = S("python3\n"),
                               .threads = &calls,
                               .sleeps = &sleeps,
                               .n_threads = 1,
                               .fds = fds + first,
                               .n_fds = n };
    struct stall_view v = { .tcp = table(a) };

    vec_push(&v.processes, p);
    vec_push(&v.names, (struct stall_name){ S("10.0.0.7"), S("job-worker-2") });
    vec_push(&v.names, (struct stall_name){ S("10.0.0.9"), S("one") });
    vec_push(&v.names, (struct stall_name){ S("10.0.0.9"), S("another") });
    str text = stall_where(a, &v);
    stall_view_done(&v);
    return text;
}

static void waits_have_names(void)
{
    static const struct {
        long call;
        int fd;
        size_t first, n;
        const char *text;
    } rows[] = {
        { SYS_connect, 3, 0, 8, "is connecting to job-worker-2:29500" },
        { SYS_recvfrom, 4, 0, 8, "waits for data from 10.0.0.8:2222" },
        { SYS_read, 4, 0, 8, "waits for data from 10.0.0.8:2222" },
        { SYS_recvfrom, 9, 0, 8, "waits for data from 10.0.0.9:1" },
        { SYS_sendto, 4, 0, 8, "waits to send to 10.0.0.8:2222" },
        { SYS_accept4, 5, 0, 8, "waits for connections on port 8080" },
        { SYS_read, 6, 0, 8, "reads from a pipe" },
        { SYS_read, 0, 0, 8, "reads from /dev/null" },
        { SYS_recvmsg, 7, 0, 8, "reads from a socket" },
        { SYS_write, 6, 0, 8, "waits to write to a pipe" },
        { SYS_flock, 8, 0, 8, "waits for a lock on /data/lockfile" },
        { SYS_ppoll, 99, 0, 8, "is connecting to job-worker-2:29500" },
        { SYS_ppoll, 99, 2, 6, "waits for data from 10.0.0.8:2222, 10.0.0.9:1" },
        { SYS_epoll_pwait, 1, 3, 2, "waits for connections on port 8080" },
        { SYS_ppoll, 99, 0, 1, "waits for events (poll)" },
        { SYS_futex, 0, 0, 8, "waits for a lock or for another thread (futex)" },
        { SYS_clock_nanosleep, 0, 0, 8, "sleeps" },
        { SYS_wait4, 0, 0, 8, "waits for a child process" },
        { SYS_fsync, 3, 0, 8, "waits in the kernel" },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        str call = arena_printf(a, "%ld 0x%x 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f6c\n", rows[i].call,
                                (unsigned)rows[i].fd);
        is_str(where_of(a, call.p, "0", rows[i].first, rows[i].n),
               arena_printf(a, "python3 %s", rows[i].text),
               arena_printf(a, "call %ld on %d", rows[i].call, rows[i].fd).p);
    }
    is_str(where_of(a, "running\n", "0", 0, 8), S(""), "a process that runs waits nowhere");
    is_str(where_of(a, "", "inet_csk_accept\n", 3, 1),
           S("python3 waits for connections on port 8080"),
           "where the call may not be read, the kernel's function says it");
    is_str(where_of(a, "", "do_wait", 0, 8), S("python3 waits for a child process"), "likewise");
    is_str(where_of(a, "", "nfs_wait_bit", 0, 8), S("python3 waits in the kernel (nfs_wait_bit)"),
           "an unknown one is named");
    is_str(where_of(a, "", "", 0, 8), S(""), "without either nothing is known");
    is_str(where_of(a, "x y z", "0", 0, 8), S(""), "nor from other texts");
}

static void the_wait_that_says_most(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str calls[] = { arena_printf(a, "%d 0x0", SYS_wait4), arena_printf(a, "%d 0x0", SYS_futex),
                    arena_printf(a, "%d 0x4 0x0", SYS_recvfrom),
                    arena_printf(a, "%d 0x0", SYS_clock_nanosleep) };
    str sleeps[] = { S("0"), S("0"), S("0"), S("0") };
    struct stall_view v = { .tcp = table(a) };

    vec_push(&v.processes, (struct stall_process){ .name = S("sh"),
                                                   .threads = calls,
                                                   .sleeps = sleeps,
                                                   .n_threads = 1,
                                                   .fds = fds,
                                                   .n_fds = 8 });
    vec_push(&v.processes, (struct stall_process){ .name = S("train"),
                                                   .threads = calls + 1,
                                                   .sleeps = sleeps + 1,
                                                   .n_threads = 3,
                                                   .fds = fds,
                                                   .n_fds = 8 });
    is_str(stall_where(a, &v), S("train waits for data from 10.0.0.8:2222"),
           "a connection says more than a lock, and a lock more than a child");
    stall_view_done(&v);
    is_str(stall_where(a, &(struct stall_view){ 0 }), S(""), "no process, no place");
}

static void addresses(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str call = arena_printf(a, "%d 0x3 0x0", SYS_recvfrom), sleeps = S("0");
    struct stall_fd six[] = { { 3, S("socket:[7]") } };
    struct stall_process p = {
        .name = S("x"), .threads = &call, .sleeps = &sleeps, .n_threads = 1, .fds = six, .n_fds = 1
    };
    struct in6_addr ip;
    uint32_t w[4];
    static const char *const rows[][2] = { { "fd00::1", "x waits for data from [fd00::1]:80" },
                                           { "::ffff:10.1.2.3",
                                             "x waits for data from 10.1.2.3:80" } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        inet_pton(AF_INET6, rows[i][0], &ip);
        memcpy(w, &ip, sizeof(w));
        struct stall_view v = { .tcp6 =
                                    arena_printf(a,
                                                 "head\n 0: 00000000000000000000000000000000:0001 "
                                                 "%08X%08X%08X%08X:0050 01 0:0 0:0 0 0 0 7 1\n",
                                                 w[0], w[1], w[2], w[3]) };
        vec_push(&v.processes, p);
        is_str(stall_where(a, &v), str_of(rows[i][1]), rows[i][0]);
        stall_view_done(&v);
    }
    static const char *const bad[] = { "", "\n\n", " 0: 1:2 3:4 01 0:0 0:0 0 0 0 7 1\n", " 0: ZZ",
                                       " 0: 0100007F:0016 0100007F 01 a b c d e 7" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct stall_view v = { .tcp = str_of(bad[i]) };
        vec_push(&v.processes, p);
        is_str(stall_where(a, &v), S("x reads from a socket"), "a broken table");
        stall_view_done(&v);
    }
}

/* ---- where, of real processes */

static int listener(uint16_t *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&at, n) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        exit(1);
    *port = ntohs(at.sin_port);
    return fd;
}

/* As minder and first process: the child's child waits. */
static void real_process(bool receives)
{
    AUTO(arena) struct arena *a = arena_new();
    uint16_t port;
    int fd = listener(&port), up[2];
    pid_t child = -1;

    if (pipe(up) < 0)
        exit(1);
    pid_t minder = fork();
    if (minder == 0) {
        pid_t first = fork();
        if (first == 0) {
            struct sockaddr_in at = { .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons(port) };
            int s = receives ? socket(AF_INET, SOCK_STREAM, 0) : fd;
            char c;
            if (receives && connect(s, (struct sockaddr *)&at, sizeof(at)) < 0)
                _exit(1);
            pid_t self = getpid();
            if (write(up[1], &self, sizeof(self)) != sizeof(self))
                _exit(1);
            if (receives)
                _exit(recv(s, &c, 1, 0) < 0);
            accept(s, NULL, NULL);
            _exit(0);
        }
        waitpid(first, NULL, 0);
        _exit(0);
    }
    if (read(up[0], &child, sizeof(child)) != sizeof(child))
        exit(1);
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    str text = S(""),
        want = receives ? S("waits for data from me:") : S("waits for connections on");
    for (int tries = 0; tries < 2000 && !str_contains(text, want); tries++) {
        struct process_table t = { 0 };
        struct stall_view v = { 0 };
        process_table_read(&t, proc);
        vec_push(&v.names, (struct stall_name){ S("127.0.0.1"), S("me") });
        stall_read(a, proc, &t, child, &v);
        text = stall_where(a, &v);
        stall_view_done(&v);
        vec_done(&t);
        if (!str_contains(text, want))
            usleep(10000); /* until it is in its call */
    }
    str name = str_sub(text, 0, text.n - arena_printf(a, "%u", port).n);
    ok(str_contains(text, want) && str_ends(text, arena_printf(a, "%u", port)) && name.n,
       "a real process: %.*s", (int)text.n, text.p);
    kill(child, SIGKILL);
    waitpid(minder, NULL, 0);
    close(up[0]);
    close(up[1]);
    close(proc);
    close(fd);
}

int main(void)
{
    idle_pods_stall();
    busy_pods_do_not();
    gaps_and_new_runs();
    annotations();
    waits_have_names();
    the_wait_that_says_most();
    addresses();
    real_process(true);
    real_process(false);
    return tap_done();
}
