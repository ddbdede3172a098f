/* Scalars with their tags to JSON values and keys. */

#include "base/yaml_internal.h"

#include "base/base64.h"
#include "base/gofloat.h"

#include <float.h>
#include <math.h>
#include <yaml.h>

struct jnode yaml_text_node(str s)
{
    return (struct jnode){ .type = JV_STR, .n = (uint32_t)s.n, .u.text = s.p };
}

static int number(struct arena *a, const struct yaml_scalar *s, struct yaml_node *out, str *why)
{
    char text[GOFLOAT_BYTES];

    if (s->kind == YAML_UINT) {
        out->v = *jnum(a, arena_printf(a, "%llu", (unsigned long long)s->u)).node;
        return 0;
    }
    if (!isfinite(s->d)) {
        const char *name = isnan(s->d) ? ".nan" : s->d < 0 ? "-.inf" : ".inf";
        *why = arena_printf(a, "%s cannot be written in JSON", name);
        return -1;
    }
    out->is_float = true;
    out->d = s->d;
    out->v = *jnum(a, arena_str(a, (str){ text, gofloat_json(text, s->d) })).node;
    return 0;
}

static int binary(struct arena *a, str text, struct yaml_node *out, str *why)
{
    str bytes = STR_NONE;

    if (base64_decode(a, text, &bytes, NULL) < 0) {
        *why = S("!!binary value contains invalid base64 data");
        return -1;
    }
    if (!str_is_utf8(bytes)) {
        *why = S("!!binary value is not text and cannot be written in JSON");
        return -1;
    }
    out->v = yaml_text_node(bytes);
    return 0;
}

/* The kind that a tag asks for; YAML_STR for all that mean plain text. */
static enum yaml_kind tagged_kind(const char *tag)
{
    static const struct {
        const char *tag;
        enum yaml_kind kind;
    } rows[] = {
        { YAML_NULL_TAG, YAML_NULL },      { YAML_BOOL_TAG, YAML_BOOL },
        { YAML_INT_TAG, YAML_INT },        { YAML_FLOAT_TAG, YAML_FLOAT },
        { YAML_TIMESTAMP_TAG, YAML_TIME },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].tag, tag) == 0)
            return rows[i].kind;
    return YAML_STR;
}

static bool has_kind(enum yaml_kind want, struct yaml_scalar *s)
{
    if (want == YAML_FLOAT && s->kind == YAML_INT)
        *s = (struct yaml_scalar){ .kind = YAML_FLOAT, .d = (double)s->i };
    return s->kind == want || (want == YAML_INT && s->kind == YAML_UINT);
}

int yaml_node_scalar(struct arena *a, str text, const char *tag, bool plain, struct yaml_node *out,
                     str *why)
{
    struct yaml_scalar s = { .kind = YAML_STR };
    enum yaml_kind want = tag ? tagged_kind(tag) : YAML_STR;

    out->merge =
        str_eq(text, S("<<")) && (plain || (tag && strcmp(tag, "tag:yaml.org,2002:merge") == 0));
    if (tag && strcmp(tag, "tag:yaml.org,2002:binary") == 0)
        return binary(a, text, out, why);
    if (want != YAML_STR || (!tag && plain))
        s = yaml_resolve(text);
    if (want != YAML_STR && !has_kind(want, &s)) {
        *why = arena_printf(a, "cannot decode %s `%" PRI_STR "` as a %s", yaml_kind_name(s.kind),
                            STR_ARG(text), yaml_kind_name(want));
        return -1;
    }
    switch (s.kind) {
    case YAML_STR:
    case YAML_TIME:
        out->v = yaml_text_node(arena_str(a, text));
        return 0;
    case YAML_NULL:
        out->v = (struct jnode){ .type = JV_NULL };
        return 0;
    case YAML_BOOL:
        out->v = (struct jnode){ .type = JV_BOOL, .u.i = s.i };
        return 0;
    case YAML_INT:
        out->v = (struct jnode){ .type = JV_INT, .u.i = s.i };
        return 0;
    case YAML_UINT:
    case YAML_FLOAT:
        return number(a, &s, out, why);
    }
    return 0;
}

int yaml_node_key(struct arena *a, const struct yaml_node *key, str *out)
{
    char text[GOFLOAT_BYTES];
    jv v = { &key->v };

    if (jv_is(v, JV_STR))
        *out = jv_str(v, STR_NONE);
    else if (key->is_float && fabs(key->d) > (double)FLT_MAX)
        *out = key->d < 0 ? S("-.inf") : S(".inf"); /* keys go through 32 bits, as in Go */
    else if (key->is_float)
        *out = arena_str(a, (str){ text, gofloat_g(text, key->d, 32) });
    else if (jv_is(v, JV_INT))
        *out = jv_num_text(a, v);
    else if (jv_is(v, JV_BOOL))
        *out = jv_bool(v, false) ? S("true") : S("false");
    else
        return -1;
    return 0;
}
