/* What a planner sees of the cluster: the job whole, its pods and services as the few facts that
 * decisions read. ctl/ fills it from its caches; tests from YAML. */
#pragma once

#include "kube/api.h"
#include "kube/protobuf.h"

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

/* A container that waits or ended badly, or a condition that does not hold: told once as an event
 * on the job. */
struct seen_trouble {
    str reason;
    str message; /* whole, as the event says it */
};

struct seen_pod {
    str name;
    str uid;
    str owner;     /* uid of its controller; empty: none */
    str role;      /* label replica-type */
    str reason;    /* status.reason of one that failed: "Evicted"; of one that is stalled, since
                      when and where it waits */
    int64_t index; /* label replica-index; -1: missing, negative or no number */
    enum pod_phase phase;
    bool leaving;      /* has a deletionTimestamp, or we have asked for its deletion */
    bool disrupted;    /* condition DisruptionTarget is True */
    bool ready;        /* condition Ready is True */
    bool bound;        /* it has a node */
    bool stalled;      /* it runs, and condition muster.dev/Stalled is True */
    bool has_exit;     /* the main container is terminated ... */
    int64_t exit_code; /* ... with this code: the last such in containerStatuses */
    str container_id;  /* of that one */
    int64_t ended_s;   /* when it was, since 1970; 0: unknown */
    int64_t restarts;  /* of all containers, init containers too */
    int64_t attempt;   /* label restart-attempt; 0: missing or no such number */
    const struct seen_trouble *troubles; /* at most 4 */
    size_t n_troubles;
};

struct seen_service {
    str name;
    str uid;
    str owner; /* uid of its controller; empty: none, which is to be adopted */
    str role;
    int64_t index;
    bool leaving;
};

/* Anything else that belongs to a job: PodGroup, ConfigMap, HPA ... whole. */
struct seen_object {
    const struct kube_resource *res;
    jv obj;
};

/* A PriorityClass. */
struct seen_class {
    str name;
    int64_t value;
};

/* GANG_KUBE: Kubernetes' own PodGroups, of scheduling.k8s.io. */
enum gang_mode { GANG_OFF, GANG_VOLCANO, GANG_PLUGINS, GANG_KUBE };

struct plan_settings { /* of the operator, from its flags */
    str cluster_domain;
    enum gang_mode gang;
    str gang_scheduler;        /* that pods name; empty: the cluster's default */
    int64_t gang_hold_ms;      /* how long a job may run with too few of its gang */
    int64_t gang_max_restarts; /* of such a job; -1: no limit */
    bool legacy_labels;
    str pytorch_init_image;    /* empty: the job's own */
    str pytorch_init_template; /* YAML of a list of containers; empty: none */
    int64_t pytorch_init_tries;
    /* How launchers of MPIJobs get the program that reaches their workers: kubectl from this image;
     * else muster at this path, of a machine they share with us; else muster from its own image. */
    str mpi_kubectl_image;
    str agent_path;
    str agent_image; /* empty: "muster" */
};

struct observed {
    const struct plan_settings *settings;
    int64_t now_ms; /* since 1970 */
    jv job;         /* as the server has it: with apiVersion, kind, metadata, spec, status */
    const struct seen_pod *pods; /* sorted by role, index, name */
    size_t n_pods;
    const struct seen_service *services; /* sorted alike */
    size_t n_services;
    const struct seen_object *others;
    size_t n_others;
    const struct seen_class *classes;
    size_t n_classes;
    bool lacks_needed;         /* the server does not serve one of ctl_opts.needed */
    int64_t short_since_ms;    /* since when plans are gang_short; 0: the last was not */
    int64_t status_written_ms; /* when its status was last written by us; 0: not in this life */
};

/* Reading them off whole objects. main: name of the main container, NULL: the first. Texts live
 * in a. */
struct seen_pod seen_pod_read(struct arena *a, jv pod, const char *main);
struct seen_service seen_service_read(struct arena *a, jv service);

/* ---- observed_wire.c: as much of the objects as these read, to decode protobuf by */
extern const struct schema seen_pod_type, seen_service_type;
extern const struct wire seen_wire;
