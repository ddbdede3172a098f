/* The annotation in which kubectl apply, on the client's side, keeps what it applied. A later apply
 * on the server's side by kubectl must not conflict with that, and keeps the annotation right. */
#pragma once

#include "kube/fieldset.h"
#include "kube/managed.h"

/* The fields that the annotation of live sets and that still have those values. */
struct fieldset last_applied_fields(struct arena *a, const struct managed_write *w, jv live);
/* obj with its annotation, if it has one, saying config. */
jv last_applied_refresh(struct arena *a, jv obj, jv config);
