/* See fold.h. */

#include "cli/fold.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 160 };

struct last {
    char *key;
    char *line;
    size_t n;
    int64_t again;
};

static void last_free(struct last *l)
{
    free(l->key);
    free(l->line);
    free(l);
}

void folds_done(struct folds *f)
{
    MAP_EACH (slot, &f->last)
        last_free(slot->value);
    map_done(&f->last);
}

static char *copy(str s)
{
    return mem_or_abort(strndup(s.p ? s.p : "", s.n));
}

bool folds_is_again(struct folds *f, str key, str line, int64_t *again)
{
    struct last *l = map_get(&f->last, key);

    *again = 0;
    if (l && str_eq((str){ l->line, l->n }, line)) {
        l->again++;
        return true;
    }
    if (!l) {
        l = mem_new(sizeof(*l));
        l->key = copy(key);
        map_put(&f->last, str_of(l->key), l);
    }
    *again = l->again;
    l->again = 0;
    free(l->line);
    l->line = mem_or_abort(malloc(line.n + 1));
    memcpy(l->line, line.p ? line.p : "", line.n);
    l->n = line.n;
    return false;
}

void folds_flush(struct folds *f, void (*tell)(void *ctx, str key, int64_t again), void *ctx)
{
    MAP_EACH (slot, &f->last) {
        struct last *l = slot->value;
        if (l->again)
            tell(ctx, slot->key, l->again);
        l->again = 0;
    }
}

str fold_again_text(struct arena *a, int64_t again)
{
    return again == 1 ? S("(the line above was repeated once)")
                      : arena_printf(a, "(the line above was repeated %" PRId64 " times)", again);
}

/* "+ exec muster exec worker-0 -- /bin/sh -c orted -mca ...": traced by the remote shell of an
 * MPIJob, with hundreds of characters of settings after the name. */
str fold_long(struct arena *a, str line)
{
    static const char daemon[] = " orted ";
    const char *at = line.n > LONG ? memmem(line.p, line.n, daemon, sizeof(daemon) - 1) : NULL;
    str shell = line;

    if (!at || !str_contains(str_sub(line, 0, (size_t)(at - line.p)), S("exec ")))
        return line;
    shell.n = (size_t)(at - line.p) + sizeof(daemon) - 1;
    return arena_printf(a, "%" PRI_STR "... (%zu more characters)", STR_ARG(shell),
                        line.n - shell.n);
}
