/* Reading, writing, sorting and merging the entries of managedFields. */

#include "kube/managed_entries.h"
#include "base/limits.h"
#include "base/time.h"
#include "base/vec.h"

#include <stdlib.h>

static void identify(struct arena *a, struct managed_entry *en)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("{"));
    if (en->manager.n) {
        buf_add(&b, S("\"manager\":"));
        json_print_str(&b, en->manager);
        buf_addc(&b, ',');
    }
    buf_add(&b, en->apply ? S("\"operation\":\"Apply\"") : S("\"operation\":\"Update\""));
    if (!en->apply) { /* one applier has one entry, whatever version it speaks */
        buf_add(&b, S(",\"apiVersion\":"));
        json_print_str(&b, en->api_version);
    }
    if (en->subresource.n) {
        buf_add(&b, S(",\"subresource\":"));
        json_print_str(&b, en->subresource);
    }
    buf_addc(&b, '}');
    en->id = arena_str(a, buf_str(&b));
}

static struct managed_entry *by_id(struct managed *m, str id)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->at[i].id, id))
            return &m->at[i];
    return NULL;
}

/* Where an entry of that identity goes: its old place, or a new one. */
static struct managed_entry *place(struct managed *m, const struct managed_entry *en)
{
    struct managed_entry *old = by_id(m, en->id);

    if (old) {
        *old = *en;
        return old;
    }
    vec_room_in(m->a, m);
    m->at[m->n] = *en;
    return &m->at[m->n++];
}

static int decode_entry(struct managed *m, jv v, size_t i, struct err *e)
{
    str operation = jv_str(jv_at(v, "operation"), S(""));
    str type = jv_str(jv_at(v, "fieldsType"), S(""));
    struct managed_entry en = {
        .manager = jv_str(jv_at(v, "manager"), S("")),
        .apply = str_eq(operation, S("Apply")),
        .api_version = jv_str(jv_at(v, "apiVersion"), S("")),
        .subresource = jv_str(jv_at(v, "subresource"), S("")),
        .time = jv_str(jv_at(v, "time"), S("")),
        .fields = jv_at(v, "fieldsV1"),
    };

    if (!en.apply && !str_eq(operation, S("Update")))
        return err_set(e, ERR_UNKNOWN, "operation must be `Apply` or `Update`");
    if (!en.api_version.n)
        return err_set(e, ERR_UNKNOWN, "apiVersion must not be empty");
    if (!type.n)
        return err_set(e, ERR_UNKNOWN, "missing fieldsType in managed fields entry %zu", i);
    if (!str_eq(type, S("FieldsV1")))
        return err_set(e, ERR_UNKNOWN,
                       "invalid fieldsType \"%" PRI_STR "\" in managed fields entry %zu",
                       STR_ARG(type), i);
    if (fieldset_parse(m->a, en.fields, &en.set, e) < 0)
        return -1;
    identify(m->a, &en);
    place(m, &en);
    return 0;
}

int managed_decode(struct managed *m, jv entries, struct err *e)
{
    JV_EACH (it, entries) {
        if (decode_entry(m, it.value, it.i - 1, e) < 0) {
            m->n = 0;
            return -1;
        }
    }
    return 0;
}

static int64_t seconds(const struct managed_entry *en)
{
    int64_t us = 0;

    return en->time.n && time_parse(en->time, &us, NULL) == 0 ? us / 1000000 : 0;
}

/* Applies before updates, then by time, then by name: what a client sees from one write to the next
 * moves as little as can be. */
static int by_operation(const void *x, const void *y)
{
    const struct managed_entry *a = x;
    const struct managed_entry *b = y;

    if (a->apply != b->apply)
        return a->apply ? -1 : 1;
    int64_t s = seconds(a);
    int64_t t = seconds(b);
    if (s != t)
        return s < t ? -1 : 1;
    int c = str_cmp(a->manager, b->manager);
    if (!c)
        c = str_cmp(a->api_version, b->api_version);
    return c ? c : str_cmp(a->subresource, b->subresource);
}

static jv encode_entry(struct arena *a, const struct managed_entry *en)
{
    jv none = JV_ABSENT;

    return jobj(a, { "manager", en->manager.n ? jstr(a, en->manager) : none },
                { "operation", jstr(a, en->apply ? S("Apply") : S("Update")) },
                { "apiVersion", jstr(a, en->api_version) },
                { "time", en->time.n ? jstr(a, en->time) : none },
                { "fieldsType", jstrz(a, "FieldsV1") },
                { "fieldsV1", jv_exists(en->fields) ? en->fields : fieldset_json(a, en->set) },
                { "subresource", en->subresource.n ? jstr(a, en->subresource) : none });
}

jv managed_encode(struct managed *m)
{
    struct jbuild b = jb_arr(m->a);

    if (!m->n)
        return JV_ABSENT;
    if (m->n > 1)
        qsort(m->at, m->n, sizeof(*m->at), by_operation);
    for (size_t i = 0; i < m->n; i++)
        jb_push(&b, encode_entry(m->a, &m->at[i]));
    return jb_done(&b);
}

static struct managed_entry entry_of(struct arena *a, const struct managed_write *w, bool apply)
{
    struct managed_entry en = {
        .manager = w->manager.n ? w->manager : S("unknown"),
        .apply = apply,
        .api_version = w->api_version,
        .subresource = w->subresource,
    };

    identify(a, &en);
    return en;
}

struct managed_entry *managed_add(struct managed *m, const struct managed_write *w, bool apply)
{
    struct managed_entry en = entry_of(m->a, w, apply);
    struct managed_entry *old = by_id(m, en.id);

    return old ? old : place(m, &en);
}

void managed_set(struct managed_entry *e, struct fieldset set)
{
    if (fieldset_equal(e->set, set))
        return;
    e->set = set;
    e->fields = JV_ABSENT;
}

void managed_drop_empty(struct managed *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        if (m->at[i].set.n)
            m->at[n++] = m->at[i];
    m->n = n;
}

struct update {
    struct managed_entry *en;
};

static int by_age(const void *x, const void *y)
{
    const struct managed_entry *a = ((const struct update *)x)->en;
    const struct managed_entry *b = ((const struct update *)y)->en;
    int64_t s = seconds(a);
    int64_t t = seconds(b);

    return s != t ? (s < t ? -1 : 1) : str_cmp(a->id, b->id);
}

/* Puts old into the bucket of its version, which takes the place of the first that went there. */
static void bury(struct managed *m, struct managed_entry *bucket, struct managed_entry *old)
{
    if (!str_eq(bucket->manager, S("ancient-changes")) || bucket->subresource.n) {
        bucket->manager = S("ancient-changes");
        bucket->subresource = STR_NONE;
        identify(m->a, bucket);
    }
    bucket->time = old->time;
    managed_set(bucket, fieldset_union(m->a, bucket->set, old->set));
    old->set = (struct fieldset){ 0 };
}

void managed_cap(struct managed *m)
{
    struct update *updates = arena_alloc(m->a, (m->n + 1) * sizeof(*updates));
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        if (!m->at[i].apply)
            updates[n++].en = &m->at[i];
    if (n <= LIMIT_MANAGED_FIELDS)
        return;
    qsort(updates, n, sizeof(*updates), by_age);
    size_t left = n;
    for (size_t i = 1; i < n && left > LIMIT_MANAGED_FIELDS; i++) {
        struct managed_entry *first = NULL;
        for (size_t j = 0; !first && j < i; j++)
            if (updates[j].en->set.n &&
                str_eq(updates[j].en->api_version, updates[i].en->api_version))
                first = updates[j].en;
        if (!first)
            continue;
        /* a bucket from before is used again, wherever it is */
        for (size_t j = 0; j < n; j++)
            if (j != i && updates[j].en->set.n && !updates[j].en->subresource.n &&
                str_eq(updates[j].en->manager, S("ancient-changes")) &&
                str_eq(updates[j].en->api_version, updates[i].en->api_version))
                first = updates[j].en;
        bury(m, first, updates[i].en);
        left--;
    }
    managed_drop_empty(m);
}
