/* Programs beside a container's: gathered, with descriptors, with a terminal. */

#include "rig.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LONG_MS = 100 * 1000 };

struct call {
    bool exited;
    int code;
    char why[256];
    int tty;
    bool has_tty;
};

static void on_exit_told(void *ctx, int code, str why)
{
    struct call *c = ctx;

    c->exited = true;
    c->code = code;
    snprintf(c->why, sizeof(c->why), "%" PRI_STR, STR_ARG(why));
}

static void on_tty(void *ctx, int fd)
{
    struct call *c = ctx;

    c->tty = fd;
    c->has_tty = true;
}

static jv shell(struct arena *a, const char *script)
{
    return jarr(a, jstrz(a, "sh"), jstrz(a, "-c"), jstr(a, str_of(script)));
}

static bool exec_ended(struct rig *r, const struct rig_pod *p, uint64_t id)
{
    int64_t end = rig_patience();

    while (rig_last(p, RUNTIME_EXEC_EXITED)->id != id && boot_now_ms() < end)
        rig_turn(r);
    return rig_last(p, RUNTIME_EXEC_EXITED)->id == id;
}

static void output_is_gathered(struct rig *r, struct rig_pod *p)
{
    AUTO(arena) struct arena *a = arena_new();

    r->rt->ops->exec(p->p, 11, S("main"), shell(a, "echo $A; hostname >&2; exit 3"), LONG_MS);
    ok(exec_ended(r, p, 11), "an exec ends");
    const struct rig_event *e = rig_last(p, RUNTIME_EXEC_EXITED);
    ok(e->code == 3 && strncmp(e->out, "b\n", 2) == 0, "with its code, in the container's env");
    if (strcmp(r->level, "namespaces") == 0)
        ok(strcmp(e->out, "b\nsome-pod\n") == 0, "and its host name");
    /* On a busy machine it may not have begun so soon: then it has more time. */
    int64_t ms = 200;
    do {
        r->rt->ops->exec(p->p, 12 + (uint64_t)ms, S("main"), shell(a, "echo begun; sleep 100"), ms);
        ok(exec_ended(r, p, 12 + (uint64_t)ms), "one that takes too long is ended");
        e = rig_last(p, RUNTIME_EXEC_EXITED);
        ms *= 4;
    } while (e->code == RUNTIME_EXEC_TIMED_OUT && e->out[0] != 'b' && ms < LONG_MS);
    ok(e->code == RUNTIME_EXEC_TIMED_OUT && strcmp(e->out, "begun\n") == 0, "and says so: %d %s",
       e->code, e->why);
    r->rt->ops->exec(p->p, 13, S("other"), shell(a, "true"), LONG_MS);
    ok(exec_ended(r, p, 13) && rig_last(p, RUNTIME_EXEC_EXITED)->code == 126, "no such container");
    r->rt->ops->exec(p->p, 14, S("main"), jarr(a, jstrz(a, "nothing-such")), LONG_MS);
    ok(exec_ended(r, p, 14) && strstr(rig_last(p, RUNTIME_EXEC_EXITED)->why, "not found"),
       "no such program: %s", rig_last(p, RUNTIME_EXEC_EXITED)->why);
    r->rt->ops->exec(p->p, 15, S("main"),
                     shell(a, "head -c 100000 /dev/zero | tr '\\0' x; echo END"), LONG_MS);
    ok(exec_ended(r, p, 15), "one that prints much");
    e = rig_last(p, RUNTIME_EXEC_EXITED);
    ok(strlen(e->out) == 4096 && strcmp(e->out + 4092, "END\n") == 0, "has its end kept");
    r->rt->ops->exec(p->p, 16, S("main"), shell(a, "cat /tmp/mark 2>/dev/null || cat $TMPDIR/mark"),
                     LONG_MS);
    exec_ended(r, p, 16);
    is_str(str_of(rig_last(p, RUNTIME_EXEC_EXITED)->out), S("here\n"),
           "it sees the container's files");
    if (strcmp(r->level, "namespaces") == 0) {
        r->rt->ops->exec(p->p, 17, S("main"), shell(a, "tr '\\0' ' ' < /proc/2/cmdline"), LONG_MS);
        exec_ended(r, p, 17);
        ok(strncmp(rig_last(p, RUNTIME_EXEC_EXITED)->out, "sh -c", 5) == 0, "and its processes");
    }
}

static void descriptors_are_passed(struct rig *r, struct rig_pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    struct call c = { 0 };
    int in[2];
    int out[2];
    char text[128] = "";

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        return;
    warden_exec_start(p->p, &(struct warden_exec_opts){ .container = S("main"),
                                                        .argv = shell(a, "cat; echo $X; exit 4"),
                                                        .env = jarr(a, jstrz(a, "X=y")),
                                                        .fds = { in[0], out[1], out[1] },
                                                        .on_exit = on_exit_told,
                                                        .ctx = &c });
    close(in[0]);
    close(out[1]);
    if (write(in[1], "through\n", 8) != 8)
        return;
    close(in[1]);
    ok(rig_wait(r, &c.exited), "an exec with descriptors ends");
    is_int(c.code, 4, "with its code");
    ssize_t n = read(out[0], text, sizeof(text) - 1);
    is_str((str){ text, n > 0 ? (size_t)n : 0 }, S("through\ny\n"), "input and output are ours");
    close(out[0]);
}

static str read_tty(struct rig *r, struct buf *b, int fd, const char *until)
{
    for (int64_t end = rig_patience();
         boot_now_ms() < end && !str_contains(buf_str(b), str_of(until));) {
        struct pollfd on = { .fd = fd, .events = POLLIN };
        if (poll(&on, 1, 1) > 0) {
            ssize_t n = read(fd, buf_room(b, 4096), 4096);
            if (n <= 0)
                break;
            b->n += (size_t)n;
        }
        rig_turn(r);
    }
    return buf_str(b);
}

static void a_terminal_is_had(struct rig *r, struct rig_pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct call c = { .tty = -1 };

    warden_exec_start(p->p, &(struct warden_exec_opts){ .container = S("main"),
                                                        .argv = jarr(a, jstrz(a, "sh")),
                                                        .env = jarr(a, jstrz(a, "PS1=$ ")),
                                                        .tty = true,
                                                        .rows = 30,
                                                        .cols = 99,
                                                        .on_tty = on_tty,
                                                        .on_exit = on_exit_told,
                                                        .ctx = &c });
    ok(rig_wait(r, &c.has_tty), "an exec with a terminal");
    dprintf(c.tty, "stty size; tty\n");
    str got = read_tty(r, &b, c.tty, "/dev/pts/");
    ok(str_contains(got, S("30 99")), "of the size asked for");
    ok(str_contains(got, S("/dev/pts/")), "that has a name inside");
    ioctl(c.tty, TIOCSWINSZ, &(struct winsize){ .ws_row = 40, .ws_col = 120 });
    dprintf(c.tty, "stty size\n");
    ok(str_contains(read_tty(r, &b, c.tty, "40 120"), S("40 120")), "is resized");
    str nap = arena_printf(a, "600.%07d8", (int)getpid());
    dprintf(c.tty, "sleep %s\n", nap.p);
    rig_wait_processes(r, nap.p, 1);
    dprintf(c.tty, "\003"); /* Ctrl-C: the terminal is the controlling one */
    dprintf(c.tty, "exit 5\n");
    ok(rig_wait(r, &c.exited), "Ctrl-C ends a program in it");
    is_int(c.code, 5, "and the shell ends with its code");
    close(c.tty);
}

/* It ran, and what ended it is in its code; why is for what did not run. */
static void is_killed(int code, const char *why)
{
    is_int(code, 137, "killed");
    is_str(str_of(why), S(""), "which says all");
}

static void execs_die_with_the_container(struct rig *r, struct rig_pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = arena_printf(a, "600.%07d9", (int)getpid());
    str script = arena_printf(a, "(setsid sleep %s &) ; sleep %s", mark.p, mark.p);

    r->rt->ops->exec(p->p, 31, S("main"), shell(a, script.p), 0);
    rig_wait_processes(r, mark.p, 3);
    r->rt->ops->signal(p->p, S("main"), 9);
    ok(exec_ended(r, p, 31), "an exec ends with its container");
    is_killed(rig_last(p, RUNTIME_EXEC_EXITED)->code, rig_last(p, RUNTIME_EXEC_EXITED)->why);
    ok(rig_processes_are(mark.p, 0), "N1: with all that it started");
}

enum { MANY = 4 };

static void execs_die_with_the_pod(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 4, NULL);
    str mark = arena_printf(a, "600.%07d6", (int)getpid());
    struct call c[MANY] = { 0 };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    rig_start(p, "sleep 1000", NULL);
    rig_wait_n(r, &p->started, 1);
    for (int i = 0; i < MANY; i++)
        warden_exec_start(
            p->p, &(struct warden_exec_opts){ .container = S("main"),
                                              .argv = jarr(a, jstrz(a, "sleep"), jstr(a, mark)),
                                              .fds = { null, null, null },
                                              .on_exit = on_exit_told,
                                              .ctx = &c[i] });
    close(null);
    rig_wait_processes(r, mark.p, MANY);
    rig_end(p, 0);
    for (int i = 0; i < MANY; i++) {
        ok(c[i].exited, "an exec ends with its pod");
        is_killed(c[i].code, c[i].why);
    }
    free(p);
}

struct input {
    bool came;
    int fd;
    char why[200];
};

static void on_input(void *ctx, int fd, str why)
{
    struct input *in = ctx;

    in->came = true;
    in->fd = fd;
    snprintf(in->why, sizeof(in->why), "%" PRI_STR, STR_ARG(why));
}

static struct input input_of(struct rig *r, struct rig_pod *p)
{
    struct input in = { .fd = -1 };

    warden_input_open(p->p, S("main"), on_input, &in);
    rig_wait(r, &in.came);
    return in;
}

static void a_container_has_input(struct rig *r)
{
    struct rig_pod *p = rig_pod(r, 2, NULL);
    struct input never = { .fd = -1 };

    rig_start(p, "read x; echo \"got $x\"; printf prompt; cat; echo over", "{'stdin': true}");
    rig_wait_n(r, &p->started, 1);
    struct input in = input_of(r, p);
    ok(in.fd >= 0, "a container's input is had");
    dprintf(in.fd, "one\n");
    ok(rig_wait_log(p, "got one"), "and reaches it");
    ok(rig_wait_log(p, "prompt"), "parts of lines are in its log at once");
    close(in.fd);
    rig_node_dies(r);
    rig_node_returns(r);
    struct rig_pod *again = rig_adopt(r, 2);
    rig_wait(r, &again->hello);
    in = input_of(r, again);
    dprintf(in.fd, "two\n");
    ok(rig_wait_log(again, "two"), "it stays open when who brought some leaves, the node even");
    close(in.fd);
    warden_input_cancel(again->p, warden_input_open(again->p, S("main"), on_input, &never));
    warden_input_end(again->p, S("main"));
    ok(rig_wait_log(again, "over"), "until its end is told");
    rig_wait_n(r, &again->exited, 1);
    in = input_of(r, again);
    ok(in.fd < 0 && strstr(in.why, "not open"), "then there is none: %s", in.why);
    ok(!never.came, "who does not wait any more is not told");
    rig_end(again, 0);
    free(again);
    free(p);
}

static void a_container_has_a_terminal(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 3, NULL);
    str nap = arena_printf(a, "600.%07d7", (int)getpid());

    rig_start(p,
              arena_printf(a,
                           "tty; until test \"$(stty size)\" = '33 99'; do sleep 0.1; done; "
                           "echo sized; read x; echo said $x; n=%.4s; sleep ${n}%s",
                           nap.p, nap.p + 4)
                  .p,
              "{'stdin': true, 'tty': true}");
    rig_wait_n(r, &p->started, 1);
    ok(rig_wait_log(p, "/dev/pts/"), "a container with a terminal");
    struct input in = input_of(r, p);
    ioctl(in.fd, TIOCSWINSZ, &(struct winsize){ .ws_row = 33, .ws_col = 99 });
    ok(rig_wait_log(p, "sized"), "it is resized");
    warden_input_end(p->p, S("main"));
    dprintf(in.fd, "hello\n");
    ok(rig_wait_log(p, "said hello"), "and written to; it has no end");
    rig_wait_processes(r, nap.p, 1); /* before it is one, a shell's child does not heed it */
    dprintf(in.fd, "\003");          /* Ctrl-C */
    ok(rig_wait_n(r, &p->exited, 1), "but Ctrl-C");
    close(in.fd);
    rig_end(p, 0);
    free(p);
}

int main(int argc, char **argv)
{
    struct rig r;

    rig_main(argc, argv, &r);
    struct rig_pod *p = rig_pod(&r, 1, NULL);
    rig_start(p, "echo here > ${TMPDIR:-/tmp}/mark; echo ready; sleep 1000", "{'env': ['A=b']}");
    rig_wait_n(&r, &p->started, 1);
    rig_wait_log(p, "ready");
    output_is_gathered(&r, p);
    descriptors_are_passed(&r, p);
    a_terminal_is_had(&r, p);
    execs_die_with_the_container(&r, p);
    rig_end(p, 0);
    free(p);
    execs_die_with_the_pod(&r);
    a_container_has_a_terminal(&r);
    a_container_has_input(&r);
    rig_done(&r);
    return tap_done();
}
