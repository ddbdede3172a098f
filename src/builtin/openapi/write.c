/* A small JSON writer for documents too large to build as values. */

#include "builtin/openapi/internal.h"

static void comma(struct writer *w)
{
    if (w->more)
        buf_addc(w->b, ',');
    w->more = false;
}

void w_open(struct writer *w, char bracket)
{
    comma(w);
    buf_addc(w->b, bracket);
}

void w_close(struct writer *w, char bracket)
{
    buf_addc(w->b, bracket);
    w->more = true;
}

void w_key(struct writer *w, str key)
{
    comma(w);
    json_print_str(w->b, key);
    buf_addc(w->b, ':');
}

void w_str(struct writer *w, str s)
{
    comma(w);
    json_print_str(w->b, s);
    w->more = true;
}

void w_value(struct writer *w, jv v)
{
    comma(w);
    json_print(w->b, v);
    w->more = true;
}

void w_bool(struct writer *w, bool b)
{
    w_value(w, jbool(b));
}

void w_member(struct writer *w, const char *key, str s)
{
    w_key(w, str_of(key));
    w_str(w, s);
}

void w_open_member(struct writer *w, const char *key, char bracket)
{
    w_key(w, str_of(key));
    w_open(w, bracket);
}

void w_ref(struct writer *w, str name)
{
    w_key(w, S("$ref"));
    comma(w);
    buf_addc(w->b, '"');
    buf_add(w->b, w->v2 ? S("#/definitions/") : S("#/components/schemas/"));
    buf_add(w->b, name);
    buf_addc(w->b, '"');
    w->more = true;
}
