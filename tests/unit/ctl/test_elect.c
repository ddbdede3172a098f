/* Elections by hand: the clock moves when a test says so, and a Lease is kept by a server of a few
 * lines that can be cut off, for one candidate or for all. J6: only the lease holder writes. */

#include "base/time.h"
#include "ctl/elect.h"
#include "loop/log.h"
#include "tap.h"

static int64_t clock_ms;
static struct loop *loop;

static int64_t now_ms(void)
{
    return clock_ms;
}

/* ---- a server with one object */

struct fake;

struct link { /* one candidate's way to the server */
    struct kube_api api;
    struct fake *server;
    struct kube_request r; /* under way; done NULL: none */
    struct arena *a;
    kube_done *done;
    void *ctx;
    int sent;
    enum kube_verb last;
};

struct fake {
    struct jdoc *lease; /* NULL: none */
    int rev;
};

static struct kube_call *link_send(struct kube_api *api, const struct kube_request *r,
                                   kube_done *done, void *ctx)
{
    struct link *l = (struct link *)api;

    arena_free(l->a);
    l->a = arena_new();
    l->r = *r;
    l->r.body = jv_copy(l->a, r->body);
    l->done = done;
    l->ctx = ctx;
    l->last = r->verb;
    l->sent++;
    return (struct kube_call *)l;
}

static void link_cancel(struct kube_api *api, struct kube_call *c)
{
    struct link *l = (struct link *)api;

    (void)c;
    l->done = NULL;
}

static const struct kube_api_ops link_ops = { .send = link_send, .cancel = link_cancel };

static void fake_put(struct fake *f, struct arena *a, jv obj)
{
    obj = jv_with(a, obj, jstr(a, arena_printf(a, "%d", ++f->rev)), "metadata", "resourceVersion");
    struct arena *own = arena_new();
    jv copy = jv_copy(own, obj);
    jdoc_unref(f->lease);
    f->lease = jdoc_of(own, copy);
}

static struct kube_answer refuse(enum err_code code, const char *msg)
{
    struct kube_answer ans = { .status = err_http_status(code) };

    err_set(&ans.err, code, "%s", msg);
    return ans;
}

/* What the server does with it, whether or not the answer gets through. */
static struct kube_answer serve(struct link *l)
{
    struct fake *f = l->server;
    jv have = f->lease ? jdoc_root(f->lease) : JV_ABSENT;

    if (l->r.verb == KUBE_CREATE && f->lease)
        return refuse(ERR_EXISTS, "it is there");
    if (l->r.verb != KUBE_CREATE && !f->lease)
        return refuse(ERR_NOT_FOUND, "it is not there");
    if (l->r.verb == KUBE_UPDATE && !jv_equal(jv_at(have, "metadata", "resourceVersion"),
                                              jv_at(l->r.body, "metadata", "resourceVersion")))
        return refuse(ERR_CONFLICT, "it has changed");
    if (l->r.verb != KUBE_GET)
        fake_put(f, l->a, l->r.body);
    return (struct kube_answer){ .status = 200, .obj = jdoc_root(f->lease) };
}

static void reply(struct link *l, struct kube_answer ans)
{
    kube_done *done = l->done;
    AUTO(jdoc) struct jdoc *held = l->server->lease ? jdoc_ref(l->server->lease) : NULL;

    l->done = NULL;
    if (done)
        done(l->ctx, &ans);
}

/* Serves until nothing is under way. */
static void settle(struct link *l)
{
    while (l->done)
        reply(l, serve(l));
}

/* ---- candidates */

struct seat {
    struct link link;
    struct elect *e;
    int64_t until_ms;
    int held, lost;
    char why[100];
};

static void on_held(void *ctx, int64_t until_ms)
{
    struct seat *s = ctx;

    s->until_ms = until_ms;
    s->held++;
}

static void on_lost(void *ctx, const char *why)
{
    struct seat *s = ctx;

    s->lost++;
    snprintf(s->why, sizeof(s->why), "%s", why);
}

static void sit(struct seat *s, struct fake *f, const char *identity)
{
    struct elect_opts o = { .loop = loop,
                            .api = &s->link.api,
                            .ns = S("kubeflow"),
                            .name = S("lock"),
                            .identity = str_of(identity),
                            .now_ms = now_ms,
                            .on_held = on_held,
                            .on_lost = on_lost,
                            .ctx = s };

    *s = (struct seat){ .link = { .api = { &link_ops }, .server = f } };
    s->e = elect_new(&o);
}

static void leave(struct seat *s)
{
    elect_free(s->e);
    arena_free(s->link.a);
}

static void tick(struct seat *s)
{
    elect_tick(s->e);
    settle(&s->link);
}

static void wait_ms(struct seat *s, int64_t ms, int64_t step_ms)
{
    for (int64_t end = clock_ms + ms; clock_ms < end;) {
        clock_ms += step_ms;
        tick(s);
    }
}

static void fake_done(struct fake *f)
{
    jdoc_unref(f->lease);
}

static jv spec(const struct fake *f)
{
    return jv_at(jdoc_root(f->lease), "spec");
}

/* ---- claims */

static void the_first_one_takes_it(void)
{
    struct fake f = { 0 };
    struct seat a;
    int64_t us = 0;

    sit(&a, &f, "a_1");
    ok(!elect_is_reached(a.e), "nothing is known at first");
    tick(&a);
    ok(elect_leads(a.e) && elect_holds(a.e), "a lease that is not there is taken");
    is_int(a.until_ms, clock_ms + 10000, "for ten seconds from the request on");
    is_str(jv_str(jv_at(spec(&f), "holderIdentity"), S("")), S("a_1"), "holderIdentity");
    is_int(jv_int(jv_at(spec(&f), "leaseDurationSeconds"), 0), 15, "leaseDurationSeconds");
    is_int(jv_int(jv_at(spec(&f), "leaseTransitions"), -1), 0, "leaseTransitions");
    is_int(time_parse_micro(jv_str(jv_at(spec(&f), "acquireTime"), S("")), &us, NULL), 0,
           "acquireTime has microseconds");
    is_int(time_parse_micro(jv_str(jv_at(spec(&f), "renewTime"), S("")), &us, NULL), 0,
           "renewTime too");
    leave(&a);
    fake_done(&f);
}

static void renewals_are_one_update_each(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    tick(&a);
    int sent = a.link.sent;
    str taken = arena_str(a.link.a, jv_str(jv_at(spec(&f), "acquireTime"), S("")));
    clock_ms += 1999;
    tick(&a);
    is_int(a.link.sent, sent, "nothing before two seconds");
    clock_ms += 1;
    AUTO(arena) struct arena *keep = arena_new();
    taken = arena_str(keep, taken);
    tick(&a);
    is_int(a.link.sent, sent + 1, "then one request");
    ok(a.link.last == KUBE_UPDATE, "an update");
    is_int(a.until_ms, clock_ms + 10000, "moves the end");
    is_str(jv_str(jv_at(spec(&f), "acquireTime"), S("")), taken, "acquireTime stays");
    is_int(jv_int(jv_at(spec(&f), "leaseTransitions"), -1), 0, "so do transitions");
    leave(&a);
    fake_done(&f);
}

static void another_waits_until_it_stood_still_for_its_duration(void)
{
    struct fake f = { 0 };
    struct seat a, b;

    sit(&a, &f, "a_1");
    sit(&b, &f, "b_2");
    tick(&a);
    tick(&b);
    is_str(elect_holder(b.e), S("a_1"), "who stands by knows the holder");
    for (int i = 0; i < 20; i++) {
        clock_ms += 2000;
        tick(&a);
        clock_ms += 600;
        tick(&b);
    }
    ok(elect_holds(a.e) && !elect_leads(b.e), "as long as it is renewed it is left alone");
    int64_t last = clock_ms;
    wait_ms(&b, 14900, 100); /* a is dead */
    ok(!elect_leads(b.e), "not before it stood still for 15 s");
    ok(clock_ms >= a.until_ms, "when its holder has long known that it must not write");
    wait_ms(&b, 3000, 100);
    ok(elect_holds(b.e), "then it is taken");
    ok(clock_ms >= last + 15000, "after the whole duration");
    is_int(jv_int(jv_at(spec(&f), "leaseTransitions"), -1), 1, "leaseTransitions counts it");
    clock_ms += 1;
    tick(&a);
    is_int(a.lost, 1, "the old one is told when it looks again");
    ok(!elect_leads(a.e), "and leads no more");
    leave(&a);
    leave(&b);
    fake_done(&f);
}

static void a_new_one_does_not_trust_old_times(void)
{
    struct fake f = { 0 };
    struct seat a, b;
    AUTO(arena) struct arena *x = arena_new();

    sit(&a, &f, "a_1");
    tick(&a);
    /* On a wall clock this lease ran out years ago; or its holder's clock is wrong. */
    fake_put(&f, x,
             jv_with(x, jdoc_root(f.lease), jstrz(x, "2001-01-01T00:00:00.000000Z"), "spec",
                     "renewTime"));
    sit(&b, &f, "b_2");
    tick(&b);
    ok(!elect_leads(b.e), "times written by others do not count");
    wait_ms(&b, 14900, 100);
    ok(!elect_leads(b.e), "it waits for 15 s by its own clock");
    leave(&a);
    leave(&b);
    fake_done(&f);
}

static void a_leader_that_slept_holds_nothing(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    tick(&a);
    clock_ms += 9999;
    ok(elect_holds(a.e), "just before the end it may write");
    clock_ms += 1;
    ok(!elect_holds(a.e), "J6: at the end it may not, though nobody told it anything");
    ok(elect_leads(a.e), "which it is still to hear");
    int sent = a.link.sent;
    tick(&a);
    is_int(a.lost, 1, "the first thing it hears when it goes on");
    is_int(a.link.sent, sent, "it sends nothing");
    tick(&a);
    clock_ms += 60000;
    tick(&a);
    is_int(a.link.sent, sent, "nor later");
    is_int(a.lost, 1, "and is told once");
    leave(&a);
    fake_done(&f);
}

static void an_answer_that_comes_too_late_is_no_renewal(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    tick(&a);
    clock_ms += 2000;
    elect_tick(a.e);
    struct kube_answer ans = serve(&a.link); /* done by the server; we sleep over the answer */
    clock_ms += 20000;
    reply(&a.link, ans);
    is_int(a.lost, 1, "J6: an answer from before the sleep does not bring it back");
    is_int(a.held, 1, "and moves no end");
    leave(&a);
    fake_done(&f);
}

static void a_renewal_counts_from_when_it_was_sent(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    tick(&a);
    clock_ms += 2000;
    elect_tick(a.e);
    int64_t sent_ms = clock_ms;
    struct kube_answer ans = serve(&a.link);
    clock_ms += 3000;
    reply(&a.link, ans);
    is_int(a.until_ms, sent_ms + 10000, "as others saw it no earlier");
    leave(&a);
    fake_done(&f);
}

static void a_partition_ends_it_in_time(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    tick(&a);
    int64_t from = clock_ms;
    while (!a.lost && clock_ms < from + 60000) {
        clock_ms += 100;
        elect_tick(a.e); /* no answer ever */
    }
    is_int(clock_ms - from, 10000, "ten seconds after the last renewal it is lost");
    is_str(str_of(a.why), S("the lease could not be renewed in time"), "and it knows why");
    ok(a.link.sent >= 3, "it tried more than once");
    leave(&a);
    fake_done(&f);
}

static void an_error_is_told_and_tried_again(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    elect_tick(a.e);
    reply(&a.link, refuse(ERR_FORBIDDEN, "no such right"));
    is_str(elect_trouble(a.e),
           S("cannot get leases.coordination.k8s.io \"lock\" in namespace \"kubeflow\": no such "
             "right"),
           "verb, resource and reason");
    ok(!elect_is_reached(a.e), "not reached");
    wait_ms(&a, 2600, 100);
    ok(elect_leads(a.e), "then it works");
    is_str(elect_trouble(a.e), S(""), "and there is no trouble");
    for (int i = 0; i < 3; i++) {
        clock_ms += 2000;
        elect_tick(a.e);
        reply(&a.link, refuse(ERR_INTERNAL, "oops"));
    }
    ok(elect_holds(a.e), "three failed renewals are survived");
    clock_ms += 2000;
    tick(&a);
    is_int(a.until_ms, clock_ms + 10000, "by a fourth that works");
    leave(&a);
    fake_done(&f);
}

static void a_lost_answer_is_found_again(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    elect_tick(a.e);
    reply(&a.link, serve(&a.link)); /* not there: create */
    serve(&a.link);                 /* done, but the answer is lost */
    reply(&a.link, refuse(ERR_TIMEOUT, "no answer"));
    ok(!elect_leads(a.e), "without an answer it does not lead");
    wait_ms(&a, 2600, 100);
    ok(elect_leads(a.e), "it finds its own name in it");
    is_int(jv_int(jv_at(spec(&f), "leaseTransitions"), -1), 0, "which is no transition");
    clock_ms += 2000;
    elect_tick(a.e);
    serve(&a.link); /* a renewal whose answer is lost */
    reply(&a.link, refuse(ERR_TIMEOUT, "no answer"));
    clock_ms += 2000;
    tick(&a);
    is_int(a.until_ms, clock_ms + 10000, "and goes on renewing");
    leave(&a);
    fake_done(&f);
}

static void of_two_one_gets_it(void)
{
    struct fake f = { 0 };
    struct seat a, b;

    sit(&a, &f, "a_1");
    sit(&b, &f, "b_2");
    elect_tick(a.e);
    elect_tick(b.e);
    reply(&a.link, serve(&a.link));
    reply(&b.link, serve(&b.link)); /* both create now */
    settle(&b.link);
    settle(&a.link);
    ok(!elect_leads(a.e) && elect_leads(b.e), "the faster one");
    is_str(elect_holder(a.e), S("b_2"), "the other stands by");
    leave(&a);
    leave(&b);
    fake_done(&f);
}

static void what_others_wrote_stays(void)
{
    struct fake f = { 0 };
    struct seat a;
    AUTO(arena) struct arena *x = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J(
        "{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'lock',"
        "'namespace': 'kubeflow', 'labels': {'a': 'b'}}, 'spec': {'holderIdentity': '',"
        "'leaseDurationSeconds': 1, 'leaseTransitions': 7, 'strategy': 'OldestEmulationVersion'}}");

    fake_put(&f, x, jdoc_root(d));
    sit(&a, &f, "a_1");
    tick(&a);
    ok(elect_leads(a.e), "a released lease is taken at once");
    is_int(jv_int(jv_at(spec(&f), "leaseTransitions"), -1), 8, "a transition more");
    is_int(jv_int(jv_at(spec(&f), "leaseDurationSeconds"), -1), 15, "our duration");
    is_str(jv_str(jv_at(spec(&f), "strategy"), S("")), S("OldestEmulationVersion"),
           "fields that are not ours");
    is_str(jv_str(jv_at(jdoc_root(f.lease), "metadata", "labels", "a"), S("")), S("b"), "labels");
    leave(&a);
    fake_done(&f);
}

static void a_usurper_ends_it_at_once(void)
{
    struct fake f = { 0 };
    struct seat a;
    AUTO(arena) struct arena *x = arena_new();

    sit(&a, &f, "a_1");
    tick(&a);
    fake_put(&f, x, jv_with(x, jdoc_root(f.lease), jstrz(x, "b_2"), "spec", "holderIdentity"));
    clock_ms += 2000;
    tick(&a);
    is_int(a.lost, 1, "another name in the lease");
    is_str(str_of(a.why), S("another holds the lease"), "says why");
    is_str(jv_str(jv_at(spec(&f), "holderIdentity"), S("")), S("b_2"),
           "and nothing was taken back");
    leave(&a);
    fake_done(&f);
}

static void a_deleted_lease_leaves_its_holder_time(void)
{
    struct fake f = { 0 };
    struct seat a, b;

    sit(&a, &f, "a_1");
    sit(&b, &f, "b_2");
    tick(&a);
    tick(&b);
    jdoc_unref(TAKE(f.lease));
    wait_ms(&b, 8000, 100);
    ok(!elect_leads(b.e), "who saw it held does not jump in");
    tick(&a);
    ok(elect_holds(a.e) && f.lease, "its holder makes it anew");
    leave(&a);
    leave(&b);
    fake_done(&f);
}

static int released;

static void on_released(void *arg)
{
    (void)arg;
    released++;
    loop_stop(loop);
}

static void letting_go_makes_room(void)
{
    struct fake f = { 0 };
    struct seat a, b;

    sit(&a, &f, "a_1");
    sit(&b, &f, "b_2");
    tick(&a);
    tick(&b);
    clock_ms += 2000;
    elect_tick(a.e);
    serve(&a.link); /* a renewal is under way, and even done */
    elect_release(a.e, on_released, NULL);
    is_int(a.until_ms, 0, "no end to watch any more");
    settle(&a.link);
    is_str(jv_str(jv_at(spec(&f), "holderIdentity"), S("x")), S(""), "the holder is nobody");
    is_int(jv_int(jv_at(spec(&f), "leaseDurationSeconds"), -1), 1, "for one second");
    ok(!elect_holds(a.e), "and it may not write");
    wait_ms(&b, 2600, 100);
    ok(elect_holds(b.e), "another has it at its next try");
    is_int(jv_int(jv_at(spec(&f), "leaseTransitions"), -1), 1, "a transition");
    leave(&a);
    leave(&b);
    fake_done(&f);
}

static void letting_go_of_what_is_being_taken(void)
{
    struct fake f = { 0 };
    struct seat a, b;

    sit(&a, &f, "a_1");
    elect_tick(a.e);
    reply(&a.link, serve(&a.link)); /* not there: create */
    elect_release(a.e, on_released, NULL);
    settle(&a.link);
    is_str(jv_str(jv_at(spec(&f), "holderIdentity"), S("x")), S(""), "taken last, and let go");
    is_int(a.held, 0, "it never led");
    leave(&a);

    sit(&a, &f, "a_1");
    sit(&b, &f, "b_2");
    elect_tick(a.e);
    reply(&a.link, serve(&a.link)); /* nobody's: update */
    elect_release(a.e, on_released, NULL);
    tick(&b);
    settle(&a.link);
    is_str(jv_str(jv_at(spec(&f), "holderIdentity"), S("x")), S("b_2"),
           "who was slower leaves it to the faster one");
    leave(&a);
    leave(&b);
    loop_run(loop);
    fake_done(&f);
}

static void letting_go_never_hangs(void)
{
    struct fake f = { 0 };
    struct seat a;

    sit(&a, &f, "a_1");
    tick(&a);
    elect_release(a.e, on_released, NULL);
    for (int i = 0; i < 200; i++) {
        clock_ms += 100;
        elect_tick(a.e);
    }
    is_int(a.lost, 0, "without an answer it is not lost but over");
    leave(&a);
    sit(&a, &f, "c_3");
    elect_release(a.e, on_released, NULL);
    leave(&a);
    jdoc_unref(TAKE(f.lease));
    sit(&a, &f, "d_4");
    elect_tick(a.e);
    reply(&a.link, serve(&a.link)); /* not there: create, and no answer */
    elect_release(a.e, on_released, NULL);
    for (int i = 0; i < 60; i++) {
        clock_ms += 100;
        elect_tick(a.e);
    }
    loop_run(loop); /* until the first is told */
    is_int(released, 6, "and each is told");
    leave(&a);
    fake_done(&f);
}

int main(void)
{
    clock_ms = 1000;
    log_setup(LOG_ERROR, LOG_LOGFMT);
    loop = loop_new();
    the_first_one_takes_it();
    renewals_are_one_update_each();
    another_waits_until_it_stood_still_for_its_duration();
    a_new_one_does_not_trust_old_times();
    a_leader_that_slept_holds_nothing();
    an_answer_that_comes_too_late_is_no_renewal();
    a_renewal_counts_from_when_it_was_sent();
    a_partition_ends_it_in_time();
    an_error_is_told_and_tried_again();
    a_lost_answer_is_found_again();
    of_two_one_gets_it();
    what_others_wrote_stays();
    a_usurper_ends_it_at_once();
    a_deleted_lease_leaves_its_holder_time();
    letting_go_makes_room();
    letting_go_of_what_is_being_taken();
    letting_go_never_hangs();
    loop_free(loop);
    return tap_done();
}
