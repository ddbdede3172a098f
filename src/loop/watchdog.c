/* A turn costs two looks at the monotonic clock, which take no system call (54 ns). CPU time and
 * run-queue delay are read when a turn begins (to abort; 0.9 us), or at most every 10 ms and after
 * each turn over 1 ms (to log), and again when a turn took 50 ms.
 *
 * A second thread looks at the turn at hand. It signals the loop thread, whose handler keeps the
 * stack of a turn that takes long, and counts how often it saw the turn: when the whole process was
 * stopped, the second thread was, too, and the turn does not count as blocked. */

#include "loop/watchdog.h"

#include "base/mem.h"
#include "loop/internal.h"
#include "loop/log.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MS = 1000 * 1000,     /* in ns */
    LOOK_MS = 40,         /* between looks of the second thread, to abort */
    LOOKS = 3,            /* a blocked turn was seen this often, or the process was stopped */
    STUCK_LOOK_MS = 2000, /* the same, to log */
    STUCK_LOOKS = 3,
    STUCK_LOOKS_ABORT = 30 * 1000 / LOOK_MS,
    FRESH_MS = 10, /* as old may before be, to log */
    LOG_EVERY_MS = 10 * 1000,
    FRAMES = 48,
};

struct cost {
    int64_t cpu_ns;
    int64_t delay_ns; /* ready to run, but without a CPU */
};

struct watch {
    bool aborts;
    int depth; /* of turns within the turn */
    bool excused;
    int schedstat;
    pthread_t loop_thread;
    pthread_t looker;
    pthread_mutex_t lock; /* guards ending */
    pthread_cond_t wake;
    bool ending;
    struct cost before;         /* the turn, or a little earlier */
    int64_t before_ns;          /* when that was, to log */
    _Atomic(int64_t) began_ns;  /* 0: no turn */
    _Atomic(const char *) file; /* of the turn */
    _Atomic(const char *) func; /* may be NULL */
    atomic_int looks;           /* how often the second thread saw the turn */
    atomic_int n_frames;        /* 0: no stack was kept */
    void *frames[FRAMES];
    int64_t logged_ns;
};

static _Thread_local struct watch *mine;
static atomic_int_fast64_t slow_turns, slowest_us;

/* ---- what a turn costs */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

static struct cost cost_now(const struct watch *w)
{
    struct cost c = { .cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) };
    char text[96];
    ssize_t n = w->schedstat < 0 ? 0 : pread(w->schedstat, text, sizeof(text) - 1, 0);

    if (n > 0) {
        text[n] = '\0'; /* "CPU-TIME RUN-DELAY SLICES", in ns */
        char *delay = strchr(text, ' ');
        c.delay_ns = delay ? strtoll(delay, NULL, 10) : 0;
    }
    return c;
}

/* ---- stacks */

static void keep_stack(int signo)
{
    struct watch *w = mine;

    (void)signo;
    if (w && atomic_load(&w->began_ns) && !atomic_load(&w->n_frames))
        atomic_store(&w->n_frames, backtrace(w->frames, FRAMES));
}

/* addr2line knows static functions and lines, which the dynamic symbols do not. */
static void print_own_frames(const char *const *addresses, size_t n)
{
    char exe[64];
    const char *argv[FRAMES + 8] = { "addr2line", "-e", exe, "-f", "-p", "-i", "-s" };
    posix_spawn_file_actions_t files;
    pid_t pid;

    snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)getpid());
    memcpy(argv + 7, addresses, n * sizeof(*argv));
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (posix_spawnp(&pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ) == 0)
        waitpid(pid, NULL, 0);
    posix_spawn_file_actions_destroy(&files);
}

static void print_stack(void *const *frames, int n)
{
    char text[FRAMES][24];
    const char *own[FRAMES];
    size_t n_own = 0;
    Dl_info self, at;

    if (!dladdr((void *)(uintptr_t)print_stack, &self))
        return;
    backtrace_symbols_fd(frames, n, STDERR_FILENO);
    for (int i = 0; i < n; i++) {
        if (!dladdr(frames[i], &at) || at.dli_fbase != self.dli_fbase)
            continue;
        snprintf(text[n_own], sizeof(text[0]), "0x%" PRIxPTR,
                 (uintptr_t)frames[i] - (uintptr_t)self.dli_fbase -
                     1); /* the call instruction, not the one after it */
        own[n_own] = text[n_own];
        n_own++;
    }
    print_own_frames(own, n_own);
}

/* ---- the verdict */

/* "../src/node/pod.c" is "node/pod.c" */
static const char *short_name(const char *file)
{
    const char *src = strstr(file, "src/");

    return src ? src + 4 : file;
}

struct verdict {
    int64_t wall_ms;
    int64_t cpu_ms;
    int64_t delay_ms;
    int64_t blocked_ms;
};

static void name_turn(const struct watch *w, char *out, size_t size)
{
    const char *func = atomic_load(&w->func);

    snprintf(out, size, "%s%s%s", short_name(atomic_load(&w->file)), func ? ":" : "",
             func ? func : "");
}

static _Noreturn void die(struct watch *w, const struct verdict *v)
{
    char name[200];

    name_turn(w, name, sizeof(name));
    dprintf(STDERR_FILENO,
            "loop: the turn %s took %" PRId64 " ms: %" PRId64
            " ms of CPU (at most %d), blocked for %" PRId64
            " ms (at most %d), waited for a CPU for %" PRId64 " ms. Its stack in between:\n",
            name, v->wall_ms, v->cpu_ms, TURN_CPU_MS, v->blocked_ms, TURN_BLOCKED_MS, v->delay_ms);
    int n = atomic_load(&w->n_frames);
    if (!n)
        n = backtrace(w->frames, FRAMES);
    print_stack(w->frames, n);
    abort();
}

static void log_slow(struct watch *w, const struct verdict *v, int64_t now_ns)
{
    char name[200];

    if (w->logged_ns && now_ns - w->logged_ns < (int64_t)LOG_EVERY_MS * MS)
        return;
    w->logged_ns = now_ns;
    name_turn(w, name, sizeof(name));
    log_warn("a turn of the loop was slow", KVZ("callback", name), KVI("ms", v->wall_ms),
             KVI("cpu_ms", v->cpu_ms), KVI("blocked_ms", v->blocked_ms),
             KVI("total", atomic_load(&slow_turns)));
}

static void judge(struct watch *w, int64_t wall_ns, int64_t now_ns)
{
    struct cost now = cost_now(w);
    int64_t cpu = now.cpu_ns - w->before.cpu_ns, delay = now.delay_ns - w->before.delay_ns;

    cpu = cpu < wall_ns ? cpu : wall_ns; /* before may be earlier than the turn */
    int64_t blocked = wall_ns - cpu - delay > 0 ? wall_ns - cpu - delay : 0;
    struct verdict v = { .wall_ms = wall_ns / MS,
                         .cpu_ms = cpu / MS,
                         .delay_ms = delay / MS,
                         .blocked_ms = blocked / MS };
    bool seen = !w->aborts || atomic_load(&w->looks) >= LOOKS;

    if (v.cpu_ms <= TURN_CPU_MS && (v.blocked_ms <= TURN_BLOCKED_MS || !seen))
        return;
    atomic_fetch_add(&slow_turns, 1);
    if (wall_ns / 1000 > atomic_load(&slowest_us))
        atomic_store(&slowest_us, wall_ns / 1000);
    if (w->aborts)
        die(w, &v);
    log_slow(w, &v, now_ns);
}

struct turn turn_begin(const char *file, const char *func)
{
    struct watch *w = mine;

    if (!w || w->depth++)
        return (struct turn){ .w = w };
    if (w->aborts)
        w->before = cost_now(w);
    w->excused = false;
    atomic_store_explicit(&w->file, file, memory_order_relaxed);
    atomic_store_explicit(&w->func, func, memory_order_relaxed);
    atomic_store_explicit(&w->looks, 0, memory_order_relaxed);
    atomic_store_explicit(&w->n_frames, 0, memory_order_relaxed);
    atomic_store_explicit(&w->began_ns, clock_ns(CLOCK_MONOTONIC), memory_order_release);
    return (struct turn){ .w = w };
}

void turn_end(struct turn *t)
{
    struct watch *w = t->w;

    if (!w || w != mine || --w->depth)
        return;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    int64_t wall = now - atomic_load_explicit(&w->began_ns, memory_order_relaxed);
    atomic_store_explicit(&w->began_ns, 0, memory_order_release);
    if (wall > (int64_t)TURN_CPU_MS * MS && !w->excused)
        judge(w, wall, now);
    if (wall > MS && !w->aborts)
        w->before = cost_now(w);
}

void turn_excuse(void)
{
    if (mine)
        mine->excused = true;
}

void watch_waits(struct watch *w)
{
    if (!w || w->aborts)
        return;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now - w->before_ns < (int64_t)FRESH_MS * MS)
        return;
    w->before_ns = now;
    w->before = cost_now(w);
}

struct loop_slow loop_slow(void)
{
    return (struct loop_slow){ .turns = atomic_load(&slow_turns),
                               .slowest_us = atomic_load(&slowest_us) };
}

/* ---- the second thread */

static void wait_a_little(struct watch *w, int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms % 1000 * MS;
    until.tv_sec += ms / 1000 + until.tv_nsec / (1000L * MS);
    until.tv_nsec %= 1000L * MS;
    pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void tell_stuck(struct watch *w)
{
    void *frames[FRAMES];
    char name[200];

    for (int i = 0; i < 100 && !atomic_load(&w->n_frames); i++)
        nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
    int n = atomic_load(&w->n_frames);
    memcpy(frames, w->frames, sizeof(frames));
    name_turn(w, name, sizeof(name));
    log_error("the loop is stuck in a turn; its stack follows", KVZ("callback", name));
    if (!w->aborts) {
        backtrace_symbols_fd(frames, n, STDERR_FILENO);
        return;
    }
    print_stack(frames, n);
    abort();
}

static void *look(void *arg)
{
    struct watch *w = arg;
    int64_t turn = 0;

    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        wait_a_little(w, w->aborts ? LOOK_MS : STUCK_LOOK_MS);
        int64_t now = atomic_load(&w->began_ns);
        if (!now || now != turn) { /* another turn, or none */
            turn = now;
            continue;
        }
        int looks = atomic_fetch_add(&w->looks, 1) + 1;
        if (looks == 1)
            pthread_kill(w->loop_thread, SIGRTMIN + 2);
        if (looks == (w->aborts ? STUCK_LOOKS_ABORT : STUCK_LOOKS))
            tell_stuck(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- */

static void start_looking(struct watch *w)
{
    struct sigaction act = { .sa_handler = keep_stack, .sa_flags = SA_RESTART };
    pthread_condattr_t attr;
    sigset_t all, old;
    void *once[1];

    backtrace(once, 1); /* loads what it needs, which a signal handler may not do */
    sigaction(SIGRTMIN + 2, &act, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old); /* signals are for the loop thread */
    if (pthread_create(&w->looker, NULL, look, w))
        abort();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void loop_watch(struct loop *l)
{
    const char *what = getenv("MUSTER_WATCHDOG");

    if (mine)
        return;
    struct watch *w = mem_new(sizeof(*w));
    w->aborts = what && strcmp(what, "abort") == 0;
    w->loop_thread = pthread_self();
    w->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    w->before = cost_now(w);
    l->watch = mine = w;
    start_looking(w);
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->looker, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    if (w->schedstat >= 0)
        close(w->schedstat);
    mine = NULL;
    free(w);
}
