/* Which files of this machine pods see and cannot change, at level namespaces. */
#pragma once

#include "base/json.h"
#include "node/warden.h"
#include "sandbox/probe.h"

/* Homes: those of people if we are root, our own if not. A list of paths, without links. */
jv up_files_homes(struct arena *a);
/* For node_opts: {disk, homes}. */
jv up_files_json(struct arena *a, const struct warden_ground *g);
/* The condition of the node that says how far it goes; and the log does, where it is not all the
 * way. */
jv up_files_condition(struct arena *a, const struct warden_ground *g);
jv up_files_shared(struct arena *a); /* at level shared: what is not kept apart there */
