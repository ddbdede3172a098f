/* Sources of volumes, of pods and of PersistentVolumes alike. */
#pragma once

#include "builtin/check.h"

struct volume_source {
    const char *name;
    const char *reported; /* the path problems within are at; NULL: name */
    const char *required; /* "server,path": members that must not be empty */
    void (*check)(struct problems *ps, const struct path *p, jv source); /* NULL: nothing else */
};

/* Exactly one of the sources, and what is wrong with it. Gives how many there are. */
unsigned volume_source_check(struct problems *ps, const struct path *p, jv volume,
                             const struct volume_source *sources, size_t n);
extern const struct volume_source pod_volume_sources[];
extern const size_t pod_volume_sources_n;
extern const struct volume_source pv_sources[];
extern const size_t pv_sources_n;

void csi_driver_name_check(struct problems *ps, const struct path *p, str name);
