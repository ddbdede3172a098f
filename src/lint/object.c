/* One object: which kind it is of, and all that this kind demands. What a server would do to a new
 * object before it looks at it (names made up, defaults) is done here too. */

#include "lint/internal.h"

#include "base/nearest.h"
#include "builtin/hooks.h"
#include "builtin/types/types.h"
#include "builtin/warnings.h"
#include "kube/meta.h"
#include "manifest/crd.h"

#include <assert.h>

struct subject {
    struct lint *l;
    const struct lint_object *o;
};

/* ---- telling */

static void on_unknown(void *ctx, str field, str text)
{
    struct subject *s = ctx;

    finding_add(s->l, s->o, LINT_ERROR, field, text);
}

/* A value of the wrong type is taken away: that it is missing then is nobody's fault. */
static bool is_below(str field, const struct problems *wrong)
{
    for (size_t i = 0; i < wrong->n; i++) {
        str top = wrong->at[i].field;
        if (str_starts(field, top) &&
            (field.n == top.n || field.p[top.n] == '.' || field.p[top.n] == '['))
            return true;
    }
    return false;
}

static void tell(struct subject *s, const struct problems *ps, const struct problems *wrong)
{
    for (size_t i = 0; i < ps->n; i++) {
        str field = ps->at[i].field;
        bool whole = str_eqz(field, "<nil>");
        if ((wrong && is_below(field, wrong)) || (whole && ps->n > 1))
            continue; /* that rules could not be run is of no use beside why */
        finding_add(s->l, s->o, LINT_ERROR, whole ? STR_NONE : field, ps->at[i].message);
    }
}

/* "spec.x: text", if it begins so. */
static void tell_warning(struct subject *s, str text)
{
    size_t n = 0;

    while (n < text.n && text.p[n] != ' ' && text.p[n] != ':')
        n++;
    bool has_field = n && n + 1 < text.n && text.p[n] == ':' && text.p[n + 1] == ' ';
    str field = has_field ? str_sub(text, 0, n) : STR_NONE;
    finding_add(s->l, s->o, LINT_WARNING, field, has_field ? str_sub(text, n + 2, text.n) : text);
}

/* ---- what a server fills in */

static jv with_system_fields(struct arena *a, jv obj, bool namespaced)
{
    struct jbuild m = jb_from(a, jv_at(obj, "metadata"));
    str name = jv_str(jb_get(&m, S("name")), STR_NONE);
    str base = jv_str(jb_get(&m, S("generateName")), STR_NONE);

    if (!name.n && base.n)
        jb_set(&m, S("name"), jstr(a, arena_cat(a, str_clip(base, 58), S("x2x4x"))));
    if (!namespaced)
        jb_set(&m, S("namespace"), JV_ABSENT);
    else if (!jv_str(jb_get(&m, S("namespace")), STR_NONE).n)
        jb_set(&m, S("namespace"), jstrz(a, "default"));
    jb_set(&m, S("uid"), jstrz(a, "00000000-0000-4000-8000-000000000000"));
    return jv_with_key(a, obj, S("metadata"), jb_done(&m));
}

/* ---- kinds */

static jv check_shape(struct subject *s, const struct schema *schema, jv v, bool typed,
                      struct problems *wrong)
{
    struct shape_check c = { .a = s->l->a, .wrong = wrong, .on_unknown = on_unknown, .ctx = s };

    return shape_check(&c, schema, v, typed);
}

static void check_builtin(struct subject *s, const struct builtin_kind *k)
{
    struct arena *a = s->l->a;
    struct kind_ctx c = { .a = a, .now_ms = s->l->now_ms };
    struct problems wrong = { .a = a };
    struct problems ps = { .a = a };
    struct warnings w = { .a = a };
    struct err e = { 0 };
    bool is_crd = str_eqz(str_of(k->kind), "CustomResourceDefinition");
    jv v = check_shape(s, k->schema, s->o->v, true, &wrong);

    tell(s, &wrong, NULL);
    v = schema_decode(a, k->schema, v, NULL, &e);
    if (!jv_exists(v)) {
        finding_add(s->l, s->o, LINT_ERROR, STR_NONE, arena_str(a, str_of(e.msg)));
        return;
    }
    if (is_crd)
        v = crd_definition_defaults(a, v);
    else if (k->defaults)
        v = k->defaults(&c, v);
    v = with_system_fields(a, v, k->flags & KIND_NAMESPACED);
    if (is_crd)
        v = crd_definition_for_create(a, v);
    else if (k->prepare)
        v = k->prepare(&c, v, JV_ABSENT);
    jv full = schema_decode(a, k->schema, v, NULL, NULL);
    v = jv_exists(full) ? full : v;
    if (!(k->flags & KIND_REVIEW))
        meta_check(&ps, v, k->flags & KIND_NAMESPACED, k->check_name);
    if (is_crd)
        crd_definition_validate(&ps, v);
    else if (k->validate)
        k->validate(&ps, v);
    tell(s, &ps, &wrong);
    if (ps.n || wrong.n || !k->warn)
        return;
    k->warn(&w, v, JV_ABSENT);
    for (size_t i = 0; i < w.n; i++)
        tell_warning(s, w.at[i]);
}

/* A pod that would be refused fails its job later, when nobody looks: its template is held to the
 * rules of pods now. How pods restart is the operator's to say. */
static void check_template(struct arena *a, struct problems *ps, const struct path *replica,
                           jv template)
{
    struct kind_ctx c = { .a = a };
    struct problems found = { .a = a };
    struct problems moved = { .a = a };
    jv v = jobj(a, { "metadata", jobj(a, { "name", jstrz(a, "x") }) },
                { "template", jv_without(a, template, "spec", "restartPolicy") });

    v = schema_decode(a, &core_PodTemplate, v, NULL, NULL);
    if (!jv_exists(v))
        return; /* of wrong types others tell */
    podtemplate_validate(&found, podtemplate_defaults(&c, v));
    for (size_t i = 0; i < found.n; i++)
        if (str_starts(found.at[i].field, S("template")))
            problem_move(&moved, replica, &found.at[i]);
    problems_join(ps, 0, &moved);
}

static void check_templates(struct arena *a, struct problems *ps, const struct job_kind *k, jv v)
{
    JV_EACH (it, jv_at(v, "spec", k->specs)) {
        jv template = jv_at(it.value, "template");
        if (jv_is(template, JV_OBJ))
            check_template(a, ps, ATK(ATZ(ROOT("spec"), k->specs), it.key), template);
    }
}

static void check_custom(struct subject *s, const struct crd_version *cv,
                         const struct job_kind *job)
{
    struct arena *a = s->l->a;
    struct problems wrong = { .a = a };
    struct problems ps = { .a = a };
    struct problems schema = { .a = a };
    struct err e = { 0 };
    jv v = check_shape(s, cv->schema, s->o->v, false, &wrong);

    tell(s, &wrong, NULL);
    v = crd_prune(a, cv, v, NULL, &e);
    if (!jv_exists(v)) {
        finding_add(s->l, s->o, LINT_ERROR, STR_NONE, arena_str(a, str_of(e.msg)));
        return;
    }
    v = with_system_fields(a, crd_default(a, cv, v), cv->crd->namespaced);
    if (cv->has_status)
        v = jv_without(a, v, "status");
    meta_check(&ps, v, cv->crd->namespaced, NULL);
    size_t own = ps.n;
    if (job)
        job_validate(job, &ps, v, JV_ABSENT);
    crd_validate(&schema, cv, v, JV_ABSENT);
    problems_join(&ps, own, &schema);
    if (job)
        check_templates(a, &ps, job, v);
    tell(s, &ps, &wrong);
    str advice = job ? job_advise(a, job, v) : STR_NONE;
    if (advice.n && !ps.n && !wrong.n)
        tell_warning(s, advice);
    if (cv->deprecated)
        finding_add(s->l, s->o, LINT_WARNING, S("apiVersion"), cv->warning);
}

/* ---- which kind */

static str group_of(str api_version, str *version)
{
    ptrdiff_t slash = str_find(api_version, '/');

    *version = slash < 0 ? api_version : str_sub(api_version, (size_t)slash + 1, api_version.n);
    return slash < 0 ? S("") : str_sub(api_version, 0, (size_t)slash);
}

/* Our own definitions are compiled at first use: that is most of what a short run costs. */
static const struct crd *job_crd(struct lint *l, size_t i)
{
    assert(i < COUNT(l->jobs));
    if (!l->jobs[i]) {
        AUTO(arena) struct arena *a = arena_new();
        jv crd = crd_definition_defaults(a, manifest_crd(a, job_kind_at(i)));
        struct err e = { 0 };
        l->jobs[i] = crd_compile(crd, &meta_ObjectMeta, &e);
        assert(l->jobs[i]);
    }
    return l->jobs[i];
}

static bool try_job(struct subject *s, str group, str version, str kind)
{
    for (size_t i = 0; job_kind_at(i); i++) {
        const struct job_kind *k = job_kind_at(i);
        const struct kube_resource *res = k->planner.res;
        if (!str_eqz(group, res->group) || !str_eqz(version, res->version) ||
            !str_eqz(kind, res->kind))
            continue;
        check_custom(s, crd_version_find(job_crd(s->l, i), version), k);
        return true;
    }
    return false;
}

static bool try_defined(struct subject *s, str group, str version, str kind)
{
    for (size_t i = 0; i < s->l->crds.n; i++) {
        const struct crd *c = s->l->crds.at[i];
        const struct crd_version *cv;
        if (!str_eq(c->group, group) || !str_eq(c->kind, kind))
            continue;
        cv = crd_version_find(c, version);
        if (!cv || !cv->served || !cv->schema)
            continue;
        check_custom(s, cv, NULL);
        return true;
    }
    return false;
}

static void add_word(struct buf *b, const char *group, const char *version, const char *kind)
{
    buf_printf(b, "%s%s%s%s %s", b->n ? ", " : "", group, *group ? "/" : "", version, kind);
}

/* What may have been meant: the kind in other versions, or else the kinds of that version. */
static void list_kinds(struct buf *b, str group, str version, str kind, bool by_kind)
{
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (by_kind ? str_eq_nocase(kind, str_of(k->kind))
                    : str_eqz(group, k->group) && str_eqz(version, k->version) && k->group[0])
            add_word(b, k->group, k->version, k->kind);
    }
    for (size_t i = 0; job_kind_at(i); i++) {
        const struct kube_resource *res = job_kind_at(i)->planner.res;
        if (by_kind ? str_eq_nocase(kind, str_of(res->kind)) : str_eqz(group, res->group))
            add_word(b, res->group, res->version, res->kind);
    }
}

/* A kind of that version whose name is nearly the same; empty: there is none. */
static str near_kind(str group, str version, str kind)
{
    struct nearest n = nearest_to(kind);

    for (size_t i = 0; i < builtin_kinds_n; i++)
        if (str_eqz(group, builtin_kinds[i].group) && str_eqz(version, builtin_kinds[i].version))
            nearest_try(&n, str_of(builtin_kinds[i].kind));
    for (size_t i = 0; job_kind_at(i); i++) {
        const struct kube_resource *res = job_kind_at(i)->planner.res;
        if (str_eqz(group, res->group) && str_eqz(version, res->version))
            nearest_try(&n, str_of(res->kind));
    }
    return n.best;
}

static bool is_known_group(str group)
{
    for (size_t i = 0; i < builtin_kinds_n; i++)
        if (str_eqz(group, builtin_kinds[i].group))
            return true;
    for (size_t i = 0; job_kind_at(i); i++)
        if (str_eqz(group, job_kind_at(i)->planner.res->group))
            return true;
    return false;
}

static void tell_no_kind(struct subject *s, str group, str version, str kind)
{
    struct arena *a = s->l->a;
    AUTO(buf) struct buf there = { 0 };

    list_kinds(&there, group, version, kind, true);
    if (!there.n && !is_known_group(group)) {
        finding_add(s->l, s->o, LINT_WARNING, S("kind"),
                    arena_printf(a,
                                 "not checked: there is no definition of %" PRI_STR " in %" PRI_STR
                                 "/%" PRI_STR " among the files",
                                 STR_ARG(kind), STR_ARG(group), STR_ARG(version)));
        return;
    }
    str near = there.n ? STR_NONE : near_kind(group, version, kind);
    if (near.n) {
        finding_add(s->l, s->o, LINT_ERROR, S("kind"),
                    arena_printf(a,
                                 "there is no kind \"%" PRI_STR "\" in %" PRI_STR "%s%" PRI_STR
                                 "; was \"%" PRI_STR "\" meant?",
                                 STR_ARG(kind), STR_ARG(group), group.n ? "/" : "",
                                 STR_ARG(version), STR_ARG(near)));
        return;
    }
    if (!there.n)
        list_kinds(&there, group, version, kind, false);
    finding_add(s->l, s->o, LINT_ERROR, S("kind"),
                arena_printf(
                    a, "there is no kind \"%" PRI_STR "\" in %" PRI_STR "%s%" PRI_STR "%s%" PRI_STR,
                    STR_ARG(kind), STR_ARG(group), group.n ? "/" : "", STR_ARG(version),
                    there.n ? "; there is " : "", STR_ARG(buf_str(&there))));
}

static bool has_type(struct subject *s)
{
    static const char *const fields[] = { "apiVersion", "kind" };
    bool good = true;

    if (!jv_is(s->o->v, JV_OBJ)) {
        finding_add(s->l, s->o, LINT_ERROR, STR_NONE, S("this is not an object"));
        return false;
    }
    for (size_t i = 0; i < COUNT(fields); i++) {
        jv v = jv_get(s->o->v, str_of(fields[i]));
        if (jv_str(v, STR_NONE).n)
            continue;
        good = false;
        finding_add(s->l, s->o, LINT_ERROR, str_of(fields[i]),
                    jv_is_null(v) ? S("Required value") : S("must be a string that is not empty"));
    }
    return good;
}

void object_check(struct lint *l, const struct lint_object *o)
{
    struct subject s = { l, o };
    const struct builtin_kind *k;
    str version;

    if (!has_type(&s))
        return;
    str kind = jv_str(jv_at(o->v, "kind"), STR_NONE);
    str group = group_of(jv_str(jv_at(o->v, "apiVersion"), STR_NONE), &version);
    k = builtin_find_kind(group, version, kind);
    if (k)
        check_builtin(&s, k);
    else if (!try_job(&s, group, version, kind) && !try_defined(&s, group, version, kind))
        tell_no_kind(&s, group, version, kind);
}

void object_define(struct lint *l, const struct lint_object *o)
{
    struct problems ps = { .a = l->a };
    jv v = o->v;

    if (!str_eqz(jv_str(jv_at(v, "kind"), STR_NONE), "CustomResourceDefinition") ||
        !str_eqz(jv_str(jv_at(v, "apiVersion"), STR_NONE), "apiextensions.k8s.io/v1"))
        return;
    v = schema_decode(l->a, &apiext_CustomResourceDefinition, v, NULL, NULL);
    if (!jv_exists(v))
        return; /* told when it is checked */
    v = crd_definition_for_create(l->a, crd_definition_defaults(l->a, v));
    crd_definition_validate(&ps, v);
    struct crd *c = ps.n ? NULL : crd_compile(v, &meta_ObjectMeta, NULL);
    if (c)
        vec_push(&l->crds, c);
}
