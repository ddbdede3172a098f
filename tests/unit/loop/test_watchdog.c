/* L1: a turn that spins or blocks is found and named; one that others kept from running is not. */

#include "loop/log.h"
#include "loop/watchdog.h"
#include "tap.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RIVALS = 12 };

static char said[1 << 16]; /* by the last child */

static int64_t cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void use_cpu(int64_t ms)
{
    for (int64_t until = cpu_ms() + ms; cpu_ms() < until;)
        ;
}

static void pause_ms(long ms)
{
    struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) < 0)
        ;
}

/* ---- turns */

static void spin(void *arg)
{
    (void)arg;
    use_cpu(TURN_CPU_MS * 3);
}

static void block(void *arg)
{
    (void)arg;
    pause_ms(TURN_BLOCKED_MS * 3);
}

static void short_spin(void *arg)
{
    (void)arg;
    use_cpu(20);
}

static void *rival(void *arg)
{
    atomic_bool *done = arg;

    while (!atomic_load(done))
        ;
    return NULL;
}

/* Twelve others want the same CPU: 20 ms of CPU take a quarter of a second. */
static void crowded(void *arg)
{
    static atomic_bool done;
    pthread_t threads[RIVALS];
    cpu_set_t one;

    (void)arg;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < RIVALS; i++)
        pthread_create(&threads[i], NULL, rival, &done);
    use_cpu(20);
    atomic_store(&done, true);
    for (int i = 0; i < RIVALS; i++)
        pthread_join(threads[i], NULL);
}

static void stopped(void *arg)
{
    (void)arg;
    raise(SIGSTOP); /* the parent lets it go on */
}

/* ---- children */

static void end(void *arg)
{
    loop_stop(arg);
}

static _Noreturn void child(void (*turn)(void *), void (*run)(struct loop *l, void (*turn)(void *)))
{
    struct loop *l = loop_new();

    run(l, turn);
    loop_timer_start(l, 1, 0, end, l);
    loop_run(l);
    loop_free(l);
    exit((int)loop_slow().turns);
}

static void posted(struct loop *l, void (*turn)(void *))
{
    loop_post(l, turn, l);
}

static void timed(struct loop *l, void (*turn)(void *))
{
    loop_timer_start(l, 0, 0, turn, l);
}

static void logged(struct loop *l, void (*turn)(void *))
{
    loop_watch(l);
    loop_post(l, turn, l);
}

static void pass_time(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
        pause_ms(TURN_BLOCKED_MS * 2);
        kill(pid, SIGCONT);
    }
    snprintf(said + strlen(said), 40, "status %d signal %d", WEXITSTATUS(status),
             WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void try(const char *mode, void (*turn)(void *),
                void (*run)(struct loop *l, void (*turn)(void *)))
{
    int fds[2];

    if (pipe(fds) < 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        if (mode)
            setenv("MUSTER_WATCHDOG", mode, 1);
        else
            unsetenv("MUSTER_WATCHDOG");
        child(turn, run);
    }
    close(fds[1]);
    said[0] = '\0';
    if (turn == stopped)
        pass_time(pid);
    size_t n = strlen(said);
    for (ssize_t got;
         n < sizeof(said) - 64 && (got = read(fds[0], said + n, sizeof(said) - 64 - n)) > 0;)
        n += (size_t)got;
    said[n] = '\0';
    close(fds[0]);
    if (turn != stopped)
        pass_time(pid);
}

static bool has(const char *text)
{
    bool found = strstr(said, text) != NULL;

    if (!found)
        printf("# %s\n", said);
    return found;
}

static void a_turn_that_spins_aborts(void)
{
    try("abort", spin, posted);
    ok(has("signal 6"), "the program aborts");
    ok(has("test_watchdog.c:turn took"), "the callback is named");
    ok(has("use_cpu"), "the stack shows where it was");
}

static void a_turn_that_blocks_aborts(void)
{
    try("abort", block, timed);
    ok(has("signal 6"), "the program aborts");
    ok(has("pause_ms"), "the stack shows where it was");
}

static void others_do_not_make_a_turn_slow(void)
{
    try("abort", short_spin, posted);
    ok(has("status 0 signal 0"), "20 ms of CPU are allowed");
    try("abort", crowded, posted);
    ok(has("status 0 signal 0"), "waiting for a CPU is not blocking");
    try("abort", stopped, posted);
    ok(has("status 0 signal 0"), "nor is being stopped, with the whole process");
}

static void a_server_counts_and_logs(void)
{
    try(NULL, spin, logged);
    ok(has("status 1 signal 0"), "the slow turn is counted");
    ok(has("a turn of the loop was slow") && has("callback="), "and logged by name");
    try(NULL, spin, posted);
    ok(has("status 0 signal 0"), "a loop that nobody watches is let alone");
}

int main(void)
{
    a_turn_that_spins_aborts();
    a_turn_that_blocks_aborts();
    others_do_not_make_a_turn_slow();
    a_server_counts_and_logs();
    return tap_done();
}
