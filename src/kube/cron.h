/* Schedules of CronJobs: "0 6 * * mon-fri", "@hourly", "@every 90m". */
#pragma once

#include "base/arena.h"

struct cron { /* a bit a value; CRON_STAR: the field was written as * */
    uint64_t minute;
    uint64_t hour;
    uint64_t day;
    uint64_t month;
    uint64_t weekday;
    int64_t every_ns; /* "@every 1h": all else is 0 then */
};
#define CRON_STAR (UINT64_C(1) << 63)

/* What is wrong, in the words of the parser that Kubernetes uses, comes in *why. */
int cron_parse(struct arena *a, str s, struct cron *out, str *why);
