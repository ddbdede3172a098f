/* The back ends of gang scheduling, and what they have in common. */

#include "job/gang.h"

#include "job/classify.h"
#include "job/gang_parts.h"
#include "job/kind.h"
#include "job/others.h"
#include "job/steps.h"

#include <inttypes.h>

static const struct kube_resource volcano_groups = { "scheduling.volcano.sh", "v1beta1",
                                                     "podgroups", "PodGroup", false };
static const struct kube_resource plugins_groups = { "scheduling.x-k8s.io", "v1alpha1", "podgroups",
                                                     "PodGroup", false };
static const struct kube_resource kube_groups = { "scheduling.k8s.io", "v1alpha2", "podgroups",
                                                  "PodGroup", false };

enum { HOLD_MS = 120 * 1000 };

#define VERBS "get create patch delete"
#define CLASSES                            \
    {                                      \
        &kube_priority_classes, NULL, NULL \
    }

static const struct planner_needed volcano_needed[] = {
    { &volcano_groups, VERBS, "install Volcano, which --gang-scheduler-name asks for." },
    CLASSES,
    { 0 }
};
static const struct planner_needed plugins_needed[] = {
    { &plugins_groups, VERBS,
      "install scheduler-plugins with its CRDs, which --gang-scheduler-name asks for." },
    CLASSES,
    { 0 }
};
static const struct planner_needed kube_needed[] = {
    { &kube_groups, VERBS,
      "--gang-scheduler-name=kube needs Kubernetes 1.36 with the feature gate GenericWorkload and "
      "--runtime-config=scheduling.k8s.io/v1alpha2=true." },
    { 0 }
};

/* ---- pods */

static jv volcano_pod(struct arena *a, const struct job *j, const struct job_role *r, jv pod)
{
    pod = jv_with(a, pod, jstr(a, j->group), "metadata", "annotations",
                  "scheduling.k8s.io/group-name");
    return jv_with(a, pod, jstr(a, r->label), "metadata", "annotations", "volcano.sh/task-spec");
}

static jv plugins_pod(struct arena *a, const struct job *j, const struct job_role *r, jv pod)
{
    (void)r;
    return jv_with(a, pod, jstr(a, j->group), "metadata", "labels",
                   "scheduling.x-k8s.io/pod-group");
}

static jv kube_pod(struct arena *a, const struct job *j, const struct job_role *r, jv pod)
{
    (void)r;
    return jv_with(a, pod, jstr(a, j->group), "spec", "schedulingGroup", "podGroupName");
}

static str scheduler_of(const struct job_role *r)
{
    return jv_str(jv_at(r->template, "spec", "schedulerName"), S(""));
}

jv gang_add_to_pod(struct arena *a, const struct job *j, const struct job_role *r, jv pod)
{
    const struct gang_back_end *g = gang_back_end(j);

    if (!g || !j->group.n)
        return pod;
    str scheduler = j->seen->settings->gang_scheduler;
    if (scheduler.n && !scheduler_of(r).n)
        pod = jv_with(a, pod, jstr(a, scheduler), "spec", "schedulerName");
    return g->add_to_pod(a, j, r, pod);
}

static bool names_another(const struct job *j)
{
    str ours = j->seen->settings->gang_scheduler;

    for (size_t i = 0; ours.n && i < j->n_roles; i++)
        if (scheduler_of(&j->roles[i]).n && !str_eq(scheduler_of(&j->roles[i]), ours))
            return true;
    return false;
}

void gang_tell_scheduler(const struct job *j, struct plan *p, struct plan_step *s)
{
    if (!gang_back_end(j) || !names_another(j))
        return;
    step_tell(p, s,
              (struct plan_note){
                  .kind = NOTE_EVENT,
                  .warning = true,
                  .reason = str_of(j->kind->scheduler_reason ? j->kind->scheduler_reason
                                                             : "SetPodTemplateSchedulerName"),
                  .message = S("Another scheduler is specified when gang-scheduling is enabled and "
                               "it will not be overwritten"),
                  .once = arena_printf(j->a, "template-scheduler/%" PRId64,
                                       jv_int(jv_get(meta_of(j->obj), S("generation")), 0)),
              });
}

/* ---- groups */

bool gang_claims(const struct job *j, jv group)
{
    bool is_nobodys = !jv_exists(meta_controller(group)) && str_eq(meta_name(group), j->name);

    return is_nobodys || job_owns(j, group);
}

bool gang_is_group(const struct job *j, const struct seen_object *o)
{
    return o->res == gang_back_end(j)->res && gang_claims(j, o->obj);
}

int64_t gang_number_of(const struct job *j, jv group)
{
    str rest = str_sub(meta_name(group), j->name.n, meta_name(group).n);
    int64_t n = 0;

    return rest.n > 1 && str_to_int(str_sub(rest, 1, rest.n), &n) ? n : 0;
}

jv gang_group_now(const struct job *j)
{
    jv found = JV_ABSENT;

    for (size_t i = 0; i < j->seen->n_others; i++) {
        const struct seen_object *o = &j->seen->others[i];
        if (gang_is_group(j, o) && !meta_being_deleted(o->obj) &&
            (!jv_exists(found) || gang_number_of(j, o->obj) > gang_number_of(j, found)))
            found = o->obj;
    }
    return found;
}

int64_t gang_number(jv group, const char *annotation, int64_t otherwise)
{
    str said = jv_str(jv_get(meta_annotations(group), str_of(annotation)), S(""));
    int64_t n = 0;

    return str_to_int(said, &n) && n > 0 ? n : otherwise;
}

struct plan_step *gang_create(const struct job *j, struct plan *p, const struct gang_back_end *g,
                              str name, jv spec)
{
    struct plan_step *s = job_other_step(j, p, PLAN_CREATE, STAGE_FIRST, g->res, name);
    struct arena *a = j->a;
    jv size = jstr(a, arena_printf(a, "%" PRId64, gang_size_of(j).min));
    jv annotations = jv_with_key(a, meta_annotations(j->obj), S(GANG_START_SIZE), size);

    s->basis = true;
    s->fail_reason = "FailedSyncPodGroup";
    s->fail_words = "Error creating PodGroup";
    s->obj =
        jobj(a, { "apiVersion", jstr(a, arena_printf(a, "%s/%s", g->res->group, g->res->version)) },
             { "kind", jstr(a, str_of(g->res->kind)) },
             { "metadata",
               jobj(a, { "name", jstr(a, name) }, { "namespace", jstr(a, j->ns) },
                    { "annotations", annotations }, { "ownerReferences", jarr(a, j->owner) }) },
             { "spec", spec });
    return s;
}

void gang_delete(const struct job *j, struct plan *p, jv group, unsigned stage)
{
    struct plan_step *s =
        job_other_step(j, p, PLAN_DELETE, stage, gang_back_end(j)->res, meta_name(group));

    s->uid = meta_uid(group);
    s->noun = "PodGroup";
    s->done_reason = "SuccessfulDeletePodGroup";
    s->fail_reason = "FailedDeletePodGroup";
}

void gang_tell_foreign(struct job *j, struct plan *p, jv group)
{
    jv owner = meta_controller(group);
    str text =
        arena_printf(j->a, "PodGroup %" PRI_STR " is controlled by %" PRI_STR " %" PRI_STR,
                     STR_ARG(meta_name(group)), STR_ARG(jv_str(jv_get(owner, S("kind")), S(""))),
                     STR_ARG(jv_str(jv_get(owner, S("name")), S(""))));

    *plan_tell(p) = (struct plan_note){
        .kind = NOTE_EVENT,
        .warning = true,
        .reason = S("FailedSyncPodGroup"),
        .message = text,
        .once = arena_printf(j->a, "pod-group/%" PRI_STR, STR_ARG(meta_uid(group))),
    };
    gang_hold(j);
}

/* ---- those that can be changed: one, named like the job */

static jv changes_of(const struct job *j, jv there, jv spec)
{
    struct arena *a = j->a;
    jv spec_changes = gang_spec_changes(a, jv_get(there, S("spec")), spec);
    jv size = jstr(a, arena_printf(a, "%" PRId64, gang_size_of(j).min));
    jv said = jv_get(meta_annotations(there), S(GANG_START_SIZE));
    bool same_size = jv_equal(said, size) || (jv_exists(said) && gang_placed(j) > 0);

    if (!jv_exists(spec_changes) && same_size)
        return JV_ABSENT;
    jv annotations = same_size ? JV_ABSENT : jobj(a, { GANG_START_SIZE, size });
    return jobj(a,
                { "metadata",
                  jobj(a, { "uid", jstr(a, meta_uid(there)) }, { "annotations", annotations }) },
                { "spec", spec_changes });
}

static void update(const struct job *j, struct plan *p, jv there, jv spec)
{
    jv changes = changes_of(j, there, spec);

    if (!jv_exists(changes))
        return;
    struct plan_step *s =
        job_other_step(j, p, PLAN_PATCH, STAGE_FIRST, gang_back_end(j)->res, j->name);
    s->patch = KUBE_PATCH_MERGE;
    s->obj = changes;
    s->fail_reason = "FailedSyncPodGroup";
    s->fail_words = "Error updating PodGroup";
}

static void sync_one(struct job *j, struct plan *p, const struct gang_back_end *g)
{
    jv there = job_other_find(j, g->res, j->name);
    jv spec = g->spec(j, there);

    if (!jv_exists(there)) {
        gang_create(j, p, g, j->name, spec);
        if (g->delays)
            gang_hold(j);
    } else if (!gang_claims(j, there)) {
        gang_tell_foreign(j, p, there);
    } else if (meta_being_deleted(there)) {
        gang_hold(j); /* its name is taken until it is gone */
    } else {
        update(j, p, there, spec);
        if (g->delays && !gang_is_let_in(j, there))
            gang_wait_for(j, p, there);
    }
    j->group = j->name;
}

/* ---- */

static const struct gang_back_end back_ends[] = {
    [GANG_VOLCANO] = { &volcano_groups, volcano_needed, true, sync_one, gang_volcano_spec,
                       volcano_pod },
    [GANG_PLUGINS] = { &plugins_groups, plugins_needed, false, sync_one, gang_plugins_spec,
                       plugins_pod },
    [GANG_KUBE] = { &kube_groups, kube_needed, false, gang_kube_sync, NULL, kube_pod },
};

const struct gang_back_end *gang_back_end(const struct job *j)
{
    const struct plan_settings *s = j->seen->settings;

    return s && s->gang != GANG_OFF ? &back_ends[s->gang] : NULL;
}

const struct planner_needed *gang_needed(enum gang_mode mode)
{
    return mode == GANG_OFF ? NULL : back_ends[mode].needed;
}

void gang_settings(struct plan_settings *out, str scheduler_name)
{
    out->gang_hold_ms = HOLD_MS;
    out->gang_max_restarts = -1;
    out->gang = !scheduler_name.n || str_eq_nocase(scheduler_name, S("none")) ? GANG_OFF
                : str_eq_nocase(scheduler_name, S("volcano"))                 ? GANG_VOLCANO
                : str_eq_nocase(scheduler_name, S("kube"))                    ? GANG_KUBE
                                                                              : GANG_PLUGINS;
    out->gang_scheduler = out->gang == GANG_VOLCANO   ? S("volcano")
                          : out->gang == GANG_PLUGINS ? scheduler_name
                                                      : STR_NONE;
}

void gang_sync(struct job *j, struct plan *p)
{
    const struct gang_back_end *g = gang_back_end(j);

    if (!g)
        return;
    if (j->seen->lacks_needed)
        gang_wait_for(j, p, JV_ABSENT);
    else
        g->sync(j, p, g);
    if (!j->is_held)
        gang_go(j);
}

void gang_drop(const struct job *j, struct plan *p)
{
    const struct gang_back_end *g = gang_back_end(j);

    for (size_t i = 0; g && i < j->seen->n_others; i++) {
        jv group = j->seen->others[i].obj;
        if (!gang_is_group(j, &j->seen->others[i]) || meta_being_deleted(group))
            continue;
        *plan_tell(p) = (struct plan_note){
            .kind = NOTE_EVENT,
            .reason = S("JobTerminated"),
            .message = S("Job has been terminated. Deleting PodGroup"),
            .once = arena_printf(j->a, "terminated/%" PRI_STR, STR_ARG(meta_uid(group))),
        };
        gang_delete(j, p, group, STAGE_PODS);
    }
}
