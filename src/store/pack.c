/* Pieces: length and bytes of the text's own, then length and place of what the base has; so on
 * until the text is whole. Numbers have 7 bits a byte, the last byte has its top bit clear. */

#include "store/pack.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOT_BITS = 13, WORD = 8, LEAST = 16 /* bytes worth a piece */ };

struct pack_base {
    struct blob *text;
    uint16_t *index; /* place of a word plus one, by the word's hash; NULL: settled */
    uint32_t refs;
};

static uint64_t word_at(const char *p)
{
    uint64_t w = 0;

    memcpy(&w, p, WORD);
    return w;
}

static size_t slot_of(uint64_t word)
{
    return (size_t)(word * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS));
}

struct pack_base *pack_base_new(struct blob *text)
{
    struct pack_base *b = mem_new(sizeof(*b));
    uint16_t *index = mem_array((size_t)1 << SLOT_BITS, sizeof(*index));
    str s = blob_str(text);

    assert(s.n <= PACK_BASE_MAX);
    *b = (struct pack_base){ text, index, 1 };
    for (size_t i = 0; i + WORD <= s.n; i++)
        index[slot_of(word_at(s.p + i))] = (uint16_t)(i + 1);
    return b;
}

struct pack_base *pack_base_ref(struct pack_base *b)
{
    b->refs++;
    return b;
}

void pack_base_settle(struct pack_base *b)
{
    free(b->index);
    b->index = NULL;
}

void pack_base_unref(struct pack_base *b)
{
    if (!b || --b->refs)
        return;
    blob_unref(b->text);
    free(b->index);
    free(b);
}

struct writer_at {
    unsigned char *p;
    unsigned char *end;
    bool full;
};

static void put_number(struct writer_at *w, size_t n)
{
    for (; w->p < w->end; n >>= 7) {
        *w->p++ = (unsigned char)(n < 128 ? n : (n & 127) | 128);
        if (n < 128)
            return;
    }
    w->full = true;
}

static void put_own(struct writer_at *w, const char *p, size_t n)
{
    put_number(w, n);
    if (w->full || n > (size_t)(w->end - w->p)) {
        w->full = true;
        return;
    }
    memcpy(w->p, p, n);
    w->p += n;
}

/* How far both go on alike. */
static size_t alike(const char *a, const char *a_end, const char *b, const char *b_end)
{
    const char *start = a;

    while (a_end - a >= WORD && b_end - b >= WORD) {
        uint64_t differ = word_at(a) ^ word_at(b);
        if (differ)
            return (size_t)(a - start) + (size_t)__builtin_ctzll(differ) / 8;
        a += WORD;
        b += WORD;
    }
    while (a < a_end && b < b_end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(a - start);
}

/* Where the base has the word at p: where it would go on if what differed had the same length,
 * else by the index. NULL: nowhere known. */
static const char *find(const struct pack_base *b, str base, const char *next, const char *p)
{
    uint64_t word = word_at(p);

    if (next + WORD <= base.p + base.n && word_at(next) == word)
        return next;
    uint16_t i = b->index[slot_of(word)];
    return i && word_at(base.p + i - 1) == word ? base.p + i - 1 : NULL;
}

size_t pack_write(const struct pack_base *b, str text, unsigned char *out, size_t cap)
{
    struct writer_at w = { out, out + cap, false };
    str base = blob_str(b->text);
    const char *end = text.p + text.n;
    const char *own = text.p;   /* from here on nothing was found */
    const char *after = base.p; /* in the base, behind what was found last */

    for (const char *p = text.p; end - p >= WORD && !w.full;) {
        const char *next = (size_t)(p - own) < base.n - (size_t)(after - base.p) ? after + (p - own)
                                                                                 : base.p + base.n;
        const char *m = find(b, base, next, p);
        const char *from = p;
        while (m && from > own && m > base.p && from[-1] == m[-1]) {
            from--;
            m--;
        }
        size_t n = m ? alike(from, end, m, base.p + base.n) : 0;
        if (n < LEAST) {
            p++;
            continue;
        }
        put_own(&w, own, (size_t)(from - own));
        put_number(&w, n);
        put_number(&w, (size_t)(m - base.p));
        own = p = from + n;
        after = m + n;
    }
    if (own < end)
        put_own(&w, own, (size_t)(end - own));
    return w.full ? 0 : (size_t)(w.p - out);
}

static bool get_number(const unsigned char **p, const unsigned char *end, size_t *out)
{
    *out = 0;
    for (unsigned shift = 0; *p < end && shift < 32; shift += 7) {
        unsigned char c = *(*p)++;
        *out |= (size_t)(c & 127) << shift;
        if (c < 128)
            return true;
    }
    return false;
}

bool pack_read(const struct pack_base *b, str packed, char *out, size_t n)
{
    const unsigned char *p = (const unsigned char *)packed.p;
    const unsigned char *end = p + packed.n;
    str base = blob_str(b->text);
    size_t done = 0;
    size_t part = 0;
    size_t at = 0;

    while (done < n) {
        if (!get_number(&p, end, &part) || part > (size_t)(end - p) || part > n - done)
            return false;
        memcpy(out + done, p, part);
        done += part;
        p += part;
        if (done == n)
            break;
        if (!get_number(&p, end, &part) || !get_number(&p, end, &at) || part > n - done ||
            at > base.n || part > base.n - at)
            return false;
        memcpy(out + done, base.p + at, part);
        done += part;
    }
    return p == end;
}
