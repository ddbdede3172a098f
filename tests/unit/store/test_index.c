/* The ordered index against a plain array of flags. */

#include "help.h"
#include "store/index.h"

enum { KEYS = 2000 };

static void key_name(char *to, size_t n, uint32_t i)
{
    snprintf(to, n, "key-%05u", i);
}

/* All in order, forwards, and nothing else; seeks land where they should. */
static int check(const struct index *x, const bool *there)
{
    char key[16];
    int wrong = 0;
    size_t n = 0;
    const struct obj *o = index_seek(x, STR_NONE);

    for (uint32_t i = 0; i < KEYS; i++) {
        key_name(key, sizeof(key), i);
        wrong += (index_get(x, str_of(key)) != NULL) != there[i];
        const struct obj *at = index_seek(x, str_of(key));
        wrong += at != o;
        if (!there[i])
            continue;
        n++;
        wrong += !o || !str_eqz(o->pub.key, key);
        o = o ? index_next(o) : NULL;
    }
    return wrong + (o != NULL) + (n != x->n);
}

static void random_changes_keep_the_order(uint64_t seed)
{
    struct index x = { 0 };
    bool there[KEYS] = { 0 };
    int wrong = 0;
    char key[16];

    for (int phase = 0; phase < 6; phase++) {
        uint32_t keep = phase % 2 ? 8 : 2; /* grow, then shrink, ... */
        for (int i = 0; i < 4000; i++) {
            uint32_t k = roll(&seed, KEYS);
            bool want = roll(&seed, 10) >= keep;
            key_name(key, sizeof(key), k);
            if (want && !there[k])
                index_insert(&x, obj_new(str_of(key)));
            else if (!want && there[k])
                index_remove(&x, index_get(&x, str_of(key)));
            there[k] = want;
        }
        wrong += check(&x, there);
    }
    is_int(wrong, 0, "as the model says");
    for (uint32_t k = 0; k < KEYS; k++) {
        key_name(key, sizeof(key), k);
        if (there[k])
            index_remove(&x, index_get(&x, str_of(key)));
    }
    ok(x.n == 0 && x.n_chunks == 0, "empty holds nothing");
    index_done(&x);
}

static void keys_that_grow_fill_it_densely(void)
{
    struct index x = { 0 };
    char key[16];

    for (uint32_t i = 0; i < KEYS; i++) {
        key_name(key, sizeof(key), i);
        index_insert(&x, obj_new(str_of(key)));
    }
    ok(x.n_chunks == (KEYS + 63) / 64, "%zu chunks", x.n_chunks);
    ok(sizeof(struct obj) + 8 <= 88, "%zu bytes an object besides key and value",
       sizeof(struct obj) + 8);
    index_done(&x);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        random_changes_keep_the_order(seed);
    keys_that_grow_fill_it_densely();
    return tap_done();
}
