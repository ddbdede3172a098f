/* A kubeconfig for whoever started the server. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* With the CA, the client certificate and key of dir/pki inside, so that the file alone suffices.
 */
int kubeconfig_text(struct arena *a, const char *dir, const char *server, str *out, struct err *e);
