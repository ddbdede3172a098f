/* A deadline ends the process on time, busy or stopped. */

#include "loop/deadman.h"
#include "loop/loop.h"
#include "tap.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int out; /* its stderr */
};

static struct child start(void (*fn)(void))
{
    int fds[2];

    fflush(stdout);
    if (pipe(fds) < 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], 2);
        fn();
        _exit(42);
    }
    close(fds[1]);
    return (struct child){ pid, fds[0] };
}

static int finish(struct child c, char *said, size_t room)
{
    int status = 0;
    ssize_t n = read(c.out, said, room - 1);

    said[n > 0 ? n : 0] = 0;
    waitpid(c.pid, &status, 0);
    close(c.out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void spin(void)
{
    deadman_set(boot_now_ms() + 100, S("too late\n"));
    for (volatile bool on = true; on;)
        ;
}

/* What a busy machine makes too late is tried again with more time. */
static int scale_ms;
enum { SCALE_FIRST_MS = 50, SCALE_LAST_MS = 12800 };

static void move_on(void)
{
    for (int i = 0; i < 6; i++) {
        deadman_set(boot_now_ms() + 4 * scale_ms, S("too late\n"));
        usleep((unsigned)scale_ms * 1000);
    }
    deadman_set(0, STR_NONE);
    usleep((unsigned)scale_ms * 6000);
}

/* Says "awake" whenever it gets to run. */
static void doze(void)
{
    deadman_set(boot_now_ms() + 4 * scale_ms, S("too late\n"));
    for (;;) {
        usleep(1000);
        if (write(2, "", 0) < 0 || boot_now_ms() < 0)
            _exit(3);
    }
}

static void a_busy_process_ends_on_time(void)
{
    char said[64];
    int64_t from = boot_now_ms();

    is_int(finish(start(spin), said, sizeof(said)), 1, "a loop without end ends with status 1");
    is_str(str_of(said), S("too late\n"), "and its last words");
    ok(boot_now_ms() - from >= 100, "not before its time");
}

static void a_deadline_can_be_moved_and_taken_away(void)
{
    char said[64];
    int status = 0;

    for (scale_ms = SCALE_FIRST_MS; status != 42 && scale_ms <= SCALE_LAST_MS; scale_ms *= 4)
        status = finish(start(move_on), said, sizeof(said));
    is_int(status, 42, "moved in time, it never comes");
    is_str(str_of(said), S(""), "and nothing is said");
}

static void a_stopped_process_does_not_go_on(void)
{
    char said[64];
    struct child c;
    int status = 0;

    for (scale_ms = SCALE_FIRST_MS; scale_ms <= SCALE_LAST_MS; scale_ms *= 4) {
        c = start(doze);
        usleep((unsigned)scale_ms * 1000);
        kill(c.pid, SIGSTOP);
        if (waitpid(c.pid, &status, WUNTRACED) == c.pid && WIFSTOPPED(status))
            break;
        close(c.out); /* its time came first */
    }
    if (!ok(WIFSTOPPED(status), "it is stopped before its time"))
        return;
    usleep((unsigned)scale_ms * 8000);
    is_int(waitpid(c.pid, NULL, WNOHANG), 0, "while it is stopped it is there");
    kill(c.pid, SIGCONT);
    is_int(finish(c, said, sizeof(said)), 1, "continued, it ends");
    is_str(str_of(said), S("too late\n"), "and does nothing else");
}

int main(void)
{
    a_busy_process_ends_on_time();
    a_deadline_can_be_moved_and_taken_away();
    a_stopped_process_does_not_go_on();
    return tap_done();
}
