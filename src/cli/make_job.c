/* See make_job.h. */

#include "cli/make_job.h"

#include "base/quantity.h"
#include "cli/make_internal.h"
#include "kube/names.h"

#include <inttypes.h>

/* ---- how many of which role */

static int role_find(const struct make_row *row, str name)
{
    for (int i = 0; row->roles[i].name; i++)
        if (str_eq_nocase(name, str_of(row->roles[i].name)))
            return i;
    return -1;
}

static str role_list(const struct make *m)
{
    AUTO(buf) struct buf b = { 0 };

    for (int i = 0; m->row->roles[i].name; i++)
        buf_printf(&b, "%s%" PRI_STR, i ? ", " : "",
                   STR_ARG(arena_lower(m->a, str_of(m->row->roles[i].name))));
    return arena_str(m->a, buf_str(&b));
}

static int count_roles(struct make *m, struct err *e)
{
    bool is_said[MANY_ROLES] = { 0 };
    str rest = str_of(m->o->roles);

    while (rest.p) {
        str part = str_trim(str_cut(&rest, ','));
        str n = part;
        str name = str_cut(&n, '=');
        int at = role_find(m->row, name);
        int64_t count = 0;
        if (at < 0)
            return err_set(e, ERR_INVALID, "--role '%" PRI_STR "': the roles of a %s are %" PRI_STR,
                           STR_ARG(part), m->row->kind, STR_ARG(role_list(m)));
        if (!n.p || !str_to_int(n, &count) || count < 0 || count > MANY_REPLICAS)
            return err_set(e, ERR_INVALID,
                           "--role '%" PRI_STR
                           "': want ROLE=NUMBER, as in worker=4, and at most %d",
                           STR_ARG(part), MANY_REPLICAS);
        if (is_said[at])
            return err_set(e, ERR_INVALID, "--role names %" PRI_STR " twice", STR_ARG(name));
        is_said[at] = true;
        m->count[at] = count;
    }
    for (int i = 0; m->row->roles[i].name; i++)
        if (!is_said[i] && m->row->roles[i].is_added)
            m->count[i] = 1;
    return 0;
}

static int count_replicas(struct make *m, struct err *e)
{
    int64_t left = m->o->has_replicas ? m->o->replicas : 1;

    if (left < 1 || left > MANY_REPLICAS)
        return err_set(e, ERR_INVALID, "--replicas is %" PRId64 ": want 1 to %d", left,
                       MANY_REPLICAS);
    for (int i = 0; m->row->roles[i].name; i++) {
        m->count[i] = m->row->roles[i].is_added;
        if (m->row->roles[i].is_added && !m->row->roles[i].is_extra)
            left--;
    }
    m->count[role_find(m->row, S("worker"))] = left;
    return 0;
}

static const struct role_row *rules_of(const struct make *m, const struct make_role *r)
{
    for (const struct role_row *k = m->kind->roles; k->name; k++)
        if (strcmp(k->name, r->name) == 0)
            return k;
    return NULL;
}

static int check_counts(const struct make *m, struct err *e)
{
    int64_t all = 0;

    for (int i = 0; m->row->roles[i].name; i++) {
        const struct make_role *r = &m->row->roles[i];
        const struct role_row *rules = rules_of(m, r);
        str label = arena_lower(m->a, str_of(r->name));
        all += m->count[i];
        if (rules && rules->needed && m->count[i] == 0)
            return err_set(e, ERR_INVALID, "--role %" PRI_STR "=0: every %s has a %s",
                           STR_ARG(label), m->row->kind, r->name);
        if (rules && (rules->one || rules->single) && m->count[i] > 1)
            return err_set(e, ERR_INVALID, "--role %" PRI_STR "=%" PRId64 ": a %s has one %s",
                           STR_ARG(label), m->count[i], m->row->kind, r->name);
        if (r->is_called && m->count[i] == 0)
            return err_set(e, ERR_INVALID,
                           "--role %" PRI_STR "=0: the command runs in the %" PRI_STR
                           "s, so there has to be one",
                           STR_ARG(label), STR_ARG(label));
    }
    return all ? 0 : err_set(e, ERR_INVALID, "--role asks for no replicas");
}

static int count(struct make *m, struct err *e)
{
    if (m->o->roles && m->o->has_replicas)
        return err_set(e, ERR_INVALID,
                       "--replicas and --role exclude each other: give one of them");
    if ((m->o->roles ? count_roles(m, e) : count_replicas(m, e)) < 0)
        return -1;
    return check_counts(m, e);
}

/* ---- what was asked for */

static int check_amount(const char *flag, const char *text, struct err *e)
{
    struct quantity q;

    if (!text)
        return 0;
    if (quantity_parse(str_of(text), &q, NULL) < 0 || quantity_sign(&q) <= 0)
        return err_set(e, ERR_INVALID, "%s '%s' is not an amount: want %s", flag, text,
                       strcmp(flag, "--cpu") == 0 ? "cores, as in 2 or 500m"
                                                  : "bytes, as in 512Mi or 4Gi");
    return 0;
}

static int check_words(const struct make *m, struct err *e)
{
    if (m->words.n == 0)
        return err_set(e, ERR_INVALID, "there is no command: write it after --");
    if (!*m->words.at[0])
        return err_set(e, ERR_INVALID, "the command after -- is empty");
    for (int i = 0; i < m->words.n; i++)
        if (!str_is_utf8(str_of(m->words.at[i])))
            return err_set(e, ERR_INVALID, "the command's word %d is not UTF-8", i + 1);
    return 0;
}

static int check_per_node(struct make *m, struct err *e)
{
    const char *text = m->o->nproc_per_node;

    if (!text)
        return 0;
    if (!m->row->per_node)
        return err_set(e, ERR_INVALID, "--nproc-per-node is for pytorch, mpi and paddle");
    if (str_to_int(str_of(text), &m->per_node))
        return m->per_node >= 1 && m->per_node <= MANY_REPLICAS
                   ? 0
                   : err_set(e, ERR_INVALID, "--nproc-per-node is %s: want 1 to %d", text,
                             MANY_REPLICAS);
    if (m->row->per_node_words &&
        (strcmp(text, "auto") == 0 || strcmp(text, "cpu") == 0 || strcmp(text, "gpu") == 0))
        return 0;
    return err_set(e, ERR_INVALID, "--nproc-per-node '%s': want a number%s", text,
                   m->row->per_node_words ? ", auto, cpu or gpu" : "");
}

static int check(struct make *m, struct err *e)
{
    const struct make_opts *o = m->o;

    if (check_words(m, e) < 0 || check_amount("--cpu", o->cpu, e) < 0 ||
        check_amount("--memory", o->memory, e) < 0)
        return -1;
    if (o->name && !name_ok(str_of(o->name), name_dns1035_label))
        return err_set(e, ERR_INVALID,
                       "--name '%s': want at most 63 lower case letters, digits and '-', with a "
                       "letter first and no '-' at the end",
                       o->name);
    if (o->image && !*o->image)
        return err_set(e, ERR_INVALID, "--image '' names no image");
    if (o->kind)
        return check_per_node(m, e);
    const char *flag = o->has_replicas     ? "--replicas"
                       : o->roles          ? "--role"
                       : o->nproc_per_node ? "--nproc-per-node"
                                           : NULL;
    return flag
               ? err_set(e, ERR_INVALID, "%s needs --kind: without one, a single pod is made", flag)
               : 0;
}

/* ---- the object */

/* What is asked for is what there is: requests and limits are the same. */
static jv resources(const struct make *m, const struct make_role *r)
{
    const struct make_opts *o = m->o;
    struct arena *a = m->a;
    bool gpu = o->gpus > 0 && !(r && r->no_gpu);
    jv cpu = o->cpu ? jstr(a, str_of(o->cpu)) : JV_ABSENT;
    jv memory = o->memory ? jstr(a, str_of(o->memory)) : JV_ABSENT;

    if ((!o->cpu && !o->memory && !gpu) || (r && r->has_none))
        return JV_ABSENT;
    return jobj(a,
                { "limits", jobj(a, { "cpu", cpu }, { "memory", memory },
                                 { "nvidia.com/gpu", gpu ? jint(a, o->gpus) : JV_ABSENT }) },
                { "requests", o->cpu || o->memory ? jobj(a, { "cpu", cpu }, { "memory", memory })
                                                  : JV_ABSENT });
}

static jv env(const struct make *m)
{
    struct jbuild b = jb_arr(m->a);
    size_t n = 0;

    for (const char *const *p = m->row->env; p && *p; p += 2, n++)
        jb_push(&b, jobj(m->a, { "name", jstr(m->a, str_of(p[0])) },
                         { "value", jstr(m->a, str_of(p[1])) }));
    if (!m->row->is_unbuffered && ++n) /* lines are shown as they are written */
        jb_push(&b, jobj(m->a, { "name", jstrz(m->a, "PYTHONUNBUFFERED") },
                         { "value", jstrz(m->a, "1") }));
    return n ? jb_done(&b) : JV_ABSENT;
}

static jv command(const struct make *m)
{
    struct jbuild b = jb_arr(m->a);

    if (m->row->wrap)
        return m->row->wrap(m);
    words_push(&b, m->words, 0, m->words.n);
    return jb_done(&b);
}

static jv pod_spec(const struct make *m, const struct make_role *r, const char *container)
{
    const struct make_opts *o = m->o;
    struct arena *a = m->a;
    bool files = o->files.p != NULL;
    jv mounts = files ? jarr(a, jobj(a, { "name", jstrz(a, "scripts") },
                                     { "mountPath", jstr(a, o->files_dir) }))
                      : JV_ABSENT;
    jv c = jobj(a, { "name", jstr(a, str_of(container)) },
                { "image", jstr(a, str_of(o->image ? o->image : MAKE_IMAGE_HERE)) },
                { "command", r && r->is_called ? JV_ABSENT : command(m) },
                { "env", r && r->is_called ? JV_ABSENT : env(m) }, { "resources", resources(m, r) },
                { "workingDir", files ? jstr(a, o->files_dir) : JV_ABSENT },
                { "volumeMounts", mounts });
    jv volume = jobj(a, { "name", jstrz(a, "scripts") },
                     { "configMap", jobj(a, { "name", jstr(a, o->files) }) });

    return jobj(a, { "containers", jarr(a, c) },
                { "restartPolicy", r ? JV_ABSENT : jstrz(a, "Never") },
                { "volumes", files ? jarr(a, volume) : JV_ABSENT });
}

static jv job_spec(const struct make *m)
{
    struct arena *a = m->a;
    struct jbuild spec = jb_obj(a), roles = jb_obj(a);
    bool serves = false;

    for (int i = 0; m->row->roles[i].name; i++) {
        const struct make_role *r = &m->row->roles[i];
        if (!m->count[i])
            continue;
        serves = serves || r->serves;
        /* A script with a bug ends with its traceback; it is not run again and again. */
        jb_set(&roles, str_of(r->name),
               jobj(a, { "replicas", jint(a, m->count[i]) }, { "restartPolicy", jstrz(a, "Never") },
                    { "template", jobj(a, { "spec", pod_spec(m, r, m->kind->container) }) }));
    }
    if (m->row->per_node_field)
        jb_set(&spec, str_of(m->row->per_node_field), m->row->per_node(m));
    if (m->row->success)
        jb_set(&spec, S("successPolicy"), jstr(a, str_of(m->row->success)));
    if (serves)
        jb_set(&spec, S("runPolicy"), jobj(a, { "cleanPodPolicy", jstrz(a, "Running") }));
    jb_set(&spec, str_of(m->kind->specs), jb_done(&roles));
    return jb_done(&spec);
}

str make_name(struct arena *a, const struct make_opts *o)
{
    return o->name ? str_of(o->name) : words_name(a, (struct words){ o->command, o->n_command });
}

jv make_job(struct arena *a, const struct make_opts *o, struct err *e)
{
    struct make m = {
        .a = a, .o = o, .row = &make_pod, .words = { .at = o->command, .n = o->n_command }
    };

    if (o->kind && !(m.row = make_row_find(o->kind))) {
        err_set(e, ERR_INVALID, "--kind is one of " MAKE_KINDS ", not '%s'", o->kind);
        return JV_ABSENT;
    }
    m.kind = o->kind ? job_kind_find(str_of(m.row->kind)) : NULL;
    if (check(&m, e) < 0 || (m.kind && count(&m, e) < 0))
        return JV_ABSENT;
    if (m.kind)
        m.ranks = m.count[role_find(m.row, S("worker"))] * (m.per_node ? m.per_node : 1);
    return jobj(a, { "apiVersion", jstr(a, m.kind ? S("kubeflow.org/v1") : S("v1")) },
                { "kind", jstr(a, str_of(m.row->kind)) },
                { "metadata", jobj(a, { "name", jstr(a, make_name(a, o)) },
                                   { "namespace", o->ns ? jstr(a, str_of(o->ns)) : JV_ABSENT }) },
                { "spec", m.kind ? job_spec(&m) : pod_spec(&m, NULL, "main") });
}
