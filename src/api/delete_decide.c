/* What deleting an object comes to: pure. */

#include "api/control/crds.h"
#include "api/control/namespaces.h"
#include "api/delete.h"
#include "api/strategy.h"
#include "base/time.h"
#include "kube/meta.h"

/* Their dependents are left alone unless the request says otherwise: an old promise. */
static bool orphans_by_default(const struct resource *res)
{
    static const char *const names[] = { "jobs.batch", "replicationcontrollers", NULL };

    return resource_is_one_of(res, names);
}

static jv finalizers_for(struct arena *a, const struct resource *res, jv obj, enum propagation p)
{
    struct jbuild b = jb_arr(a);
    jv now = jv_at(obj, "metadata", "finalizers");
    bool orphan = p == PROPAGATE_ORPHAN;
    bool foreground = p == PROPAGATE_FOREGROUND;

    if (p == PROPAGATE_DEFAULT) {
        orphan = meta_has_finalizer(obj, S("orphan")) ||
                 (orphans_by_default(res) && !meta_has_finalizer(obj, S("foregroundDeletion")));
        foreground = !orphan && meta_has_finalizer(obj, S("foregroundDeletion"));
    }
    JV_EACH (it, now) {
        str f = jv_str(it.value, STR_NONE);
        if (!str_eqz(f, "orphan") && !str_eqz(f, "foregroundDeletion"))
            jb_push(&b, it.value);
    }
    if (orphan)
        jb_push(&b, jstrz(a, "orphan"));
    if (foreground)
        jb_push(&b, jstrz(a, "foregroundDeletion"));
    return jb_done(&b);
}

/* Pods get time to end, unless they never ran or are over. */
static int64_t grace_of(const struct resource *res, jv obj, int64_t asked)
{
    if (!res->builtin || !(res->builtin->flags & KIND_GRACEFUL))
        return 0;
    str phase = jv_str(jv_at(obj, "status", "phase"), STR_NONE);
    int64_t grace =
        asked >= 0 ? asked : jv_int(jv_at(obj, "spec", "terminationGracePeriodSeconds"), 30);
    if (!jv_str(jv_at(obj, "spec", "nodeName"), STR_NONE).n || str_eqz(phase, "Succeeded") ||
        str_eqz(phase, "Failed"))
        return 0;
    return grace < 0 ? 1 : grace < SECONDS_MOST ? grace : SECONDS_MOST;
}

/* Kinds with a grace period show their end, even when it is now. */
static jv as_removed(struct arena *a, const struct resource *res, jv obj, int64_t now_ms)
{
    int64_t generation = jv_int(jv_at(obj, "metadata", "generation"), 0);

    if (!res->builtin || !(res->builtin->flags & KIND_GRACEFUL))
        return obj;
    if (generation > 0 && !meta_being_deleted(obj))
        obj = jv_with(a, obj, jint(a, generation + 1), "metadata", "generation");
    obj = jv_with(a, obj, time_value(a, now_ms), "metadata", "deletionTimestamp");
    return jv_with(a, obj, jint(a, 0), "metadata", "deletionGracePeriodSeconds");
}

/* Kinds that only begin to end when they are deleted: what is first made of them, and what else
 * than metadata.finalizers keeps them. */
static const struct ending {
    const char *what;
    jv (*mark)(struct arena *a, jv obj, int64_t now_ms);
    bool (*is_held)(jv obj); /* NULL: by nothing else */
} endings[] = {
    { "namespaces", namespace_marked_for_deletion, namespace_is_held },
    { "customresourcedefinitions.apiextensions.k8s.io", crd_marked_for_deletion, NULL },
};

static const struct ending *ending_of(const struct resource *res)
{
    for (size_t i = 0; res->builtin && i < COUNT(endings); i++)
        if (str_eqz(res->group_resource, endings[i].what))
            return &endings[i];
    return NULL;
}

static bool is_held(const struct resource *res, jv obj)
{
    const struct ending *own = ending_of(res);

    return own && own->is_held && own->is_held(obj);
}

bool delete_is_over(const struct resource *res, jv obj)
{
    bool graceful = res->builtin && (res->builtin->flags & KIND_GRACEFUL);

    return meta_being_deleted(obj) && jv_len(jv_at(obj, "metadata", "finalizers")) == 0 &&
           (!graceful || jv_int(jv_at(obj, "metadata", "deletionGracePeriodSeconds"), 0) == 0) &&
           !is_held(res, obj);
}

struct change delete_decide(struct arena *a, const struct resource *res, jv obj,
                            const struct delete_opts *o, int64_t now_ms)
{
    const struct ending *own = ending_of(res);

    if (own && !meta_being_deleted(obj))
        return (struct change){ CHANGE_PUT, own->mark(a, obj, now_ms) };
    if (is_held(res, obj))
        return (struct change){ CHANGE_NONE, obj };
    jv finalizers = finalizers_for(a, res, obj, o->propagation);
    bool already = meta_being_deleted(obj);
    int64_t grace = grace_of(res, obj, o->grace_s);
    int64_t before = jv_int(jv_at(obj, "metadata", "deletionGracePeriodSeconds"), 0);
    int64_t generation = jv_int(jv_at(obj, "metadata", "generation"), 0);

    if (already && (o->grace_s < 0 || grace >= before))
        grace = before; /* a second deletion can only make it sooner */
    if (!jv_len(finalizers) && grace == 0)
        return (struct change){ CHANGE_REMOVE, as_removed(a, res, obj, now_ms) };
    jv out = jv_with(a, obj, jv_len(finalizers) ? finalizers : JV_ABSENT, "metadata", "finalizers");
    if (!already || grace < before) {
        out = jv_with(a, out, time_value(a, now_ms + seconds_ms(grace)), "metadata",
                      "deletionTimestamp");
        out = jv_with(a, out, jint(a, grace), "metadata", "deletionGracePeriodSeconds");
        if (generation > 0 && !already)
            out = jv_with(a, out, jint(a, generation + 1), "metadata", "generation");
    }
    bool same = jv_equal(out, obj);
    return (struct change){ same ? CHANGE_NONE : CHANGE_PUT, out };
}
