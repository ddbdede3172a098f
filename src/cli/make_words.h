/* The words of a command: which part is the interpreter, which the script, and how a launcher goes
 * around them. */
#pragma once

#include "base/json.h"

struct words {
    const char *const *at;
    int n;
};

/* `python [FLAG]... SCRIPT|-m MODULE|-c CODE [ARG]...`, seen from the beginning. */
struct python_words {
    bool is_python;
    int what; /* index of SCRIPT, -m or -c; n: there is none */
    bool is_script;
    bool is_module;
};

struct python_words words_python(struct words w);
/* "/usr/bin/mpirun" is "mpirun". */
str words_base(const char *word);
/* A valid name for a job, from the script, the module or the program. */
str words_name(struct arena *a, struct words w);
/* Pushes the words from..to, safe from the expansion of $(NAME) that Kubernetes does. */
void words_push(struct jbuild *b, struct words w, int from, int to);
