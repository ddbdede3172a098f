#include "cli/options.h"

#include "tap.h"

struct flags {
    const char *name;
    int64_t number;
    bool flag;
};

static const struct opt options[] = {
    { "name", 0, OPT_TEXT, offsetof(struct flags, name), "NAME", "", NULL },
    { "number", 'N', OPT_INT, offsetof(struct flags, number), "N", "", NULL },
    { "flag", 'f', OPT_FLAG, offsetof(struct flags, flag), NULL, "", NULL },
    { 0 }
};
static const struct command command = { .name = "test", .options = options };

enum { WORDS = 16 };

/* The words of a line, as main() gets them. */
struct line {
    char text[100];
    char *argv[WORDS];
    int argc;
};

static void line_split(struct line *l, const char *text)
{
    char *p = l->text;

    str_clip_z(l->text, sizeof(l->text), str_of(text));
    for (l->argc = 0; p && l->argc < WORDS - 1; l->argc++) {
        l->argv[l->argc] = strsep(&p, " ");
        l->argv[l->argc + 1] = NULL;
    }
}

static void the_command_is_what_follows_two_dashes(void)
{
    static const struct {
        const char *line;
        const char *want; /* its first word; NULL: there is none */
    } rows[] = {
        { "run a b", NULL },
        { "run -- ls -f", "ls" },
        { "run -N 4 --flag -- ls -- x", "ls" },
        { "run a --name n -- ls -N", "ls" },
        { "run --name -- a", NULL }, /* a value */
        { "run --name -- -- ls", "ls" },
        { "run --name=x --", NULL },
        { "run --wrong -- ls", "ls" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct line l, before;
        line_split(&before, rows[i].line);
        line_split(&l, rows[i].line);
        int at = options_command(&command, l.argc, l.argv);
        is_str(at < l.argc ? str_of(l.argv[at]) : S("none"),
               str_of(rows[i].want ? rows[i].want : "none"), rows[i].line);
        bool moved = false;
        for (int k = 0; k < l.argc; k++)
            moved = moved || strcmp(l.argv[k], before.argv[k]) != 0;
        ok(!moved, "no word has moved");
    }
}

static void options_before_it_are_read(void)
{
    struct line l;
    struct flags f = { 0 };
    char **rest;
    int n;

    line_split(&l, "run file -N 4 -f -- ls -N 5");
    int at = options_command(&command, l.argc, l.argv);
    is_int(options_read(&command, at, l.argv, &f, &rest, &n), -1, "read");
    is_int(f.number, 4, "an option before -- counts, none after it");
    ok(f.flag, "so does a flag");
    is_int(n, 1, "one operand is before it");
    is_str(str_of(rest[0]), S("file"), "the file");
    is_str(str_of(l.argv[at]), S("ls"), "the command stays where it was");
}

int main(void)
{
    the_command_is_what_follows_two_dashes();
    options_before_it_are_read();
    return tap_done();
}
