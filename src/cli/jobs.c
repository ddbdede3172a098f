/* See jobs.h. */

#include "cli/jobs.h"

#include "base/nearest.h"
#include "base/time.h"
#include "cli/pods.h"
#include "job/gang.h"
#include "job/stall.h"

#include <stdlib.h>

enum { MANY_KINDS = 16 };

const struct job_kind *job_kind_named(str word)
{
    ptrdiff_t dot = str_find(word, '.');
    str name = dot < 0 ? word : str_sub(word, 0, (size_t)dot);
    str group = dot < 0 ? STR_NONE : str_sub(word, (size_t)dot + 1, word.n);

    for (size_t i = 0; job_kind_at(i); i++) {
        const struct job_kind *k = job_kind_at(i);
        const struct kube_resource *res = k->planner.res;
        if ((str_eq_nocase(name, str_of(res->kind)) || str_eq_nocase(name, str_of(res->plural))) &&
            (!group.n || str_eqz(group, res->group) || str_eq(group, S("v1.kubeflow.org"))))
            return k;
    }
    return NULL;
}

str job_title(struct arena *a, const struct job_kind *k, jv obj)
{
    return arena_printf(a, "%s/%" PRI_STR, k->singular, STR_ARG(meta_name(obj)));
}

/* ---- asking */

static bool is_absent(const struct ask *q)
{
    return q->status == 404;
}

static int by_name(const void *x, const void *y)
{
    const struct job_found *a = x;
    const struct job_found *b = y;
    int c = str_cmp(meta_namespace(a->obj), meta_namespace(b->obj));

    if (!c)
        c = str_cmp(meta_name(a->obj), meta_name(b->obj));
    return c ? c : strcmp(a->kind->singular, b->kind->singular);
}

static size_t all_kinds(const struct job_kind *only, const struct job_kind **out)
{
    size_t n = 0;

    if (only)
        out[n++] = only;
    for (size_t i = 0; !only && n < MANY_KINDS && job_kind_at(i); i++)
        out[n++] = job_kind_at(i);
    return n;
}

int jobs_list(struct session *s, const struct job_kind *only, str ns, str labels, struct jobs *out)
{
    const struct job_kind *kinds[MANY_KINDS];
    struct ask asks[MANY_KINDS] = { 0 };
    size_t n = all_kinds(only, kinds);
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        asks[i].req = (struct kube_request){
            .verb = KUBE_LIST, .res = kinds[i]->planner.res, .ns = ns, .labels = labels
        };
    int code = session_ask(s, asks, n);
    if (code >= 0)
        return code;
    for (size_t i = 0; i < n; i++) {
        if (asks[i].err.code && !(is_absent(&asks[i]) && !only))
            return session_fail(s, &asks[i], "list %s", kinds[i]->planner.res->plural);
        total += jv_len(jv_at(asks[i].obj, "items"));
    }
    *out = (struct jobs){ ARENA_ARRAY(s->a, struct job_found, total + 1), 0 };
    for (size_t i = 0; i < n; i++)
        JV_EACH (it, jv_at(asks[i].obj, "items"))
            out->at[out->n++] = (struct job_found){ kinds[i], it.value };
    qsort(out->at, out->n, sizeof(*out->at), by_name);
    return -1;
}

static int no_kind(const char *word, str kind)
{
    struct nearest n = nearest_to(kind);

    for (size_t i = 0; job_kind_at(i); i++)
        nearest_try(&n, str_of(job_kind_at(i)->singular));
    if (!n.best.n)
        return command_fail(EXIT_USAGE, "'%s': there is no kind of job '%" PRI_STR "'", word,
                            STR_ARG(kind));
    return command_fail(
        EXIT_USAGE, "'%s': there is no kind of job '%" PRI_STR "'; did you mean '%" PRI_STR "'?",
        word, STR_ARG(kind), STR_ARG(n.best));
}

int jobs_named(struct session *s, const char *word, struct jobs *out)
{
    const struct job_kind *kinds[MANY_KINDS];
    struct ask asks[MANY_KINDS] = { 0 };
    const struct job_kind *only = NULL;
    str name = str_of(word);
    ptrdiff_t slash = str_find(name, '/');

    if (slash >= 0) {
        only = job_kind_named(str_sub(name, 0, (size_t)slash));
        name = str_sub(name, (size_t)slash + 1, name.n);
        if (!only)
            return no_kind(word, str_sub(str_of(word), 0, (size_t)slash));
    }
    if (!name.n || str_find(name, '/') >= 0)
        return command_fail(EXIT_USAGE, "'%s' is not the name of a job", word);
    size_t n = all_kinds(only, kinds);
    for (size_t i = 0; i < n; i++)
        asks[i].req = (struct kube_request){
            .verb = KUBE_GET, .res = kinds[i]->planner.res, .ns = s->ns, .name = name
        };
    int code = session_ask(s, asks, n);
    if (code >= 0)
        return code;
    *out = (struct jobs){ ARENA_ARRAY(s->a, struct job_found, n + 1), 0 };
    for (size_t i = 0; i < n; i++) {
        if (asks[i].err.code && !is_absent(&asks[i]))
            return session_fail(s, &asks[i], "get %s \"%" PRI_STR "\"", kinds[i]->singular,
                                STR_ARG(name));
        if (!asks[i].err.code)
            out->at[out->n++] = (struct job_found){ kinds[i], asks[i].obj };
    }
    return -1;
}

int jobs_find(struct session *s, const char *word, struct job_found *out)
{
    AUTO(buf) struct buf all = { 0 };
    struct jobs found = { 0 };
    int code = jobs_named(s, word, &found);

    if (code >= 0)
        return code;
    if (found.n == 1) {
        *out = found.at[0];
        return -1;
    }
    if (!found.n)
        return command_fail(EXIT_FAILED, "there is no job \"%s\" in namespace %" PRI_STR " at %s",
                            word, STR_ARG(s->ns), s->config.server);
    for (size_t i = 0; i < found.n; i++)
        buf_printf(&all, "%s%" PRI_STR, i ? i + 1 < found.n ? ", " : " or " : "",
                   STR_ARG(job_title(s->a, found.at[i].kind, found.at[i].obj)));
    return command_fail(EXIT_USAGE, "\"%s\" is a job of %zu kinds: say %" PRI_STR, word, found.n,
                        STR_ARG(buf_str(&all)));
}

int jobs_pods(struct session *s, str ns, str name, jv *items)
{
    str labels = name.n ? arena_printf(s->a, LABEL_JOB "=%" PRI_STR, STR_ARG(name)) : S(LABEL_JOB);
    struct ask q = { .req = { .verb = KUBE_LIST, .res = &kube_pods, .ns = ns, .labels = labels } };
    int code = session_ask(s, &q, 1);

    if (code >= 0)
        return code;
    if (q.err.code)
        return session_fail(s, &q, "list pods");
    *items = jv_at(q.obj, "items");
    return -1;
}

/* ---- pods of a job */

static int by_replica(const void *x, const void *y)
{
    const struct job_pod *a = x;
    const struct job_pod *b = y;
    int c = str_cmp(a->role, b->role);

    if (c)
        return c;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return str_cmp(meta_name(a->pod), meta_name(b->pod));
}

static bool owns(jv job, jv pod)
{
    return str_eq(jv_str(jv_at(meta_controller(pod), "uid"), S("?")), meta_uid(job));
}

struct job_pods job_pods_of(struct arena *a, const struct job_found *j, jv items)
{
    struct job_pods out = { ARENA_ARRAY(a, struct job_pod, jv_len(items) + 1), 0 };

    JV_EACH (it, items) {
        jv labels = meta_labels(it.value);
        struct job_pod *p = &out.at[out.n];
        if (!owns(j->obj, it.value))
            continue;
        *p = (struct job_pod){ .role = jv_str(jv_get(labels, S(LABEL_ROLE)), S("?")),
                               .pod = it.value };
        if (!str_to_int(jv_str(jv_get(labels, S(LABEL_INDEX)), S("")), &p->index))
            p->index = -1;
        out.n++;
    }
    qsort(out.at, out.n, sizeof(*out.at), by_replica);
    return out;
}

int64_t pod_restarts(jv pod)
{
    int64_t n = 0;

    JV_EACH (it, jv_at(pod, "status", "containerStatuses"))
        n += jv_int(jv_at(it.value, "restartCount"), 0);
    JV_EACH (it, jv_at(pod, "status", "initContainerStatuses"))
        n += jv_int(jv_at(it.value, "restartCount"), 0);
    return n;
}

/* ---- in short */

static const char *const states[] = { "Failed",     "Succeeded", "Suspended",
                                      "Restarting", "Running",   "Created" };

bool job_is_over(jv obj)
{
    return meta_condition_is(obj, S("Failed"), S("True")) ||
           meta_condition_is(obj, S("Succeeded"), S("True"));
}

static void find_state(jv obj, struct job_sum *out)
{
    out->state = S("Pending");
    for (size_t i = 0; i < COUNT(states); i++) {
        if (!meta_condition_is(obj, str_of(states[i]), S("True")))
            continue;
        out->state = str_of(states[i]);
        out->condition = meta_condition(obj, out->state);
        break;
    }
    if (meta_being_deleted(obj))
        out->state = S("Terminating");
}

/* Pods that were made again; the operator keeps count in an annotation. */
static int64_t recreated(struct arena *a, jv obj)
{
    str text = jv_str(jv_get(meta_annotations(obj), S("muster.dev/restarts")), S(""));
    jv tally = text.n ? json_parse(a, text, NULL, NULL) : JV_ABSENT;
    int64_t n = jv_int(jv_at(tally, "n"), 0);

    return n > 0 ? n : 0;
}

void pod_last_exit(jv pod, struct pod_exit *latest)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
    static const char *const states_of[] = { "lastState", "state" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "status", lists[i]))
            for (size_t k = 0; k < COUNT(states_of); k++) {
                jv end = jv_at(it.value, states_of[k], "terminated");
                int64_t code = jv_int(jv_at(end, "exitCode"), 0);
                int64_t at = job_time(jv_at(end, "finishedAt"));
                at = at < 0 ? 0 : at;
                if (code && at >= latest->at_ms)
                    *latest = (struct pod_exit){ at, code, jv_str(jv_at(end, "reason"), STR_NONE) };
            }
}

void stall_tally_add(struct stall_tally *t, const struct job_kind *kind, jv pod)
{
    str role = jv_str(jv_get(meta_labels(pod), S(LABEL_ROLE)), S("?"));
    bool runs = str_eqz(jv_str(jv_at(pod, "status", "phase"), STR_NONE), "Running");
    str why;
    bool stalled = pod_is_stalled(pod, &why);

    t->running += runs;
    t->stalled += stalled;
    t->working += stalled && !job_role_is_idle(kind, role);
}

bool stall_tally_is_stalled(const struct stall_tally *t)
{
    return t->working > 0 && t->stalled == t->running;
}

str job_sum_state(const struct job_sum *sum)
{
    bool stalled = str_eqz(sum->state, "Running") && stall_tally_is_stalled(&sum->stall);

    return stalled ? S("Stalled") : sum->state;
}

void job_sum_waits(struct job_sum *sum, str text)
{
    if (text.n && (!sum->waiting.n || str_cmp(text, sum->waiting) < 0))
        sum->waiting = text;
}

/* The status counts pods by phase, and one that fails again and again is Running by that. */
static void count_pods(struct arena *a, const struct job_found *j, jv pods, struct job_sum *out)
{
    out->running = 0;
    JV_EACH (it, pods) {
        if (!owns(j->obj, it.value))
            continue;
        out->restarts += pod_restarts(it.value);
        out->running += str_eqz(pod_state(a, it.value).state, "Running");
        pod_last_exit(it.value, &out->exit);
        stall_tally_add(&out->stall, j->kind, it.value);
        job_sum_waits(out, pod_waiting_for(a, it.value));
    }
}

struct job_sum job_sum(struct arena *a, const struct job_found *j, jv pods)
{
    struct job_sum out = { .restarts = -1, .exit.at_ms = -1 };

    find_state(j->obj, &out);
    out.wanted = job_total(job_read(a, j->kind, j->obj, NULL));
    job_sum_waits(&out, gang_held_text(j->obj));
    JV_EACH (it, jv_at(j->obj, "status", "replicaStatuses")) {
        out.running += jv_int(jv_at(it.value, "active"), 0);
        out.succeeded += jv_int(jv_at(it.value, "succeeded"), 0);
        out.failed += jv_int(jv_at(it.value, "failed"), 0);
    }
    if (!jv_exists(pods))
        return out;
    out.restarts = recreated(a, j->obj);
    count_pods(a, j, pods, &out);
    return out;
}

str age_since(struct arena *a, jv time, int64_t now_ms)
{
    int64_t at = job_time(time);

    return at < 0 ? S("<unknown>") : age_text(a, now_ms > at ? now_ms - at : 0);
}
