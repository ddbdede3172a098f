/* What the files that keep names share. */
#pragma once

#include "base/map.h"
#include "names/cluster.h"
#include "names/dns_zone.h"
#include "names/hosts_file.h"
#include "names/shared.h"

struct names_space { /* a namespace */
    struct names *k;
    char *name;
    bool dirty;
    struct arena *a;          /* of lines */
    struct names_lines lines; /* as they were worked out last */
    struct {
        VEC(char *);
    } early; /* shown since, before their time */
    struct jdoc *routes;
    struct dns_zone *zone;   /* of the lines; NULL: nobody asked since they changed */
    char *resolv;            /* text of its resolv.conf; NULL: not written yet */
    struct names_file *file; /* for pods that need none of their own; NULL: no pod yet */
    size_t users;            /* of it */
    struct names_seat *seats;
    size_t n_own;
};

struct names_seat { /* a pod's place in it: seat.c */
    struct names_seat *next;
    struct names_space *space;
    struct names_file *own; /* NULL: the namespace's */
    char ip[48];
};

struct names {
    struct names_opts o;
    char *dir;
    char *resolv;                /* text of the common resolv.conf, NULL: not written yet */
    struct names_shared *shared; /* NULL: pods have networks of their own */
    struct map spaces;           /* by name */
    struct loop_timer *timer;
    int64_t last_ms; /* end of the last round */
    int64_t cost_ms; /* and what it took */
    bool swept;      /* files of earlier lives are gone */
    struct dns *dns; /* NULL: nobody answers questions */
};

/* dns_server.c: answers questions of pods for names. NULL: the network has no place for it. */
struct dns *dns_new(struct names *k);
void dns_free(struct dns *d);

/* namespace.c */
struct names_space *names_space(struct names *k, str ns);
void names_space_free(struct names_space *s);
/* Works out what is new, for names_space_write to show. True: its routes are others now. */
bool names_space_refresh(struct names_space *s);
const struct dns_zone *names_space_zone(struct names_space *s);
void names_space_fill(struct names_space *own, struct names_file *f); /* a file as it is opened */
int names_space_write(struct names *k, struct err *e);                /* all files that differ */
