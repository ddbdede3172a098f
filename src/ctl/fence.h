/* A fence around a kube_api: reads go through, writes only while somebody says that we may. What
 * may not is never sent, and answered by us. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct fence;

struct fence *fence_new(struct loop *l, struct kube_api *inner, bool (*may_write)(void *ctx),
                        void *ctx);
struct kube_api *fence_api(struct fence *f);   /* lives as long as it */
uint64_t fence_refused(const struct fence *f); /* writes not sent */
void fence_free(struct fence *f); /* no callback follows for what it refused; NULL is fine */
