/* A definition whose schemas are compiled when first needed: discovery, lists and watches of a kind
 * do without, and a server has kinds that nobody uses. */
#pragma once

#include "crd/crd.h"
#include "store/value.h"

struct definition;

struct definition *definition_new(struct value *stored); /* keeps a reference */
struct definition *definition_ref(struct definition *d);
void definition_unref(struct definition *d);
const struct crd *definition_crd(struct definition *d); /* with schemas; lives as long as d */
