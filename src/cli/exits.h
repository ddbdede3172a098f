/* How a container ended, for people. */
#pragma once

#include "base/arena.h"

/* "7", "139 (SIGSEGV)", "137 (SIGKILL)", or with the reason OOMKilled "137 (out of memory)". Codes
 * above 128 are those of programs that a signal ended. */
str exit_text(struct arena *a, int64_t code, str reason);
bool exit_has_name(int64_t code, str reason); /* there is a word in parentheses */
