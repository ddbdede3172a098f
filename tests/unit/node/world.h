/* Pods on a whole API server, for tests of the node: made, looked at until they are as they should
 * be, deleted. */
#pragma once

#include "../api/box.h"
#include "node/node.h"

__attribute__((unused)) static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
__attribute__((unused)) static const struct kube_resource nodes = { "", "v1", "nodes", "Node",
                                                                    true };
__attribute__((unused)) static const struct kube_resource events = { "", "v1", "events", "Event",
                                                                     false };
__attribute__((unused)) static const struct kube_resource leases = { "coordination.k8s.io", "v1",
                                                                     "leases", "Lease", false };

static struct box box;

enum { PATIENCE_MS = 60 * 1000 };

/* Turns the loop until that is so, however long it takes on a busy machine. */
#define WAIT(what)                                                                             \
    for (int64_t wait_end = boot_now_ms() + PATIENCE_MS; !(what) && boot_now_ms() < wait_end;) \
    box_turn(&box), usleep(500)

__attribute__((unused)) static struct node *start_node(const struct node_opts *o)
{
    struct node *n = NULL;
    struct err e = { 0 };

    if (node_new(&n, o, &e) < 0) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
    node_start(n);
    return n;
}

/* Goes on once it is ready. */
__attribute__((unused)) static struct node *begin_node(const struct node_opts *o)
{
    struct node *n = start_node(o);

    WAIT(node_is_ready(n));
    return n;
}

__attribute__((unused)) static jv get(struct arena *a, const struct kube_resource *res,
                                      const char *ns, const char *name)
{
    struct kube_request r = {
        .verb = KUBE_GET, .res = res, .ns = str_of(ns), .name = str_of(name)
    };
    struct kube_answer ans = box_ask(&box, a, &r);

    return ans.err.code == ERR_OK ? ans.obj : JV_ABSENT;
}

__attribute__((unused)) static jv make(struct arena *a, const struct kube_resource *res,
                                       const char *quoted)
{
    struct kube_request r = {
        .verb = KUBE_CREATE, .res = res, .ns = S("default"), .body = box_value(a, quoted)
    };
    struct kube_answer ans = box_ask(&box, a, &r);

    if (ans.err.code != ERR_OK)
        printf("# %" PRI_STR "\n", STR_ARG(ans.message));
    return ans.obj;
}

/* A pod on the node: name, spec's members, the container's members. */
__attribute__((unused)) static str make_pod(struct arena *a, const char *name, const char *spec,
                                            const char *container)
{
    str text = arena_printf(a,
                            "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'}, "
                            "'spec': {'nodeName': 'here', %s 'containers': [{'name': 'c', 'image': "
                            "'busybox', %s}]}}",
                            name, spec, container);

    return meta_uid(make(a, &pods, text.p));
}

/* Turns the loop until the text at a path of the pod's status is that; says what it was. */
__attribute__((unused)) static void until(const char *name, const char *const *path,
                                          const char *want, const char *what)
{
    str got = S("");
    AUTO(arena) struct arena *keep = arena_new();
    int64_t end = boot_now_ms() + PATIENCE_MS;

    while (boot_now_ms() < end) {
        AUTO(arena) struct arena *a = arena_new();
        jv v = jv_path(get(a, &pods, "default", name), path);
        got = arena_str(keep, jv_is(v, JV_STR) ? jv_str(v, S(""))
                              : jv_exists(v)   ? json_text(a, v)
                                               : S("(none)"));
        if (str_eqz(got, want))
            break;
        for (int k = 0; k < 20; k++) {
            box_turn(&box);
            usleep(500);
        }
    }
    is_str(got, str_of(want), what);
}
#define UNTIL(name, want, what, ...) \
    until((name), (const char *const[]){ __VA_ARGS__, NULL }, (want), (what))

__attribute__((unused)) static jv container(struct arena *a, const char *name)
{
    return jv_index(jv_at(get(a, &pods, "default", name), "status", "containerStatuses"), 0);
}

__attribute__((unused)) static str ip_of(struct arena *a, const char *name)
{
    return jv_str(jv_at(get(a, &pods, "default", name), "status", "podIP"), S("?"));
}

/* The reason why its container waits, or has ended. */
__attribute__((unused)) static str reason_of(struct arena *a, const char *name, const char *state)
{
    return jv_str(jv_at(jv_get(jv_at(container(a, name), "state"), str_of(state)), "reason"),
                  S(""));
}

__attribute__((unused)) static void until_gone(const char *name, const char *what)
{
    bool gone = false;
    int64_t end = boot_now_ms() + PATIENCE_MS;

    while (!gone && boot_now_ms() < end) {
        AUTO(arena) struct arena *a = arena_new();
        gone = !jv_exists(get(a, &pods, "default", name));
        for (int k = 0; k < 20; k++) {
            box_turn(&box);
            usleep(500);
        }
    }
    ok(gone, "%s", what);
}

__attribute__((unused)) static void delete (const char *name, int grace)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_DELETE,
                              .res = &pods,
                              .ns = S("default"),
                              .name = str_of(name),
                              .body = jobj(a, { "gracePeriodSeconds", jint(a, grace) }) };

    box_ask(&box, a, &r);
}

__attribute__((unused)) static bool told(const char *name, const char *reason, const char *message)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_LIST, .res = &events, .ns = S("default") };
    jv list = jv_at(box_ask(&box, a, &r).obj, "items");

    JV_EACH (it, list)
        if (str_eqz(jv_str(jv_at(it.value, "involvedObject", "name"), S("")), name) &&
            str_eqz(jv_str(jv_at(it.value, "reason"), S("")), reason) &&
            str_eqz(jv_str(jv_at(it.value, "message"), S("")), message))
            return true;
    return false;
}

__attribute__((unused)) static void until_told(const char *name, const char *reason,
                                               const char *message)
{
    WAIT(told(name, reason, message));
    ok(told(name, reason, message), "%s: %s", reason, message);
}
