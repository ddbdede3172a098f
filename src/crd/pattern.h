/* Regular expressions as Go reads them (RE2's syntax), matched by a finite automaton in time that
 * grows with the text and never with the number of ways to match it. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct crd_pattern;

/* Lives as long as a. NULL: not an expression, and e holds Go's words: "error parsing regexp:
 * missing closing ]: `[a`". */
const struct crd_pattern *pattern_new(struct arena *a, str text, struct err *e);

/* What matching keeps between calls: the automata as far as they were needed, and how many steps
 * may still be taken. For one thread, and no longer than a and the patterns. */
struct pattern_work;
struct pattern_work *pattern_work_new(struct arena *a, bool brief); /* brief: few steps */
bool pattern_work_gave_up(const struct pattern_work *w);            /* at least once */

enum pattern_result { PATTERN_DIFFERS, PATTERN_MATCHES, PATTERN_GIVEN_UP /* out of steps */ };

/* Whether any part of s matches. s should be UTF-8. Each byte of s adds to the steps that w may
 * take, so that only a large automaton that changes with every character runs out of them. */
enum pattern_result pattern_match(const struct crd_pattern *p, str s, struct pattern_work *w);
