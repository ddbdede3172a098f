/* Places of any size, each its own, and all given back in the end. */

#include "ctl/slab.h"

#include "tap.h"

enum { N = 5000 };

static void places_do_not_overlap_and_go_back(void)
{
    static unsigned char *at[N];
    static size_t size[N];
    struct slab s = { 0 };
    uint64_t r = 12345;
    bool whole = true, aligned = true;

    for (int round = 0; round < 20 * N; round++) {
        r = r * 6364136223846793005ULL + 1442695040888963407ULL;
        size_t i = (r >> 33) % N, n = (r >> 20) % (round % 7 ? 700 : 6000);
        if (at[i]) {
            for (size_t k = 0; k < size[i]; k++)
                whole &= at[i][k] == (unsigned char)i;
            slab_free(&s, at[i], size[i]);
            at[i] = NULL;
        } else {
            at[i] = slab_alloc(&s, n);
            size[i] = n;
            aligned &= (uintptr_t)at[i] % 16 == 0;
            memset(at[i], (int)(unsigned char)i, n);
        }
    }
    ok(whole, "nobody wrote into another's place");
    ok(aligned, "aligned");
    for (size_t i = 0; i < N; i++)
        slab_free(&s, at[i], size[i]);
    is_int((int64_t)s.bytes, 0, "all went back to the system");
    slab_free(&s, NULL, 10);
}

int main(void)
{
    places_do_not_overlap_and_go_back();
    return tap_done();
}
