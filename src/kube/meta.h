/* metadata: reading it, and the rules every object's metadata obeys. */
#pragma once

#include "kube/names.h"
#include "kube/problem.h"

/* ---- reading; absent gives the empty value */

static inline jv meta_of(jv obj)
{
    return jv_get(obj, S("metadata"));
}
static inline str meta_str(jv obj, str field)
{
    return jv_str(jv_get(meta_of(obj), field), S(""));
}
static inline str meta_name(jv obj)
{
    return meta_str(obj, S("name"));
}
static inline str meta_namespace(jv obj)
{
    return meta_str(obj, S("namespace"));
}
static inline str meta_uid(jv obj)
{
    return meta_str(obj, S("uid"));
}
static inline str meta_resource_version(jv obj)
{
    return meta_str(obj, S("resourceVersion"));
}
static inline jv meta_labels(jv obj)
{
    return jv_get(meta_of(obj), S("labels"));
}
static inline jv meta_annotations(jv obj)
{
    return jv_get(meta_of(obj), S("annotations"));
}
static inline bool meta_being_deleted(jv obj)
{
    return !jv_is_null(jv_get(meta_of(obj), S("deletionTimestamp")));
}
bool meta_has_finalizer(jv obj, str finalizer);
jv meta_controller(jv obj); /* the owner reference with controller: true, or absent */
/* The object with each owner reference once; the uids of those left out are added to twice, as
 * "a, b". */
jv meta_owners_once(struct arena *a, jv obj, struct buf *twice);
jv meta_condition(jv obj, str type); /* of status.conditions, or absent */
bool meta_condition_is(jv obj, str type, str status);

/* ---- rules. Problems are at metadata.…; check NULL means DNS-1123 subdomain. */

void meta_check(struct problems *ps, jv obj, bool namespaced, name_hook *check);
void meta_check_update(struct problems *ps, jv obj, jv old);

/* Parts that templates and selectors share. */
void labels_check(struct problems *ps, const struct path *p, jv labels);
void label_key_check(struct problems *ps, const struct path *p, str key);
void annotations_check(struct problems *ps, const struct path *p, jv annotations);
void label_selector_check(struct problems *ps, const struct path *p, jv selector);
/* Not nil, and "field is immutable" unless both mean the same. Gives whether it changed. */
bool immutable_check(struct problems *ps, const struct path *p, jv now, jv before);
void nonnegative_check(struct problems *ps, const struct path *p, jv value);
/* metav1.Condition, as EndpointSlices, PDBs and others carry them. */
void conditions_check(struct problems *ps, const struct path *p, jv conditions);
