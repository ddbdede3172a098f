/* Tokens of service accounts: JWTs that this server alone signs and checks (HMAC with SHA-256, by a
 * key in the data directory). The functions are pure. */
#pragma once

#include "api/request.h"

#define TOKENS_ISSUER "https://kubernetes.default.svc.cluster.local"

str token_sign(struct arena *a, str key, jv claims);
/* The claims of one that we signed and whose time is now; absent: it is none. */
jv token_read(struct arena *a, str key, str token, int64_t now_s);

/* Whose token it is: the account is still there, and so is the pod it is bound to. */
bool token_user(struct api *api, struct arena *a, str token, struct api_user *out);
/* POST serviceaccounts/NAME/token */
void token_request_run(struct api_req *r);
