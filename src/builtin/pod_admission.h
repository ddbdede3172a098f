/* What the caller must look up before a pod is created, and the bodies of its subresources. */
#pragma once

#include "base/err.h"
#include "builtin/kind.h"

/* The pod with priority and preemption policy of its PriorityClass. class: the object its
 * priorityClassName names, or if it names none the one with globalDefault, or absent if there is
 * none. ERR_FORBIDDEN when the pod says otherwise itself. A class that is named but not there is
 * the caller's `no PriorityClass with name NAME was found`. */
int pod_resolve_priority(struct arena *a, jv pod, jv class, jv *out, struct err *e);

/* The pod with the overhead, node selector and tolerations of its RuntimeClass; absent: it names
 * none. ERR_FORBIDDEN when the pod says otherwise itself. */
int pod_apply_runtime_class(struct arena *a, jv pod, jv class, jv *out, struct err *e);

void binding_check(struct problems *ps, jv binding);
/* The pod bound to a node; or why not, in kube-apiserver's words: it is another by its uid, is
 * being deleted, has a node, or is gated. */
str pod_bind(const struct kind_ctx *c, jv pod, jv binding, jv *out);
/* For the ephemeralcontainers subresource: only additions. validate has run. */
void pod_ephemeral_check(struct problems *ps, jv obj, jv old);
void pod_resize_check(struct problems *ps, jv obj);
