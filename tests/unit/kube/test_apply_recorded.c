/* What a kube-apiserver v1.34 made of applies, updates, patches and status writes by several
 * managers, replayed: our managedFields, objects and conflicts must be the same. Each record holds
 * the object before, the request and the answer. */

#include "base/time.h"
#include "builtin/kind.h"
#include "builtin/types/types.h"
#include "crd/crd.h"
#include "kube/apply.h"
#include "slurp.h"

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };
static const char *const reset_spec_labels[] = { "spec", "metadata.labels", NULL };

static const struct {
    const char *kind;
    const char *group;
    const char *api_version;
    const char *const *reset;
    const char *const *reset_in_status;
} kinds[] = {
    { "ConfigMap", "", "v1", NULL, NULL },
    { "Deployment", "apps", "apps/v1", reset_status, reset_spec_labels },
    { "Thing", NULL, "patch.example.com/v1", reset_status, reset_spec },
};

static struct managed_write write_of(const struct crd *things, jv rec)
{
    str kind = jv_str(jv_at(rec, "kind"), S(""));
    bool in_status = str_eq(jv_str(jv_at(rec, "op"), S("")), S("status"));
    struct managed_write w = { .kind = kind, .manager = jv_str(jv_at(rec, "manager"), S("")) };

    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (!str_eqz(kind, kinds[i].kind))
            continue;
        w.api_version = str_of(kinds[i].api_version);
        w.reset = in_status ? kinds[i].reset_in_status : kinds[i].reset;
        w.schema = kinds[i].group ? builtin_find_kind(str_of(kinds[i].group), S("v1"), kind)->schema
                                  : things->storage->schema;
    }
    if (in_status)
        w.subresource = S("status");
    JV_EACH (it, jv_at(rec, "after", "metadata", "managedFields")) {
        int64_t us = 0;
        time_parse(jv_str(jv_at(it.value, "time"), S("")), &us, NULL);
        w.now_ms = us / 1000 > w.now_ms ? us / 1000 : w.now_ms;
    }
    return w;
}

static bool managed_equal(jv got, jv want)
{
    jv g = jv_at(got, "metadata", "managedFields");
    jv w = jv_at(want, "metadata", "managedFields");

    return (!jv_len(g) && !jv_len(w)) || jv_equal(g, w);
}

static bool conflicts_equal(struct arena *a, const struct apply_failure *why, jv after)
{
    jv causes = jv_at(after, "details", "causes");
    size_t found = 0;

    /* there they come in any order of managers */
    JV_EACH (it, causes)
        for (size_t i = 0; i < why->n; i++)
            found += str_eq(jv_str(jv_at(it.value, "message"), S("")), why->conflicts[i].message) &&
                     str_eq(jv_str(jv_at(it.value, "field"), S("")), why->conflicts[i].field);
    (void)a;
    return jv_len(causes) == why->n && found == why->n &&
           str_eq(jv_str(jv_at(after, "message"), S("")), why->message);
}

static void replay_apply(struct arena *a, const struct crd *things, jv rec, size_t i)
{
    struct managed_write w = write_of(things, rec);
    struct apply_failure why = { 0 };
    jv after = jv_at(rec, "after");
    jv got = apply_patch(a, &w, jv_at(rec, "before"), jv_at(rec, "config"),
                         jv_bool(jv_at(rec, "force"), false), &why, NULL);

    if (jv_int(jv_at(rec, "code"), 0) >= 400) {
        if (!ok(!jv_exists(got) && conflicts_equal(a, &why, after), "record %zu: conflicts", i))
            printf("# %s\n", json_text(a, after).p);
        return;
    }
    if (!ok(managed_equal(got, after), "record %zu: apply moves ownership", i))
        printf("# got  %s\n# want %s\n", json_text(a, jv_at(got, "metadata", "managedFields")).p,
               json_text(a, jv_at(after, "metadata", "managedFields")).p);
    if (str_eqz(w.kind, "Deployment") || !jv_exists(jv_at(rec, "before")))
        return; /* defaults come in later */
    if (str_eqz(w.kind, "Thing"))
        got = crd_default(a, things->storage, crd_prune(a, things->storage, got, NULL, NULL));
    if (!ok(jv_equal_semantic(jv_without(a, got, "metadata", "managedFields"),
                              jv_without(a, after, "metadata", "managedFields")),
            "record %zu: and merges", i))
        printf("# got  %s\n# want %s\n", json_text(a, got).p, json_text(a, after).p);
    jv again = apply_patch(a, &w, after, jv_at(rec, "config"), true, NULL, NULL);
    ok(managed_equal(again, after), "record %zu: applying it again changes nothing", i);
}

static void replay_update(struct arena *a, const struct crd *things, jv rec, size_t i)
{
    struct managed_write w = write_of(things, rec);
    jv after = jv_at(rec, "after");
    jv got = managed_update(a, &w, jv_at(rec, "before"),
                            jv_without(a, after, "metadata", "managedFields"), jv_at(rec, "sent"));

    if (!ok(managed_equal(got, after), "record %zu: update moves ownership", i))
        printf("# got  %s\n# want %s\n", json_text(a, jv_at(got, "metadata", "managedFields")).p,
               json_text(a, jv_at(after, "metadata", "managedFields")).p);
}

int main(int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    if (argc < 2) {
        printf("Bail out! no records\n");
        return 1;
    }
    jv all = json_parse(a, slurp(a, argv[1]), NULL, &e);
    AUTO(crd) struct crd *things = crd_compile(jv_at(all, "crd"), &meta_ObjectMeta, &e);
    ok(things != NULL, "records can be read: %s", e.msg);
    if (!things)
        return tap_done();
    JV_EACH (it, jv_at(all, "recs")) {
        AUTO(arena) struct arena *one = arena_new();
        if (str_eq(jv_str(jv_at(it.value, "op"), S("")), S("apply")))
            replay_apply(one, things, it.value, it.i - 1);
        else if (jv_int(jv_at(it.value, "code"), 0) < 400)
            replay_update(one, things, it.value, it.i - 1);
    }
    return tap_done();
}
