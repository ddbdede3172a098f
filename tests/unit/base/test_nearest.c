/* Which word was meant. */

#include "base/nearest.h"
#include "tap.h"

static str meant(const char *word)
{
    static const char *const known[] = { "run",      "up",    "down", "get",     "describe", "logs",
                                         "validate", "image", "exec", "version", "delete" };
    struct nearest n = nearest_to(str_of(word));

    for (size_t i = 0; i < COUNT(known); i++)
        nearest_try(&n, str_of(known[i]));
    return n.best;
}

int main(void)
{
    static const struct {
        const char *word, *want, *what;
    } rows[] = {
        { "rnu", "run", "two letters have swapped places" },
        { "rn", "run", "one is missing" },
        { "runn", "run", "one is too many" },
        { "RUM", "run", "one is another, and case does not count" },
        { "describbe", "describe", "a long word" },
        { "descrbie", "describe", "and one with a swap" },
        { "valdiaet", "validate", "two swaps" },
        { "vlaidtae", "validate", "and two others" },
        { "vaelidtaxe", "", "three changes are too many" },
        { "train", "", "no word is like it" },
        { "pu", "", "a word of two letters is like too many" },
        { "", "", "nothing is like no word" },
    };
    char word[100];

    for (size_t i = 0; i < COUNT(rows); i++)
        is_str(meant(rows[i].word), str_of(rows[i].want), rows[i].what);
    memset(word, 'x', sizeof(word));
    word[sizeof(word) - 1] = 0;
    is_str(meant(word), S(""), "a word that is very long is like none");
    return tap_done();
}
