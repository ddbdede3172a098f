/* Schedules: the bits they set. What is wrong with bad ones stands in the golden CronJobs. */

#include "kube/cron.h"
#include "tap.h"

static struct cron parsed(struct arena *a, const char *text)
{
    struct cron c = { 0 };
    str why = STR_NONE;

    if (!ok(cron_parse(a, str_of(text), &c, &why) == 0, "%s", text))
        printf("# %" PRI_STR "\n", STR_ARG(why));
    return c;
}

static void fields_become_bits(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct cron c = parsed(a, "0,30 9-17/4 1 jan-Mar *");

    ok(c.minute == (1u | 1u << 30), "minutes 0 and 30");
    ok(c.hour == (1u << 9 | 1u << 13 | 1u << 17), "every fourth hour from 9 to 17");
    ok(c.day == 1u << 1, "the first");
    ok(c.month == (1u << 1 | 1u << 2 | 1u << 3), "January to March, by name");
    ok(c.weekday == (0x7f | CRON_STAR), "any day of the week");
}

static void a_step_alone_goes_to_the_end(void)
{
    AUTO(arena) struct arena *a = arena_new();

    ok(parsed(a, "50/5 * * * *").minute == (UINT64_C(1) << 50 | UINT64_C(1) << 55), "50 and 55");
    ok(!(parsed(a, "*/2 * * * *").minute & CRON_STAR), "a stepped star is no star");
}

static void descriptors_stand_for_schedules(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct cron weekly = parsed(a, "@weekly");

    ok(weekly.minute == 1 && weekly.hour == 1 && weekly.weekday == 1, "Sunday at midnight");
    ok(weekly.day & CRON_STAR, "on any date");
    is_int(parsed(a, "@every 90m").every_ns, INT64_C(5400000000000), "every 90 minutes");
}

int main(void)
{
    fields_become_bits();
    a_step_alone_goes_to_the_end();
    descriptors_stand_for_schedules();
    return tap_done();
}
