/* See nearest.h. */

#include "base/nearest.h"

#include <string.h>

enum { CLOSE_ENOUGH = 2, WORD_MAX = 64 };

static bool same(str x, size_t i, str y, size_t j)
{
    return str_eq_nocase(str_sub(x, i, i + 1), str_sub(y, j, j + 1));
}

/* Optimal string alignment: three rows of the table are enough. */
static size_t distance(str x, str y)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    if (x.n > WORD_MAX || y.n > WORD_MAX)
        return WORD_MAX;
    memset(before, 0, sizeof(rows[0]));
    for (size_t j = 0; j <= y.n; j++)
        last[j] = j;
    for (size_t i = 0; i < x.n; i++) {
        row[0] = i + 1;
        for (size_t j = 0; j < y.n; j++) {
            size_t best = last[j] + !same(x, i, y, j);
            if (last[j + 1] + 1 < best)
                best = last[j + 1] + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (i && j && same(x, i, y, j - 1) && same(x, i - 1, y, j) && before[j - 1] + 1 < best)
                best = before[j - 1] + 1;
            row[j + 1] = best;
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[y.n];
}

void nearest_try(struct nearest *n, str candidate)
{
    size_t d = distance(n->word, candidate);

    if (d > CLOSE_ENOUGH || d * 2 >= candidate.n || (n->best.n && d >= n->distance))
        return;
    n->best = candidate;
    n->distance = d;
}
