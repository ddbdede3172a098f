/* struct kube_api inside our own server: the same handlers as over HTTP, asked without it. */
#pragma once

#include "api/api.h"
#include "kube/api.h"

/* component: who asks, "operator"; a string that stays. Its requests are those of the user
 * system:muster:COMPONENT, who may do everything, and writes of field manager "muster". */
struct kube_api *api_inproc_new(struct api *api, const char *component);
/* Cancels what is under way. Before api_free and store_close. */
void api_inproc_free(struct kube_api *api);
