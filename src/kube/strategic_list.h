/* The list half of strategic merge patch; patch_strategic.c is the other. */
#pragma once

#include "kube/schema.h"

/* Merges one map over another: what lists do with elements of the same key. */
jv strategic_map(struct arena *a, const struct schema *s, jv doc, jv patch, struct err *e);

/* doc with patch merged in: lists of objects by list->patch_key, others as sets. */
jv strategic_list(struct arena *a, const struct schema *list, jv doc, jv patch, struct err *e);
/* The elements of doc that are not in gone. */
jv strategic_list_without(struct arena *a, jv doc, jv gone);
/* As strategic_list, then put in the order of $setElementOrder. doc or patch may be absent. */
jv strategic_list_ordered(struct arena *a, const struct schema *list, jv doc, jv patch, jv order,
                          struct err *e);
/* v without the elements and members that are directives; absent: v is one itself. */
jv strategic_plain(struct arena *a, jv v);
int strategic_bad_word(struct arena *a, jv patch, jv directive, struct err *e);
