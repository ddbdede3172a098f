#include "fake.h"

#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"
#include "kube/patch_merge.h"
#include "kube/selector.h"
#include "plan/planner.h"

#include <inttypes.h>
#include <stdio.h>

struct kube_call {
    struct kube_call *next, *prev;
    struct fake *f;
    struct arena *a; /* it lives there */
    struct kube_request r;
    kube_done *done;
    void *ctx;
    bool is_watch;
    struct kube_watcher w;
    struct selector labels;
    uint64_t rev;  /* told up to here */
    size_t cursor; /* in the log */
    bool answered; /* but not told yet */
    struct kube_answer ans;
};

/* ---- requests */

static void answer_error(struct kube_call *c, enum err_code code, const char *msg)
{
    c->ans = (struct kube_answer){ .status = err_http_status(code) };
    err_set(&c->ans.err, code, "%s", msg);
    c->ans.message =
        arena_printf(c->a, "%s \"%" PRI_STR "\": %s", c->r.res->plural, STR_ARG(c->r.name), msg);
}

static void answer_object(struct kube_call *c, int status, jv obj)
{
    c->ans = (struct kube_answer){ .status = status, .obj = jv_copy(c->a, obj) };
}

static void do_create(struct kube_call *c)
{
    str name = meta_name(c->r.body);

    if (fake_find(c->f, c->r.res, c->r.ns, name))
        answer_error(c, ERR_EXISTS, "already exists");
    else
        answer_object(c, 201, fake_add(c->f, c->r.res, c->r.body));
}

static void do_delete(struct kube_call *c, struct fake_object *o)
{
    str uid = jv_str(jv_at(c->r.body, "preconditions", "uid"), S(""));

    fake_rule(c->f, uid.n > 0, "a DELETE of whatever has that name by now", c->r.name);
    if (uid.n && !str_eq(uid, meta_uid(jdoc_root(o->doc))))
        answer_error(c, ERR_CONFLICT, "uid differs");
    else
        answer_object(c, 200,
                      jv_without(c->a, fake_ask_deletion(c->f, o), "metadata", "resourceVersion"));
}

static void do_patch(struct kube_call *c, struct fake_object *o)
{
    struct fake *f = c->f;
    jv meta = jv_at(c->r.body, "metadata");
    str version = jv_str(jv_at(meta, "resourceVersion"), S(""));
    str uid = jv_str(jv_at(meta, "uid"), S(""));

    if (fake_hit(f, f->faults.clash) && *o->res->group) {
        AUTO(arena) struct arena *a = arena_new();
        fake_commit(f, o->res, o,
                    jv_with(a, jdoc_root(o->doc), jint(a, (int64_t)f->rev), "spec", "x"));
    }
    if ((version.n && !str_eq(version, meta_resource_version(jdoc_root(o->doc)))) ||
        (uid.n && !str_eq(uid, meta_uid(jdoc_root(o->doc))))) {
        f->conflicts++;
        answer_error(c, ERR_CONFLICT, "the object has been modified");
        return;
    }
    answer_object(c, 200,
                  fake_commit(f, o->res, o, patch_merge(c->a, jdoc_root(o->doc), c->r.body, NULL)));
}

static bool selected(const struct kube_call *c, const struct kube_resource *res, jv obj)
{
    str name = c->r.fields;

    if (!fake_same(res, c->r.res) || (c->r.ns.n && !str_eq(c->r.ns, meta_namespace(obj))))
        return false;
    if (str_starts(name, S("metadata.name=")) &&
        !str_eq(str_sub(name, strlen("metadata.name="), name.n), meta_name(obj)))
        return false;
    return selector_matches(&c->labels, meta_labels(obj));
}

/* Pages by position, from one revision: too strict for a server whose objects changed meanwhile. */
static void do_list(struct kube_call *c)
{
    struct fake *f = c->f;
    struct jbuild items = jb_arr(c->a);
    struct jbuild meta = jb_obj(c->a);
    int64_t from = 0, at_rev = (int64_t)f->rev, i = 0, n = 0;

    if (c->r.cont.n) {
        str rest = c->r.cont, first = str_cut(&rest, '/');
        str_to_int(first, &from);
        str_to_int(rest, &at_rev);
        if (at_rev != (int64_t)f->rev) {
            answer_error(c, ERR_EXPIRED, "the continue token is too old");
            return;
        }
    }
    for (size_t k = 0; k < f->objects.n; k++) {
        jv obj = jdoc_root(f->objects.at[k].doc);
        if (!selected(c, f->objects.at[k].res, obj) || i++ < from)
            continue;
        if (c->r.limit && n == c->r.limit) {
            jb_set(&meta, S("continue"),
                   jstr(c->a, arena_printf(c->a, "%" PRId64 "/%" PRId64, from + n, at_rev)));
            break;
        }
        n++;
        jb_push(&items, jv_without(c->a, obj, "kind"));
    }
    jb_set(&meta, S("resourceVersion"), jstr(c->a, arena_printf(c->a, "%" PRId64, at_rev)));
    answer_object(c, 200, jobj(c->a, { "metadata", jb_done(&meta) }, { "items", jb_done(&items) }));
}

static void perform(struct kube_call *c)
{
    struct fake *f = c->f;

    if (f->refuse && f->refuse(f, &c->r, &c->ans))
        return;
    struct fake_object *o = fake_find(f, c->r.res, c->r.ns, c->r.name);
    if (c->r.verb == KUBE_CREATE)
        do_create(c);
    else if (c->r.verb == KUBE_LIST)
        do_list(c);
    else if (!o)
        answer_error(c, ERR_NOT_FOUND, "not found");
    else if (c->r.verb == KUBE_GET)
        answer_object(c, 200, jdoc_root(o->doc));
    else if (c->r.verb == KUBE_DELETE)
        do_delete(c, o);
    else
        do_patch(c, o);
}

static void fail_somehow(struct kube_call *c)
{
    static const enum err_code codes[] = { ERR_TOO_MANY_REQUESTS, ERR_INTERNAL, ERR_UNAVAILABLE,
                                           ERR_TIMEOUT };
    unsigned i = fake_chance(c->f, COUNT(codes) + 1);

    if (i < COUNT(codes)) {
        answer_error(c, codes[i], "injected");
        return;
    }
    answer_error(c, ERR_IO, "no answer");
    c->ans.status = 0;
}

static void unlink_call(struct kube_call *c)
{
    *(c->prev ? &c->prev->next : &c->f->calls) = c->next;
    if (c->next)
        c->next->prev = c->prev;
}

static void turn_request(struct kube_call *c)
{
    struct fake *f = c->f;

    if (fake_hit(f, f->faults.wait))
        return;
    if (!c->answered) {
        c->answered = true;
        if (fake_hit(f, f->faults.fail)) {
            fail_somehow(c);
        } else {
            perform(c);
            if (c->r.verb != KUBE_LIST && fake_hit(f, f->faults.lose)) {
                answer_error(c, ERR_IO, "answer lost");
                c->ans.status = 0;
            } else if (fake_hit(f, f->faults.late)) {
                return;
            }
        }
    }
    unlink_call(c);
    c->done(c->ctx, &c->ans);
    arena_free(c->a);
}

/* ---- watches */

static void end_watch(struct kube_call *c, const struct err *e)
{
    struct kube_watcher w = c->w;
    AUTO(arena) struct arena *a = c->a;

    unlink_call(c);
    w.on_end(w.ctx, e, 0);
}

static void tell_change(struct kube_call *c, const struct fake_change *ch)
{
    bool was = ch->old && selected(c, ch->res, jdoc_root(ch->old));
    bool is = ch->now && selected(c, ch->res, jdoc_root(ch->now));
    AUTO(arena) struct arena *a = arena_new();
    jv version = jstr(a, arena_printf(a, "%" PRIu64, ch->rev));

    if (is)
        c->w.on_event(c->w.ctx, was ? KUBE_MODIFIED : KUBE_ADDED, jdoc_root(ch->now));
    else if (was)
        c->w.on_event(c->w.ctx, KUBE_DELETED,
                      jv_with(a, jdoc_root(ch->old), version, "metadata", "resourceVersion"));
}

static bool is_alive(const struct fake *f, const struct kube_call *c)
{
    for (const struct kube_call *x = f->calls; x; x = x->next)
        if (x == c)
            return true;
    return false;
}

static void turn_watch(struct kube_call *c)
{
    struct fake *f = c->f;
    struct err e = { 0 };

    if (c->rev < f->forgotten) {
        err_set(&e, ERR_EXPIRED, "too old");
        end_watch(c, &e);
        return;
    }
    if (fake_hit(f, f->faults.cut)) {
        err_set(&e, ERR_UNAVAILABLE, "cut");
        end_watch(c, fake_chance(f, 2) ? &e : NULL);
        return;
    }
    if (fake_hit(f, f->faults.lag) || c->r.res == f->mute)
        return;
    while (c->cursor < f->log.n) {
        struct fake_change ch = f->log.at[c->cursor++];
        if (ch.rev <= c->rev)
            continue;
        c->rev = ch.rev;
        tell_change(c, &ch);
        if (!is_alive(f, c) || fake_hit(f, f->faults.lag))
            return;
    }
}

/* ---- the API */

static struct kube_call *call_new(struct fake *f, const struct kube_request *r)
{
    struct arena *a = arena_new();
    struct kube_call *c = ARENA_NEW(a, struct kube_call);
    str why;

    c->f = f;
    c->a = a;
    c->r = *r;
    c->r.ns = arena_str(a, r->ns);
    c->r.name = arena_str(a, r->name);
    c->r.sub = arena_str(a, r->sub);
    c->r.labels = arena_str(a, r->labels);
    c->r.fields = arena_str(a, r->fields);
    c->r.cont = arena_str(a, r->cont);
    c->r.version = arena_str(a, r->version);
    c->r.body = jv_exists(r->body) ? jv_copy(a, r->body) : JV_ABSENT;
    fake_rule(f, selector_parse(a, c->r.labels, &c->labels, &why) == 0, "selector", c->r.labels);
    c->next = f->calls;
    if (c->next)
        c->next->prev = c;
    f->calls = c;
    return c;
}

static str owner_of(jv obj)
{
    return jv_str(jv_at(meta_controller(obj), "uid"), S(""));
}

static void check_send(struct fake *f, const struct kube_request *r)
{
    unsigned n = r->res != &kube_events, lists = r->verb == KUBE_LIST;

    for (struct kube_call *c = f->calls; c; c = c->next) {
        n += !c->is_watch && c->r.res != &kube_events;
        lists += !c->is_watch && c->r.verb == KUBE_LIST;
        bool twin = r->verb == KUBE_CREATE && c->r.verb == KUBE_CREATE &&
                    fake_same(r->res, c->r.res) && str_eq(r->ns, c->r.ns) &&
                    str_eq(meta_name(r->body), meta_name(c->r.body)) &&
                    str_eq(owner_of(r->body), owner_of(c->r.body));
        fake_rule(f, !twin || r->res == &kube_events,
                  "parity Q4: a second POST while the first is unanswered", meta_name(r->body));
    }
    f->in_flight_max = n > f->in_flight_max ? n : f->in_flight_max;
    f->lists_max = lists > f->lists_max ? lists : f->lists_max;
    f->count[r->verb]++;
    f->events += r->verb == KUBE_CREATE && r->res == &kube_events;
}

static struct kube_call *fake_send(struct kube_api *api, const struct kube_request *r,
                                   kube_done *done, void *ctx)
{
    struct fake *f = (struct fake *)api;

    check_send(f, r);
    struct kube_call *c = call_new(f, r);
    c->done = done;
    c->ctx = ctx;
    return c;
}

static struct kube_call *fake_watch(struct kube_api *api, const struct kube_request *r,
                                    const struct kube_watcher *w)
{
    struct fake *f = (struct fake *)api;
    struct kube_call *c = call_new(f, r);
    int64_t rev = 0;

    f->count[KUBE_WATCH]++;
    c->is_watch = true;
    c->w = *w;
    fake_rule(f, str_to_int(r->version, &rev), "a watch without a version", r->version);
    c->rev = (uint64_t)rev;
    return c;
}

static void fake_cancel(struct kube_api *api, struct kube_call *c)
{
    (void)api;
    if (!c->is_watch && !c->answered) /* it may be done all the same */
        perform(c);
    unlink_call(c);
    arena_free(c->a);
}

static const struct kube_api_ops ops = { .send = fake_send,
                                         .watch = fake_watch,
                                         .cancel = fake_cancel };

/* ---- turns */

static bool has_owner(struct fake *f, jv obj)
{
    str uid = jv_str(jv_at(meta_controller(obj), "uid"), S(""));

    for (size_t i = 0; i < f->objects.n; i++)
        if (str_eq(meta_uid(jdoc_root(f->objects.at[i].doc)), uid))
            return true;
    return !uid.n;
}

/* The cluster's own: what has no owner goes, and what is deleted is gone after its grace. */
static void collect(struct fake *f)
{
    for (size_t i = 0; i < f->objects.n; i++) {
        struct fake_object *o = &f->objects.at[i];
        jv obj = jdoc_root(o->doc);
        bool going = meta_being_deleted(obj);
        size_t before = f->objects.n;
        bool over =
            going && f->grace_ticks >= 0 && fake_chance(f, (unsigned)f->grace_ticks + 1) == 0;
        if (!over && (going || has_owner(f, obj)))
            continue;
        if (over)
            fake_commit(f, o->res, o, JV_ABSENT);
        else
            fake_ask_deletion(f, o);
        i -= f->objects.n < before; /* another has its place */
    }
}

static void on_tick(void *arg)
{
    struct fake *f = arg;
    struct {
        VEC(struct kube_call *);
    } now = { 0 };

    f->ticks++;
    if (fake_hit(f, f->faults.forget))
        fake_forget(f);
    collect(f);
    for (struct kube_call *c = f->calls; c; c = c->next)
        vec_push(&now, c);
    for (size_t i = now.n; i > 1; i--) { /* in any order */
        size_t k = fake_chance(f, (unsigned)i);
        struct kube_call *c = now.at[i - 1];
        now.at[i - 1] = now.at[k];
        now.at[k] = c;
    }
    for (size_t i = 0; i < now.n; i++) {
        if (!is_alive(f, now.at[i]))
            continue;
        if (now.at[i]->is_watch)
            turn_watch(now.at[i]);
        else
            turn_request(now.at[i]);
    }
    vec_done(&now);
    if (f->on_tick)
        f->on_tick(f);
}

struct fake *fake_new(struct loop *l, uint64_t seed)
{
    struct fake *f = mem_new(sizeof(*f));

    f->api.ops = &ops;
    f->loop = l;
    f->random = seed * 0x9e3779b97f4a7c15ULL + 1;
    f->rev = 100;
    f->tick = loop_timer_start(l, 1, 1, on_tick, f);
    return f;
}

void fake_free(struct fake *f)
{
    loop_timer_stop(f->tick);
    while (f->calls) {
        struct kube_call *c = f->calls;
        unlink_call(c);
        arena_free(c->a);
    }
    for (size_t i = 0; i < f->log.n; i++) {
        jdoc_unref(f->log.at[i].old);
        jdoc_unref(f->log.at[i].now);
    }
    for (size_t i = 0; i < f->objects.n; i++)
        jdoc_unref(f->objects.at[i].doc);
    vec_done(&f->log);
    vec_done(&f->objects);
    free(f);
}

/* ---- people */

void fake_forget(struct fake *f)
{
    f->rev++;
    f->forgotten = f->rev;
}

void fake_bookmark(struct fake *f)
{
    AUTO(arena) struct arena *a = arena_new();
    jv version = jstr(a, arena_printf(a, "%" PRIu64, f->rev));

    for (struct kube_call *c = f->calls; c; c = c->next) {
        if (!c->is_watch)
            continue;
        c->rev = f->rev;
        c->w.on_event(c->w.ctx, KUBE_BOOKMARK,
                      jobj(a, { "metadata", jobj(a, { "resourceVersion", version }) }));
    }
}

void fake_cut(struct fake *f, const struct err *e)
{
    for (struct kube_call *c = f->calls, *next; c; c = next) {
        next = c->next;
        if (c->is_watch)
            end_watch(c, e);
    }
}
