/* Pods and the templates of pods: what the pod_*.c files and the kinds with a template share. */
#pragma once

#include "builtin/check.h"
#include "builtin/edit.h"

/* ---- defaults */

jv pod_spec_defaults(struct arena *a, jv spec);     /* what templates get too */
jv pod_template_defaults(struct arena *a, jv tmpl); /* { metadata, spec } */
jv volume_defaults(struct arena *a, jv volume);
jv claim_spec_defaults(struct arena *a, jv spec);
jv resource_list_defaults(struct arena *a, jv list); /* no finer than a thousandth */

/* Containers of which a limit is given and no request ask for the limit. */
jv pod_spec_requests(struct arena *a, jv spec);
void pod_resources_defaults(struct edit *spec);
/* matchLabelKeys become part of the selectors they stand beside, with the pod's own values. */
void add_label_keys(struct edit *spec, jv labels);

/* ---- validation */

/* What the parts of a pod spec look at besides themselves. */
struct pod_seen {
    jv spec;
    jv meta;         /* of the pod; absent in templates */
    jv volumes;      /* spec.volumes ... */
    bool *volume_ok; /* ... and which of them are without problems */
    struct by_field *volume_names;
    struct by_field *container_names;
    struct by_field *init_names;
    jv claims;      /* spec.resourceClaims */
    int64_t grace;  /* terminationGracePeriodSeconds ... */
    bool has_grace; /* ... if set */
    str restart_policy;
    bool host_users;
    bool is_pod; /* not a template */
};

void pod_spec_check(struct problems *ps, const struct path *p, jv spec, jv meta, bool is_pod);
void pod_template_check(struct problems *ps, const struct path *p, jv tmpl);
void pod_annotations_check(struct problems *ps, const struct path *p, jv annotations, jv spec);

void volumes_check(struct problems *ps, const struct path *p, struct pod_seen *seen);
void mounts_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv container);
void devices_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv container);
void containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen);
void init_containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen);
void ephemeral_containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen);
void env_check(struct problems *ps, const struct path *p, jv env);
/* A text, or a list of them, that a program is to be given. */
void nul_check(struct problems *ps, const struct path *p, jv v);
void env_from_check(struct problems *ps, const struct path *p, jv env_from);
void field_ref_check(struct problems *ps, const struct path *p, jv ref, bool volume);
void resource_field_ref_check(struct problems *ps, const struct path *p, jv ref, bool volume);
enum probe_kind { PROBE_LIVENESS, PROBE_READINESS, PROBE_STARTUP };
void probe_check(struct problems *ps, const struct path *p, struct pod_seen *seen,
                 enum probe_kind kind, jv probe);
void lifecycle_check(struct problems *ps, const struct path *p, struct pod_seen *seen,
                     jv lifecycle);
void pod_resources_check(struct problems *ps, const struct path *p, jv spec);
void pod_security_check(struct problems *ps, const struct path *p, jv spec);
void container_security_check(struct problems *ps, const struct path *p, jv sc, bool host_users);
void affinity_check(struct problems *ps, const struct path *p, jv affinity);
void tolerations_check(struct problems *ps, const struct path *p, jv tolerations);
void spread_check(struct problems *ps, const struct path *p, jv constraints);
void node_selector_check(struct problems *ps, const struct path *p, jv selector);
void taint_effect_check(struct problems *ps, const struct path *p, jv effect, bool allow_empty);

/* A path below something, never "..": for subPath, items, seccomp profiles. */
void local_path_check(struct problems *ps, const struct path *p, str path);
void local_path_reserved_check(struct problems *ps, const struct path *p, str path);
void no_backsteps_check(struct problems *ps, const struct path *p, str path);
void pull_policy_check(struct problems *ps, const struct path *p, jv policy);
void claim_spec_check(struct problems *ps, const struct path *p, jv spec);

/* "Guaranteed", "Burstable" or "BestEffort". */
const char *pod_qos(struct arena *a, jv spec);
