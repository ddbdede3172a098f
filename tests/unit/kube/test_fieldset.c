/* Field sets: FieldsV1 in and out, order, algebra. */

#include "kube/fieldset.h"
#include "tap.h"

static struct fieldset parse(struct arena *a, const char *quoted)
{
    AUTO(jdoc) struct jdoc *d = J(quoted);
    struct fieldset s = { 0 };
    struct err e = { 0 };

    if (fieldset_parse(a, jv_copy(a, jdoc_root(d)), &s, &e) < 0)
        printf("# %s\n", e.msg);
    return s;
}

static void is_set(struct arena *a, struct fieldset got, const char *want, const char *what)
{
    is_json(fieldset_json(a, got), want, what);
}

static void what_is_read_is_written_the_same(void)
{
    static const char *const sets[] = {
        "{}",
        "{'f:data':{}}",
        "{'f:data':{'.':{},'f:a':{}}}",
        "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:image':{}}}}}",
        "{'f:finalizers':{'.':{},'v:\\'a.io/x\\'':{},'v:\\'b.io/x\\'':{}}}",
        "{'f:ports':{'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':{'.':{}}}}",
        "{'f:l':{'i:0':{},'i:1':{'f:x':{}},'i:10':{}}}",
    };

    for (size_t i = 0; i < COUNT(sets); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct fieldset once = parse(a, sets[i]);
        struct fieldset twice = { 0 };

        /* a lone "." says what {} says */
        if (i != 5)
            is_set(a, once, sets[i], sets[i]);
        fieldset_parse(a, fieldset_json(a, once), &twice, NULL);
        ok(fieldset_equal(once, twice), "and means the same");
    }
}

static void elements_sort_as_in_kubernetes(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_set(a,
           parse(a, "{'v:\\'a\\'':{},'i:2':{},'f:b':{},'k:{\\'n\\':\\'x\\'}':{},'i:1':{},'v:3':{},"
                    "'v:true':{},'f:a':{},'k:{\\'n\\':2}':{},'x:what':{}}"),
           "{'f:a':{},'f:b':{},'k:{\\'n\\':2}':{},'k:{\\'n\\':\\'x\\'}':{},'v:3':{},'v:\\'a\\'':{},"
           "'v:true':{},'i:1':{},'i:2':{}}",
           "names, keys, values, indices; numbers before strings; unknown kinds are dropped");
    is_set(a, parse(a, "{'k:{\\'b\\':1,\\'a\\':2}':{}}"), "{'k:{\\'a\\':2,\\'b\\':1}':{}}",
           "the members of a key are sorted");
    is_set(a, parse(a, "{'k:{\\'a\\':1}':{'f:x':{}},'k:{\\'a\\':1.0}':{'f:y':{}}}"),
           "{'k:{\\'a\\':1}':{'f:x':{},'f:y':{}}}", "one element in two spellings is one");
}

static void what_is_no_set_is_refused(void)
{
    static const char *const bad[] = { "[]",         "{'f:a':1}",   "{'bogus':{}}", "{'x':{}}",
                                       "{'k:{':{}}", "{'k:[]':{}}", "{'i:x':{}}",   "{'v:':{}}" };

    for (size_t i = 0; i < COUNT(bad); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(bad[i]);
        struct fieldset s;
        struct err e = { 0 };

        ok(fieldset_parse(a, jdoc_root(d), &s, &e) < 0 && e.msg[0], "%s: %s", bad[i], e.msg);
    }
}

static void algebra(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct fieldset x = parse(a, "{'f:a':{},'f:b':{'.':{},'f:c':{},'f:d':{}},'f:e':{'f:f':{}}}");
    struct fieldset y = parse(a, "{'f:b':{'.':{},'f:c':{}},'f:e':{},'f:z':{}}");

    is_set(a, fieldset_union(a, x, y),
           "{'f:a':{},'f:b':{'.':{},'f:c':{},'f:d':{}},'f:e':{'.':{},'f:f':{}},'f:z':{}}", "union");
    is_set(a, fieldset_intersection(a, x, y), "{'f:b':{'.':{},'f:c':{}}}", "intersection");
    is_set(a, fieldset_difference(a, x, y), "{'f:a':{},'f:b':{'f:d':{}},'f:e':{'f:f':{}}}",
           "difference leaves what is below");
    is_set(a, fieldset_difference_deep(a, x, y), "{'f:a':{}}", "deep difference does not");
    is_set(a, fieldset_path(a, S("metadata.labels")), "{'f:metadata':{'f:labels':{}}}", "a path");
}

/* A small random set over few names, so that sets meet. */
static struct fieldset some(struct arena *a, unsigned *seed, int depth)
{
    struct field_builder b = { .a = a };
    static const char *const names[] = { "a", "b", "c" };

    for (size_t i = 0; i < COUNT(names); i++) {
        struct fieldset sub = { 0 };
        *seed = *seed * 1103515245u + 12345u;
        if (depth && (*seed >> 16) % 2)
            sub = some(a, seed, depth - 1);
        field_add(&b, field_named(str_of(names[i])), (*seed >> 20) % 2, sub);
    }
    return field_done(&b);
}

static void laws_of_sets_hold(void)
{
    unsigned seed = 7;
    int broken = 0;

    for (int i = 0; i < 500; i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct fieldset x = some(a, &seed, 3);
        struct fieldset y = some(a, &seed, 3);
        struct fieldset both = fieldset_intersection(a, x, y);
        struct fieldset all = fieldset_union(a, x, y);
        struct fieldset only = fieldset_difference(a, x, y);
        struct fieldset back = { 0 };

        fieldset_parse(a, fieldset_json(a, x), &back, NULL);
        broken += !fieldset_equal(x, back);
        broken += !fieldset_equal(fieldset_union(a, only, both), x);
        broken += !fieldset_equal(fieldset_difference(a, all, y), only);
        broken += !fieldset_is_empty(fieldset_intersection(a, only, y));
        broken += !fieldset_equal(all, fieldset_union(a, y, x));
        broken += !fieldset_equal(fieldset_difference(a, fieldset_difference_deep(a, x, y), y),
                                  fieldset_difference_deep(a, x, y));
    }
    is_int(broken, 0, "print and parse, union, intersection and difference agree on 500 pairs");
}

static void note(void *ctx, str path)
{
    struct buf *b = ctx;

    buf_add(b, path);
    buf_addc(b, ' ');
}

static void paths_print_as_conflicts_show_them(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct fieldset s =
        parse(a, "{'f:spec':{'f:c':{'k:{\\'name\\':\\'a\\',\\'port\\':8}':{'.':{},"
                 "'f:image':{}}},'f:z':{}},'f:fin':{'v:\\'x\\'':{}},'f:l':{'i:3':{}}}");

    fieldset_each(a, s, note, &b);
    is_str(buf_str(&b),
           S(".fin[=\"x\"] .l[3] .spec.z .spec.c[name=\"a\",port=8] "
             ".spec.c[name=\"a\",port=8].image "),
           "members of a level first");
}

int main(void)
{
    what_is_read_is_written_the_same();
    elements_sort_as_in_kubernetes();
    what_is_no_set_is_refused();
    algebra();
    laws_of_sets_hold();
    paths_print_as_conflicts_show_them();
    return tap_done();
}
