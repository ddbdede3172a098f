/* Kubeconfig files: what is refused says where, and what is taken can be used. Two files at once,
 * cut at the first NUL. */

#include "client/config.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = arena_str(a, (str){ (const char *)data, size });
    str first = str_cut(&rest, 0);
    struct kubeconfig_file files[] = { { "/k/f", first }, { "/k/f", rest } };
    struct client_config c = { 0 };
    struct err e = { 0 };

    if (kubeconfig_read(a, files, rest.p ? 2 : 1, NULL, &c, &e) < 0) {
        check(e.code != ERR_OK && e.msg[0] == '/');
        return 0;
    }
    check(c.server && strncmp(c.server, "http", 4) == 0 && c.from);
    check(!c.token || !strpbrk(c.token, "\r\n"));
    check(!c.exec || (c.exec->command && c.exec->api_version));
    return 0;
}
