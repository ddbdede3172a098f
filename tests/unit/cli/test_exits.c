/* How containers ended, in words, and what is counted of a job's pods. */

#include "cli/exits.h"
#include "cli/jobs.h"
#include "tap.h"

static void signals_have_names(void)
{
    static const struct {
        int64_t code;
        const char *reason, *want;
    } rows[] = {
        { 0, "Completed", "0" },           { 7, "Error", "7" },
        { 128, "StartError", "128" },      { 134, "Error", "134 (SIGABRT)" },
        { 137, "Error", "137 (SIGKILL)" }, { 137, "OOMKilled", "137 (out of memory)" },
        { 139, "Error", "139 (SIGSEGV)" }, { 143, "", "143 (SIGTERM)" },
        { 255, "Error", "255" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        is_str(exit_text(a, rows[i].code, str_of(rows[i].reason)), str_of(rows[i].want),
               rows[i].want);
    }
}

#define OWNED                                                                                  \
    "'metadata':{'ownerReferences':[{'controller':true,'uid':'j','kind':'TFJob'}],'labels':{'" \
    "training.kubeflow.org/job-name':'j'}}"
#define LOOPS(code, at)                                                                      \
    "{" OWNED ",'status':{'phase':'Running','containerStatuses':[{'restartCount':2,'state':" \
    "{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{'terminated':{'exitCode':" code  \
    ",'reason':'Error','finishedAt':'2026-01-01T00:00:" at "Z'}}}]}}"
#define RUNS \
    "{" OWNED ",'status':{'phase':'Running','containerStatuses':[{'state':{'running':{}}}]}}"

static void pods_that_fail_again_and_again_do_not_run(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *job = J("{'metadata':{'name':'j','uid':'j'},'spec':{'tfReplicaSpecs':{'Worker':{"
                         "'replicas':3}}},'status':{'conditions':[{'type':'Running','status':"
                         "'True'}],'replicaStatuses':{'Worker':{'active':3}}}}");
    AUTO(jdoc)
    struct jdoc *pods = J("[" LOOPS("1", "01") "," LOOPS("139", "05") "," LOOPS(
        "2", "03") "," RUNS ",{'status':{'phase':'Running'}}]");
    struct job_found found = { job_kind_find(S("TFJob")), jdoc_root(job) };
    struct job_sum sum = job_sum(a, &found, jdoc_root(pods));

    is_int(sum.running, 1, "one of four pods runs");
    is_int(sum.restarts, 6, "restarts are of all");
    is_int(sum.exit.code, 139, "the latest bad end is told");
    is_str(sum.state, S("Running"), "the state is the job's");
    sum = job_sum(a, &found, JV_ABSENT);
    is_int(sum.running, 3, "without pods the status is believed");
    is_int(sum.exit.at_ms, -1, "and no end is known");
}

int main(void)
{
    signals_have_names();
    pods_that_fail_again_and_again_do_not_run();
    return tap_done();
}
