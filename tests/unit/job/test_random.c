/* Jobs of every kind live through random lives: pods run, end, are evicted and deleted, users
 * scale, suspend and break the job, time passes, the operator dies after any of its writes.
 * Whatever happens, each step and each status is true (life_check.c), planning after a whole pass
 * is empty (J2), and once the pods only get on with it every job ends.
 *
 * A failure names its seed: test_random SEED lives that life alone. */

#include "life.h"
#include "tap.h"

static uint64_t rng;

static uint64_t any(uint64_t n) /* 0 to n - 1 */
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (rng >> 11) % n;
}

static const char *const policies[] = { "Never", "OnFailure", "Always", "ExitCode" };
static const char *const cleans[] = { "None", "Running", "All" };

static void end_pod(const struct life *w, struct life_pod *p, int64_t code)
{
    p->ended_s = any(8) ? w->now_ms / 1000 : 0;
    p->phase = code == 0 ? POD_SUCCEEDED : POD_FAILED;
    p->has_exit = code >= 0;
    p->exit_code = code;
}

static void kubelet(struct life *w, struct life_pod *p)
{
    static const int64_t codes[] = { 0, 0, 0, 1, 137, -1 };

    if (p->leaving && any(2))
        p->there = false;
    else if (p->phase == POD_PENDING || p->phase == POD_UNKNOWN)
        p->phase = any(8) ? POD_RUNNING : POD_UNKNOWN;
    else if (p->phase == POD_RUNNING && p->in_place && any(3) == 0)
        p->restarts++;
    else if (p->phase == POD_RUNNING && any(3) == 0)
        end_pod(w, p, codes[any(COUNT(codes))]);
}

static void disturb(struct life *w, struct life_pod *p)
{
    struct life_service *s = &w->services[any(LIFE_PODS)];

    switch (any(4)) {
    case 0: /* evicted */
        if (p->there && !p->leaving && p->phase == POD_RUNNING) {
            end_pod(w, p, any(2) ? 143 : -1);
            p->disrupted = true;
        }
        break;
    case 1: /* deleted by hand, or by a drain */
        p->leaving = true;
        break;
    case 2:
        w->others[any(LIFE_OTHERS)].there = false;
        break;
    default:
        s->there = false;
    }
}

static bool is_one(const struct role_row *row)
{
    return row->single || row->one;
}

static void edit(struct life *w)
{
    size_t r = any(MANY_ROLES);

    switch (any(7)) {
    case 0:
    case 1:
        life_set_spec(w, jbool(any(2)), "suspend");
        break;
    case 3:
        life_set_scope(w, any(2));
        break;
    case 2:
        if (life_start_ms(w) >= 0)
            life_set_image(w, any(2));
        break;
    default:
        if (w->roles[r].there && !is_one(&w->kind->roles[r]))
            life_set_replicas(w, r, any(8) ? 1 + (int64_t)any(4) : w->kind->roles[r].least);
    }
}

static void move(struct life *w)
{
    struct life_pod *p = &w->pods[any(LIFE_PODS)];

    for (size_t i = 0; i < LIFE_PODS && !p->there; i++)
        p = &w->pods[any(12)];
    switch (any(16)) {
    case 0:
        disturb(w, p);
        break;
    case 1:
        edit(w);
        break;
    case 2:
        w->now_ms += 1000 * (int64_t)any(30);
        break;
    case 3:
    case 4:
    case 5:
        life_pass(w, any(2) ? SIZE_MAX : any(6), NULL);
        break;
    default:
        if (p->there)
            kubelet(w, p);
    }
    w->now_ms += (int64_t)any(700);
}

/* J2: a whole pass, then nothing. A second pass may have to say that a failed pod is on its way
 * out, or write counters that were held back, and with them which hosts run; or a back-off is over
 * by then. */
static void settle(struct life *w)
{
    bool was_held = false;
    int64_t wake = 0;

    for (int i = 0; i < 6; i++) {
        size_t n = life_pass(w, SIZE_MAX, &wake);

        if (n == 0 && (!wake || wake > w->now_ms + 1000 || !jv_exists(w->job)))
            return;
        if (i > 0 && n > 1 + (size_t)was_held && !(was_held && life_attempt(w)) &&
            !life_is_over(w)) /* time passes: a deadline may end it */
            life_broken(w, "J2: a pass of %zu steps after a whole pass", n);
        was_held = wake && wake <= w->now_ms + 1000;
        w->now_ms += 1000;
    }
    if (jv_exists(w->job) && !(w->ttl >= 0 && life_is_over(w)))
        life_broken(w, "J2: the plan does not become empty");
}

static bool has_no_pods(const struct life *w)
{
    for (size_t i = 0; i < LIFE_PODS; i++)
        if (w->pods[i].there)
            return false;
    return true;
}

/* Everybody gets on with it: the job must end. */
static void end(struct life *w)
{
    life_set_image(w, true);
    life_set_spec(w, JV_FALSE, "suspend");
    for (int round = 0; round < 12 && !w->broken[0]; round++) {
        for (size_t i = 0; i < LIFE_PODS; i++) {
            struct life_pod *p = &w->pods[i];

            if (p->leaving)
                p->there = false;
            else if (p->phase == POD_RUNNING)
                end_pod(w, p, 0);
            else if (p->phase != POD_SUCCEEDED && p->phase != POD_FAILED)
                p->phase = POD_RUNNING;
        }
        settle(w);
        w->now_ms += 1100;
        if (has_no_pods(w)) /* no longer held back by a back-off */
            w->now_ms += 300 * 1000;
        if (!jv_exists(w->job))
            return;
    }
    if (!life_is_over(w))
        life_broken(w, "a job whose pods have ended does not end");
}

static void afterwards(struct life *w)
{
    bool all =
        str_eqz(jv_str(jv_at(w->job, "spec", "runPolicy", "cleanPodPolicy"), STR_NONE), "All");

    if (!jv_exists(w->job))
        return;
    for (size_t i = 0; i < LIFE_PODS && all; i++)
        if ((w->pods[i].there && !w->pods[i].leaving) || w->services[i].there)
            life_broken(w, "something is left behind");
    if (w->counts[COUNT_CREATED] != 1 ||
        w->counts[COUNT_SUCCEEDED] + w->counts[COUNT_FAILED] != 1 ||
        w->counts[COUNT_RESTARTED] != w->restarts)
        life_broken(w, "counted %d restarts of %d", (int)w->counts[COUNT_RESTARTED],
                    (int)w->restarts);
    if (w->ttl >= 0) {
        w->now_ms += w->ttl * 1000 + 1000;
        life_pass(w, SIZE_MAX, NULL);
        if (jv_exists(w->job))
            life_broken(w, "J5: a job outlives its TTL");
    }
}

static void be_born(struct life *w)
{
    bool leader = false;

    for (size_t r = 0; r < MANY_ROLES && w->kind->roles[r].name; r++) {
        bool leads = w->kind->roles[r].leads;

        /* Of those that decide a job has one; the kinds' own tests know about two. */
        w->roles[r].there = leads ? !leader && (any(2) || !w->kind->roles[r + 1].name) : any(2);
        w->roles[r].there |= w->kind->roles[r].needed;
        leader = leader || (leads && w->roles[r].there);
        w->roles[r].replicas = is_one(&w->kind->roles[r]) ? 1 : 1 + (int64_t)any(4);
        w->roles[r].policy = policies[any(COUNT(policies))];
    }
    w->backoff = any(2) ? -1 : (int64_t)any(6);
    w->deadline = any(4) ? -1 : 20 + (int64_t)any(200);
    w->ttl = any(3) ? -1 : (int64_t)any(100);
    life_make_job(w, any(8) == 0, cleans[any(COUNT(cleans))]);
    if (any(2))
        life_set_scope(w, true);
}

static bool live(const struct job_kind *kind, uint64_t seed, bool talk)
{
    AUTO(arena) struct arena *a = arena_new();
    static struct life w;

    rng = seed * 0x9e3779b97f4a7c15u + 1;
    life_init(&w, a, kind);
    be_born(&w);
    for (int i = 0; i < 60 && jv_exists(w.job) && !w.broken[0]; i++) {
        if (any(6))
            move(&w);
        else
            settle(&w);
    }
    if (jv_exists(w.job) && !w.broken[0])
        end(&w);
    if (!w.broken[0])
        afterwards(&w);
    if (talk || w.broken[0]) {
        str text = json_text(a, w.job);

        printf("# %s seed %" PRIu64 ": %s\n# %" PRI_STR "\n", kind->planner.res->kind, seed,
               w.broken[0] ? w.broken : "fine", STR_ARG(text));
    }
    return !w.broken[0];
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t n = argc > 1 ? 1 : 3000;
    const struct job_kind *kind = NULL;

    for (size_t k = 0; (kind = job_kind_at(k)); k++) {
        unsigned bad = 0;

        for (uint64_t seed = first; seed < first + n && bad < 5; seed++)
            bad += !live(kind, seed, argc > 1);
        ok(bad == 0, "%s: %" PRIu64 " random lives", kind->planner.res->kind, n);
    }
    return tap_done();
}
