/* What a kube-apiserver was recorded to say, by resource. */
#pragma once

#include "builtin/kind.h"
#include "slurp.h"

/* "apps/v1/deployments" */
static const struct builtin_kind *kind_of(str resource)
{
    str group = str_cut(&resource, '/');
    str version = str_cut(&resource, '/');

    return builtin_find(group, version, resource);
}
