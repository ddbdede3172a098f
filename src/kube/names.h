/* What Kubernetes lets things be called, and the exact words when they are called otherwise.
 * The regular expressions of the texts are never run: the matchers are written by hand. */
#pragma once

#include "kube/problem.h"

/* Everything wrong with one value: static texts, n is 0 when it is fine. */
struct name_errors {
    const char *at[6];
    unsigned n;
};
typedef struct name_errors name_rule(str value);

name_rule name_dns1123_label;
name_rule name_dns1123_subdomain;
name_rule name_dns1123_subdomain_underscore;
name_rule name_dns1035_label;
name_rule name_wildcard_subdomain;
name_rule name_qualified; /* label keys, finalizers, resource names: "example.com/MyName" */
name_rule name_label_value;
name_rule name_c_identifier;
name_rule name_env_var;    /* printable ASCII but '=' */
name_rule name_port;       /* IANA service names */
name_rule name_config_key; /* keys of ConfigMaps and Secrets */
name_rule name_http_header;
name_rule name_percent;          /* "25%" */
name_rule name_path_segment;     /* what may stand in a URL: the loosest rule for metadata.name */
name_rule name_condition_reason; /* "ReasonA", without a limit of length */

/* Adds one Invalid a complaint. */
void name_check(struct problems *ps, const struct path *p, str value, name_rule *rule);
/* As name_check, but a list of texts goes into one problem, joined by `sep`. */
str name_join(struct arena *a, const struct name_errors *errs, const char *sep);

/* The rules for metadata.name; prefix: the value is a generateName, whose last '-' is fine. */
typedef void name_hook(struct problems *ps, const struct path *p, str name, bool prefix);
name_hook name_is_subdomain;
name_hook name_is_label;
name_hook name_is_1035_label;
name_hook name_is_path_segment;

str name_lower(struct arena *a, str s); /* ASCII only */
bool name_ok(str value, name_rule *rule);
bool port_in_range(int64_t port); /* 1 to 65535 */
