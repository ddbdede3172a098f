/* Objects of files into a cluster: in the order they need each other, all or none. */
#pragma once

#include "cli/runstate.h"

struct submit_object {
    jv obj;
    jv read;   /* as it is in the file, where obj has more; else absent */
    str where; /* "job.yaml:3:1" */
    /* filled */
    const struct kube_resource *res;
    str ns;
    str name;
    bool created; /* by us; else it was there */
    jv live;      /* as the server has it */
};

struct submit {
    struct session *s;
    struct submit_object *at;
    size_t n;
    bool make_namespaces; /* that the objects are in, and accounts that their pods name */
    bool ns_given;        /* the session's namespace is asked for, so others are wrong */
    const char *dir;      /* of a cluster that ends with us; NULL: the server stays */
    const char *there;    /* flags that find a server that stays; NULL: none are needed */
    bool elsewhere;       /* another cluster, with controllers of its own */
    const char **made;    /* namespaces made for want of them */
    size_t n_made;
};

/* Sorts, and says what cannot be: namespaces that differ, nothing that ends. -1: fine; else an exit
 * code, and why was said. Needs no server. */
int submit_check(struct submit *m);
/* -1: all is there; else an exit code, why was said, and what was created is deleted again. */
int submit_send(struct submit *m);
/* Deletes what was created, the last first; does not wait for it to be gone. */
void submit_undo(struct submit *m);

/* Whether an object is run to its end: a job, or a pod. */
bool submit_is_job(jv obj, const struct job_kind **kind);
