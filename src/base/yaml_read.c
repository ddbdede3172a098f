/* libyaml's events to JSON values. Aliases share the value they name, so they cost no memory here,
 * but whoever walks the result pays for each; that is why their expanded size is counted. */

#include "base/yaml_internal.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

enum { TEXT_OF_A_NODE = 64 };

struct anchor {
    struct yaml_node node;
    bool open; /* still being read */
};

struct member {
    struct jnode key;
    struct yaml_node value;
    struct yaml_place at;
    size_t i;    /* order of reading */
    bool merged; /* by <<, so no duplicate */
};

struct reader {
    struct arena *a;
    str file;
    const struct yaml_opts *opts;
    struct err *e;
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    struct map anchors;
    size_t nodes;    /* read */
    size_t expanded; /* by aliases */
    struct {
        VEC(struct member);
    } stack; /* members and elements of all open containers */
    struct {
        VEC(struct yaml_mark);
    } marks;
    struct member **scratch;
    size_t scratch_cap;
    size_t told; /* duplicate keys */
};

static struct yaml_place place(yaml_mark_t mark)
{
    return (struct yaml_place){ (uint32_t)mark.line + 1, (uint32_t)mark.column + 1 };
}

__attribute__((format(printf, 3, 4))) static int fail(struct reader *r, struct yaml_place at,
                                                      const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str what = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    if (r->file.n)
        return err_set(r->e, ERR_BAD_REQUEST, "%" PRI_STR ":%u:%u: %" PRI_STR, STR_ARG(r->file),
                       at.line, at.column, STR_ARG(what));
    return err_set(r->e, ERR_BAD_REQUEST, "yaml: %" PRI_STR, STR_ARG(what));
}

/* A byte offset as a place; the reader's errors come with nothing else. */
static struct yaml_place place_of_offset(str text, size_t offset)
{
    struct yaml_place at = { 1, 1 };

    for (size_t i = 0; i < offset && i < text.n; i++) {
        at.column++;
        if (text.p[i] == '\n')
            at = (struct yaml_place){ at.line + 1, 1 };
    }
    return at;
}

/* What libyaml says. Without a file: the line that Go would name, which is off by one for some. */
static int fail_syntax(struct reader *r, str text)
{
    const yaml_parser_t *p = &r->parser;
    const char *what = p->problem ? p->problem : "unknown problem parsing YAML content";

    if (p->error == YAML_MEMORY_ERROR)
        abort();
    if (!r->file.n) {
        size_t line = p->problem_mark.line ? p->problem_mark.line + (p->error == YAML_SCANNER_ERROR)
                                           : p->context_mark.line;
        return line ? err_set(r->e, ERR_BAD_REQUEST, "yaml: line %zu: %s", line, what)
                    : err_set(r->e, ERR_BAD_REQUEST, "yaml: %s", what);
    }
    if (p->error == YAML_READER_ERROR)
        return fail(r, place_of_offset(text, p->problem_offset), "%s", what);
    if (p->context && p->context_mark.line != p->problem_mark.line)
        return fail(r, place(p->problem_mark), "%s (%s from line %zu)", what, p->context,
                    p->context_mark.line + 1);
    return fail(r, place(p->problem_mark), "%s", what);
}

static int next(struct reader *r, str text)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event) != 0;
    return r->has_event ? 0 : fail_syntax(r, text);
}

static int read_scalar(struct reader *r, struct yaml_node *out)
{
    const char *tag = (const char *)r->event.data.scalar.tag;
    str text = { (const char *)r->event.data.scalar.value, r->event.data.scalar.length };
    str why = STR_NONE;

    if (yaml_node_scalar(r->a, text, tag, r->event.data.scalar.plain_implicit, out, &why) < 0)
        return fail(r, out->at, "%" PRI_STR, STR_ARG(why));
    out->size += text.n / TEXT_OF_A_NODE; /* long texts cost as much as many nodes do */
    r->nodes += text.n / TEXT_OF_A_NODE;
    return 0;
}

/* ---- containers */

static int read_node(struct reader *r, str text, unsigned depth, struct yaml_node *out);

static void mark(struct reader *r, const struct jnode *node, struct yaml_place at)
{
    if (r->opts && r->opts->places)
        vec_push(&r->marks, (struct yaml_mark){ node, at });
}

static void grow(struct yaml_node *out, const struct yaml_node *child)
{
    out->size += child->size;
    if (child->depth >= out->depth)
        out->depth = child->depth + 1;
}

static int read_sequence(struct reader *r, str text, unsigned depth, struct yaml_node *out)
{
    size_t first = r->stack.n;

    for (;;) {
        struct member m = { 0 };
        if (next(r, text) < 0)
            return -1;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (read_node(r, text, depth + 1, &m.value) < 0)
            return -1;
        vec_push(&r->stack, m);
    }
    size_t n = r->stack.n - first;
    struct jnode *items = arena_alloc(r->a, n * sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *child = &r->stack.at[first + i].value;
        items[i] = child->v;
        mark(r, &items[i], child->at);
        grow(out, child);
    }
    r->stack.n = first;
    out->v = (struct jnode){ .type = JV_ARR, .n = (uint32_t)n, .u.items = items };
    return 0;
}

static void merge_members(struct reader *r, struct yaml_node *from, jv object, struct yaml_place at)
{
    JV_EACH (it, object) {
        struct member m = { .key = yaml_text_node(it.key), .at = at, .merged = true };
        m.value = (struct yaml_node){ .v = *it.value.node, .at = at };
        m.value.depth = from->depth ? from->depth - 1 : 0;
        vec_push(&r->stack, m);
    }
}

/* << takes a mapping, or a list of them of which the first wins. */
static int merge(struct reader *r, struct yaml_node *value, struct yaml_place at)
{
    static const char wrong[] = "map merge requires map or sequence of maps as the value";
    jv v = { &value->v };

    if (jv_is(v, JV_OBJ)) {
        merge_members(r, value, v, at);
        return 0;
    }
    if (!jv_is(v, JV_ARR) || value->alias)
        return fail(r, value->at, "%s", wrong);
    for (size_t i = jv_len(v); i-- > 0;) {
        if (!jv_is(jv_index(v, i), JV_OBJ))
            return fail(r, value->at, "%s", wrong);
        merge_members(r, value, jv_index(v, i), at);
    }
    return 0;
}

static int by_key(const void *x, const void *y)
{
    const struct member *a = *(const struct member *const *)x;
    const struct member *b = *(const struct member *const *)y;
    int c = str_cmp((str){ a->key.u.text, a->key.n }, (str){ b->key.u.text, b->key.n });

    return c ? c : a->i < b->i ? -1 : 1;
}

static bool same_key(const struct member *a, const struct member *b)
{
    return str_eq((str){ a->key.u.text, a->key.n }, (str){ b->key.u.text, b->key.n });
}

static int duplicate(struct reader *r, const struct member *first, const struct member *again)
{
    str key = { again->key.u.text, again->key.n };

    if (r->opts && r->opts->on_duplicate) {
        if (r->told++ < LIMIT_STRICT)
            r->opts->on_duplicate(r->opts->ctx, key, first->at, again->at, again->value.at.line);
        return 0;
    }
    return fail(r, again->at, "key \"%" PRI_STR "\" is already set at line %u column %u",
                STR_ARG(key), first->at.line, first->at.column);
}

/* Room for n pointers, until the next call. */
static struct member **scratch(struct reader *r, size_t n)
{
    if (n > r->scratch_cap) {
        r->scratch_cap = 2 * n;
        r->scratch = mem_resize(r->scratch, r->scratch_cap * sizeof(struct member *));
    }
    return r->scratch;
}

/* Of members with the same key the last value stays, at the place of the first. The others lose
 * their type. */
static int settle_duplicates(struct reader *r, struct member *members, size_t n)
{
    struct member **order = scratch(r, 2 * n + 2);
    struct member **winner = order + n;
    const struct member *first = NULL;   /* of this key */
    const struct member *written = NULL; /* the last of this key that was not by << */

    for (size_t i = 0; i < n; i++) {
        members[i].i = i;
        order[i] = &members[i];
        winner[i] = NULL;
    }
    if (n)
        qsort(order, n, sizeof(struct member *), by_key);
    for (size_t i = 0; i < n; i++) {
        struct member *m = order[i];
        if (!first || !same_key(first, m)) {
            first = m;
            written = m->merged ? NULL : m;
            continue;
        }
        if (written && !m->merged && duplicate(r, written, m) < 0)
            return -1;
        if (!m->merged)
            written = m;
        m->key.type = JV_NONE;
        winner[first->i] = m;
    }
    for (size_t i = 0; i < n; i++)
        if (winner[i]) {
            members[i].value = winner[i]->value;
            members[i].at = winner[i]->at;
        }
    return 0;
}

static void close_mapping(struct reader *r, struct member *members, size_t n, struct yaml_node *out)
{
    struct jnode *items = arena_alloc(r->a, 2 * n * sizeof(*items));
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        const struct member *m = &members[i];
        if (!m->key.type)
            continue;
        items[used] = m->key;
        items[used + 1] = m->value.v;
        mark(r, &items[used], m->at);
        mark(r, &items[used + 1], m->value.at);
        grow(out, &m->value);
        used += 2;
    }
    out->v = (struct jnode){ .type = JV_OBJ, .n = (uint32_t)used / 2, .u.items = items };
}

static int read_mapping(struct reader *r, str text, unsigned depth, struct yaml_node *out)
{
    size_t first = r->stack.n;

    for (;;) {
        struct member m = { 0 };
        struct yaml_node key;
        str name = STR_NONE;
        if (next(r, text) < 0)
            return -1;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            break;
        if (read_node(r, text, depth + 1, &key) < 0)
            return -1;
        if (!key.merge && yaml_node_key(r->a, &key, &name) < 0)
            return fail(r, key.at, "unsupported key: keys must be text, numbers or booleans");
        if (next(r, text) < 0 || read_node(r, text, depth + 1, &m.value) < 0)
            return -1;
        if (key.merge) {
            out->size += m.value.size;
            if (merge(r, &m.value, key.at) < 0)
                return -1;
            continue;
        }
        m.key = yaml_text_node(name);
        m.at = key.at;
        vec_push(&r->stack, m);
    }
    struct member *members = r->stack.at ? r->stack.at + first : NULL;
    if (settle_duplicates(r, members, r->stack.n - first) < 0)
        return -1;
    close_mapping(r, members, r->stack.n - first, out);
    r->stack.n = first;
    return 0;
}

/* ---- aliases */

static int read_alias(struct reader *r, unsigned depth, struct yaml_node *out)
{
    str name = str_of((const char *)r->event.data.alias.anchor);
    struct anchor *anchor = map_get(&r->anchors, name);
    struct yaml_place at = out->at;

    if (!anchor)
        return fail(r, at, "unknown anchor '%" PRI_STR "' referenced", STR_ARG(name));
    if (anchor->open)
        return fail(r, at, "anchor '%" PRI_STR "' value contains itself", STR_ARG(name));
    *out = anchor->node;
    out->at = at;
    out->alias = true;
    r->expanded += out->size;
    if (r->expanded > LIMIT_YAML_ALIAS_FREE && r->expanded / LIMIT_YAML_ALIAS_FACTOR > r->nodes)
        return fail(r, at, "document contains excessive aliasing");
    if (depth + out->depth > LIMIT_YAML_DEPTH)
        return fail(r, at, "nested too deeply");
    return 0;
}

static struct anchor *open_anchor(struct reader *r, const yaml_char_t *name)
{
    struct anchor *anchor = ARENA_NEW(r->a, struct anchor);

    anchor->open = true;
    map_put(&r->anchors, arena_str(r->a, str_of((const char *)name)), anchor);
    return anchor;
}

static int read_node(struct reader *r, str text, unsigned depth, struct yaml_node *out)
{
    const yaml_char_t *name = NULL;
    yaml_event_type_t type = r->event.type;
    int rc;

    *out = (struct yaml_node){ .at = place(r->event.start_mark), .size = 1 };
    r->nodes++;
    if (type == YAML_ALIAS_EVENT)
        return read_alias(r, depth, out);
    bool container = type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
    if (container && depth >= LIMIT_YAML_DEPTH)
        return fail(r, out->at, "nested too deeply");
    if (type == YAML_SCALAR_EVENT)
        name = r->event.data.scalar.anchor;
    else if (type == YAML_MAPPING_START_EVENT)
        name = r->event.data.mapping_start.anchor;
    else
        name = r->event.data.sequence_start.anchor;
    struct anchor *anchor = name ? open_anchor(r, name) : NULL;
    if (type == YAML_SCALAR_EVENT)
        rc = read_scalar(r, out);
    else if (type == YAML_MAPPING_START_EVENT)
        rc = read_mapping(r, text, depth, out);
    else
        rc = read_sequence(r, text, depth, out);
    if (rc == 0 && anchor)
        *anchor = (struct anchor){ .node = *out };
    return rc;
}

/* ---- documents */

static struct yaml_where *take_marks(struct reader *r, jv root)
{
    if (!r->opts || !r->opts->places)
        return NULL;
    struct yaml_where *w = ARENA_NEW(r->a, struct yaml_where);
    w->root = root;
    w->n = r->marks.n;
    w->mark = ARENA_ARRAY(r->a, struct yaml_mark, w->n);
    if (w->n)
        memcpy(w->mark, r->marks.at, w->n * sizeof(*w->mark));
    yaml_where_sort(w);
    return w;
}

static int read_document(struct reader *r, str text, struct yaml_doc *out)
{
    struct yaml_node node;

    map_done(&r->anchors);
    r->marks.n = 0;
    if (next(r, text) < 0 || read_node(r, text, 0, &node) < 0 || next(r, text) < 0)
        return -1;
    struct jnode *root = arena_alloc(r->a, sizeof(*root));
    *root = node.v;
    mark(r, root, node.at);
    out->root = (jv){ root };
    out->where = take_marks(r, out->root);
    return 0;
}

static int read_stream(struct reader *r, str text, struct yaml_docs *out)
{
    struct {
        VEC(struct yaml_doc);
    } docs = { 0 };
    int rc = 0;

    while (rc == 0) {
        struct yaml_doc d;
        rc = next(r, text);
        if (rc < 0 || r->event.type == YAML_STREAM_END_EVENT)
            break;
        if (r->event.type != YAML_DOCUMENT_START_EVENT)
            continue;
        rc = read_document(r, text, &d);
        if (rc == 0 && !jv_is_null(d.root))
            vec_push(&docs, d);
    }
    if (rc == 0) {
        *out = (struct yaml_docs){ ARENA_ARRAY(r->a, struct yaml_doc, docs.n), docs.n };
        if (docs.n)
            memcpy(out->at, docs.at, docs.n * sizeof(*docs.at));
    }
    vec_done(&docs);
    return rc;
}

/* Lines that start so are directives, but for odd texts in quotes, which have fewer of them. */
static bool has_many_tags(str text)
{
    size_t n = 0;

    if (!text.n)
        return false; /* its pointer may be NULL */
    for (const char *p = text.p, *end = text.p + text.n; p && n <= LIMIT_YAML_TAGS;) {
        p = memmem(p, (size_t)(end - p), "%TAG", 4);
        if (!p)
            break;
        n += p == text.p || p[-1] == '\n' || p[-1] == '\r';
        p += 4;
    }
    return n > LIMIT_YAML_TAGS;
}

int yaml_read(struct arena *a, str file, str text, const struct yaml_opts *opts,
              struct yaml_docs *out, struct err *e)
{
    struct reader r = { .a = a, .file = file, .opts = opts, .e = e };

    if (text.n > INT32_MAX)
        return err_set(e, ERR_TOO_LARGE, "YAML text of %zu bytes is too large", text.n);
    if (has_many_tags(text))
        return err_set(e, ERR_TOO_LARGE, "YAML text with more than %d %%TAG directives",
                       LIMIT_YAML_TAGS);
    if (!yaml_parser_initialize(&r.parser))
        abort();
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.p ? text.p : ""), text.n);
    int rc = read_stream(&r, text, out);
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    map_done(&r.anchors);
    vec_done(&r.stack);
    vec_done(&r.marks);
    free(r.scratch);
    return rc;
}
