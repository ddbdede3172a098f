/* Who depends on whom. */

#include "api/control/gc_index.h"
#include "tap.h"

/* Collections are only compared by address here. */
static char memory[2];
#define PODS ((struct store_coll *)(void *)&memory[0])
#define MAPS ((struct store_coll *)(void *)&memory[1])

static size_t count(const struct gc_index *x, str uid)
{
    size_t n = 0;

    for (struct gc_edge *e = gc_index_of(x, uid); e; e = e->next)
        n++;
    return n;
}

static void owners_know_their_dependents(void)
{
    struct gc_index x = { 0 };
    AUTO(jdoc) struct jdoc *one = J("{'ownerReferences':[{'uid':'u1','blockOwnerDeletion':true}]}");
    AUTO(jdoc) struct jdoc *two = J("{'ownerReferences':[{'uid':'u1'},{'uid':'u2'}]}");

    gc_index_set(&x, PODS, S("ns/a"), jdoc_root(one));
    gc_index_set(&x, MAPS, S("ns/a"), jdoc_root(two));
    is_int((int64_t)count(&x, S("u1")), 2, "the same key in two collections is two dependents");
    is_int((int64_t)count(&x, S("u2")), 1, "an object may have two owners");
    is_int((int64_t)gc_index_blocking(&x, S("u1")), 1, "one of them blocks");
    gc_index_set(&x, PODS, S("ns/a"), JV_ABSENT);
    is_int((int64_t)count(&x, S("u1")), 1, "a dependent that is gone is forgotten");
    is_int((int64_t)gc_index_blocking(&x, S("u1")), 0, "and blocks no longer");
    gc_index_set(&x, MAPS, S("ns/a"), jdoc_root(one));
    ok(!gc_index_of(&x, S("u2")), "references that were dropped are forgotten");
    is_int((int64_t)gc_index_blocking(&x, S("u1")), 1, "new ones count");
    gc_index_done(&x);
}

static void odd_references_do_no_harm(void)
{
    struct gc_index x = { 0 };
    AUTO(jdoc)
    struct jdoc *odd = J("{'ownerReferences':[{'uid':''},{'uid':5},7,{'uid':'u'},{'uid':'u'}]}");

    gc_index_set(&x, PODS, S("a"), jdoc_root(odd));
    is_int((int64_t)count(&x, S("u")), 2, "only those with a uid count, each time they are there");
    gc_index_set(&x, PODS, S("a"), jdoc_root(odd));
    is_int((int64_t)count(&x, S("u")), 2, "setting them again changes nothing");
    gc_index_set(&x, PODS, S("a"), JV_ABSENT);
    is_int((int64_t)x.owners.n, 0, "and nothing stays behind");
    gc_index_done(&x);
}

static void nobody_depends_on_oneself(void)
{
    struct gc_index x = { 0 };
    AUTO(jdoc)
    struct jdoc *own = J("{'uid':'me','ownerReferences':[{'uid':'me','blockOwnerDeletion':true},"
                         "{'uid':'other'}]}");

    gc_index_set(&x, PODS, S("a"), jdoc_root(own));
    ok(!gc_index_of(&x, S("me")), "a reference to oneself is left out");
    is_int((int64_t)gc_index_blocking(&x, S("me")), 0, "and blocks nothing");
    is_int((int64_t)count(&x, S("other")), 1, "others count");
    gc_index_done(&x);
}

static void ten_thousand_come_and_go(void)
{
    struct gc_index x = { 0 };
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *refs = J("{'ownerReferences':[{'uid':'owner'}]}");

    for (int i = 0; i < 10000; i++)
        gc_index_set(&x, PODS, arena_printf(a, "ns/pod-%d", i), jdoc_root(refs));
    is_int((int64_t)count(&x, S("owner")), 10000, "all are known");
    for (int i = 0; i < 10000; i++)
        gc_index_set(&x, PODS, arena_printf(a, "ns/pod-%d", i), JV_ABSENT);
    is_int((int64_t)x.dependents.n, 0, "all are forgotten");
    gc_index_done(&x);
}

int main(void)
{
    owners_know_their_dependents();
    odd_references_do_no_harm();
    nobody_depends_on_oneself();
    ten_thousand_come_and_go();
    return tap_done();
}
