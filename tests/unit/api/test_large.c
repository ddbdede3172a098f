/* Large objects, which are worked on beside the loop: small requests are served meanwhile, and all
 * writes of one object count. */

#include "box.h"

#include "base/limits.h"

static const str ns = S_INIT("default");

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

int main(void)
{
    struct box b;

    box_open(&b, NULL, NULL);
    small_ones_go_first(&b);
    all_writes_of_one_object_count(&b);
    box_close(&b);
    return tap_done();
}
