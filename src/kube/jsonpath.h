/* JSONPath as kubectl and CRD printer columns use it (k8s.io/client-go/util/jsonpath), one
 * expression without templates: .a.b ['a'] [0] [-1] [0:3] [*] ..x [a,b] [?(@.type=="Ready")].status
 * and \. for a dot within a name. Compiled once, evaluated often. */
#pragma once

#include "base/json.h"

struct jsonpath;

struct jv_list {
    const jv *at;
    size_t n;
};

/* With or without braces around it. NULL where it is no path. Lives in a, borrows text. */
const struct jsonpath *jsonpath_compile(struct arena *a, str text);
/* What is not there is left out. -1: an index is out of bounds or unlike types are compared, which
 * client-go refuses, too, or there are too many results. */
int jsonpath_eval(const struct jsonpath *p, struct arena *a, jv root, struct jv_list *out);
/* One result as kubectl prints it: text bare, objects and lists as JSON. */
str jsonpath_print(struct arena *a, jv value);
