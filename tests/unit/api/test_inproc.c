/* The API asked from within: verbs, errors, watches, and calls that are given up. */

#include "box.h"

#include "api/request.h"

static const str ns = S_INIT("default");

static struct kube_request create_of(struct arena *a, const char *name)
{
    jv meta =
        jobj(a, { "name", jstr(a, str_of(name)) }, { "labels", jobj(a, { "app", jstrz(a, "x") }) });

    return (struct kube_request){ .verb = KUBE_CREATE,
                                  .res = &box_maps,
                                  .ns = ns,
                                  .body = jobj(a, { "metadata", meta },
                                               { "data", jobj(a, { "k", jstrz(a, "v") }) }) };
}

static void verbs_work(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = create_of(a, "one");
    struct kube_answer ans = box_ask(b, a, &r);

    is_int(ans.status, 201, "created");
    is_int(ans.err.code, ERR_OK, "without an error");
    is_str(jv_str(jv_at(ans.obj, "kind"), STR_NONE), S("ConfigMap"), "the object comes back");
    is_str(jv_str(jv_at(jv_index(jv_at(ans.obj, "metadata", "managedFields"), 0), "manager"),
                  STR_NONE),
           S("muster"), "its fields are muster's");
    r = (struct kube_request){ .verb = KUBE_GET, .res = &box_maps, .ns = ns, .name = S("one") };
    ans = box_ask(b, a, &r);
    is_int(ans.status, 200, "read");
    r.verb = KUBE_UPDATE;
    r.body = jv_with(a, ans.obj, jstrz(a, "w"), "data", "k");
    ans = box_ask(b, a, &r);
    is_str(jv_str(jv_at(ans.obj, "data", "k"), STR_NONE), S("w"), "updated");
    ans = box_ask(b, a, &r);
    is_int(ans.err.code, ERR_CONFLICT, "an old version conflicts");
    is_int(ans.status, 409, "with 409");
    r = (struct kube_request){ .verb = KUBE_LIST, .res = &box_maps, .ns = ns };
    ans = box_ask(b, a, &r);
    is_int((int64_t)jv_len(jv_at(ans.obj, "items")), 1, "listed");
    r = (struct kube_request){ .verb = KUBE_DELETE, .res = &box_maps, .ns = ns, .name = S("one") };
    is_int(box_ask(b, a, &r).status, 200, "deleted");
    ans = box_ask(b, a, &r);
    is_int(ans.err.code, ERR_NOT_FOUND, "it is gone");
    is_str(ans.message, S("configmaps \"one\" not found"), "which is said in full");
}

static void patches_work(struct box *b)
{
    static const struct {
        enum kube_patch type;
        const char *body;
        const char *what;
    } rows[] = {
        { KUBE_PATCH_MERGE, "{'data':{'k':'merge'}}", "merge" },
        { KUBE_PATCH_JSON, "[{'op':'replace','path':'/data/k','value':'json'}]", "json" },
        { KUBE_PATCH_STRATEGIC, "{'data':{'k':'strategic'}}", "strategic" },
        { KUBE_PATCH_APPLY,
          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'p'},'data':{'k':'apply'}}",
          "apply" },
    };
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = create_of(a, "p");

    box_ask(b, a, &r);
    r.verb = KUBE_PATCH;
    r.name = S("p");
    for (size_t i = 0; i < COUNT(rows); i++) {
        r.patch = rows[i].type;
        r.body = box_value(a, rows[i].body);
        struct kube_answer ans = box_ask(b, a, &r);
        is_str(jv_str(jv_at(ans.obj, "data", "k"), ans.message), str_of(rows[i].what),
               rows[i].what);
    }
}

/* What an apply comes to is decided when its turn comes: what was there, or was not, when it was
 * asked for does not count. */
static void applies_meet_other_writes(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct box_answer w[3] = { { .a = a }, { .a = a }, { .a = a } };
    struct kube_request apply = {
        .verb = KUBE_PATCH,
        .patch = KUBE_PATCH_APPLY,
        .res = &box_maps,
        .ns = ns,
        .name = S("met"),
        .body = box_value(a, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'met'},"
                             "'data':{'k':'v'}}")
    };
    struct kube_request delete = apply;

    delete.verb = KUBE_DELETE;
    delete.body = JV_ABSENT;
    kube_send(b->kube, &apply, box_on_answer, &w[0]);
    kube_send(b->kube, &apply, box_on_answer, &w[1]);
    box_until(b, &w[0].done);
    box_until(b, &w[1].done);
    is_int(w[0].ans.status, 201, "of two that find nothing the first creates");
    is_int(w[1].ans.status, 200, "and the second joins it");
    w[0].done = w[1].done = false;
    kube_send(b->kube, &delete, box_on_answer, &w[2]);
    kube_send(b->kube, &apply, box_on_answer, &w[0]);
    box_until(b, &w[2].done);
    box_until(b, &w[0].done);
    is_int(w[0].ans.status, 201, "one whose object is deleted under it creates anew");
    is_str(meta_name(w[0].ans.obj), S("met"), "by its name");
}

static void errors_are_told_in_full(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = create_of(a, "p");
    struct kube_answer ans = box_ask(b, a, &r);

    is_int(ans.err.code, ERR_EXISTS, "a second create");
    r = create_of(a, "Not A Name");
    ans = box_ask(b, a, &r);
    is_int(ans.status, 422, "an invalid object");
    is_int(ans.err.code, ERR_INVALID, "is ERR_INVALID");
    ok(str_contains(ans.message, S("ConfigMap \"Not A Name\" is invalid: metadata.name: Invalid")),
       "and says why");
    is_str(jv_str(jv_at(ans.obj, "kind"), STR_NONE), S("Status"), "with its Status");
    r = create_of(a, "q");
    r.ns = S("nowhere");
    is_int(box_ask(b, a, &r).err.code, ERR_NOT_FOUND, "a namespace that is not there");
    static const struct kube_resource none = { "kubeflow.org", "v1", "tfjobs", "TFJob", false };
    r = (struct kube_request){ .verb = KUBE_LIST, .res = &none };
    is_int(box_ask(b, a, &r).err.code, ERR_NOT_FOUND, "a resource that is not there");
}

/* ---- watching */

struct seen {
    struct box *b;
    struct kube_call *call;
    char log[256];
    size_t want; /* events */
    size_t n;
    bool enough;
    bool ended;
    bool cancel_at_once;
    struct err e;
    int64_t version;
};

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct seen *s = ctx;
    size_t at = strlen(s->log);
    str name = jv_str(jv_at(obj, "metadata", "name"), S("-"));

    snprintf(s->log + at, sizeof(s->log) - at, "%c:%" PRI_STR " ", "AMDB"[type], STR_ARG(name));
    str_to_int(jv_str(jv_at(obj, "metadata", "resourceVersion"), STR_NONE), &s->version);
    s->enough = ++s->n >= s->want;
    if (s->cancel_at_once)
        kube_cancel(s->b->kube, s->call);
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    struct seen *s = ctx;

    (void)retry_after_ms;
    s->ended = s->enough = true;
    if (e)
        s->e = *e;
}

static void watch(struct box *b, struct seen *s, struct kube_request r)
{
    struct kube_watcher w = { on_event, on_end, s };

    s->b = b;
    s->call = kube_watch(b->kube, &r, &w);
    ok(s->n == 0 && !s->ended, "nothing comes from within kube_watch");
}

static void watches_are_selected(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_LIST, .res = &box_maps, .ns = ns, .labels = S("app=y") };
    struct kube_answer ans = box_ask(b, a, &r);
    struct seen s = { .want = 3 };

    is_int((int64_t)jv_len(jv_at(ans.obj, "items")), 0, "none is selected");
    r.version = jv_str(jv_at(ans.obj, "metadata", "resourceVersion"), STR_NONE);
    watch(b, &s, r);
    struct kube_request w = create_of(a, "sel");
    box_ask(b, a, &w);
    w.verb = KUBE_PATCH;
    w.name = S("sel");
    w.body = box_value(a, "{'metadata':{'labels':{'app':'y'}}}");
    box_ask(b, a, &w);
    w.body = box_value(a, "{'data':{'k':'2'}}");
    box_ask(b, a, &w);
    w.body = box_value(a, "{'metadata':{'labels':{'app':'z'}}}");
    box_ask(b, a, &w);
    box_until(b, &s.enough);
    is_str(str_of(s.log), S("A:sel M:sel D:sel "), "in when it fits, out when it does not");
    kube_cancel(b->kube, s.call);
    r = (struct kube_request){
        .verb = KUBE_LIST, .res = &box_maps, .ns = ns, .labels = S("app=z")
    };
    is_int((int64_t)jv_len(jv_at(box_ask(b, a, &r).obj, "items")), 1, "a selected list");
}

static void watches_end(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen s = { .want = 100 };
    struct kube_request r = { .verb = KUBE_WATCH, .res = &box_maps, .version = S("1") };

    /* history since the store was opened is all there: push it out first */
    watch(b, &s, (struct kube_request){ .res = &box_maps, .version = S("1"), .timeout_ms = 1000 });
    box_until(b, &s.ended);
    is_int(s.e.code, ERR_OK, "the server ends a watch in its time");
    ok(str_ends(str_of(s.log), S("B:- ")) || s.n > 0, "after what it had to say");
    s = (struct seen){ .want = 1 };
    r.labels = S("a=b=c");
    watch(b, &s, r);
    box_until(b, &s.ended);
    is_int(s.e.code, ERR_BAD_REQUEST, "a watch that is refused ends with why");
    s = (struct seen){ .want = 1 };
    static const struct kube_resource none = { "kubeflow.org", "v1", "tfjobs", "TFJob", false };
    watch(b, &s, (struct kube_request){ .res = &none });
    box_until(b, &s.ended);
    is_int(s.e.code, ERR_NOT_FOUND, "so does one of nothing");
}

/* A revision from before the server started is not in its history. */
static void old_revisions_expire(const char *path)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen s = { .want = 1 };
    struct box b;

    box_open(&b, path, NULL);
    struct kube_request r = create_of(a, "one");
    box_ask(&b, a, &r);
    box_close(&b);
    box_open(&b, path, NULL);
    watch(&b, &s, (struct kube_request){ .res = &box_maps, .version = S("1") });
    box_until(&b, &s.ended);
    is_int(s.e.code, ERR_EXPIRED, "A2: a watch from an old revision is told to list again");
    box_close(&b);
}

/* ---- giving up */

static void never(void *ctx, const struct kube_answer *ans)
{
    (void)ctx, (void)ans;
    ok(false, "a cancelled call calls back");
}

static void cancelled_calls_are_silent(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request get = { .verb = KUBE_GET, .res = &box_maps, .ns = ns, .name = S("p") };
    struct kube_request list = { .verb = KUBE_LIST, .res = &box_maps };
    struct kube_request create = create_of(a, "cancelled");

    kube_cancel(b->kube, kube_send(b->kube, &get, never, NULL));
    kube_cancel(b->kube, kube_send(b->kube, &list, never, NULL));
    kube_cancel(b->kube, kube_send(b->kube, &create, never, NULL));
    struct kube_call *owed = kube_send(b->kube, &get, never, NULL);
    create = create_of(a, "cancelled-2");
    struct box_answer w = { .a = a };
    struct kube_call *late = kube_send(b->kube, &create, box_on_answer, &w);
    kube_cancel(b->kube, owed);
    box_turn(b);
    if (!w.done) /* on its way to the disk */
        kube_cancel(b->kube, late);
    struct kube_answer ans = box_ask(b, a, &get);
    is_int(ans.status, 200, "others are answered");

    struct seen s = { .want = 1, .cancel_at_once = true };
    watch(b, &s, (struct kube_request){ .res = &box_maps });
    box_until(b, &s.enough);
    for (int i = 0; i < 10; i++)
        box_turn(b);
    is_int((int64_t)s.n, 1, "a watch cancelled at its first event has no second");
    s = (struct seen){ 0 };
    watch(b, &s, (struct kube_request){ .res = &box_maps });
    kube_cancel(b->kube, s.call);
    s = (struct seen){ .want = 1 };
    watch(b, &s, (struct kube_request){ .res = &box_maps });
    box_until(b, &s.enough);
    for (int i = 0; i < 10; i++)
        box_turn(b);
    kube_cancel(b->kube, s.call);
    ok(!s.ended, "nor an end, while it waits");
}

struct bytes {
    struct box *b;
    struct kube_call *call;
    struct buf got;
    bool done;
    int status;
    enum err_code code;
    bool cancel;
};

static void on_bytes(void *ctx, str piece)
{
    struct bytes *s = ctx;

    buf_add(&s->got, piece);
    if (!s->cancel)
        return;
    s->done = true;
    kube_cancel(s->b->kube, s->call);
}

static void on_bytes_done(void *ctx, const struct kube_answer *ans)
{
    struct bytes *s = ctx;

    ok(!s->cancel, "not told when cancelled");
    s->done = true;
    s->status = ans->status;
    s->code = ans->err.code;
}

static void any_path_is_read_in_bytes(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_get get = { .path = S("/version"), .on_bytes = on_bytes };
    struct bytes s = { .b = b };

    s.call = kube_get(b->kube, &get, on_bytes_done, &s);
    box_until(b, &s.done);
    is_int(s.status, 200, "answered");
    ok(str_contains(buf_str(&s.got), S("gitVersion")), "its bytes came");
    buf_done(&s.got);

    s = (struct bytes){ .b = b, .cancel = true };
    s.call = kube_get(b->kube, &get, on_bytes_done, &s);
    box_until(b, &s.done);
    for (int i = 0; i < 10; i++)
        box_turn(b);
    buf_done(&s.got);

    s = (struct bytes){ .b = b };
    get.path = S("/api/v1/namespaces/default/configmaps/no");
    s.call = kube_get(b->kube, &get, on_bytes_done, &s);
    box_until(b, &s.done);
    is_int(s.code, ERR_NOT_FOUND, "what is not there is an error");
    is_int((int64_t)s.got.n, 0, "without bytes");
    struct box_answer w = { .a = a };
    get = (struct kube_get){ .path = S("/apis"),
                             .accept = "application/json;g=apidiscovery.k8s.io;v=v2;"
                                       "as=APIGroupDiscoveryList" };
    kube_get(b->kube, &get, box_on_answer, &w);
    box_until(b, &w.done);
    is_str(jv_str(jv_at(w.ans.obj, "kind"), STR_NONE), S("APIGroupDiscoveryList"),
           "without on_bytes it is an object, of the form asked for");
}

static void answers_have_a_time_limit(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = create_of(a, "timed");
    r.timeout_ms = 60000;

    is_int(box_ask(b, a, &r).status, 201, "one that is in time");
}

struct many {
    size_t left;
    size_t good;
    bool done;
};

static void on_one_of_many(void *ctx, const struct kube_answer *ans)
{
    struct many *m = ctx;

    m->good += ans->status == 201;
    m->done = --m->left == 0;
}

static void many_at_once(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct many m = { .left = 1000 };
    struct seen s = { .want = 1000 };

    struct kube_request list = { .verb = KUBE_LIST, .res = &box_maps };
    list.version = jv_str(jv_at(box_ask(b, a, &list).obj, "metadata", "resourceVersion"), STR_NONE);
    watch(b, &s, list);
    for (size_t i = 0; i < 1000; i++) {
        struct kube_request r = create_of(a, arena_printf(a, "many-%zu", i).p);
        kube_send(b->kube, &r, on_one_of_many, &m);
    }
    box_until(b, &m.done);
    is_int((int64_t)m.good, 1000, "a thousand creates at once");
    box_until(b, &s.enough);
    is_int((int64_t)s.n, 1000, "A2: and each is seen once");
    kube_cancel(b->kube, s.call);
    list = (struct kube_request){ .verb = KUBE_LIST, .res = &box_maps };
    ok(jv_len(jv_at(box_ask(b, a, &list).obj, "items")) > 1000, "a list in many pieces");
    list.limit = 100;
    struct kube_answer ans = box_ask(b, a, &list);
    is_int((int64_t)jv_len(jv_at(ans.obj, "items")), 100, "a page of it");
    list.cont = jv_str(jv_at(ans.obj, "metadata", "continue"), STR_NONE);
    ans = box_ask(b, a, &list);
    is_int((int64_t)jv_len(jv_at(ans.obj, "items")), 100, "and the next");
}

static void bookmarks_come(struct box *b)
{
    struct seen s = { .want = 1 };

    /* two seconds before its end a watch says where it is */
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_LIST, .res = &box_spaces };
    r.version = jv_str(jv_at(box_ask(b, a, &r).obj, "metadata", "resourceVersion"), STR_NONE);
    r.timeout_ms = 3000;
    watch(b, &s, r);
    struct kube_request w = create_of(a, "elsewhere");
    box_ask(b, a, &w);
    box_until(b, &s.enough);
    is_str(str_of(s.log), S("B:- "), "a bookmark");
    ok(s.version > 0, "with a version");
    kube_cancel(b->kube, s.call);
}

static void stopping_ends_watches_and_owes_nothing(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen s = { .want = 1000 };
    struct box b;

    box_open(&b, NULL, NULL);
    watch(&b, &s, (struct kube_request){ .res = &box_maps });
    box_turn(&b);
    api_stop(b.api);
    box_until(&b, &s.ended);
    is_int(s.e.code, ERR_OK, "a server that stops ends watches");
    s = (struct seen){ .want = 1000 };
    watch(&b, &s, (struct kube_request){ .res = &box_maps });
    box_until(&b, &s.ended);
    is_int(s.e.code, ERR_UNAVAILABLE, "and begins none");
    for (int i = 0; i < 10; i++) {
        struct kube_request r = create_of(a, arena_printf(a, "owed-%d", i).p);
        kube_send(b.kube, &r, never, NULL);
    }
    box_close(&b); /* with answers owed, which nobody waits for any more */
    ok(true, "answers may be owed at the end");
}

static void rights_are_asked_for_within(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_LIST, .res = &box_maps };
    struct box few = *b;

    few.kube = api_inproc_new(b->api, "few", "few", NULL);
    is_int(box_ask(&few, a, &r).status, 403, "a user without a right is refused");
    api_inproc_free(few.kube);
    few.kube = api_inproc_new(b->api, "few", "few", "system:masters");
    is_int(box_ask(&few, a, &r).status, 200, "in a group that has it it is not");
    api_inproc_free(few.kube);
}

/* What options ask for is there, and is as they say after another start. */
static void roles_are_kept(const char *path)
{
    static const char *const rules[] = {
        "[{'verbs':['list'],'apiGroups':[''],'resources':['configmaps']}]",
        "[{'verbs':['get'],'apiGroups':[''],'resources':['configmaps']}]"
    };
    static const int status[] = { 200, 403 };

    for (size_t i = 0; i < COUNT(rules); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct api_role role = { .name = "r", .user = "u", .rules = box_value(a, rules[i]) };
        struct api_opts o = { .roles = &role, .n_roles = 1 };
        struct kube_request r = { .verb = KUBE_LIST, .res = &box_maps };
        struct box b;
        box_open(&b, path, &o);
        api_inproc_free(b.kube);
        b.kube = api_inproc_new(b.api, "u", "u", NULL);
        is_int(box_ask(&b, a, &r).status, status[i], rules[i]);
        box_close(&b);
    }
}

int main(void)
{
    char dir[] = "/tmp/muster-inproc-XXXXXX";
    struct box b;

    if (!mkdtemp(dir))
        return 1;
    verbs_work((box_open(&b, NULL, NULL), &b));
    patches_work(&b);
    applies_meet_other_writes(&b);
    errors_are_told_in_full(&b);
    watches_are_selected(&b);
    watches_end(&b);
    cancelled_calls_are_silent(&b);
    any_path_is_read_in_bytes(&b);
    answers_have_a_time_limit(&b);
    many_at_once(&b);
    bookmarks_come(&b);
    rights_are_asked_for_within(&b);
    box_close(&b);
    stopping_ends_watches_and_owes_nothing();
    old_revisions_expire(box_path(dir));
    box_remove(dir);
    if (!mkdtemp(strcpy(dir, "/tmp/muster-inproc-XXXXXX")))
        return 1;
    roles_are_kept(box_path(dir));
    box_remove(dir);
    return tap_done();
}
