/* What is told while the pods of a job wait: in the message of its condition Created, and once for
 * each reason in an event. Schedulers give their reasons anew in each cycle, so a new one is told a
 * minute after the last, and none at all before the scheduler has had time to let the group in. */

#include "builtin/amounts.h"
#include "job/conditions.h"
#include "job/gang_parts.h"
#include "job/kind.h"
#include "kube/waiting.h"

#include <inttypes.h>
#include <string.h>

#define WAITING_FOR "Waiting for "

enum { QUIET_MS = 10 * 1000, AGAIN_MS = 60 * 1000 };

void gang_hold(struct job *j)
{
    j->is_held = true;
}

static str phase_of(jv group)
{
    return jv_str(jv_at(group, "status", "phase"), S(""));
}

bool gang_is_let_in(const struct job *j, jv group)
{
    str phase = phase_of(group);

    /* What it says of members that are gone is out of date. */
    bool is_stale = str_eqz(phase, "Unknown") && j->seen->n_pods == 0;
    return phase.n && !str_eqz(phase, "Pending") && !is_stale;
}

/* ---- the sentence */

static str need_text(const struct job *j, jv group)
{
    jv spec = jv_get(group, S("spec"));
    struct amounts asked = amounts_of(j->a, jv_get(spec, S("minResources")));
    int64_t n = jv_int(jv_get(spec, S("minMember")), 0);
    str pods = arena_printf(j->a, "%" PRId64 " pod%s", n, n == 1 ? "" : "s");

    amounts_drop_zeros(&asked);
    return asked.n ? arena_printf(j->a, "%" PRI_STR " with %" PRI_STR, STR_ARG(pods),
                                  STR_ARG(amounts_text(j->a, &asked)))
                   : pods;
}

static str reason_of_scheduler(jv group)
{
    str message = S("");

    JV_EACH (c, jv_at(group, "status", "conditions"))
        if (str_eqz(jv_str(jv_get(c.value, S("type")), S("")), "Unschedulable") &&
            str_eqz(jv_str(jv_get(c.value, S("status")), S("")), "True"))
            message = jv_str(jv_get(c.value, S("message")), S(""));
    str s = waiting_sentence(message);
    return s.n ? s : message;
}

/* Empty: there is nothing to say yet. */
static str sentence(const struct job *j, struct plan *p, jv group)
{
    const struct kube_resource *res = gang_back_end(j)->res;

    if (!jv_exists(group))
        return arena_printf(j->a, WAITING_FOR "PodGroups of %s/%s, which the server does not have",
                            res->group, res->version);
    int64_t made_ms = job_time(jv_get(meta_of(group), S("creationTimestamp")));
    if (j->attempt.at_ms > made_ms)
        made_ms = j->attempt.at_ms; /* it was left then */
    str why = reason_of_scheduler(group);
    if (!why.n && (made_ms < 0 || j->seen->now_ms < made_ms + QUIET_MS)) {
        if (made_ms >= 0)
            plan_wake(p, made_ms + QUIET_MS);
        return STR_NONE;
    }
    if (!why.n && !phase_of(group).n)
        why = arena_printf(j->a,
                           "no scheduler has looked at it; does %" PRI_STR
                           " run, and is there a queue %" PRI_STR "?",
                           STR_ARG(j->seen->settings->gang_scheduler),
                           STR_ARG(jv_str(jv_at(group, "spec", "queue"), S("default"))));
    if (!why.n)
        why = arena_printf(j->a, "it was not let into queue %" PRI_STR " yet",
                           STR_ARG(jv_str(jv_at(group, "spec", "queue"), S("default"))));
    return arena_printf(j->a, WAITING_FOR "PodGroup %" PRI_STR " (%" PRI_STR "): %" PRI_STR,
                        STR_ARG(meta_name(group)), STR_ARG(need_text(j, group)), STR_ARG(why));
}

/* ---- telling */

static str said_by_created(const struct job *j, jv *created)
{
    *created = condition_find(j, "Created");
    return jv_str(jv_get(*created, S("message")), S(""));
}

void gang_wait_for(struct job *j, struct plan *p, jv group)
{
    jv created;
    str said = said_by_created(j, &created), plain = condition_created_text(j);
    str why = sentence(j, p, group);

    gang_hold(j);
    str message =
        why.n ? arena_printf(j->a, "%" PRI_STR " %" PRI_STR, STR_ARG(plain), STR_ARG(why)) : said;
    if (str_eq(said, message))
        return;
    int64_t last_ms = job_time(jv_get(created, S("lastUpdateTime")));
    if (!str_eq(said, plain) && last_ms >= 0 && last_ms <= j->seen->now_ms &&
        j->seen->now_ms < last_ms + AGAIN_MS) {
        plan_wake(p, last_ms + AGAIN_MS);
        return;
    }
    condition_created_say(j, message);
    job_note(j, (struct plan_note){
                    .kind = NOTE_EVENT,
                    .reason = S("PodGroupPending"),
                    .message = why,
                    .once = arena_printf(j->a, "waits/%016" PRIx64, str_hash(why)),
                });
}

void gang_go(struct job *j)
{
    jv created;
    str said = said_by_created(j, &created), plain = condition_created_text(j);

    if (str_starts(said, plain) && said.n > plain.n)
        condition_created_say(j, plain);
}

/* ---- reading it again */

/* What follows the part in s; p NULL: it is not there. */
static str after(str s, str part)
{
    const char *at = s.n ? memmem(s.p, s.n, part.p, part.n) : NULL;
    size_t from = at ? (size_t)(at - s.p) + part.n : s.n;

    return at ? str_sub(s, from, s.n) : STR_NONE;
}

str gang_held_text(jv job)
{
    jv created = meta_condition(job, S("Created"));
    str held = after(jv_str(jv_get(created, S("message")), S("")), S(" " WAITING_FOR));

    if (!str_starts(held, S("PodGroup")) || meta_condition_is(job, S("Succeeded"), S("True")) ||
        meta_condition_is(job, S("Failed"), S("True")) ||
        meta_condition_is(job, S("Suspended"), S("True")))
        return STR_NONE;
    str why = after(held, S("): "));
    return why.n ? why : held;
}
