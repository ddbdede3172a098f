/* See follow.h. */

#include "cli/follow.h"

#include "base/terminal.h"
#include "cli/exits.h"
#include "cli/fold.h"
#include "cli/table.h"
#include "cli/track.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WHY_MS = 500, MANY_HELD = 64, STALLED_SAID = 4, LAST_LINES = 3, LINE_BYTES = 300 };

struct follow {
    struct follow_opts o;
    struct tails *tails;
    struct {
        VEC(struct track *);
    } tracks;
    struct folds folds;
    struct map said; /* by job's uid and text, so that nothing is said twice */
    struct map pods; /* job by uid of a pod it has or had */
    struct arena *a; /* of their keys, and of what the tracks ask for */
    struct jdoc
        *held[MANY_HELD]; /* warnings of pods that are not known yet; the oldest make room */
    size_t n_held;        /* ever */
    struct loop_timer *why;
    size_t width; /* of names before lines */
    bool prefix;
};

/* ---- names before lines */

static str shown_name(struct arena *a, const struct follow *f, const struct run_job *j, str replica,
                      str container)
{
    AUTO(buf) struct buf b = { 0 };

    if (f->o.state->jobs.n > 1 && j->kind)
        buf_printf(&b, "%" PRI_STR "/", STR_ARG(j->name));
    buf_add(&b, replica);
    if (container.n)
        buf_printf(&b, "/%" PRI_STR, STR_ARG(container));
    return arena_str(a, buf_str(&b));
}

/* As wide as the names to come, so that lines stand in one column from the first on. */
static void measure(struct follow *f)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct run_state *s = f->o.state;

    f->prefix = s->jobs.n > 1;
    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct run_job *j = s->jobs.at[i];
        const struct job *job = j->kind ? job_read(a, j->kind, jdoc_root(j->obj), NULL) : NULL;
        f->prefix = f->prefix || j->wanted > 1;
        for (size_t k = 0; k < (job ? job->n_roles : 1); k++) {
            str name = j->name;
            if (job && job->roles[k].row && job->roles[k].row->single)
                name = job->roles[k].label;
            else if (job)
                name = arena_printf(a, "%" PRI_STR "-%" PRId64, STR_ARG(job->roles[k].label),
                                    job->roles[k].replicas - 1);
            size_t n = text_width(shown_name(a, f, j, name, STR_NONE));
            f->width = n > f->width ? n : f->width;
        }
    }
    f->width = f->width > 40 ? 40 : f->width;
}

static void put_line(struct follow *f, const struct run_job *j, str replica, str container,
                     str line)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    const struct run_replica *r = run_job_replica(j, replica);
    str name = shown_name(a, f, j, replica, container);
    int pad = text_width(name) < f->width ? (int)(f->width - text_width(name)) : 0;

    if (f->prefix && f->o.color)
        buf_printf(&b, "\033[%sm[%" PRI_STR "]\033[0m%*s ",
                   name_hue(r ? r->role : name, r ? r->index : 0), STR_ARG(name), pad, "");
    else if (f->prefix)
        buf_printf(&b, "[%" PRI_STR "]%*s ", STR_ARG(name), pad, "");
    if (screen_is_terminal(f->o.screen))
        terminal_line(&b, line, f->o.color);
    else
        buf_add(&b, line);
    buf_addc(&b, '\n');
    screen_log(f->o.screen, buf_str(&b));
}

/* Programs may mean what they repeat; containers beside them only wait. */
static void on_line(void *ctx, const struct run_job *j, str replica, str container, str line)
{
    AUTO(arena) struct arena *a = arena_new();
    struct follow *f = ctx;
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR, STR_ARG(j->uid),
                           STR_ARG(replica), STR_ARG(container));
    int64_t again = 0;

    if (f->o.on_line)
        f->o.on_line(f->o.line_ctx, line);
    if (container.n && folds_is_again(&f->folds, key, line, &again))
        return;
    if (again)
        put_line(f, j, replica, container, fold_again_text(a, again));
    put_line(f, j, replica, container, fold_long(a, line));
}

static void on_again(void *ctx, str key, int64_t again)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct follow *f = ctx;
    str uid = str_cut(&key, '/');
    str replica = str_cut(&key, '/');

    for (size_t i = 0; i < f->o.state->jobs.n; i++)
        if (str_eq(f->o.state->jobs.at[i]->uid, uid))
            put_line(ctx, f->o.state->jobs.at[i], replica, key, fold_again_text(a, again));
}

/* ---- what we say */

/* Once a text and job. */
static bool is_news(struct follow *f, const struct run_job *j, str text)
{
    AUTO(arena) struct arena *a = arena_new();
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(j->uid), STR_ARG(text));

    if (map_get(&f->said, key))
        return false;
    map_put(&f->said, arena_str(f->a, key), f);
    return true;
}

static void say(struct follow *f, const struct run_job *j, str who, str text)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *dim = f->o.color ? "\033[2m" : "";
    const char *off = f->o.color ? "\033[0m" : "";
    str subject = who.n && f->o.state->jobs.n > 1
                      ? arena_printf(a, "%" PRI_STR " %" PRI_STR, STR_ARG(j->title), STR_ARG(who))
                  : who.n ? who
                          : j->title;

    screen_say(f->o.screen, arena_printf(a, "%smuster: %" PRI_STR ": %" PRI_STR "%s\n", dim,
                                         STR_ARG(subject), STR_ARG(text_plain(a, text)), off));
}

static void on_trouble(void *ctx, const struct run_job *j, str replica, str why)
{
    AUTO(arena) struct arena *a = arena_new();
    str text = arena_printf(a, "its log cannot be read: %" PRI_STR, STR_ARG(why));

    if (is_news(ctx, j, text))
        say(ctx, j, replica, text);
}

static void on_tails_end(void *ctx)
{
    struct follow *f = ctx;

    folds_flush(&f->folds, on_again, f);
    loop_wake(f->o.s->loop);
}

/* Why replicas do not run: each reason once, with who else has it. */
static void say_why(struct follow *f, const struct run_job *j)
{
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < j->replicas.n; i++) {
        const struct run_replica *r = &j->replicas.at[i];
        str why = run_replica_why(r);
        str text = arena_printf(a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(r->state), why.n ? ": " : "",
                                STR_ARG(why));
        size_t others = 0;
        /* Pauses grow: that they do is said once. */
        bool loops = str_eqz(r->state, "CrashLoopBackOff");
        if (loops)
            text = arena_printf(a,
                                "%" PRI_STR ": exit code %" PRI_STR
                                "; it is started again after a pause, longer each time",
                                STR_ARG(r->state), STR_ARG(exit_text(a, r->exit_code, r->reason)));
        if (!r->waits || !is_news(f, j, loops ? r->state : text) ||
            (!loops && why.n && !is_news(f, j, why)))
            continue;
        for (size_t k = i + 1; k < j->replicas.n; k++)
            others += j->replicas.at[k].waits && str_eq(j->replicas.at[k].state, r->state) &&
                      (loops || str_eq(j->replicas.at[k].message, r->message));
        say(f, j,
            others ? arena_printf(a, "%" PRI_STR " and %zu more", STR_ARG(r->name), others)
                   : r->name,
            text);
    }
}

/* Why it has no replicas yet. */
static void say_no_pods(struct follow *f, const struct run_job *j)
{
    AUTO(arena) struct arena *a = arena_new();
    str why = run_job_held(j);

    if (why.n && !f->o.live && is_news(f, j, why))
        say(f, j, STR_NONE, arena_printf(a, "Pending: %" PRI_STR, STR_ARG(why)));
}

static void say_last_lines(struct follow *f, const struct run_job *j, str replica)
{
    AUTO(arena) struct arena *a = arena_new();
    str all = tails_last(f->tails, a, j, replica), rest = all;
    size_t n = 0;

    for (size_t i = 0; i < all.n; i++)
        n += all.p[i] == '\n';
    while (rest.n) {
        str line = str_cut(&rest, '\n');
        if (n-- > LAST_LINES)
            continue;
        screen_say(f->o.screen, arena_printf(a, "muster:   %" PRI_STR "\n",
                                             STR_ARG(str_clip(text_plain(a, line), LINE_BYTES))));
    }
}

/* Once for each stall: who makes no progress, where, and what it wrote last. */
static void say_stall(struct follow *f, const struct run_job *j)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf all = { 0 };
    size_t n = 0;

    if (!run_job_is_stalled(j))
        return;
    for (size_t i = 0; i < j->replicas.n; i++)
        if (j->replicas.at[i].stalled)
            buf_printf(&all, "%" PRI_STR "%" PRI_STR, STR_ARG(j->replicas.at[i].uid),
                       STR_ARG(j->replicas.at[i].stall));
    if (!is_news(f, j, buf_str(&all)))
        return;
    say(f, j, STR_NONE, S("stalled: none of its replicas makes progress"));
    for (size_t i = 0; i < j->replicas.n; i++) {
        const struct run_replica *r = &j->replicas.at[i];
        if (!r->stalled || !r->live || n++ >= STALLED_SAID)
            continue;
        str last = tails_last(f->tails, a, j, r->name);
        say(f, j, r->name,
            arena_printf(a, "%" PRI_STR "%s", STR_ARG(r->stall),
                         last.n ? "; last lines:" : "; it wrote nothing"));
        say_last_lines(f, j, r->name);
    }
    if (n > STALLED_SAID)
        say(f, j, STR_NONE, arena_printf(a, "and %zu more replicas", n - STALLED_SAID));
}

/* A reason that holds for a moment is none: those that are left after it are told. */
static void on_why(void *arg)
{
    struct follow *f = arg;

    loop_timer_stop(TAKE(f->why));
    for (size_t i = 0; i < f->o.state->jobs.n; i++)
        say_why(f, f->o.state->jobs.at[i]);
    for (size_t i = 0; i < f->o.state->jobs.n; i++)
        say_stall(f, f->o.state->jobs.at[i]);
}

/* ---- warnings */

/* All but warnings, and those that the state of the pod or the job tells. */
static bool is_told(jv event)
{
    static const char *const reasons[] = { "FailedScheduling", "Unschedulable", "BackOff", "Error",
                                           "Stalled" };
    str reason = jv_str(jv_at(event, "reason"), STR_NONE);

    for (size_t i = 0; i < COUNT(reasons); i++)
        if (str_eqz(reason, reasons[i]))
            return true;
    if (str_ends(reason, S("JobFailed")) || str_ends(reason, S("JobStalled")) ||
        str_starts(jv_str(jv_at(event, "message"), STR_NONE), S("Error pod ")))
        return true;
    return !str_eqz(jv_str(jv_at(event, "type"), STR_NONE), "Warning");
}

static void say_warning(struct follow *f, const struct run_job *j, jv event)
{
    AUTO(arena) struct arena *a = arena_new();
    str name = jv_str(jv_at(event, "involvedObject", "name"), STR_NONE);
    str start = arena_printf(a, "%" PRI_STR "-", STR_ARG(j->name));
    str reason = jv_str(jv_at(event, "reason"), STR_NONE);
    str what = str_trim(jv_str(jv_at(event, "message"), STR_NONE));
    str text = arena_printf(a, "%" PRI_STR ": %" PRI_STR, STR_ARG(reason), STR_ARG(what));

    if (f->o.on_warning)
        f->o.on_warning(f->o.ctx, event);
    /* The state of a container that could not be made says the same, sooner or later. */
    if (str_eqz(reason, "Failed") && str_starts(what, S("Error: ")))
        text = str_sub(what, 7, what.n);
    if (is_news(f, j, text))
        say(f, j, str_starts(name, start) ? str_sub(name, start.n, name.n) : STR_NONE, text);
}

/* Events may come before the pod they tell of. */
static void hold(struct follow *f, jv event)
{
    struct jdoc **at = &f->held[f->n_held++ % MANY_HELD];
    struct arena *a = arena_new();

    jdoc_unref(*at);
    *at = jdoc_of(a, jv_copy(a, event));
}

static void say_held(struct follow *f, const struct run_job *j, str uid)
{
    for (size_t i = 0; i < MANY_HELD; i++) {
        struct jdoc **at = &f->held[(f->n_held + i) % MANY_HELD]; /* from the oldest on */
        jv event = *at ? jdoc_root(*at) : JV_ABSENT;
        if (!str_eq(jv_str(jv_at(event, "involvedObject", "uid"), STR_NONE), uid))
            continue;
        say_warning(f, j, event);
        jdoc_unref(TAKE(*at));
    }
}

static void know_pod(struct follow *f, struct run_job *j, jv pod)
{
    if (map_get(&f->pods, meta_uid(pod)))
        return;
    map_put(&f->pods, arena_str(f->a, meta_uid(pod)), j);
    say_held(f, j, meta_uid(pod));
}

/* By uid alone: a namesake that was there a moment ago had pods of the same names. */
static void on_warning(void *ctx, enum kube_event type, jv event)
{
    struct follow *f = ctx;
    str uid = jv_str(jv_at(event, "involvedObject", "uid"), STR_NONE);
    const struct run_job *of = map_get(&f->pods, uid);

    if (type == KUBE_DELETED || is_told(event) || !uid.n)
        return;
    for (size_t i = 0; !of && i < f->o.state->jobs.n; i++)
        if (str_eq(f->o.state->jobs.at[i]->uid, uid))
            of = f->o.state->jobs.at[i];
    if (of)
        say_warning(f, of, event);
    else if (str_eqz(jv_str(jv_at(event, "involvedObject", "kind"), STR_NONE), "Pod"))
        hold(f, event);
}

/* ---- what comes */

static void on_job(void *ctx, enum kube_event type, jv obj)
{
    struct follow *f = ctx;
    struct run_job *j = run_state_find(f->o.state, obj);

    if (!j)
        return;
    if (run_job_see(j, type, obj, wall_now_ms()) && !f->o.live && !j->over)
        say(f, j, STR_NONE, j->state);
    say_no_pods(f, j);
    if (f->o.on_job)
        f->o.on_job(f->o.ctx);
    screen_touch(f->o.screen);
}

static void on_pod(void *ctx, enum kube_event type, jv pod)
{
    struct follow *f = ctx;
    struct run_job *j = run_state_owner(f->o.state, pod);

    if (!j)
        return;
    if (!j->kind)
        on_job(f, type, pod);
    run_job_see_pod(f->o.state, j, type, pod, wall_now_ms());
    if (f->o.on_pod)
        f->o.on_pod(f->o.ctx, j, type, pod);
    know_pod(f, j, pod);
    tails_see(f->tails, j, pod);
    if (!f->why)
        f->why = loop_timer_start(f->o.s->loop, WHY_MS, 0, on_why, f);
    screen_touch(f->o.screen);
}

/* ---- from start to end */

static void track(struct follow *f, const struct track_opts *o)
{
    vec_push(&f->tracks, track_start(f->o.s, o));
}

/* Whether an earlier job is of the same namespace, and if kinds count of the same kind. */
static bool is_repeated(const struct run_state *s, size_t i, bool kinds)
{
    for (size_t k = 0; k < i; k++)
        if (str_eq(s->jobs.at[k]->ns, s->jobs.at[i]->ns) &&
            (!kinds || s->jobs.at[k]->kind == s->jobs.at[i]->kind))
            return true;
    return false;
}

static void start_tracks(struct follow *f)
{
    const struct run_state *s = f->o.state;

    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct run_job *j = s->jobs.at[i];
        struct track_opts o = { .ns = j->ns, .ctx = f };
        if (j->kind && !is_repeated(s, i, true)) {
            o.res = j->kind->planner.res;
            o.on_event = on_job;
            o.name = s->jobs.n == 1 ? j->name : STR_NONE;
            track(f, &o);
        }
        if (is_repeated(s, i, false))
            continue;
        o = (struct track_opts){ .res = &kube_pods, .ns = j->ns, .on_event = on_pod, .ctx = f };
        if (s->jobs.n == 1 && j->kind)
            o.labels = arena_printf(f->a, LABEL_JOB "=%" PRI_STR, STR_ARG(j->name));
        else if (s->jobs.n == 1)
            o.name = j->name;
        track(f, &o);
        o = (struct track_opts){ .res = &kube_events,
                                 .ns = j->ns,
                                 .fields = S("type=Warning"),
                                 .on_event = on_warning,
                                 .ctx = f };
        track(f, &o);
    }
}

struct follow *follow_start(const struct follow_opts *o)
{
    struct follow *f = mem_new(sizeof(*f));
    struct tails_opts t = {
        .s = o->s, .on_line = on_line, .on_trouble = on_trouble, .on_end = on_tails_end, .ctx = f
    };

    f->o = *o;
    f->a = arena_new();
    f->tails = tails_new(&t);
    measure(f);
    start_tracks(f);
    return f;
}

const struct ask *follow_failed(const struct follow *f)
{
    for (size_t i = 0; i < f->tracks.n; i++)
        if (track_failed(f->tracks.at[i]))
            return track_failed(f->tracks.at[i]);
    return NULL;
}

struct tails *follow_tails(struct follow *f)
{
    return f->tails;
}

void follow_end(struct follow *f)
{
    if (!f)
        return;
    loop_timer_stop(f->why);
    for (size_t i = 0; i < f->tracks.n; i++)
        track_stop(f->tracks.at[i]);
    vec_done(&f->tracks);
    tails_free(f->tails);
    for (size_t i = 0; i < MANY_HELD; i++)
        jdoc_unref(f->held[i]);
    folds_done(&f->folds);
    map_done(&f->pods);
    map_done(&f->said);
    arena_free(f->a);
    free(f);
}
