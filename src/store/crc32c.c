/* CRC-32C: SSE4.2 where the processor has it, else eight tables of 256 entries, made at first use
 * by whichever thread comes first (all make the same). */

#include "store/crc32c.h"

#include <pthread.h>

enum { POLYNOMIAL = (int)0x82f63b78 };

static uint32_t tables[8][256];
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ (uint32_t)POLYNOMIAL : c >> 1;
        tables[0][i] = c;
    }
    for (int t = 1; t < 8; t++)
        for (int i = 0; i < 256; i++)
            tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
}

static uint32_t by_table(uint32_t c, const char *p, size_t n)
{
    pthread_once(&made, make);
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w = 0;
        memcpy(&w, p, 8);
        w ^= c; /* little-endian, as the instruction's machines are */
        c = 0;
        for (int t = 0; t < 8; t++)
            c ^= tables[7 - t][w >> (8 * t) & 0xff];
    }
    for (; n; p++, n--)
        c = c >> 8 ^ tables[0][(c ^ (uint8_t)*p) & 0xff];
    return c;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t c, const char *p,
                                                                 size_t n)
{
    uint64_t wide = c;

    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w = 0;
        memcpy(&w, p, 8);
        wide = __builtin_ia32_crc32di(wide, w);
    }
    c = (uint32_t)wide;
    for (; n; p++, n--)
        c = __builtin_ia32_crc32qi(c, (uint8_t)*p);
    return c;
}
#endif

uint32_t crc32c(uint32_t crc, str bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_instruction(~crc, bytes.p, bytes.n);
#endif
    return ~by_table(~crc, bytes.p, bytes.n);
}
