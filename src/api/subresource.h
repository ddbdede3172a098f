/* What hangs below an object: status, scale, binding, log ... */
#pragma once

#include "api/update.h"

bool subresource_exists(const struct resource *res, str sub);
void subresource_run(struct api_req *r);

/* scale.c */
void scale_run(struct api_req *r);
/* pods.c */
void bind_pod(struct api_req *r, str pod, jv binding);
void bind_conflict(struct api_req *r, str pod, str why); /* answers 409 */
void answer_created(struct api_req *r);                  /* answers 201, with a Status */
/* bind_all.c. A POST of several bindings; false: it is something else. */
bool bind_all_run(struct api_req *r);
void pod_binding_run(struct api_req *r);
void pod_eviction_run(struct api_req *r);
/* pod_log.c */
void pod_log_run(struct api_req *r);
/* The container that is meant; empty: it was answered. */
str pod_container(struct api_req *r, jv pod, str given);
/* The pod as stored; -1: there is none, and it is answered. */
int pod_stored(struct api_req *r, jv *out);
/* pod_exec.c: attach too */
void pod_exec_run(struct api_req *r);
/* pod_forward.c */
void pod_forward_run(struct api_req *r);
/* pod_wait.c: run(r), at once or when the node knows whether the pod runs, if it soon does. */
void pod_when_found(struct api_req *r, void (*run)(struct api_req *r));
void pod_waits_stop(struct api *api); /* goes on with them all */
/* 501, or 404 where there is no such pod. */
void subresource_no_runtime(struct api_req *r);
/* The body of an apply, checked together with its options. 0, or -1 and answered. */
int patch_apply_body(struct api_req *r, jv *out);
/* What applying body to live gives (absent: answered); live absent: a new object. */
jv patch_apply(struct api_req *r, struct arena *a, jv live, jv body);
