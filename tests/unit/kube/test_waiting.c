/* The sentence in the message of a pod that waits. */

#include "kube/waiting.h"
#include "tap.h"

#define TOLD                                                                                     \
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 " \
    "nodes are available: 1 Preemption is not helpful for scheduling."

static void the_sentence_comes_back(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str m = waiting_message(a, S(TOLD), S("needs 2 CPUs, this machine has 1, 1 free"));

    ok(str_starts(m, S(TOLD)), "kube-scheduler's text stays as it is");
    is_str(waiting_sentence(m), S("needs 2 CPUs, this machine has 1, 1 free"),
           "the sentence follows");
    is_str(waiting_message(a, S(TOLD), STR_NONE), S(TOLD), "without one, nothing does");
    is_str(waiting_sentence(S(TOLD)), STR_NONE, "and none is found");
}

static void another_scheduler_is_cut(void)
{
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'False', 'message': '" TOLD
          "'}]}}");
    AUTO(jdoc)
    struct jdoc *fine =
        J("{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'True'}]}}");

    is_str(waiting_reason(jdoc_root(pod)), S("0/1 nodes are available: 1 Insufficient cpu."),
           "another scheduler's text ends before preemption");
    is_str(waiting_reason(jdoc_root(fine)), STR_NONE, "a pod with a node waits for none");
    is_str(waiting_reason(JV_ABSENT), STR_NONE, "nothing is no pod");
}

int main(void)
{
    the_sentence_comes_back();
    another_scheduler_is_cut();
    return tap_done();
}
