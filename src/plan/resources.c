/* The resources and names that planners, controllers and commands share. */

#include "plan/planner.h"

const struct kube_resource kube_pods = { "", "v1", "pods", "Pod", false };
const struct kube_resource kube_services = { "", "v1", "services", "Service", false };
const struct kube_resource kube_events = { "", "v1", "events", "Event", false };
const struct kube_resource kube_leases = { "coordination.k8s.io", "v1", "leases", "Lease", false };
const struct kube_resource kube_priority_classes = { "scheduling.k8s.io", "v1", "priorityclasses",
                                                     "PriorityClass", true };

bool scheduler_is_ours(str name)
{
    static const char *const names[] = { "", "default-scheduler", "muster-scheduler", "volcano" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eqz(name, names[i]))
            return true;
    return false;
}
