/* What a request from within costs: pods created, 256 at a time, on disk; then the same with
 * watchers. inproc_bench [pods] [watchers] */

#include "box.h"

#include "base/mem.h"

#include <time.h>

enum { AT_ONCE = 256 };

struct bench {
    struct box box;
    jv pod;
    struct arena *a;
    size_t sent, answered, bad, total;
    size_t events;
    bool done;
};

static int64_t now_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void send_one(struct bench *b);

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct bench *b = ctx;

    b->answered++;
    b->bad += ans->status != 201;
    if (b->sent < b->total)
        send_one(b);
    b->done = b->answered == b->total;
}

static void send_one(struct bench *b)
{
    static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
    AUTO(arena) struct arena *a = arena_new();
    jv name = jstr(a, arena_printf(a, "pod-%zu-%zu", b->total, b->sent++));
    struct kube_request r = { .verb = KUBE_CREATE,
                              .res = &pods,
                              .ns = S("default"),
                              .body = jv_with(a, b->pod, name, "metadata", "name") };

    kube_send(b->box.kube, &r, on_answer, b);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct bench *b = ctx;

    (void)type, (void)obj;
    b->events++;
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    (void)ctx, (void)e, (void)retry_after_ms;
    printf("a watch ended\n");
}

static void run(struct bench *b, size_t n, size_t watchers)
{
    static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
    struct kube_call **calls = mem_array(watchers + 1, sizeof(*calls));
    struct kube_watcher w = { on_event, on_end, b };

    for (size_t i = 0; i < watchers; i++)
        calls[i] = kube_watch(b->box.kube, &(struct kube_request){ .res = &pods }, &w);
    for (int i = 0; i < 1000; i++)
        box_turn(&b->box);
    b->sent = b->answered = b->bad = b->events = 0;
    b->total = n;
    b->done = false;
    int64_t wall = now_us(CLOCK_MONOTONIC);
    int64_t cpu = now_us(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < AT_ONCE && b->sent < n; i++)
        send_one(b);
    box_until(&b->box, &b->done);
    while (b->events < n * watchers)
        box_turn(&b->box);
    wall = now_us(CLOCK_MONOTONIC) - wall;
    cpu = now_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    printf("%zu pods, %zu watchers: %.0f a second, %.1f us CPU each, %zu bad, %zu events\n", n,
           watchers, (double)n * 1e6 / (double)wall, (double)cpu / (double)n, b->bad, b->events);
    for (size_t i = 0; i < watchers; i++)
        kube_cancel(b->box.kube, calls[i]);
    free(calls);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    size_t watchers = argc > 2 ? strtoul(argv[2], NULL, 10) : 4;
    char dir[] = "/tmp/muster-bench-XXXXXX";
    struct bench b = { .a = arena_new() };

    if (!mkdtemp(dir))
        return 1;
    b.pod = box_value(b.a, "{'metadata':{'labels':{'app':'x','index':'0'}},'spec':{'containers':"
                           "[{'name':'main','image':'none','env':[{'name':'A','value':'1'}],"
                           "'ports':[{'containerPort':2222,'name':'port'}]}]}}");
    box_open(&b.box, box_path(dir), NULL);
    run(&b, n, 0);
    run(&b, n + 1, watchers);
    box_close(&b.box);
    box_remove(dir);
    arena_free(b.a);
    return 0;
}
