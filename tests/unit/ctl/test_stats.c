/* Counters of jobs, by namespace. */

#include "ctl/stats.h"

#include "tap.h"

#include <stdio.h>

enum { MANY = 10000 };

static void count(struct stats *st, int i)
{
    char ns[16];

    snprintf(ns, sizeof(ns), "n%d", i);
    stats_job(st, "tensorflow", str_of(ns), COUNT_CREATED, 1);
}

static void R1_namespaces_are_bounded_and_those_known_go_on(void)
{
    struct stats st = { 0 };

    for (int i = 0; i < MANY; i++)
        count(&st, i);
    is_int(st.jobs.n, MANY, "one for each namespace");
    count(&st, 0);
    is_int(st.jobs.n, MANY, "a known one goes on under its own name");
    for (int i = 0; i < 10; i++)
        count(&st, MANY + i);
    is_int(st.jobs.n, MANY + 1, "those that come later share one");
    stats_done(&st);
}

int main(void)
{
    R1_namespaces_are_bounded_and_those_known_go_on();
    return tap_done();
}
