/* Names and answers of registries, and credentials for them. Pure. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "image/digest.h"

struct image_ref {
    str host;       /* with its port; of the registry's API */
    str repository; /* team/app */
    str tag;        /* latest, unless it says otherwise; or its digest, sha256:HEX */
    str name;       /* what the image is to be called here: the short name, with its tag */
    str auth_host;  /* what config.json calls the registry */
    bool loopback;  /* this machine: plain HTTP is fine */
};

int image_ref_parse(struct arena *a, const char *text, struct image_ref *out, struct err *e);

/* scheme://host[:port] of an https URL, or an http URL of this machine. Others are refused. */
int image_url_check(struct arena *a, str url, str *origin, bool *loopback, struct err *e);

/* WWW-Authenticate. */
struct image_challenge {
    bool bearer;
    bool basic;
    str realm; /* of bearer */
    str service;
    str scope;
};
void image_challenge_parse(struct arena *a, str header, struct image_challenge *out);

/* What ~/.docker/config.json says of a registry. */
struct image_login {
    str basic;          /* base64 of user:password; empty: none */
    str helper;         /* a credential helper that would know; empty: none */
    str identity_token; /* buys tokens; empty: none */
};
int image_login_find(struct arena *a, str config, const struct image_ref *ref,
                     struct image_login *out, struct err *e);
