/* What a request costs the client: client_cost KUBECONFIG [REQUESTS [AT_ONCE]] creates so many
 * config maps, gets them, deletes them, and says how long each took and how much of our CPU. */

#include "help.h"

#include <signal.h>
#include <sys/resource.h>

static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };

struct run {
    struct kube_api *api;
    enum kube_verb verb;
    int want;
    int sent;
    int done;
    int failed;
};

static void send_next(struct run *r);

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct run *r = ctx;

    r->done++;
    if (ans->err.code) {
        if (r->failed++ == 0)
            printf("# %s\n", ans->err.msg);
    }
    send_next(r);
}

static void send_next(struct run *r)
{
    AUTO(arena) struct arena *a = arena_new();

    if (r->sent == r->want)
        return;
    str name = arena_printf(a, "cost-%d", r->sent++);
    struct kube_request q = { .verb = r->verb, .res = &maps, .ns = S("default"), .name = name };
    if (r->verb == KUBE_CREATE)
        q.body = jobj(a, { "metadata", jobj(a, { "name", jstr(a, name) }) },
                      { "data", jobj(a, { "k", jstrz(a, "v") }) });
    kube_send(r->api, &q, on_answer, r);
}

static double cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        enum kube_verb verb;
    } verbs[] = { { "create", KUBE_CREATE }, { "get", KUBE_GET }, { "delete", KUBE_DELETE } };
    AUTO(arena) struct arena *a = arena_new();
    struct client_config cfg = { 0 };
    struct client_from from = { .file = argc > 1 ? argv[1] : "" };
    struct client *c = NULL;
    struct err e = { 0 };

    signal(SIGPIPE, SIG_IGN);
    struct loop *l = loop_new();
    if (client_config_load(a, &from, &cfg, &e) < 0 || client_new(&c, l, &cfg, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    for (size_t v = 0; v < COUNT(verbs); v++) {
        struct run r = { client_api(c), verbs[v].verb, argc > 2 ? atoi(argv[2]) : 2000, 0, 0, 0 };
        int at_once = argc > 3 ? atoi(argv[3]) : 64;
        double cpu = cpu_us();
        int64_t start = wall_now_us();
        for (int i = 0; i < at_once; i++)
            send_next(&r);
        run_until(l, &r.done, r.want, 600000);
        printf("%-7s %d requests, %d failed, %.0f/s, %.1f us of CPU each\n", verbs[v].name, r.done,
               r.failed, r.done * 1e6 / (double)(wall_now_us() - start), (cpu_us() - cpu) / r.done);
    }
    client_free(c);
    loop_free(l);
    return 0;
}
