/* Jobs of each gang scheduler live through random lives: pods fail and are evicted, another job
 * takes their places and leaves again, users scale and suspend. Whatever happens, no pod is made
 * before its group may have it, no job holds a part of its gang for long, and when there is room
 * every job runs whole. A failure names its seed: test_gang SEED lives that life alone. */

#include "base/time.h"
#include "job/gang.h"
#include "kube/meta.h"
#include "tap.h"
#include "world.h"

enum { MOVES = 80, LIVES = 400, PLENTY = 64, HOLD_MS = 120 * 1000 };

struct cluster {
    struct world w;
    struct arena *a;
    int64_t room; /* pods that still fit */
    const char *broken;
};

static uint64_t rng;

static uint64_t any(uint64_t n) /* 0 to n - 1 */
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (rng >> 11) % n;
}

static void broken(struct cluster *c, const char *what)
{
    if (!c->broken)
        c->broken = what;
}

/* ---- pods */

static str phase_of(jv obj)
{
    return jv_str(jv_at(obj, "status", "phase"), S(""));
}

static bool has_node(jv pod)
{
    return jv_exists(jv_at(pod, "spec", "nodeName"));
}

static jv pod_at(const struct cluster *c, size_t i)
{
    return jv_index(c->w.pods, i);
}

static void set_pod(struct cluster *c, size_t i, jv pod)
{
    c->w.pods = jv_with_index(c->a, c->w.pods, i, pod);
}

static void set_phase(struct cluster *c, size_t i, const char *phase)
{
    set_pod(c, i, jv_with(c->a, pod_at(c, i), jstr(c->a, str_of(phase)), "status", "phase"));
}

static void remove_pod(struct cluster *c, size_t i)
{
    c->room += has_node(pod_at(c, i));
    set_pod(c, i, JV_ABSENT);
}

/* ---- groups */

static jv group_of(const struct cluster *c, jv pod)
{
    str name = c->w.settings.gang == GANG_KUBE
                   ? jv_str(jv_at(pod, "spec", "schedulingGroup", "podGroupName"), S(""))
                   : meta_name(c->w.job);

    JV_EACH (it, c->w.others)
        if (str_eq(meta_name(it.value), name))
            return it.value;
    return JV_ABSENT;
}

static int64_t min_of(jv group)
{
    return jv_int(jv_at(group, "spec", "schedulingPolicy", "gang", "minCount"),
                  jv_int(jv_at(group, "spec", "minMember"), -1));
}

struct members {
    int64_t all, placed;
};

static struct members members_of(const struct cluster *c, jv group)
{
    struct members m = { 0 };

    JV_EACH (it, c->w.pods) {
        bool ended = str_eq(phase_of(it.value), S("Failed")) || meta_being_deleted(it.value);
        bool is_in = str_eq(meta_name(group_of(c, it.value)), meta_name(group));
        m.all += is_in && !ended;
        m.placed += is_in && !ended && has_node(it.value);
    }
    return m;
}

/* Members of a group that are not there together get no node; the rest come one by one. */
static void schedule(struct cluster *c)
{
    for (size_t i = 0; i < jv_len(c->w.pods); i++) {
        jv pod = pod_at(c, i), group = group_of(c, pod);
        if (has_node(pod) || meta_being_deleted(pod) || !jv_exists(group))
            continue;
        struct members m = members_of(c, group);
        int64_t need = m.placed ? 1 : min_of(group);
        if (m.all < min_of(group) || c->room < need)
            continue;
        set_pod(c, i, jv_with(c->a, pod, jstrz(c->a, "node"), "spec", "nodeName"));
        c->room--;
    }
}

/* Volcano's phases, as far as the operator looks at them. */
static void let_in(struct cluster *c)
{
    for (size_t i = 0; i < jv_len(c->w.others); i++) {
        jv group = jv_index(c->w.others, i);
        struct members m = members_of(c, group);
        const char *phase = m.placed && m.placed < min_of(group) ? "Unknown"
                            : m.placed                           ? "Running"
                            : str_eq(phase_of(group), S("Inqueue")) ||
                                    (phase_of(group).n && c->room >= min_of(group))
                                ? "Inqueue"
                                : "Pending";
        c->w.others =
            jv_with_index(c->a, c->w.others, i,
                          jv_with(c->a, group, jstr(c->a, str_of(phase)), "status", "phase"));
    }
}

static void kubelet(struct cluster *c)
{
    for (size_t i = jv_len(c->w.pods); i-- > 0;)
        if (meta_being_deleted(pod_at(c, i)))
            remove_pod(c, i);
        else if (has_node(pod_at(c, i)) && str_eq(phase_of(pod_at(c, i)), S("Pending")))
            set_phase(c, i, "Running");
}

/* ---- the operator */

static void check_create(struct cluster *c, const struct plan_step *s)
{
    jv obj = step_object(c->a, s);
    jv group = group_of(c, obj);
    str phase = phase_of(group);

    if (s->res == &kube_pods && jv_bool(jv_at(c->w.job, "spec", "runPolicy", "suspend"), false))
        broken(c, "a pod of a suspended job is made");
    if (c->w.settings.gang == GANG_VOLCANO && (!phase.n || str_eq(phase, S("Pending"))))
        broken(c, "something is made before the group was let in");
}

static void pass(struct cluster *c)
{
    struct err e = { 0 };
    const struct plan *p = world_plan(&c->w, c->a, &e);

    if (!p) {
        broken(c, "no plan");
        return;
    }
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kind == PLAN_CREATE &&
            (p->steps[i].res == &kube_pods || p->steps[i].res == &kube_services))
            check_create(c, &p->steps[i]);
    c->w.short_since_ms = !p->gang_short        ? 0
                          : c->w.short_since_ms ? c->w.short_since_ms
                                                : c->w.now_ms;
    if (world_apply(&c->w, p, &e) < 0)
        broken(c, "a plan that cannot be carried out");
    JV_EACH (it, c->w.pods)
        if (!jv_exists(group_of(c, it.value)) && !meta_being_deleted(it.value) &&
            !has_node(it.value))
            broken(c, "a pod without its group");
}

/* ---- lives */

static void edit(struct cluster *c, jv value, const char *const *path)
{
    int64_t generation = jv_int(jv_at(c->w.job, "metadata", "generation"), 1), version = 0;

    str_to_int(meta_resource_version(c->w.job), &version);
    c->w.job = jv_with_path(c->a, c->w.job, value, path);
    c->w.job = jv_with(c->a, c->w.job, jint(c->a, generation + 1), "metadata", "generation");
    c->w.job = jv_with(c->a, c->w.job, jstr(c->a, arena_printf(c->a, "%" PRId64, version + 1)),
                       "metadata", "resourceVersion");
}

static void suspend(struct cluster *c, bool wanted)
{
    edit(c, jbool(wanted), (const char *const[]){ "spec", "runPolicy", "suspend", NULL });
}

static void scale(struct cluster *c, int64_t n)
{
    edit(c, jint(c->a, n),
         (const char *const[]){ "spec", "tfReplicaSpecs", "Worker", "replicas", NULL });
}

static void disturb(struct cluster *c)
{
    size_t i = jv_len(c->w.pods) ? any(jv_len(c->w.pods)) : 0;

    switch (any(6)) {
    case 0:
        if (jv_len(c->w.pods) && str_eq(phase_of(pod_at(c, i)), S("Running")))
            set_phase(c, i, "Failed");
        break;
    case 1:
        if (jv_len(c->w.pods))
            remove_pod(c, i);
        break;
    case 2:
        scale(c, 1 + (int64_t)any(4));
        break;
    case 3:
        suspend(c, any(2));
        break;
    default: /* another job comes or goes */
        c->room = (int64_t)any(7);
    }
}

static void move(struct cluster *c)
{
    switch (any(8)) {
    case 0:
        disturb(c);
        break;
    case 1:
        schedule(c);
        break;
    case 2:
        kubelet(c);
        break;
    case 3:
        if (c->w.settings.gang == GANG_VOLCANO)
            let_in(c);
        break;
    case 4:
        c->w.now_ms += 1000 * (int64_t)any(60);
        break;
    default:
        pass(c);
    }
    c->w.now_ms += (int64_t)any(1000);
}

static void all_move(struct cluster *c, int64_t ms)
{
    pass(c);
    let_in(c);
    pass(c);
    schedule(c);
    kubelet(c);
    pass(c);
    c->w.now_ms += ms;
}

static int64_t count_placed(const struct cluster *c)
{
    int64_t n = 0;

    JV_EACH (it, c->w.pods)
        n += has_node(it.value) && !meta_being_deleted(it.value);
    return n;
}

/* Somebody has all the room there was: what the job still has is enough, or it has none. */
static void starve(struct cluster *c)
{
    int64_t least = PLENTY;

    for (int i = 0; i < 8; i++) {
        c->room = 0;
        all_move(c, HOLD_MS);
    }
    JV_EACH (it, c->w.others) {
        int64_t n = PLENTY;
        str_to_int(
            jv_str(jv_at(it.value, "metadata", "annotations", "muster.dev/start-size"), S("")), &n);
        least = n < least ? n : least;
    }
    int64_t wanted = jv_int(jv_at(c->w.job, "spec", "tfReplicaSpecs", "Worker", "replicas"), 0);
    least = wanted < least ? wanted : least;
    if (count_placed(c) && count_placed(c) < least)
        broken(c, "a part of a gang holds what it has");
}

static void recover(struct cluster *c)
{
    int64_t wanted = jv_int(jv_at(c->w.job, "spec", "tfReplicaSpecs", "Worker", "replicas"), 0);

    suspend(c, false);
    for (int i = 0; i < 12; i++) {
        c->room = PLENTY;
        all_move(c, 60 * 1000);
    }
    if (count_placed(c) != wanted)
        broken(c, "there is room, and it does not run");
}

static bool live(const char *scheduler, uint64_t seed)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *job = J(
        "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','metadata':{'name':'j'},'spec':{"
        "'tfReplicaSpecs':{'Worker':{'replicas':3,'restartPolicy':'OnFailure','template':{'spec':{"
        "'containers':[{'name':'tensorflow','image':'i'}]}}}}}}");
    struct cluster c = { .a = a, .w = { .a = a }, .room = 3 };
    jv seen = jobj(a, { "now", jstrz(a, "2025-01-01T10:00:00Z") },
                   { "settings", jobj(a, { "gangScheduler", jstr(a, str_of(scheduler)) }) });
    struct err e = { 0 };

    rng = seed * 0x9e3779b97f4a7c15u + 1;
    if (world_read(&c.w, jdoc_root(job), seen, &e) < 0)
        broken(&c, "no world");
    for (int i = 0; i < MOVES && !c.broken; i++)
        move(&c);
    if (any(2) && !c.broken)
        starve(&c);
    if (!c.broken)
        recover(&c);
    if (c.broken)
        printf("# %s seed %" PRIu64 ": %s\n# %" PRI_STR "\n# %" PRI_STR "\n", scheduler, seed,
               c.broken, STR_ARG(json_text(a, c.w.job)), STR_ARG(json_text(a, c.w.others)));
    world_done(&c.w);
    return !c.broken;
}

int main(int argc, char **argv)
{
    static const char *const schedulers[] = { "volcano", "plugins", "kube" };
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t n = argc > 1 ? 1 : LIVES;

    for (size_t i = 0; i < COUNT(schedulers); i++) {
        unsigned bad = 0;

        for (uint64_t seed = first; seed < first + n && bad < 3; seed++)
            bad += !live(schedulers[i], seed);
        ok(bad == 0, "%s: %" PRIu64 " random lives", schedulers[i], n);
    }
    return tap_done();
}
