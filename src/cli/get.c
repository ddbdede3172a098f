/* muster get: jobs, or any other resource in the columns that the server has for it. */

#include "cli/get.h"

#include "base/yaml.h"
#include "cli/served.h"
#include "cli/track.h"
#include "loop/loop.h"

static const struct opt options[] = {
    { "output", 'o', OPT_TEXT, offsetof(struct get_flags, output), "FORMAT",
      "output format: wide, json, yaml or name", "wide|json|yaml|name" },
    { "all-namespaces", 'A', OPT_FLAG, offsetof(struct get_flags, all), NULL,
      "list objects of all namespaces", NULL },
    { "selector", 'l', OPT_TEXT, offsetof(struct get_flags, labels), "LABELS",
      "list only objects with these labels, as in a=b,c!=d", NULL },
    { "watch", 'w', OPT_FLAG, offsetof(struct get_flags, watch), NULL,
      "keep running and print a line for each change", NULL },
    { "no-headers", 0, OPT_FLAG, offsetof(struct get_flags, bare), NULL, "omit the header line",
      NULL },
    SESSION_OPTIONS(struct get_flags, to),
    { 0 }
};

#define AS_TABLE \
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io"

enum get_form get_form(const struct get_flags *f)
{
    static const char *const names[] = {
        [FORM_WIDE] = "wide", [FORM_JSON] = "json", [FORM_YAML] = "yaml", [FORM_NAME] = "name"
    };

    for (size_t i = FORM_WIDE; f->output && i < COUNT(names); i++)
        if (strcmp(f->output, names[i]) == 0)
            return (enum get_form)i;
    return FORM_TABLE;
}

static void print_name(struct buf *b, jv obj)
{
    AUTO(buf) struct buf kind = { 0 };
    str version = jv_str(jv_at(obj, "apiVersion"), STR_NONE);
    ptrdiff_t slash = str_find(version, '/');
    str word = jv_str(jv_at(obj, "kind"), STR_NONE);

    for (size_t i = 0; i < word.n; i++)
        buf_addc(&kind, word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i]);
    buf_add(b, buf_str(&kind));
    if (slash >= 0)
        buf_printf(b, ".%.*s", (int)slash, version.p);
    buf_printf(b, "/%" PRI_STR "\n", STR_ARG(meta_name(obj)));
}

jv get_typed(struct arena *a, const struct kube_resource *res, jv obj)
{
    str version =
        res->group[0] ? arena_printf(a, "%s/%s", res->group, res->version) : str_of(res->version);

    obj = jv_with_key(a, obj, S("kind"), jstr(a, str_of(res->kind)));
    return jv_with_key(a, obj, S("apiVersion"), jstr(a, version));
}

int get_print_objects(struct session *s, enum get_form form, jv items, bool list)
{
    AUTO(buf) struct buf b = { 0 };
    struct arena *a = s->a;
    struct jbuild bare = jb_arr(a);

    JV_EACH (it, items) /* as kubectl does */
        jb_push(&bare, jv_without(a, it.value, "metadata", "managedFields"));
    items = jb_done(&bare);
    jv whole = jv_index(items, 0);

    if (list)
        whole = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "List") },
                     { "metadata", JV_EMPTY_OBJ }, { "items", items });
    if (form == FORM_NAME) {
        JV_EACH (it, items)
            print_name(&b, it.value);
    } else if (form == FORM_YAML) {
        yaml_print(&b, whole);
    } else {
        json_print_indent(&b, whole, 4);
        buf_addc(&b, '\n');
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the server's tables */

struct target {
    const struct served_resource *found;
    char **names;
    int n;         /* 0: all */
    bool prefixed; /* "pod/a": there are several kinds */
};

struct table_watch {
    struct session *s;
    const struct get_flags *f;
    const struct target *t;
    struct table table;
    bool *shown; /* of the server's columns */
    size_t n_shown;
    size_t rows;
    bool over;
};

static void start_columns(struct table_watch *w, jv columns)
{
    size_t i = 0;

    table_init(&w->table, w->s->a, w->f->all && !w->t->found->res.cluster_wide ? "NAMESPACE" : "");
    w->table.bare = w->f->bare;
    w->n_shown = jv_len(columns);
    w->shown = ARENA_ARRAY(w->s->a, bool, w->n_shown + 1);
    for (struct jv_iter it = jv_iter(columns); jv_next(&it); i++) {
        AUTO(buf) struct buf name = { 0 };
        str said = jv_str(jv_at(it.value, "name"), STR_NONE);
        w->shown[i] = get_form(w->f) == FORM_WIDE || jv_int(jv_at(it.value, "priority"), 0) == 0;
        for (size_t k = 0; k < said.n; k++)
            buf_addc(&name,
                     said.p[k] >= 'a' && said.p[k] <= 'z' ? (char)(said.p[k] - 32) : said.p[k]);
        if (w->shown[i] && w->table.columns < TABLE_COLUMNS)
            table_column(&w->table, buf_str(&name));
        else
            w->shown[i] = false;
    }
}

static str cell_text(struct arena *a, jv v)
{
    if (jv_is(v, JV_STR))
        return jv_str(v, STR_NONE);
    return jv_is_null(v) ? S("<none>") : json_text(a, v);
}

static void add_row(struct table_watch *w, struct arena *a, jv row)
{
    str cells[TABLE_COLUMNS] = { 0 };
    size_t n = 0;
    size_t i = 0;

    if (w->f->all && !w->t->found->res.cluster_wide)
        cells[n++] = meta_namespace(jv_at(row, "object"));
    size_t first = n;
    for (struct jv_iter it = jv_iter(jv_at(row, "cells")); jv_next(&it) && i < w->n_shown; i++)
        if (w->shown[i])
            cells[n++] = cell_text(a, it.value);
    if (w->t->prefixed)
        cells[first] = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(w->t->found->singular),
                                    STR_ARG(cells[first]));
    table_add(&w->table, cells);
    w->rows++;
}

static void on_table(void *ctx, enum kube_event type, jv obj)
{
    struct table_watch *w = ctx;
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    jv columns = jv_at(obj, "columnDefinitions");

    (void)type;
    if (!w->shown && jv_len(columns))
        start_columns(w, columns);
    if (!w->shown)
        return;
    w->table.a = a; /* rows are printed before it goes */
    JV_EACH (it, jv_at(obj, "rows"))
        add_row(w, a, it.value);
    table_print(&w->table, &b);
    w->table.rows = NULL;
    w->table.cap = 0;
    if (command_print(buf_str(&b)) < 0)
        w->over = true;
}

static str target_ns(const struct session *s, const struct get_flags *f, const struct target *t)
{
    return f->all || t->found->res.cluster_wide ? STR_NONE : s->ns;
}

static int watch_table(struct session *s, const struct get_flags *f, const struct target *t)
{
    struct table_watch w = { .s = s, .f = f, .t = t };
    struct track_opts o = { .res = &t->found->res,
                            .ns = target_ns(s, f, t),
                            .name = t->n ? str_of(t->names[0]) : STR_NONE,
                            .labels = str_of(f->labels),
                            .accept = AS_TABLE,
                            .on_event = on_table,
                            .ctx = &w };
    struct track *follow = track_start(s, &o);
    int code = EXIT_INTERRUPTED;

    while (!w.over && !s->interrupted && !track_failed(follow))
        loop_turn(s->loop);
    if (track_failed(follow))
        code = session_fail(s, track_failed(follow), "watch %s", t->found->res.plural);
    else if (w.over)
        code = EXIT_FAILED;
    track_stop(follow);
    return code;
}

static int ask_target(struct session *s, const struct get_flags *f, const struct target *t,
                      struct ask **out, size_t *n)
{
    const char *accept = get_form(f) <= FORM_WIDE ? AS_TABLE : NULL;
    size_t many = t->n ? (size_t)t->n : 1;
    struct ask *asks = ARENA_ARRAY(s->a, struct ask, many);

    for (size_t i = 0; i < many; i++)
        asks[i].req = (struct kube_request){ .verb = t->n ? KUBE_GET : KUBE_LIST,
                                             .res = &t->found->res,
                                             .ns = target_ns(s, f, t),
                                             .name = t->n ? str_of(t->names[i]) : STR_NONE,
                                             .labels = str_of(f->labels),
                                             .accept = accept };
    *out = asks;
    *n = many;
    return session_ask(s, asks, many);
}

static int fail_target(struct session *s, const struct target *t, const struct ask *q, size_t i)
{
    if (t->n)
        return session_fail(s, q, "get %" PRI_STR " \"%s\"", STR_ARG(t->found->singular),
                            t->names[i]);
    return session_fail(s, q, "list %s", t->found->res.plural);
}

static int print_target(struct session *s, const struct get_flags *f, const struct target *t)
{
    struct table_watch w = { .s = s, .f = f, .t = t };
    struct jbuild items = jb_arr(s->a);
    struct ask *asks;
    size_t n;
    int code = ask_target(s, f, t, &asks, &n);
    int failed = EXIT_DONE;

    if (code >= 0)
        return code;
    for (size_t i = 0; i < n; i++) {
        if (asks[i].err.code) {
            failed = fail_target(s, t, &asks[i], i);
            continue;
        }
        jv list = jv_at(asks[i].obj, "items");
        JV_EACH (it, list)
            jb_push(&items, get_typed(s->a, &t->found->res, it.value));
        if (!jv_exists(list))
            jb_push(&items, asks[i].obj);
        if (get_form(f) <= FORM_WIDE)
            on_table(&w, KUBE_ADDED, asks[i].obj);
    }
    if (get_form(f) > FORM_WIDE) {
        if (failed == EXIT_DONE || jv_len(jb_done(&items)))
            code = get_print_objects(s, get_form(f), jb_done(&items), t->n != 1);
        return failed ? failed : code;
    }
    if (!w.rows && !failed) {
        if (target_ns(s, f, t).n)
            command_note("there are no %s in namespace %" PRI_STR, t->found->res.plural,
                         STR_ARG(s->ns));
        else
            command_note("there are no %s", t->found->res.plural);
    }
    return failed;
}

/* ---- what is asked for */

static int no_such(struct session *s, const char *word)
{
    return command_fail(
        EXIT_FAILED,
        "%s serves no resource \"%s\", and namespace %" PRI_STR " has no job of that name%" PRI_STR,
        s->config.server, word, STR_ARG(s->ns), STR_ARG(served_guess(s, str_of(word))));
}

static int no_resource(struct session *s, str kind)
{
    return command_fail(EXIT_FAILED, "%s serves no resource \"%" PRI_STR "\"%" PRI_STR,
                        s->config.server, STR_ARG(kind), STR_ARG(served_guess(s, kind)));
}

/* Words that name no kind: jobs. */
static int get_named_jobs(struct session *s, const struct get_flags *f, char **names, int n)
{
    struct jobs all = { ARENA_ARRAY(s->a, struct job_found, (size_t)n * 16), 0 };
    int failed = EXIT_DONE;

    if (f->watch && n > 1)
        return command_fail(EXIT_USAGE, "only one job can be watched, or all");
    for (int i = 0; i < n; i++) {
        struct jobs found = { 0 };
        int code = jobs_named(s, names[i], &found);
        if (code >= 0)
            return code;
        for (size_t k = 0; k < found.n; k++)
            all.at[all.n++] = found.at[k];
        if (!found.n)
            failed =
                strchr(names[i], '/')
                    ? command_fail(EXIT_FAILED, "there is no %s in namespace %" PRI_STR " at %s",
                                   names[i], STR_ARG(s->ns), s->config.server)
                    : no_such(s, names[i]);
    }
    if (f->watch && all.n == 1 && get_form(f) <= FORM_WIDE)
        return get_jobs(s, f, all.at[0].kind, meta_name(all.at[0].obj));
    int code = all.n ? get_these_jobs(s, f, &all) : EXIT_DONE;
    return failed ? failed : code;
}

static int get_resource(struct session *s, const struct get_flags *f, str word, char **names, int n,
                        bool prefixed, bool *known)
{
    struct target t = { .names = names, .n = n, .prefixed = prefixed };
    int code = served_find(s, word, &t.found);

    *known = t.found != NULL;
    if (code >= 0 || !t.found)
        return code;
    if (f->watch && n > 1)
        return command_fail(EXIT_USAGE, "only one %" PRI_STR " can be watched, or all",
                            STR_ARG(t.found->singular));
    return f->watch && get_form(f) <= FORM_WIDE ? watch_table(s, f, &t) : print_target(s, f, &t);
}

/* "pods,services": each in a table of its own. */
static int get_kinds(struct session *s, const struct get_flags *f, char **words, int n)
{
    str rest = str_of(words[0]);
    bool several = str_find(rest, ',') >= 0;
    int worst = EXIT_DONE;

    if (several && f->watch)
        return command_fail(EXIT_USAGE, "only one kind can be watched at a time");
    for (bool first = true; rest.p; first = false) {
        str word = str_cut(&rest, ',');
        const struct job_kind *k = job_kind_named(word);
        bool known = true;
        int code;
        if (several && !first && get_form(f) <= FORM_WIDE)
            command_print(S("\n"));
        if (k && n > 1) {
            char **full = ARENA_ARRAY(s->a, char *, (size_t)n);
            for (int i = 1; i < n; i++)
                full[i - 1] =
                    (char *)(uintptr_t)arena_printf(s->a, "%s/%s", k->singular, words[i]).p;
            code = get_named_jobs(s, f, full, n - 1);
        } else if (k || str_eqz(word, "jobs")) {
            code = get_jobs(s, f, k, STR_NONE);
        } else {
            code = get_resource(s, f, word, words + 1, n - 1, several, &known);
        }
        if (!known)
            return several ? no_resource(s, word) : get_named_jobs(s, f, words, n);
        if (code > worst)
            worst = code;
    }
    return worst;
}

/* "pod/a tfjob/b": one after another. */
static int get_pairs(struct session *s, const struct get_flags *f, char **words, int n)
{
    int worst = EXIT_DONE;

    if (f->watch && n > 1)
        return command_fail(EXIT_USAGE, "only one object can be watched at a time");
    for (int i = 0; i < n; i++) {
        str name = str_of(words[i]);
        str kind = str_cut(&name, '/');
        char *names[] = { (char *)(uintptr_t)name.p };
        bool known = true;
        int code;
        if (!name.n || !kind.n)
            return command_fail(EXIT_USAGE, "'%s' is not KIND/NAME", words[i]);
        code = job_kind_named(kind) ? get_named_jobs(s, f, &words[i], 1)
                                    : get_resource(s, f, kind, names, 1, n > 1, &known);
        if (!known)
            code = no_resource(s, kind);
        if (code > worst)
            worst = code;
    }
    return worst;
}

static int answer(struct session *s, const struct get_flags *f, char **words, int n)
{
    int slashes = 0;

    for (int i = 0; i < n; i++)
        slashes += strchr(words[i], '/') != NULL;
    if (f->all && (slashes || n > 1))
        return command_fail(EXIT_USAGE,
                            "a name belongs to one namespace: -A cannot be used with it");
    if (n == 0)
        return get_jobs(s, f, NULL, STR_NONE);
    if (slashes && slashes < n)
        return command_fail(EXIT_USAGE, "either KIND NAME... or KIND/NAME..., not both");
    return slashes ? get_pairs(s, f, words, n) : get_kinds(s, f, words, n);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct get_flags f = { 0 };
    struct session s;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    code = session_open(&s, &f.to);
    if (code < 0)
        code = answer(&s, &f, words, n);
    session_close(&s);
    return code;
}

const struct command command_get = {
    .name = "get",
    .summary = "list jobs, or any other resource",
    .help =
        "Usage: muster get [OPTION]...                  all jobs, of all kinds\n"
        "       muster get [OPTION]... KIND[,KIND]      as in tfjobs, pods, nodes\n"
        "       muster get [OPTION]... KIND NAME...\n"
        "       muster get [OPTION]... KIND/NAME...\n"
        "       muster get [OPTION]... NAME...          jobs of that name\n"
        "\n"
        "RUNNING is the number of running replicas and the number that the job wants. RESTARTS\n"
        "counts restarts of all its containers, and recreated pods.\n",
    .options = options,
    .operands = OPERANDS_RESOURCES,
    .run = run,
};
