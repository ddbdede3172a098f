/* Large objects, and small ones whose checks take long, are worked on beside the loop: other
 * requests are served meanwhile, and all writes of one object count. */

#include "box.h"

#include "base/limits.h"

static const str ns = S_INIT("default");
static const struct kube_resource things = { "example.com", "v1", "things", "Thing", false };

struct one {
    struct box *b;
    bool done;
    int status;
    size_t *n_done;
    size_t place; /* how many were done before it */
};

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct one *o = ctx;

    o->status = ans->status;
    o->place = (*o->n_done)++;
    o->done = true;
}

static jv large(struct arena *a, const char *name)
{
    struct jbuild data = jb_obj(a);

    for (int i = 0; i < 20000; i++)
        jb_add(&data, arena_printf(a, "k%d", i), jstrz(a, "v"));
    return jobj(a, { "metadata", jobj(a, { "name", jstr(a, str_of(name)) }) },
                { "data", jb_done(&data) });
}

static void small_ones_go_first(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct one all[4] = { 0 };
    size_t n_done = 0;

    for (size_t i = 0; i < COUNT(all); i++) {
        jv body =
            i ? jobj(a, { "metadata", jobj(a, { "name", jstr(a, arena_printf(a, "s%zu", i)) }) })
              : large(a, "large");
        struct kube_request r = { .verb = KUBE_CREATE, .res = &box_maps, .ns = ns, .body = body };
        all[i] = (struct one){ .b = b, .n_done = &n_done };
        kube_send(b->kube, &r, on_answer, &all[i]);
    }
    for (size_t i = 0; i < COUNT(all); i++)
        box_until(b, &all[i].done);
    for (size_t i = 0; i < COUNT(all); i++)
        is_int(all[i].status, 201, "created");
    is_int((int64_t)all[0].place, 3, "the large one, which came first, is done last");
}

static void all_writes_of_one_object_count(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct one all[12] = { 0 };
    size_t n_done = 0;

    for (size_t i = 0; i < COUNT(all); i++) {
        struct jbuild data = jb_obj(a);
        for (size_t k = 0; k < (i % 3 ? 1 : 5000); k++) /* every third is large itself */
            jb_add(&data, arena_printf(a, "n%zu-%zu", i, k), jstrz(a, "v"));
        struct kube_request r = { .verb = KUBE_PATCH,
                                  .patch = KUBE_PATCH_MERGE,
                                  .res = &box_maps,
                                  .ns = ns,
                                  .name = S("large"),
                                  .body = jobj(a, { "data", jb_done(&data) }) };
        all[i] = (struct one){ .b = b, .n_done = &n_done };
        kube_send(b->kube, &r, on_answer, &all[i]);
    }
    for (size_t i = 0; i < COUNT(all); i++)
        box_until(b, &all[i].done);
    for (size_t i = 0; i < COUNT(all); i++)
        is_int(all[i].status, 200, "patched");
    struct kube_request get = { .verb = KUBE_GET, .res = &box_maps, .ns = ns, .name = S("large") };
    struct kube_answer ans = box_ask(b, a, &get);
    is_int((int64_t)jv_len(jv_at(ans.obj, "data")), 20000 + 4 * 5000 + 8, "nothing is lost");
}

/* ---- checks that take long */

static jv definition(struct arena *a)
{
    return box_value(
        a, "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':"
           "{'name':'things.example.com'},'spec':{'group':'example.com','names':{'kind':'Thing',"
           "'plural':'things'},'scope':'Namespaced','versions':[{'name':'v1','served':true,"
           "'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{"
           "'counted':{'type':'string','pattern':'^(.*a){900}$'},'ruled':{'type':'string',"
           "'maxLength':2000,'x-kubernetes-validations':[{'rule':"
           "'!self.matches(\\u0027^(.*a){900}$\\u0027)'}]}}}}}]}}");
}

static jv thing(struct arena *a, const char *name, const char *field, int times)
{
    AUTO(buf) struct buf text = { 0 };

    for (int i = 0; i < times; i++)
        buf_add(&text, S("ba"));
    return jobj(a, { "apiVersion", jstrz(a, "example.com/v1") }, { "kind", jstrz(a, "Thing") },
                { "metadata", jobj(a, { "name", jstr(a, str_of(name)) }) },
                { field, jstr(a, arena_str(a, buf_str(&text))) });
}

static void what_takes_long_is_checked_beside_the_loop(struct box *b)
{
    static const struct {
        const char *name, *field;
        int times, status;
        bool waits;
        const char *what;
    } rows[] = {
        { "a", "counted", 900, 201, true, "a pattern that takes long and matches" },
        { "b", "counted", 899, 422, true, "one that does not" },
        { "c", "ruled", 899, 201, true, "a rule with it that holds" },
        { "d", "ruled", 900, 422, true, "one that does not hold" },
        { "e", "counted", 3, 422, false, "a short text" },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct one all[2] = { 0 };
        size_t n_done = 0;
        struct kube_request r[2] = {
            { .verb = KUBE_CREATE,
              .res = &things,
              .ns = ns,
              .body = thing(a, rows[i].name, rows[i].field, rows[i].times) },
            { .verb = KUBE_GET, .res = &box_maps, .ns = ns, .name = S("large") },
        };
        for (size_t k = 0; k < COUNT(all); k++) {
            all[k] = (struct one){ .b = b, .n_done = &n_done };
            kube_send(b->kube, &r[k], on_answer, &all[k]);
        }
        for (size_t k = 0; k < COUNT(all); k++)
            box_until(b, &all[k].done);
        is_int(all[0].status, rows[i].status, rows[i].what);
        ok((all[0].place == 1) == rows[i].waits, "%s others", rows[i].waits ? "after" : "before");
    }
}

static void its_namespace_may_go_meanwhile(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r[] = {
        { .verb = KUBE_CREATE,
          .res = &box_spaces,
          .body = box_value(a, "{'metadata':{'name':'short'}}") },
        { .verb = KUBE_CREATE,
          .res = &things,
          .ns = S("short"),
          .body = thing(a, "x", "counted", 900) },
        { .verb = KUBE_DELETE, .res = &box_spaces, .name = S("short") },
    };
    struct one made = { .b = b }, gone = { .b = b };
    size_t n_done = 0;

    is_int(box_ask(b, a, &r[0]).status, 201, "a namespace");
    made.n_done = gone.n_done = &n_done;
    kube_send(b->kube, &r[1], on_answer, &made);
    kube_send(b->kube, &r[2], on_answer, &gone);
    box_until(b, &made.done);
    box_until(b, &gone.done);
    ok(made.place == 1 && gone.status == 200, "it goes while an object of it is checked");
    ok(made.status == 403 || made.status == 404, "which is refused then (%d)", made.status);
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv def = definition(a);
    struct api_opts o = { .definitions = &def, .n_definitions = 1 };
    struct box b;

    box_open(&b, NULL, &o);
    small_ones_go_first(&b);
    all_writes_of_one_object_count(&b);
    what_takes_long_is_checked_beside_the_loop(&b);
    its_namespace_may_go_meanwhile(&b);
    box_close(&b);
    return tap_done();
}
