/* The operator inside `muster up`: the definitions of jobs, their checks at admission, and the
 * controller over the API in the same process. */
#pragma once

#include "app/up_groups.h"

struct up_operator;

struct up_operator *up_operator_new(bool legacy_labels, const struct up_gang_opts *gang);
/* What the API has to know of jobs. */
void up_operator_describe(struct up_operator *u, struct api_opts *o);
/* What it may do; until it is started. */
const struct api_role *up_operator_role(const struct up_operator *u);
/* When the API is ready. */
void up_operator_start(struct up_operator *u, struct loop *l, struct api *api);
/* Once started. Then done(ctx), never from within: nothing is under way any more. Before api_stop.
 */
void up_operator_stop(struct up_operator *u, void (*done)(void *ctx), void *ctx);
void up_operator_free(struct up_operator *u); /* not between start and done; NULL is fine */
