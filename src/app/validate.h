/* muster validate. */
#pragma once

#include "cli/command.h"
#include "lint/lint.h"

extern const struct command command_validate;

/* Findings as text, a line each. */
void validate_print(struct buf *b, const struct lint *l, bool warnings);
