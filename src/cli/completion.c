/* See completion.h. Names of jobs and resources are asked of the server when tab is pressed, by
 * `muster get -o name`; whatever goes wrong then offers nothing. */

#include "cli/completion.h"

#include "cli/options.h"

#include <string.h>

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* A command without a table has its options in its help, at the beginnings of lines. */
static void add_from_help(struct buf *b, const char *help)
{
    str rest = str_of(help);

    while (rest.p) {
        str line = str_trim(str_cut(&rest, '\n'));
        if (str_starts(line, S("-")) && line.n > 4 && line.p[1] != '-')
            line = str_trim(str_sub(line, 3, line.n)); /* "-o, " */
        if (!str_starts(line, S("--")))
            continue;
        size_t n = 2;
        while (n < line.n && is_word(line.p[n]))
            n++;
        buf_printf(b, " %.*s", (int)n, line.p);
    }
}

static void add_options(struct buf *b, const struct command *c)
{
    buf_add(b, S("--help"));
    for (const struct opt *o = c->options; o && o->name; o++)
        buf_printf(b, " --%s", o->name);
    if (!c->options && c->help)
        add_from_help(b, c->help);
}

static void add_values(struct buf *b, const char *values)
{
    for (; *values; values++)
        buf_addc(b, *values == '|' ? ' ' : *values);
}

static const char *operands_of(const struct command *c)
{
    static const char *const words[] = {
        [OPERANDS_NONE] = "",
        [OPERANDS_FILES] = "@files",
        [OPERANDS_JOBS] = "@jobs",
        [OPERANDS_RESOURCES] = "@jobs",
        [OPERANDS_SHELLS] = "bash zsh fish",
        [OPERANDS_KINDS] = "pytorch tf jax mpi xgboost paddle pod",
    };

    return words[c->operands];
}

/* One function for bash and for zsh's bash mode: what is offered depends on the command and on the
 * word before. */
static void bash(struct buf *b, const struct command *const *commands, size_t n)
{
    buf_add(b, S("_muster() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local words= values= operands=\n"
                 "    COMPREPLY=()\n"
                 "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
                 "        words='"));
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s ", commands[i]->name);
    buf_add(b, S("version help'\n"
                 "    else\n"
                 "        case ${COMP_WORDS[1]} in\n"));
    for (size_t i = 0; i < n; i++) {
        const struct command *c = commands[i];
        buf_printf(b, "        %s)\n            words='", c->name);
        add_options(b, c);
        buf_printf(b, "' operands='%s'\n            case $prev in\n", operands_of(c));
        for (const struct opt *o = c->options; o && o->name; o++) {
            if (o->type == OPT_FLAG)
                continue;
            buf_printf(b, "            --%s", o->name);
            if (o->letter)
                buf_printf(b, "|-%c", o->letter);
            buf_add(b, S(") values='"));
            if (o->values)
                add_values(b, o->values);
            else if (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0)
                buf_add(b, S("@files"));
            else
                buf_add(b, S("@none"));
            buf_add(b, S("' ;;\n"));
        }
        buf_add(b, S("            esac ;;\n"));
    }
    buf_add(b, S("        esac\n"
                 "        case $cur in -*) ;; *) [ -n \"$values\" ] || values=$operands ;; esac\n"
                 "    fi\n"
                 "    case $values in\n"
                 "    @none) return ;;\n"
                 "    @files) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
                 "    @jobs) values=$(\"${COMP_WORDS[0]}\" get -o name 2>/dev/null |\n"
                 "        sed 's,^\\([^./]*\\)[^/]*/,\\1/,') ;;\n"
                 "    esac\n"
                 "    [ -z \"$values\" ] || words=$values\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                 "}\n"
                 "complete -F _muster muster\n"));
}

static void quote_fish(struct buf *b, const char *text)
{
    buf_addc(b, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_addc(b, '\\');
        buf_addc(b, *text);
    }
    buf_addc(b, '\'');
}

static void fish_option(struct buf *b, const struct command *c, const struct opt *o)
{
    buf_printf(b, "complete -c muster -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
    if (o->letter)
        buf_printf(b, " -s %c", o->letter);
    if (o->type != OPT_FLAG && o->values) {
        buf_add(b, S(" -x -a '"));
        add_values(b, o->values);
        buf_addc(b, '\'');
    } else if (o->type != OPT_FLAG) {
        bool file = strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0;
        buf_add(b, file ? S(" -r -F") : S(" -x"));
    }
    buf_add(b, S(" -d "));
    quote_fish(b, o->help);
    buf_addc(b, '\n');
}

static void fish(struct buf *b, const struct command *const *commands, size_t n)
{
    buf_add(b, S("complete -c muster -f\n"));
    for (size_t i = 0; i < n; i++) {
        const struct command *c = commands[i];
        buf_printf(b, "complete -c muster -n __fish_use_subcommand -a %s -d ", c->name);
        quote_fish(b, c->summary);
        buf_addc(b, '\n');
        for (const struct opt *o = c->options; o && o->name; o++)
            fish_option(b, c, o);
        if (c->operands == OPERANDS_NONE)
            continue;
        buf_printf(b, "complete -c muster -n '__fish_seen_subcommand_from %s' ", c->name);
        if (c->operands == OPERANDS_FILES)
            buf_add(b, S("-F\n"));
        else if (operands_of(c)[0] != '@')
            buf_printf(b, "-a '%s'\n", operands_of(c));
        else
            buf_add(b, S("-a '(muster get -o name 2>/dev/null | string replace -r "
                         "\"^([^./]*)[^/]*/\" \"\\$1/\")'\n"));
    }
}

int completion_text(struct buf *b, const char *shell, const struct command *const *commands,
                    size_t n)
{
    if (strcmp(shell, "fish") == 0) {
        fish(b, commands, n);
        return 0;
    }
    bool is_zsh = strcmp(shell, "zsh") == 0;
    if (!is_zsh && strcmp(shell, "bash") != 0)
        return -1;
    if (is_zsh)
        buf_add(b, S("#compdef muster\nautoload -Uz bashcompinit && bashcompinit\n"));
    bash(b, commands, n);
    if (is_zsh) /* in a file of $fpath, which is read when tab is pressed first */
        buf_add(b, S("[ \"${funcstack[1]}\" != _muster ] || _bash_complete -F _muster\n"));
    return 0;
}
