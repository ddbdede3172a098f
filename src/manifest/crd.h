/* The manifests that Muster brings along, made from the rows of the job kinds. */
#pragma once

#include "job/kinds.h"

/* The CustomResourceDefinition of a kind. */
jv manifest_crd(struct arena *a, const struct job_kind *k);
