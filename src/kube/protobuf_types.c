/* Field numbers, from the tables of words or from the order of rows. */

#include "kube/protobuf_types.h"

enum pb_type pb_type_of(const struct schema *s)
{
    switch (s->type) {
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return PB_VARINT;
    case SCHEMA_NUMBER:
        return PB_FIXED64;
    case SCHEMA_ANY:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
    case SCHEMA_STRING:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
        break;
    }
    return PB_BYTES;
}

const struct wire_type *pb_type_find(const struct wire *w, str name)
{
    size_t from = 0;
    size_t to = w->n;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int c = str_cmp(name, str_of(w->types[mid].name));
        if (c == 0)
            return &w->types[mid];
        if (c < 0)
            to = mid;
        else
            from = mid + 1;
    }
    return NULL;
}

bool pb_next_word(str *rest, int64_t *n, str *word, uint64_t *number)
{
    while (rest->p) {
        *word = str_cut(rest, ' ');
        if (!str_ends(*word, S(":"))) {
            *number = (uint64_t)(*n)++;
            return true;
        }
        str_to_int(str_sub(*word, 0, word->n - 1), n);
    }
    return false;
}

str pb_word_at(const struct wire_type *t, uint64_t number)
{
    str rest = str_of(t->fields);
    uint64_t at;
    int64_t n = 1;
    str word;

    while (pb_next_word(&rest, &n, &word, &at))
        if (at == number)
            return word;
    return STR_NONE;
}

/* Rows before the first that is a field: the kind and apiVersion of the envelope. */
static size_t typed_rows(const struct schema *s)
{
    return s->n_fields > 1 && str_eqz(s->fields[0].name, "kind") &&
                   str_eqz(s->fields[1].name, "apiVersion")
               ? 2
               : 0;
}

const struct schema_field *pb_row_at(const struct schema *s, uint64_t number)
{
    uint64_t i = number - 1 + typed_rows(s);

    return i < s->n_fields ? &s->fields[i] : NULL;
}

uint64_t pb_row_number(const struct schema *s, const struct schema_field *row)
{
    size_t i = (size_t)(row - s->fields);

    return i < typed_rows(s) ? 0 : i - typed_rows(s) + 1;
}

str pb_embedded(struct arena *a, str type, str word)
{
    size_t dot = (size_t)(str_rfind(type, '.') + 1);

    return arena_cat(a, str_sub(type, 0, dot), str_sub(word, 1, word.n));
}
