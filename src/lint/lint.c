/* Files to documents to objects, and findings in the order of the text. */

#include "lint/internal.h"

#include "base/map.h"
#include "kube/meta.h"

#include <stdio.h>
#include <stdlib.h>

struct lint *lint_new(void)
{
    struct lint *l = mem_new(sizeof(*l));

    l->a = arena_new();
    return l;
}

void lint_free(struct lint *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < COUNT(l->jobs); i++)
        crd_unref(l->jobs[i]);
    for (size_t i = 0; i < l->crds.n; i++)
        crd_unref(l->crds.at[i]);
    vec_done(&l->objects);
    vec_done(&l->findings);
    vec_done(&l->crds);
    arena_free(l->a);
    free(l);
}

/* ---- findings */

static void push(struct lint *l, const struct lint_finding *f)
{
    l->errors += f->level == LINT_ERROR;
    vec_push(&l->findings, *f);
}

static str called(struct arena *a, jv v)
{
    str kind = jv_str(jv_at(v, "kind"), STR_NONE);
    str name = meta_name(v);

    if (!name.n)
        name = meta_str(v, S("generateName"));
    if (!kind.n && !name.n)
        return STR_NONE;
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(kind), STR_ARG(name));
}

void finding_add(struct lint *l, const struct lint_object *o, enum lint_level level, str field,
                 str text)
{
    struct lint_finding f = { .level = level, .file = o->file, .file_n = o->file_n, .text = text };
    str whole = arena_cat(l->a, o->prefix, field);

    if (!field.n && whole.n)
        whole = str_sub(whole, 0, whole.n - 1); /* "items[2]" */
    if (yaml_where_path(o->doc, whole, &f.at) && f.at.line)
        f.at.line += o->line_offset;
    f.field = whole;
    f.object = called(l->a, o->v);
    push(l, &f);
}

const struct lint_finding *lint_findings(const struct lint *l, size_t *n)
{
    *n = l->findings.n;
    return l->findings.at;
}

size_t lint_objects(const struct lint *l)
{
    return l->objects.n;
}

jv lint_object(const struct lint *l, size_t i, str *file, struct yaml_place *at)
{
    const struct lint_object *o = &l->objects.at[i];

    *file = o->file;
    *at = (struct yaml_place){ 0 };
    if (yaml_where(o->doc, o->v, at) && at->line)
        at->line += o->line_offset;
    return o->v;
}

size_t lint_errors(const struct lint *l)
{
    return l->errors;
}

/* ---- documents */

struct piece {
    struct lint *l;
    str file;
    uint32_t line_offset;
};

static void on_duplicate(void *ctx, str key, struct yaml_place first, struct yaml_place again,
                         uint32_t value_line)
{
    struct piece *p = ctx;
    struct lint_finding f = { .file = p->file, .file_n = p->l->n_files, .at = again };

    (void)value_line;
    f.at.line += p->line_offset;
    f.text = arena_printf(p->l->a, "the key \"%" PRI_STR "\" exists already, in line %u",
                          STR_ARG(key), first.line + p->line_offset);
    push(p->l, &f);
}

static void add_object(struct piece *p, const struct yaml_doc *doc, str prefix, jv v)
{
    struct lint_object o = { .file = p->file,
                             .file_n = p->l->n_files,
                             .doc = doc,
                             .line_offset = p->line_offset,
                             .prefix = prefix,
                             .v = v };

    vec_push(&p->l->objects, o);
}

static void add_document(struct piece *p, const struct yaml_doc *doc)
{
    str kind = jv_str(jv_at(doc->root, "kind"), STR_NONE);
    jv items = jv_at(doc->root, "items");

    if (!str_ends(kind, S("List")) || !jv_is(items, JV_ARR)) {
        add_object(p, doc, STR_NONE, doc->root);
        return;
    }
    JV_EACH (it, items)
        add_object(p, doc, arena_printf(p->l->a, "items[%zu].", it.i - 1), it.value);
}

/* "file:3:4: what" is taken apart again; without numbers it is all text. */
static void tell_unreadable(const struct piece *p, const char *msg, uint32_t *line)
{
    struct lint_finding f = { .file = p->file, .file_n = p->l->n_files };
    const char *rest = msg + p->file.n;
    int n = 0;

    if (strncmp(msg, p->file.p, p->file.n) != 0)
        rest = msg;
    /* NOLINTNEXTLINE(cert-err34-c): the numbers are ours */
    if (sscanf(rest, ":%u:%u: %n", &f.at.line, &f.at.column, &n) < 2 || !n) {
        f.at = (struct yaml_place){ 0 };
        n = *rest == ':' ? 2 : 0;
    }
    *line = f.at.line;
    if (f.at.line)
        f.at.line += p->line_offset;
    f.text = arena_str(p->l->a, str_of(rest + n));
    push(p->l, &f);
}

static bool is_separator(str line)
{
    return str_starts(line, S("---")) && (line.n == 3 || line.p[3] == ' ' || line.p[3] == '\r');
}

/* Where the document begins that has this line, and where the next one does (0: there is none),
 * with the number of lines before that. A fault found at a separator is of what comes before. */
static void find_document(str text, uint32_t line, size_t *begin, size_t *next, uint32_t *lines)
{
    str rest = text;
    uint32_t n = 0;

    *begin = *next = 0;
    *lines = 0;
    while (rest.p) {
        size_t at = (size_t)(rest.p - text.p);
        bool starts = is_separator(str_cut(&rest, '\n'));
        n++;
        if (starts && n < line)
            *begin = at;
        if (starts && n >= line) {
            *next = at;
            *lines = n - 1;
            return;
        }
    }
}

static int parse(struct piece *p, str text, struct yaml_docs *docs, struct err *e)
{
    struct yaml_opts opts = { .places = true, .on_duplicate = on_duplicate, .ctx = p };

    return yaml_parse(p->l->a, p->file, text, &opts, docs, e);
}

static void add_documents(struct piece *p, const struct yaml_docs *docs)
{
    for (size_t i = 0; i < docs->n; i++)
        add_document(p, &docs->at[i]);
}

/* A document that cannot be read does not keep the others of the file from being looked at. */
void lint_read(struct lint *l, str file, str text)
{
    struct piece p = { .l = l, .file = arena_str(l->a, file) };

    l->n_files++;
    while (text.n) {
        struct yaml_docs docs = { 0 };
        struct err e = { 0 };
        size_t before = l->findings.n;
        size_t errors = l->errors;
        size_t begin;
        size_t next;
        uint32_t line = 0;
        uint32_t lines;
        if (parse(&p, text, &docs, &e) == 0) {
            add_documents(&p, &docs);
            return;
        }
        l->findings.n = before; /* duplicates in it: told again below */
        l->errors = errors;
        tell_unreadable(&p, e.msg, &line);
        find_document(text, line, &begin, &next, &lines);
        struct lint_finding told = l->findings.at[--l->findings.n];
        if (line && begin && parse(&p, str_sub(text, 0, begin), &docs, NULL) == 0)
            add_documents(&p, &docs);
        vec_push(&l->findings, told);
        if (!line || !next)
            return;
        text = str_sub(text, next, text.n);
        p.line_offset += lines;
    }
}

/* ---- all together */

struct sortable {
    struct lint_finding f;
    size_t at;
};

static int by_place(const void *x, const void *y)
{
    const struct sortable *a = x;
    const struct sortable *b = y;

    if (a->f.file_n != b->f.file_n)
        return a->f.file_n < b->f.file_n ? -1 : 1;
    if (a->f.at.line != b->f.at.line)
        return a->f.at.line < b->f.at.line ? -1 : 1;
    if (a->f.at.column != b->f.at.column)
        return a->f.at.column < b->f.at.column ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void sort_findings(struct lint *l)
{
    size_t n = l->findings.n;
    struct sortable *all = ARENA_ARRAY(l->a, struct sortable, n + 1);

    for (size_t i = 0; i < n; i++)
        all[i] = (struct sortable){ l->findings.at[i], i };
    qsort(all, n, sizeof(*all), by_place);
    for (size_t i = 0; i < n; i++)
        l->findings.at[i] = all[i].f;
}

void lint_namesakes(struct lint *l)
{
    struct map first = { 0 };

    for (size_t i = 0; i < l->objects.n; i++) {
        const struct lint_object *o = &l->objects.at[i];
        str key = arena_printf(l->a, "%" PRI_STR "\n%" PRI_STR "\n%" PRI_STR,
                               STR_ARG(jv_str(jv_at(o->v, "apiVersion"), STR_NONE)),
                               STR_ARG(meta_namespace(o->v)), STR_ARG(called(l->a, o->v)));
        const struct lint_object *before = meta_name(o->v).n ? map_get(&first, key) : NULL;
        if (!before) {
            map_put(&first, key, &l->objects.at[i]);
            continue;
        }
        if (jv_equal(before->v, o->v))
            continue;
        struct yaml_place at;
        str file;
        lint_object(l, (size_t)(before - l->objects.at), &file, &at);
        finding_add(l, o, LINT_WARNING, S("metadata.name"),
                    arena_printf(l->a, "another %" PRI_STR " is at %" PRI_STR ":%u:%u",
                                 STR_ARG(called(l->a, o->v)), STR_ARG(file), at.line, at.column));
    }
    map_done(&first);
}

void lint_check(struct lint *l, int64_t now_ms)
{
    l->now_ms = now_ms;
    for (size_t i = 0; i < l->objects.n; i++)
        object_define(l, &l->objects.at[i]);
    for (size_t i = 0; i < l->objects.n; i++)
        object_check(l, &l->objects.at[i]);
    sort_findings(l);
}
