/* struct kube_api inside our own server: the same handlers as over HTTP, asked without it. */
#pragma once

#include "api/api.h"
#include "kube/api.h"

/* component: who asks, for logs and the client's name: "operator"; a string that stays. Requests
 * are those of that user, in that group (NULL: none), and are authorised as any; writes are of
 * field manager "muster". user is copied, group stays. */
struct kube_api *api_inproc_new(struct api *api, const char *component, const char *user,
                                const char *group);
/* Cancels what is under way. Before api_free and store_close. */
void api_inproc_free(struct kube_api *api);
