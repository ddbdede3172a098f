/* Stacks by ucontext, threads by libuv's pool. The sanitizers want to be told of each change. */

#include "loop/fiber.h"

#include "base/mem.h"
#include "loop/internal.h"
#include "loop/watchdog.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __has_feature /* clang's way to say it */
#if __has_feature(address_sanitizer)
#define FIBER_ASAN
#elif __has_feature(thread_sanitizer)
#define FIBER_TSAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN
#elif defined(__SANITIZE_THREAD__)
#define FIBER_TSAN
#endif
#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum {
    STACK_BYTES = 1024 * 1024,
    GUARD_BYTES = 64 * 1024,
    NICE = 10,
    MOST_FIBERS = 8192, /* as many as bodies over LIMIT_LOOP_BYTES fit in LIMIT_OPEN_BODIES */
};

struct fiber {
    struct loop *l;
    struct fiber *next; /* in the line of those that wait for a thread */
    void (*fn)(void *arg);
    void *arg;
    void (*work)(void *arg);
    void *work_arg;
    uv_work_t req;
    ucontext_t own;
    ucontext_t loop;
    char *stack;
    bool small;
    bool done;
    /* what the sanitizers know of both stacks */
    void *fake_own, *fake_loop;
    const void *loop_stack;
    size_t loop_stack_n;
    void *tsan_own, *tsan_loop;
};

static void stack_unmap(char *room)
{
    munmap(room, STACK_BYTES + GUARD_BYTES);
}

/* Small calls come one after the other: a few stacks are kept for them. */
static void stack_drop(struct loop *l, char *room)
{
    if (l->n_stacks == LOOP_STACKS) {
        stack_unmap(room);
        return;
    }
#ifdef FIBER_ASAN /* the last frames never returned */
    __asan_unpoison_memory_region(room + GUARD_BYTES, STACK_BYTES);
#endif
    l->stacks[l->n_stacks++] = room;
}

void fibers_done(struct loop *l)
{
    while (l->n_stacks)
        stack_unmap(l->stacks[--l->n_stacks]);
}

static void enter(struct fiber *f)
{
    f->l->fiber = f;
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&f->fake_loop, f->stack, STACK_BYTES);
#endif
#ifdef FIBER_TSAN
    f->tsan_loop = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->tsan_own, 0);
#endif
    swapcontext(&f->loop, &f->own);
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(f->fake_loop, NULL, NULL);
#endif
    f->l->fiber = NULL;
    if (!f->done)
        return;
#ifdef FIBER_TSAN
    __tsan_destroy_fiber(f->tsan_own);
#endif
    f->l->fibers--;
    stack_drop(f->l, f->stack - GUARD_BYTES);
    free(f);
}

static void leave(struct fiber *f)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(f->done ? NULL : &f->fake_own, f->loop_stack, f->loop_stack_n);
#endif
#ifdef FIBER_TSAN
    __tsan_switch_to_fiber(f->tsan_loop, 0);
#endif
    swapcontext(&f->own, &f->loop);
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(f->fake_own, &f->loop_stack, &f->loop_stack_n);
#endif
}

static void body(unsigned high, unsigned low)
{
    struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low); /* makecontext passes ints */

#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(NULL, &f->loop_stack, &f->loop_stack_n);
#endif
    f->fn(f->arg);
    f->done = true;
    leave(f);
    abort(); /* nobody comes back here */
}

bool fiber_is_inside(const struct loop *l)
{
    return l->fiber != NULL;
}

bool fiber_is_small(const struct loop *l)
{
    return l->fiber && l->fiber->small;
}

/* NULL: the kernel has no room, or no more maps, for it. */
static char *stack_new(struct loop *l)
{
    if (l->n_stacks)
        return l->stacks[--l->n_stacks];
    char *room = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (room == MAP_FAILED)
        return NULL;
    if (mprotect(room, GUARD_BYTES, PROT_NONE) < 0) {
        stack_unmap(room);
        return NULL;
    }
    return room;
}

static void start(struct loop *l, char *room, enum fiber_size size, void (*fn)(void *arg),
                  void *arg)
{
    struct fiber *f = mem_new(sizeof(*f));

    if (getcontext(&f->own) < 0)
        abort();
    l->fibers++;
    f->l = l;
    f->small = size == FIBER_SMALL;
    f->fn = fn;
    f->arg = arg;
    f->stack = room + GUARD_BYTES;
    f->own.uc_stack.ss_sp = f->stack;
    f->own.uc_stack.ss_size = STACK_BYTES;
    makecontext(&f->own, (void (*)(void))body, 2, (unsigned)((uintptr_t)f >> 32),
                (unsigned)(uintptr_t)f);
#ifdef FIBER_TSAN
    f->tsan_own = __tsan_create_fiber(0);
#endif
    enter(f);
}

void fiber_run(struct loop *l, enum fiber_size size, void (*fn)(void *arg), void *arg)
{
    struct fiber *outer = l->fiber;

    assert_on_loop(l);
    char *room = outer || l->fibers >= MOST_FIBERS ? NULL : stack_new(l);
    if (room) {
        start(l, room, size, fn, arg);
        return;
    }
    bool was_small = outer && outer->small;
    if (outer && size == FIBER_LARGE)
        outer->small = false;
    fn(arg);
    if (outer)
        outer->small = was_small;
}

/* ---- the pool */

static void start_next(struct loop *l);

/* Those who wait for the loop go first where there are too few processors. */
static void run_work(uv_work_t *req)
{
    struct fiber *f = req->data;

    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    f->work(f->work_arg);
}

static void on_worked(uv_work_t *req, int status)
{
    LOOP_TURN();
    struct fiber *f = req->data;
    struct loop *l = f->l;

    (void)status;
    l->fibers_working--;
    start_next(l);
    enter(f);
}

static void start_next(struct loop *l)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = processors > 3 ? 2 : 1; /* of libuv's four, which have other work, too */

    while (l->fibers_waiting && l->fibers_working < most) {
        struct fiber *f = l->fibers_waiting;
        l->fibers_waiting = f->next;
        if (!f->next)
            l->fibers_end = NULL;
        l->fibers_working++;
        f->req.data = f;
        if (uv_queue_work(&l->uv, &f->req, run_work, on_worked) != 0)
            abort();
    }
}

void fiber_offload(struct loop *l, void (*work)(void *arg), void *arg)
{
    if (fiber_is_small(l))
        work(arg);
    else
        fiber_offload_long(l, work, arg);
}

void fiber_offload_long(struct loop *l, void (*work)(void *arg), void *arg)
{
    struct fiber *f = l->fiber;

    if (!f) {
        work(arg);
        return;
    }
    f->work = work;
    f->work_arg = arg;
    f->next = NULL;
    if (l->fibers_end)
        l->fibers_end->next = f;
    else
        l->fibers_waiting = f;
    l->fibers_end = f;
    start_next(l);
    leave(f);
}
