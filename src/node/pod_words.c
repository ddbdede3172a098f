/* Where a pod's containers leave their words, and the last ones: the termination message, or the
 * end of the log. */

#include "node/internal.h"

#include <stdio.h>

enum {
    MESSAGE_MAX = 4096,
    TAIL_MAX = 2048, /* of a log, when there is no message */
    TAIL_LINES = 80,
    TAIL_READ = 4 * TAIL_MAX, /* with what the log's format adds to it */
};

str pod_term_path(struct arena *a, const struct pod *p, str container)
{
    return arena_printf(a, "%s/term.%" PRI_STR, p->dir, STR_ARG(container));
}

/* The last bytes of a file. */
static str pod_read_end(struct arena *a, const char *path, size_t most)
{
    FILE *f = fopen(path, "re");
    char *b = arena_alloc(a, most + 1);
    size_t n = 0;

    if (!f)
        return S("");
    if (fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        fseek(f, size > (long)most ? size - (long)most : 0, SEEK_SET);
    }
    n = fread(b, 1, most, f);
    fclose(f);
    return (str){ b, n };
}

/* "TIME stream F text" without what stands before the text. */
static str log_tail(struct arena *a, str lines)
{
    AUTO(buf) struct buf b = { 0 };
    size_t skip = 0, n = 0;

    for (size_t i = 0; i < lines.n; i++)
        n += lines.p[i] == '\n';
    skip = n > TAIL_LINES ? n - TAIL_LINES : 0;
    for (str rest = lines; rest.p && rest.n;) {
        str line = str_cut(&rest, '\n');
        if (skip && skip--)
            continue;
        str_cut(&line, ' ');
        str_cut(&line, ' ');
        str kind = str_cut(&line, ' ');
        if (!line.p || kind.n != 1)
            continue; /* cut off at the start */
        buf_add(&b, line);
        if (kind.p[0] == 'F')
            buf_addc(&b, '\n');
    }
    str s = arena_str(a, buf_str(&b));
    return s.n > TAIL_MAX ? str_sub(s, s.n - TAIL_MAX, s.n) : s;
}

str pod_last_words(struct arena *a, struct pod *p, const struct life_container *c, bool failed)
{
    str policy = jv_str(jv_at(c->spec, "terminationMessagePolicy"), S("File"));
    AUTO(buf) struct buf text = { 0 };
    str said = pod_read_end(a, pod_term_path(a, p, c->name).p, MESSAGE_MAX);

    if (!said.n && failed && str_eq(policy, S("FallbackToLogsOnError"))) {
        str log = node_log_path(a, p->n->o.data, p->life->pod, c->name, c->attempt);
        said = log.n ? log_tail(a, pod_read_end(a, log.p, TAIL_READ)) : STR_NONE;
    }
    buf_add_utf8(&text, said); /* a status is JSON */
    return arena_str(a, buf_str(&text));
}
