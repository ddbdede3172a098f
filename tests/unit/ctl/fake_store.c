/* What the server in memory has, and how it changes. */

#include "fake.h"

#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"
#include "kube/patch_merge.h"
#include "plan/planner.h"

#include <inttypes.h>
#include <stdio.h>

void fake_rule(struct fake *f, bool holds, const char *what, str name)
{
    if (holds)
        return;
    f->broken++;
    printf("# broken: %s: %" PRI_STR "\n", what, STR_ARG(name));
}

unsigned fake_chance(struct fake *f, unsigned below)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return (unsigned)(f->random % below);
}

bool fake_hit(struct fake *f, unsigned of_thousand)
{
    return of_thousand && fake_chance(f, 1000) < of_thousand;
}

/* ---- objects */

bool fake_same(const struct kube_resource *a, const struct kube_resource *b)
{
    return strcmp(a->plural, b->plural) == 0 && strcmp(a->group, b->group) == 0;
}

struct fake_object *fake_find(struct fake *f, const struct kube_resource *res, str ns, str name)
{
    for (size_t i = 0; i < f->objects.n; i++) {
        struct fake_object *o = &f->objects.at[i];
        if (str_eq(o->name, name) && str_eq(o->ns, ns) && fake_same(o->res, res))
            return o;
    }
    return NULL;
}

static struct jdoc *doc_of(jv v)
{
    struct arena *a = arena_new();
    jv copy = jv_copy(a, v);

    return jdoc_of(a, copy);
}

static void rename_object(struct fake_object *o)
{
    o->ns = meta_namespace(jdoc_root(o->doc));
    o->name = meta_name(jdoc_root(o->doc));
}

/* J1: at most one live pod of a role and index of a job. */
static void check_pods(struct fake *f, jv pod)
{
    str uid = jv_str(jv_at(meta_controller(pod), "uid"), S(""));
    unsigned n = 0;

    for (size_t i = 0; i < f->objects.n && uid.n; i++) {
        jv other = jdoc_root(f->objects.at[i].doc);
        n += f->objects.at[i].res == &kube_pods && !meta_being_deleted(other) &&
             str_eq(jv_str(jv_at(meta_controller(other), "uid"), S("")), uid) &&
             str_eq(jv_str(jv_at(meta_labels(other), LABEL_ROLE), S("")),
                    jv_str(jv_at(meta_labels(pod), LABEL_ROLE), S(""))) &&
             str_eq(jv_str(jv_at(meta_labels(other), LABEL_INDEX), S("")),
                    jv_str(jv_at(meta_labels(pod), LABEL_INDEX), S("")));
    }
    fake_rule(f, n <= 1, "J1: two live pods", meta_name(pod));
}

/* now absent: the object goes. */
jv fake_commit(struct fake *f, const struct kube_resource *res, struct fake_object *o, jv now)
{
    AUTO(arena) struct arena *a = arena_new();
    struct fake_change ch = { .res = res, .rev = ++f->rev };
    jv version = jstr(a, arena_printf(a, "%" PRIu64, f->rev));

    ch.old = o ? o->doc : NULL;
    jv last = jv_exists(now) ? now : jdoc_root(o->doc);
    ch.now = doc_of(jv_with(a, last, version, "metadata", "resourceVersion"));
    if (!jv_exists(now)) {
        *o = f->objects.at[--f->objects.n];
    } else if (o) {
        o->doc = jdoc_ref(ch.now);
        rename_object(o);
    } else {
        vec_push(&f->objects, (struct fake_object){ .res = res, .doc = jdoc_ref(ch.now) });
        rename_object(&f->objects.at[f->objects.n - 1]);
        if (res == &kube_pods)
            check_pods(f, jdoc_root(ch.now));
    }
    vec_push(&f->log, ch);
    if (!jv_exists(now)) { /* the last words of the deleted: told as old */
        struct fake_change *c = &f->log.at[f->log.n - 1];
        jdoc_unref(c->old);
        c->old = c->now;
        c->now = NULL;
        return jdoc_root(c->old);
    }
    return jdoc_root(ch.now);
}

jv fake_add(struct fake *f, const struct kube_resource *res, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    char uid[37];

    snprintf(uid, sizeof(uid), "00000000-0000-4000-8000-%012" PRIx64, f->rev + 1);
    obj = jv_with(a, obj, jstr(a, str_of(uid)), "metadata", "uid");
    obj = jv_with(a, obj, jstr(a, str_of(res->kind)), "kind");
    if (res == &kube_pods && !jv_exists(jv_at(obj, "status")))
        obj = jv_with(a, obj, jstrz(a, "Pending"), "status", "phase");
    return fake_commit(f, res, NULL, obj);
}

jv fake_ask_deletion(struct fake *f, struct fake_object *o)
{
    AUTO(arena) struct arena *a = arena_new();

    if (o->res != &kube_pods || f->grace_ticks == 0)
        return fake_commit(f, o->res, o, JV_ABSENT);
    if (meta_being_deleted(jdoc_root(o->doc)))
        return jdoc_root(o->doc);
    return fake_commit(f, o->res, o,
                       jv_with(a, jdoc_root(o->doc), jstr(a, time_text(a, (int64_t)f->rev)),
                               "metadata", "deletionTimestamp"));
}

/* ---- people */

void fake_put(struct fake *f, const struct kube_resource *res, const char *quoted)
{
    AUTO(buf) struct buf b = { 0 };

    for (const char *p = quoted; *p; p++)
        buf_addc(&b, *p == '\'' ? '"' : *p);
    AUTO(jdoc) struct jdoc *d = jdoc_parse(buf_str(&b), NULL, NULL);
    if (d)
        fake_add(f, res, jdoc_root(d));
    else
        fake_rule(f, false, "test document", str_of(quoted));
}

void fake_set(struct fake *f, const struct kube_resource *res, str ns, str name, jv patch)
{
    AUTO(arena) struct arena *a = arena_new();
    struct fake_object *o = fake_find(f, res, ns, name);

    if (o)
        fake_commit(f, res, o, patch_merge(a, jdoc_root(o->doc), patch, NULL));
}

void fake_delete(struct fake *f, const struct kube_resource *res, str ns, str name)
{
    struct fake_object *o = fake_find(f, res, ns, name);

    if (o)
        fake_ask_deletion(f, o);
}

jv fake_get(struct fake *f, const struct kube_resource *res, str ns, str name)
{
    struct fake_object *o = fake_find(f, res, ns, name);

    return o ? jdoc_root(o->doc) : JV_ABSENT;
}

size_t fake_count(struct fake *f, const struct kube_resource *res)
{
    size_t n = 0;

    for (size_t i = 0; i < f->objects.n; i++)
        n += fake_same(f->objects.at[i].res, res);
    return n;
}
