/* Ephemeral storage as kubelet counts it, but for logs, which have limits of their own: files of
 * this machine that a container has changed, its /tmp, and its pod's emptyDirs. */

#include "node/storage.h"

#include "base/quantity.h"
#include "sys/tree.h"

static bool amount(struct arena *a, jv v, struct quantity *out)
{
    return !jv_is_null(v) && quantity_from_json(a, v, out, NULL) == 0;
}

static jv limit_of(jv container)
{
    return jv_at(container, "resources", "limits", "ephemeral-storage");
}

static bool is_on_disk(jv volume)
{
    jv empty = jv_at(volume, "emptyDir");

    return jv_is(empty, JV_OBJ) && !str_eqz(jv_str(jv_at(empty, "medium"), S("")), "Memory");
}

bool storage_is_limited(jv pod)
{
    JV_EACH (it, jv_at(pod, "spec", "containers"))
        if (!jv_is_null(limit_of(it.value)))
            return true;
    JV_EACH (it, jv_at(pod, "spec", "volumes"))
        if (is_on_disk(it.value) && !jv_is_null(jv_at(it.value, "emptyDir", "sizeLimit")))
            return true;
    return false;
}

static int64_t bytes_in(struct arena *a, const char *dir, const char *place, str name)
{
    return tree_bytes(arena_printf(a, "%s/%s/%" PRI_STR, dir, place, STR_ARG(name)).p);
}

jv storage_measure(struct arena *a, jv pod, const char *dir)
{
    struct jbuild boxes = jb_obj(a), volumes = jb_obj(a);

    JV_EACH (it, jv_at(pod, "spec", "containers")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        jb_set(&boxes, name,
               jint(a, bytes_in(a, dir, "over", name) + bytes_in(a, dir, "tmp", name)));
    }
    JV_EACH (it, jv_at(pod, "spec", "volumes")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        if (is_on_disk(it.value))
            jb_set(&volumes, name, jint(a, bytes_in(a, dir, "volumes", name)));
    }
    return jobj(a, { "containers", jb_done(&boxes) }, { "volumes", jb_done(&volumes) });
}

static str volume_exceeded(struct arena *a, jv pod, jv use)
{
    JV_EACH (it, jv_at(pod, "spec", "volumes")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        struct quantity most;
        if (!is_on_disk(it.value) || !amount(a, jv_at(it.value, "emptyDir", "sizeLimit"), &most) ||
            quantity_value(&most) <= 0 ||
            jv_int(jv_get(jv_at(use, "volumes"), name), 0) <= quantity_value(&most))
            continue;
        return arena_printf(
            a, "Usage of EmptyDir volume \"%" PRI_STR "\" exceeds the limit \"%" PRI_STR "\". ",
            STR_ARG(name), STR_ARG(quantity_text(a, &most)));
    }
    return STR_NONE;
}

static int64_t total(jv numbers)
{
    int64_t sum = 0;

    JV_EACH (it, numbers)
        sum += jv_int(it.value, 0);
    return sum;
}

str storage_exceeded(struct arena *a, jv pod, jv use)
{
    str volume = volume_exceeded(a, pod, use), container = STR_NONE;
    struct quantity sum = quantity_of(0, QUANTITY_BINARY_SI), most;

    if (volume.n)
        return volume;
    JV_EACH (it, jv_at(pod, "spec", "containers")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        if (!amount(a, limit_of(it.value), &most))
            continue;
        quantity_add(&sum, &most);
        if (!container.n &&
            jv_int(jv_get(jv_at(use, "containers"), name), 0) > quantity_value(&most))
            container =
                arena_printf(a,
                             "Container %" PRI_STR
                             " exceeded its local ephemeral storage limit \"%" PRI_STR "\". ",
                             STR_ARG(name), STR_ARG(quantity_text(a, &most)));
    }
    if (quantity_sign(&sum) > 0 &&
        total(jv_at(use, "containers")) + total(jv_at(use, "volumes")) > quantity_value(&sum))
        return arena_printf(a,
                            "Pod ephemeral local storage usage exceeds the total limit of "
                            "containers %" PRI_STR ". ",
                            STR_ARG(quantity_text(a, &sum)));
    return container;
}
