/* Elections by hand: who gets the lease, keeps it and loses it. J6: only the lease holder writes.
 */

#include "base/time.h"
#include "loop/log.h"
#include "seat.h"
#include "tap.h"

static void the_first_one_takes_it(void)
{
    struct lease_server f = { 0 };
    struct seat a;
    int64_t us = 0;

    seat_take(&a, &f, "a_1");
    ok(!elect_is_reached(a.e), "nothing is known at first");
    seat_tick(&a);
    ok(elect_leads(a.e) && elect_holds(a.e), "a lease that is not there is taken");
    is_int(a.until_ms, clock_ms + 10000, "for ten seconds from the request on");
    is_str(jv_str(jv_at(lease_spec(&f), "holderIdentity"), S("")), S("a_1"), "holderIdentity");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseDurationSeconds"), 0), 15, "leaseDurationSeconds");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseTransitions"), -1), 0, "leaseTransitions");
    is_int(time_parse_micro(jv_str(jv_at(lease_spec(&f), "acquireTime"), S("")), &us, NULL), 0,
           "acquireTime has microseconds");
    is_int(time_parse_micro(jv_str(jv_at(lease_spec(&f), "renewTime"), S("")), &us, NULL), 0,
           "renewTime too");
    seat_leave(&a);
    lease_server_done(&f);
}

static void renewals_are_one_update_each(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    int sent = a.link.sent;
    str taken = arena_str(a.link.a, jv_str(jv_at(lease_spec(&f), "acquireTime"), S("")));
    clock_ms += 1999;
    seat_tick(&a);
    is_int(a.link.sent, sent, "nothing before two seconds");
    clock_ms += 1;
    AUTO(arena) struct arena *keep = arena_new();
    taken = arena_str(keep, taken);
    seat_tick(&a);
    is_int(a.link.sent, sent + 1, "then one request");
    ok(a.link.last == KUBE_UPDATE, "an update");
    is_int(a.until_ms, clock_ms + 10000, "moves the end");
    is_str(jv_str(jv_at(lease_spec(&f), "acquireTime"), S("")), taken, "acquireTime stays");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseTransitions"), -1), 0, "so do transitions");
    seat_leave(&a);
    lease_server_done(&f);
}

static void another_waits_until_it_stood_still_for_its_duration(void)
{
    struct lease_server f = { 0 };
    struct seat a, b;

    seat_take(&a, &f, "a_1");
    seat_take(&b, &f, "b_2");
    seat_tick(&a);
    seat_tick(&b);
    is_str(elect_holder(b.e), S("a_1"), "who stands by knows the holder");
    for (int i = 0; i < 20; i++) {
        clock_ms += 2000;
        seat_tick(&a);
        clock_ms += 600;
        seat_tick(&b);
    }
    ok(elect_holds(a.e) && !elect_leads(b.e), "as long as it is renewed it is left alone");
    int64_t last = clock_ms;
    seat_wait_ms(&b, 14900, 100); /* a is dead */
    ok(!elect_leads(b.e), "not before it stood still for 15 s");
    ok(clock_ms >= a.until_ms, "when its holder has long known that it must not write");
    seat_wait_ms(&b, 3000, 100);
    ok(elect_holds(b.e), "then it is taken");
    ok(clock_ms >= last + 15000, "after the whole duration");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseTransitions"), -1), 1, "leaseTransitions counts it");
    clock_ms += 1;
    seat_tick(&a);
    is_int(a.lost, 1, "the old one is told when it looks again");
    ok(!elect_leads(a.e), "and leads no more");
    seat_leave(&a);
    seat_leave(&b);
    lease_server_done(&f);
}

static void a_new_one_does_not_trust_old_times(void)
{
    struct lease_server f = { 0 };
    struct seat a, b;
    AUTO(arena) struct arena *x = arena_new();

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    /* On a wall clock this lease ran out years ago; or its holder's clock is wrong. */
    lease_put(&f, x,
              jv_with(x, jdoc_root(f.lease), jstrz(x, "2001-01-01T00:00:00.000000Z"), "spec",
                      "renewTime"));
    seat_take(&b, &f, "b_2");
    seat_tick(&b);
    ok(!elect_leads(b.e), "times written by others do not count");
    seat_wait_ms(&b, 14900, 100);
    ok(!elect_leads(b.e), "it waits for 15 s by its own clock");
    seat_leave(&a);
    seat_leave(&b);
    lease_server_done(&f);
}

static void a_leader_that_slept_holds_nothing(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    clock_ms += 9999;
    ok(elect_holds(a.e), "just before the end it may write");
    clock_ms += 1;
    ok(!elect_holds(a.e), "J6: at the end it may not, though nobody told it anything");
    ok(elect_leads(a.e), "which it is still to hear");
    int sent = a.link.sent;
    seat_tick(&a);
    is_int(a.lost, 1, "the first thing it hears when it goes on");
    is_int(a.link.sent, sent, "it sends nothing");
    seat_tick(&a);
    clock_ms += 60000;
    seat_tick(&a);
    is_int(a.link.sent, sent, "nor later");
    is_int(a.lost, 1, "and is told once");
    seat_leave(&a);
    lease_server_done(&f);
}

static void an_answer_that_comes_too_late_is_no_renewal(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    clock_ms += 2000;
    elect_tick(a.e);
    struct kube_answer ans =
        lease_serve(&a.link); /* done by the server; we sleep over the answer */
    clock_ms += 20000;
    lease_reply(&a.link, ans);
    is_int(a.lost, 1, "J6: an answer from before the sleep does not bring it back");
    is_int(a.held, 1, "and moves no end");
    seat_leave(&a);
    lease_server_done(&f);
}

static void a_renewal_counts_from_when_it_was_sent(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    clock_ms += 2000;
    elect_tick(a.e);
    int64_t sent_ms = clock_ms;
    struct kube_answer ans = lease_serve(&a.link);
    clock_ms += 3000;
    lease_reply(&a.link, ans);
    is_int(a.until_ms, sent_ms + 10000, "as others saw it no earlier");
    seat_leave(&a);
    lease_server_done(&f);
}

static void a_partition_ends_it_in_time(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    int64_t from = clock_ms;
    while (!a.lost && clock_ms < from + 60000) {
        clock_ms += 100;
        elect_tick(a.e); /* no answer ever */
    }
    is_int(clock_ms - from, 10000, "ten seconds after the last renewal it is lost");
    is_str(str_of(a.why), S("the lease could not be renewed in time"), "and it knows why");
    ok(a.link.sent >= 3, "it tried more than once");
    seat_leave(&a);
    lease_server_done(&f);
}

static void an_error_is_told_and_tried_again(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    elect_tick(a.e);
    lease_reply(&a.link, lease_refuse(ERR_FORBIDDEN, "no such right"));
    is_str(elect_trouble(a.e),
           S("cannot get leases.coordination.k8s.io \"lock\" in namespace \"kubeflow\": no such "
             "right"),
           "verb, resource and reason");
    ok(!elect_is_reached(a.e), "not reached");
    seat_wait_ms(&a, 2600, 100);
    ok(elect_leads(a.e), "then it works");
    is_str(elect_trouble(a.e), S(""), "and there is no trouble");
    for (int i = 0; i < 3; i++) {
        clock_ms += 2000;
        elect_tick(a.e);
        lease_reply(&a.link, lease_refuse(ERR_INTERNAL, "oops"));
    }
    ok(elect_holds(a.e), "three failed renewals are survived");
    clock_ms += 2000;
    seat_tick(&a);
    is_int(a.until_ms, clock_ms + 10000, "by a fourth that works");
    seat_leave(&a);
    lease_server_done(&f);
}

static void a_lost_answer_is_found_again(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    elect_tick(a.e);
    lease_reply(&a.link, lease_serve(&a.link)); /* not there: create */
    lease_serve(&a.link);                       /* done, but the answer is lost */
    lease_reply(&a.link, lease_refuse(ERR_TIMEOUT, "no answer"));
    ok(!elect_leads(a.e), "without an answer it does not lead");
    seat_wait_ms(&a, 2600, 100);
    ok(elect_leads(a.e), "it finds its own name in it");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseTransitions"), -1), 0, "which is no transition");
    clock_ms += 2000;
    elect_tick(a.e);
    lease_serve(&a.link); /* a renewal whose answer is lost */
    lease_reply(&a.link, lease_refuse(ERR_TIMEOUT, "no answer"));
    clock_ms += 2000;
    seat_tick(&a);
    is_int(a.until_ms, clock_ms + 10000, "and goes on renewing");
    seat_leave(&a);
    lease_server_done(&f);
}

static void of_two_one_gets_it(void)
{
    struct lease_server f = { 0 };
    struct seat a, b;

    seat_take(&a, &f, "a_1");
    seat_take(&b, &f, "b_2");
    elect_tick(a.e);
    elect_tick(b.e);
    lease_reply(&a.link, lease_serve(&a.link));
    lease_reply(&b.link, lease_serve(&b.link)); /* both create now */
    lease_settle(&b.link);
    lease_settle(&a.link);
    ok(!elect_leads(a.e) && elect_leads(b.e), "the faster one");
    is_str(elect_holder(a.e), S("b_2"), "the other stands by");
    seat_leave(&a);
    seat_leave(&b);
    lease_server_done(&f);
}

static void what_others_wrote_stays(void)
{
    struct lease_server f = { 0 };
    struct seat a;
    AUTO(arena) struct arena *x = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J(
        "{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'lock',"
        "'namespace': 'kubeflow', 'labels': {'a': 'b'}}, 'spec': {'holderIdentity': '',"
        "'leaseDurationSeconds': 1, 'leaseTransitions': 7, 'strategy': 'OldestEmulationVersion'}}");

    lease_put(&f, x, jdoc_root(d));
    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    ok(elect_leads(a.e), "a released lease is taken at once");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseTransitions"), -1), 8, "a transition more");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseDurationSeconds"), -1), 15, "our duration");
    is_str(jv_str(jv_at(lease_spec(&f), "strategy"), S("")), S("OldestEmulationVersion"),
           "fields that are not ours");
    is_str(jv_str(jv_at(jdoc_root(f.lease), "metadata", "labels", "a"), S("")), S("b"), "labels");
    seat_leave(&a);
    lease_server_done(&f);
}

static void a_usurper_ends_it_at_once(void)
{
    struct lease_server f = { 0 };
    struct seat a;
    AUTO(arena) struct arena *x = arena_new();

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    lease_put(&f, x, jv_with(x, jdoc_root(f.lease), jstrz(x, "b_2"), "spec", "holderIdentity"));
    clock_ms += 2000;
    seat_tick(&a);
    is_int(a.lost, 1, "another name in the lease");
    is_str(str_of(a.why), S("another holds the lease"), "says why");
    is_str(jv_str(jv_at(lease_spec(&f), "holderIdentity"), S("")), S("b_2"),
           "and nothing was taken back");
    seat_leave(&a);
    lease_server_done(&f);
}

static void a_deleted_lease_leaves_its_holder_time(void)
{
    struct lease_server f = { 0 };
    struct seat a, b;

    seat_take(&a, &f, "a_1");
    seat_take(&b, &f, "b_2");
    seat_tick(&a);
    seat_tick(&b);
    jdoc_unref(TAKE(f.lease));
    seat_wait_ms(&b, 8000, 100);
    ok(!elect_leads(b.e), "who saw it held does not jump in");
    seat_tick(&a);
    ok(elect_holds(a.e) && f.lease, "its holder makes it anew");
    seat_leave(&a);
    seat_leave(&b);
    lease_server_done(&f);
}

int main(void)
{
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
    loop_free(loop);
    return tap_done();
}
