/* Completion for shells, from the table of commands. */
#pragma once

#include "base/buf.h"
#include "cli/command.h"

/* shell: "bash", "zsh" or "fish"; -1: another. commands: n of them. */
int completion_text(struct buf *b, const char *shell, const struct command *const *commands,
                    size_t n);
