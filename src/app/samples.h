/* What the controller counts, as the text of /metrics. */
#pragma once

#include "base/buf.h"
#include "ctl/ctl.h"

struct sample_page {
    struct buf *b;
    const char *family; /* whose head was printed last */
};

void sample_print(void *page, const struct ctl_sample *s); /* for ctl_stats */
