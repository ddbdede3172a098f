/* What comes from outside by itself: time and chance. */

#include "loop/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

int64_t loop_now_ms(struct loop *l)
{
    return (int64_t)uv_now(&l->uv);
}

int64_t wall_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t wall_now_ms(void)
{
    return wall_now_us() / 1000;
}

int64_t boot_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void random_bytes(void *to, size_t n)
{
    for (char *p = to; n > 0;) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno != EINTR)
            abort(); /* names and keys must never repeat */
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
}

void random_uuid(char out[37])
{
    uint8_t b[16];

    random_bytes(b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}
