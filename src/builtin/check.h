/* Small words for writing validation down: fields, enums, ranges. */
#pragma once

#include "base/map.h"
#include "kube/meta.h"
#include "kube/names.h"
#include "kube/problem.h"

#define FIELD(v, lit)      jv_get((v), S(lit))
#define FIELD_STR(v, lit)  jv_str(jv_get((v), S(lit)), S(""))
#define FIELD_INT(v, lit)  jv_int(jv_get((v), S(lit)), 0)
#define FIELD_BOOL(v, lit) jv_bool(jv_get((v), S(lit)), false)

bool one_of(str s, const char *const *allowed);
/* Unsupported value unless one of allowed; "" or absent is unsupported too. Gives whether fine. */
bool enum_check(struct problems *ps, const struct path *p, jv v, const char *const *allowed);
/* As enum_check, but "" or absent is Required. */
bool enum_required(struct problems *ps, const struct path *p, jv v, const char *const *allowed);
/* As enum_check, but absent is fine. */
void enum_optional(struct problems *ps, const struct path *p, jv v, const char *const *allowed);

void required_check(struct problems *ps, const struct path *p, jv v); /* "", [], absent */
void range_check(struct problems *ps, const struct path *p, jv v, int64_t lo, int64_t hi);
void positive_check(struct problems *ps, const struct path *p, jv v); /* "greater than zero" */
void port_check(struct problems *ps, const struct path *p, jv v);
void port_or_name_check(struct problems *ps, const struct path *p, jv v);
void too_long(struct problems *ps, const struct path *p, int64_t max);
void too_many(struct problems *ps, const struct path *p, size_t n, size_t max);
/* Required when empty, else the rule. */
void name_required(struct problems *ps, const struct path *p, str v, name_rule *rule);
/* "acme.io/foo" */
void domain_path_check(struct problems *ps, const struct path *p, jv v);
bool str_list_has(jv list, str s);
/* An object whose `field` equals s is among the first n elements of list. Bounded: looks back no
 * further than 512 elements, more than any list of a sane object has. Where users control long
 * lists, struct by_field finds all. */
bool seen_before(jv list, size_t n, str field, str s);

/* Elements of a list by one of their fields: hashed once the list is long. */
struct by_field {
    jv list;
    str field;
    struct map first; /* value to its place in indexes */
    size_t *indexes;
};
struct by_field by_field(jv list, str field);
void by_field_done(struct by_field *b);
static inline void by_field_auto(struct by_field *b)
{
    by_field_done(b);
}
int64_t by_first(struct by_field *b, str value);         /* index of the first one, or -1 */
bool by_before(struct by_field *b, size_t i, str value); /* there is one before i */
/* v as a JSON value to show: absent strings are shown as "". */
jv shown(struct arena *a, jv v);
/* Nothing but these members; each other one is Forbidden. allowed ends with NULL. */
void only_fields(struct problems *ps, const struct path *p, jv obj, const char *const *allowed);
