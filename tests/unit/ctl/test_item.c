/* What is kept of a pod comes back as it was, and is small. */

#include "ctl/item.h"

#include "kube/meta.h"

#include "tap.h"

static struct slab mem;

static size_t bytes_of(const struct item *it)
{
    return sizeof(*it) + it->size;
}

static struct seen_pod sample(void)
{
    static const struct seen_trouble troubles[] = { { S_INIT("ErrImagePull"), S_INIT("no image") },
                                                    { S_INIT(""), S_INIT("what") } };

    return (struct seen_pod){
        .name = S("mnist-worker-12"),
        .uid = S("7d1c0b5e-27b8-4f5c-9a55-0f8f4f4b2d10"),
        .role = S("worker"),
        .index = 12,
        .phase = POD_FAILED,
        .disrupted = true,
        .stalled = true,
        .has_exit = true,
        .exit_code = 137,
        .container_id =
            S("containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        .restarts = 3,
        .troubles = troubles,
        .n_troubles = 2,
    };
}

static void a_pod_comes_back_as_it_was(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen_pod in = sample();
    struct item *it = item_of_pod(&mem, S("team-a"), &in);
    struct seen_pod p = item_pod(a, it, S("owner"), 100);

    is_str(item_key(it), S("team-a/mnist-worker-12"), "key");
    is_str(p.name, in.name, "name");
    is_str(p.uid, in.uid, "uid");
    is_str(p.role, in.role, "role");
    is_str(p.owner, S("owner"), "owner");
    is_str(p.container_id, in.container_id, "container");
    ok(p.index == 12 && p.phase == POD_FAILED && p.disrupted && !p.ready && p.stalled &&
           p.has_exit && p.exit_code == 137 && p.restarts == 3 && !p.leaving,
       "numbers and flags");
    is_int((int64_t)p.n_troubles, 2, "troubles");
    is_str(p.troubles[0].reason, S("ErrImagePull"), "reason");
    is_str(p.troubles[1].message, S("what"), "message");
    ok(bytes_of(it) < 400, "%zu bytes with troubles", bytes_of(it));
    it->asked_s = (uint32_t)ITEM_ASKED;
    ok(item_pod(a, it, S(""), 100).leaving, "what we asked to go is leaving");
    it->asked_s = 80;
    ok(item_pod(a, it, S(""), 100).leaving, "so is what seems to be gone");
    ok(!item_pod(a, it, S(""), 200).leaving, "but not for ever, if it is still seen");
    item_free(&mem, it);
    in.n_troubles = 0;
    it = item_of_pod(&mem, S("team-a"), &in);
    ok(bytes_of(it) < 260, "%zu bytes without", bytes_of(it));
    struct item *twin = item_of_pod(&mem, S("team-a"), &in);
    ok(item_equal(it, twin), "equal when it says the same");
    item_free(&mem, twin);
    in.ready = true;
    twin = item_of_pod(&mem, S("team-a"), &in);
    ok(!item_equal(it, twin), "and not when it does not");
    item_free(&mem, twin);
    item_free(&mem, it);
}

static void a_service_is_smaller(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen_service in = { .name = S("mnist-worker-1"),
                               .uid = S("7d1c0b5e-27b8-4f5c-9a55-0f8f4f4b2d10"),
                               .role = S("worker"),
                               .index = -1 };
    struct item *it = item_of_service(&mem, S("team-a"), &in);
    struct seen_service s = item_service(a, it, S("x"), 100);

    ok(str_eq(s.name, in.name) && str_eq(s.uid, in.uid) && str_eq(s.role, in.role) &&
           s.index == -1 && str_eq(s.owner, S("x")),
       "a service comes back");
    ok(bytes_of(it) < 200, "%zu bytes", bytes_of(it));
    item_free(&mem, it);
}

static void R2_texts_of_any_length_are_cut(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char *big = arena_alloc(a, 70000);
    memset(big, 'x', 70000);
    struct seen_trouble t = { { big, 70000 }, { big, 70000 } };
    struct seen_pod in = { .name = { big, 70000 },
                           .uid = { big, 70000 },
                           .role = { big, 70000 },
                           .container_id = { big, 70000 },
                           .index = INT64_MAX,
                           .exit_code = INT64_MIN,
                           .troubles = &t,
                           .n_troubles = 1 };
    struct item *it = item_of_pod(&mem, S("a"), &in);
    struct seen_pod p = item_pod(a, it, S(""), 100);

    ok(p.name.n == 1024 && p.troubles[0].message.n == 1024, "cut at what an event can say");
    ok(p.index == INT32_MAX && p.exit_code == INT32_MIN, "numbers too");
    item_free(&mem, it);
}

static void lists_are_sorted(void)
{
    struct item_list l = { 0 };
    struct item *its[6];
    static const struct {
        const char *role, *name;
        int64_t index;
    } rows[6] = { { "worker", "w1", 1 }, { "ps", "p0", 0 },      { "worker", "w10", 10 },
                  { "worker", "w0", 0 }, { "worker", "wx", -1 }, { "worker", "w1b", 1 } };
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < 6; i++) {
        struct seen_pod p = { .name = str_of(rows[i].name),
                              .role = str_of(rows[i].role),
                              .index = rows[i].index };
        its[i] = item_of_pod(&mem, S("a"), &p);
        item_list_add(&mem, &l, its[i]);
    }
    item_list_remove(&mem, &l, its[3]);
    for (size_t i = 0; i < l.n; i++)
        buf_printf(&b, "%" PRI_STR " ", STR_ARG(item_name(l.at[i])));
    is_str(buf_str(&b), S("p0 wx w1 w1b w10 "), "by role, index, name");
    for (size_t i = 0; i < 6; i++) {
        item_list_remove(&mem, &l, its[i]);
        item_free(&mem, its[i]);
    }
    ok(l.n == 0 && !l.at, "an empty one has no memory");
}

static void other_things_that_we_asked_to_go_are_being_deleted(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv obj = jobj(a, { "metadata", jobj(a, { "name", jstrz(a, "j") }, { "uid", jstrz(a, "u") }) });
    struct item *it = item_of_other(&mem, obj);

    ok(!meta_being_deleted(item_other(a, it, 100)), "as the server has it");
    it->asked_s = (uint32_t)ITEM_ASKED;
    ok(meta_being_deleted(item_other(a, it, 100)), "what we asked to go is being deleted");
    is_str(meta_uid(item_other(a, it, 100)), S("u"), "and is the same for the rest");
    ok(!meta_being_deleted(item_json(a, it)), "the server has not told it");
    item_free(&mem, it);
}

int main(void)
{
    a_pod_comes_back_as_it_was();
    a_service_is_smaller();
    R2_texts_of_any_length_are_cut();
    other_things_that_we_asked_to_go_are_being_deleted();
    lists_are_sorted();
    is_int((int64_t)mem.bytes, 0, "all memory went back");
    return tap_done();
}
