/* Which fields an update changes, for messages that refuse it. */
#pragma once

#include "base/json.h"

/* "changed: containers[0].command, nodeName"; the first few of them. Both are of one type. */
str changed_fields(struct arena *a, jv before, jv after);
