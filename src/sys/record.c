/* Writes and reads records. Nothing of a record is trusted before record_is_whole() has seen it. */

#include "sys/record.h"

#include "sys/sys.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

void record_add(struct buf *b, const char *key, str value)
{
    if (value.n && memchr(value.p, 0, value.n)) { /* or its parts would be pairs of their own */
        record_add(b, RECORD_NUL, str_of(key));
        return;
    }
    buf_add(b, str_of(key));
    buf_addc(b, 0);
    buf_add(b, value);
    buf_addc(b, 0);
}

void record_int(struct buf *b, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, value);
    record_add(b, key, str_of(text));
}

void record_put_n(struct buf *b, const struct record_pair *pairs, size_t n)
{
    for (const struct record_pair *p = pairs; p < pairs + n; p++) {
        if (p->none)
            continue;
        if (p->text)
            record_add(b, p->key, str_of(p->text));
        else
            record_int(b, p->key, p->number);
    }
}

static const char *next_text(str *rest)
{
    const char *at = rest->p;
    const char *end = rest->n ? memchr(at, 0, rest->n) : NULL;

    if (!end)
        return NULL;
    *rest = (str){ end + 1, rest->n - (size_t)(end + 1 - at) };
    return at;
}

bool record_next(struct record_iter *it)
{
    str rest = it->rest;
    const char *key = next_text(&rest);
    const char *value = key ? next_text(&rest) : NULL;

    if (!value)
        return false;
    *it = (struct record_iter){ rest, key, value };
    return true;
}

bool record_is_whole(str r)
{
    struct record_iter it = { .rest = r };

    while (record_next(&it))
        ;
    return it.rest.n == 0;
}

static const char *find(str r, const char *key)
{
    RECORD_EACH(it, r)
    if (strcmp(it.key, key) == 0)
        return it.value;
    return NULL;
}

const char *record_get(str r, const char *key)
{
    const char *value = find(r, key);

    return value ? value : "";
}

int64_t record_get_int(str r, const char *key, int64_t fallback)
{
    int64_t i;

    return str_to_int(str_of(record_get(r, key)), &i) ? i : fallback;
}

str record_read(struct arena *a, int dirfd, const char *path, struct err *e)
{
    struct stat st;

    if (fstatat(dirfd, path, &st, 0) < 0) {
        err_sys(e, "%s", path);
        return STR_NONE;
    }
    if (st.st_size < 0 || st.st_size > RECORD_BYTES) {
        err_set(e, ERR_TOO_LARGE, "%s has over %d bytes", path, RECORD_BYTES);
        return STR_NONE;
    }
    char *text = arena_alloc(a, (size_t)st.st_size + 1);
    ssize_t n = sys_read_file(dirfd, path, text, (size_t)st.st_size + 1);
    if (n < 0) {
        err_sys(e, "%s", path);
        return STR_NONE;
    }
    if (!record_is_whole((str){ text, (size_t)n })) {
        err_set(e, ERR_INVALID, "%s is not a record: keys and values that end in NUL", path);
        return STR_NONE;
    }
    return (str){ text, (size_t)n };
}
