/* A job as the common core sees it: its spec read once, with defaults applied in memory, and what
 * a pass finds out on the way. Nothing here is ever written back but through a plan. */
#pragma once

#include "kube/meta.h"
#include "plan/plan.h"

struct job_kind;
struct role_row;

enum { MANY_TYPES = 64, MANY_REPLICAS = 100000 }; /* a job may ask for, in all */

enum restart_policy { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS, RESTART_EXIT_CODE };
enum clean_policy { CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL };

/* What a pod is to its job. Only those from POD_DONE on hold an index of their own. */
enum pod_class {
    CLASS_FOREIGN,     /* another's, of a type not in spec, or without an index */
    CLASS_SURPLUS,     /* beyond the replicas asked for */
    CLASS_TWIN,        /* shares its index with another: neither counts, nothing is done */
    CLASS_LEAVING,     /* holds its index until it is gone, and counts nowhere */
    CLASS_OUTDATED,    /* of a time before the whole job was restarted; to be deleted */
    CLASS_DONE,        /* succeeded */
    CLASS_RESTARTABLE, /* failed; to be deleted and made again */
    CLASS_WAITING,     /* failed; made again, but not in this pass */
    CLASS_PERMANENT,   /* failed for good */
    CLASS_BROKEN,      /* failed, and the spec does not say what then: it is invalid */
    CLASS_ACTIVE,
    CLASS_PENDING,
};

struct job_role {
    str type;                   /* "Worker": the key of status.replicaStatuses */
    str label;                  /* "worker": in names, labels and cluster specs */
    str key;                    /* as spec has it */
    const struct role_row *row; /* NULL: not a known type */
    jv spec;                    /* the replica spec */
    jv template;                /* its pod template, with the default port */
    jv main;                    /* the main container in there, or absent */
    int64_t replicas;           /* 0 when not known */
    bool replicas_known;        /* false: what spec says makes no sense */
    enum restart_policy policy;
    bool policy_known;
    int64_t active, succeeded, failed; /* counted by job_classify */
    int64_t n_permanent, n_restartable;
};

enum restart_cause { RESTART_BY_FAILURE, RESTART_BY_GANG };

/* The last restart of the whole job: whole_restart.h. */
struct job_attempt {
    int64_t n;      /* how many there were; pods with a lower number are to go */
    int64_t at_ms;  /* when it began; -1: none since startTime */
    int64_t streak; /* those before it that followed each other closely */
    int64_t gangs;  /* of all since startTime, those because the gang was broken */
    enum restart_cause cause;
    str why;
    size_t n_old; /* pods of earlier attempts that are still there */
};

struct job {
    struct arena *a;
    const struct job_kind *kind;
    const struct observed *seen;
    jv obj;
    jv spec;
    jv policy; /* spec.runPolicy */
    jv status; /* as it will be; starts as it is */
    str name;
    str ns;
    str uid;
    str now; /* RFC 3339 */
    jv owner;
    struct job_role *roles; /* in type order */
    size_t n_roles;
    enum pod_class *classes; /* of seen->pods; by job_classify */
    bool first_is_done;      /* the pod at index 0 of the leading type ended with 0 */
    bool is_stalled;         /* all that runs of it makes no progress */
    bool is_replacing;       /* a failed pod is on its way out */
    int64_t kubelet_restarts;
    struct job_attempt attempt;
    bool is_held;        /* no pod is made: its gang scheduler has not let it in */
    bool is_gang_broken; /* it lacked members for too long */
    str group;           /* PodGroup of the pods of this plan; empty: none */
    bool is_prepared;
    const void *kept;          /* the kind's own, from prepare to pod_spec */
    struct plan_note notes[8]; /* told when the status is written */
    size_t n_notes;
};

/* Reads obj; seen may be NULL (admission). */
struct job *job_read(struct arena *a, const struct job_kind *kind, jv obj,
                     const struct observed *seen);
/* defaults.c: the roles in type order, everything defaulted. */
void job_read_roles(struct job *j);

struct job_role *job_role_find(const struct job *j, str label);
/* The type that decides success and Running, NULL: none. */
const struct job_role *job_leader(const struct job *j);
/* Whose logs are shown when nobody says whose: every pod of the leading type, of workers the first.
 */
bool job_leads(const struct job *j, const struct job_role *r); /* that one, or beside it */
bool job_is_master(const struct job *j, const struct job_role *r, int64_t index);
/* Of the port so named in the main container, else the kind's. */
int64_t job_port(const struct job *j, const struct job_role *r);
enum clean_policy job_clean_policy(const struct job *j);
bool job_suspended(const struct job *j); /* asked for in spec */
bool job_is_mine(const struct job *j);   /* managedBy names us, or nobody */
int64_t job_total(const struct job *j);  /* replicas of all types */
bool job_has_started(const struct job *j);
/* Milliseconds since 1970, -1: absent or no time. */
int64_t job_time(jv v);
void job_note(struct job *j, struct plan_note note);     /* told when the status is written */
str job_reason(const struct job *j, const char *suffix); /* "TFJobRunning" */
bool restart_policy_read(str text, enum restart_policy *out);

/* identity.c: names, labels and owner of what a job makes. */
str job_child_name(struct arena *a, const struct job *j, const struct job_role *r, int64_t index);
jv job_child_labels(struct arena *a, const struct job *j, const struct job_role *r, int64_t index);
jv job_owner_ref(struct arena *a, const struct job *j);
/* A container with more environment, after what the user wrote. */
jv job_container_with_env(struct arena *a, jv container, const jv *env, size_t n);
