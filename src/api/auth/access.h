/* Who may do what: system:masters everything; anybody who is known may look at what is served, and
 * ask about themselves; the rest is in Roles and ClusterRoles, and who they are bound to. */
#pragma once

#include "api/request.h"

/* What somebody wants to do: with a resource, or else to a path. */
struct access {
    bool on_resource;
    str verb;
    str group;
    str resource;
    str sub;
    str ns;
    str name;
    str path;
};

/* impersonate.c: requests may be made in another's name (Impersonate-User and the like), by those
 * who may impersonate each of user, groups, uid and extra. False: answered. */
bool access_impersonate(struct api_req *r);
/* May r->user make this request? False: answered with 403. */
bool access_check(struct api_req *r);
/* The same of a request that turns out to need another right too: "create" for an apply or update
 * that finds nothing there. */
bool access_check_verb(struct api_req *r, str verb);

/* Answers 403. */
void access_forbid(struct api_req *r, const struct access *w);

/* By the rules of these groups, or by roles as they are stored. */
bool access_allowed(struct api *api, const struct api_user *who, const struct access *what);
/* The status of a SelfSubjectRulesReview for a namespace. */
jv access_rules(struct api_req *r, str ns);
