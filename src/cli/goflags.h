/* Flags as Go programs take them: -x, --x, --x=v, --x v; -b and --b=false for those that are on or
 * off. A table of them is read, printed as help, and says which were given. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum go_type {
    GO_TEXT,   /* const char * */
    GO_INT,    /* int64_t */
    GO_NUMBER, /* double */
    GO_BOOL,   /* bool */
};

struct go_flag {
    const char *name;
    enum go_type type;
    size_t at;        /* offset of its field in what is filled */
    const char *dflt; /* NULL: "", 0, false */
    const char *arg;  /* for people: "ADDRESS"; NULL: none needed */
    const char *help;
    /* Takes the value instead of a field; it may be given again and again. Errors are shown. */
    int (*set)(struct arena *a, void *to, str value, struct err *e);
    const char *unused; /* not NULL: taken, checked and without effect, and this is why */
};

struct go_flags {
    const struct go_flag *at;
    size_t n;
    void *to;    /* what is filled */
    bool *given; /* n of them */
};

/* Defaults first, then the arguments (argv[0] is skipped). GO_HELP: -h or --help came. Errors are
 * in the words of Go's package flag. Texts stay where they are. */
enum { GO_OK = 0, GO_FAILED = -1, GO_HELP = 1 };
int go_flags_parse(struct arena *a, const struct go_flags *f, int argc, char **argv, struct err *e);
bool go_flag_given(const struct go_flags *f, const char *name);
str go_flags_help(struct arena *a, const struct go_flags *f); /* a paragraph each */
