#include "store/pack.h"

#include "base/buf.h"
#include "store/young.h"
#include "tap.h"

#include <stdlib.h>

static unsigned roll(unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 8) % n;
}

static void add_noise(struct buf *b, unsigned *seed, unsigned n, unsigned letters)
{
    while (n--)
        buf_addc(b, (char)('a' + roll(seed, letters)));
}

/* What was packed comes back; returns how many bytes it took, 0: it did not fit. */
static size_t there_and_back(str base, str text, size_t cap, unsigned *wrong)
{
    struct pack_base *b = pack_base_new(blob_new(base));
    unsigned char *packed = malloc(cap + 1);
    char *back = malloc(text.n + 1);

    packed[cap] = 0xa5;
    size_t n = pack_write(b, text, packed, cap);
    pack_base_settle(b);
    if (n && (!pack_read(b, (str){ (const char *)packed, n }, back, text.n) ||
              !str_eq((str){ back, text.n }, text)))
        ++*wrong;
    *wrong += packed[cap] != 0xa5;
    pack_base_unref(b);
    free(packed);
    free(back);
    return n;
}

static void like_objects_take_little(void)
{
    AUTO(buf) struct buf base = { 0 };
    AUTO(buf) struct buf text = { 0 };
    unsigned seed = 7;
    unsigned wrong = 0;

    for (int i = 0; i < 40; i++) {
        char name[24];
        snprintf(name, sizeof(name), "worker-%d", i);
        unsigned same = seed;
        buf_printf(&base, "\"%s\":", "worker-0");
        add_noise(&base, &same, 90, 26);
        buf_printf(&text, "\"%s\":", name);
        add_noise(&text, &seed, 90, 26);
    }
    size_t n = there_and_back(buf_str(&base), buf_str(&text), text.n, &wrong);
    is_int(wrong, 0, "it comes back");
    ok(n > 0 && n < text.n / 8, "%zu bytes of %zu", n, text.n);
}

static void any_text_comes_back(void)
{
    unsigned wrong = 0;
    unsigned fitted = 0;
    unsigned seed = 1;

    for (int i = 0; i < 3000; i++) {
        AUTO(buf) struct buf base = { 0 };
        AUTO(buf) struct buf text = { 0 };
        unsigned letters = 1 + roll(&seed, 26);
        add_noise(&base, &seed, roll(&seed, 600), letters);
        for (unsigned parts = roll(&seed, 6); parts--;) {
            size_t from = base.n ? roll(&seed, (unsigned)base.n) : 0;
            buf_add(&text, str_sub(buf_str(&base), from, from + roll(&seed, 300)));
            add_noise(&text, &seed, roll(&seed, 40), letters);
        }
        if (text.n == 0)
            continue;
        fitted += there_and_back(buf_str(&base), buf_str(&text), text.n, &wrong) > 0;
        there_and_back(buf_str(&base), buf_str(&text), roll(&seed, 200), &wrong);
    }
    is_int(wrong, 0, "each as it was, none beyond its room");
    ok(fitted > 1000, "%u of them got smaller", fitted);
}

static void what_was_not_packed_is_refused(void)
{
    struct pack_base *b = pack_base_new(blob_new(S("0123456789abcdef0123456789abcdef")));
    char out[8];
    static const struct {
        str packed;
        const char *why;
    } bad[] = {
        { S_INIT(""), "nothing" },
        { S_INIT("\x09xxxxxxxxx"), "more than there is room" },
        { S_INIT("\x08xxx"), "an own piece that ends early" },
        { S_INIT("\x01x\x07"), "a piece without a place" },
        { S_INIT("\x01x\x07\x7f"), "a place behind the end" },
        { S_INIT("\x01x\x07\x1e"), "a piece that goes beyond the end" },
        { S_INIT("\x08xxxxxxxxy"), "something left over" },
        { S_INIT("\xff\xff\xff\xff\xff\xff"), "a number without an end" },
    };

    ok(pack_read(b, S("\x01x\x07\x0a"), out, 8), "a good one is read");
    is_str((str){ out, 8 }, S("xabcdef0"), "as it is");
    for (size_t i = 0; i < COUNT(bad); i++)
        ok(!pack_read(b, bad[i].packed, out, 8), "%s", bad[i].why);
    pack_base_unref(b);
}

static struct value *value_like(int i, unsigned size)
{
    AUTO(buf) struct buf b = { 0 };
    unsigned seed = 3;

    buf_printf(&b, "{\"name\":\"pod-%d\",", i);
    add_noise(&b, &seed, size, 26);
    return value_new(blob_new(buf_str(&b)));
}

static void old_values_are_packed_and_read_the_same(void)
{
    struct young y = { 0 };
    struct packer p = { 0 };
    struct packer gone = { 0 };
    struct value *all[2000];
    size_t wrong = 0;

    for (int i = 0; i < 2000; i++) {
        all[i] = value_like(i, 4000);
        young_add(&y, i % 100 ? &p : &gone, all[i]);
    }
    ok(y.n < 600, "%zu of 2000 are young", y.n);
    AUTO(blob) struct blob *young = value_blob(all[1999]);
    AUTO(blob) struct blob *again = value_blob(all[1999]);
    ok(young == again, "young ones are shared, not copied");
    AUTO(blob) struct blob *old = value_blob(all[7]);
    AUTO(blob) struct blob *anew = value_blob(all[7]);
    ok(old != anew, "old ones are made anew");
    young_forget(&y, &gone);
    packer_done(&gone);
    for (int i = 0; i < 2000; i++) {
        struct value *same = value_like(i, 4000);
        AUTO(arena) struct arena *a = arena_new();
        wrong += !str_eq(value_text(a, all[i]), value_text(a, same));
        value_unref(same);
        value_unref(all[i]);
    }
    is_int((int64_t)wrong, 0, "all read as they were written");
    young_done(&y);
    packer_done(&p);
}

int main(void)
{
    like_objects_take_little();
    any_text_comes_back();
    what_was_not_packed_is_refused();
    old_values_are_packed_and_read_the_same();
    return tap_done();
}
