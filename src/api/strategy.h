/* What happens to every object on its way in: system fields, defaults, checks. Pure but for uids.
 */
#pragma once

#include "api/request.h"
#include "kube/managed.h"

struct write_ctx {
    struct arena *a;
    struct api *api;
    const struct resource *res;
    str sub;         /* subresource written through; empty: the object itself */
    str manager;     /* for managedFields; empty: none are kept (our own controllers) */
    bool is_apply;   /* managedFields are already done */
    jv sent_managed; /* as the body has them */
    int64_t now_ms;
};

/* A new object in two steps, with admission between them. First: name made, system fields set,
 * defaults, managedFields. Then: prepared and checked. */
jv strategy_fill(const struct write_ctx *w, str ns, jv obj);
jv strategy_create(const struct write_ctx *w, jv obj, struct problems *ps);
/* A changed one. */
jv strategy_update(const struct write_ctx *w, jv obj, jv old, struct problems *ps);
struct managed_write managed_write_of(const struct write_ctx *w);
jv time_value(struct arena *a, int64_t now_ms);
