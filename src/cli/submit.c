/* See submit.h. */

#include "cli/submit.h"

#include "cli/served.h"
#include "loop/loop.h"

#include <stdlib.h>

enum { ESTABLISH_MS = 50, ESTABLISH_TRIES = 600 };

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", true };
static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount",
                                               false };
static const struct kube_resource definitions = { "apiextensions.k8s.io", "v1",
                                                  "customresourcedefinitions",
                                                  "CustomResourceDefinition", true };

/* ---- what they are */

bool submit_is_job(jv obj, const struct job_kind **kind)
{
    *kind = job_kind_of(obj);
    return *kind || (str_eqz(jv_str(jv_at(obj, "kind"), STR_NONE), "Pod") &&
                     str_eqz(jv_str(jv_at(obj, "apiVersion"), STR_NONE), "v1"));
}

static str title_of(struct arena *a, jv obj)
{
    str name = meta_name(obj);

    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(jv_str(jv_at(obj, "kind"), S("?"))),
                        STR_ARG(name.n ? name : meta_str(obj, S("generateName"))));
}

/* First what others live in, last what runs. */
static int rank(jv obj)
{
    const struct job_kind *kind;
    str word = jv_str(jv_at(obj, "kind"), STR_NONE);

    if (str_eqz(word, "Namespace"))
        return 0;
    if (str_eqz(word, "CustomResourceDefinition"))
        return 1;
    if (!submit_is_job(obj, &kind))
        return 2;
    return kind ? 4 : 3;
}

static void sort(struct submit *m)
{
    for (size_t i = 1; i < m->n; i++) /* stable, and there are few */
        for (size_t k = i; k && rank(m->at[k - 1].obj) > rank(m->at[k].obj); k--) {
            struct submit_object x = m->at[k];
            m->at[k] = m->at[k - 1];
            m->at[k - 1] = x;
        }
}

/* Kinds that only make pods where their controller is. */
static bool is_idle(jv obj)
{
    static const char *const kinds[] = {
        "Job",       "CronJob",     "Deployment",           "ReplicaSet",
        "DaemonSet", "StatefulSet", "ReplicationController"
    };
    str version = jv_str(jv_at(obj, "apiVersion"), STR_NONE);
    str kind = jv_str(jv_at(obj, "kind"), STR_NONE);

    if (!str_eqz(version, "batch/v1") && !str_eqz(version, "apps/v1") && !str_eqz(version, "v1"))
        return false;
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (str_eqz(kind, kinds[i]))
            return true;
    return false;
}

/* The pod that nobody meant: it is started again whenever it has ended. */
static bool is_endless(jv obj)
{
    const struct job_kind *kind;
    str policy = jv_str(jv_at(obj, "spec", "restartPolicy"), STR_NONE);

    return submit_is_job(obj, &kind) && !kind && (!policy.n || str_eqz(policy, "Always"));
}

static bool is_at(jv one, jv other, const char *field)
{
    return str_eq(jv_str(jv_at(one, field), STR_NONE), jv_str(jv_at(other, field), STR_NONE));
}

/* The object before it that has its name, and is another; NULL: none. */
static const struct submit_object *namesake(const struct submit *m, const struct submit_object *o)
{
    for (const struct submit_object *b = m->at; b < o; b++)
        if (meta_name(o->obj).n && str_eq(meta_name(b->obj), meta_name(o->obj)) &&
            str_eq(meta_namespace(b->obj), meta_namespace(o->obj)) &&
            is_at(b->obj, o->obj, "kind") && is_at(b->obj, o->obj, "apiVersion") &&
            !jv_equal(b->obj, o->obj))
            return b;
    return NULL;
}

static int refuse_namesake(const struct submit_object *o, const struct submit_object *other)
{
    AUTO(arena) struct arena *a = arena_new();

    return command_fail(EXIT_USAGE,
                        "%" PRI_STR ": the name %" PRI_STR " is already used at %" PRI_STR
                        "; give one of them another name",
                        STR_ARG(o->where), STR_ARG(title_of(a, o->obj)), STR_ARG(other->where));
}

int submit_check(struct submit *m)
{
    const struct job_kind *kind;
    size_t jobs = 0;

    sort(m);
    for (size_t i = 0; i < m->n; i++) {
        const struct submit_object *o = &m->at[i], *other = namesake(m, o);
        if (other)
            return refuse_namesake(o, other);
        jobs += submit_is_job(o->obj, &kind);
        if (is_endless(o->obj))
            command_note("muster: %" PRI_STR
                         ": the pod's restartPolicy is Always: it never ends by "
                         "itself",
                         STR_ARG(o->where));
        if (is_idle(o->obj) && !m->elsewhere)
            command_note("muster: %" PRI_STR ": %" PRI_STR
                         "s are stored but not run by this server",
                         STR_ARG(o->where), STR_ARG(jv_str(jv_at(o->obj, "kind"), STR_NONE)));
    }
    if (!jobs)
        return command_fail(EXIT_USAGE, "no training job or pod in the files");
    return -1;
}

static int place(struct submit *m, struct submit_object *o)
{
    static const struct kube_resource *const known[] = { &namespaces, &definitions, &kube_pods };
    struct arena *a = m->s->a;
    const struct job_kind *kind = job_kind_of(o->obj);
    str version = jv_str(jv_at(o->obj, "apiVersion"), STR_NONE);
    str word = jv_str(jv_at(o->obj, "kind"), STR_NONE);
    const struct served_resource *found = NULL;

    o->res = kind ? kind->planner.res : NULL;
    for (size_t i = 0; i < COUNT(known) && !o->res; i++) {
        const char *group = known[i]->group;
        str full =
            *group ? arena_printf(a, "%s/%s", group, known[i]->version) : str_of(known[i]->version);
        if (str_eqz(word, known[i]->kind) && str_eq(version, full))
            o->res = known[i];
    }
    if (!o->res) {
        int code = served_find_kind(m->s, version, word, &found);
        if (code >= 0)
            return code;
        o->res = found ? &found->res : NULL;
    }
    if (!o->res)
        return command_fail(EXIT_USAGE, "%" PRI_STR ": %s serves no %" PRI_STR " of %" PRI_STR,
                            STR_ARG(o->where), m->s->config.server, STR_ARG(word),
                            STR_ARG(version));
    o->ns = o->res->cluster_wide ? STR_NONE : meta_namespace(o->obj);
    if (!o->res->cluster_wide && !o->ns.n)
        o->ns = m->s->ns;
    if (m->ns_given && o->ns.n && !str_eq(o->ns, m->s->ns))
        return command_fail(
            EXIT_USAGE,
            "%" PRI_STR ": %" PRI_STR " is in namespace %" PRI_STR ", but -n says %" PRI_STR,
            STR_ARG(o->where), STR_ARG(title_of(a, o->obj)), STR_ARG(o->ns), STR_ARG(m->s->ns));
    o->name = meta_name(o->obj);
    return -1;
}

/* ---- what is there already */

/* Everything that want says holds of have. */
static bool holds(jv want, jv have)
{
    if (jv_is(want, JV_OBJ) && jv_is(have, JV_OBJ)) {
        JV_EACH (it, want)
            if (!jv_is_null(it.value) && !holds(it.value, jv_get(have, it.key)))
                return false;
        return true;
    }
    if (jv_is(want, JV_ARR) && jv_is(have, JV_ARR)) {
        for (size_t i = 0; i < jv_len(want); i++)
            if (!holds(jv_index(want, i), jv_index(have, i)))
                return false;
        return jv_len(want) == jv_len(have);
    }
    return jv_equal_semantic(want, have);
}

static bool is_same(struct arena *a, jv want, jv have)
{
    /* Where it is, and what others have made of it, is not what it is. */
    want = jv_without(a, jv_without(a, want, "metadata"), "status");
    return holds(want, have);
}

/* Where the cluster ends with us there is nobody to ask, once this is read. */
static str how_to_delete(const struct submit *m, const struct submit_object *o,
                         const struct job_kind *kind)
{
    str what = arena_printf(m->s->a, "-n %" PRI_STR " %s/%" PRI_STR, STR_ARG(o->ns),
                            kind ? kind->singular : "pod", STR_ARG(o->name));

    if (!m->dir)
        return arena_printf(m->s->a, "'muster delete%s%s %" PRI_STR "'", m->there ? " " : "",
                            m->there ? m->there : "", STR_ARG(what));
    return arena_printf(
        m->s->a, "after 'muster up --detach --data %s' 'muster delete --data %s %" PRI_STR "'",
        m->dir, m->dir, STR_ARG(what));
}

static int meet(struct submit *m, struct submit_object *o)
{
    struct session *s = m->s;
    struct ask q = { .req = { .verb = KUBE_GET, .res = o->res, .ns = o->ns, .name = o->name } };
    const struct job_kind *kind;
    bool is_job = submit_is_job(o->obj, &kind);
    str title = title_of(s->a, o->obj);
    int code = session_ask(s, &q, 1);

    if (code >= 0)
        return code;
    if (q.err.code)
        return session_fail(s, &q, "read %" PRI_STR, STR_ARG(title));
    str phase = jv_str(jv_at(q.obj, "status", "phase"), STR_NONE);
    bool over = kind ? job_is_over(q.obj) : str_eqz(phase, "Succeeded") || str_eqz(phase, "Failed");
    if (is_job && over)
        return command_fail(EXIT_FAILED,
                            "%" PRI_STR ": %" PRI_STR " exists already and has ended; %" PRI_STR
                            " makes room for another",
                            STR_ARG(o->where), STR_ARG(title), STR_ARG(how_to_delete(m, o, kind)));
    bool same = is_same(s->a, o->obj, q.obj) ||
                (jv_exists(o->read) && is_same(s->a, o->read, q.obj)); /* by another client */
    if (!str_eqz(str_of(o->res->kind), "Namespace") && !same)
        return command_fail(EXIT_FAILED,
                            "%" PRI_STR ": %" PRI_STR " exists already, and is different; delete "
                            "it, or give this one another name",
                            STR_ARG(o->where), STR_ARG(title));
    o->live = q.obj;
    return -1;
}

/* ---- sending */

static int make_namespace(struct submit *m, str ns)
{
    struct session *s = m->s;
    jv body = jobj(s->a, { "apiVersion", jstrz(s->a, "v1") }, { "kind", jstrz(s->a, "Namespace") },
                   { "metadata", jobj(s->a, { "name", jstr(s->a, ns) }) });
    struct ask q = { .req = { .verb = KUBE_CREATE, .res = &namespaces, .body = body } };
    int code;

    for (size_t i = 0; i < m->n_made; i++)
        if (str_eqz(ns, m->made[i]))
            return -1;
    if (str_eqz(ns, "default"))
        return -1;
    m->made[m->n_made++] = arena_z(s->a, ns);
    code = session_ask(s, &q, 1);
    if (code < 0 && q.err.code && q.err.code != ERR_EXISTS)
        return session_fail(s, &q, "create namespace %" PRI_STR, STR_ARG(ns));
    return code;
}

/* A cluster has the accounts of those who work in it; nobody made them in one that is made for this
 * run. Pods would not be let in. */
static int make_account(struct submit *m, str ns, jv pod_spec)
{
    struct session *s = m->s;
    str name = jv_str(jv_at(pod_spec, "serviceAccountName"),
                      jv_str(jv_at(pod_spec, "serviceAccount"), STR_NONE));
    jv body =
        jobj(s->a, { "apiVersion", jstrz(s->a, "v1") }, { "kind", jstrz(s->a, "ServiceAccount") },
             { "metadata", jobj(s->a, { "name", jstr(s->a, name) }) });
    struct ask q = { .req = { .verb = KUBE_CREATE, .res = &accounts, .ns = ns, .body = body } };

    if (!name.n)
        return -1;
    int code = session_ask(s, &q, 1);
    if (code < 0 && q.err.code && q.err.code != ERR_EXISTS)
        return session_fail(s, &q, "create service account %" PRI_STR, STR_ARG(name));
    return code;
}

static int make_accounts(struct submit *m, const struct submit_object *o)
{
    const struct job_kind *kind;
    jv spec = jv_at(o->obj, "spec");
    int code = -1;

    if (!submit_is_job(o->obj, &kind))
        return -1;
    if (!kind)
        return make_account(m, o->ns, spec);
    for (struct jv_iter it = jv_iter(jv_at(spec, kind->specs)); code < 0 && jv_next(&it);)
        code = make_account(m, o->ns, jv_at(it.value, "template", "spec"));
    return code;
}

static void on_time(void *arg)
{
    bool *is = arg;

    *is = true;
}

/* A definition is served once its names are accepted. */
static int await_served(struct submit *m, const struct submit_object *o)
{
    struct session *s = m->s;

    for (int i = 0; i < ESTABLISH_TRIES; i++) {
        struct ask q = { .req = { .verb = KUBE_GET, .res = o->res, .name = o->name } };
        bool late = false;
        int code = session_ask(s, &q, 1);
        if (code >= 0)
            return code;
        if (q.err.code)
            return session_fail(s, &q, "read %" PRI_STR, STR_ARG(o->name));
        if (meta_condition_is(q.obj, S("Established"), S("True"))) {
            s->served[0].done = false;
            return -1;
        }
        struct loop_timer *t = loop_timer_start(s->loop, ESTABLISH_MS, 0, on_time, &late);
        while (!late && !s->interrupted)
            loop_turn(s->loop);
        loop_timer_stop(t);
    }
    return command_fail(EXIT_FAILED, "%" PRI_STR ": %" PRI_STR " is not served", STR_ARG(o->where),
                        STR_ARG(o->name));
}

static int send_one(struct submit *m, struct submit_object *o)
{
    struct session *s = m->s;
    struct ask q = { .req = { .verb = KUBE_CREATE, .res = o->res, .ns = o->ns, .body = o->obj } };
    int code = place(m, o);

    if (code >= 0)
        return code;
    q.req.res = o->res;
    q.req.ns = o->ns;
    if (m->make_namespaces && o->ns.n &&
        ((code = make_namespace(m, o->ns)) >= 0 || (code = make_accounts(m, o)) >= 0))
        return code;
    code = session_ask(s, &q, 1);
    if (code >= 0)
        return code;
    if (q.err.code == ERR_EXISTS && o->name.n)
        return meet(m, o);
    if (q.err.code)
        return command_fail(
            q.err.code == ERR_INVALID || q.err.code == ERR_BAD_REQUEST ? EXIT_USAGE : EXIT_FAILED,
            "%" PRI_STR ": %" PRI_STR, STR_ARG(o->where),
            STR_ARG(q.message.n ? q.message : str_of(q.err.msg)));
    o->created = true;
    o->live = q.obj;
    o->name = meta_name(q.obj);
    return o->res == &definitions ? await_served(m, o) : -1;
}

int submit_send(struct submit *m)
{
    int code = -1;

    m->made = ARENA_ARRAY(m->s->a, const char *, m->n + 1);
    for (size_t i = 0; i < m->n && code < 0; i++)
        code = send_one(m, &m->at[i]);
    if (code >= 0)
        submit_undo(m);
    return code;
}

void submit_undo(struct submit *m)
{
    struct session *s = m->s;
    struct ask *all = ARENA_ARRAY(s->a, struct ask, m->n + 1);
    size_t n = 0;

    for (size_t i = m->n; i-- > 0;) {
        const struct submit_object *o = &m->at[i];
        jv options =
            jobj(s->a, { "propagationPolicy", jstrz(s->a, "Background") },
                 { "preconditions", jobj(s->a, { "uid", jstr(s->a, meta_uid(o->live)) }) });
        if (o->created)
            all[n++] = (struct ask){ .req = { .verb = KUBE_DELETE,
                                              .res = o->res,
                                              .ns = o->ns,
                                              .name = o->name,
                                              .body = options } };
    }
    s->interrupted = false;
    session_ask(s, all, n); /* what is gone already is fine */
}
