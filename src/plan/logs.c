#include "plan/logs.h"

#include "kube/meta.h"
#include "plan/planner.h"

#include <inttypes.h>

#define MAIN_CONTAINER "kubectl.kubernetes.io/default-container"

static str label(jv pod, const char *key)
{
    return jv_str(jv_get(meta_labels(pod), str_of(key)), STR_NONE);
}

str logs_place(struct arena *a, jv pod)
{
    str job = label(pod, LABEL_JOB), role = label(pod, LABEL_ROLE), index = label(pod, LABEL_INDEX);
    str name = meta_name(pod), ns = meta_namespace(pod);

    if (!job.n || !role.n)
        return arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR, STR_ARG(ns),
                            STR_ARG(job.n ? job : name), STR_ARG(name));
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR "%s%" PRI_STR, STR_ARG(ns),
                        STR_ARG(job), STR_ARG(role), index.n ? "-" : "", STR_ARG(index));
}

bool logs_is_main(jv pod, str container)
{
    jv first = jv_at(jv_index(jv_at(pod, "spec", "containers"), 0), "name");
    str chosen = jv_str(jv_get(meta_annotations(pod), S(MAIN_CONTAINER)), STR_NONE);

    JV_EACH (it, jv_at(pod, "spec", "containers"))
        if (str_eq(jv_str(jv_at(it.value, "name"), STR_NONE), chosen))
            first = jv_at(it.value, "name");
    return str_eq(jv_str(first, STR_NONE), container);
}

str logs_name(struct arena *a, jv pod, str container, int64_t attempt)
{
    bool alone = logs_is_main(pod, container);

    return arena_printf(a, "%" PRId64 "%s%" PRI_STR ".log", attempt, alone ? "" : ".",
                        STR_ARG(alone ? STR_NONE : container));
}

int64_t logs_attempt(str name, str container)
{
    str number = str_cut(&name, '.');
    int64_t n = -1;

    if (container.n && !str_eq(str_cut(&name, '.'), container))
        return -1;
    int64_t turned;
    str kind = str_cut(&name, '.');
    if (!str_eq(kind, S("log")) || !str_to_int(number, &n) || n < 0 ||
        (name.p && !str_to_int(name, &turned)))
        return -1;
    return n;
}

void logs_run_print(struct buf *b, const struct logs_run *r)
{
    buf_printf(b, "%" PRId64 " %" PRI_STR "%s %" PRI_STR " %" PRId64 " %" PRI_STR " %" PRId64 "\n",
               r->attempt, STR_ARG(r->container), r->is_main ? "*" : "", STR_ARG(r->pod_uid),
               r->run, STR_ARG(r->owner_uid.n ? r->owner_uid : S("-")), r->start_ms);
}

bool logs_run_read(str line, struct logs_run *out)
{
    struct logs_run r = { 0 };
    str attempt = str_cut(&line, ' ');

    r.container = str_cut(&line, ' ');
    r.pod_uid = str_cut(&line, ' ');
    str run = str_cut(&line, ' ');
    r.owner_uid = str_cut(&line, ' ');
    r.is_main = str_ends(r.container, S("*"));
    r.container.n -= r.is_main;
    if (!str_to_int(attempt, &r.attempt) || r.attempt < 0 || !r.container.n || !r.pod_uid.n ||
        !str_to_int(run, &r.run) || !r.owner_uid.n || !str_to_int(line, &r.start_ms))
        return false;
    *out = r;
    return true;
}
