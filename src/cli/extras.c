/* See extras.h. */

#include "cli/extras.h"

#include "cli/submit.h"
#include "kube/names.h"
#include "plan/planner.h"

#include <stdlib.h>

#define WORKDIR "muster-workdir"

static const char *const lists[] = { "initContainers", "containers" };

/* ---- reading the command line */

/* A trailing ":ro" or ":rw" is taken off. */
static str take_mode(str text, bool *ro)
{
    *ro = str_ends(text, S(":ro"));
    return *ro || str_ends(text, S(":rw")) ? str_sub(text, 0, text.n - 3) : text;
}

const char *extras_read_workdir(struct arena *a, const char *text, bool *ro)
{
    return arena_z(a, take_mode(str_of(text), ro));
}

int extras_read_mount(struct arena *a, const char *text, struct extra_mount *out, struct err *e)
{
    str rest = take_mode(str_of(text), &out->ro);
    str host = str_cut(&rest, ':');

    out->host = arena_z(a, host);
    out->pod = arena_z(a, rest);
    if (!host.n || !rest.n || str_find(rest, ':') >= 0)
        return err_set(e, ERR_INVALID, "-v '%s': must be HOST:POD or HOST:POD:ro", text);
    if (*out->pod != '/')
        return err_set(e, ERR_INVALID,
                       "-v '%s': the path in the pod, '%s', must be absolute (begin with /)", text,
                       out->pod);
    return 0;
}

int extras_read_env(const char *text, struct jbuild *out, struct err *e)
{
    str value = str_of(text);
    str name = str_cut(&value, '=');

    if (!name_ok(name, name_env_var))
        return err_set(e, ERR_INVALID, "'%s': must be NAME=VALUE or NAME", text);
    /* Kubernetes lets names have blanks; here they come from `export A=1` or a forgotten '='. */
    if (str_find(name, ' ') >= 0 || str_find(name, '\t') >= 0)
        return err_set(e, ERR_INVALID,
                       "'%s': the name has a blank in it; must be NAME=VALUE or NAME", text);
    if (!value.p) {
        const char *own = getenv(arena_z(out->a, name));
        if (!own)
            return 0;
        value = arena_str(out->a, str_of(own));
    }
    if (!str_is_utf8(value))
        return err_set(e, ERR_INVALID, "%" PRI_STR ": the value is not valid UTF-8", STR_ARG(name));
    jb_set(out, arena_str(out->a, name), jstr(out->a, arena_str(out->a, value)));
    return 0;
}

int extras_read_env_file(struct arena *a, const char *file, str text, struct jbuild *out,
                         struct err *e)
{
    size_t number = 0;

    for (str rest = text; rest.n;) {
        str line = str_cut(&rest, '\n');
        number++;
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        while (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
            line = str_sub(line, 1, line.n);
        if (!line.n || line.p[0] == '#')
            continue;
        if (str_find(line, '\0') >= 0)
            return err_set(e, ERR_INVALID, "%s:%zu: has a NUL byte", file, number);
        if (extras_read_env(arena_z(a, line), out, e) < 0)
            return err_wrap(e, "%s:%zu", file, number);
    }
    return 0;
}

/* ---- adding to objects */

typedef jv spec_fn(struct arena *a, const void *x, jv pod_spec);

/* The object with what fn makes of each of its pod specs. */
static jv each_spec(struct arena *a, jv obj, spec_fn *fn, const void *x)
{
    const struct job_kind *kind;

    if (!submit_is_job(obj, &kind))
        return obj;
    if (!kind)
        return jv_with(a, obj, fn(a, x, jv_at(obj, "spec")), "spec");
    struct jbuild b = { 0 };
    jv roles = jv_at(obj, "spec", kind->specs);
    JV_EACH (it, roles) {
        jv spec = jv_at(it.value, "template", "spec");
        jb_child(&b, a, &it,
                 jv_is(spec, JV_OBJ) ? jv_with(a, it.value, fn(a, x, spec), "template", "spec")
                                     : it.value);
    }
    return b.a ? jv_with(a, obj, jb_done(&b), "spec", kind->specs) : obj;
}

static bool has_dir(jv container)
{
    return jv_str(jv_at(container, "workingDir"), S("")).n > 0;
}

static jv look_for_dir(struct arena *a, const void *x, jv spec)
{
    bool *wanted = (bool *)(uintptr_t)x;

    (void)a;
    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (c, jv_get(spec, str_of(lists[i])))
            *wanted |= !has_dir(c.value);
    return spec;
}

bool extras_want_workdir(jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    bool wanted = false;

    each_spec(a, obj, look_for_dir, &wanted);
    return wanted;
}

/* Kubernetes expands $(NAME) in values; a doubled $ stands for itself. */
static jv literal(struct arena *a, str value)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '$')
            buf_addc(&b, '$');
        buf_addc(&b, value.p[i]);
    }
    return jstr(a, arena_str(a, buf_str(&b)));
}

/* The list without the elements whose field has the value. */
static struct jbuild others(struct arena *a, jv list, const char *field, str value)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, list)
        if (!str_eq(jv_str(jv_get(it.value, str_of(field)), STR_NONE), value))
            jb_push(&b, it.value);
    return b;
}

static jv with_env(struct arena *a, jv container, jv env)
{
    jv list = jv_at(container, "env");

    JV_EACH (it, env) {
        struct jbuild b = others(a, list, "name", it.key);
        jb_push(&b, jobj(a, { "name", jstr(a, it.key) },
                         { "value", literal(a, jv_str(it.value, S(""))) }));
        list = jb_done(&b);
    }
    return jv_len(env) ? jv_with(a, container, list, "env") : container;
}

static jv with_mount(struct arena *a, jv container, str volume, const char *path, bool ro)
{
    struct jbuild b = others(a, jv_at(container, "volumeMounts"), "mountPath", str_of(path));

    jb_push(&b, jobj(a, { "name", jstr(a, volume) }, { "mountPath", jstr(a, str_of(path)) },
                     { "readOnly", ro ? JV_TRUE : JV_ABSENT }));
    return jv_with(a, container, jb_done(&b), "volumeMounts");
}

static bool has_mount(jv container, const char *path)
{
    JV_EACH (it, jv_at(container, "volumeMounts"))
        if (str_eqz(jv_str(jv_at(it.value, "mountPath"), STR_NONE), path))
            return true;
    return false;
}

static str volume_name(struct arena *a, size_t i)
{
    return arena_printf(a, "muster-volume-%zu", i + 1);
}

static jv add_to_container(struct arena *a, const struct extras *x, jv c, bool *in_workdir)
{
    for (size_t i = 0; i < x->n_mounts; i++)
        c = with_mount(a, c, volume_name(a, i), x->mounts[i].pod, x->mounts[i].ro);
    c = with_env(a, c, x->env);
    if (!x->workdir || has_dir(c))
        return c;
    if (!has_mount(c, x->workdir)) {
        c = with_mount(a, c, S(WORKDIR), x->workdir, x->workdir_ro);
        *in_workdir = true;
    }
    if (x->image_dir && x->image_dir(x->ctx, c).n)
        return c;
    return jv_with(a, c, jstr(a, str_of(x->workdir)), "workingDir");
}

static jv host_volume(struct arena *a, str name, const char *path, const char *type)
{
    return jobj(a, { "name", jstr(a, name) },
                { "hostPath", jobj(a, { "path", jstr(a, str_of(path)) },
                                   { "type", type ? jstr(a, str_of(type)) : JV_ABSENT }) });
}

static jv with_volumes(struct arena *a, const struct extras *x, jv spec, bool workdir)
{
    jv list = jv_at(spec, "volumes");

    for (size_t i = 0; i < x->n_mounts + workdir; i++) {
        bool is_mount = i < x->n_mounts;
        str name = is_mount ? volume_name(a, i) : S(WORKDIR);
        struct jbuild b = others(a, list, "name", name);
        jb_push(&b, is_mount ? host_volume(a, name, x->mounts[i].host, NULL)
                             : host_volume(a, name, x->workdir, "Directory"));
        list = jb_done(&b);
    }
    return jv_len(list) ? jv_with(a, spec, list, "volumes") : spec;
}

static jv add_to_spec(struct arena *a, const void *extras, jv spec)
{
    const struct extras *x = extras;
    bool in_workdir = false;

    for (size_t i = 0; i < COUNT(lists); i++) {
        jv list = jv_get(spec, str_of(lists[i]));
        struct jbuild b = { 0 };
        JV_EACH (c, list)
            jb_child(&b, a, &c, add_to_container(a, x, c.value, &in_workdir));
        if (b.a)
            spec = jv_with(a, spec, jb_done(&b), lists[i]);
    }
    return with_volumes(a, x, spec, in_workdir);
}

/* of: the object that the pod's metadata are in. */
static jv with_stall(struct arena *a, const struct extras *x, jv of)
{
    if (jv_exists(jv_at(of, "metadata", "annotations", POD_STALL_AFTER)))
        return of;
    return jv_with(a, of, jstr(a, str_of(x->stall_after)), "metadata", "annotations",
                   POD_STALL_AFTER);
}

static jv add_stall(struct arena *a, const struct extras *x, jv obj)
{
    const struct job_kind *kind;
    struct jbuild b = { 0 };

    if (!x->stall_after || !submit_is_job(obj, &kind))
        return obj;
    if (!kind)
        return with_stall(a, x, obj);
    if (jv_exists(jv_at(obj, "metadata", "annotations", POD_STALL_AFTER)))
        return obj; /* the operator gives it to the pods */
    JV_EACH (it, jv_at(obj, "spec", kind->specs)) {
        jv template = jv_at(it.value, "template");
        jb_child(&b, a, &it,
                 jv_is(template, JV_OBJ)
                     ? jv_with(a, it.value, with_stall(a, x, template), "template")
                     : it.value);
    }
    return b.a ? jv_with(a, obj, jb_done(&b), "spec", kind->specs) : obj;
}

jv extras_add(struct arena *a, const struct extras *x, jv obj)
{
    return add_stall(a, x, each_spec(a, obj, add_to_spec, x));
}
