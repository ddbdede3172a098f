/* The message of a pod that waits: first kube-scheduler's own text, which clients know, then one
 * sentence for people. The scheduler writes it, commands show the sentence alone. */
#pragma once

#include "base/arena.h"
#include "base/json.h"

/* told, then the sentence if it is not empty. */
str waiting_message(struct arena *a, str told, str sentence);
/* The sentence, without the full stop; empty: the message has none. */
str waiting_sentence(str message);
/* Why a pod has no node, from its condition PodScheduled: the sentence, else kube-scheduler's
 * "0/1 nodes are available: ..." without what it says of preemption; empty: no scheduler said. */
str waiting_reason(jv pod);
