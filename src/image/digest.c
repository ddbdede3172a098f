/* Digests, through OpenSSL. */

#include "image/digest.h"

#include "base/mem.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct digest_sum {
    EVP_MD_CTX *ctx;
};

bool digest_is_hex(str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!((text.p[i] >= '0' && text.p[i] <= '9') || (text.p[i] >= 'a' && text.p[i] <= 'f')))
            return false;
    return text.n == DIGEST_HEX;
}

int digest_parse(str text, const char *what, struct digest *out, struct err *e)
{
    str shown = str_clip(text, 80);

    if (!str_starts(text, S("sha256:")) || !digest_is_hex(str_sub(text, 7, text.n)))
        return err_set(e, ERR_INVALID, "%s: \"%" PRI_STR "\" is not a sha256 digest", what,
                       STR_ARG(shown));
    memcpy(out->hex, text.p + 7, DIGEST_HEX);
    out->hex[DIGEST_HEX] = '\0';
    return 0;
}

struct digest_sum *digest_sum_new(void)
{
    struct digest_sum *s = mem_new(sizeof(*s));

    s->ctx = mem_or_abort(EVP_MD_CTX_new());
    if (EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL) != 1)
        abort();
    return s;
}

void digest_sum_add(struct digest_sum *s, const void *p, size_t n)
{
    if (n && EVP_DigestUpdate(s->ctx, p, n) != 1)
        abort();
}

void digest_sum_end(struct digest_sum *s, struct digest *out)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    if (EVP_DigestFinal_ex(s->ctx, raw, &n) != 1 || n * 2 != DIGEST_HEX)
        abort();
    for (size_t i = 0; i < n; i++) {
        out->hex[2 * i] = digits[raw[i] >> 4];
        out->hex[2 * i + 1] = digits[raw[i] & 15];
    }
    out->hex[DIGEST_HEX] = '\0';
}

void digest_sum_free(struct digest_sum *s)
{
    if (!s)
        return;
    EVP_MD_CTX_free(s->ctx);
    free(s);
}

void digest_of(str bytes, struct digest *out)
{
    struct digest_sum *s = digest_sum_new();

    digest_sum_add(s, bytes.p, bytes.n);
    digest_sum_end(s, out);
    digest_sum_free(s);
}
