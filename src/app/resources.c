/* muster resources: tells a running node what to offer, by an annotation of its Node, and waits
 * until it does. */

#include "app/resources.h"

#include "cli/track.h"
#include "kube/meta.h"
#include "node/node.h"
#include "node/resources.h"
#include "plan/planner.h"

enum { WAIT_MS = 10 * 1000, TRIES = 10 };

static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };

struct flags {
    struct session_opts to;
    const char *node;
    const char *output;
};

static const struct opt options[] = { { "node", 0, OPT_TEXT, offsetof(struct flags, node), "NAME",
                                        "of this node (default: all, or the only one)", NULL },
                                      { "output", 'o', OPT_TEXT, offsetof(struct flags, output),
                                        "FORMAT", "print json instead of a table", "json" },
                                      SESSION_OPTIONS(struct flags, to),
                                      { 0 } };

/* ---- reading */

static int read_nodes(struct session *s, const struct flags *f, jv *out)
{
    struct ask q = { .req = { .verb = f->node ? KUBE_GET : KUBE_LIST,
                              .res = &nodes,
                              .name = str_of(f->node ? f->node : "") } };
    int code = session_ask(s, &q, 1);

    if (code >= 0)
        return code;
    if (q.err.code)
        return session_fail(s, &q, "%s%s", f->node ? "get node " : "list nodes",
                            f->node ? f->node : "");
    *out = f->node ? jarr(s->a, q.obj) : jv_at(q.obj, "items");
    return -1;
}

/* Without the right to list pods what they use is not known. */
static int read_pods(struct session *s, jv *out)
{
    struct ask q = { .req = { .verb = KUBE_LIST, .res = &kube_pods } };
    int code = session_ask(s, &q, 1);

    if (code < 0 && q.err.code)
        command_note("muster: what is used is not known: cannot list pods of all namespaces: "
                     "%" PRI_STR,
                     STR_ARG(q.message.n ? q.message : str_of(q.err.msg)));
    *out = q.err.code ? JV_ABSENT : jv_at(q.obj, "items");
    return code;
}

static int print(struct session *s, const struct flags *f, jv list, jv pods)
{
    AUTO(buf) struct buf b = { 0 };

    if (f->output) {
        json_print_indent(&b, resources_json(s->a, list, pods), 4);
        buf_addc(&b, '\n');
    } else if (jv_len(list)) {
        buf_add(&b, resources_table(s->a, list, pods));
    } else {
        command_note("No nodes found");
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- changing */

/* Another kubelet would not know what is meant. */
static bool is_ours(jv node)
{
    str runtime = jv_str(jv_at(node, "status", "nodeInfo", "containerRuntimeVersion"), S(""));

    return str_starts(runtime, S("muster://"));
}

static int only_node(jv list, jv *out)
{
    if (jv_len(list) == 0)
        return command_fail(EXIT_FAILED, "there is no node, as with 'muster up --no-node'");
    if (jv_len(list) > 1)
        return command_fail(EXIT_USAGE, "there are %zu nodes; name one with --node", jv_len(list));
    *out = jv_index(list, 0);
    if (!is_ours(*out))
        return command_fail(EXIT_FAILED,
                            "node %" PRI_STR " is not run by muster; its own kubelet and device "
                            "plugins say what it has",
                            STR_ARG(meta_name(*out)));
    return -1;
}

static int wanted_text(struct session *s, jv node, char **words, int n, str *out)
{
    jv amounts = resources_declared(s->a, node);
    struct err e = { 0 };

    for (int i = 0; i < n; i++)
        if (resources_change(s->a, str_of(words[i]), &amounts, &e) < 0)
            return command_fail(e.code == ERR_NOT_FOUND ? EXIT_FAILED : EXIT_USAGE, "%s", e.msg);
    *out = resources_text(s->a, amounts);
    return -1;
}

/* Nobody else's change is lost: they are read again when there was one. */
static int write_node(struct session *s, struct flags *f, char **words, int n, jv *node, str *told)
{
    struct arena *a = s->a;
    struct ask q = { 0 };
    jv list = JV_ABSENT;
    int code = -1;

    for (int i = 0; i < TRIES && code < 0; i++) {
        code = read_nodes(s, f, &list);
        if (code < 0)
            code = only_node(list, node);
        if (code < 0)
            code = wanted_text(s, *node, words, n, told);
        if (code >= 0)
            break;
        jv text = told->n ? jstr(a, *told) : JV_NULL_V;
        jv meta = jobj(a, { "resourceVersion", jv_at(*node, "metadata", "resourceVersion") },
                       { "annotations", jobj(a, { NODE_RESOURCES_ANNOTATION, text }) });
        q = (struct ask){ .req = { .verb = KUBE_PATCH,
                                   .patch = KUBE_PATCH_MERGE,
                                   .res = &nodes,
                                   .name = meta_name(*node),
                                   .body = jobj(a, { "metadata", meta }) } };
        code = session_ask(s, &q, 1);
        if (code < 0 && q.status != 409)
            break;
    }
    if (code < 0 && q.err.code)
        return session_fail(s, &q, "patch node %" PRI_STR, STR_ARG(meta_name(*node)));
    return code;
}

struct wait {
    struct session *s;
    str told;
    jv node;
    str refused;
    bool over;
};

static jv said(jv node)
{
    JV_EACH (it, jv_at(node, "status", "conditions"))
        if (str_eqz(jv_str(jv_at(it.value, "type"), S("")), NODE_RESOURCES_CONDITION))
            return it.value;
    return JV_ABSENT;
}

static void on_node(void *ctx, enum kube_event type, jv node)
{
    struct wait *w = ctx;
    jv c = said(node);
    str reason = jv_str(jv_get(c, S("reason")), S("NotDeclared"));
    str message = jv_str(jv_get(c, S("message")), S(""));

    if (type == KUBE_DELETED)
        return;
    /* it may still speak of what was told before */
    w->refused = str_eqz(reason, "Invalid") ? arena_str(w->s->a, message) : STR_NONE;
    if (w->refused.n || !str_eq(message, w->told))
        return;
    w->node = jv_copy(w->s->a, node);
    w->over = true;
    loop_wake(w->s->loop);
}

static int await(struct session *s, jv *node, str told)
{
    struct wait w = { .s = s, .told = told };
    struct track_opts o = {
        .res = &nodes, .name = meta_name(*node), .on_event = on_node, .ctx = &w
    };
    struct track *t = track_start(s, &o);

    session_limit(s, WAIT_MS);
    int code = session_wait(s, &w.over);
    session_limit(s, 0);
    track_stop(t);
    if (code == EXIT_TIMEOUT && w.refused.n)
        return command_fail(EXIT_FAILED, "node %" PRI_STR ": %" PRI_STR, STR_ARG(meta_name(*node)),
                            STR_ARG(w.refused));
    if (code == EXIT_TIMEOUT)
        return command_fail(EXIT_FAILED,
                            "node %" PRI_STR " was told, but has not taken it over within %d s; it "
                            "does so when it runs",
                            STR_ARG(meta_name(*node)), WAIT_MS / 1000);
    *node = w.node;
    return code;
}

static int change(struct session *s, struct flags *f, char **words, int n)
{
    jv node = JV_ABSENT, pods = JV_ABSENT;
    str told;
    int code = write_node(s, f, words, n, &node, &told);

    if (code < 0)
        code = await(s, &node, told);
    if (code < 0)
        code = read_pods(s, &pods);
    if (code >= 0)
        return code;
    str excess = resources_excess(s->a, node, pods);
    if (excess.n)
        command_complain(excess);
    return print(s, f, jarr(s->a, node), pods);
}

static int show(struct session *s, const struct flags *f)
{
    jv list = JV_ABSENT, pods = JV_ABSENT;
    int code = read_nodes(s, f, &list);

    if (code < 0)
        code = read_pods(s, &pods);
    return code < 0 ? print(s, f, list, pods) : code;
}

/* ---- */

/* Before anything is asked. */
static int check(char **words, int n)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    for (int i = 0; i < n; i++) {
        jv amounts = JV_EMPTY_OBJ;
        if (!*words[i])
            return command_fail(EXIT_USAGE, "resources: '' is not NAME=AMOUNT");
        if (resources_change(a, str_of(words[i]), &amounts, &e) < 0 && e.code != ERR_NOT_FOUND)
            return command_fail(EXIT_USAGE, "%s", e.msg);
    }
    return -1;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { 0 };
    struct session s;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code < 0)
        code = check(words, n);
    if (code >= 0)
        return code;
    code = session_open(&s, &f.to);
    if (code < 0)
        code = n ? change(&s, &f, words, n) : show(&s, &f);
    session_close(&s);
    return code;
}

const struct command command_resources = {
    .name = "resources",
    .summary = "show what nodes have, or change what a running one offers",
    .help = "Usage: muster resources [OPTION]...\n"
            "       muster resources [OPTION]... NAME=AMOUNT|NAME-...\n"
            "\n"
            "Shows what each node has of each resource, what pods have asked for of it, and what\n"
            "is free. With NAME=AMOUNT (nvidia.com/gpu=4, cpu=2,memory=4Gi) the node of a running\n"
            "'muster up' offers that much instead, from now on and also after a restart: above\n"
            "its --resources and above what it finds. NAME- takes that back. Waiting pods are\n"
            "looked at again at once. What runs goes on, also if less is left than it uses.\n",
    .options = options,
    .run = run,
};
