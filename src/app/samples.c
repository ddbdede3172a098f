/* Samples in Prometheus' text format. */

#include "app/samples.h"

#include <inttypes.h>
#include <math.h>

static void add_escaped(struct buf *b, str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' || s.p[i] == '"')
            buf_addc(b, '\\');
        if (s.p[i] == '\n')
            buf_add(b, S("\\n"));
        else
            buf_addc(b, s.p[i]);
    }
}

void sample_print(void *ctx, const struct ctl_sample *s)
{
    struct sample_page *p = ctx;

    if (!p->family || strcmp(p->family, s->family) != 0)
        buf_printf(p->b, "# HELP %s %s\n# TYPE %s %s\n", s->family, s->help, s->family, s->type);
    p->family = s->family;
    buf_printf(p->b, "%s%s", s->family, s->suffix);
    for (size_t i = 0; i < s->n_labels; i++) {
        buf_printf(p->b, "%s%s=\"", i ? "," : "{", s->labels[i].key);
        add_escaped(p->b, s->labels[i].value);
        buf_addc(p->b, '"');
    }
    if (s->n_labels)
        buf_addc(p->b, '}');
    if (fabs(s->value) < 1e15 && fabs(s->value - rint(s->value)) <= 0)
        buf_printf(p->b, " %" PRId64 "\n", (int64_t)s->value);
    else
        buf_printf(p->b, " %.13g\n", s->value);
}
