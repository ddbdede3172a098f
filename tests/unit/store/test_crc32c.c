/* CRC-32C against known answers, by both ways of computing it. */

#include "store/crc32c.c" /* the ways are static */
#include "tap.h"

static void known_answers_come_out(void)
{
    char zeros[32] = { 0 };

    is_int(crc32c(0, S("123456789")), 0xe3069283, "the check value");
    is_int(crc32c(0, (str){ zeros, 32 }), 0x8a9136aa, "32 zeros, as in RFC 3720");
    is_int(crc32c(0, STR_NONE), 0, "nothing");
    is_int(crc32c(crc32c(0, S("1234")), S("56789")), 0xe3069283, "in pieces");
}

static void both_ways_agree(void)
{
    char bytes[300];
    int differ = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 97 + 13);
    for (size_t n = 0; n < sizeof(bytes) - 8; n++)
        for (size_t from = 0; from < 8; from++)
            differ += ~by_table(~7U, bytes + from, n) != crc32c(7, (str){ bytes + from, n });
    is_int(differ, 0, "for all lengths and alignments");
}

int main(void)
{
    known_answers_come_out();
    both_ways_agree();
    return tap_done();
}
