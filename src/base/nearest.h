/* The word that was probably meant by one that is not known. */
#pragma once

#include "base/str.h"

struct nearest {
    str word; /* as written */
    str best; /* empty: none is like it so far; shares the candidate */
    size_t distance;
};

static inline struct nearest nearest_to(str word)
{
    return (struct nearest){ .word = word };
}
/* Letters that change, come, go or swap places count; case does not. At most two, and less than
 * half of the word. Of equals the first wins. */
void nearest_try(struct nearest *n, str candidate);
