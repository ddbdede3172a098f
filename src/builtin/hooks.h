/* The hooks that rows of kinds.c name. Each kind has a file (pod.c, service.c ...) whose functions
 * are called KIND_WHAT: pod_defaults, pod_validate_update. One line a hook, by kind. */
#pragma once

#include "builtin/kind.h"

#define HOOK_CHECK_NAME(f) void f(struct problems *ps, const struct path *p, str name, bool prefix)
#define HOOK_DEFAULTS(f)   jv f(const struct kind_ctx *c, jv obj)
#define HOOK_PREPARE(f)    jv f(const struct kind_ctx *c, jv obj, jv old)
#define HOOK_VALIDATE(f)   void f(const struct kind_ctx *c, struct problems *ps, jv obj)
#define HOOK_VALIDATE_UPDATE(f) \
    void f(const struct kind_ctx *c, struct problems *ps, jv obj, jv old)
#define HOOK_VALIDATE_STATUS(f) \
    void f(const struct kind_ctx *c, struct problems *ps, jv obj, jv old)
#define HOOK_CELLS(f) jv f(const struct kind_ctx *c, jv obj)
