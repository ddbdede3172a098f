/* Log lines as CRI has them: `<RFC3339Nano> stdout|stderr F|P <text>`. F ends a line, P does not.
 * Our own are of one width up to the text, so that a log can be read from its end. */
#pragma once

#include "base/str.h"

enum crilog_stream { CRILOG_OUT = 1, CRILOG_ERR = 2 };

enum {
    CRILOG_TAG = 38,               /* where F or P stands */
    CRILOG_TEXT = CRILOG_TAG + 2,  /* where the text begins */
    CRILOG_RECORD_MAX = 32 * 1024, /* longer ones are not ours */
};

struct crilog {
    str time; /* 30 bytes */
    enum crilog_stream stream;
    bool ends; /* the line */
    str text;
};

/* A record, without its newline. False: it is not one. */
bool crilog_read(str record, struct crilog *out);
