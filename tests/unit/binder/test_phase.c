/* The phase of a PodGroup, row by row (platform 4.2, 4.10, 4.13). */

#include "binder/phase.h"
#include "tap.h"

static const struct row {
    const char *says;
    enum group_form form;
    enum group_phase was;
    int64_t min;
    struct group_pods pods;
    enum group_phase is;
} rows[] = {
    { "one that nobody looked at is Pending", GROUP_VOLCANO, PHASE_NONE, 2, { 0 }, PHASE_PENDING },
    { "... with pods, too", GROUP_VOLCANO, PHASE_NONE, 2, { .waiting = 2 }, PHASE_PENDING },
    { "Pending stays", GROUP_VOLCANO, PHASE_PENDING, 2, { .waiting = 2 }, PHASE_PENDING },
    { "Inqueue without pods stays", GROUP_VOLCANO, PHASE_INQUEUE, 2, { 0 }, PHASE_INQUEUE },
    { "pods that wait leave it Inqueue",
      GROUP_VOLCANO,
      PHASE_INQUEUE,
      2,
      { .waiting = 2 },
      PHASE_INQUEUE },
    { "being bound is not bound",
      GROUP_VOLCANO,
      PHASE_INQUEUE,
      2,
      { .binding = 2 },
      PHASE_INQUEUE },
    { "enough with a node are Running",
      GROUP_VOLCANO,
      PHASE_INQUEUE,
      2,
      { .bound = 2 },
      PHASE_RUNNING },
    { "also of one that was Pending",
      GROUP_VOLCANO,
      PHASE_PENDING,
      2,
      { .bound = 2 },
      PHASE_RUNNING },
    { "those that ended count",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      3,
      { .running = 1, .succeeded = 2 },
      PHASE_RUNNING },
    { "all of them ended is Completed",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      2,
      { .succeeded = 1, .failed = 1 },
      PHASE_COMPLETED },
    { "... from Inqueue, too",
      GROUP_VOLCANO,
      PHASE_INQUEUE,
      1,
      { .succeeded = 1 },
      PHASE_COMPLETED },
    { "one more that waits is none of them",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      2,
      { .succeeded = 2, .waiting = 1 },
      PHASE_COMPLETED },
    { "until it has a node",
      GROUP_VOLCANO,
      PHASE_COMPLETED,
      2,
      { .succeeded = 2, .bound = 1 },
      PHASE_RUNNING },
    { "it stays when its pods are cleaned up",
      GROUP_VOLCANO,
      PHASE_COMPLETED,
      2,
      { 0 },
      PHASE_COMPLETED },
    { "new pods begin anew", GROUP_VOLCANO, PHASE_COMPLETED, 2, { .waiting = 2 }, PHASE_PENDING },
    { "too few while one runs is Unknown",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      3,
      { .running = 2, .waiting = 1 },
      PHASE_UNKNOWN },
    { "one that goes does not count",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      3,
      { .running = 2, .going = 1 },
      PHASE_UNKNOWN },
    { "one that failed is not ready",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      3,
      { .running = 2, .failed = 1 },
      PHASE_UNKNOWN },
    { "it stays so while the replacement is bound, not Pending",
      GROUP_VOLCANO,
      PHASE_UNKNOWN,
      3,
      { .running = 2, .binding = 1 },
      PHASE_UNKNOWN },
    { "and runs again with it",
      GROUP_VOLCANO,
      PHASE_UNKNOWN,
      3,
      { .running = 2, .bound = 1 },
      PHASE_RUNNING },
    { "none left is Pending", GROUP_VOLCANO, PHASE_UNKNOWN, 3, { 0 }, PHASE_PENDING },
    { "all going is Pending", GROUP_VOLCANO, PHASE_RUNNING, 3, { .going = 3 }, PHASE_PENDING },
    { "too few, and none of them runs yet",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      3,
      { .bound = 2 },
      PHASE_PENDING },
    { "pods that ask for nothing are ready",
      GROUP_VOLCANO,
      PHASE_RUNNING,
      3,
      { .running = 2, .weightless = 1 },
      PHASE_PENDING },
    { "no minimum and no pod is nothing that runs",
      GROUP_VOLCANO,
      PHASE_INQUEUE,
      0,
      { 0 },
      PHASE_INQUEUE },
    { "of no minimum one pod runs",
      GROUP_VOLCANO,
      PHASE_INQUEUE,
      0,
      { .bound = 1 },
      PHASE_RUNNING },

    { "too few pods are Pending", GROUP_PLUGINS, PHASE_NONE, 2, { .waiting = 1 }, PHASE_PENDING },
    { "enough are Scheduling",
      GROUP_PLUGINS,
      PHASE_PENDING,
      2,
      { .waiting = 2 },
      PHASE_SCHEDULING },
    { "a node is not enough",
      GROUP_PLUGINS,
      PHASE_SCHEDULING,
      2,
      { .bound = 2 },
      PHASE_SCHEDULING },
    { "running ones are", GROUP_PLUGINS, PHASE_SCHEDULING, 2, { .running = 2 }, PHASE_RUNNING },
    { "those that succeeded count",
      GROUP_PLUGINS,
      PHASE_RUNNING,
      2,
      { .running = 1, .succeeded = 1 },
      PHASE_RUNNING },
    { "fewer are Scheduling again",
      GROUP_PLUGINS,
      PHASE_RUNNING,
      2,
      { .running = 1, .waiting = 1 },
      PHASE_SCHEDULING },
    { "pods gone are Pending",
      GROUP_PLUGINS,
      PHASE_RUNNING,
      2,
      { .running = 1, .going = 1 },
      PHASE_PENDING },
    { "all succeeded is Finished",
      GROUP_PLUGINS,
      PHASE_RUNNING,
      2,
      { .succeeded = 2 },
      PHASE_FINISHED },
    { "one failed is Failed",
      GROUP_PLUGINS,
      PHASE_RUNNING,
      2,
      { .running = 1, .failed = 1 },
      PHASE_FAILED },
    { "Finished is for good", GROUP_PLUGINS, PHASE_FINISHED, 2, { 0 }, PHASE_FINISHED },
    { "Failed is for good", GROUP_PLUGINS, PHASE_FAILED, 2, { .running = 2 }, PHASE_FAILED },
    { "of Kubernetes: too few pods", GROUP_KUBE, PHASE_NONE, 2, { .waiting = 1 }, PHASE_PENDING },
    { "pods going do not count", GROUP_KUBE, 0, 2, { .waiting = 1, .going = 1 }, PHASE_PENDING },
    { "enough", GROUP_KUBE, PHASE_PENDING, 2, { .waiting = 2 }, PHASE_SCHEDULING },
    { "too few have a node", GROUP_KUBE, 0, 2, { .bound = 1, .waiting = 1 }, PHASE_SCHEDULING },
    { "enough have one", GROUP_KUBE, 0, 2, { .bound = 2, .waiting = 1 }, PHASE_RUNNING },
    { "ended ones had one", GROUP_KUBE, 0, 2, { .failed = 1, .running = 1 }, PHASE_RUNNING },
    { "all have ended", GROUP_KUBE, 0, 2, { .failed = 1, .succeeded = 1 }, PHASE_FINISHED },
    { "and are cleaned up", GROUP_KUBE, PHASE_FINISHED, 2, { .failed = 1 }, PHASE_FINISHED },
    { "new ones come", GROUP_KUBE, PHASE_FINISHED, 2, { .waiting = 2 }, PHASE_SCHEDULING },
    { "a basic one without pods", GROUP_KUBE, 0, 0, { 0 }, PHASE_PENDING },
    { "a basic one that waits", GROUP_KUBE, 0, 0, { .waiting = 2 }, PHASE_SCHEDULING },
    { "a basic one", GROUP_KUBE, 0, 0, { .waiting = 2, .bound = 1 }, PHASE_RUNNING },
};

static void each_row(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct group_seen s = { rows[i].form, rows[i].was, rows[i].min, rows[i].pods };
        is_str(phase_text(phase_of(&s)), phase_text(rows[i].is), rows[i].says);
        s.was = rows[i].is;
        is_str(phase_text(phase_of(&s)), phase_text(rows[i].is), "and that again");
    }
}

static void texts_are_read_back(void)
{
    for (int p = PHASE_NONE; p <= PHASE_FAILED; p++)
        is_int(phase_read(phase_text((enum group_phase)p)), p, "a phase is read as it is written");
    is_int(phase_read(S("Sleeping")), PHASE_NONE, "another text is none");
    ok(!phase_is_let_in(GROUP_VOLCANO, PHASE_NONE) &&
           !phase_is_let_in(GROUP_VOLCANO, PHASE_PENDING),
       "these are not let in");
    ok(phase_is_let_in(GROUP_VOLCANO, PHASE_INQUEUE) &&
           phase_is_let_in(GROUP_VOLCANO, PHASE_RUNNING) &&
           phase_is_let_in(GROUP_VOLCANO, PHASE_UNKNOWN),
       "these are");
    ok(phase_is_let_in(GROUP_KUBE, PHASE_PENDING), "one that asks for nothing is");
}

int main(void)
{
    each_row();
    texts_are_read_back();
    return tap_done();
}
