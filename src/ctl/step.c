/* One step of a plan: the request it becomes, and what its answer means. What was accepted enters
 * the caches before anything else happens, and only then its events and counters are told. */

#include "ctl/internal.h"

#include "kube/meta.h"
#include "loop/log.h"

enum {
    TOLD_ONE_BY_ONE = 9, /* of each reason and pass */
    HOLD_BASE_MS = 100,
    REFUSED_IN_A_ROW = 3,
    CAREFUL = 8,                /* at once: what is refused to all has shown by then */
    SHARED_MS = 10 * 60 * 1000, /* between looks whether it is still there */
};

struct attempt {
    struct run *run;
    const struct plan_step *step;
    struct attempt *next, *prev;
    struct kube_call *call;
    bool looks; /* a create that reads first, or after it was told that the name is taken */
    str taken;  /* what the server said, once it has said that the name is taken */
};

/* ---- telling */

static const char *verb_of(const struct plan_step *s)
{
    return s->kind == PLAN_DELETE ? "Deleted" : "Created";
}

static void tell(struct run *r, struct plan_note note)
{
    note_tell(r->c, r->job, &r->about, &note);
}

static str done_text(struct run *r, const struct plan_step *s)
{
    if (s->done_words)
        return arena_printf(r->a, "%s: %" PRI_STR, s->done_words, STR_ARG(s->name));
    return arena_printf(r->a, "%s %s: %" PRI_STR, verb_of(s), s->noun, STR_ARG(s->name));
}

static void tell_done(struct run *r, const struct plan_step *s)
{
    size_t i = 0;

    while (i < r->n_tallies && strcmp(r->tallies[i].reason, s->done_reason) != 0)
        i++;
    if (i == COUNT(r->tallies))
        return;
    if (i == r->n_tallies)
        r->tallies[r->n_tallies++] =
            (struct tally){ s->done_reason, s->noun, s->kind == PLAN_DELETE, 0 };
    if (++r->tallies[i].n > TOLD_ONE_BY_ONE)
        return;
    tell(r, (struct plan_note){ .reason = str_of(s->done_reason), .message = done_text(r, s) });
}

void tallies_tell(struct run *r)
{
    for (size_t i = 0; i < r->n_tallies; i++) {
        const struct tally *t = &r->tallies[i];
        log_info(t->deleted ? "deleted" : "created", KVZ("job", r->job->key), KVZ("what", t->noun),
                 KVI("count", t->n));
        if (t->n <= TOLD_ONE_BY_ONE)
            continue;
        str message = arena_printf(r->a, "%s %u more %ss", t->deleted ? "Deleted" : "Created",
                                   t->n - TOLD_ONE_BY_ONE, t->noun);
        tell(r, (struct plan_note){ .reason = str_of(t->reason), .message = message });
    }
}

static void accepted(struct run *r, const struct plan_step *s)
{
    r->window += r->window < CAREFUL ? 1 : 3;
    stats_step(&r->c->stats, s->kind, s->res, true);
    if (s->done_reason)
        tell_done(r, s);
    for (size_t i = 0; i < s->n_notes; i++)
        tell(r, s->notes[i]);
}

/* Once for each object and text. */
static void warn(struct run *r, const struct plan_step *s, const char *reason, str message)
{
    str fact = arena_printf(r->a, "fail/%s/%" PRI_STR "/%" PRI_STR, s->res->plural,
                            STR_ARG(s->name), STR_ARG(message));

    tell(r, (struct plan_note){
                .warning = true, .reason = str_of(reason), .message = message, .once = fact });
}

static void tell_taken(struct run *r, const struct plan_step *s)
{
    const char *kind = r->job->kind->planner->res->kind;

    warn(r, s, s->taken_reason,
         arena_printf(r->a,
                      "Resource \"%" PRI_STR "\" of %sKind \"%s\" already exists and is not "
                      "managed by %s",
                      STR_ARG(s->name), kind, s->res->kind, kind));
}

static void tell_failed(struct run *r, const struct plan_step *s, const struct kube_answer *ans)
{
    str why = ans->message.n ? ans->message : str_of(ans->err.msg);

    stats_step(&r->c->stats, s->kind, s->res, false);
    if (ans->err.code == ERR_EXISTS && s->taken_reason) {
        tell_taken(r, s);
        return;
    }
    if (!s->fail_reason || ans->status == 0 || ans->status == 429 || kube_namespace_ends(ans))
        return; /* nobody's fault, or there is nowhere to tell it */
    const char *words = s->fail_words            ? s->fail_words
                        : s->kind == PLAN_DELETE ? "Error deleting"
                        : s->kind == PLAN_PATCH  ? "Error updating"
                                                 : "Error creating";
    warn(r, s, s->fail_reason, arena_printf(r->a, "%s: %" PRI_STR, words, STR_ARG(why)));
    if (s->fail_also)
        warn(r, s, s->fail_also, done_text(r, s));
}

/* ---- failing */

/* What later stages would make stands on it. */
static void lacks_basis(struct run *r, const struct plan_step *s)
{
    if (s->basis && (!r->baseless || s->stage < r->baseless_from))
        r->baseless_from = s->stage;
    r->baseless |= s->basis;
}

static void fail(struct run *r, const struct plan_step *s, const struct err *e, bool again)
{
    if (r->err.code == ERR_OK) {
        r->err = *e;
        err_wrap(&r->err, "%s %s %" PRI_STR,
                 (const char *const[]){ "create", "delete", "patch", "get" }[s->kind],
                 s->res->plural, STR_ARG(s->name));
    }
    r->is.failed |= again;
    r->cut |= s->must;
    lacks_basis(r, s);
}

static bool may_have_happened(const struct kube_answer *ans)
{
    return ans->status == 0 || ans->status >= 500;
}

static void hold_for(struct run *r, struct hold *h, int64_t base_ms, const struct kube_answer *ans)
{
    int64_t ms = queue_backoff_ms(h->failures++, base_ms, r->c->o.limits.backoff_max_ms);

    if (ans->retry_after_ms > ms)
        ms = ans->retry_after_ms;
    h->until_ms = queue_us() / 1000 + ms;
}

static unsigned *failures_of(struct run *r, const struct kube_resource *res)
{
    for (size_t i = 0; i < r->n_failing; i++)
        if (r->failing[i].res == res)
            return &r->failing[i].n;
    if (r->n_failing == COUNT(r->failing)) /* kinds own few: those too many share the last place */
        return &r->failing[r->n_failing - 1].n;
    r->failing[r->n_failing].res = res;
    return &r->failing[r->n_failing++].n;
}

/* Each waits for itself. When the server cannot, or some in a row were refused, the others of the
 * resource wait too, but less, so that the next time another one is tried first. */
static void create_failed(struct run *r, const struct plan_step *s, const struct kube_answer *ans)
{
    enum err_code code = ans->err.code;
    bool taken = code == ERR_EXISTS;
    bool cannot = ans->status == 0 || code == ERR_TOO_MANY_REQUESTS || code == ERR_UNAVAILABLE ||
                  code == ERR_UNAUTHORIZED || kube_namespace_ends(ans);
    unsigned *n = failures_of(r, s->res);

    tell_failed(r, s, ans);
    struct hold *h = hold_add(r->c, r->job, s->res, s->name);
    h->unknown |= may_have_happened(ans);
    h->found = false;
    hold_for(r, h, HOLD_BASE_MS, ans);
    *n += !taken;
    if (cannot || *n >= REFUSED_IN_A_ROW) {
        *n = REFUSED_IN_A_ROW;
        hold_for(r, hold_add(r->c, r->job, s->res, S("")), HOLD_BASE_MS / 2, ans);
    }
    if (!kube_namespace_ends(ans))
        fail(r, s, &ans->err, s->must);
    r->cut |= s->must;
    lacks_basis(r, s);
}

/* ---- creates */

static bool is_ours(const struct run *r, jv obj)
{
    return str_eq(jv_str(jv_at(meta_controller(obj), "uid"), S("")), ctl_job_uid(r->job));
}

static void create_done(struct run *r, const struct plan_step *s, jv obj)
{
    struct store *st = store_of(r->c, s->res);

    if (st && jv_exists(obj))
        item_put(st, obj, PUT_ANSWER);
    *failures_of(r, s->res) = 0;
    hold_drop(r->c, r->job, s->res, s->name);
    hold_drop(r->c, r->job, s->res, S(""));
}

/* The name is taken and this is who has it. */
static void create_found(struct attempt *at, const struct kube_answer *ans)
{
    struct run *r = at->run;
    const struct plan_step *s = at->step;
    struct store *st = store_of(r->c, s->res);
    bool seen = jv_exists(jv_at(meta_labels(ans->obj), LABEL_OPERATOR));

    if (is_ours(r, ans->obj)) {
        bool there = st && item_put(st, ans->obj, seen ? PUT_ANSWER : PUT_WATCH);
        struct item *it = there ? item_find(st, s->ns, s->name) : NULL;
        if (it && !seen) {
            it->guarded = true;
            guard_start(r->c, s->res, ans->obj);
        }
        create_done(r, s, JV_ABSENT);
        return;
    }
    if (s->shared) {
        struct hold *h = hold_add(r->c, r->job, s->res, s->name);
        h->until_ms = queue_us() / 1000 + SHARED_MS;
        h->unknown = true; /* reads first */
        h->found = true;
        return;
    }
    struct kube_answer why = { .status = 409, .message = at->taken };
    err_set(&why.err, ERR_EXISTS, "%s \"%" PRI_STR "\" already exists", s->res->plural,
            STR_ARG(s->name));
    create_failed(r, s, &why);
    hold_wait(r->c, hold_add(r->c, r->job, s->res, s->name));
    if (!st || !item_find(st, s->ns, s->name))
        guard_start(r->c, s->res, ans->obj);
}

static void send_request(struct attempt *at);

static void create_answered(struct attempt *at, const struct kube_answer *ans)
{
    struct run *r = at->run;
    const struct plan_step *s = at->step;

    if (at->looks) {
        at->looks = false;
        if (ans->err.code == ERR_OK) {
            create_found(at, ans);
        } else if (ans->err.code == ERR_NOT_FOUND && !at->taken.p && ctl_may_write(r->c)) {
            send_request(at); /* it is not there: now try */
        } else if (ans->err.code == ERR_NOT_FOUND) {
            hold_for(r, hold_add(r->c, r->job, s->res, s->name), HOLD_BASE_MS,
                     ans); /* gone again */
            lacks_basis(r, s);
        } else {
            create_failed(r, s, ans);
        }
        return;
    }
    struct hold *h = hold_find(r->job, s->res, s->name);
    if (h && !may_have_happened(ans))
        h->unknown = false;
    if (ans->err.code == ERR_OK) {
        create_done(r, s, ans->obj);
        accepted(r, s);
        return;
    }
    if (ans->err.code != ERR_EXISTS) {
        create_failed(r, s, ans);
        return;
    }
    struct store *st = store_of(r->c, s->res);
    struct item *it = st ? item_find(st, s->ns, s->name) : NULL;
    if (it && it->job == r->job) {
        create_done(r, s, JV_ABSENT);
        return;
    }
    at->looks = true;
    at->taken = arena_str(r->a, ans->message);
    send_request(at);
}

/* ---- deletes */

static void delete_answered(struct attempt *at, const struct kube_answer *ans)
{
    struct run *r = at->run;
    const struct plan_step *s = at->step;
    struct store *st = store_of(r->c, s->res);
    bool is_job = s->res == r->job->kind->planner->res;
    bool was_gone = ans->err.code == ERR_NOT_FOUND || ans->err.code == ERR_CONFLICT;

    if (ans->err.code != ERR_OK && !was_gone) {
        tell_failed(r, s, ans);
        fail(r, s, &ans->err, true);
        return;
    }
    /* what the answer says of it may be older than what the watch has told, and says no version */
    struct item *it = st ? item_find(st, s->ns, s->name) : NULL;
    if (it && str_eq(item_uid(it), s->uid)) {
        it->asked_s = was_gone ? queue_s() : (uint32_t)ITEM_ASKED;
        r->is.doubtful |= was_gone && !it->leaving;
    }
    if (is_job)
        job_advance(r->c, r->job, JOB_ON_DELETED);
    if (!was_gone)
        accepted(r, s);
}

/* ---- patches, and looking whether the job is still there */

/* What the watch told before the answer came was no change of somebody else's. */
static void job_patched(struct run *r, jv obj)
{
    struct ctl_job *j = r->job;

    r->version = arena_str(r->a, meta_resource_version(obj));
    if (j->rev && j->rev == revision_of(r->version))
        job_advance(r->c, j, JOB_ON_LEARNT);
    ctl_job_put(j->kind, obj, false);
}

static void patch_answered(struct attempt *at, const struct kube_answer *ans)
{
    struct run *r = at->run;
    const struct plan_step *s = at->step;
    struct ctl_job *j = r->job;
    bool is_job = s->res == j->kind->planner->res;
    struct store *st = store_of(r->c, s->res);

    if (ans->err.code == ERR_OK) {
        if (is_job)
            job_patched(r, ans->obj);
        else if (st)
            item_put(st, ans->obj, PUT_ANSWER);
        if (is_job && str_eqz(s->sub, "status"))
            j->status_written_ms = r->c->wall_ms();
        accepted(r, s);
        return;
    }
    if (ans->err.code == ERR_CONFLICT && is_job) {
        r->c->stats.kinds[j->kind - r->c->kinds].conflicts++;
        str written = r->version.n ? r->version : meta_resource_version(r->about.job);
        bool newest = j->rev == revision_of(written); /* that we know of */
        job_advance(r->c, j, newest ? JOB_ON_CONFLICT : JOB_ON_ITEMS);
        r->cut |= s->must;
        return;
    }
    bool other = ans->err.code == ERR_CONFLICT || ans->err.code == ERR_NOT_FOUND;
    if (other && !s->must)
        return; /* it went, or became another: the watch tells */
    if (!is_job)
        tell_failed(r, s, ans);
    fail(r, s, &ans->err, true);
}

static void confirm_answered(struct attempt *at, const struct kube_answer *ans)
{
    struct run *r = at->run;
    struct err e = ans->err;

    if (e.code == ERR_OK && !str_eq(meta_uid(ans->obj), ctl_job_uid(r->job)))
        err_set(&e, ERR_NOT_FOUND, "it has been replaced by another object");
    else if (e.code == ERR_OK && meta_being_deleted(ans->obj))
        err_set(&e, ERR_NOT_FOUND, "it is being deleted");
    if (e.code != ERR_OK) {
        fail(r, at->step, &e, true);
        return;
    }
    ctl_job_put(r->job->kind, ans->obj, false);
    accepted(r, at->step);
}

/* ---- sending */

static void (*const answered[])(struct attempt *at, const struct kube_answer *ans) = {
    [PLAN_CREATE] = create_answered,
    [PLAN_DELETE] = delete_answered,
    [PLAN_PATCH] = patch_answered,
    [PLAN_CONFIRM] = confirm_answered,
};

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct attempt *at = ctx;
    struct run *r = at->run;

    at->call = NULL;
    if (at->step->kind == PLAN_CREATE)
        r->c->sender.made_ms = loop_now_ms(r->c->loop);
    answered[at->step->kind](at, ans);
    if (at->call)
        return; /* went on to ask something else */
    *(at->prev ? &at->prev->next : &r->attempts) = at->next;
    if (at->next)
        at->next->prev = at->prev;
    r->in_flight--;
    r->c->sender.in_flight--;
    run_answered(r);
}

static jv delete_options(struct arena *a, const struct plan_step *s)
{
    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "DeleteOptions") },
                { "preconditions", s->uid.n ? jobj(a, { "uid", jstr(a, s->uid) }) : JV_ABSENT });
}

/* A later patch of the job in the same plan goes on from what the earlier one made. */
static jv with_version(const struct run *r, struct arena *a, const struct plan_step *s, jv patch)
{
    str planned = meta_resource_version(r->about.job);

    if (!r->version.n || s->res != r->job->kind->planner->res ||
        !str_eq(meta_resource_version(patch), planned))
        return patch;
    return jv_with(a, patch, jstr(a, r->version), "metadata", "resourceVersion");
}

/* A new pod is pending and a service has no state: of what the server makes of our own words no
 * more than the metadata is news. */
static bool is_known_by_metadata(struct ctl *c, const struct kube_resource *res)
{
    const struct store *st = store_of(c, res);

    return st && st->what != ITEM_OTHER;
}

static void send_request(struct attempt *at)
{
    const struct plan_step *s = at->step;
    struct ctl *c = at->run->c;
    struct kube_request q = { .res = s->res, .ns = s->ns, .name = s->name };
    AUTO(arena) struct arena *a = arena_new();

    switch (s->kind) {
    case PLAN_CREATE:
        q.verb = at->looks ? KUBE_GET : KUBE_CREATE;
        q.name = at->looks ? s->name : S("");
        q.body = at->looks ? JV_ABSENT : step_object(a, s);
        q.metadata = !at->looks && is_known_by_metadata(c, s->res);
        break;
    case PLAN_DELETE:
        q.verb = KUBE_DELETE;
        q.body = delete_options(a, s);
        break;
    case PLAN_PATCH:
        q.verb = KUBE_PATCH;
        q.patch = s->patch;
        q.sub = s->sub;
        q.body = with_version(at->run, a, s, step_object(a, s));
        break;
    case PLAN_CONFIRM:
        q.verb = KUBE_GET;
        break;
    }
    at->call = kube_send(c->api, &q, on_answer, at);
}

/* Its own hold, or that of all of its resource. */
static bool must_wait(struct run *r, const struct plan_step *s, bool *looks)
{
    int64_t now = queue_us() / 1000;
    struct hold *h = hold_find(r->job, s->res, s->name);
    struct hold *all = hold_find(r->job, s->res, S(""));

    int64_t until = h ? h->until_ms : 0;

    if (all && all->until_ms > until)
        until = all->until_ms;
    *looks = h && h->unknown;
    if (r->baseless && s->stage > r->baseless_from)
        return true;
    if (*failures_of(r, s->res) < REFUSED_IN_A_ROW && until <= now)
        return false;
    if (until && (!r->is.held_until_ms || until < r->is.held_until_ms))
        r->is.held_until_ms = until;
    if (!h || !h->found)
        lacks_basis(r, s);
    return true;
}

bool step_send(struct run *r, const struct plan_step *s)
{
    struct ctl *c = r->c;
    bool looks = false;

    if (s->kind == PLAN_CREATE && must_wait(r, s, &looks)) {
        r->is.held = true;
        return false;
    }
    if (!ctl_may_write(c)) {
        struct err e = { 0 };
        err_set(&e, ERR_UNAVAILABLE, "not allowed to write now");
        fail(r, s, &e, true);
        r->cut = true;
        return false;
    }
    struct attempt *at = ARENA_NEW(r->a, struct attempt);
    at->run = r;
    at->step = s;
    at->looks = looks;
    at->next = r->attempts;
    if (at->next)
        at->next->prev = at;
    r->attempts = at;
    r->in_flight++;
    if (r->is.n_sent++ == 0 && r->touched_us)
        stats_latency(&c->stats.reaction, queue_us() - r->touched_us);
    if (++c->sender.in_flight > c->sender.most)
        c->sender.most = c->sender.in_flight;
    send_request(at);
    return true;
}

void attempts_cancel(struct run *r)
{
    for (struct attempt *at = r->attempts; at; at = at->next)
        kube_cancel(r->c->api, at->call);
    r->c->sender.in_flight -= r->in_flight;
    r->attempts = NULL;
    r->in_flight = 0;
}
