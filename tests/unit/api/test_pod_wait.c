/* Who asks for a pod that the node has not found again yet waits until it has, and not longer. */

#include "box.h"
#include "http/local.h"

static struct box box;
static bool sought;
static int asked, checked;

static bool is_sought(void *ctx, const struct api_pod *pod)
{
    (void)ctx;
    asked++;
    return sought && str_eqz(meta_name(pod->pod), "x");
}

static int exec_check(void *ctx, const struct api_pod *pod, str container, struct err *e)
{
    (void)ctx, (void)pod, (void)container, (void)e;
    checked++;
    return 0;
}

static struct api_running *exec_start(void *ctx, const struct api_pod *pod,
                                      const struct api_exec *x, struct err *e)
{
    (void)ctx, (void)pod, (void)x;
    err_set(e, ERR_INTERNAL, "nothing is run here");
    return NULL;
}

static int dial(void *ctx, const struct api_pod *pod, const struct api_dial_to *to,
                struct api_dial **later, struct err *e)
{
    (void)ctx, (void)pod, (void)to, (void)later;
    return err_set(e, ERR_NOT_FOUND, "nobody is there");
}

static const struct api_pods hooks = {
    .is_sought = is_sought, .exec_check = exec_check, .exec = exec_start, .dial = dial
};

struct got {
    int status;
    bool done;
};

static void on_head(void *ctx, int status, const struct http_header *h, size_t n)
{
    struct got *g = ctx;

    (void)h, (void)n;
    g->status = status;
}

static void on_piece(void *ctx, struct arena *a, str piece, enum http_piece how)
{
    struct got *g = ctx;

    (void)a, (void)piece;
    g->done = how != PIECE_MORE;
}

static struct http_req *ask(struct got *g, const char *verb)
{
    static const str groups[] = { S_INIT("system:masters") };
    struct http_local l = { .loop = box.loop,
                            .on_request = api_on_request,
                            .ctx = box.api,
                            .who = { S("me"), groups, 1 },
                            .to = { on_head, on_piece, g } };
    struct http_ask q = { .method = S("GET"), .a = arena_new() };

    q.target =
        arena_printf(q.a, "/api/v1/namespaces/default/pods/x/%s?command=a&stdout=true", verb);
    return http_local_start(&l, &q);
}

/* Until it was looked for some more times. */
static void await_looks(void)
{
    for (int end = asked + 3; asked < end;)
        box_turn(&box), usleep(500);
}

static void make_pod(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
    struct kube_request r = {
        .verb = KUBE_CREATE,
        .res = &pods,
        .ns = S("default"),
        .body = box_value(a, "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'x'}, "
                             "'spec': {'nodeName': 'n', 'containers': [{'name': 'c', 'image': "
                             "'i'}]}}"),
    };

    ok(box_ask(&box, a, &r).err.code == ERR_OK, "there is a pod");
}

static void remove_pod(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
    struct kube_request r = { .verb = KUBE_DELETE,
                              .res = &pods,
                              .ns = S("default"),
                              .name = S("x"),
                              .body = box_value(a, "{'gracePeriodSeconds': 0}") };

    ok(box_ask(&box, a, &r).err.code == ERR_OK, "it goes");
}

static void until_it_is_found(void)
{
    static const char *const verbs[] = { "exec", "attach", "portforward" };

    for (size_t i = 0; i < COUNT(verbs); i++) {
        struct got g = { 0 };
        checked = 0;
        sought = true;
        ask(&g, verbs[i]);
        await_looks();
        ok(!g.status && !checked, "%s of a pod that is looked for waits", verbs[i]);
        sought = false;
        box_until(&box, &g.done);
        is_int(g.status, 400, "and is answered when it is found"); /* no WebSocket was asked for */
        is_int(checked, i < 2, "as the node says then");
        asked = 0;
        g = (struct got){ 0 };
        ask(&g, verbs[i]);
        box_until(&box, &g.done);
        is_int(asked, 1, "nobody waits for one that is known");
    }
}

static void until_the_client_goes(void)
{
    struct got g = { 0 };

    sought = true;
    checked = 0;
    struct http_req *r = ask(&g, "exec");
    await_looks();
    http_local_cancel(r);
    while (!checked)
        box_turn(&box), usleep(500);
    asked = 0;
    for (int i = 0; i < 300; i++)
        box_turn(&box), usleep(500);
    ok(!asked && !g.done, "nobody looks for a client that is gone");
}

static void until_the_pod_goes(void)
{
    struct got g = { 0 };

    sought = true;
    ask(&g, "exec");
    await_looks();
    remove_pod();
    box_until(&box, &g.done);
    is_int(g.status, 404, "a pod that goes is not there");
}

static void until_the_server_stops(void)
{
    struct got g = { 0 };

    make_pod();
    sought = true;
    ask(&g, "exec");
    await_looks();
    api_stop(box.api);
    box_until(&box, &g.done);
    is_int(g.status, 400, "when the server stops all are answered");
}

int main(void)
{
    box_open(&box, NULL, &(struct api_opts){ .pods = &hooks });
    make_pod();
    until_it_is_found();
    until_the_client_goes();
    until_the_pod_goes();
    until_the_server_stops();
    box_close(&box);
    return tap_done();
}
