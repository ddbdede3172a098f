/* Where processes wait, from the texts of /proc. PURE. */

#include "node/stall.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

enum { MANY_PEERS = 3, TEXT_BYTES = 64 };
enum { SYN_SENT = 2, ESTABLISHED = 1, CLOSE_WAIT = 8, LISTEN = 10 }; /* the kernel's numbers */

/* What a system call does; those that say most come first. */
enum act {
    ACT_CONNECT,
    ACT_RECEIVE,
    ACT_SEND,
    ACT_ACCEPT,
    ACT_READ, /* something that is no TCP connection */
    ACT_WRITE,
    ACT_LOCK,
    ACT_SLEEP,
    ACT_THREAD,
    ACT_POLL,
    ACT_CHILD,
    ACT_OTHER,
    ACT_NONE, /* it runs, or nothing is known */
};

static const struct {
    long number;
    enum act act;
} calls[] = {
    { SYS_connect, ACT_CONNECT },     { SYS_accept, ACT_ACCEPT },
    { SYS_accept4, ACT_ACCEPT },      { SYS_read, ACT_RECEIVE },
    { SYS_readv, ACT_RECEIVE },       { SYS_recvfrom, ACT_RECEIVE },
    { SYS_recvmsg, ACT_RECEIVE },     { SYS_recvmmsg, ACT_RECEIVE },
    { SYS_write, ACT_SEND },          { SYS_writev, ACT_SEND },
    { SYS_sendto, ACT_SEND },         { SYS_sendmsg, ACT_SEND },
    { SYS_flock, ACT_LOCK },          { SYS_fcntl, ACT_LOCK },
    { SYS_nanosleep, ACT_SLEEP },     { SYS_clock_nanosleep, ACT_SLEEP },
    { SYS_futex, ACT_THREAD },        { SYS_ppoll, ACT_POLL },
    { SYS_pselect6, ACT_POLL },       { SYS_epoll_pwait, ACT_POLL },
#ifdef SYS_epoll_pwait2
    { SYS_epoll_pwait2, ACT_POLL },
#endif
#ifdef SYS_poll
    { SYS_poll, ACT_POLL },           { SYS_select, ACT_POLL },
    { SYS_epoll_wait, ACT_POLL },     { SYS_pause, ACT_OTHER },
#endif
    { SYS_wait4, ACT_CHILD },         { SYS_waitid, ACT_CHILD },
    { SYS_rt_sigsuspend, ACT_OTHER }, { SYS_rt_sigtimedwait, ACT_OTHER },
};

/* ---- connections */

struct tcp {
    char remote[INET6_ADDRSTRLEN];
    unsigned long remote_port, local_port;
    unsigned long state;
};

/* "0100007F:B613": four bytes, or four times four, as the machine has them. */
static bool address_of(str text, char ip[INET6_ADDRSTRLEN], unsigned long *port)
{
    str hex = str_cut(&text, ':');
    uint32_t words[4];
    char part[9] = { 0 };
    size_t n = hex.n / 8;

    if ((n != 1 && n != 4) || hex.n % 8 || text.n != 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        memcpy(part, hex.p + 8 * i, 8);
        words[i] = (uint32_t)strtoul(part, NULL, 16);
    }
    memcpy(part, text.p, 4);
    part[4] = '\0';
    *port = strtoul(part, NULL, 16);
    bool mapped = n == 4 && !words[0] && !words[1] && words[2] == htonl(0xffff);
    if (n == 1 || mapped)
        inet_ntop(AF_INET, &words[mapped ? 3 : 0], ip, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, words, ip, INET6_ADDRSTRLEN);
    return true;
}

static str word_of(str *line)
{
    *line = str_trim(*line);
    return str_cut(line, ' ');
}

/* "  0: LOCAL REMOTE STATE TX:RX TR:TM RETRANSMITS UID TIMEOUT INODE ..." */
static bool tcp_find(str table, str inode, struct tcp *out)
{
    for (str rest = table; rest.p;) {
        str line = str_cut(&rest, '\n');
        char local[INET6_ADDRSTRLEN], state[3] = { 0 };
        word_of(&line);
        str from = word_of(&line), to = word_of(&line), st = word_of(&line);
        for (int skip = 0; skip < 5; skip++)
            word_of(&line);
        if (!str_eq(word_of(&line), inode) || st.n != 2)
            continue;
        memcpy(state, st.p, 2);
        out->state = strtoul(state, NULL, 16);
        return address_of(from, local, &out->local_port) &&
               address_of(to, out->remote, &out->remote_port);
    }
    return false;
}

/* Of "socket:[INODE]"; empty: it is no socket. */
static str inode_of(str link)
{
    if (!str_starts(link, S("socket:[")) || !str_ends(link, S("]")))
        return STR_NONE;
    return str_sub(link, 8, link.n - 1);
}

static bool tcp_of(const struct stall_view *v, str link, struct tcp *out)
{
    str inode = inode_of(link);

    return inode.n && (tcp_find(v->tcp, inode, out) || tcp_find(v->tcp6, inode, out));
}

/* "worker-2:29500": by the pod's name, where one pod alone has the address. */
static str peer_of(struct arena *a, const struct stall_view *v, const struct tcp *t)
{
    str name = STR_NONE;
    bool v6 = strchr(t->remote, ':') != NULL;

    for (size_t i = 0; i < v->names.n; i++)
        if (str_eqz(v->names.at[i].ip, t->remote))
            name = name.p ? S("") : v->names.at[i].name;
    if (name.n)
        return arena_printf(a, "%" PRI_STR ":%lu", STR_ARG(name), t->remote_port);
    return arena_printf(a, v6 ? "[%s]:%lu" : "%s:%lu", t->remote, t->remote_port);
}

/* ---- one wait */

struct wait {
    enum act act;
    str text; /* after the process's name */
};

static struct wait wait_of(enum act act, str text)
{
    return (struct wait){ act, text };
}

static struct wait on_tcp(struct arena *a, const struct stall_view *v, enum act act,
                          const struct tcp *t)
{
    str peer = peer_of(a, v, t);

    if (t->state == LISTEN)
        return wait_of(ACT_ACCEPT,
                       arena_printf(a, "waits for connections on port %lu", t->local_port));
    if (act == ACT_CONNECT || t->state == SYN_SENT)
        return wait_of(ACT_CONNECT, arena_printf(a, "is connecting to %" PRI_STR, STR_ARG(peer)));
    if (act == ACT_SEND)
        return wait_of(ACT_SEND, arena_printf(a, "waits to send to %" PRI_STR, STR_ARG(peer)));
    return wait_of(ACT_RECEIVE, arena_printf(a, "waits for data from %" PRI_STR, STR_ARG(peer)));
}

static str link_of(const struct stall_process *p, int64_t fd)
{
    for (size_t i = 0; i < p->n_fds; i++)
        if (p->fds[i].fd == fd)
            return p->fds[i].link;
    return STR_NONE;
}

static str thing_of(struct arena *a, str link)
{
    if (str_starts(link, S("pipe:[")))
        return S("a pipe");
    if (str_starts(link, S("socket:[")))
        return S("a socket");
    return link.n && link.p[0] == '/' ? arena_str(a, link) : S("a file");
}

static struct wait on_fd(struct arena *a, const struct stall_view *v, const struct stall_process *p,
                         enum act act, int64_t fd)
{
    str link = link_of(p, fd);
    struct tcp t;

    if (act == ACT_LOCK)
        return wait_of(
            ACT_LOCK, arena_printf(a, "waits for a lock on %" PRI_STR, STR_ARG(thing_of(a, link))));
    if (tcp_of(v, link, &t))
        return on_tcp(a, v, act, &t);
    if (act == ACT_CONNECT)
        return wait_of(ACT_CONNECT, S("is connecting to a socket"));
    if (act == ACT_ACCEPT)
        return wait_of(ACT_ACCEPT, S("waits for connections"));
    if (act == ACT_SEND)
        return wait_of(ACT_WRITE,
                       arena_printf(a, "waits to write to %" PRI_STR, STR_ARG(thing_of(a, link))));
    return wait_of(ACT_READ, arena_printf(a, "reads from %" PRI_STR, STR_ARG(thing_of(a, link))));
}

/* The peers of all connections in that state: "a:1, b:2 and 3 more". */
static size_t peers_in(struct arena *a, const struct stall_view *v, const struct stall_process *p,
                       unsigned long state, struct tcp *first, str *out)
{
    AUTO(buf) struct buf b = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < p->n_fds; i++) {
        struct tcp t;
        if (!tcp_of(v, p->fds[i].link, &t) || t.state != state)
            continue;
        if (!n)
            *first = t;
        str peer = peer_of(a, v, &t);
        if (n < MANY_PEERS && !str_contains(buf_str(&b), peer)) {
            buf_printf(&b, "%s%" PRI_STR, n ? ", " : "", STR_ARG(peer));
            n++;
        } else if (n >= MANY_PEERS) {
            n++;
        }
    }
    if (n > MANY_PEERS)
        buf_printf(&b, " and %zu more", n - MANY_PEERS);
    *out = arena_str(a, buf_str(&b));
    return n;
}

/* For events of descriptors: which ones the kernel does not tell, so the connections do. */
static struct wait on_poll(struct arena *a, const struct stall_view *v,
                           const struct stall_process *p)
{
    struct tcp t;
    str peers;

    if (peers_in(a, v, p, SYN_SENT, &t, &peers))
        return wait_of(ACT_CONNECT, arena_printf(a, "is connecting to %" PRI_STR, STR_ARG(peers)));
    if (peers_in(a, v, p, ESTABLISHED, &t, &peers))
        return wait_of(ACT_RECEIVE,
                       arena_printf(a, "waits for data from %" PRI_STR, STR_ARG(peers)));
    if (peers_in(a, v, p, LISTEN, &t, &peers))
        return on_tcp(a, v, ACT_ACCEPT, &t);
    return wait_of(ACT_POLL, S("waits for events (poll)"));
}

/* "42 0x3 0x7ffd... SP PC"; "running"; "-1 SP PC" of one that is in no call. */
static enum act act_of(str call, int64_t *fd)
{
    int64_t number;
    str word = str_cut(&call, ' ');
    char first[TEXT_BYTES] = { 0 };

    if (!str_to_int(word, &number) || number < 0)
        return ACT_NONE;
    word = str_cut(&call, ' ');
    memcpy(first, word.p ? word.p : "", word.n < sizeof(first) ? word.n : 0);
    *fd = (int64_t)strtoull(first, NULL, 16);
    for (size_t i = 0; i < COUNT(calls); i++)
        if (calls[i].number == number)
            return calls[i].act;
    return ACT_OTHER;
}

/* Where the system call may not be read: the kernel's function. */
static enum act act_by_sleep(str wchan)
{
    static const struct {
        const char *name;
        enum act act;
    } rows[] = {
        { "futex", ACT_THREAD },         { "hrtimer_nanosleep", ACT_SLEEP },
        { "do_wait", ACT_CHILD },        { "ep_poll", ACT_POLL },
        { "do_epoll_wait", ACT_POLL },   { "poll_schedule_timeout", ACT_POLL },
        { "do_select", ACT_POLL },       { "do_poll", ACT_POLL },
        { "inet_csk_accept", ACT_POLL }, { "inet_stream_connect", ACT_POLL },
        { "inet_wait_for", ACT_POLL },   { "sk_wait_data", ACT_POLL },
        { "wait_woken", ACT_POLL },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_starts(wchan, str_of(rows[i].name)))
            return rows[i].act;
    return !wchan.n || str_eqz(wchan, "0") ? ACT_NONE : ACT_OTHER;
}

static struct wait wait_in(struct arena *a, const struct stall_view *v,
                           const struct stall_process *p, size_t thread)
{
    int64_t fd = -1;
    str call = str_trim(p->threads[thread]), sleeps = str_trim(p->sleeps[thread]);
    enum act act = call.n ? act_of(call, &fd) : act_by_sleep(sleeps);

    switch (act) {
    case ACT_CONNECT:
    case ACT_RECEIVE:
    case ACT_SEND:
    case ACT_ACCEPT:
    case ACT_READ:
    case ACT_WRITE:
    case ACT_LOCK:
        return on_fd(a, v, p, act, fd);
    case ACT_POLL:
        return on_poll(a, v, p);
    case ACT_SLEEP:
        return wait_of(act, S("sleeps"));
    case ACT_THREAD:
        return wait_of(act, S("waits for a lock or for another thread (futex)"));
    case ACT_CHILD:
        return wait_of(act, S("waits for a child process"));
    case ACT_OTHER:
        if (sleeps.n && !str_eqz(sleeps, "0"))
            return wait_of(act,
                           arena_printf(a, "waits in the kernel (%" PRI_STR ")", STR_ARG(sleeps)));
        return wait_of(act, S("waits in the kernel"));
    case ACT_NONE:
        break;
    }
    return wait_of(ACT_NONE, STR_NONE);
}

/* ---- all of them */

str stall_where(struct arena *a, const struct stall_view *v)
{
    struct wait best = { .act = ACT_NONE };
    str who = STR_NONE;

    for (size_t i = 0; i < v->processes.n; i++) {
        const struct stall_process *p = &v->processes.at[i];
        for (size_t k = 0; k < p->n_threads; k++) {
            struct wait w = wait_in(a, v, p, k);
            if (w.act >= best.act)
                continue;
            best = w;
            who = str_trim(p->name);
        }
    }
    if (best.act == ACT_NONE)
        return S("");
    return arena_printf(a, "%" PRI_STR " %" PRI_STR, STR_ARG(who), STR_ARG(best.text));
}

void stall_view_done(struct stall_view *v)
{
    vec_done(&v->processes);
    vec_done(&v->names);
}
