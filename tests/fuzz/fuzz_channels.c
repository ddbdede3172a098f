/* A message of a client on pods/exec, and the list of subprotocols it offers. */

#include "api/channels.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = { (const char *)data, size };

    for (int v5 = 0; v5 < 2; v5++) {
        struct channel_message m;
        channel_read(text, v5, &m);
        if ((m.what == CHANNEL_INPUT && m.bytes.n + 1 != size) ||
            (m.what == CHANNEL_SIZE && (m.rows <= 0 || m.cols <= 0 || m.rows > UINT16_MAX)) ||
            (m.what == CHANNEL_INPUT_ENDS && (!v5 || size != 2)))
            abort();
    }
    str chosen = channels_choose(text);
    if (chosen.n && !str_contains(text, chosen))
        abort();
    return 0;
}
