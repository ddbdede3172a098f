/* Elections by hand: letting go of the lease. */

#include "loop/log.h"
#include "seat.h"
#include "tap.h"

static int released;

static void on_released(void *arg)
{
    (void)arg;
    released++;
    loop_stop(loop);
}

static void letting_go_makes_room(void)
{
    struct lease_server f = { 0 };
    struct seat a, b;

    seat_take(&a, &f, "a_1");
    seat_take(&b, &f, "b_2");
    seat_tick(&a);
    seat_tick(&b);
    clock_ms += 2000;
    elect_tick(a.e);
    lease_serve(&a.link); /* a renewal is under way, and even done */
    elect_release(a.e, on_released, NULL);
    is_int(a.until_ms, 0, "no end to watch any more");
    lease_settle(&a.link);
    is_str(jv_str(jv_at(lease_spec(&f), "holderIdentity"), S("x")), S(""), "the holder is nobody");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseDurationSeconds"), -1), 1, "for one second");
    ok(!elect_holds(a.e), "and it may not write");
    seat_wait_ms(&b, 2600, 100);
    ok(elect_holds(b.e), "another has it at its next try");
    is_int(jv_int(jv_at(lease_spec(&f), "leaseTransitions"), -1), 1, "a transition");
    seat_leave(&a);
    seat_leave(&b);
    lease_server_done(&f);
}

static void letting_go_of_what_is_being_taken(void)
{
    struct lease_server f = { 0 };
    struct seat a, b;

    seat_take(&a, &f, "a_1");
    elect_tick(a.e);
    lease_reply(&a.link, lease_serve(&a.link)); /* not there: create */
    elect_release(a.e, on_released, NULL);
    lease_settle(&a.link);
    is_str(jv_str(jv_at(lease_spec(&f), "holderIdentity"), S("x")), S(""),
           "taken last, and let go");
    is_int(a.held, 0, "it never led");
    seat_leave(&a);

    seat_take(&a, &f, "a_1");
    seat_take(&b, &f, "b_2");
    elect_tick(a.e);
    lease_reply(&a.link, lease_serve(&a.link)); /* nobody's: update */
    elect_release(a.e, on_released, NULL);
    seat_tick(&b);
    lease_settle(&a.link);
    is_str(jv_str(jv_at(lease_spec(&f), "holderIdentity"), S("x")), S("b_2"),
           "who was slower leaves it to the faster one");
    seat_leave(&a);
    seat_leave(&b);
    loop_run(loop);
    lease_server_done(&f);
}

static void letting_go_never_hangs(void)
{
    struct lease_server f = { 0 };
    struct seat a;

    seat_take(&a, &f, "a_1");
    seat_tick(&a);
    elect_release(a.e, on_released, NULL);
    for (int i = 0; i < 200; i++) {
        clock_ms += 100;
        elect_tick(a.e);
    }
    is_int(a.lost, 0, "without an answer it is not lost but over");
    seat_leave(&a);
    seat_take(&a, &f, "c_3");
    elect_release(a.e, on_released, NULL);
    seat_leave(&a);
    jdoc_unref(TAKE(f.lease));
    seat_take(&a, &f, "d_4");
    elect_tick(a.e);
    lease_reply(&a.link, lease_serve(&a.link)); /* not there: create, and no answer */
    elect_release(a.e, on_released, NULL);
    for (int i = 0; i < 60; i++) {
        clock_ms += 100;
        elect_tick(a.e);
    }
    loop_run(loop); /* until the first is told */
    is_int(released, 6, "and each is told");
    seat_leave(&a);
    lease_server_done(&f);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_LOGFMT);
    loop = loop_new();
    letting_go_makes_room();
    letting_go_of_what_is_being_taken();
    letting_go_never_hangs();
    loop_free(loop);
    return tap_done();
}
