/* A client's side of SPDY, as far as tests need it: frames that open streams, whose headers are
 * compressed as kubectl does it. One connection at a time. */
#pragma once

#include "http/spdy.h"

#include <stdlib.h>
#include <zlib.h>

static z_stream spdy_z;

static inline void spdy_add32(struct buf *b, uint32_t n)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_addc(b, (char)(n >> shift));
}

static inline void spdy_client_start(void)
{
    size_t n;
    char *dictionary = spdy_dictionary(&n);

    spdy_z = (z_stream){ 0 };
    deflateInit(&spdy_z, 9);
    deflateSetDictionary(&spdy_z, (const Bytef *)dictionary, (uInt)n);
    free(dictionary);
}

static inline void spdy_client_done(void)
{
    deflateEnd(&spdy_z);
}

/* n names, each with its value behind it. */
static inline void spdy_add_open(struct buf *out, uint32_t id, const char *const *pairs, uint32_t n)
{
    AUTO(buf) struct buf plain = { 0 };
    char packed[4096];

    spdy_add32(&plain, n);
    for (uint32_t i = 0; i < 2 * n; i++) {
        str s = str_of(pairs[i]);
        spdy_add32(&plain, (uint32_t)s.n);
        buf_add(&plain, s);
    }
    spdy_z.next_in = (Bytef *)plain.p;
    spdy_z.avail_in = (uInt)plain.n;
    spdy_z.next_out = (Bytef *)packed;
    spdy_z.avail_out = sizeof(packed);
    deflate(&spdy_z, Z_SYNC_FLUSH);
    size_t size = sizeof(packed) - spdy_z.avail_out;
    spdy_add32(out, 0x80030001);
    spdy_add32(out, (uint32_t)size + 10);
    spdy_add32(out, id);
    spdy_add32(out, 0);
    buf_add(out, S("\0\0"));
    buf_add(out, (str){ packed, size });
}
