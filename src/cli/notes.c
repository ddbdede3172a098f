/* See notes.h. */

#include "cli/notes.h"

#include "base/map.h"

enum { NAMES_SHOWN = 3 };

struct line {
    str names, text;
    size_t n; /* replicas */
};

/* The lines; returns how many there are. */
static size_t group(struct arena *a, struct line *lines, const struct replica_note *notes, size_t n)
{
    struct map by_text = { 0 };
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        struct line *l = map_get(&by_text, notes[i].text);
        if (!l) {
            l = &lines[used++];
            *l = (struct line){ notes[i].name, notes[i].text, 0 };
            map_put(&by_text, l->text, l);
        } else if (l->n < NAMES_SHOWN) {
            l->names = arena_printf(a, "%" PRI_STR ", %" PRI_STR, STR_ARG(l->names),
                                    STR_ARG(notes[i].name));
        }
        l->n++;
    }
    map_done(&by_text);
    return used;
}

void notes_print(struct arena *a, struct buf *b, const struct replica_note *notes, size_t n,
                 size_t most)
{
    struct line *lines = ARENA_ARRAY(a, struct line, n + 1);
    size_t n_lines = group(a, lines, notes, n), left_out = 0;

    for (size_t i = 0; i < n_lines; i++) {
        const struct line *l = &lines[i];
        if (i >= most) {
            left_out += l->n;
            continue;
        }
        buf_printf(b, "  %" PRI_STR, STR_ARG(l->names));
        if (l->n > NAMES_SHOWN)
            buf_printf(b, " and %zu more", l->n - NAMES_SHOWN);
        buf_printf(b, ": %" PRI_STR "\n", STR_ARG(l->text));
    }
    if (left_out)
        buf_printf(b, "  and %zu more\n", left_out);
}
