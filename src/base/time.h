/* Times and durations as text: RFC 3339 as Go's time.Parse takes it, Go durations, ages for people.
 * Nothing here reads a clock. Errors are in Go's words. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { TIME_BYTES = 40 }; /* room for any time or duration text below and its NUL */

/* Years 0000 to 9999, microseconds since 1970; further digits of a fraction are dropped.
 * time_parse: metav1.Time; any fraction or none. time_parse_micro: metav1.MicroTime; exactly six
 * digits, as Kubernetes insists. */
int time_parse(str s, int64_t *us, struct err *e);
int time_parse_micro(str s, int64_t *us, struct err *e);

/* "2006-01-02T15:04:05Z": fractions are cut. Returns the length. */
size_t time_print(char out[TIME_BYTES], int64_t ms);
/* "2006-01-02T15:04:05.000000Z" */
size_t time_print_micro(char out[TIME_BYTES], int64_t us);
str time_text(struct arena *a, int64_t ms);
str time_text_micro(struct arena *a, int64_t us);

/* Go durations: "1h2m3.5s", "300ms", "-1.5h", "0". */
int duration_parse(str s, int64_t *ns, struct err *e);
size_t duration_print(char out[TIME_BYTES], int64_t ns);
str duration_text(struct arena *a, int64_t ns);

/* Seconds that somebody asks for, to be added to a time: 0 to SECONDS_MOST, 68 years, with which no
 * sum overflows and no time gets a year of five digits, which Go would not read. */
#define SECONDS_MOST INT32_MAX
static inline int64_t seconds_ms(int64_t s)
{
    return (int64_t)1000 * (s < 0 ? 0 : s < SECONDS_MOST ? s : SECONDS_MOST);
}

/* An age as kubectl shows it: "5s", "2m30s", "119m", "3h", "2d3h", "400d", "2y100d". */
size_t age_print(char out[TIME_BYTES], int64_t age_ms);
str age_text(struct arena *a, int64_t age_ms);
