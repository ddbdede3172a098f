/* What a pod's security settings come to on this node: each is honoured, or the pod is refused. */
#pragma once

#include "base/json.h"

enum confine_place {
    CONFINE_NAMESPACES_ROOT,
    CONFINE_NAMESPACES_USER,
    CONFINE_SHARED_ROOT,
    CONFINE_SHARED_USER,
    CONFINE_PLACES
};

/* Pure. How a pod that this place cannot run as asked fails: kubelet's reason, and a message that
 * names the field. reason.n == 0: it can. */
struct confine_refusal {
    str reason;
    str message;
};

struct confine_refusal confine_check(struct arena *a, jv pod, enum confine_place place);
/* Members of a container's start: caps, ambient, no_new_privs, unconfined, read_only, unmasked,
 * privileged. */
jv confine_start(struct arena *a, jv pod, jv container, enum confine_place place);
/* ["net/ipv4/tcp_syncookies=0"]; absent: none. */
jv confine_sysctls(struct arena *a, jv pod);
/* The container's own field of its security context, else the pod's. */
jv confine_field(jv pod, jv container, const char *field);
bool confine_is_privileged(jv container);
