/* A claim's way: it waits for its first pod, gets a volume that is there or a new one, and is bound
 * to it from both sides. */

#include "builtin/check.h"
#include "builtin/resources.h"
#include "kube/selector.h"
#include "sched/volume.h"

const struct kube_resource kube_claims = { "", "v1", "persistentvolumeclaims",
                                           "PersistentVolumeClaim", false };
const struct kube_resource kube_volumes = { "", "v1", "persistentvolumes", "PersistentVolume",
                                            true };
const struct kube_resource kube_classes = { "storage.k8s.io", "v1", "storageclasses",
                                            "StorageClass", true };
const struct kube_resource kube_nodes = { "", "v1", "nodes", "Node", true };
const struct kube_resource kube_namespaces = { "", "v1", "namespaces", "Namespace", true };

jv local_path_class(struct arena *a)
{
    jv notes = jobj(a, { "storageclass.kubernetes.io/is-default-class", jstrz(a, "true") });

    return jobj(
        a, { "apiVersion", jstrz(a, "storage.k8s.io/v1") }, { "kind", jstrz(a, "StorageClass") },
        { "metadata", jobj(a, { "name", jstrz(a, "local-path") }, { "annotations", notes }) },
        { "provisioner", jstrz(a, LOCAL_PATH) }, { "reclaimPolicy", jstrz(a, "Delete") },
        { "volumeBindingMode", jstrz(a, "WaitForFirstConsumer") });
}

str claim_volume_name(struct arena *a, jv claim)
{
    str name = FIELD_STR(FIELD(claim, "spec"), "volumeName");

    return name.n ? name : arena_printf(a, "pvc-%" PRI_STR, STR_ARG(meta_uid(claim)));
}

bool claim_is_bound(jv claim)
{
    return str_eqz(FIELD_STR(FIELD(claim, "status"), "phase"), "Bound");
}

bool claim_waits_for_consumer(const struct claim_seen *seen)
{
    jv class_name = FIELD(FIELD(seen->claim, "spec"), "storageClassName");

    if (FIELD_STR(FIELD(seen->claim, "spec"), "volumeName").n ||
        (jv_is(class_name, JV_STR) && !jv_str(class_name, S("")).n))
        return false;
    return !jv_exists(seen->cls) ||
           !str_eqz(jv_str(FIELD(seen->cls, "volumeBindingMode"), S("Immediate")), "Immediate");
}

/* ---- steps */

static struct plan_step *patch(struct plan *p, const struct kube_resource *res, jv obj, str sub,
                               jv body)
{
    struct plan_step *s = plan_add(p, PLAN_PATCH, 0, res);

    s->ns = meta_namespace(obj);
    s->name = meta_name(obj);
    s->sub = sub;
    s->patch = KUBE_PATCH_MERGE;
    s->obj = jv_with(p->a, body, jstr(p->a, meta_uid(obj)), "metadata", "uid");
    return s;
}

static void tell(struct plan *p, bool warning, str reason, str message)
{
    *plan_tell(p) = (struct plan_note){
        .warning = warning, .reason = reason, .message = message, .once = message
    };
}

/* ---- a volume that is there already */

static int64_t size_of(jv list)
{
    struct quantity q = quantity_of_jv(FIELD(list, "storage"));

    return quantity_value(&q);
}

static bool is_for(jv volume, jv claim)
{
    jv ref = FIELD(FIELD(volume, "spec"), "claimRef");

    return str_eq(FIELD_STR(ref, "namespace"), meta_namespace(claim)) &&
           str_eq(FIELD_STR(ref, "name"), meta_name(claim)) &&
           (!FIELD_STR(ref, "uid").n || str_eq(FIELD_STR(ref, "uid"), meta_uid(claim)));
}

static bool has_modes(jv volume, jv claim)
{
    JV_EACH (it, FIELD(FIELD(claim, "spec"), "accessModes"))
        if (!str_list_has(FIELD(FIELD(volume, "spec"), "accessModes"), jv_str(it.value, S(""))))
            return false;
    return true;
}

static bool would_do(struct arena *a, jv volume, jv claim)
{
    jv want = FIELD(claim, "spec"), has = FIELD(volume, "spec");
    struct selector s = { 0 };
    str why;

    if (meta_being_deleted(volume))
        return false;
    if (!jv_is_null(FIELD(has, "claimRef")))
        return is_for(volume, claim);
    if (!jv_is_null(FIELD(want, "selector")) &&
        selector_from_object(a, FIELD(want, "selector"), &s, &why) < 0)
        return false;
    return str_eq(FIELD_STR(want, "storageClassName"), FIELD_STR(has, "storageClassName")) &&
           str_eq(FIELD_STR(want, "volumeMode"), FIELD_STR(has, "volumeMode")) &&
           has_modes(volume, claim) && selector_matches(&s, meta_labels(volume)) &&
           size_of(FIELD(has, "capacity")) >= size_of(FIELD(FIELD(want, "resources"), "requests"));
}

/* One meant for the claim, else the smallest. */
static jv best_volume(struct arena *a, const struct claim_seen *seen)
{
    jv best = JV_ABSENT;

    for (size_t i = 0; i < seen->n_others; i++) {
        jv v = seen->others[i];
        if (!would_do(a, v, seen->claim))
            continue;
        if (!jv_is_null(FIELD(FIELD(v, "spec"), "claimRef")))
            return v;
        if (!jv_exists(best) || size_of(FIELD(FIELD(v, "spec"), "capacity")) <
                                    size_of(FIELD(FIELD(best, "spec"), "capacity")))
            best = v;
    }
    return best;
}

/* ---- a new one */

static jv node_affinity(struct arena *a, jv node)
{
    str host = jv_str(jv_get(meta_labels(node), S("kubernetes.io/hostname")), S(""));
    jv expr =
        jobj(a, { "key", host.n ? jstrz(a, "kubernetes.io/hostname") : jstrz(a, "metadata.name") },
             { "operator", jstrz(a, "In") },
             { "values", jarr(a, jstr(a, host.n ? host : meta_name(node))) });
    jv term = jobj(a, { host.n ? "matchExpressions" : "matchFields", jarr(a, expr) });

    return jobj(a, { "required", jobj(a, { "nodeSelectorTerms", jarr(a, term) }) });
}

static jv claim_ref(struct arena *a, jv claim)
{
    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "PersistentVolumeClaim") },
                { "namespace", jstr(a, meta_namespace(claim)) },
                { "name", jstr(a, meta_name(claim)) }, { "uid", jstr(a, meta_uid(claim)) });
}

/* Its directory where people look for it: the claim's name, and the namespace of those that are
 * not in the usual one. */
static str own_name(struct arena *a, jv claim)
{
    str ns = meta_namespace(claim), name = meta_name(claim);

    return str_eqz(ns, "default")
               ? name
               : arena_printf(a, "%" PRI_STR "@%" PRI_STR, STR_ARG(name), STR_ARG(ns));
}

static jv new_volume(struct arena *a, const struct claim_seen *seen)
{
    jv want = FIELD(seen->claim, "spec");
    str name = claim_volume_name(a, seen->claim);
    str path = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(seen->dir),
                            STR_ARG(seen->named ? own_name(a, seen->claim) : name));
    jv keep = FIELD(seen->cls, "reclaimPolicy");
    jv meta = jobj(a, { "name", jstr(a, name) },
                   { "annotations", jobj(a, { ANNOTATION_PROVISIONED, jstrz(a, LOCAL_PATH) }) });
    jv spec = jobj(
        a,
        { "capacity",
          jobj(a, { "storage", FIELD(FIELD(FIELD(want, "resources"), "requests"), "storage") }) },
        { "accessModes", FIELD(want, "accessModes") }, { "claimRef", claim_ref(a, seen->claim) },
        { "hostPath",
          jobj(a, { "path", jstr(a, path) }, { "type", jstrz(a, "DirectoryOrCreate") }) },
        { "persistentVolumeReclaimPolicy", jv_is_null(keep) ? jstrz(a, "Delete") : keep },
        { "storageClassName", FIELD(want, "storageClassName") },
        { "volumeMode", FIELD(want, "volumeMode") });

    if (jv_exists(seen->node))
        spec = jv_with(a, spec, node_affinity(a, seen->node), "nodeAffinity");
    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "PersistentVolume") },
                { "metadata", meta }, { "spec", spec });
}

static void plan_new_volume(struct plan *p, const struct claim_seen *seen)
{
    struct arena *a = p->a;
    str name = claim_volume_name(a, seen->claim);
    str cls = FIELD_STR(FIELD(seen->claim, "spec"), "storageClassName");

    if (!jv_exists(seen->cls) && cls.n) {
        str gone =
            arena_printf(a, "storageclass.storage.k8s.io \"%" PRI_STR "\" not found", STR_ARG(cls));
        if (seen->strict) {
            tell(p, true, S("ProvisioningFailed"), gone);
            return;
        }
        tell(p, false, S("UnknownStorageClass"), arena_cat(a, gone, S(": local-path serves it")));
    }
    if (claim_waits_for_consumer(seen) && !jv_exists(seen->node)) {
        tell(p, false, S("WaitForFirstConsumer"),
             S("waiting for first consumer to be created before binding"));
        return;
    }
    if (str_eqz(FIELD_STR(FIELD(seen->claim, "spec"), "volumeMode"), "Block")) {
        tell(p, true, S("ProvisioningFailed"),
             S("local-path makes directories, not block devices: volumeMode must be Filesystem"));
        return;
    }
    struct plan_step *s = plan_add(p, PLAN_CREATE, 0, &kube_volumes);
    s->name = name;
    s->obj = new_volume(a, seen);
    step_tell(
        p, s,
        (struct plan_note){
            .reason = S("ProvisioningSucceeded"),
            .message = arena_printf(a, "Successfully provisioned volume %" PRI_STR, STR_ARG(name)),
            .once = S("ProvisioningSucceeded") });
}

/* ---- both sides */

static void bind_both(struct plan *p, const struct claim_seen *seen, jv volume)
{
    struct arena *a = p->a;
    jv ref = FIELD(FIELD(volume, "spec"), "claimRef");

    if (!str_eq(FIELD_STR(ref, "uid"), meta_uid(seen->claim))) {
        jv seen_as = FIELD(meta_of(volume), "resourceVersion"); /* others may want it, too */
        patch(p, &kube_volumes, volume, STR_NONE,
              jobj(a, { "metadata", jobj(a, { "resourceVersion", seen_as }) },
                   { "spec", jobj(a, { "claimRef", claim_ref(a, seen->claim) }) }));
        return;
    }
    if (!FIELD_STR(FIELD(seen->claim, "spec"), "volumeName").n) {
        jv notes = jobj(a, { "pv.kubernetes.io/bind-completed", jstrz(a, "yes") },
                        { "pv.kubernetes.io/bound-by-controller", jstrz(a, "yes") });
        patch(p, &kube_claims, seen->claim, STR_NONE,
              jobj(a, { "metadata", jobj(a, { "annotations", notes }) },
                   { "spec", jobj(a, { "volumeName", jstr(a, meta_name(volume)) }) }));
        return;
    }
    if (!claim_is_bound(seen->claim))
        patch(
            p, &kube_claims, seen->claim, S("status"),
            jobj(a, { "status", jobj(a, { "phase", jstrz(a, "Bound") },
                                     { "accessModes", FIELD(FIELD(volume, "spec"), "accessModes") },
                                     { "capacity", FIELD(FIELD(volume, "spec"), "capacity") }) }));
}

static void lose(struct plan *p, const struct claim_seen *seen)
{
    struct arena *a = p->a;
    struct plan_step *s;

    if (!claim_is_bound(seen->claim))
        return; /* the volume it names may come yet */
    s = patch(p, &kube_claims, seen->claim, S("status"),
              jobj(a, { "status", jobj(a, { "phase", jstrz(a, "Lost") }) }));
    step_tell(p, s,
              (struct plan_note){ .warning = true,
                                  .reason = S("ClaimLost"),
                                  .message = S("Bound claim has lost its PersistentVolume. Data on "
                                               "the volume is lost!"),
                                  .once = S("ClaimLost") });
}

static jv without_finalizer(struct arena *a, jv obj, str finalizer)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, FIELD(meta_of(obj), "finalizers"))
        if (!str_eq(jv_str(it.value, S("")), finalizer))
            jb_push(&b, it.value);
    return jobj(
        a, { "metadata", jobj(a, { "finalizers", jb_done(&b) },
                              { "resourceVersion", FIELD(meta_of(obj), "resourceVersion") }) });
}

void claim_plan(struct plan *p, const struct claim_seen *seen)
{
    jv volume = seen->volume;

    if (meta_being_deleted(seen->claim)) {
        if (!seen->in_use && meta_has_finalizer(seen->claim, S(FINALIZER_CLAIM)))
            patch(p, &kube_claims, seen->claim, STR_NONE,
                  without_finalizer(p->a, seen->claim, S(FINALIZER_CLAIM)));
        return;
    }
    if (!jv_exists(volume) && !FIELD_STR(FIELD(seen->claim, "spec"), "volumeName").n)
        volume = best_volume(p->a, seen);
    if (jv_exists(volume)) {
        jv ref = FIELD(FIELD(volume, "spec"), "claimRef");
        if (jv_is_null(ref) || is_for(volume, seen->claim))
            bind_both(p, seen, volume);
        else
            tell(p, true, S("FailedBinding"),
                 arena_printf(p->a, "volume \"%" PRI_STR "\" already bound to a different claim.",
                              STR_ARG(meta_name(volume))));
    } else if (FIELD_STR(FIELD(seen->claim, "spec"), "volumeName").n) {
        lose(p, seen);
    } else if (jv_is(FIELD(FIELD(seen->claim, "spec"), "storageClassName"), JV_STR) &&
               !FIELD_STR(FIELD(seen->claim, "spec"), "storageClassName").n) {
        tell(p, false, S("FailedBinding"),
             S("no persistent volumes available for this claim and no storage class is set"));
    } else {
        plan_new_volume(p, seen);
    }
}

/* ---- volumes */

str volume_own_path(jv volume, str dir)
{
    str path = FIELD_STR(FIELD(FIELD(volume, "spec"), "hostPath"), "path");
    jv by = jv_get(meta_annotations(volume), S(ANNOTATION_PROVISIONED));
    bool below = path.n == dir.n + 1 + meta_name(volume).n && str_starts(path, dir) &&
                 str_ends(path, meta_name(volume)) && path.p[dir.n] == '/';

    return below && str_eqz(jv_str(by, S("")), LOCAL_PATH) ? path : STR_NONE;
}

static void set_phase(struct plan *p, jv volume, const char *phase)
{
    struct arena *a = p->a;

    if (!str_eqz(FIELD_STR(FIELD(volume, "status"), "phase"), phase))
        patch(p, &kube_volumes, volume, S("status"),
              jobj(a, { "status", jobj(a, { "phase", jstr(a, str_of(phase)) }) }));
}

bool volume_plan(struct plan *p, const struct volume_seen *seen)
{
    jv v = seen->volume, ref = FIELD(FIELD(v, "spec"), "claimRef");
    bool wants = jv_exists(seen->claim) &&
                 (!FIELD_STR(ref, "uid").n || str_eq(FIELD_STR(ref, "uid"), meta_uid(seen->claim)));
    bool is_bound = wants && FIELD_STR(ref, "uid").n &&
                    str_eq(FIELD_STR(FIELD(seen->claim, "spec"), "volumeName"), meta_name(v));

    if (meta_being_deleted(v)) {
        if (!wants && meta_has_finalizer(v, S(FINALIZER_VOLUME)))
            patch(p, &kube_volumes, v, STR_NONE, without_finalizer(p->a, v, S(FINALIZER_VOLUME)));
        return false;
    }
    if (jv_is_null(ref) || (!FIELD_STR(ref, "uid").n && !is_bound)) {
        set_phase(p, v, "Available");
    } else if (is_bound) {
        set_phase(p, v, "Bound");
    } else if (!wants) {
        bool goes =
            str_eqz(FIELD_STR(FIELD(v, "spec"), "persistentVolumeReclaimPolicy"), "Delete") &&
            volume_own_path(v, seen->dir).n;
        set_phase(p, v, "Released");
        if (goes && !p->n_steps) {
            struct plan_step *s = plan_add(p, PLAN_DELETE, 0, &kube_volumes);
            s->name = meta_name(v);
            s->uid = meta_uid(v);
            return true;
        }
    }
    return false;
}
