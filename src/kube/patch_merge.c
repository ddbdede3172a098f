/* JSON Merge Patch, sharing with the document whatever the patch does not touch. */

#include "kube/patch_merge.h"
#include "kube/goprint.h"
#include "kube/members.h"

jv patch_without_nulls(struct arena *a, jv v)
{
    bool is_obj = jv_is(v, JV_OBJ);
    bool changed = false;

    if (!is_obj && !jv_is(v, JV_ARR))
        return v;
    struct jbuild b = is_obj ? jb_obj(a) : jb_arr(a);
    JV_EACH (it, v) {
        jv kept = is_obj && jv_is_null(it.value) ? JV_ABSENT : patch_without_nulls(a, it.value);
        changed = changed || kept.node != it.value.node;
        if (is_obj)
            jb_add(&b, it.key, kept);
        else
            jb_push(&b, kept);
    }
    return changed ? jb_done(&b) : v;
}

static jv merge(struct arena *a, jv doc, jv patch)
{
    if (!jv_is(patch, JV_OBJ))
        return jv_is(doc, JV_OBJ) ? patch : patch_without_nulls(a, patch);
    if (!jv_is(doc, JV_OBJ))
        return patch_without_nulls(a, patch);

    struct members mine = members_of(a, doc);
    struct members theirs = members_of(a, patch);
    struct jbuild b = jb_obj(a);
    JV_EACH (it, doc) {
        jv change = members_get(&theirs, it.key);
        if (!jv_exists(change))
            jb_add(&b, it.key, it.value);
        else if (!jv_is_null(change))
            jb_add(&b, it.key, merge(a, it.value, change));
    }
    JV_EACH (it, patch)
        if (!jv_is_null(it.value) && !jv_exists(members_get(&mine, it.key)))
            jb_add(&b, it.key, patch_without_nulls(a, it.value));
    return jb_done(&b);
}

jv patch_merge(struct arena *a, jv doc, jv patch, struct err *e)
{
    if (jv_is_null(patch)) {
        err_set(e, ERR_BAD_REQUEST, "Invalid JSON Patch");
        return JV_ABSENT;
    }
    if (!jv_is(patch, JV_OBJ)) {
        err_set(e, ERR_BAD_REQUEST,
                "error decoding patch: json: cannot unmarshal %s into Go value of type "
                "map[string]interface {}",
                goprint_json_kind(patch));
        return JV_ABSENT;
    }
    return merge(a, doc, patch);
}
