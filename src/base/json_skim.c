/* One value out of JSON text that is known to be good, without reading the rest into values. */

#include "base/json.h"
#include "base/json_scan.h"

struct skimmer {
    const char *p;
    const char *end;
};

static bool at(const struct skimmer *s, char c)
{
    return s->p < s->end && *s->p == c;
}

static void skip_space(struct skimmer *s)
{
    while (at(s, ' ') || at(s, '\n') || at(s, '\r') || at(s, '\t'))
        s->p++;
}

/* From quote to quote; the text between them, escapes and all. */
static str skip_string(struct skimmer *s)
{
    const char *from = ++s->p;
    uint64_t seen = 0;

    while (s->p < s->end) {
        s->p = json_skip_plain(s->p, s->end, &seen);
        if (at(s, '"'))
            break;
        s->p += at(s, '\\') ? 2 : 1;
    }
    str text = { from, (size_t)((s->p < s->end ? s->p : s->end) - from) };
    s->p = s->p < s->end ? s->p + 1 : s->end;
    return text;
}

static void skip_value(struct skimmer *s)
{
    size_t depth = 0;

    for (skip_space(s); s->p < s->end; s->p++) {
        switch (*s->p) {
        case '"':
            skip_string(s);
            s->p--;
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (depth)
                depth--;
            else
                return; /* of what the value is in */
            break;
        case ',':
            if (!depth)
                return;
            break;
        default:
            continue;
        }
        if (!depth && *s->p != ',') {
            s->p++;
            return;
        }
    }
}

/* To the value of the member; false: there is none. */
static bool enter(struct skimmer *s, str key)
{
    skip_space(s);
    if (!at(s, '{'))
        return false;
    do {
        s->p++;
        skip_space(s);
        if (!at(s, '"'))
            return false;
        str name = skip_string(s);
        skip_space(s);
        if (!at(s, ':'))
            return false;
        s->p++;
        skip_space(s);
        if (str_eq(name, key))
            return true;
        skip_value(s);
        skip_space(s);
    } while (at(s, ','));
    return false;
}

str json_skim_path(str text, const char *const *steps)
{
    struct skimmer s = { text.p, text.p + text.n };

    for (; *steps; steps++)
        if (!enter(&s, str_of(*steps)))
            return STR_NONE;
    const char *from = s.p;
    skip_value(&s);
    return s.p <= s.end ? (str){ from, (size_t)(s.p - from) } : STR_NONE;
}
