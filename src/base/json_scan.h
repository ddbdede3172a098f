/* Eight bytes of a JSON string at a time; for the files of base that read and write JSON. */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* The top bit of each byte below 0x20, quote or backslash in the word. Bits above the lowest one
 * may be wrong, as borrows go up. */
static inline uint64_t json_specials(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t highs = 0x8080808080808080u;
    uint64_t quote = w ^ ones * '"';
    uint64_t slash = w ^ ones * '\\';

    return (((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
           highs;
}

/* Goes on to the first special byte, or to the last few bytes of the text; gathers what it saw. */
static inline const char *json_skip_plain(const char *p, const char *end, uint64_t *seen)
{
    for (uint64_t w; end - p >= 8; p += 8) {
        memcpy(&w, p, 8);
        w = le64toh(w);
        uint64_t found = json_specials(w);
        if (found) {
            unsigned bits = (unsigned)__builtin_ctzll(found) & ~7u;
            *seen |= w & (((uint64_t)1 << bits) - 1);
            return p + bits / 8;
        }
        *seen |= w;
    }
    return p;
}
