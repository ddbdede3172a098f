/* A bearer token that might be a service account's: read as it is, and behind a right signature. */

#include "api/auth/tokens.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str key = S("a key that nobody knows, not even the fuzzer");
    str text = arena_str(a, (str){ (const char *)data, size });

    if (jv_exists(token_read(a, key, text, 1)))
        abort();
    token_read(a, key, token_sign(a, key, jobj(a, { "aud", jstr(a, text) }, { "exp", jint(a, 9) })),
               1);
    return 0;
}
