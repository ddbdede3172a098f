/* Amounts such as "100m" or "1.5Gi", parsed, compared and printed as Kubernetes does
 * (resource.Quantity): the way an amount was written decides how it is printed. Exact; rounded up
 * only below 10^-9. Up to 38 digits and LIMIT_QUANTITY_BYTES of text. */
#pragma once

#include "base/err.h"
#include "base/json.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_EXPONENT };

struct quantity { /* value times 10^scale */
    __int128 value;
    int32_t scale;
    enum quantity_format format;
    str text; /* borrowed from what was parsed if it is printed as it was written, else STR_NONE */
};

/* Errors are in Kubernetes' words. */
int quantity_parse(str s, struct quantity *out, struct err *e);
/* As Go decodes JSON into a Quantity: text (space around it is fine), a number, or null for 0. */
int quantity_from_json(struct arena *a, jv v, struct quantity *out, struct err *e);
struct quantity quantity_of(int64_t value, enum quantity_format format);
struct quantity quantity_of_milli(int64_t milli, enum quantity_format format);

str quantity_text(struct arena *a, const struct quantity *q); /* canonical */

static inline int quantity_sign(const struct quantity *q)
{
    return q->value < 0 ? -1 : q->value > 0;
}
int quantity_cmp(const struct quantity *x, const struct quantity *y);
/* -1 when the sum no longer fits; *to then stays as it was. */
int quantity_add(struct quantity *to, const struct quantity *more);
int quantity_sub(struct quantity *from, const struct quantity *less);

/* Nothing finer than 10^scale is left: away from 0, as defaulting does with -3 to resource lists.
 */
void quantity_round_up(struct quantity *q, int scale);

/* Rounded away from 0; INT64_MAX or INT64_MIN when out of range. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli(const struct quantity *q);
double quantity_double(const struct quantity *q); /* about */
