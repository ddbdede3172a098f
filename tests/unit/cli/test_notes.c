/* What several replicas have in common is printed once. */

#include "cli/notes.h"
#include "tap.h"

static str printed(struct arena *a, const struct replica_note *notes, size_t n, size_t most)
{
    AUTO(buf) struct buf b = { 0 };

    notes_print(a, &b, notes, n, most);
    return arena_str(a, buf_str(&b));
}

static void same_texts_are_one_line(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct replica_note notes[] = { { S("master-0"), S("no GPU") },
                                          { S("worker-0"), S("no image") },
                                          { S("worker-1"), S("no GPU") } };

    is_str(printed(a, notes, 3, 9), S("  master-0, worker-1: no GPU\n  worker-0: no image\n"),
           "one line for each text, where it came first");
    is_str(printed(a, notes, 3, 1), S("  master-0, worker-1: no GPU\n  and 1 more\n"),
           "what is left out is counted");
    is_str(printed(a, notes, 0, 9), S(""), "nothing for no replica");
}

static void many_names_are_counted(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct replica_note notes[64];

    for (size_t i = 0; i < COUNT(notes); i++)
        notes[i] = (struct replica_note){ arena_printf(a, "w-%zu", i), S("x") };
    is_str(printed(a, notes, 3, 9), S("  w-0, w-1, w-2: x\n"), "three names are printed");
    is_str(printed(a, notes, 64, 9), S("  w-0, w-1, w-2 and 61 more: x\n"), "and the rest counted");
}

int main(void)
{
    same_texts_are_one_line();
    many_names_are_counted();
    return tap_done();
}
